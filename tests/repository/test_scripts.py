"""Typical shell scripts and a Makefile for LIBLINEAR run unchanged with our commands.

Each file of tests/shell names in its head the solvers that it uses and lines that it must print.  It runs in a
folder with the sets of data/, and finds `train`, `predict` and `svm-scale` on PATH: ours, and LIBLINEAR's where they
are (with our svm-scale, for it has none), whose output must be the same but for the last digits of rates and errors.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from compat_cases import same_text
from conftest import REPOSITORY, skip_unless_known
from shell_commands import put_commands, put_script, run_in

SCRIPTS = sorted((REPOSITORY / "tests" / "shell").iterdir())
PRINTED_RTOL = 0.02  # relative to 1 + |number|: the reference stops early, a row or two fall otherwise


def head(script: Path, word: str) -> list[str]:
    return re.findall(rf"^# {word}: (.*)$", script.read_text(), re.MULTILINE)


def solvers(script: Path) -> list[int]:
    return [int(number) for number in head(script, "solvers")[0].split()]


def run_script(script: Path, folder: Path, data: Path):
    """In `folder`, which has the commands in bin/ and gets the sets."""
    for name in ("breast_cancer", "breast_cancer.t", "digits", "digits.t", "diabetes"):
        (folder / name).symlink_to(data / name)
    shutil.copy(script, folder / script.name)
    shell = "bash" if script.read_text().startswith("#!/bin/bash") else "sh"
    argv = ["make", "-s"] if script.name == "Makefile" else [shell, script.name]
    return run_in(folder, argv, folder / "bin")


def with_our_commands(folder: Path) -> Path:
    """The folder, with our commands in bin/ under LIBLINEAR's and LIBSVM's names."""
    put_commands(folder / "bin", {"train": "train", "predict": "predict", "svm-scale": "scale"})
    return folder


@pytest.fixture
def ours(tmp_path):
    return with_our_commands(tmp_path / "ours")


@pytest.fixture(scope="module", params=SCRIPTS, ids=lambda path: path.name)
def script(request):
    return request.param


@pytest.fixture(scope="module")
def done(script, tmp_path_factory, data):
    """What a script does with our commands, once for all tests of it."""
    return run_script(script, with_our_commands(tmp_path_factory.mktemp("ours")), data)


@pytest.fixture
def theirs(tmp_path, reference):
    """The same with LIBLINEAR's train and predict."""
    folder = tmp_path / "theirs"
    put_commands(folder / "bin", {"svm-scale": "scale"})
    for name, path in reference.items():
        put_script(folder / "bin" / name, f'exec "{path}" "$@"')
    return folder


def check_result(script: Path, done) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    for pattern in head(script, "gives"):
        assert re.search(pattern, done.stdout), f"no line with {pattern!r} in\n{done.stdout}"


def test_script_runs_on_our_commands(script, done):
    check_result(script, done)


def test_script_prints_what_it_prints_with_liblinear(script, done, theirs, reference, data):
    for number in solvers(script):
        skip_unless_known(number, reference)
    wanted = run_script(script, theirs, data)
    check_result(script, wanted)
    same_text(done.stdout, wanted.stdout, PRINTED_RTOL)
    assert done.stderr == wanted.stderr


def test_make_rebuilds_changed_files(ours, data):
    """make rebuilds nothing; after a change of C the model and what depends on it; after a change of data all."""
    script = REPOSITORY / "tests" / "shell" / "Makefile"
    assert run_script(script, ours, data).returncode == 0

    def make(*argv: str) -> list[str]:
        done = run_in(ours, ["make", *argv], ours / "bin")
        assert (done.returncode, done.stderr) == (0, "")
        return [
            line.split()[0] for line in done.stdout.splitlines() if line.split()[0] in ("train", "predict", "svm-scale")
        ]

    assert make() == []
    (ours / "model").unlink()
    assert make() == ["train", "predict"]
    (ours / "breast_cancer").unlink()
    shutil.copy(data / "breast_cancer", ours / "breast_cancer")
    (ours / "breast_cancer").touch()
    assert make() == ["svm-scale", "svm-scale", "svm-scale", "train", "predict"]
