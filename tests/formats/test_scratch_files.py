"""The next run removes temporary files of killed runs, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from svmtool.formats import output


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """Resets the state to that of a new process."""
    monkeypatch.setattr(output, "_tidied", set())
    monkeypatch.chdir(tmp_path)


def write(path: str = "m") -> None:
    with output.replacing(path) as file:
        file.write(b"new")


def test_leftovers_of_a_killed_run_are_removed(tmp_path):
    script = (
        "import os, signal, sys; from svmtool.formats import output\n"
        "with output.replacing('m') as f:\n"
        "    f.write(b'x' * 1_000_000); f.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
        assert len(list(tmp_path.glob(".m.*.tmp"))) == 1, "the one before is gone"
    write()
    assert os.listdir() == ["m"]


def test_the_file_of_a_live_run_stays():
    with output.replacing("m") as first:
        [name] = os.listdir()
        output._tidied.clear()
        write()
        assert sorted(os.listdir()) == sorted([name, "m"])
        first.write(b"first")
    assert os.listdir() == ["m"] and Path("m").read_bytes() == b"first"


@pytest.mark.parametrize(
    "name",
    [".m.99999-0123abcd.tm", ".m.x-0123abcd.tmp", ".m.1-0123abcg.tmp", ".m.1-0123abc.tmp", ".m.1.2-0123abcd.tmp",
     ".mm.99999-0123abcd.tmp", "m.99999-0123abcd.tmp", ".m.tmp"],
)  # fmt: skip
def test_other_names_stay(name):
    Path(name).write_text("mine")
    write()
    assert Path(name).read_text() == "mine"
