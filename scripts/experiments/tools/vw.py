"""Vowpal Wabbit: the hinge loss with l2, online, from its binary cache, its fastest input.

The method is "hinge".  A step is more of its options, say "--sgd --passes 10".  Settings: C (its --l2 is a row's
share: 1 / (C n)).  The text and the cache are written before timing starts.
"""

from __future__ import annotations

import re
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import packages
from experiments.problem import Fitted, Problem


def VERSION() -> str:
    return f"Vowpal Wabbit {version('vowpalwabbit')}"


def fit(problem: Problem, method: str, step: str | None, settings: dict) -> Fitted:
    from vowpalwabbit import Workspace

    n, d = problem.X.shape
    bits = max(d - 1, 1).bit_length()
    asked = f"--loss_function hinge --l2 {1.0 / (problem.C * n)!r} -b {bits} --noconstant --quiet --holdout_off"
    cache = cached(problem, asked)
    weights = cache.with_name("weights")
    asked += f" {step or ''} --cache_file {cache} --predict_only_model --readable_model {weights}"
    start = time.perf_counter()
    machine = Workspace(asked)
    seconds = time.perf_counter() - start
    machine.finish()
    w = np.zeros(1 << bits)
    for index, value in re.findall(r"^(\d+):(\S+)$", weights.read_text(), re.MULTILINE):
        w[int(index)] = float(value)
    return Fitted(seconds, w[:d])


_last: tuple[Any, tempfile.TemporaryDirectory] | None = None  # rows, and the folder of their cache


def cached(problem: Problem, asked: str) -> Path:
    """The binary cache of the rows, created once for all steps."""
    global _last
    from vowpalwabbit import Workspace

    if _last is None or _last[0] is not problem.X:
        _last = problem.X, tempfile.TemporaryDirectory()
        text = Path(_last[1].name, "rows")
        text.write_bytes(packages.vowpal_rows(problem.X, problem.y, 0))
        Workspace(f"{asked} -d {text} --cache_file {text.with_name('cache')} -k").finish()
    return Path(_last[1].name, "cache")
