"""Checks that sums of squares of the data, times the costs, stay in the range of floating-point numbers."""

from __future__ import annotations

import math

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import RowsError

VALUES_AT_ONCE = 1 << 21  # values scanned at a time, since rows may be on disk


def refuse_overflow(
    table: Dataset, C: float, class_weights: tuple[tuple[int, float], ...], row_weights: np.ndarray | None,
    largest: float = 1.0, labels: float = 1.0,
) -> float:  # fmt: skip
    """The maximum of |values|, `largest` and 1; SvmtoolError if sums of squares would overflow.

    labels: the largest |label| in the problem.
    """
    largest = max(largest, table.largest or 1.0, 1.0)
    for at in range(0, len(table.values) if table.largest is None else 0, VALUES_AT_ONCE):
        some = table.values[at : at + VALUES_AT_ONCE]
        largest = max(float(some.max()), -float(some.min()), largest)
        if table.mapped is not None:
            table.mapped.check()
    refuse_range(len(table), C, class_weights, row_weights, largest, labels)
    return largest


def refuse_range(
    n: int, C: float, class_weights: tuple[tuple[int, float], ...], row_weights: np.ndarray | None, largest: float,
    labels: float,
) -> None:  # fmt: skip
    """Raise SvmtoolError if sums of squares of numbers up to `largest` over n rows would overflow."""
    factors: dict[int, float] = {}
    for label, factor in class_weights:
        factors[label] = factors.get(label, 1.0) * factor
    cost = C * max(factors.values(), default=1.0)
    if row_weights is not None:
        cost *= float(row_weights.max(initial=1.0))
    digits = 2 * math.log10(max(largest, labels)) + math.log10(n + 1)
    if digits + math.log10(min(max(cost, 1.0), 1e300)) > 290:
        also = f" and labels up to {labels:g}" if labels > largest else ""
        raise RowsError(
            f"feature values up to {largest:g}{also} at a cost of {cost:g} overflow when squared and summed: "
            "scale the features (svm-scale) or choose a smaller -c"
        )
