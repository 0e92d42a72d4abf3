"""The line of progress: its text, and that it appears on terminals alone and is erased."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from naming import case_of

from svmtool import activity
from svmtool.activity import doing
from svmtool.cli import status_line
from svmtool.cli.console import Console
from svmtool.cli.status_line import ERASE, StatusLine, clock

ROWS = b"1 1:1 2:0.5\n-1 1:-1 2:0.25\n"


class Input:
    def __init__(self, taken, size):
        self.taken, self.size = taken, size


@pytest.fixture
def line(monkeypatch):
    monkeypatch.setattr(activity, "now", activity.Activity())
    return StatusLine(io.StringIO(), lambda: False)


def test_parts_are_named_from_the_outermost(line):
    with doing("training"), doing("class", 10) as part:
        part.step()
        part.step()
        assert line.text().startswith("training, class 3 of 10  0:00")
    assert line.text().startswith("working  0:00")


def test_a_part_of_one_step_is_not_named(line):
    with doing("training"), doing("class", 1):
        assert line.text() == "training  0:00"


def test_bytes_read_are_a_share_or_a_number(line):
    with doing("reading", source=Input(25_000_000, 100_000_000)):
        assert line.text().startswith("reading 25 %")
    with doing("reading", source=Input(25_000_000, None)):
        assert line.text().startswith("reading 25 MB")


def test_gap_beside_the_target_gap_and_the_rest(line):
    with doing("training"):
        state = activity.now
        state.gap, state.target = 1.0, 1e-4
        line.text()
        line._gap_began -= 10.0  # ten seconds for half of the decades
        state.gap = 1e-2
        assert "gap 1.0e-02, asked 1.0e-04  about 0:10 left" in line.text()
        state.gap = float("inf")
        assert "gap" not in line.text()
    assert activity.now.gap is None


def test_rest_by_the_steps_of_the_outermost_counted_part(line):
    with doing("C", 4) as part, doing("fold", 5):
        part.began -= 30.0
        part.step()
        assert line.text().startswith("C 2 of 4, fold 1 of 5") and "about 1:30 left" in line.text()


def test_parts_of_other_threads_are_not_shown(line):
    import threading

    texts = []

    def work():
        with doing("fold", 3):
            texts.append(line.text())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert texts[0].startswith("working")


def test_an_error_in_a_part_ends_it(line):
    with pytest.raises(ValueError), doing("training"):
        raise ValueError
    assert activity.now.parts == []


@pytest.mark.parametrize("seconds, text", [(0.9, "0:00"), (61, "1:01"), (3723, "1:02:03")])
def test_clock(seconds, text):
    assert clock(seconds) == text


def set_columns(fd: int, columns: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def until(fd: int, words: bytes) -> bytes:
    """What a terminal shows, up to these words; fails after a minute of silence."""
    seen = b""
    while words not in seen:
        assert select.select([fd], [], [], 60)[0], f"{words!r} did not appear: {seen!r}"
        seen += os.read(fd, 65536)
    return seen


def rest_of(fd: int) -> bytes:
    seen = b""
    while True:
        try:
            some = os.read(fd, 65536)
        except OSError:  # Linux: the other end is closed
            return seen
        if not some:
            return seen
        seen += some


LINES = {
    "train": (["train", "-s", "2", "-", "m1"], b"reading 0 MB"),
    "kernel": (["train", "-t", "2", "-", "m2"], b"reading 0 MB"),
    "validation": (["train", "-v", "2", "-", "m"], b"reading 0 MB"),
    "memory": (["train", "--memory", "2G", "-", "m3"], b"reading 0 MB"),
    "predict": (["predict", "-", "model", "o"], b"predicting 0 MB"),
    "scale": (["scale", "-"], b"working"),
}


def on_a_terminal(argv: list[str], folder: Path) -> tuple[subprocess.Popen, int]:
    """A command whose standard error is a terminal, and that terminal."""
    terminal, stderr = pty.openpty()
    set_columns(terminal, 40)
    run = subprocess.Popen(
        [sys.executable, "-m", "svmtool", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        cwd=folder, env={**os.environ, "TERM": "xterm"}, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(stderr)
    return run, terminal


def test_line_on_a_terminal_while_input_is_awaited(tmp_path, command):
    """The input comes once the line has been seen, and at the end the line is erased.  All wait at the same time."""
    (tmp_path / "d").write_bytes(ROWS)
    assert command("train", "-q", "d", "model").returncode == 0
    runs = {name: on_a_terminal(argv, tmp_path) for name, (argv, _) in LINES.items()}
    for name, (run, terminal) in runs.items():
        with case_of(name):
            seen = until(terminal, LINES[name][1])
            out, _ = run.communicate(ROWS)
            seen += rest_of(terminal)
            os.close(terminal)
            assert run.returncode == 0
            assert seen.endswith(ERASE.encode()), "erased at the end"
            assert all(len(shown) < 40 for shown in seen.decode().split(ERASE))
            assert b"\r" not in out and b"\x1b" not in out


def test_lines_are_cut_to_the_width_of_the_terminal(line, monkeypatch):
    terminal, end = pty.openpty()
    set_columns(terminal, 20)
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp())
    line.stream = os.fdopen(end, "w")
    with doing("a part with a long name, longer than the terminal"):
        line.draw()
        assert until(terminal, b"long").decode() == ERASE + "a part with a long "
        line._running = True
        line.erase()
        assert until(terminal, b"K").decode() == ERASE
    line.stream.close()
    os.close(terminal)


@pytest.mark.parametrize("terminal, quiet", [(False, False), (True, True)])
def test_nothing_on_pipes_or_when_quiet(terminal, quiet, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    console = Console(quiet)
    monkeypatch.setattr(status_line, "FIRST_SECONDS", 1e-6)

    def work():
        if console._line is not None:
            console._line.draw()
        return 0

    assert console.run(work, str, "") == 0
    assert sys.stderr.getvalue() == "" and (console._line is not None) == terminal


def test_no_line_while_a_line_on_stdout_is_incomplete(monkeypatch):
    console = Console()
    console._line = StatusLine(io.StringIO(), console.is_silent)

    class Stream(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Stream())
    console.out(".")
    assert console.is_silent()
    console.out("\n")
    assert not console.is_silent()
