"""Probabilities before and after calibration: how often does a row that gets 70 % belong to the class?"""

from __future__ import annotations

import numpy as np
from drawing import GREY, OURS, THEIRS, THIRD, axes, options, save
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from svmtool.sklearn import SVC


def main() -> None:
    given = options(__doc__)
    n = 600 if given.small else 12000
    X, y = make_classification(n, 20, n_informative=6, flip_y=0.1, class_sep=0.7, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=1 / 4, random_state=0)
    models = {name: SVC(C=1.0, probability=name).fit(X, y) for name in ("sigmoid", "isotonic")}
    values = models["sigmoid"].decision_function(X_test)
    guesses = {
        "decision value f, as 1 / (1 + exp(−f))": (THEIRS, "s", 1.0 / (1.0 + np.exp(-values))),
        'probability="sigmoid" (Platt)': (OURS, "o", models["sigmoid"].predict_proba(X_test)[:, 1]),
        'probability="isotonic"': (THIRD, "^", models["isotonic"].predict_proba(X_test)[:, 1]),
    }
    fig, (ax, below) = axes(2, 6.0, sharex=True, height_ratios=[3, 1])
    ax.plot([0, 100], [0, 100], color=GREY, linestyle=":", label="perfect")
    for name, (colour, marker, p) in guesses.items():
        true, said = calibration_curve(y_test, p, n_bins=10)
        label = f"{name}: Brier score {brier_score_loss(y_test, p):.3f}"
        ax.plot(100.0 * said, 100.0 * true, color=colour, marker=marker, label=label)
        below.hist(100.0 * p, bins=np.linspace(0, 100, 21), histtype="step", color=colour, linewidth=1.5)
    ax.set_ylabel("rows that belong to the class, %")
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    ax.set_title(f"SVC with the RBF kernel, {len(X_test):,} rows held out", fontsize=11)
    below.set_xlabel("predicted probability of the class, %")
    below.set_ylabel("rows")
    save(fig, __file__, given.out)


if __name__ == "__main__":
    main()
