"""The benchmark's part for rows on disk: its file and its measurements."""

from __future__ import annotations

import numpy as np
import pytest
from bench_context import context

import make_large
from bench_parts import on_disk
from svmtool.formats.svmlight import table


def test_runs_in_memory_and_on_disk_are_compared(tmp_path):
    ctx = context(tmp_path, quick=True, numbers="70,2", memory="300M", made_mb=1)
    on_disk.on_disk(ctx)
    made = table.read(ctx.made("dense", "mb", 1, on_disk.FEATURES))
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


def test_large_sets_of_each_kind_are_made_and_measured(tmp_path):
    ctx = context(tmp_path, numbers="2", memory="300M", made_mb=1)
    on_disk.large(ctx)
    [section] = ctx.report.sections
    assert len(section["rows"]) == len(on_disk.LARGE) * 3 and not section["bars"]  # without peers no ratio
    for kind, features in on_disk.LARGE.items():
        made = table.read(ctx.made(kind, "mb", 1, features))
        assert sorted(set(made.labels)) == [-1.0, 1.0] and 0.3 < np.mean(made.labels > 0) < 0.7
        assert (features or 100_000) * 0.9 < made.n_features <= (features or make_large.FEATURES[kind])
