"""Files of adaptable models: invalid ones, those of runs ended half-way, and streams."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from adapt_suite import Row, apart, batch, draw, streamed, text_of_rows, weights_in
from sampling import pairs_in_turn
from shell_commands import svmtool

from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import ModelLock

RNG = np.random.default_rng(1)
ROWS, NEW = draw(RNG, 30, 4), draw(RNG, 8, 4)
FILES = "m", "m.state.npz", "m.state.rows"


@pytest.fixture
def ready(svm_train):
    """Files d, new and m, the model of d; returns svm_train -q -s 71."""
    Path("new").write_text(text_of_rows(NEW))
    assert svm_train("-q", "-s", 71, "d", "m", data=text_of_rows(ROWS))[0] == 0
    return lambda *argv: svm_train("-q", "-s", 71, *argv)


def contents() -> list[bytes]:
    return [Path(name).read_bytes() for name in FILES]


def refused(ready, sentence: str, *argv) -> None:
    """Assert exit status 1, the message, and unchanged files."""
    before, names = contents(), sorted(os.listdir())
    status, _, err = ready(*argv)
    assert status == 1 and sentence in err, err
    assert contents() == before and sorted(os.listdir()) == names


def test_rows_that_are_not_there_are_not_removed(ready):
    stranger = Row(1, (0.5, 0.25, 9.0, 1.0))
    other_label = ROWS[3]._replace(label=-ROWS[3].label)
    for k, bad in ((2, stranger), (4, other_label), (5, ROWS[0])):
        Path("old").write_text(text_of_rows([*ROWS[:k], bad]))
        words = " that many times" if bad is ROWS[0] else ""
        sentence = f"old: line {k + 1}: the model does not contain this row{words}: none is removed"
        refused(ready, sentence, "--remove", "old", "-i", "m")
    Path("old").write_text(text_of_rows(ROWS[:1]))
    assert ready("--remove", "old", "-i", "m")[0] == 0
    refused(ready, "old: line 1: the model does not contain this row", "--remove", "old", "-i", "m")
    assert ready("--add", "old", "-i", "m")[0] == 0
    assert ready("--remove", "old", "-i", "m")[0] == 0, "a row that came back can go again"
    assert apart(weights_in("m"), batch(ROWS[1:])) <= 1e-8


def test_a_state_that_does_not_belong_to_the_model_is_refused(ready, svm_train):
    assert svm_train("-q", "-s", 71, "-c", 3, "d", "other")[0] == 0
    Path("m").write_bytes(Path("other").read_bytes())
    refused(ready, "m.state.npz does not belong to m: train again", "--add", "new", "-i", "m")
    Path("m.state.npz").write_bytes(Path("other.state.npz").read_bytes())
    refused(ready, "m.state.rows does not belong to the model's state", "--add", "new", "-i", "m")


def test_two_runs_at_a_time_are_refused(ready):
    lock = ModelLock("m")
    for argv in (("--add", "new", "-i", "m"), ("--add", "new", "-i", "m", "other"), ("d", "m")):
        refused(ready, "m: another run is changing this model", *argv)
    lock.close()
    assert ready("--add", "new", "-i", "m")[0] == 0


# The run ends at a step: these come before (even) and after (odd) renames.
KILLED = """
import os, sys
from svmtool.cli import train
plain, steps = os.replace, iter(range(100))
def replace(*names):
    for half in (lambda: None, lambda: plain(*names)):
        half()
        if next(steps) == int(sys.argv[3]):
            os._exit(9)
