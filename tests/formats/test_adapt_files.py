"""Files of adaptable models: invalid ones, those of runs ended half-way, and streams."""

from __future__ import annotations

import json
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

from svmtool.data.class_statistics import ClassStatistics
from svmtool.errors import ModelError
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import ModelLock, RowLog, hashes_of
from svmtool.formats.models import linear
from svmtool.formats.svmlight.table import read

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


def test_a_row_is_the_same_however_it_is_written(ready):
    """Explicit zeros, other digits of the same number, a label with a decimal point."""
    Path("old").write_text(
        "".join(f"{r.label}.0 " + " ".join(f"{j + 1}:{v:.25e}" for j, v in enumerate(r.x)) + "\n" for r in ROWS[:5])
    )
    assert ready("--remove", "old", "-i", "m")[0] == 0
    assert apart(weights_in("m"), batch(ROWS[5:])) <= 1e-8


def test_hashes_differ_where_rows_do(tmp_path):
    rows = [Row(1, x) for x in ((1.0, 2.0), (2.0, 1.0), (1.0, 0.0, 2.0), (), (1.0,))] + [Row(2, (1.0, 2.0))]
    (tmp_path / "d").write_text(text_of_rows([*rows, *rows]))
    table = read(str(tmp_path / "d"))
    hashes = hashes_of(table)
    assert len(set(hashes[:6].tolist())) == 6 and np.array_equal(hashes[:6], hashes[6:])
    assert not set(hashes.tolist()) & set(hashes_of(table.replace(weights=np.full(len(table), 2.0))).tolist())
    assert not np.any(hashes & np.uint64(1))


def test_log_counts_rows_like_a_multiset(tmp_path):
    """Compared with a simple count, over several pieces."""
    rng, held = np.random.default_rng(2), {}
    keys = rng.integers(0, 2**63, 300, dtype=np.uint64) << np.uint64(1)
    log = RowLog.create(str(tmp_path / "log"))
    log.append(keys[:100])
    for key in keys[:100].tolist():
        held[key] = held.get(key, 0) + 1
    for _ in range(200):
        some = rng.choice(keys, rng.integers(1, 6))
        if rng.random() < 0.5:
            log.append(some)
            change = 1
        else:
            left, first = dict(held), None
            for k, key in enumerate(some.tolist()):
                left[key] = left.get(key, 0) - 1
                if left[key] < 0 and first is None:
                    first = k
            assert log.first_missing(some) == first
            if first is not None:
                continue
            log.append(some, removed=True)
            change = -1
        for key in some.tolist():
            held[key] = held.get(key, 0) + change
    log.close()


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_is_reported(ready, name):
    Path(name).unlink()
    status, _, err = ready("--add", "new", "-i", "m")
    assert status == 1 and name in err and "Traceback" not in err


def test_a_state_that_does_not_belong_to_the_model_is_refused(ready, svm_train):
    assert svm_train("-q", "-s", 71, "-c", 3, "d", "other")[0] == 0
    Path("m").write_bytes(Path("other").read_bytes())
    refused(ready, "m.state.npz does not belong to m: train again", "--add", "new", "-i", "m")
    Path("m.state.npz").write_bytes(Path("other.state.npz").read_bytes())
    refused(ready, "m.state.rows does not belong to the model's state", "--add", "new", "-i", "m")


