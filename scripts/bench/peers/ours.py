"""svmtool: the command svm-train, and svmtool.fit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.peers import Fit, Options, Program
from bench.problem import KERNEL, LINEAR, Problem


class SvmTrain(Program):
    def words(self, options: Options | None = None) -> list[str]:
        script = Path(sys.executable).with_name("svm-train")
        words = [str(script)] if script.exists() else [sys.executable, "-m", "svmtool", "train"]
        return [*words, *(["--memory", options.memory] if options and options.memory else [])]

    def gap(self, model: str) -> float | None:
        from svmtool.formats.models import read
        from svmtool.inspection.facts import certificate_of

        certainty, text = certificate_of(read(model))
        return float(text.split()[0]) if certainty == "Certified" else None


class SvmtoolFit(Fit):
    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        import svmtool

        return svmtool.fit(X, y, **problem.keywords)


PEERS = [
    SvmTrain("svm-train", "", LINEAR, KERNEL, "", "svm-train"),
    SvmtoolFit("svmtool.fit", "", LINEAR, KERNEL, "svmtool"),
]
