"""Minimiser of a quadratic piece of CrammerSingerLoss by its dual system, if few rows are off the simplex's vertices.

On a piece the face F_i of the simplex (the classes with p_im > 0) of each row is fixed, and f is quadratic.  Its
minimiser is

    W = V - sum_i x_i a_i',  a_i / (sigma C_i) + P_i sum_j (x_i.x_j) a_j = P_i r_i,
    r_i = V'x_i + [m != y_i] + (beta_i - p_i) / sigma

with V the weights of the current p_i, P_i v = v - mean(v) on F_i and 0 elsewhere, and a_i / C_i the change of p_i.
This is one positive definite system with an unknown for each class of each face.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool import limits
from svmtool.linalg.systems import COPY, FACTOR, INNER, Factored, KernelCache
from svmtool.objectives.class_rows import ClassRows
from svmtool.tolerances import GRAM_BELOW

if TYPE_CHECKING:
    from typing import Any

MOST = 2000  # largest order of a system: 32 MB, and three times that while it is formed
# features and classes up to which conjugate gradients use the Kronecker preconditioner
KRONECKER_BELOW = GRAM_BELOW
# Nanoseconds, measured on eight shapes of 400 to 5000 rows, 100 to 20000 features and 3 to 77 classes: the
# preconditioner's decompositions per features^3 (0.16 to 0.5); a product per non-zero and class (0.7 to 2); applying
# the preconditioner per classes features^2 (0.1 to 0.9); the calls for a dual system
DECOMPOSED, PRODUCT, PRECONDITIONED, CALLS = 0.4, 0.8, 0.2, 5e4
PRODUCTS = 25  # usual number in a step
MASKED = 3.0  # passes over the system's entries, relative to copying a matrix once


def step_cost(rows: ClassRows, active: int, products: int = PRODUCTS) -> float:
    """Approximate nanoseconds of a Newton step by conjugate gradients; active: rows not at a vertex."""
    d, k = rows.base.d, rows.k
    small = max(d, k) <= KRONECKER_BELOW
    whole, each = (DECOMPOSED * d**3, PRECONDITIONED * k * d * d) if small else (0.0, 0.0)
    return whole + products * (PRODUCT * active * _length(rows) * rows.wide + each)


def system_cost(rows: ClassRows, active: int, faces: int) -> float:
    """Approximate nanoseconds of `minimiser`; infinite where the system is too large."""
    if faces > MOST:
        return np.inf
    return CALLS + INNER * active * active * _length(rows) + FACTOR * faces**3 + MASKED * COPY * faces * faces


def _length(rows: ClassRows) -> float:
    """Mean number of non-zeros in a row of the data."""
    return rows.base.nnz / max(rows.base.n, 1)


def minimiser(objective: Any, kernel: KernelCache) -> np.ndarray:
    """The flat W that minimises the quadratic piece of the last value; some row must not be at a vertex."""
    o, wide = objective, objective.wide
    shares = o.c.reshape(-1, wide)
    used, K = kernel.block(np.flatnonzero(shares.any(axis=1)))
    at, number = np.nonzero(shares[used])  # row (place in `used`) and class of each unknown, by rows
    first, size = np.flatnonzero(np.r_[True, at[1:] != at[:-1]]), np.bincount(at)
    places, cost = used[at] * wide + number, o.cost[used[at]]

    def centred(v: np.ndarray) -> np.ndarray:
        """P v along the first axis, in place."""
        v -= np.repeat((np.add.reduceat(v, first).T / size).T, size, axis=0)
        return v

    V, scores = o.rows.transpose_product(-o.u), np.empty(o.n)
    o.rows.margins(V, o.y, scores)
    others = number != o.number[used[at]]
    p = np.where(others, 0.0, 1.0) + o.u[places] / cost
    aim = scores[places] + others + (o.beta[places] - p) / o.sigma
    limits.check()
    K += np.tril(K, -1).T - np.triu(K, 1)  # fill the upper triangle
    H = K[np.ix_(at, at)]
    H[number[:, None] != number] = 0.0
    centred(centred(H).T)
    H.flat[:: len(H) + 1] += 1.0 / (o.sigma * cost)
    for i, lo in enumerate(first.tolist()):  # P_i projects out the mean, of which a_i has none: make that part regular
        own = slice(lo, lo + int(size[i]))
        H[own, own] += K[i, i] / size[i]
    limits.check()
    part = np.zeros(o.n)
    part[places] = centred(Factored(H).solve(centred(aim)))
    return V - o.rows.transpose_product(part)
