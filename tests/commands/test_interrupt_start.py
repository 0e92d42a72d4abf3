"""Ctrl-C at any moment: one line, status 130, no other output and no files left."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from reference import text_of
from shell_commands import svmtool

from svmtool.training.interruption import KEEPS_MODEL

# As the installed scripts, with a message after the first import.
SCRIPT = "from svmtool import start\nimport os, sys\nos.write(2, b'!')\ngetattr(start, sys.argv.pop(1))()"

JOBS = {
    "train": ["-q", "-s", "71", "d", "m"],
    "predict": ["--scores", "scores", "d", "model", "o"],
    "scale": ["-s", "range", "d"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    from svmtool.cli.train import main

    path, rng = tmp_path_factory.mktemp("start"), np.random.default_rng(5)
    (path / "d").write_text(text_of(rng.normal(size=(3000, 12)), rng.choice([1.0, -1.0], 3000)))
    assert main(["-q", str(path / "d"), str(path / "model")]) == 0
    return path


@pytest.mark.parametrize("job", JOBS)
def test_any_moment(folder, job):
    """While modules, numpy's among them, are imported."""
    interrupted = 0
    for delay in (0.0, 0.05, 0.1):
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, job, *JOBS[job]],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stderr.read(1) == b"!"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=60)[1].decode()
        assert (process.returncode, err) == (0, "") or (
            process.returncode == 130 and err.startswith(("interrupted", KEEPS_MODEL + "\n"))
        ), f"after {1000 * delay:.0f} ms: {process.returncode}, {err}"
        interrupted += process.returncode == 130
        left = {name for name in os.listdir(folder) if "tmp" in name or "lock" in name}
        assert not left, f"after {1000 * delay:.0f} ms"
    assert interrupted, "no run was interrupted: the test tests nothing"


def run(code: str, folder: Path) -> subprocess.CompletedProcess:
    head = "import os, signal, sys; from svmtool import interrupts; interrupts.install()\n"
    return subprocess.run([*svmtool(), "-c", head + code], cwd=folder, capture_output=True, text=True, timeout=60)


SELF = "os.kill(os.getpid(), signal.SIGINT)\n"


@pytest.mark.parametrize("made", ["m.state.lock", "m.state.rows.new"])
def test_a_file_that_has_just_been_made(made, tmp_path):
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    code = "real = os.open\ndef opened(path, *a):\n    fd = real(path, *a)\n    if path == " + repr(made) + ": " + SELF
    code += "    return fd\nos.open = opened\nfrom svmtool.cli.train import main\n"
    done = run(code + "sys.exit(main(['-q', '-s', '71', 'd', 'm']))", tmp_path)
    assert done.returncode == 130
    if made.endswith(".lock"):  # before training
        assert done.stderr == "interrupted: no model is written\n" and os.listdir(tmp_path) == ["d"]
    else:
        assert done.stderr == KEEPS_MODEL + "\n"
        assert sorted(os.listdir(tmp_path)) == ["d", "m", "m.state.npz", "m.state.rows"]


def test_another_one_while_the_first_is_being_answered(tmp_path):
    """While the message is written, and while files are removed."""
    code = "unlink, write = os.unlink, os.write\ninterrupts.begin_file('m')\n"
    code += "def twice(real):\n    def work(*a):\n        " + SELF + "        return real(*a)\n    return work\n"
    (tmp_path / "m").touch()
    done = run(code + "os.unlink, os.write = twice(unlink), twice(write)\n" + SELF, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("before", "renamed"), [([], "m"), (["m", "m.state.npz", "m.state.rows"], "m.state.npz")]
)
def test_model_state_and_log_must_match(before, renamed, tmp_path):
    """Ctrl-C when one of the three files is renamed: the others are renamed too."""
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    train = "from svmtool.cli.train import main\n"
    if before:
        assert run(train + "main(['-q', '-s', '71', '-c', '5', 'd', 'm'])", tmp_path).returncode == 0
    old = {name: (tmp_path / name).read_bytes() for name in before}
    code = "real = os.replace\ndef replace(a, b):\n    if os.path.basename(b) == " + repr(renamed) + ": " + SELF
    code += "    real(a, b)\nos.replace = replace\nsys.exit(main(['-q', '-s', '71', 'd', 'm']))"
    done = run(train + code, tmp_path)
    assert (done.returncode, done.stderr) == (130, KEEPS_MODEL + "\n")
    assert sorted(os.listdir(tmp_path)) == ["d", "m", "m.state.npz", "m.state.rows"]
    assert not before or all((tmp_path / name).read_bytes() != old[name] for name in before)


