"""Context of all parts of the benchmark: peers, data sets and scratch folder."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench_parts.measure import REPOSITORY, NoSetsError, Report, Sample, environment, run_once


class Context:
    """Settings of one benchmark run."""

    def __init__(self, options, report: Report):
        self.report, self.repeats, self.quick = report, options.repeats, options.quick
        self.budget, self.skipped = (
            min(options.budget, 5.0) if options.quick else options.budget,
            options.skip.split(","),
        )
        self.numbers = [int(s) for s in options.numbers.split(",") if s]
        self.minutes, self.limit = min(options.minutes, 1.0) if options.quick else options.minutes, options.limit
        self.seed = options.seed
        self.memory, self.made_mb, self.made_folder = options.memory, options.made_mb, options.made_folder
        self.data = [Path(folder) for folder in options.data]
        self.cache = Path(options.cache)
        self.scratch = self.cache / "scratch"
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.files = [Path(f) for f in options.files]
        self.liblinear = _folder(options.liblinear, "train")
        self.libsvm = _folder(options.libsvm, "svm-scale")
        self.peer_python = options.peer_python if imports(options.peer_python, "sklearn") else None
        self.spark_python = options.spark_python if imports(options.spark_python, "pyspark") else None
        self.plots = Path(options.plots) if options.plots else self.cache

    def find(self, name: str) -> str | None:
        """Path of a data set by name, decompressed to the cache if necessary; None (and a message) if it is missing."""
        for folder in self.data:
            if (folder / name).is_file():
                return str(folder / name)
            packed = folder / (name + ".xz")
            if packed.is_file():
                target = self.cache / "data" / name
                if not target.exists() or target.stat().st_mtime < packed.stat().st_mtime:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    unfinished = target.with_name(name + ".part")  # an incomplete file must not be used
                    with lzma.open(packed) as source, open(unfinished, "wb") as sink:
                        shutil.copyfileobj(source, sink, 1 << 20)
                    unfinished.replace(target)
                return str(target)
        self.report.show(f"   {name}: not found in {', '.join(map(str, self.data))}; left out")
        return None

    def sets(self, names) -> list[tuple[str, str]]:
        """(name, path) of available sets; files of the command line replace the list; NoSetsError for none."""
        if self.files:
            return [(f.name, str(f)) for f in self.files]
        found = [(name, path) for name in names if (path := self.find(name)) is not None]
        if not found:
            raise NoSetsError
        return found

    def all_sets(self, tests: bool = False) -> list[str]:
        """Names of every training set in the data folders; tests: also of the sets for tests, which end in .t."""
        others = ("md", "tsv") if tests else ("t", "md", "tsv")
        names = set()
        for folder in self.data:
            for path in folder.iterdir() if folder.is_dir() else ():
                name = path.name.removesuffix(".xz")
                if path.is_file() and name not in self.skipped and name.rpartition(".")[2] not in others:
                    names.add(name)
        return sorted(names)

    def path(self, name: str) -> str:
        """A scratch file."""
        return str(self.scratch / name)

    def made(self, kind: str, size: str, amount: float, features: int | None = None) -> str:
        """Path of a set that scripts/make_large.py writes, kept for later runs; size: "mb" or "rows"."""
        path = Path(self.made_folder or self.scratch) / f"{kind}-{amount:g}{size}-{features or 'all'}"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            more = [] if features is None else ["--features", features]
            argv = [
                sys.executable,
                REPOSITORY / "scripts" / "make_large.py",
                kind,
                path,
                f"--{size}",
                f"{amount:g}",
                *more,
            ]
            run_once(argv, Sample(), environment())
        return str(path)

    def draw(self, script: str, name: str, curves: dict) -> None:
        """Run a drawing script of this folder for a plot of this name; prints the result."""
        self.plots.mkdir(parents=True, exist_ok=True)
        target = self.plots / name
        argv = [sys.executable, str(Path(__file__).with_name(script)), str(target)]
        done = subprocess.run(argv, input=json.dumps(curves), capture_output=True, text=True, env=environment())
        self.report.show(
            f"   drawn: {target}" if done.returncode == 0 else f"   not drawn: {done.stderr.strip()[-500:]}"
        )

    def reference(self, tool: str) -> str | None:
        """Path of LIBLINEAR's train or predict, LIBSVM's svm-train and others; None without a folder."""
        folder = self.libsvm if tool.startswith("svm-") else self.liblinear
        return None if folder is None else str(folder / tool)


def _folder(path: str | None, tool: str) -> Path | None:
    if not path:
        return None
    if not os.access(Path(path) / tool, os.X_OK):
        raise SystemExit(f"{path} holds no program called {tool}")
    return Path(path).resolve()


def imports(python: str | None, module: str) -> bool:
    """Whether a Python interpreter has a module."""
    if not python:
        return False
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
