"""Section of the report on rows without labels: what is predicted for them."""

from __future__ import annotations

import numpy as np

from svmtool.formats.names import Names
from svmtool.report import page


def of_values(predicted: np.ndarray) -> list[str]:
    """The distribution of predicted values, f8[n]."""
    marks = np.quantile(predicted, [0.0, 0.25, 0.5, 0.75, 1.0])
    words = ("smallest", "first quartile", "median", "third quartile", "largest")
    return [page.section("Predicted values", page.cards([(f"{x:.6g}", w) for x, w in zip(marks, words, strict=True)]))]


def of_classes(predicted: np.ndarray, kind: str, names: Names) -> list[str]:
    """How often each class is predicted, given the labels f8[n] by a model of this kind."""
    labels, counts = np.unique(predicted, return_counts=True)
    if kind == "one-class" and not names.classes:
        texts = ["inside" if label > 0 else "outside" for label in labels]
    else:
        texts = [names.of_class(label) for label in labels.tolist()]
    shares = [f"{100 * n / len(predicted):.2f} %" for n in counts.tolist()]
    cells = [("", cells) for cells in zip(texts, map(str, counts.tolist()), shares, strict=True)]
    return [page.section("Predicted classes", page.table(("class", "rows", "share"), cells))]
