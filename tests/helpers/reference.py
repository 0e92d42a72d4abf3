"""Slow reference versions for tests: data, LIBLINEAR's rule, compiled loops in numpy.

Optima are in optima.py.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize
from optima import Problem

from svmtool.data.csr import CsrRows
from svmtool.data.dataset import Dataset
from svmtool.data.dense import DenseRows


def liblinear_rule(p: Problem, w: np.ndarray, eps: float) -> bool:
    """LIBLINEAR's test for -s 2, 5 and 6, from w alone: |grad f(w)| <= eps' |grad f(0)|, with |w|_1 in the 1-norm."""
    positive = int(np.count_nonzero(p.y > 0))
    share = max(1, min(positive, len(p.y) - positive)) / len(p.y)
    norm = 1 if p.l1 else 2
    start = np.linalg.norm(p.gradient(np.zeros(p.A.shape[1])), norm)
    return bool(np.linalg.norm(p.gradient(w), norm) <= eps * share * start * (1 + 1e-9) + 1e-300)


def csr_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices, values of the non-zeros of X, as the reader gives them."""
    rows, columns = np.nonzero(X)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(X))))).astype(np.int64)
    return indptr, columns.astype(np.int32), np.ascontiguousarray(X[rows, columns], dtype=np.float64)


def table_of(X: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Dataset:
    """A Dataset of dense rows; zeros are left out."""
    indptr, indices, values = csr_of(X)
    return Dataset(np.asarray(labels, dtype=np.float64), indptr, indices, values, X.shape[1], weights=weights)


def rows_in(layout: str, X: np.ndarray, bias: float = -1.0) -> CsrRows | DenseRows:
    """The rows of X in the layout "csr" or "dense"."""
    if layout == "dense":
        return DenseRows(np.ascontiguousarray(X), bias)
    return CsrRows(*csr_of(X), X.shape[1], bias)


def text_of(X: np.ndarray, labels: np.ndarray) -> str:
    """The rows as the text of a data file."""
    lines = []
    for row, label in zip(X, labels, strict=True):
        lines.append(" ".join([f"{label:g}", *(f"{j + 1}:{row[j]:.17g}" for j in np.flatnonzero(row))]))
    return "\n".join(lines) + "\n"


def random_rows(rng: np.random.Generator, n: int, d: int, density: float = 0.6) -> np.ndarray:
    """Rows with zeros, among them an empty row and an empty column where there is space for one."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    if n > 3:
        X[n // 2] = 0.0
    if d > 2:
        X[:, d // 2] = 0.0
    return X


def random_problem(seed: int, n: int, d: int, C: float = 1.0, bias: float = -1.0, free: bool = False) -> Problem:
    """Noisy halves with unequal costs."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    y = np.where(X @ rng.normal(size=d) + 0.7 * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Problem(X, y, C * rng.choice([0.5, 1.0, 3.0], n), bias, free)


# numpy versions of the compiled loops, with the same results.


def splitmix(seed: int, k: int) -> int:
    """The k-th number (from 1 on) of the generator splitmix64, without its lowest bit."""
    mask = (1 << 64) - 1
    z = (seed + k * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return (z ^ (z >> 31)) >> 1


def xorshift(state: int) -> int:
    mask = (1 << 64) - 1
    state ^= (state << 13) & mask
    state ^= state >> 7
    return state ^ ((state << 17) & mask)


def hinge2_state(z, target, cost, y, c):
    """loss, u, new c, change of c, and (changed rows, active rows, sum of target alpha)."""
    slack = np.maximum(target - z, 0.0)
    now = np.where(slack > 0, 2.0 * cost, 0.0)
    counts = [np.count_nonzero(now != c), np.count_nonzero(now), float((now * target) @ slack)]
    return float(cost @ slack**2), -now * slack * y, now, now - c, counts


def hinge2_line_search(z, dz, target, cost, t):
    """First and second derivative of sum C max(0, target - z - t dz)^2 at t."""
    slack = np.maximum(target - z - t * dz, 0.0)
    return -2.0 * float((cost * dz) @ slack), 2.0 * float((cost * dz * dz) @ (slack > 0))


def line_minimiser(p: Problem, w: np.ndarray, step: np.ndarray) -> float:
    """The t > 0 at which the slope of f along w + t step vanishes, by bisection."""
    high = 1.0
    while p.gradient(w + high * step) @ step < 0:
        high *= 2.0
    return scipy.optimize.brentq(lambda t: float(p.gradient(w + t * step) @ step), 0.0, high, xtol=1e-15, rtol=1e-14)


def dcd_epoch(A, y, diagonal, upper, alpha, w, active, above, below, random, chunk):
    """One epoch of dual coordinate descent over the rows `active` of A, by chunks; changes alpha and w.

    Returns largest and smallest projected gradient, rows left, random state.
    """
    largest, smallest, gone = -np.inf, np.inf, set()
    chunks = [active[k : k + chunk] for k in range(0, len(active), chunk)]
    for c in range(len(chunks)):
        random = xorshift(random)
        other = c + (random >> 1) % (len(chunks) - c)
        chunks[c], chunks[other] = chunks[other], chunks[c]
        for i in chunks[c]:
            g = y[i] * float(A[i] @ w) - 1.0 + alpha[i] * diagonal[i]
            low, high = alpha[i] == 0, alpha[i] == upper[i]
            if (low and g > above) or (high and g < below):
                gone.add(i)
                continue
            projected = min(g, 0.0) if low else max(g, 0.0) if high else g
            largest, smallest = max(largest, projected), min(smallest, projected)
            if abs(projected) > 1e-12:
                new = np.clip(alpha[i] - g / max(float(A[i] @ A[i]) + diagonal[i], 1e-300), 0.0, upper[i])
                w += (new - alpha[i]) * y[i] * A[i]
                alpha[i] = new
    return largest, smallest, [i for i in active if i not in gone], random


def smoothed(xi, beta, p, sigma, cap):
    """min over v of l(v) + sigma/2 (v - xi - beta/sigma)^2 - beta^2/(2 sigma) for l = max(0, v)^p (p = 1: cap times
    it), its slope b in xi, and that slope's derivative; for each row, by bisection."""
    value, b, bend = np.empty_like(xi), np.empty_like(xi), np.empty_like(xi)
    for i, t in enumerate(xi + beta / sigma):
        if p == 1.0:
            v = min(t, 0.0) if t < cap / sigma else t - cap / sigma
            bend[i] = sigma if 0.0 < t < cap / sigma else 0.0
            loss, b[i] = cap * max(v, 0.0), sigma * (t - v)
        else:

            def pull(v, t=t):
                return p * max(v, 0.0) ** (p - 1.0) + sigma * (v - t)

            v = t if t <= 0 else scipy.optimize.brentq(pull, 0.0, t, xtol=1e-300, rtol=1e-15)
            steep = p * (p - 1.0) * v ** (p - 2.0) if v > 0 else 0.0
            bend[i] = 1.0 / (1.0 / steep + 1.0 / sigma) if v > 0 else 0.0
            loss, b[i] = max(v, 0.0) ** p, p * max(v, 0.0) ** (p - 1.0)
        value[i] = loss + 0.5 * sigma * (v - t) ** 2 - 0.5 * beta[i] ** 2 / sigma
    return value, b, bend


def logistic(z):
    """log(1 + exp(-z)), 1 / (1 + exp(z)) and its product with 1 / (1 + exp(-z)), of an array or a number."""
    e = np.exp(-np.abs(z))
    return np.maximum(-z, 0.0) + np.log1p(e), np.where(z > 0, e, 1.0) / (1.0 + e), e / (1.0 + e) ** 2