def test_a_damaged_state_is_refused_or_harmless(ready):
    """Flips single bits: no traceback and no different state."""
    good, state = Path("m.state.npz").read_bytes(), adaptable_state.read("m")
    refusals = 0
    for at in np.linspace(0, len(good) - 1, 300).astype(int).tolist():
        bad = bytearray(good)
        bad[at] ^= 0x10
        Path("m.state.npz").write_bytes(bad)
        try:
            found = adaptable_state.read("m")
        except ModelError as e:
            assert "m.state.npz" in str(e)
            refusals += 1
            continue
        assert found.sums.gram.tobytes() == state.sums.gram.tobytes() and found.model == state.model
        assert (found.C, found.bias, found.entries, found.log) == (state.C, state.bias, state.entries, state.log)
    assert refusals > 200
    for end in (0, 10, len(good) // 2, len(good) - 1):
        Path("m.state.npz").write_bytes(good[:end])
        with pytest.raises(ModelError, match="damaged"):
            adaptable_state.read("m")


def test_a_state_of_another_version_is_refused(ready, monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(adaptable_state, "FAST", 99)
        adaptable_state.write("m", adaptable_state.State(71, 1.0, 1.0, (), ClassStatistics()))
    refused(ready, "its version is 99, and this svmtool reads versions 1 and 2", "--add", "new", "-i", "m")


@pytest.mark.parametrize("moment", ["log", "state", "model"])
def test_a_run_ended_between_two_files_is_repaired(ready, moment, monkeypatch):
    """Ended before the state: the old model; before the model: it is written again, with a message."""

    class EndedError(Exception):
        pass

    def end(*args, **options):
        raise EndedError

    place = {"log": (RowLog, "flush"), "state": (adaptable_state, "write"), "model": (linear, "write_text")}
    with monkeypatch.context() as m:
        m.setattr(*place[moment], end)
        with pytest.raises(EndedError):
            ready("--add", "new", "-i", "m")
    status, _, err = ready("--add", "new", "-i", "m")
    assert status == 0 and ("model is rewritten" in err) == (moment == "model")
    wanted = ROWS + NEW + NEW if moment == "model" else ROWS + NEW
    assert apart(weights_in("m"), batch(wanted)) <= 1e-8
    Path("all").write_text(text_of_rows(wanted))
    assert ready("--remove", "all", "-i", "m")[0] == 0, "the log of rows agrees"


def test_two_runs_at_a_time_are_refused(ready):
    lock = ModelLock("m")
    for argv in (("--add", "new", "-i", "m"), ("--add", "new", "-i", "m", "other"), ("d", "m")):
        refused(ready, "m: another run is changing this model", *argv)
    lock.close()
    assert ready("--add", "new", "-i", "m")[0] == 0


# In a folder named 3,0 one run ends at step 3, then one at step 0: steps come before (even) and after (odd) renames.
KILLED = """
import os, sys
from svmtool.cli import train
from svmtool.training.adapting import adaptable
plain = os.replace
def ended(folder, step):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    steps = iter(range(100))
    def replace(*names):
        for half in (lambda: None, lambda: plain(*names)):
            half()
            if next(steps) == int(step):
                os._exit(9)
    os.replace = replace
    os.chdir(folder)
    os.dup2(os.open("new", os.O_RDONLY), 0)
    os._exit(train.main(sys.argv[2:]))
print([ended(folder, step) for folder in sys.argv[1].split() for step in folder.split(",")])
"""


def killed(folders: list[str], argv: list[str]) -> list[int]:
    """The exit statuses of svm-train -s 71 in copies of this folder: see KILLED."""
    for folder in folders:
        shutil.copytree(".", folder, ignore=lambda *_: folders)
    argv = [sys.executable, "-c", KILLED, " ".join(folders), "-q", "-s", "71", *argv]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("argv", ["d2 m", "--add new -i m", "-i other --add new m", "--add - m"])
def test_a_run_that_is_killed_leaves_the_old_model_or_the_new(ready, argv, tmp_path, monkeypatch):
    """The process is ended at a rename; the rows are then all the old ones or all the new."""
    other = draw(np.random.default_rng(3), 12, 5)
    Path("d2").write_text(text_of_rows(other))
    assert ready("d2", "other")[0] == 0
    folders = [str(step) for step in range(7)]
    written = 5 if argv != "--add new -i m" else 3  # before and after each of state, log where it is another one, model
    assert killed(folders, argv.split()) == [9 if step <= written else 0 for step in range(7)]
    new = {"d2 m": other, "--add new -i m": ROWS + NEW, "-i other --add new m": other + NEW, "--add - m": NEW}[argv]
    for step, folder in enumerate(folders):
        monkeypatch.chdir(tmp_path / folder)
        now = new if step else ROWS
        status, _, err = ready("--add", "new", "-i", "m")
        assert status == 0 and ("model is rewritten" in err) == (1 <= step < written), step
        assert apart(weights_in("m"), batch(now + NEW)) <= 1e-8, step
        Path("all").write_text(text_of_rows(now + NEW))
        assert ready("--remove", "all", "-i", "m")[0] == 0, "the log of rows agrees"
        assert not [name for name in os.listdir() if name.endswith((".new", ".lock"))]


def test_training_anew_behind_a_run_that_was_killed(ready, tmp_path, monkeypatch):
    """The next run may be killed too; the first one's change is not lost."""
    Path("d2").write_text(text_of_rows(NEW))
    assert killed([f"{step},0" for step in range(6)], ["d2", "m"]) == [9] * 12
    for step in range(6):
        monkeypatch.chdir(tmp_path / f"{step},0")
        assert ready("--add", "new", "-i", "m")[0] == 0
        assert apart(weights_in("m"), batch((NEW if step else ROWS) + NEW)) <= 1e-8


@pytest.mark.parametrize(
    "argv, sentence",
    [
        ("--add new -i m -v 5", "-v cannot be combined with"),
        ("--method fast --add new -i m --max-iter 5", "--max-iter cannot be combined with"),
        ("--add new -i m -b 1", "--probability cannot be combined with"),
        ("--method fast --add new -i m --loo", "--loo cannot be combined with"),
        ("-s auto --add new -i m", "give the -s of the model"),
        ("--add new", "--add needs -i MODEL"),
        ("--remove new x", "--remove needs -i MODEL"),
        ("--add new -i m x y", "y: with --add and --remove only one file"),
        ("--add new -i m -", "only the added rows can be read from"),
        ("--add new -i m --every-rows 5", "need --add -"),
        ("--every-seconds 5 d", "--every-seconds needs --add -"),
        ("--add - -i m -W new", "--weights needs either --add FILE or"),
        ("--add new -i m -w1 2", "-w differs from the class weights of the model"),
        ("--add new -i m -c -1", "C <= 0"),
        ("--add nowhere -i m", "can't open input file nowhere"),
        ("--add new -i nowhere", "can't open the model's state nowhere.state.npz"),
        ("--add bad -i m", "Wrong input format at line 2: bad: token '2:x'"),
        ("--add huge -i m", "huge: line 2: feature values up to 1e+200 at a cost of 1 overflow when squared"),
        ("--add huge -i m -W weights", "huge: line 3: feature values up to 1e+210 at a cost of 1 overflow when"),
        ("--add wide -i m", "wide: line 1: 1000000 features are too many"),
        ("--add half -i m", "half: line 2: labels 1.2 and 1.9 would both become class 1"),
        ("--add new -i m -B 1e160", "feature values up to 1e+160 at a cost of 1 overflow when squared and summed"),
        ("--add new -i m /dev/full", "can't save model to file /dev/full"),
        ("--add new /dev/null", "can't save model to file /dev/null"),
        ("--add new -i m .", "can't save model to file ."),
    ],
)  # fmt: skip
def test_contradictory_options_are_refused(ready, argv, sentence):
    Path("bad").write_text("1 1:1\n1 2:x\n")
    Path("huge").write_text("1 1:1\n1 1:1e200\n1 1:1e210\n1 1:2\n")
    Path("weights").write_text("1 0 1 1\n")
    Path("wide").write_text("1 1000000:1\n")
    Path("half").write_text("1.2 1:1\n1.9 1:1\n")
    refused(ready, sentence, *argv.split())


def test_probabilities_that_a_change_loses_are_reported(ready, svm_train):
    assert ready("-b", 1, "d", "p")[0] == 0 and "# Sigmoid:" in Path("p").read_text()
    status, _, err = ready("--add", "new", "-i", "p")
    assert status == 0 and err.startswith("WARNING: p no longer has probabilities (-b 1)") and err.count("\n") == 1
    assert ready("--add", "new", "-i", "p") == (0, "", "")


@pytest.mark.parametrize("argv", [("-s", 2, "d"), ("-s", 71, "d"), ("-s", 80, "d"), ("--add", "new")])
def test_a_model_needs_a_name(ready, argv):
    refused(ready, "can't save model to file ''", *argv, "")


def test_other_solvers_refuse_rows(ready, svm_train):
    status, _, err = svm_train("-s", 70, "--add", "new", "-i", "m")
    assert status == 1 and "does not support --add: use -s 71" in err
    assert svm_train("-q", "-s", 2, "d", "m2")[0] == 0
    status, _, err = ready("--add", "new", "-i", "m2")
    assert status == 1 and "only -s 71" in err


def test_a_model_on_standard_output_has_no_state(command):
    done = command("train", "-q", "-s", 71, "-", "-", input=text_of_rows(ROWS).encode())
    assert done.returncode == 0 and b"rows cannot be added later" in done.stderr and b"solver_type" in done.stdout


def begin(folder: Path, *argv) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "svmtool", "train", "-s", "71", "--add", "-", *argv],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(condition, process: subprocess.Popen) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < until, "the run never came so far"
        time.sleep(0.01)


def test_a_stream_is_learnt_while_it_runs_and_ended_by_ctrl_c(tmp_path, monkeypatch):
    """Rows are added before the input ends, and the last ones after Ctrl-C."""
    monkeypatch.chdir(tmp_path)
    process = begin(tmp_path, "--every-rows", "20", "m")
    try:
        process.stdin.write(text_of_rows(ROWS).encode())
        process.stdin.flush()
        wait_for(lambda: Path("m").exists(), process)
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


def test_a_stream_by_seconds_into_an_old_model(ready, tmp_path):
    process = begin(tmp_path, "--every-seconds", "0.1", "-i", "m")
    try:
        before = Path("m").read_bytes()
        process.stdin.write(text_of_rows(NEW[:4]).encode())
        process.stdin.flush()
        wait_for(lambda: Path("m").read_bytes() != before, process)
        out, err = process.communicate(text_of_rows(NEW[4:]).encode(), timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and err == b"" and b"Rows in the model = 38" in out
    assert apart(weights_in("m"), batch(ROWS + NEW)) <= 1e-8


def test_a_malformed_line_of_a_stream_costs_none_before_it(ready, svm_train):
    stream = text_of_rows(NEW) + "1 1:1 1:2\n1 3:4\n"
    status, _, err = streamed(svm_train, stream, "-s", 71, "--add", "-", "-i", "m")
    assert status == 1 and "Wrong input format at line 9: -" in err
    assert apart(weights_in("m"), batch(ROWS + NEW)) <= 1e-8


@pytest.mark.parametrize("bad", ["1 1:1e200", "1 99999999:1", "9e99 1:1", "0.5 1:1\n0.25 1:1"])
@pytest.mark.parametrize("after", ["1 1:1\n", "1 1:1\n1 x\n"])
@pytest.mark.parametrize("every", [[], ["--every-rows", 1]])
def test_a_row_that_cannot_be_added_costs_none_before_it(ready, svm_train, bad, after, every):
    stream = text_of_rows(NEW) + bad + "\n" + after
    kept = [*NEW, Row(0, (1.0, 0.0, 0.0, 0.0))] if "\n" in bad else NEW
    status, out, err = streamed(svm_train, stream, "-s", 71, "--add", "-", "-i", "m", *every)
    assert status == 1 and err.startswith(f"-: line {len(kept) + 1}: ")
    assert f"Rows in the model = {len(ROWS + kept)}\n" in out
    assert apart(weights_in("m"), batch(ROWS + kept)) <= 1e-8


def test_a_stream_whose_first_row_cannot_be_added_changes_nothing(ready, svm_train):
    before = contents()
    status, _, err = streamed(svm_train, "1 1:1e200\n", "-s", 71, "--add", "-", "-i", "m")
    assert status == 1 and err.startswith("-: line 1: ") and contents() == before


def test_an_empty_stream_makes_a_model_of_no_rows(svm_train):
    assert streamed(svm_train, "", "-s", 71, "--add", "-", "m")[0] == 0 and weights_in("m") == {}
    assert streamed(svm_train, "1 x\n", "-s", 71, "--add", "-", "m2")[0] == 1 and not Path("m2").exists()
