"""Progress: its words on terminals of many widths, and that the screen holds nothing of it afterwards."""

from __future__ import annotations

import os

from naming import case_of
from screen import Screen

ROWS = b"1 1:1 2:0.5\n-1 1:-1 2:0.25\n"


COMMANDS = {
    "train": (["train", "-s", "2", "-", "m1"], "reading: "),
    "predict": (["predict", "-", "model", "o"], "predicting: "),
    "convert": (["convert", "--no-label", "-", "c"], "reading: "),
}


def test_commands_on_terminals_of_many_widths(tmp_path, command):
    """The input comes once the progress has been seen; afterwards the screen holds messages alone."""
    (tmp_path / "d").write_bytes(ROWS)
    assert command("train", "-q", "d", "model").returncode == 0
    widths = iter((40, 20, 0))
    runs = {name: Screen(["-m", "svmtool", *argv], tmp_path, next(widths)) for name, (argv, _) in COMMANDS.items()}
    for name, screen in runs.items():
        with case_of(name):
            what = COMMANDS[name][1]
            what = "0" if screen.screen.columns == 20 else what  # there is no room for more than time and bytes
            assert len(screen.until(lambda lines: lines and what in lines[0] and "00:" in lines[0])) == 1  # noqa: B023
            status, out, lines = screen.end(ROWS)
            assert status == 0 and b"\r" not in out and b"\x1b" not in out
            assert not [line for line in lines if "00:0" in line or "|" in line]
            assert bool(lines) == (name == "convert"), lines  # its message


# Parts and messages as standard input says.
PLAYED = """
import sys
from svmtool.cli.console import Console
from svmtool.progress import doing, reached
console = Console()
def work():
    with doing("C", 4) as C, doing("fold", 5) as fold:
        for line in sys.stdin:
            word, _, text = line.strip().partition(" ")
            if word == "gap": reached(float(text), 1e-4)
            if word == "C": C.step()
            if word == "fold": fold.step()
            if word == "out": console.out(text + chr(10))
            if word == "part": console.out(text)
            if word == "err": console.warn(text)
    return 0
console.run(work, str, "")
"""


def test_a_resized_window_stays_whole(tmp_path):
    screen = Screen(["-c", PLAYED], tmp_path, 80, True)
    screen.send(b"out one\ngap 0.01\n")
    screen.until(lambda lines: len(lines) == 3 and "gap" in lines[2])
    for columns in (20, 160):
        screen.resize(columns)
        length = columns - 1
        lines = screen.until(lambda lines: [len(line) for line in lines[-2:]] == [length] * 2 or columns < 30)  # noqa: B023
        screen.send(b"fold\n")
        screen.read(0.6)
        screen.settle()
        lines = screen.lines()
        with case_of(columns):
            assert len(lines) == 3 and lines[0] == "one" and all("%|" in line for line in lines[1:]), lines
            assert max(map(len, lines[1:])) < columns
    assert screen.end()[::2] == (0, ["one"])


def test_messages_and_bars(tmp_path):
    """Messages on both streams come above the bars, at once; an incomplete line hides them."""
    screen = Screen(["-c", PLAYED], tmp_path, 60, True)
    screen.until(lambda lines: len(lines) == 2)
    wanted = []
    for k in range(30):
        screen.send(b"out line %d\nerr warning %d\n" % (k, k))
        wanted += [f"line {k}", f"warning {k}"]
        if k % 7 == 0:
            screen.send(b"C\n")
            screen.read(0.2)
    lines = screen.until(lambda lines: len(lines) == 24 and wanted[-1] in lines and "fold" in lines[-1])
    assert lines[:-2] == wanted[-22:]
    screen.send(b"part half\n")
    screen.until(lambda lines: lines[-1] == "half")
    screen.read(1.0)
    assert screen.lines()[-1] == "half"
    screen.send(b"out  line\n")
    screen.until(lambda lines: lines[-3] == "half line" and "fold" in lines[-1])
    assert screen.end()[2][-2:] == [wanted[-1], "half line"]


def test_ctrl_c_leaves_one_line(tmp_path):
    """Where Ctrl-C ends the process, and where a solver ends."""
    runs = {"convert --no-label - c": "interrupted", "train - m": "interrupted: no model is written"}
    screens = {line: Screen(["-m", "svmtool", *line.split()], tmp_path, 50, True) for line in runs}
    for line, screen in screens.items():
        with case_of(line):
            screen.until(lambda lines: lines and "00:" in lines[-1])
            os.write(screen.terminal, b"\x03")
            while screen.read(60.0):
                pass
            assert screen.end()[2] == [runs[line]]


def test_a_process_in_the_background_draws_nothing(tmp_path):
    job = 'import subprocess, sys; line = \'set -m; "$0" "$@" & wait\'\n'
    job += "subprocess.run(['sh', '-c', line, sys.executable, *sys.argv[1:]])"
    code = "import time; from svmtool import progress\nwith progress.shown(): time.sleep(1.0)"
    screen, front = Screen(["-c", job, "-c", code], tmp_path, stdout=True), Screen(["-c", code], tmp_path)
    assert screen.end()[::2] == (0, []) and b"working" not in screen.seen
    assert front.end()[::2] == (0, []) and b"working" in front.seen


def test_nothing_of_tqdm_without_a_terminal_with_q_and_in_the_first_half_second(tmp_path):
    """The module is not even imported."""
    code = (
        "import sys, time; from svmtool.cli.console import Console\nconsole = Console(sys.argv[1] == 'q')\n"
        "console.run(lambda: time.sleep(float(sys.argv[2])) or 0, str, '')\nprint('tqdm' in sys.modules)"
    )
    cases = [(("", "1"), "xterm", b"True"), (("q", "1"), "xterm", b"False")]
    cases += [(("", "1"), "dumb", b"False"), (("", "0.01"), "xterm", b"False")]
    screens = [Screen(["-c", code, *argv], tmp_path, TERM=term) for argv, term, _ in cases]
    for screen, (argv, term, imported) in zip(screens, cases, strict=True):
        with case_of((argv, term)):
            status, out, lines = screen.end()
            assert (status, out.strip(), lines) == (0, imported, []) and (screen.seen != b"") == (imported == b"True")
