"""The benchmark's parts for least squares: the files that they make, and where curves cross."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from bench_parts import lssvm
from bench_parts.context import Context
from bench_parts.measure import Report
from svmtool.formats import svmlight


def context(tmp_path) -> Context:
    options = dict(
        repeats=1, quick=True, budget=5.0, skip="", numbers="", data=[str(tmp_path)], cache=str(tmp_path), files=[],
        liblinear=None, libsvm=None, peer_python=None, plots=None,
    )  # fmt: skip
    return Context(Namespace(**options), Report(lambda line: None))


def test_every_row_is_in_one_part_with_the_bias_feature_behind(tmp_path):
    lines = [f"{k % 2} 1:{k} " + ("7:2 " if k == 3 else "") for k in range(20)] + ["1"]
    (tmp_path / "set").write_text("\n".join(lines) + "\n")
    parts = lssvm.halves(context(tmp_path), "set", str(tmp_path / "set"))
    found = [line for part in parts for line in Path(part).read_text().splitlines()]
    assert sorted(found) == sorted(f"{line.strip()} 8:1" for line in lines)
    four, fifth = (svmlight.read(part) for part in parts)
    assert (len(four), len(fifth)) == (16, 5) and four.n_features == fifth.n_features == 8


def test_added_rows_are_measured_against_training_again(tmp_path):
    ctx = context(tmp_path)
    lssvm.adapt(ctx)
    alone, whole = ctx.report.sections[-1]["rows"]
    assert 0 < alone["adding"] < alone["training"] and alone["apart"] < 1e-8
    assert set(whole["seconds"]) == {"train", "add", "import numpy"}


def test_crossing():
    mine = [[10, 1.0], [20, 2.0], [30, 3.0]]
    assert lssvm.crossing(mine, [[10, 2.0], [20, 2.5], [30, 2.9]]) == "slower at d = 30"
    assert lssvm.crossing(mine, [[10, 0.5], [20, 0.5], [30, 0.5]]) == "slower at d = 10, 20, 30"
    assert lssvm.crossing(mine, [[10, 2.0], [20, 9.0], [30, 9.0]]) == "faster everywhere"
    assert lssvm.crossing(mine, [[10, 2.0], [20, 1.0], [30, 9.0]]) == "slower at d = 20"
