"""The benchmark where data sets are missing."""

from __future__ import annotations

import pytest
from bench_context import context

import bench
from bench_parts.measure import NoSetsError


def test_a_part_without_sets_is_left_out_and_the_others_run(tmp_path, monkeypatch, capsys):
    """No traceback, no bar that holds because nothing was measured."""
    parts = [name for name in bench.PARTS if name not in ("adapt", "call", "python", "all-sets", *bench.ON_REQUEST)]
    arguments = ["--quick", "--data", str(tmp_path), "--cache", str(tmp_path / "cache"), "--only", ",".join(parts)]
    monkeypatch.setattr("sys.argv", ["bench.py", *arguments])
    for name in ("LIBLINEAR_DIR", "LIBSVM_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert bench.main() == 0
    text = capsys.readouterr().out
    assert ": holds" not in text and ": FAILS" not in text
    for name in ("train", "hinge", "nesvm", "memory"):
        assert f"part {name} is left out: none of its data sets is there" in text


def test_sets_that_are_there_are_measured(tmp_path):
    (tmp_path / "one").write_text("1 1:1\n")
    ctx = context(tmp_path)
    assert ctx.sets(("one", "two")) == [("one", str(tmp_path / "one"))]
    with pytest.raises(NoSetsError):
        ctx.sets(("two", "three"))
