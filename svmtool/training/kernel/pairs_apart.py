"""Compares the decision values of pairs solved together (pairs_together.py) with those of svm-predict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from svmtool.data.blocks import draw_rows
from svmtool.kernels.rows import as_csr
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import LINEAR, POLYNOMIAL, Kernel

if TYPE_CHECKING:
    from typing import Any

CHECKED = 1 << 20  # kernel values and decision values that are computed a second time, ...
LEAST = 64  # ... but of at least this many rows
# Costs of certifying, in multiplications: of a kernel value besides those of its features, and of one pair besides its
# kernel values.  On 13 sets (3 to 26 classes, 10 to 617 features, 180 to 1,500 rows) one took 0.15 to 0.52 ns; `exact`
VALUE, ALONE = 10.0, float(1 << 19)  # is chosen on all, and certifying pairs alone took 1.3 to 2.9 times as long
SEED = 1


def apart(batch: Any) -> tuple[float, str]:
    """Return the largest difference of decision values to those of svm-predict, relative to the sum of the sizes of
    their terms, and a statement for the user if only a sample was compared."""
    points, n = batch.points, batch.points.n
    if points.rows is None or not batch.done:
        return 0.0, ""
    scores = _Scores(batch)
    of = np.arange(n) if scores.at_once >= n else draw_rows(n, n // scores.at_once, SEED)
    known = np.zeros(len(batch.pairs), bool)
    known[batch.done] = True
    size, worst = _sizes(batch), 0.0
    for mine, ks, F in scores.of_classes(of):
        far = np.abs(F - batch.F[:, mine]).max(axis=1)
        some = known[ks] & (far > 0.0)
        worst = max(worst, float(np.max(far[some] / size[ks[some]], initial=0.0)))
    if np.isnan(worst):
        worst = np.inf
    return worst, f"decision values of {len(of)} of {n} rows computed again" if len(of) < n else ""


def exact(batch: Any, alone: float = ALONE) -> np.ndarray | None:
    """Batch.F from the decision values of svm-predict for all rows; None if that costs more than certifying the pairs
    one by one, which takes `alone` multiplications each besides its kernel values."""
    n = batch.points.n
    if batch.points.rows is None:
        return batch.F
    scores, value = _Scores(batch), VALUE + batch.points.rows.nnz / n
    rows = np.array([sum(batch.sizes[c] for c in batch.pairs[k]) for k in batch.done], float)
    if float(n) * scores.used * (batch.count - 1 + value) > float(np.sum(alone + rows**2 * value)):
        return None
    found = np.empty_like(batch.F)
    for first in range(0, n, scores.at_once):
        for mine, _, F in scores.of_classes(np.arange(first, min(first + scores.at_once, n))):
            found[:, mine] = F
    return found


class _Scores:
    """Decision values of all pairs by svm-predict's code.

    used: number of support vectors; at_once: rows of a block, which limits memory.
    """

    def __init__(self, batch: Any):
        points, self.batch = batch.points, batch
        self.signs = np.ones((batch.count - 1, points.n))
        for c in range(batch.count):
            self.signs[:c, batch.ends[c] : batch.ends[c + 1]] = -1.0
        coef = self.signs * batch.a
        support = np.flatnonzero(np.any(coef != 0.0, axis=0))
        self.used, self.number = len(support), np.repeat(np.arange(batch.count), batch.sizes)
        self.at_once = max(LEAST, CHECKED // max(self.used, len(batch.pairs)))
        vectors = as_csr(points.rows.take(support))
        kernel = Kernel(POLYNOMIAL, 1.0, 1, 0.0) if points.kernel.kind == LINEAR else points.kernel  # no weights
        self.scores = KernelModel(
            "c_svc", kernel, tuple(range(batch.count)), batch.count, np.zeros(len(batch.pairs)),
            np.ascontiguousarray(coef[:, support]),
            tuple(np.bincount(self.number[support], minlength=batch.count).tolist()),
            vectors.indptr, vectors.indices, vectors.values,
        ).scores  # fmt: skip

    def of_classes(self, of: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield for each class among the rows `of` (i8): these rows, its pairs, and Batch.F of both."""
        batch, p = self.batch, (0.0 if self.batch.nu else -1.0)
        rows = as_csr(batch.points.rows.take(of))
        decisions = np.empty((rows.n, len(batch.pairs)))
        self.scores.decide(rows, rows.n, decisions)
        for c in np.unique(self.number[of]).tolist():
            at = np.flatnonzero(self.number[of] == c)
            ks = np.array([batch.place[min(c, d), max(c, d)] for d in range(batch.count) if d != c])
            yield of[at], ks, -decisions[np.ix_(at, ks)].T - p * self.signs[:, of[at]]


def _sizes(batch: Any) -> np.ndarray:
    """Upper bounds of the sum of the sizes of the terms of a pair's decision values, f8[pairs]."""
    totals = np.add.reduceat(np.abs(batch.a), batch.ends[:-1], axis=1)  # of class c beside the other of its column
    return np.array([
        (totals[j - 1, i] + totals[i, j]) * max(batch.largest[i], batch.largest[j]) for i, j in batch.pairs
    ])  # fmt: skip
