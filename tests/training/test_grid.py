"""--grid: each point equals the result of a separate run."""

from __future__ import annotations

import os

import numpy as np
import pytest
from engine import engine
from reference import table_of, text_of
from sampling import pairs_in_turn
from test_scores import made

from svmtool import registry
from svmtool.params import Settings
from svmtool.training.linear import train

LINEAR = [row for row in registry.SOLVERS if "--grid" in row.supported]
VALUES = (0.01, 0.3, 4.0)


def table(out: str) -> tuple[list[str], list[dict[str, str]]]:
    """Names of the columns and a dict for each line."""
    head = out.splitlines()[1].split()
    rows = [line.split() for line in out.splitlines()[2:] if not line.startswith("Best")]
    return head, [dict(zip(head, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("row", "labels"), pairs_in_turn(LINEAR[::2], [(1, -1), (1, 2, 3)]))
def test_points_are_certified_and_as_good_as_runs_of_their_own(row, labels, svm_train):
    X, y = made(labels)
    stopping = ["--gap", "1e-6"] if "--gap" in row.supported else []
    stopping += ["--method", "fast"] if row.number >= 30 else []
    asked = "C=" + ",".join(map(str, reversed(VALUES)))
    status, out, err = svm_train("-q", *engine(row.number), *stopping, "--grid", asked, "d", data=text_of(X, y))
    assert (status, err) == (0, "")
    head, points = table(out)
    assert head == ["C", "objective", "gap", "training", "seconds"]
    assert [float(point["C"]) for point in points] == list(VALUES)
    for point in points:
        settings = Settings.of(solver=row.number, C=float(point["C"]), gap=1e-6).with_default_bias()
        alone = train(table_of(X, y), settings)
        assert float(point["gap"]) <= 1.01e-6
        assert float(point["objective"]) == pytest.approx(alone.certificate.primal, rel=3e-6)
        if row.kind != "regression":
            right = np.mean(alone.model.predict(table_of(X, y)) == y)
            assert float(point["training"].rstrip("%")) == pytest.approx(100 * right, abs=2.3)


@pytest.mark.parametrize(("solver", "labels"), pairs_in_turn([3, 4], [(1, -1), (1, 2, 3)]))
def test_validation_is_that_of_a_run_with_v(solver, labels, svm_train):
    X, y = made(labels)
    common = ("-q", *engine(solver), "--gap", "1e-9")
    status, out, err = svm_train(*common, "-v", 3, "--grid", "C=0.01,0.3,4", "d", data=text_of(X, y))
    assert (status, err, os.listdir()) == (0, "", ["d"])
    _, points = table(out)
    for point in points:
        _, alone, _ = svm_train(*common, "-v", 3, "-c", point["C"], "d")
        assert alone.strip().endswith(f"= {point['validation']}")
    best = max(points, key=lambda point: float(point["validation"].rstrip("%")))
    assert out.splitlines()[-1] == f"Best C = {best['C']}  CV accuracy = {best['validation']}"


def test_score_of_the_grid_and_values_at_equal_ratios(svm_train):
    for score in ("auc", "log-loss"):
        asked = ("-s", 0, "-v", 3, "--grid", "C=0.01:100:5", "--score", score, "d")
        status, out, err = svm_train(*asked, data=text_of(*made()))
        points = table(out)[1]
        assert [float(point["C"]) for point in points] == [0.01, 0.1, 1, 10, 100]
        best = (min if score == "log-loss" else max)((point["validation"] for point in points), key=float)
        assert (status, err) == (0, "") and out.splitlines()[-1].endswith(f" = {best}")


def test_limits_end_the_grid_with_a_warning(svm_train, out_of_time):
    X, y = made(n=60)
    status, out, err = svm_train("--strict", "--max-iter", 1, "-s", 0, "--grid", "C=1,100", "d", data=text_of(X, y))
    assert status == 2 and "not converged at" in err and len(table(out)[1]) == 2
    out_of_time()
    status, out, err = svm_train("--strict", "-s", 0, "--grid", "C=1,100", "d")
    assert status == 2 and "WARNING: the grid ended at C = 1: time limit reached" in err and len(table(out)[1]) == 1


@pytest.mark.parametrize(
    ("options", "kind"), [("-v 3 --grid C=0.1,1,9", "png"), ("-C -s 11 -v 2 -c 1e5 -p 0.2", "svg")]
)
def test_pictures_of_searches(options, kind, svm_train, tmp_path):
    X, y = made(n=30)
    assert svm_train("-q", *options.split(), "--plot", f"p.{kind}", "d", data=text_of(X, y))[0] == 0
    assert (tmp_path / f"p.{kind}").read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[kind])
