"""Kernel models with their classes in another order: pairs change places and signs."""

from __future__ import annotations

import numpy as np

from svmtool.models.kernel import KernelModel


def sorted_classes(model: KernelModel, support: np.ndarray) -> tuple[KernelModel, np.ndarray]:
    """The same classifier with ascending labels, and its support indices in the new order.

    model: a classifier whose labels are in any order; support: row numbers of its support vectors, i8[support vectors].
    """
    labels = np.array(model.labels)
    order = np.argsort(labels)  # place in the new order -> place in the old one
    k, nr_sv = len(labels), np.array(model.nr_sv)
    if np.array_equal(order, np.arange(k)):
        return model, support
    of_class = np.repeat(np.arange(k), nr_sv)  # old place of each support vector's class
    coef = np.asarray(model.coef).reshape(k - 1, -1)
    starts = np.concatenate([[0], np.cumsum(nr_sv)])
    moved = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in order])
    new_coef = np.empty_like(coef)
    place = np.argsort(order)
    for column, old in enumerate(moved):
        c = of_class[old]
        for m in range(k):
            if m == c:
                continue
            value = coef[m if m < c else m - 1, old]
            kept = (c < m) == (place[c] < place[m])
            new_coef[place[m] if place[m] < place[c] else place[m] - 1, column] = value if kept else -value
    pair = {(i, j): at for at, (i, j) in enumerate(zip(*np.triu_indices(k, 1), strict=True))}
    at, sign = [], []
    for i, j in pair:
        a, b = order[i], order[j]
        at.append(pair[(min(a, b), max(a, b))])
        sign.append(1.0 if a < b else -1.0)
    signs = np.array(sign)
    counts = np.diff(np.asarray(model.indptr))[moved]
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    entries = np.concatenate([np.arange(model.indptr[r], model.indptr[r + 1]) for r in moved] or [np.zeros(0, int)])
    entries = entries.astype(np.intp)
    sigmoids = model.probA is not None
    found = KernelModel(
        model.svm_type, model.kernel, tuple(labels[order].tolist()), k, np.asarray(model.rho)[at] * signs, new_coef,
        tuple(nr_sv[order].tolist()), indptr, np.asarray(model.indices)[entries], np.asarray(model.values)[entries],
        np.asarray(model.probA)[at] if sigmoids else None, np.asarray(model.probB)[at] * signs if sigmoids else None,
        notes=model.notes,
    )  # fmt: skip
    return found, support[moved]
