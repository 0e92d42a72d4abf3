"""Ctrl-C, kill -9 and a full disk: the old model or the new one, never a part."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from reference import random_rows, text_of

from svmtool.formats.models import linear
from svmtool.training.interruption import KEEPS_MODEL

NOISE = np.random.default_rng(1)


def begin(folder: Path, *argv) -> subprocess.Popen:
    """Start svm-train as a process that can receive signals."""
    return subprocess.Popen(
        [sys.executable, "-m", "svmtool", "train", *map(str, argv)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(condition, process: subprocess.Popen, seconds: float = 60.0) -> None:
    """Wait for the condition; fails if the process ends before."""
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < until, "the run never came so far"
        time.sleep(0.002)


@contextmanager
def ended(process: subprocess.Popen):
    """Ends the process after the test in any case."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


_text: list[str] = []


def hard_problem() -> str:
    """Rows on which thousands of conjugate gradient steps are needed: a free bias, many features, a large C."""
    if not _text:
        n, d = 1500, 1250
        X = random_rows(NOISE, n, d, 0.02) * np.exp(NOISE.normal(size=d) * 3.0)
        _text.append(text_of(X, NOISE.choice([1.0, -1.0], n)))
    return _text[0]


# With an impossible gap it runs for many seconds; the log shows its progress.
FOREVER = ["-s", 2, "-R", "-B", 1, "-c", 1e9, "--gap", 1e-300, "--solver-log", "log"]


def begun(folder: Path) -> bool:
    log = folder / "log"
    return log.exists() and log.read_bytes().count(b"\n") > 0


def test_ctrl_c_writes_the_best_model_and_exits_130(tmp_path, command):
    """A valid model, which is used as any."""
    (tmp_path / "d").write_text(hard_problem())
    with ended(begin(tmp_path, *FOREVER, "d", "m")) as process:
        wait_for(lambda: begun(tmp_path), process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    answer, _, sentence = err.decode().partition("\n")
    assert (process.returncode, answer) == (130, KEEPS_MODEL)
    assert sentence.startswith("interrupted: m holds the best model so far, certified relative gap = ")
    assert sentence.count("\n") == 1 and b"Certified relative gap = " in out
    model = linear.read(str(tmp_path / "m"))
    assert np.all(np.isfinite(model.W)) and any("interrupted" in note for note in model.notes)
    assert command("predict", "d", "m", "out").stdout.startswith(b"Accuracy = ")


def test_file_size_limit_leaves_the_old_model(tmp_path):
    """The same without a mount: the system refuses to write beyond 64 KiB."""
    rng = np.random.default_rng(4)
    (tmp_path / "d").write_text(text_of(random_rows(rng, 8, 20000, 0.2), rng.choice([1.0, -1.0], 8)))
    (tmp_path / "m").write_text("the old model")
    script = f"ulimit -f 64; trap '' XFSZ; exec {sys.executable} -m svmtool train -q d m"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b"can't write m: File too large\n"
    assert (tmp_path / "m").read_text() == "the old model"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "m"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_device_as_model(command, tmp_path):
    (tmp_path / "d").write_text("1 1:1\n-1 1:2\n")
    done = command("train", "-q", "d", "/dev/full")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"can't write /dev/full: No space left on device\n"
    assert os.path.exists("/dev/full")
