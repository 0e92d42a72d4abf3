"""The benchmark on Spark, without Spark: synthetic rows, evaluator, extrapolated costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_context import context
from conftest import REPOSITORY

PARTS = REPOSITORY / "scripts" / "bench_parts"
sys.path.insert(0, str(REPOSITORY / "scripts"))

from bench_parts import spark  # noqa: E402
from svmtool.formats.models import linear  # noqa: E402
from svmtool.formats.svmlight import table as svmlight  # noqa: E402

COSTS = {
    "whole": 5.0, "passes": 40, "tasks": 3.0, "sending": 1.5, "driver": 0.5, "partitions": 2, "numbers": 50_000,
    "a pass": 0.005, "a number": 4e-6,
}  # fmt: skip


def answer_of(name: str, *argv) -> list:
    done = subprocess.run(
        [sys.executable, PARTS / name, *map(str, argv)], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout) if done.stdout else []


def test_shares_are_the_run_on_this_machine():
    assert sum(spark.shares(COSTS, 1).values()) == pytest.approx(COSTS["whole"])
    assert spark.shares(COSTS, 1)["network"] == 0.0


def test_more_nodes_share_the_rows_and_pay_for_each_other():
    one, ten, hundred = (spark.shares(COSTS, n) for n in (1, 10, 100))
    assert ten["in partitions"] == pytest.approx(one["in partitions"] / 10)
    each = (40 * 0.005 + 50_000 * 4e-6) / COSTS["partitions"]
    once = COSTS["sending"] - 2 * each
    for n in (2, 4):  # as many connections as partitions, while the tree is flat
        assert spark.shares(COSTS, n)["sending, adding up"] == pytest.approx(once + 2 * n * each)
    _, served = spark.longest_path(200)
    assert hundred["sending, adding up"] == pytest.approx(once + served * each)
    dear = {**COSTS, "a pass": 1.0}  # no more than all of it can grow
    assert spark.shares(dear, 4)["sending, adding up"] == pytest.approx(4 * COSTS["sending"])
    assert one["driver"] == ten["driver"] == hundred["driver"]
    assert 0.0 < ten["network"] < hundred["network"]
    assert spark.shares({**COSTS, "numbers": 0}, 10)["network"] < ten["network"]


@pytest.mark.parametrize(("partitions", "path"), [(1, (1, 1)), (8, (1, 8)), (9, (2, 9)), (16, (2, 9)), (72, (2, 16))])
def test_the_longest_path_through_the_tree(partitions, path):
    """72 tasks: 8 below the driver, and 8 below each of them."""
    assert spark.longest_path(partitions) == path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Path(context(tmp_path_factory.mktemp("made")).made("dense", "rows", 300, 12))


def test_made_rows_are_the_same_every_time_and_have_two_classes(made, tmp_path):
    again = context(tmp_path).made("dense", "rows", 300, 12)
    assert Path(again).read_bytes() == made.read_bytes()
    table = svmlight.read(str(made))
    assert len(table) == 300 and table.n_features == 12 and len(table.values) == 300 * 12
    assert 100 < np.sum(table.labels > 0) < 200


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("loss", list(spark.PROBLEMS))
def test_the_certifier_values_models_as_their_certificates_do(loss, turn, made, tmp_path, svm_train):
    """Also with the class of -1 first, which the losses have in turn, and given as weights."""
    swapped = (list(spark.PROBLEMS).index(loss) + turn) % 2 == 1
    lines = made.read_text().splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if line.startswith("-" if swapped else "+"))
    path = tmp_path / "d"
    text = "".join([lines[first], *lines[:first], *lines[first + 1 :]])
    path.write_text(text.replace("+1 ", "+3 ") if swapped else text)  # of 1 and -1, 1 comes first in any case
    assert svm_train("-q", *spark.words(loss, 1e-8), path, "m")[0] == 0
    model = linear.read(str(tmp_path / "m"))
    assert (model.labels[0] < 0) == swapped
    sign = -1.0 if swapped else 1.0
    w, b = model.W[:12, 0], model.W[12, 0] if model.bias > 0 else 0.0
    np.save(tmp_path / "w.npy", sign * np.append(w, b))
    candidates = [{"loss": loss, "model": str(tmp_path / "m")}, {"loss": loss, "weights": str(tmp_path / "w.npy")}]
    found = answer_of("child_spark_certify.py", json.dumps({"path": str(path), "C": 1.0, "candidates": candidates}))
    primal = float(next(note for note in model.notes if "primal" in note).split("primal ")[1].split(",")[0])
    assert found == pytest.approx([primal, primal], rel=1e-8)
