"""Our commands as executables of any name, for scripts that find them on PATH or in their folder."""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import forked


@functools.cache
def svmtool() -> list[str]:
    """The program and the first arguments of `svmtool`, in a process forked from one that serves all tests."""
    folder = tempfile.mkdtemp(prefix="forked-")
    argv = [sys.executable, "-c", "import forked, sys; forked.serve(sys.argv[1])", f"{folder}/s"]
    path = os.pathsep.join([os.path.dirname(forked.__file__), os.environ["PYTHONPATH"]])
    server = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )

    def end() -> None:
        server.communicate()  # its standard input ends
        shutil.rmtree(folder)

    atexit.register(end)
    assert server.stdout.read(5) == b"ready"
    return [sys.executable, "-IS", forked.__file__, f"{folder}/s"]


def put_commands(folder: Path, names: dict[str, str]) -> None:
    """Executables {file name: train | predict | scale, "" for svmtool} of our commands, in forked processes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in names.items():
        put_script(folder / name, f'exec {shlex.join(svmtool())} {command} "$@"')


def put_script(path: Path, line: str) -> None:
    """An executable of one shell command."""
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def run_in(folder: Path, argv: list[str], first_on_path: Path | None = None) -> subprocess.CompletedProcess:
    """Run a program in a folder, with another folder before all others on PATH; texts, not bytes."""
    path = os.pathsep.join([*([str(first_on_path)] if first_on_path else []), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "LC_ALL": "C"}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
