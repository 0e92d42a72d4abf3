"""A small part of what scripts/stress/fuzz_files.py and fuzz_commands.py do, so that they go on doing it."""

from __future__ import annotations

import random
import sys

import pytest
from conftest import REPOSITORY

from svmtool.errors import ModelError
from svmtool.formats import model_text, odd_line

sys.path.insert(0, str(REPOSITORY / "scripts"))
from stress import fuzz_commands, fuzz_files  # noqa: E402


def test_no_reader_gives_way(tmp_path):
    counts, found = fuzz_files.attempt(7, 0, str(tmp_path), inputs=1500)
    assert not found, found[:3]
    assert counts.total() == 1500
    names = {name for name, _ in counts}
    assert len(names) == 13 and all(counts[name, "refused"] for name in names)


def test_a_reader_that_gives_way_is_found(tmp_path, monkeypatch):
    """The law can fail: with Python's own int() it does."""
    monkeypatch.setattr(odd_line, "parse_integer", int)
    _, found = fuzz_files.attempt(7, 0, str(tmp_path), inputs=3000)
    assert found and {breach.law for breach in found} == {"SvmtoolError or success"}
    assert all("4300 digits" in breach.words for breach in found)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return fuzz_commands.Stage(str(tmp_path_factory.mktemp("stage")))


@pytest.mark.parametrize("trial", ["kills", "interrupts", "full"])
def test_nothing_is_lost(stage, trial):
    for k in range(3):
        assert fuzz_commands.TRIALS[trial](stage, random.Random(k)) == []


def test_random_command_lines(stage):
    rng = random.Random(11)
    for _ in range(40):
        assert fuzz_commands.line(stage, rng) == []


def test_a_model_without_an_end():
    """/dev/zero, or a few bytes of .gz that unpack to gigabytes."""
    with pytest.raises(ModelError, match="/dev/zero: it is no text: there are NUL bytes in it"):
        model_text.load("/dev/zero")
