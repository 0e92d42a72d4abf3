"""The benchmark's part for rows on disk: the file that it makes, and what it measures."""

from __future__ import annotations

import sys
from argparse import Namespace

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from bench_parts import on_disk
from bench_parts.context import Context
from bench_parts.measure import Report
from svmtool.formats import svmlight


def test_runs_in_memory_and_on_disk_are_compared(tmp_path):
    options = dict(
        repeats=1, quick=True, budget=5.0, skip="", numbers="70,2", data=[str(tmp_path)], cache=str(tmp_path), files=[],
        liblinear=None, libsvm=None, peer_python=None, plots=None, memory="300M", made_mb=1, made_folder=None,
    )  # fmt: skip
    ctx = Context(Namespace(**options), Report(lambda line: None))
    on_disk.on_disk(ctx)
    made = svmlight.read(ctx.path("made-1"))
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
