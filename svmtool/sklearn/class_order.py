"""The order of classes: that of an ordered pandas Categorical, and of a kernel model, whose pairs change places."""

from __future__ import annotations

from itertools import accumulate, combinations
from typing import Any

import numpy as np

from svmtool.models.kernel import KernelModel


def ordered_categories(y: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Numbers of the rows' categories and the categories, in their order; None but for an ordered pandas Categorical.

    y: a Categorical, or a Series, an Index or a DataFrame's only column of them.
    """
    if getattr(y, "ndim", 0) == 2 and hasattr(y, "iloc") and y.shape[1] == 1:
        y = y.iloc[:, 0]
    dtype = getattr(y, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return None
    codes = np.asarray(getattr(y, "cat", y).codes)
    if codes.min(initial=0) < 0:
        raise ValueError("Input y contains NaN.")
    return codes, np.asarray(dtype.categories)


def sorted_classes(model: KernelModel, support: np.ndarray) -> tuple[KernelModel, np.ndarray]:
    """The same classifier with ascending labels, and its support indices in the new order.

    model: a classifier whose labels are in any order; support: row numbers of its support vectors, i8[support vectors].
    """
    labels, nr_sv = model.labels or (), model.nr_sv or ()
    k, order = len(labels), sorted(range(len(labels)), key=labels.__getitem__)  # new places -> places in the old order
    if order == list(range(k)):
        return model, support
    coef = np.asarray(model.coef).reshape(k - 1, -1)
    of_class = [slice(end - n, end) for n, end in zip(nr_sv, accumulate(nr_sv), strict=True)]
    moved = np.concatenate([np.arange(of_class[c].start, of_class[c].stop) for c in order])
    blocks = []
    for i, c in enumerate(order):  # i, j: places in the new order of the classes c, m
        others = [(j, m) for j, m in enumerate(order) if m != c]
        signs = np.array([1.0 if (c < m) == (i < j) else -1.0 for j, m in others])
        rows = [m if m < c else m - 1 for _, m in others]
        blocks.append(coef[rows, of_class[c]] * signs[:, None])
    new_coef = np.concatenate(blocks, axis=1)
    pair = {(i, j): at for at, (i, j) in enumerate(combinations(range(k), 2))}
    at, sign = [], []
    for i, j in pair:
        a, b = order[i], order[j]
        at.append(pair[(min(a, b), max(a, b))])
        sign.append(1.0 if a < b else -1.0)
    signs = np.array(sign)
    old = np.asarray(model.indptr)
    counts, indptr = old[moved + 1] - old[moved], np.zeros(len(old), np.int64)
    counts.cumsum(out=indptr[1:])
    entries = np.arange(indptr[-1]) + (old[moved] - indptr[:-1]).repeat(counts)
    sigmoids = model.probA is not None
    found = KernelModel(
        model.svm_type, model.kernel, tuple(labels[c] for c in order), k, np.asarray(model.rho)[at] * signs, new_coef,
        tuple(nr_sv[c] for c in order), indptr, np.asarray(model.indices)[entries], np.asarray(model.values)[entries],
        np.asarray(model.probA)[at] if sigmoids else None, np.asarray(model.probB)[at] * signs if sigmoids else None,
        notes=model.notes,
    )  # fmt: skip
    return found, support[moved]
