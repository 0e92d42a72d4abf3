"""Child process: microseconds of a fit on 100 x 10 values, in all and beyond solving and certifying its problems.

Prints {call: {"whole", "beyond", "theirs" of scikit-learn's estimator}}.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np
import sklearn.linear_model
import sklearn.svm

from svmtool import api
from svmtool import sklearn as mine
from svmtool.training.kernel.fit import Fitting
from svmtool.training.reductions.base import Reduction

CALLS, WARM_UP = 1000, 50


class Clock:
    """Seconds spent in functions that it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, owner: Any, name: str) -> None:
        inner = getattr(owner, name)

        def timed(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            try:
                return inner(*arguments, **keywords)
            finally:
                self.seconds += time.perf_counter() - start

        setattr(owner, name, timed)


def median_of(call: Callable[[], Any], clock: Clock) -> tuple[float, float]:
    """Median microseconds of a call, and without the clock's."""
    whole, beyond = [], []
    for k in range(WARM_UP + CALLS):
        clock.seconds = 0.0
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        if k >= WARM_UP:
            whole.append(1e6 * seconds)
            beyond.append(1e6 * (seconds - clock.seconds))
    return statistics.median(whole), statistics.median(beyond)


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 10))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=100) > 0.0, 1, -1)
    clock = Clock()
    clock.wrap(Reduction, "fit_and_certify")
    clock.wrap(Fitting, "solve_several")
    calls: dict[str, Callable[[], Any]] = {
        **{f"api.fit, solver {s}": lambda s=s: api.fit(X, y, s) for s in (0, 1, 2, 3)},
        "api.fit, RBF kernel": lambda: api.fit(X, y, 0, kernel="rbf"),
        "LinearSVC.fit": lambda: mine.LinearSVC().fit(X, y),
        "LogisticRegression.fit": lambda: mine.LogisticRegression().fit(X, y),
        "SVC.fit": lambda: mine.SVC().fit(X, y),
    }
    theirs = {
        "LinearSVC.fit": sklearn.svm.LinearSVC, "LogisticRegression.fit": sklearn.linear_model.LogisticRegression,
        "SVC.fit": sklearn.svm.SVC,
    }  # fmt: skip
    found: dict[str, dict[str, float]] = {}
    for name, call in calls.items():
        whole, beyond = median_of(call, clock)
        found[name] = {"whole": whole, "beyond": beyond}
        if name in theirs:
            found[name]["theirs"], _ = median_of(lambda kind=theirs[name]: kind().fit(X, y), clock)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
