"""The benchmark's part for rows on disk: its file and its measurements."""

from __future__ import annotations

import pytest
from bench_context import context

from bench_parts import on_disk
from svmtool.formats.svmlight import table


def test_runs_in_memory_and_on_disk_are_compared(tmp_path):
    ctx = context(tmp_path, quick=True, numbers="70,2", memory="300M", made_mb=1)
    on_disk.on_disk(ctx)
    made = table.read(ctx.path("made-1"))
    assert made.n_features == on_disk.FEATURES and len(made.values) > 0.99 * len(made) * on_disk.FEATURES
    assert sorted(set(made.labels)) == [-1.0, 1.0]
    [section] = ctx.report.sections
    assert [row["job"] for row in section["rows"]] == ["-s 70", "-s 2"]
    for row in section["rows"]:
        assert set(row["runs"]) == {"memory", "first", "again"}
        for run in row["runs"].values():
            assert run["seconds"] > 0.0 and 20.0 < run["peak_mb"] < 1000.0 and 0.0 <= run["gap"] < 1e-3
    held, _, apart = section["bars"]
    assert held["limit"] == pytest.approx(300.0) and apart["holds"]