os.replace = replace
os._exit(train.main(sys.argv[4:]))
"""


@pytest.mark.parametrize("argv", ["d2 m", "--add new -i m"])
def test_a_run_that_is_killed_leaves_the_old_model_or_the_new(ready, argv, tmp_path, tmp_path_factory, monkeypatch):
    """The process is ended at a rename; the rows are then all the old ones or all the new."""
    other = draw(np.random.default_rng(3), 12, 5)
    Path("d2").write_text(text_of_rows(other))
    assert ready("d2", "other")[0] == 0
    written = 5 if argv == "d2 m" else 3  # before and after each of state, log where it is another one, model
    new = {"d2 m": other, "--add new -i m": ROWS + NEW}[argv]
    for step in range(written + 2):
        monkeypatch.chdir(shutil.copytree(tmp_path, tmp_path_factory.mktemp("killed"), dirs_exist_ok=True))
        done = subprocess.run([*svmtool(), "-c", KILLED, str(step), "-q", "-s", "71", *argv.split()], timeout=120)
        assert done.returncode == (9 if step <= written else 0)
        now = new if step else ROWS
        status, _, err = ready("--add", "new", "-i", "m")
        assert status == 0 and ("model is rewritten" in err) == (1 <= step < written), step
        assert apart(weights_in("m"), batch(now + NEW)) <= 1e-8, step
        Path("all").write_text(text_of_rows(now + NEW))
        assert ready("--remove", "all", "-i", "m")[0] == 0, "the log of rows agrees"
        assert not [name for name in os.listdir() if name.endswith((".new", ".lock"))]


@pytest.mark.parametrize(
    "argv, sentence",
    [
        ("-s auto --add new -i m", "give the -s of the model"),
        ("--add new -i m -", "only the added rows can be read from"),
        ("--add new -i m -w1 2", "-w differs from the class weights of the model"),
        ("--add bad -i m", "Wrong input format at line 2: bad: token '2:x'"),
        ("--add wide -i m", "wide: line 1: 1000000 features are too many"),
        ("--add new /dev/null", "can't save model to file /dev/null"),
    ],
)  # fmt: skip
def test_contradictory_options_are_refused(ready, argv, sentence):
    Path("bad").write_text("1 1:1\n1 2:x\n")
    Path("wide").write_text("1 1000000:1\n")
    refused(ready, sentence, *argv.split())


def test_probabilities_that_a_change_loses_are_reported(ready, svm_train):
    assert ready("-b", 1, "d", "p")[0] == 0 and "# Sigmoid:" in Path("p").read_text()
    status, _, err = ready("--add", "new", "-i", "p")
    assert status == 0 and err.startswith("WARNING: p no longer has probabilities (-b 1)") and err.count("\n") == 1
    assert ready("--add", "new", "-i", "p") == (0, "", "")


def test_a_stream_is_learnt_while_it_runs_and_ended_by_ctrl_c(tmp_path, monkeypatch):
    """Rows are added before the input ends, and the last ones after Ctrl-C."""
    monkeypatch.chdir(tmp_path)
    argv = [sys.executable, "-m", "svmtool", "train", "-s", "71", "--add", "-", "--every-rows", "20", "m"]
    process = subprocess.Popen(argv, stdin=-1, stdout=-1, stderr=-1)
    try:
        process.stdin.write(text_of_rows(ROWS).encode())
        process.stdin.flush()
        while not Path("m").exists():
            assert process.poll() is None, process.communicate()[1].decode()
            time.sleep(0.01)
        assert apart(weights_in("m"), batch(ROWS)) <= 1e-8
        process.stdin.write(text_of_rows(NEW).encode() + b"1 1:1")  # the last line is not finished
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert apart(weights_in("m"), batch(ROWS + NEW)) <= 1e-8
    adaptable_state.read("m")


WAYS = [("1 1:1\n", []), ("1 1:1\n1 x\n", ["--every-rows", 1])]


@pytest.mark.parametrize(
    ("bad", "way"), pairs_in_turn(["1 1:1e200", "1 99999999:1", "9e99 1:1", "0.5 1:1\n0.25 1:1"], WAYS)
)
def test_a_row_that_cannot_be_added_costs_none_before_it(ready, svm_train, bad, way):
    after, every = way
    stream = text_of_rows(NEW) + bad + "\n" + after
    kept = [*NEW, Row(0, (1.0, 0.0, 0.0, 0.0))] if "\n" in bad else NEW
    status, out, err = streamed(svm_train, stream, "-s", 71, "--add", "-", "-i", "m", *every)
    assert status == 1 and err.startswith(f"-: line {len(kept) + 1}: ")
    assert f"Rows in the model = {len(ROWS + kept)}\n" in out
    assert apart(weights_in("m"), batch(ROWS + kept)) <= 1e-8
