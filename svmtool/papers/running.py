"""What the papers' files share: rows as matrices, and the loop that records iterates; no mathematics of a paper.

A paper's algorithm is a generator.  It yields its variables after each iteration and returns the Status of the rule
that ended it.  So a test can compare iterates with the paper, and limits of time and Ctrl-C need no line in it.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse

from svmtool import limits
from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import Rows
from svmtool.limits import EndedError
from svmtool.solvers.shared.base import ITERATIONS, Monitor, Status
from svmtool.solvers.shared.base import Tolerance as Tolerance

BLOCK_PRODUCTS, BLOCK_ROWS = 2e6, 64  # between two checks of the clock, and least rows of a dense matrix
PANEL = 128  # columns of a Cholesky factor between two checks of the clock
LIMIT = Status("limit", True, "the limit of iterations is reached", own=True)
Matrix: TypeAlias = "np.ndarray | scipy.sparse.csr_array"


class Point:
    """An iterate: the weights w, f8[d], the objective there, and the paper's other variables by their letters.

    bound: a lower bound of the least objective, if the algorithm has one; record: what else the solver log shows.
    gap: the relative gap, where it is not (objective - bound) / objective.
    number: of the iteration, where not each one is yielded; None: the next.
    """

    def __init__(
        self, w: np.ndarray, objective: float, bound: float = -math.inf, record: dict[str, Any] | None = None,
        gap: float | None = None, number: int | None = None, **letters: Any,
    ):  # fmt: skip
        self.w, self.objective, self.bound, self.record = w, objective, bound, record or {}
        self.gap, self.number = gap, number
        self.__dict__.update(letters)


AnyPoint = TypeVar("AnyPoint", bound=Point)


def matrix(rows: Rows, bias: bool = True) -> Matrix:
    """Return the rows as X, (n, d): an array of dense rows, else a csr_array.

    The bias feature, if there is one, is the last column, but without `bias`.
    """
    features = rows.without_bias()
    if isinstance(features, DenseRows):
        X = features.X
    else:
        indptr, indices, values = features.csr_arrays
        X = scipy.sparse.csr_array((values, indices, indptr), shape=(rows.n, rows.n_features))
    if not bias or rows.bias < 0:
        return X
    column = np.full((rows.n, 1), rows.bias)
    if isinstance(X, np.ndarray):
        return np.hstack((X, column))
    return scipy.sparse.hstack((X, scipy.sparse.csr_array(column)), format="csr")


def blocks(X: Matrix) -> Iterator[slice]:
    """Yield slices of rows, each with about BLOCK_PRODUCTS products of two entries of a row; checks the clock."""
    n, d = X.shape
    dense = isinstance(X, np.ndarray)
    length = d if dense else X.nnz / max(n, 1)
    size = max(BLOCK_ROWS if dense else 1, int(BLOCK_PRODUCTS / max(length, 1.0) ** 2))
    for first in range(0, n, size):
        limits.check()
        yield slice(first, first + size)


def cholesky(G: np.ndarray) -> np.ndarray:
    """Return G, f8[d, d], with its lower triangle overwritten by its Cholesky factor; checks the clock on the way.

    LinAlgError where G is not positive definite.
    """
    for first in range(0, len(G), PANEL):
        limits.check()
        panel = G[first:, first : first + PANEL]
        panel -= G[first:, :first] @ G[first : first + PANEL, :first].T
        corner = panel[:PANEL]
        corner[...] = scipy.linalg.cholesky(corner, lower=True, check_finite=False)
        panel[PANEL:] = scipy.linalg.solve_triangular(corner, panel[PANEL:].T, lower=True, check_finite=False).T
    return G


def run(
    steps: Generator[AnyPoint, None, Status], monitor: Monitor, limit: int | None = None, reached: Status = LIMIT
) -> tuple[AnyPoint, Status]:
    """Record each iterate of an algorithm until its own rule or the monitor ends it; return the last one and why.

    The first one that it yields is its start, whose number is 0.  limit: of iterations, which --max-iter replaces;
    reached: the end at it, where it is the default.
    """
    limit = limit if monitor.max_iter is None else monitor.max_iter
    point = next(steps)
    status = record(point, monitor)
    while status is None:
        if limit is not None and monitor.iterations > limit:
            return point, reached if monitor.max_iter is None else ITERATIONS
        try:
            point = next(steps)
        except StopIteration as end:
            return point, end.value
        except EndedError:  # within an iteration
            return point, monitor.end()
        status = record(point, monitor)
    return point, status


def record(point: Point, monitor: Monitor) -> Status | None:
    """Record an iterate; the limit that ends the run, if any."""
    gap = math.inf if math.isinf(point.bound) else point.gap
    monitor.iterations = monitor.iterations if point.number is None else point.number
    return monitor.step(point.objective, point.bound, gap, **point.record)
