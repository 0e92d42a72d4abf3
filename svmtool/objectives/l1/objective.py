"""|w|_1 plus a sum of losses over rows, LIBLINEAR's -s 5 and 6; |w|_1 excludes a free bias.

    f(w) = sum_j penalty_j |w_j| + sum_i loss_i(x_i.w),    penalty_j = 1, or 0 for a free bias

Dual points are multiples of the losses' slopes u with |sum_i u_i x_ij| <= penalty_j for every j, so that each
gradient() gives a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from svmtool.compiled.loops.cd.dcd_loops import FIRST_STATE
from svmtool.compiled.loops.loss import l1_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg import systems
from svmtool.linalg.columns import Columns
from svmtool.linalg.systems import mirror
from svmtool.objectives.duality import balancing
from svmtool.objectives.logistic import Logistic
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.tolerances import FINE_RTOL, GRAM_BELOW, MAX_TRIALS, SEARCH_RTOL

MIN_END_CURVATURE = 0.1  # at its end, as share of the mean along it, unless f is known to decrease
# Nanoseconds of a number in an epoch on f, whose rows are visited in any order: 4 to 9 on six sets; .7 to 1.6 where
# they are dense, on three
DESCENT_NS, DENSE_DESCENT_NS = 6.0, 1.2
FEW_NUMBERS = 16  # for a matrix columns are copied that have at most one number in so many: this bounds the memory
# Passes over the rows that take as long as storing them by columns, and as copying some columns of all rows: 10 to 15
# and 2 to 6 on eleven sets
TURNING_PASSES, SELECTING_PASSES = 10.0, 4.0


class L1Objective:
    """f over the losses of a task, whose rows may be distributed.

    penalty: f8[d].  After gradient(): bound, a lower bound of min f, that of `dual_point`.
    """

    def __init__(self, losses: Logistic | SquaredHinge):
        self.losses, self.rows, self.n, self.d = losses, losses.rows, losses.rows.n, losses.rows.d
        self.logistic, self.free_bias = isinstance(losses, Logistic), losses.free_bias
        self.has_epochs = not self.logistic and losses.rows.has_sparse_form  # whether `epoch` is possible
        self.here = losses.rows.row_vectors  # whether vectors of one number for each row are in this process
        self.penalty = np.ones(self.d)
        if self.free_bias:
            self.penalty[-1] = 0.0
        self._columns: Columns | None = None
        self.epoch_at_zero = False  # whether LIBLINEAR's first measure is that of an epoch on f
        losses.set_point(np.zeros(self.d))

    @classmethod
    def of_task(cls, task: Task) -> L1Objective:
        """The objective of a task: the squared hinge with targets 1 (None), the logistic loss with targets 0."""
        return cls(task.objective(SquaredHinge if task.target is None else Logistic))

    @property
    def w(self) -> np.ndarray:
        """The present weights, f8[d]."""
        return self.losses.w

    def set_point(self, w: np.ndarray) -> None:
        """Move to the weights w, f8[d]."""
        self.losses.set_point(w)

    def value(self) -> float:
        """f at w."""
        return float(self.penalty @ np.abs(self.w)) + self.losses.loss_and_slope()[0]

    def value_at_zero(self) -> float:
        """f(0)."""
        return self.losses.value_at_zero()

    def no_dual_point(self) -> np.ndarray | None:
        """The dual point of value 0."""
        return self.losses.no_dual_point()

    def gradient(self) -> tuple[float, np.ndarray]:
        """f at w, and the gradient of its losses, f8[d]."""
        loss, g = self.losses.loss_and_slope()
        self.bound, self._factors = self._dual_value(g)
        return float(self.penalty @ np.abs(self.w)) + loss, g

    def gradient_at_zero(self) -> float:
        """LIBLINEAR's first measure: the sum of violations at zero weights, or, for the squared hinge, in an epoch.

        Moves there.
        """
        self.set_point(np.zeros(self.d))
        if self.logistic:
            return float(self.violations(self.gradient()[1]).sum())
        whole = np.arange(self.d)
        if self.matrix_work(whole) > self.epoch_work(whole) + self.turning_work:
            return self.first_epoch()
        g, count = self.gradient()[1], np.zeros(2)  # where features are few an epoch on the model, whose matrix is kept
        terms = np.zeros(self.d), g, self.penalty, count, np.empty(self.d, np.int64), np.array([FIRST_STATE])
        l1_loops.gram_epochs(self.matrix(whole).reshape(-1), *terms, 1, 0.0)
        return float(count[1])

    def first_epoch(self) -> float:
        """The sum of violations that an epoch on f meets from zero weights."""
        self.epoch_at_zero = True
        return self.epoch(np.random.default_rng(1).permutation(self.d), np.zeros(self.d), np.zeros(self.n))

    def epoch(self, order: np.ndarray, w: np.ndarray, z: np.ndarray) -> float:
        """Run an epoch of coordinate descent on f for the squared hinge; return the sum of violations that it met.

        order: the weights to visit (i8); w, and its margins z_i = y_i x_i.w (f8[n]), are updated.
        """
        o, c = self.losses, self.columns()
        terms = o.y, 2.0 * o.cost * o.y, self.penalty, w, order, z
        return l1_loops.hinge2_column_epoch(c.starts, c.row_numbers, c.values, *terms)

    def _dual_value(self, g: np.ndarray) -> tuple[float, tuple[float, float]]:
        """The dual value of the best feasible multiple of the losses' slopes, g their sum_i u_i x_i (length d).

        And what it multiplies the slopes of rows with y = 1, and the others, by.  A free bias requires that their sums
        are equal.
        """
        o, up, down = self.losses, 1.0, 1.0
        if self.free_bias:
            up, down = factors = balancing(*o.sides())
            g = np.array(factors) @ o.by_side
        s, value = self._best_multiple(self._limit(g), lambda s: o.multiplied_sums(s * up, s * down))
        return value, (s * up, s * down)

    def _limit(self, sums: np.ndarray) -> float:
        """The largest feasible multiple of slopes with these sums over the rows, f8[d]."""
        with np.errstate(divide="ignore"):
            return float(np.min(self.penalty[self.penalty > 0.0] / np.abs(sums[self.penalty > 0.0]), initial=np.inf))

    def _best_multiple(self, limit: float, sums: Callable[[float], Any]) -> tuple[float, float]:
        """The best multiple, at most `limit`, of a dual point, and its value; sums(s): its `balanced_sums` times s."""
        if self.logistic:
            s = min(limit, 1.0)
            return s, -float(sums(s)[0])
        linear, conjugate = sums(1.0)
        s = min(limit, 0.5 * linear / conjugate) if conjugate > 0.0 else 0.0
        return s, s * (linear - s * conjugate)

    def dual_point(self) -> np.ndarray | None:
        """The dual point of value `bound`, f8[n]; None where rows are distributed."""
        return -self.losses.balanced(*self._factors) * self.losses.y if self.here else None

    def dual_of(self, a: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
        """The dual value at the best feasible multiple of multipliers a >= 0 (f8[n]), and that multiple.

        v: sum_i a_i y_i x_i, f8[d].  Without a free bias.
        """
        o = self.losses
        s, value = self._best_multiple(self._limit(v), lambda s: o.balanced_sums(-s * a * o.y))
        return value, s * a

    def violations(self, g: np.ndarray) -> np.ndarray:
        """The optimality violation of each weight, |smallest subgradient of f|; g as returned by gradient()."""
        return violations_at(self.w, g, self.penalty)

    def search(self, p: np.ndarray, g: np.ndarray) -> float:
        """The approximate minimiser t in [0, 1] of f(w + t p); g as returned by gradient().  0: f does not decrease."""
        o, moved = self.losses, np.flatnonzero(p)
        self.margins(p)
        w, q, penalty = self.w[moved], p[moved], self.penalty[moved]
        first = float(g[moved] @ q) + float(penalty @ np.where(w != 0.0, np.sign(w) * q, np.abs(q)))
        if not first < 0.0:
            return 0.0
        low, high, t, gained = 0.0, 1.0, 1.0, 0.0  # gained: a lower bound of f(0) - f(low), by convexity
        for _ in range(MAX_TRIALS):
            losses, curvature = o.along(t).tolist()
            at = w + t * q
            at[np.abs(at) <= 1e-15 * np.abs(w)] = 0.0
            flat = at == 0.0
            inner, jump = float((penalty * np.sign(at)) @ q), float(penalty[flat] @ np.abs(q[flat]))
            left, right = losses + inner - jump, losses + inner + jump
            # where most of the curvature is near 0, f can be above f(0) at a t with a small positive slope
            falls = left <= 0.0 or (t - low) * left <= gained or curvature * t >= MIN_END_CURVATURE * (left - first)
            if falls and left <= SEARCH_RTOL * -first and (t == 1.0 or right >= SEARCH_RTOL * first):
                return t
            if left > 0.0:
                high, new = t, t - minimum_on_line(at, -q, penalty, -left, curvature, t - low)
            else:
                low, gained, new = t, -right * t, t + minimum_on_line(at, q, penalty, right, curvature, high - t)
            if high - low <= FINE_RTOL * high:
                return low
            t = new if low < new < high else 0.5 * (low + high)
        return low

    def step(self, t: float, p: np.ndarray) -> None:
        """w += t p, and the margins; p as last given to `search`.  Weights within round-off of zero become zero."""
        used = np.flatnonzero(self.w)
        old = self.w[used]
        self.losses.step(t, p)
        self.w[used[np.abs(self.w[used]) <= 1e-15 * np.abs(old)]] = 0.0

    def margins(self, p: np.ndarray) -> None:
        """Compute the margins of a direction p, for `search` and `step`; by columns where p has few entries."""
        o = self.losses
        (self.rows if self._columns is None else self._columns).margins(p, o.y, o.dz)

    def columns(self) -> Columns:
        """The rows, stored by columns."""
        if self._columns is None:
            self._columns = Columns.of(self.rows)
        return self._columns

    # Work in nanoseconds (linalg/systems.py), for weights `chosen` (i8, ascending, a bias last)

    @property
    def pass_work(self) -> float:
        """Of a pass over all rows."""
        return systems.VISIT_NS * self.rows.nnz + systems.CALLS_NS / 20.0

    @property
    def turning_work(self) -> float:
        """Of storing the rows by columns, where that is not done yet."""
        return TURNING_PASSES * self.pass_work if self._columns is None else 0.0

    def epoch_work(self, chosen: np.ndarray) -> float:
        """Of an epoch of coordinate descent over the columns `chosen`."""
        return 2.0 * systems.VISIT_NS * float(np.sum(self._counts[chosen]))

    @cached_property
    def _counts(self) -> np.ndarray:
        """The numbers in each column, f8[d]; their mean where that would take a pass over rows that are elsewhere."""
        rows, counts = self.rows, np.full(self.d, float(self.n))
        if isinstance(rows, CsrRows) and rows.in_memory:
            found = np.zeros(rows.n_features, np.int64)
            l1_loops.count_columns(rows.indptr, rows.indices, found, 0, rows.n)
            counts[: rows.n_features] = found
        else:
            counts[:] = rows.nnz / max(self.d, 1)
        return counts

    def descent_work(self, chosen: np.ndarray) -> float:
        """Of `epoch` over the weights `chosen`."""
        per_number = DENSE_DESCENT_NS if self.rows.gram_of_few else DESCENT_NS
        return 0.5 * self.epoch_work(chosen) / systems.VISIT_NS * per_number + systems.CALLS_NS / 20.0

    def matrix_work(self, chosen: np.ndarray) -> float:
        """Of `matrix` and of its factor; infinite where that is too large."""
        m = float(len(chosen))
        return min(self._matrix_works(chosen)) + systems.FACTOR_NS * m**3 if m <= GRAM_BELOW else np.inf

    def _matrix_works(self, chosen: np.ndarray) -> tuple[float, float]:
        """Of a matrix over these weights alone, and of one over all, where rows without change are in it already."""
        o, rows, m = self.losses, self.rows, float(len(chosen))
        numbers = 0.5 * self.epoch_work(chosen) / systems.VISIT_NS
        active = numbers * o.active / max(self.n, 1)
        # The squared hinge keeps the matrix, of which few rows change; with the logistic loss all do at every step, and
        # a sparse entry costs about a visit: 1.0 to 1.9 ns on seven sets
        entries = 1.0 if self.logistic and not rows.gram_of_few else rows.gram_entries
        some = 0.5 * active * active / max(o.active, 1) / entries
        if rows.gram_of_few:
            some += 2.0 * active
        else:
            some += TURNING_PASSES * numbers if self._few(chosen) else SELECTING_PASSES * rows.nnz
        some = systems.VISIT_NS * some + systems.COPY_NS * m * m
        if self.d > GRAM_BELOW:
            return some, np.inf
        count = o.active if o._gram is None else min(o.changed or o.active, o.active)
        length = rows.nnz / max(self.n, 1)
        whole = systems.VISIT_NS * count * length * 0.5 * length / entries
        return some, whole + systems.COPY_NS * m * m

    def _few(self, chosen: np.ndarray) -> bool:
        """Whether a matrix over these weights is made of their columns, copied: sparse ones with few numbers."""
        sparse = self._columns is not None and isinstance(self.rows, CsrRows)
        return sparse and FEW_NUMBERS * float(np.sum(self._counts[chosen])) <= self.rows.nnz

    def matrix(self, chosen: np.ndarray) -> np.ndarray:
        """sum_i c_i x_i x_i' for the weights `chosen`, symmetric."""
        o = self.losses
        some, whole = self._matrix_works(chosen)
        if whole <= some:
            return mirror(o.gram()[np.ix_(chosen, chosen)])
        if self._columns is not None and self._few(chosen):
            return self._columns.gram(chosen, o.c)
        return o.part_of_hessian(chosen)


def violations_at(w: np.ndarray, g: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The optimality violation of each weight of w; g: gradient of the losses."""
    return np.where(w != 0.0, np.abs(g + penalty * np.sign(w)), np.maximum(np.abs(g) - penalty, 0.0))


def minimum_on_line(
    w: np.ndarray, p: np.ndarray, penalty: np.ndarray, slope: float, curvature: float, limit: float
) -> float:
    """The t in [0, limit] with the least  slope t + curvature t^2 / 2 + the change of slope where |w_j + t p_j| bends.

    slope (< 0): at t = 0, of all terms.
    """
    bends = np.flatnonzero(w * p < 0.0)
    at = -w[bends] / p[bends]
    order = np.argsort(at)
    at, jumps = at[order], 2.0 * (penalty[bends] * np.abs(p[bends]))[order]
    rise = np.cumsum(jumps)
    k = int(np.searchsorted(slope + curvature * at + rise, 0.0))
    before = slope + (float(rise[k - 1]) if k else 0.0)
    zero = -before / curvature if curvature > 0.0 else np.inf
    return float(min(zero, limit) if k == len(at) else min(zero, at[k], limit))
