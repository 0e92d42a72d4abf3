"""LIBLINEAR by its own Python package (liblinear-official).

Methods are "-s N" for 0, 1, 2, 3, 5, 6, 7.  A step is -e; settings: C.
"""

from __future__ import annotations

import ctypes
import time
from importlib.metadata import version

import numpy as np

from experiments.problem import Fitted, Problem


def VERSION() -> str:
    return f"LIBLINEAR {version('liblinear-official')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from liblinear.liblinear import liblinear, parameter
    from liblinear.liblinear import problem as rows_of

    rows = rows_of(problem.y, problem.X)
    asked = parameter(f"{method} -c {problem.C!r} -q" + ("" if step is None else f" -e {step!r}"))
    rows.set_bias(asked.bias)
    start = time.perf_counter()
    found = liblinear.train(rows, asked)
    seconds = time.perf_counter() - start
    model = found.contents
    w = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
    sign = 1.0 if model.label[0] == 1 else -1.0
    liblinear.free_and_destroy_model(ctypes.pointer(found))
    return Fitted(seconds, sign * np.pad(w, (0, problem.X.shape[1] - len(w))))
