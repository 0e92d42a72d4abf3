"""Peers: what the benchmark times.  A peer is a file here that sets PEERS, a list of Program and Fit objects.

A peer of ours has no `beside`; any other names the peer of ours that runs in turn with it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench.problem import Problem, value
from bench.runs import Run, once
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError

Numbers = tuple[int, ...]


class Options(NamedTuple):
    """Of a benchmark run: folder for models, seconds of a run, Python of the Fit peers, more words for svm-train."""

    scratch: Path
    limit: float
    python: str = sys.executable
    memory: str = ""


class Peer:
    """A peer that solves these of LIBLINEAR's numbers, and of LIBSVM's with a kernel."""

    def __init__(self, name: str, beside: str, linear: Numbers, kernel: Numbers):
        self.name, self.beside, self.linear, self.kernel = name, beside, linear, kernel

    def missing(self, options: Options) -> str:
        """Why it cannot run; empty if it can."""
        raise NotImplementedError

    def solves(self, problem: Problem, classes: int | None) -> bool:
        """Whether it solves exactly this problem, for this number of classes."""
        return problem.solver in (self.kernel if problem.kernel else self.linear)

    def run(self, path: str, problem: Problem, rows: Dataset | None, options: Options) -> Run:
        """Train once; with rows: also the objective of the model."""
        raise NotImplementedError


class Program(Peer):
    """A program, timed as a whole command from file to model: in the folder of a variable, or on PATH."""

    def __init__(self, name: str, beside: str, linear: Numbers, kernel: Numbers, variable: str, *names: str):
        super().__init__(name, beside, linear, kernel)
        self.variable, self.names = variable, names

    def words(self, options: Options | None = None) -> list[str]:
        """The words that start it; none if it is not there."""
        folders = (os.environ.get(self.variable) or os.environ.get("PATH", "")).split(os.pathsep)
        places = (shutil.which(name, path=folder) for folder in folders if folder for name in self.names)
        return next(([place] for place in places if place and not script_of_ours(place)), [])

    def missing(self, options: Options) -> str:
        return "" if self.words(options) else f"no {' or '.join(self.names)} in {self.variable} or on PATH"

    def run(self, path: str, problem: Problem, rows: Dataset | None, options: Options) -> Run:
        model = options.scratch / "model"
        model.unlink(missing_ok=True)
        done = once([*self.words(options), "-q", *problem.options, path, model], options.limit)
        if done.ended != "yes":
            return done
        try:
            worth = None if rows is None else value(problem, str(model), rows)
            return done._replace(objective=worth, gap=self.gap(str(model)))
        except (SvmtoolError, ValueError) as e:  # such as weights that are not finite
            return done._replace(ended="failed", message=str(e))

    def gap(self, model: str) -> float | None:
        """The certified gap in a model file."""
        return None


class Fit(Peer):
    """A Python module, timed from arrays to model in a process of its own."""

    def __init__(self, name: str, beside: str, linear: Numbers, kernel: Numbers, module: str):
        super().__init__(name, beside, linear, kernel)
        self.module = module

    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows as `fit` takes them, in the child process; this is not timed."""
        return X, y

    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        """A model that svmtool.audit reads, in the child process."""
        raise NotImplementedError

    def missing(self, options: Options) -> str:
        return "" if imports(options.python, self.module) else f"{options.python} does not import {self.module}"

    def run(self, path: str, problem: Problem, rows: Dataset | None, options: Options) -> Run:
        answer = options.scratch / "answer.json"
        answer.unlink(missing_ok=True)
        words = [self.name, path, problem.solver, repr(problem.C), int(problem.kernel), answer]
        done = once([options.python, "-m", "bench.fit", *words], options.limit)
        return Run(**json.loads(answer.read_text())) if done.ended == "yes" else done


def script_of_ours(path: str) -> bool:
    """Whether a program is a script of this package, which has LIBLINEAR's and LIBSVM's names too."""
    with open(path, "rb") as file:
        return b"svmtool" in file.read(1 << 12)


@functools.cache
def imports(python: str, module: str) -> bool:
    """Whether a Python interpreter has a module."""
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def versions(python: str) -> str:
    """The installed packages of the Fit peers, with their versions."""
    modules = sorted({peer.module.partition(".")[0] for peer in all_peers().values() if isinstance(peer, Fit)})
    code = (
        "import sys, importlib.metadata as m; found = m.packages_distributions(); print(', '.join("
        "f'{d} {m.version(d)}' for name in sys.argv[1:] if name != 'svmtool' for d in found.get(name, [])))"
    )
    return subprocess.run([python, "-c", code, *modules], capture_output=True, text=True).stdout.strip()


@functools.cache
def all_peers() -> dict[str, Peer]:
    """All peers of the files in this folder, by name."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return {peer.name: peer for module in modules for peer in module.PEERS}


def named(name: str) -> Any:
    return all_peers()[name]
