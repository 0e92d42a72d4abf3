"""Writes the sets in data/, small real sets of scikit-learn in LIBSVM's text format.

    python scripts/make_data.py [folder]          (needs scikit-learn; the same bytes every time)

| file | what | rows (train, test) | features |
| breast_cancer, .t | tumours, +1 malignant, -1 benign | 400, 169 | 30, raw |
| digits, .t | handwritten digits, classes 0 to 9 | 1200, 597 | 64 grey values, 0 to 16 |
| diabetes | progression of the disease after a year, a real number | 442 | 10, standardised |
"""

from __future__ import annotations

import os
import random
import sys


def line(label: float, row) -> str:
    """One row of text; features of value 0 are left out."""
    pairs = [f"{j}:{value:g}" for j, value in enumerate(row, start=1) if value != 0]
    return " ".join([f"{label:g}", *pairs]) + "\n"


def write(folder: str, name: str, labels, rows, n_train: int | None = None) -> None:
    """Shuffle with a fixed seed; the rows after the first n_train go to `name.t`."""
    lines = [line(label, row) for label, row in zip(labels, rows, strict=True)]
    random.Random(2).shuffle(lines)
    parts = [(name, lines)] if n_train is None else [(name, lines[:n_train]), (name + ".t", lines[n_train:])]
    for file, text in parts:
        with open(os.path.join(folder, file), "w", encoding="ascii") as f:
            f.writelines(text)


def main() -> None:
    from sklearn import datasets

    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "data")
    rows, target = datasets.load_breast_cancer(return_X_y=True)
    write(folder, "breast_cancer", [1 if t == 0 else -1 for t in target], rows, 400)
    rows, target = datasets.load_digits(return_X_y=True)
    write(folder, "digits", target, rows, 1200)
    rows, target = datasets.load_diabetes(return_X_y=True)
    write(folder, "diabetes", target, rows)


if __name__ == "__main__":
    main()
