"""Certified gap against time: svmtool's LinearSVC beside scikit-learn's, on the same problem."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import GREY, OURS, THEIRS, THIRD, axes, options, save
from sklearn import svm
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from svmtool.sklearn import LinearSVC

C, ROUND_OFF = 1.0, 1e-12  # smaller gaps are drawn as ROUND_OFF


def objective(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """The objective that both minimise; the intercept is regularised in both."""
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    loss = np.maximum(0.0, 1.0 - signs * model.decision_function(X)) ** 2
    return float(0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2)) + C * loss.sum())


def fits(make: Callable[[float], Any], tolerances: np.ndarray, X: np.ndarray, y: np.ndarray, dual: float) -> np.ndarray:
    """CPU seconds (the least of three) and certified gap, with the dual value `dual`, of a fit for each tolerance."""
    points: list[tuple[float, float]] = []
    for tol in tolerances:
        seconds, model = np.inf, make(tol)
        for _ in range(3):
            began = time.process_time()
            model.fit(X, y)
            seconds = min(seconds, time.process_time() - began)
        value = objective(model, X, y)
        points.append((seconds, max((value - dual) / value, ROUND_OFF)))
    return np.array(points).T


def main() -> None:
    given = options(__doc__)
    n = 500 if given.small else 10000
    X, y = make_classification(n, 100, n_informative=20, n_redundant=40, flip_y=0.05, random_state=0)
    X, y = StandardScaler().fit_transform(X), np.asarray(y)
    best = LinearSVC(C=C, tol=1e-13).fit(X, y)
    dual = best.certificate_.dual
    tolerances = 10.0 ** -np.arange(1, 4 if given.small else 9)
    warnings.simplefilter("ignore")  # scikit-learn's fits that end at max_iter
    most = 50 if given.small else 1000

    def theirs(dual: Any) -> Callable[[float], Any]:
        return lambda tol: svm.LinearSVC(C=C, tol=tol, dual=dual, max_iter=most)

    curves = {
        f"scikit-learn, dual=True, max_iter={most}": (THEIRS, "s", theirs(True)),
        f"scikit-learn, dual=False, max_iter={most}": (THIRD, "^", theirs(False)),
        "svmtool, one thread": (OURS, "o", lambda tol: LinearSVC(C=C, tol=tol, n_jobs=1)),
    }
    fig, ax = axes()
    for name, (colour, marker, make) in curves.items():
        seconds, gap = fits(make, tolerances, X, y, dual)
        ax.loglog(seconds, gap, marker=marker, color=colour, label=name)
    ax.axhline(ROUND_OFF, color=GREY, linewidth=1.0, linestyle=":", label="round-off, or less")
    ax.set_xlabel("CPU seconds of a fit")
    ax.set_ylabel("certified relative gap (P − D) / P")
    ax.set_title(f"One fit for each tolerance, {n:,} rows, {X.shape[1]} features, C = {C:g}", fontsize=11)
    ax.legend(frameon=False, loc="center right")
    save(fig, __file__, given.out)


if __name__ == "__main__":
    main()
