"""Ctrl-C, kill -9 and a full disk: the old model or the new one, never a part."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from reference import random_rows, text_of

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats.models import linear
from svmtool.models.linear import LinearModel
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


WRITER = """
import sys, numpy as np
from svmtool.formats.models import linear as linear_model
from svmtool.models.linear import LinearModel
from svmtool.training.interruption import KEEPS_MODEL
W = np.full((200000, 3), float(sys.argv[2]))
model = LinearModel("L2R_L2LOSS_SVC", (1, 2, 3), 200000, -1.0, W + 1/3, notes=("# whole",))
sys.stdout.write("ready"); sys.stdout.flush()
linear_model.write(sys.argv[1], model)
"""


@pytest.mark.parametrize("times", [6, pytest.param(24, marks=pytest.mark.exhaustive)])
def test_kill_while_the_model_is_written_leaves_the_old_one_or_the_new(times, tmp_path):
    """Kills the process at random moments while it writes for some 0.1 s."""
    target = tmp_path / "m"
    draw = random.Random(5)
    call = [sys.executable, "-c", WRITER, str(target)]
    began = time.monotonic()
    with ended(subprocess.Popen([*call, "0"], stdout=subprocess.PIPE)) as process:
        assert process.stdout.read(5) == b"ready"
        began = time.monotonic()
        assert process.wait(60) == 0
    length = time.monotonic() - began
    whole = target.read_bytes()
    assert whole.endswith(b"# whole\n") and len(whole) > 10_000_000
    versions, killed_before_the_end, replaced = {whole}, 0, 0
    for k in range(1, times + 1):
        with ended(subprocess.Popen([*call, str(k)], stdout=subprocess.PIPE)) as process:
            assert process.stdout.read(5) == b"ready"
            time.sleep(draw.uniform(k - 1, k) / times * length)  # one moment in each part of the time
            process.send_signal(signal.SIGKILL)
            killed_before_the_end += process.wait(60) == -signal.SIGKILL
        found = target.read_bytes()
        assert found.endswith(b"# whole\n") and len(found) > 10_000_000, "a part of a model stands under its name"
        if found not in versions:
            versions.add(found)
            replaced += 1
            assert linear.read(str(target)).W[0, 0] == k + 1 / 3
        for left in tmp_path.glob(".m.*.tmp"):  # a killed process cannot clean up; the name is not the model's
            left.unlink()
    assert killed_before_the_end, "no run was killed in time: the test tests nothing"


def test_kill_during_training_leaves_the_old_model(tmp_path):
    (tmp_path / "d").write_text(hard_problem())
    (tmp_path / "m").write_text("the old model")
    with ended(begin(tmp_path, *FOREVER, "d", "m")) as process:
        wait_for(lambda: begun(tmp_path), process)
        process.kill()
        process.wait(60)
    assert (tmp_path / "m").read_text() == "the old model"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "log", "m"]


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


def begun(folder: Path, rounds: int = 1) -> bool:
    log = folder / "log"
    return log.exists() and log.read_bytes().count(b"\n") >= rounds


@pytest.mark.parametrize("rounds", [1, 3])
def test_ctrl_c_writes_the_best_model_and_exits_130(rounds, tmp_path):
    (tmp_path / "d").write_text(hard_problem())
    with ended(begin(tmp_path, *FOREVER, "d", "m")) as process:
        wait_for(lambda: begun(tmp_path, rounds), process)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert time.monotonic() - sent < 20
    answer, _, sentence = err.decode().partition("\n")
    assert answer == KEEPS_MODEL
    assert sentence.startswith("interrupted: m holds the best model so far, certified relative gap = ")
    assert sentence.count("\n") == 1
    model = linear.read(str(tmp_path / "m"))
    assert np.all(np.isfinite(model.W)) and any("interrupted" in note for note in model.notes)
    assert b"Certified relative gap = " in out


def test_ctrl_c_while_reading_stops_at_once(tmp_path):
    """Before the solver starts: no model, one message, status 130."""
    (tmp_path / "m").write_text("the old model")
    os.mkfifo(tmp_path / "d")
    with ended(begin(tmp_path, "d", "m")) as process:
        with open(tmp_path / "d", "wb") as data:
            data.write(b"1 1:1\n")
            data.flush()
            time.sleep(0.1)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"interrupted: no model is written\n")
    assert (tmp_path / "m").read_text() == "the old model"


def test_ctrl_c_during_cross_validation(tmp_path):
    (tmp_path / "d").write_text(hard_problem())
    without_log = FOREVER[: FOREVER.index("--solver-log")]
    with ended(begin(tmp_path, *without_log, "-v", 2, "d")) as process:
        time.sleep(0.5)
        assert process.poll() is None, "over too soon: the test tests nothing"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"interrupted: the validation has no result\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d"]


# Full disks


@contextmanager
def tiny_disk(folder: Path):
    """A file system of 64 KiB; skips if this user may not mount one."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip(f"no small disk to fill: mount says {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def big_model() -> LinearModel:
    return LinearModel("L2R_L2LOSS_SVC", (1, -1), 20000, -1.0, np.random.default_rng(0).normal(size=(20000, 1)))


def test_full_disk_leaves_the_old_model(tmp_path):
    with tiny_disk(tmp_path / "disk") as disk:
        (disk / "m").write_text("the old model")
        with pytest.raises(SvmtoolError, match="can't write .*/m: No space left on device"):
            linear.write(str(disk / "m"), big_model())
        assert (disk / "m").read_text() == "the old model"
        assert [p.name for p in disk.iterdir()] == ["m"], "the part that was written is removed"


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


def test_an_exception_while_writing_leaves_the_old_model(tmp_path, monkeypatch):
    """Ctrl-C in the middle of the weights."""
    target = tmp_path / "m"
    target.write_text("the old model")
    plain = linear._weight_lines

    def broken(W):
        yield from list(plain(W))[:1]
        raise KeyboardInterrupt

    monkeypatch.setattr(linear, "_weight_lines", broken)
    with pytest.raises(KeyboardInterrupt):
        linear.write(str(target), big_model())
    assert target.read_text() == "the old model"
    assert list(tmp_path.iterdir()) == [target]


def test_folder_that_cannot_be_written(command, tmp_path):
    (tmp_path / "d").write_text("1 1:1\n-1 1:2\n")
    done = command("train", "-q", "d", "nowhere/m")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"can't save model to file nowhere/m: there is no folder nowhere\n"


def test_predictions_of_a_model_that_was_interrupted(tmp_path, command):
    """The model after Ctrl-C is valid."""
    table = Dataset(np.array([1.0, -1.0]), np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    note = "# Stopped: interrupted: the best model so far is kept"
    linear.write(str(tmp_path / "m"), LinearModel("L2R_L2LOSS_SVC", (1, -1), 1, -1.0, np.ones((1, 1)), None, (note,)))
    assert linear.read(str(tmp_path / "m")).predict(table).tolist() == [1.0, -1.0]
    assert command("predict", "d", "m", "out").stdout == b"Accuracy = 100% (2/2)\n"
