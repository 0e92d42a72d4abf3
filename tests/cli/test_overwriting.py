"""No command overwrites its input, under any name; pipes, devices and a warm start into the same model are allowed."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from shell_commands import svmtool

from svmtool.cli import scale
from svmtool.cli.predict import command

DATA = "1 1:1 2:1\n-1 1:-1 2:0.5\n1 1:2\n-1 2:-1\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """in, m (a model of it), weights; hard and soft links to the data."""
    from svmtool.cli.train import main

    monkeypatch.chdir(tmp_path)
    Path("in").write_text(DATA)
    Path("weights").write_text("1\n1\n1\n2\n")
    assert main(["-q", "-s", "71", "in", "m"]) == 0
    os.link("in", "hard")
    os.symlink("in", "soft")
    os.symlink(".", "folder")


def contents() -> dict[str, bytes]:
    return {name: Path(name).read_bytes() for name in sorted(os.listdir()) if name != "folder"}


REFUSED = [
    ("train", "in", "in", "the model in would overwrite the data in"),
    ("train", "in", "hard", "the model hard would overwrite the data in"),
    ("train", "in", "soft", "the model soft would overwrite the data in"),
    ("train", "in", "folder/in", "the model folder/in would overwrite the data in"),
    ("train", "--solver-log", "in", "in", "o", "--solver-log in would overwrite the data in"),
    ("train", "--weights", "weights", "in", "weights", "the model weights would overwrite --weights weights"),
    ("train", "--solver-log", "o", "in", "o", "--solver-log and the model are both o"),
    ("train", "--solver-log", "m", "-i", "m", "in", "o", "--solver-log m would overwrite the initial model m"),
    ("train", "-s", 71, "m.state.rows", "m", "the model's state m.state.rows would overwrite the data m.state.rows"),
    ("train", "-s", 71, "--add", "in", "-i", "m", "in", "the model in would overwrite the added rows in"),
    ("train", "-s", 71, "--remove", "in", "-i", "m", "soft", "the model soft would overwrite the removed rows in"),
    ("predict", "in", "m", "in", "output_file in would overwrite test_file in"),
    ("predict", "in", "m", "m", "output_file m would overwrite model_file m"),
    ("predict", "--scores", "in", "in", "m", "o", "--scores in would overwrite test_file in"),
    ("predict", "--scores", "o", "in", "m", "folder/o", "output_file and --scores are both folder/o (o)"),
    ("scale", "-s", "in", "in", "-s in would overwrite the data in"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: " ".join(map(str, case[:-1])))
def test_refused_before_anything_is_read(case, svm_train, capsys):
    name, *argv, sentence = case
    before = contents()
    main = {"train": None, "predict": command.main, "scale": scale.main}[name]
    if main is None:
        status, out, err = svm_train(*argv)
    else:
        status, (out, err) = main([str(a) for a in argv]), capsys.readouterr()
    assert status == 1 and out == "" and err.startswith(f"ERROR: {sentence}") and err.count("\n") == 1, err
    assert contents() == before


@pytest.mark.parametrize(
    "argv",
    [("-q", "-i", "m", "-s", 2, "-B", 1, "in", "m"), ("-q", "-s", 71, "--add", "in", "-i", "m"),
     ("-q", "-s", 71, "--remove", "in", "-i", "m", "m"), ("-q", "in", "/dev/null"), ("-q", "/dev/null", "/dev/null"),
     ("-q", "--solver-log", "/dev/null", "in", "/dev/null"), ("-q", "-v", 2, "in", "in")],
    ids=str,
)  # fmt: skip
def test_allowed_command_lines_keep_the_input(argv, svm_train):
    before = Path("in").read_bytes()
    assert svm_train(*argv)[0] == 0
    assert Path("in").read_bytes() == before


def run(line: str) -> subprocess.CompletedProcess:
    line = line.replace("svm-", f"{shlex.join(svmtool())} ")
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120)


def test_standard_input_and_output_are_files_too():
    """`-` is the file to which the shell redirects."""
    for line, sentence in (
        ("svm-train - in < in", "the model in would overwrite the data -"),
        ("svm-predict in - out < out", "output_file out would overwrite model_file -"),
        ("svm-scale in >> in", "the scaled rows - would overwrite the data in"),
        ("svm-predict in m - >> in", "output_file - would overwrite test_file in"),
    ):
        Path("out").write_text("")
        done = run(line)
        assert done.returncode == 1 and done.stderr.startswith(f"ERROR: {sentence}"), line
        assert Path("in").read_text() == DATA
    piped = "cat in | svm-train -q - in.model", "svm-scale -l 0 - < in > out", "svm-predict - m - < in | cat > out"
    for line in piped:
        done = run(line)
        assert done.returncode == 0 and done.stderr == "", line
