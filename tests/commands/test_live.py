"""Long runs: lines as they happen, true ones, and answers to signals."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from naming import case_of
from reference import random_rows, table_of, text_of
from test_validation import Lines

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.params import Settings
from svmtool.training import interruption, lines
from svmtool.training.linear import train
from svmtool.training.lines import SolverLines

KEEPS = interruption.KEEPS_MODEL + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A set on which each method works for long where an impossible gap is asked for."""
    path, rng = tmp_path_factory.mktemp("live"), np.random.default_rng(3)
    n, d = 1500, 3000
    X = random_rows(rng, n, d, 0.02) * np.exp(rng.normal(size=d) * 3.0)
    (path / "d").write_text(text_of(X, rng.choice([1.0, -1.0], n)))
    return path


# As `python -m svmtool`, with the first line after a tenth of a second.
SOON = "from svmtool import __main__; from svmtool.training import interruption, lines; lines.FIRST_SECONDS = 0.1; "
SOON += "interruption.PATIENCE_SECONDS = {}; __main__.main()"


def begin(folder: Path, *argv, ignored: bool = False, out: int = subprocess.PIPE, patience: float = 2.0):
    ignore = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None
    return subprocess.Popen(
        [sys.executable, "-c", SOON.format(patience), "train", "-c", "1e6", "--gap", "1e-300", *map(str, argv)],
        cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, preexec_fn=ignore,
    )  # fmt: skip


@pytest.mark.parametrize("options", ["-s 2", "-t 2 -g 1e-3"])
def test_a_line_comes_before_the_end(options, folder):
    """Into a pipe; the run ends by SIGTERM after its first line and leaves the model."""
    (folder / "m").unlink(missing_ok=True)
    process = begin(folder, *options.split(), "--solver-log", "log", "d", "m")
    try:
        assert process.stdout.readline() and process.poll() is None
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 143 and err.startswith(KEEPS + "interrupted: m holds the best model"), err
    assert "Certified relative gap" in out and (folder / "m").exists()
    assert [json.loads(line)["seconds"] for line in (folder / "log").read_text().splitlines()]


@pytest.mark.parametrize("ignored", [False, True])
def test_signals_that_come_again(ignored, folder):
    """Ctrl-C three times within two seconds keeps the model; a job that ignores it is ended by SIGTERM."""
    process = begin(folder, "-s", 3, "d", "again", ignored=ignored)
    try:
        assert process.stdout.readline()
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        if ignored:  # else the status is that of Ctrl-C
            process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == (143 if ignored else 130) and err.startswith(KEEPS) and err.count("\n") == 2
    model = linear.read(str(folder / "again"))
    assert np.all(np.isfinite(model.W)) and any("interrupted" in note for note in model.notes)


def test_validation_says_what_is_lost(folder):
    process = begin(folder, "-s", 3, "-v", 100, "d")  # so many folds that the first line comes before the end
    try:
        assert process.stderr.readline().startswith("working: ")  # on stderr: stdout has results alone
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted: the validation has no result"


def test_a_pipe_that_nobody_reads(folder):
    """Lines that wait for a reader keep no signal from its answer, and none from its effect."""
    (folder / "m").unlink(missing_ok=True)
    patience, (reader, writer) = 0.5, os.pipe()
    os.set_blocking(writer, False)
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * size)
    os.set_blocking(writer, True)
    process = begin(folder, "-s", 3, "--solver-log", "begun", "d", "m", out=writer, patience=patience)
    try:
        while process.poll() is None and not (folder / "begun").exists():
            time.sleep(0.1)
        time.sleep(0.6)  # the first line waits
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline() == KEEPS
        time.sleep(1.2 * patience)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(reader)
        os.close(writer)
    assert (process.returncode, err) == (143, "interrupted: no model is written\n") and not (folder / "m").exists()


def test_a_limit_shorter_than_reading_leaves_no_model(tmp_path):
    os.mkfifo(tmp_path / "d")
    process = begin(tmp_path, "--max-seconds", 0.5, "d", "m")
    with open(tmp_path / "d", "wb", buffering=0) as data:
        with contextlib.suppress(BrokenPipeError):  # the limit may be over already
            data.write(b"1 1:1\n")
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (
        1, "time limit reached while d was read, before training: raise --max-seconds\n"
    )  # fmt: skip
    assert not (tmp_path / "m").exists()


ROWS = [row for row in registry.SOLVERS if row.optimal and lines.has_lines(row) and row.regulariser != "|w|_1"]
LINE = re.compile(r"^(init|iter +\d+|epoch \d+) f (\S+) (?:\|g\||gap) \S+")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_printed_numbers_are_those_of_the_model(row):
    """The last line is of the model's weights, no two lines in a row say the same; after any number of iterations."""
    rng = np.random.default_rng(row.number)
    for n, d, limit in ((40, 5, 3), (25, 1500, None)):
        X = random_rows(rng, n, d, max(0.1, 4 / d)) * np.exp(rng.normal(size=d))
        y = rng.normal(size=n) if row.kind == "regression" else rng.choice([1.0, 2.0, 3.0][: 2 + (row.number == 43)], n)
        with case_of(n, d, limit):
            console = Lines()
            s = Settings.of(solver=row.number, C=100.0, max_iter=limit).with_default_bias()
            done = train(table_of(X, y), s, lines=SolverLines(s.row, console))
            text = console.liblinear_log.splitlines()
            found = [LINE.match(line) for line in text]
            assert all(found), text
            whole = [line.partition(" f ")[2] for line in text]
            assert all(a != b for a, b in zip(whole, whole[1:], strict=False)), text
            assert float(found[-1][2]) == pytest.approx(done.certificate.primal, rel=1e-3, abs=1e-12)
