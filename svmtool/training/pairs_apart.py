"""How far the decision values of pairs solved together (pairs_together.py) lie from those of svm-predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.kernel_model import KernelModel
from svmtool.problem.kernel_rows import as_csr
from svmtool.problem.kernels import LINEAR, POLYNOMIAL, Kernel
from svmtool.problem.row_blocks import draw_rows

if TYPE_CHECKING:
    from svmtool.training.pairs_together import Batch

CHECKED = 1 << 20  # kernel values, and decision values, that are computed a second time; ...
LEAST = 64  # ... rows at least
SEED = 1


def apart(batch: Batch) -> tuple[float, str]:
    """How far decision values lie from those of svm-predict at most, as a share of what their terms can add up to;
    and what the user must know of it."""
    points, n = batch.points, batch.points.n
    if points.rows is None or not batch.done:
        return 0.0, ""
    signs = np.ones((batch.count - 1, n))
    for c in range(batch.count):
        signs[:c, batch.ends[c] : batch.ends[c + 1]] = -1.0
    coef = signs * batch.a
    used = np.flatnonzero(np.any(coef != 0.0, axis=0))
    some = max(LEAST, CHECKED // max(len(used), len(batch.pairs)))
    of = np.arange(n) if some >= n else draw_rows(n, n // some, SEED)
    number = np.repeat(np.arange(batch.count), batch.sizes)
    support, rows = as_csr(points.rows.take(used)), as_csr(points.rows.take(of))
    kernel = Kernel(POLYNOMIAL, 1.0, 1, 0.0) if points.kernel.kind == LINEAR else points.kernel  # no weights kept
    decisions = np.empty((rows.n, len(batch.pairs)))
    KernelModel(
        "c_svc", kernel, tuple(range(batch.count)), batch.count, np.zeros(len(batch.pairs)),
        np.ascontiguousarray(coef[:, used]), tuple(np.bincount(number[used], minlength=batch.count).tolist()),
        support.indptr, support.indices, support.values,
    ).scores.decide(rows, rows.n, decisions)  # fmt: skip
    done, worst, p = np.zeros(len(batch.pairs), bool), 0.0, (0.0 if batch.nu else -1.0)
    done[batch.done] = True
    size = _sizes(batch)
    for c in np.unique(number[of]).tolist():
        mine = np.flatnonzero(number[of] == c)
        others = [d for d in range(batch.count) if d != c]
        ks = np.array([batch.place[min(c, d), max(c, d)] for d in others])
        f = -batch.F[:, of[mine]] - p * signs[:, of[mine]]
        far = np.abs(decisions[np.ix_(mine, ks)].T - f).max(axis=1)
        known = done[ks] & (far > 0.0)
        worst = max(worst, float(np.max(far[known] / size[ks[known]], initial=0.0)))
    if np.isnan(worst):
        worst = np.inf
    return worst, f"decision values of {len(of)} of {n} rows computed again" if len(of) < n else ""


def _sizes(batch: Batch) -> np.ndarray:
    """What the terms of a pair's decision values can add up to, f8[pairs]."""
    totals = np.add.reduceat(np.abs(batch.a), batch.ends[:-1], axis=1)  # of class c beside the other of its column
    return np.array([
        (totals[j - 1, i] + totals[i, j]) * max(batch.largest[i], batch.largest[j]) for i, j in batch.pairs
    ])  # fmt: skip
