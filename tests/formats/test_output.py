"""Output files appear complete or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from svmtool.formats import output


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """Resets the state to that of a new process."""
    monkeypatch.setattr(output, "_tidied", set())
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("mode", [None, 0o604])
def test_a_new_file_takes_the_umask_and_an_old_one_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "f"
    if mode:
        path.write_bytes(b"old")
        path.chmod(mode)
    before = os.umask(0o027)
    try:
        with output.replacing(str(path)) as file:
            file.write(b"new")
            assert path.read_bytes() == b"old" if mode else not path.exists()
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new" and os.listdir() == ["f"]
    assert stat.S_IMODE(path.stat().st_mode) == (mode or 0o640)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_old_file_survives_a_failure(tmp_path, error):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(error):
        with output.replacing(str(path)) as file:
            file.write(b"half of the n")
            raise error
    assert path.read_bytes() == b"old" and os.listdir() == ["f"]


@pytest.mark.parametrize(("name", "flags"), [("-", []), ("/dev/stdout", ["-u"])])
def test_standard_output(tmp_path, name, flags):
    """Also if it is a file: output before and after keeps its order, and nothing is replaced."""
    script = (
        "import sys; from svmtool.formats import output\n"
        "print('before')\n"
        "with output.replacing(sys.argv[1]) as f: f.write(b'x' * 300_000 + b'\\n')\n"
        "print('after')"
    )
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, *flags, "-c", script, name], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\n" + b"x" * 300_000 + b"\nafter\n"


# Temporary files of killed runs: the next run removes them, and no others.


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


def test_threads_with_one_output_all_succeed():
    def writes(number: int) -> None:
        for _ in range(20):
            output._tidied.clear()  # each write tidies up, as the first of a process does
            with output.replacing("m") as file:
                file.write(b"%d\n" % number * 9999)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(writes, range(4)))
    lines = Path("m").read_bytes().split()
    assert os.listdir() == ["m"] and len(lines) == 9999 and len(set(lines)) == 1


@pytest.mark.parametrize(
    "name",
    [".m.99999-0123abcd.tm", ".m.x-0123abcd.tmp", ".m.1-0123abcg.tmp", ".m.1-0123abc.tmp", ".m.1.2-0123abcd.tmp",
     ".mm.99999-0123abcd.tmp", "m.99999-0123abcd.tmp", ".m.tmp"],
)  # fmt: skip
def test_other_names_stay(name):
    Path(name).write_text("mine")
    write()
    assert Path(name).read_text() == "mine"