def test_while_the_thread_that_answers_begins_or_ends(tmp_path):
    """Before it receives signals, and when it has stopped: the main thread answers."""
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    for moment in ("fd != -1", "fd == -1"):
        code = "import _signal\nreal = _signal.set_wakeup_fd\n"
        code += "def wakeup(fd, **k):\n    if fd == -1: old = real(fd, **k)\n"
        code += f"    if {moment}: " + SELF + "    return old if fd == -1 else real(fd, **k)\n"
        code += "_signal.set_wakeup_fd = wakeup\nfrom svmtool.cli.train import main\n"
        done = run(code + "sys.exit(main(['-q', '-t', '2', 'd', 'm']))", tmp_path)
        assert done.returncode == 130 and done.stderr.count(KEEPS_MODEL) == 1, f"{moment}: {done}"


def work_until(end: str) -> str:
    """A function `work` that Ctrl-C interrupts by an exception; end: the clause after its `try`."""
    return "def work():\n    interrupts.raise_from_now_on()\n    try:\n        " + SELF + "    " + end


@pytest.mark.parametrize("code", ["raise ImportError('a long text') from None", "return 0"])
def test_work_that_cleans_up(code, tmp_path):
    """There Ctrl-C raises an exception, which may turn into another one."""
    clause = "except KeyboardInterrupt:\n        print('in order', file=sys.stderr); " + code + "\n"
    done = run("from svmtool.cli.entry import guarded\n" + work_until(clause) + "sys.exit(guarded(work))", tmp_path)
    went_on = code == "return 0"
    assert done.returncode == (0 if went_on else 130)
    assert done.stderr == "in order\n" + ("" if went_on else "interrupted\n")


def test_a_second_one_during_the_clean_up_and_at_the_very_end(tmp_path):
    """Only the first Ctrl-C prints a message, and clean-up is complete."""
    work = work_until("finally:\n        " + SELF + "        os.write(2, b'in order, ')\n")
    work += "from svmtool.cli import entry\nstatus = entry.guarded(work)\n" + SELF + "entry.leave(status)"
    done = run(work, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "in order, interrupted\n")


def test_the_library_leaves_ctrl_c_alone():
    code = (
        "import signal, svmtool, svmtool.cli.entry, svmtool.cli.train, svmtool.training.pipeline\n"
        "import svmtool.training.linear\n"
        "from svmtool import interrupts; interrupts.raise_from_now_on()\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("line", "closed"),
    [("train {}/d m", "2>&-"), ("predict {}/no m o", ">&- 2>&-"), ("scale -s r {}/no", "<&- >&- 2>&-")],
)
def test_closed_streams_take_no_file(line, closed, folder, tmp_path):
    """The first opened file must not get the descriptor of standard error."""
    program = f"exec {sys.executable} -m svmtool {line.format(folder)} {closed}"
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == (0 if line.startswith("train") else 1)
    assert done.stderr == b"" and b"can't" not in done.stdout
    assert done.returncode or (tmp_path / "m").read_bytes().startswith(b"solver_type")


def test_a_current_directory_that_is_gone(tmp_path):
    (tmp_path / "gone").mkdir()
    line = f"cd gone; rmdir ../gone; exec {sys.executable} -m svmtool train ../d ../m"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"ERROR: the current directory has been removed\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "argv", [("predict", "d", "model", "-"), ("predict", "--help"), ("scale", "d"), ("train", "d", "m")], ids=" ".join
)
def test_a_full_stdout_is_an_error_of_every_command(argv, folder):
    unbuffered = "1" if argv[0] == "train" else ""
    program = [sys.executable, "-m", "svmtool"] if unbuffered else svmtool()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*program, *argv], cwd=folder, stdout=full, stderr=subprocess.PIPE, timeout=60,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == b"can't write to standard output: No space left on device\n"


@pytest.mark.parametrize("argv", ["predict d model -", "predict --help", "scale d"])
def test_closed_stdout_prints_no_error(argv, folder):
    line = f"{shlex.join(svmtool())} {argv} | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, timeout=60)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1
