"""Labels and their class numbers, compared with simple implementations."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.data.labels import MAX_SEARCHED_CLASSES, Classes


def by_appearance(labels):
    """Labels, the index of each row's label, and their row counts."""
    values = list(dict.fromkeys(labels))
    return values, [values.index(label) for label in labels], [labels.count(value) for value in values]


@pytest.mark.parametrize("fraction", [0.0, 0.25], ids=["whole", "cut"])
@pytest.mark.parametrize("classes", [2, MAX_SEARCHED_CLASSES, MAX_SEARCHED_CLASSES + 1])
def test_classes_do_not_depend_on_how_they_are_found(classes, fraction):
    """Up to MAX_SEARCHED_CLASSES classes of whole labels are counted, others are sorted."""
    labels = np.random.default_rng(classes).integers(0, classes, 300).astype(float) - 1.0
    labels[:2] = -1.0, 1.0 if classes == 2 else 0.0
    if classes == 2:
        labels[labels == 0.0] = 1.0
    values, number, counts = by_appearance(labels.tolist())
    if values == [-1.0, 1.0]:
        values, number, counts = values[::-1], [1 - k for k in number], counts[::-1]
    found = Classes(np.where(labels == 1.0, 1.0 + fraction, labels))
    assert (found.labels, found.number.tolist(), list(found.counts)) == (values, number, counts)
