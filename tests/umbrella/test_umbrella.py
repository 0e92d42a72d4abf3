"""The command `svmtool`: help, errors, completion, and what its fast subcommands import."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import shell_commands
from conftest import REPOSITORY

from svmtool.cli.umbrella.group import ORDER, PASSED_ON


@pytest.fixture
def svmtool(command, tmp_path):
    """Run `svmtool` in the temporary folder; status, stdout, stderr as texts."""

    def run(*argv, **options) -> tuple[int, str, str]:
        done = command(*argv, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


def test_help_lists_every_subcommand(svmtool):
    status, out, err = svmtool("--help")
    assert (status, err) == (0, "")
    for name in ("train", "predict", "scale", "inspect", "completion"):
        assert f"\n  {name} " in out
    assert "..." not in out.partition("Commands:")[2], "a summary is cut off"


def test_the_page_of_tools_names_every_subcommand():
    page = (REPOSITORY / "docs" / "tools.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `svmtool ([a-z]+)", page, re.MULTILINE)) == set(ORDER) - set(PASSED_ON)


def test_no_arguments_print_the_usage_and_exit_with_1():
    done = subprocess.run([sys.executable, "-m", "svmtool"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith("Usage: svmtool")


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["inspetc"], "svmtool: there is no command 'inspetc': did you mean inspect?\n"),
        (["inspect"], "svmtool inspect: Missing argument 'MODEL'; svmtool inspect --help shows the usage\n"),
        (["inspect", "absent"], "can't open model file absent\n"),
        (["inspect", "--plot", "w.bmp", "absent"], "ERROR: --plot w.bmp: the name must end in .png, .svg, .pdf\n"),
        (["completion", "tcsh"], None),
    ],
)
def test_errors_are_one_line(svmtool, argv, sentence):
    status, out, err = svmtool(*argv)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert sentence is None or err == sentence


@pytest.mark.parametrize(("shell", "program"), [("bash", "svmtool"), ("zsh", "svm-train"), ("fish", "svmtool")])
def test_completion_scripts(svmtool, shell, program, tmp_path):
    status, out, _ = svmtool("completion", shell, program)
    assert status == 0 and "_SVMTOOL_COMPLETE" in out and f" {program}" in out
    if shutil.which(shell):
        (tmp_path / "script").write_text(out)
        assert subprocess.run([shell, "-n", str(tmp_path / "script")], timeout=60).returncode == 0


@pytest.mark.parametrize(
    "words, offered",
    [("svmtool train --max-s", "--max-seconds"), ("svm-train -q -s nes", "nesvm nesvm-lp nesvm-ls"),
     ("svm-predict da", None)],
)  # fmt: skip
def test_completions(words, offered):
    """Names, or files where one is expected."""
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_SVMTOOL_COMPLETE": "bash_complete"}
    command = words.split()[0].removeprefix("svm-")
    line = [sys.executable, "-m", "svmtool"] if command == "svmtool" else [*shell_commands.svmtool(), command]
    found = subprocess.run(line, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60).stdout
    assert found == ("file,da\n" if offered is None else "".join(f"plain,{name}\n" for name in offered.split()))


def test_names_in_any_letters_and_closed_pipes(tmp_path, svmtool):
    (tmp_path / "d").write_text("1 1:1 2:3\n-1 1:-1\n")
    (tmp_path / "n").write_text("ж\nvek\x1b[1m\n")
    assert svmtool("train", "-q", "d", "m")[0] == 0
    status, out, err = svmtool("inspect", "--names", "n", "m", env={"PYTHONIOENCODING": "latin-1"})
    assert (status, err) == (0, "") and "\\u0436" in out and "\x1b" not in out
    for reader, status, message in [("| true", 1, ""), ("> /dev/full", 1, "No space left on device")]:
        line = f"set -o pipefail; {shlex.join(shell_commands.svmtool())} inspect m {reader}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in done.stderr and message in done.stderr
        assert done.returncode in (status, 0, 141) if reader == "| true" else done.returncode == status
