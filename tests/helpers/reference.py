"""Data for tests, and slow versions of LIBLINEAR's rule and the logistic loss; optima are in optima.py."""

from __future__ import annotations

import numpy as np
from optima import Problem
from programme import interior_points

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


def least_square(Q: np.ndarray, total: float, upper: np.ndarray) -> float:
    """min 1/2 a'Qa over sum a = total, 0 <= a <= upper."""
    size = float(np.mean(np.diag(Q)))
    points = interior_points(
        lambda a: Q @ a / size, lambda a: Q / size, upper, total * upper / np.sum(upper), np.ones((1, len(Q))),
        np.array([total]), total / len(Q),
    )  # fmt: skip
    return min(0.5 * float(a @ Q @ a) for a, _ in points if abs(np.sum(a) - total) <= 1e-13 * total)


def logistic(z):
    """log(1 + exp(-z)), 1 / (1 + exp(z)) and its product with 1 / (1 + exp(-z)), of an array or a number."""
    e = np.exp(-np.abs(z))
    return np.maximum(-z, 0.0) + np.log1p(e), np.where(z > 0, e, 1.0) / (1.0 + e), e / (1.0 + e) ** 2
