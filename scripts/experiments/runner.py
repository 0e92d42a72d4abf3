"""Runs cells one after the other, each in its own process, and stores the results.

A cell with a stored result is not run again, unless the cell, its tool's version, or the code that runs and evaluates
it has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments import sets
from experiments.declare import Cell, Outcome
from experiments.measures import OURS
from experiments.problem import NO_MEMORY

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
OWN_PYTHON = (OURS, "least_squares", "pegasos")  # tools that need no package of peers.txt
WATCH_INTERVAL = 0.05  # seconds between two checks of a child
BESIDE = 90.0  # seconds for a child in addition to its fits: its warm-up, and mostly the evaluator
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
LAST_WORDS = 400  # characters of a failed cell's output


class Runner:
    """folders: of data sets; results: folder for stored results; peer_python: the Python of all other tools."""

    def __init__(self, folders: list[Path], results: Path, peer_python: str):
        self.folders, self.results, self.peer_python = folders, results, peer_python
        self.versions: dict[str, str] = {}
        self._codes: dict[str, str] = {}

    def python(self, tool: str) -> str:
        return sys.executable if tool in OWN_PYTHON else self.peer_python

    def version(self, tool: str) -> str:
        """A tool's version; empty if it is not installed."""
        if tool not in self.versions:
            code = f"from experiments import tools; print(tools.load({tool!r}).VERSION())"
            done = subprocess.run([self.python(tool), "-c", code], capture_output=True, text=True, env=_environment())
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
            facts = json.loads(kept.read_text())
            return Outcome(cell, facts["steps"], facts["ended"], facts["words"], facts["cut"])
        try:
            data = sets.prepared(cell.data, self.folders, self.results / "data")
        except sets.AbsentError as e:
            return Outcome(cell, [], "absent", str(e))
        outcome = self._child(cell, data)
        kept.parent.mkdir(parents=True, exist_ok=True)
        facts = {"cell": cell.order(), "version": version, "date": time.strftime("%Y-%m-%d %H:%M")}
        facts |= {"steps": outcome.steps, "ended": outcome.ended, "words": outcome.words, "cut": outcome.cut}
        partial = kept.with_suffix(".partial")
        partial.write_text(json.dumps(facts, indent=1) + "\n")
        partial.replace(kept)
        return outcome

    def _child(self, cell: Cell, data: Path) -> Outcome:
        argv = [self.python(cell.tool), str(HERE / "child.py"), str(data), json.dumps(cell.order())]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as words:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=words, env=_environment())
            end, ended = time.monotonic() + cell.seconds + BESIDE, "done"
            try:
                while child.poll() is None:
                    if time.monotonic() > end:
                        ended = "over time"
                    elif _resident(child.pid) > cell.megabytes:
                        ended = "out of memory"
                    else:
                        time.sleep(WATCH_INTERVAL)
                        continue
                    child.kill()
                    child.wait()
            finally:
                child.kill()
                child.wait()
            if child.returncode == -signal.SIGALRM:
                ended = "over time"
            elif ended == "done" and child.returncode:
                ended = "out of memory" if child.returncode == NO_MEMORY else "failed"
            out.seek(0)
            words.seek(0)
            lines = [line for line in out.read().splitlines() if line.startswith("{") and line.endswith("}")]
            steps = [json.loads(line) for line in lines]
            cut = steps.pop() if steps and steps[-1].get("cut") else None
            return Outcome(cell, steps, "over time" if cut else ended, words.read()[-LAST_WORDS:], cut)


def _environment() -> dict[str, str]:
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), str(HERE.parent), *filter(None, [env.get("PYTHONPATH")])])
    return env


def _resident(pid: int) -> float:
    """Resident megabytes of a process; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/statm") as f:
            return int(f.read().split()[1]) * PAGE / 1e6
    except (OSError, IndexError):
        return 0.0
