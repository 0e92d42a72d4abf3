"""The benchmark's parts for least squares: their files, and where curves cross."""

from __future__ import annotations

from pathlib import Path

from bench_context import context

from bench_parts import lssvm
from svmtool.formats.svmlight import table


def test_every_row_is_in_one_part_with_the_bias_feature_behind(tmp_path):
    lines = [f"{k % 2} 1:{k} " + ("7:2 " if k == 3 else "") for k in range(20)] + ["1"]
    (tmp_path / "set").write_text("\n".join(lines) + "\n")
    parts = lssvm.halves(context(tmp_path, quick=True), "set", str(tmp_path / "set"))
    found = [line for part in parts for line in Path(part).read_text().splitlines()]
    assert sorted(found) == sorted(f"{line.strip()} 8:1" for line in lines)
    four, fifth = (table.read(part) for part in parts)
    assert (len(four), len(fifth)) == (16, 5) and four.n_features == fifth.n_features == 8


def test_added_rows_are_measured_against_training_again(tmp_path):
    ctx = context(tmp_path, quick=True)
    lssvm.adapt(ctx)
    alone, whole = ctx.report.sections[-1]["rows"]
    assert 0 < alone["adding"] < alone["training"] and alone["apart"] < 1e-8
    assert set(whole["seconds"]) == {"train", "add", "import numpy"}


def test_comparison_names_where_it_is_slower():
    mine = [[10, 1.0], [20, 2.0], [30, 3.0]]
    assert lssvm.crossing(mine, [[10, 2.0], [20, 2.5], [30, 2.9]]) == "slower at d = 30"
    assert lssvm.crossing(mine, [[10, 0.5], [20, 0.5], [30, 0.5]]) == "slower at d = 10, 20, 30"
    assert lssvm.crossing(mine, [[10, 2.0], [20, 9.0], [30, 9.0]]) == "faster everywhere"
    assert lssvm.crossing(mine, [[10, 2.0], [20, 1.0], [30, 9.0]]) == "slower at d = 20"
