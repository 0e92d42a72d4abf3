"""Section of the report on rows without labels: what is predicted for them."""

from __future__ import annotations

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.formats.names import Names
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.report import page


def sections(model: LinearModel | KernelModel, rows: Dataset, names: Names) -> list[str]:
    """How often each class is predicted, or the distribution of predicted values."""
    predicted = model.predict(rows)
    if model.kind == "regression":
        marks = np.quantile(predicted, [0.0, 0.25, 0.5, 0.75, 1.0])
        words = ("smallest", "first quartile", "median", "third quartile", "largest")
        return [
            page.section("Predicted values", page.cards([(f"{x:.6g}", w) for x, w in zip(marks, words, strict=True)]))
        ]
    labels, counts = np.unique(predicted, return_counts=True)
    if model.kind == "one-class" and not names.classes:
        texts = ["inside" if label > 0 else "outside" for label in labels]
    else:
        texts = [names.of_class(label) for label in labels.tolist()]
    shares = [f"{100 * n / len(rows):.2f} %" for n in counts.tolist()]
    cells = [("", cells) for cells in zip(texts, map(str, counts.tolist()), shares, strict=True)]
    return [page.section("Predicted classes", page.table(("class", "rows", "share"), cells))]
