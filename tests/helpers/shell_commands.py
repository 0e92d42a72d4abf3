"""Our commands as executables of any name, for scripts that find them on PATH or in their folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def put_commands(folder: Path, names: dict[str, str]) -> None:
    """Executables {file name: train | predict | scale} that run our command with the Python that runs the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in names.items():
        put_script(folder / name, f'exec "{sys.executable}" -m svmtool {command} "$@"')


def put_script(path: Path, line: str) -> None:
    """An executable of one shell command."""
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def run_in(folder: Path, argv: list[str], first_on_path: Path | None = None) -> subprocess.CompletedProcess:
    """Run a program in a folder, with another folder before all others on PATH; texts, not bytes."""
    path = os.pathsep.join([*([str(first_on_path)] if first_on_path else []), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "LC_ALL": "C"}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
