"""Labels and their class numbers, compared with simple implementations."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.compiled.loops.text.text_loops import number_classes
from svmtool.data.labels import MAX_SEARCHED_CLASSES, Classes
from svmtool.errors import SvmtoolError


def by_appearance(labels):
    """Labels, the index of each row's label, and their row counts."""
    values = list(dict.fromkeys(labels))
    return values, [values.index(label) for label in labels], [labels.count(value) for value in values]


@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("classes", [1, 2, 7])
def test_number_classes(n, classes):
    labels = np.random.default_rng(n).integers(-3, classes - 3, n).astype(float)
    values, number, counts = np.empty(7), np.empty(n, np.int64), np.zeros(7, np.int64)
    found = number_classes(labels, values, number, counts)
    wanted = by_appearance(labels.tolist())
    assert (values[:found].tolist(), number.tolist(), counts[:found].tolist()) == wanted


@pytest.mark.parametrize("fraction", [0.0, 0.25], ids=["whole", "cut"])
@pytest.mark.parametrize("classes", [2, 5, MAX_SEARCHED_CLASSES, MAX_SEARCHED_CLASSES + 1, 40])
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


def test_cut_labels_keep_their_order():
    found = Classes(np.array([2.5, -1.0, 2.5]))
    assert (found.labels, found.number.tolist(), list(found.counts)) == ([2, -1], [0, 1, 0], [2, 1])
    with pytest.raises(SvmtoolError, match="would both become class 2"):
        Classes(np.array([2.5, 2.0]))
