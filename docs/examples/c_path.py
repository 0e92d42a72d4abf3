"""Accuracy in cross-validation along C, with bands that hold for the exact minimum.

The objective is 1/2 |w|^2 plus a convex function.  So weights with primal value P and dual value D are within
sqrt(2 (P - D)) of the minimiser, and a decision value is within |x| sqrt(2 (P - D)) of its final value.  Rows whose
decision value is larger than that keep their label, however long one trains.
"""

from __future__ import annotations

import numpy as np
from drawing import GREY, OURS, THEIRS, axes, options, save
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from svmtool.sklearn import LinearSVC


def held_out(
    C: float, tol: float, X: np.ndarray, y: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[float, float, float]:
    """Shares of rows that are right, surely right, and not surely wrong, each predicted by the other folds' model."""
    right, sure = np.zeros(len(y), bool), np.zeros(len(y), bool)
    for inside, outside in folds:
        scaler = StandardScaler().fit(X[inside])
        model = LinearSVC(C=C, tol=tol).fit(scaler.transform(X[inside]), y[inside])
        rows = np.asarray(scaler.transform(X[outside]))
        values = model.decision_function(rows)
        length = np.sqrt(np.sum(rows**2, axis=1) + 1.0)  # 1: the constant feature of the intercept
        off = length * np.sqrt(2.0 * max(0.0, model.certificate_.primal - model.certificate_.dual))
        right[outside] = (values > 0.0) == (y[outside] == 1)
        sure[outside] = np.abs(values) > off
    return float(right.mean()), float((right & sure).mean()), float((right | ~sure).mean())


def main() -> None:
    given = options(__doc__)
    X, y = map(np.asarray, load_breast_cancer(return_X_y=True))
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    path = np.logspace(-5, 3, 5 if given.small else 25)
    fig, ax = axes()
    for tol, colour, alpha in ((1e-2, THEIRS, 0.22), (1e-4, OURS, 0.30)):
        accuracy, low, high = 100.0 * np.array([held_out(C, tol, X, y, folds) for C in path]).T
        ax.fill_between(path, low, high, color=colour, alpha=alpha, linewidth=0, label=f"certified band, tol = {tol:g}")
    ax.plot(path, accuracy, color=OURS, marker="o", markersize=3.5, label="accuracy, tol = 0.0001")
    best = int(np.argmax(accuracy))
    ax.axvline(path[best], color=GREY, linestyle=":", linewidth=1.0)
    ax.annotate(f"best: C = {path[best]:.2g}, {accuracy[best]:.1f} %", (path[best], 99.3), color=GREY,
                xytext=(6, 0), textcoords="offset points")  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(90.0, 100.0)
    ax.set_xlabel("C")
    ax.set_ylabel("rows held out that are right, %")
    ax.set_title("Breast cancer data, 5 folds: where more training could still change labels", fontsize=11)
    ax.legend(frameon=False, loc="lower right")
    save(fig, __file__, given.out)


if __name__ == "__main__":
    main()
