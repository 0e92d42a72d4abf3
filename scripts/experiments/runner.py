"""Runs cells one after the other, each in its own process, and stores the results.

A cell with a stored result is not run again, unless the cell, its tool's version, or the code that runs and evaluates
it has changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.runs import environment
from experiments import report, sets
from experiments.declare import Cell, Outcome
from experiments.measures import OURS
from experiments.problem import NO_MEMORY

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
BESIDE = 90.0  # seconds for a child in addition to its fits: its warm-up, and mostly the evaluator
LAST_WORDS = 400  # characters of a failed cell's output


class Runner:
    """folders: of data sets; results: folder for stored results; peer_python: the Python of all other tools."""

    def __init__(self, folders: list[Path], results: Path, peer_python: str):
        self.folders, self.results, self.peer_python = folders, results, peer_python
        self.versions: dict[str, str] = {}
        self._codes: dict[str, str] = {}

    def python(self, tool: str) -> str:
        return sys.executable if tool == OURS else self.peer_python

    def version(self, tool: str) -> str:
        """A tool's version; empty if it is not installed."""
        if tool not in self.versions:
            code = f"from experiments import tools; print(tools.load({tool!r}).VERSION())"
            done = subprocess.run([self.python(tool), "-c", code], capture_output=True, text=True, env=environment())
            self.versions[tool] = done.stdout.strip() if done.returncode == 0 else ""
        return self.versions[tool]

    def code(self, tool: str) -> str:
        """A digest of our code in a cell's process."""
        if tool not in self._codes:
            files = [*(HERE / name for name in ("child.py", "certify.py", "problem.py")), *(HERE / "tools").iterdir()]
            files += (REPOSITORY / "svmtool").rglob("*.py") if tool == OURS else []
            content = b"".join(file.read_bytes() for file in sorted(files) if file.suffix == ".py")
            self._codes[tool] = hashlib.sha256(content).hexdigest()
        return self._codes[tool]

    def run(self, cell: Cell) -> Outcome:
        """Run a cell, or return its stored result."""
        version = self.version(cell.tool)
        if not version:
            return Outcome(cell, [], "absent", f"{cell.tool} is not installed")
        kept = self.results / "cells" / f"{cell.key(version + self.code(cell.tool))}.json"
        if kept.exists():
            return Outcome(cell, **json.loads(kept.read_text())["outcome"])
        try:
            data = sets.prepared(cell.data, self.folders, self.results / "data")
        except FileNotFoundError as e:
            return Outcome(cell, [], "absent", str(e))
        outcome = self._child(cell, data)
        kept.parent.mkdir(parents=True, exist_ok=True)
        facts = dataclasses.asdict(outcome)
        order = {"cell": facts.pop("cell"), "version": version, "date": time.strftime("%Y-%m-%d %H:%M")}
        report.write(kept, json.dumps({**order, "outcome": facts}, indent=1) + "\n")
        return outcome

    def _child(self, cell: Cell, data: Path) -> Outcome:
        argv = [self.python(cell.tool), "-m", "experiments.child", str(data), json.dumps(cell.order())]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as words:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": words, "env": environment()}
            try:
                code = subprocess.run(argv, timeout=cell.seconds + BESIDE, **streams).returncode
            except subprocess.TimeoutExpired:
                code = -signal.SIGALRM
            ended = {0: "done", -signal.SIGALRM: "over time", NO_MEMORY: "out of memory"}.get(code, "failed")
            out.seek(0)
            words.seek(0)
            steps = [json.loads(line) for line in out.read().splitlines() if line[:1] + line[-1:] == "{}"]
            cut = steps.pop() if steps and steps[-1].get("cut") else None
            return Outcome(cell, steps, "over time" if cut else ended, words.read()[-LAST_WORDS:], cut)
