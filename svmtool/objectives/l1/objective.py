"""|w|_1 plus a sum of losses over rows, LIBLINEAR's -s 5 and 6; |w|_1 excludes a free bias.

    f(w) = sum_j penalty_j |w_j| + sum_i loss_i(x_i.w),    penalty_j = 1, or 0 for a free bias

The methods are those of objectives/base.py, with g the gradient of the losses alone.  Dual points are multiples of the
losses' slopes with |sum_i u_i x_ij| <= penalty_j for every j, so that each gradient() gives a lower bound.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.loss import hinge_loops, l1_loops, logistic_loops
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import mirror
from svmtool.linalg.weighted_columns import Columns
from svmtool.objectives.base import balance
from svmtool.objectives.row_losses import Losses
from svmtool.objectives.task import Task

# From this epoch of `descend` on, the last half of the epochs must change w by this share
DESCENT_EVALUATION, DESCENT_RTOL = 31, 1e-14
CURVATURE_RTOL = 0.1  # logistic loss: relative change of a row's curvature that the matrix may ignore
ROUGH_SHARE = 0.1  # the same as share of the mean curvature, while steps still lower f by much
TARGET = np.ones(1)  # target of all rows, for the squared hinge


class L1Objective(Losses):
    """Base class of both losses; see Losses.  logistic: whether the loss is logistic."""

    logistic = False

    def __init__(
        self, rows: Rows | Columns, y: np.ndarray, cost: np.ndarray, free_bias: bool = False,
    ):  # fmt: skip
        super().__init__(rows, y, cost, free_bias)
        self._columns = rows if isinstance(rows, Columns) else None
        self.penalty = np.ones(self.d)
        if free_bias:
            self.penalty[-1] = 0.0

    def set_point(self, w: np.ndarray) -> None:
        if self._columns is None or not np.any(w):
            super().set_point(w)
            return
        if not self._ready:
            self._prepare()
        self.w[:] = w
        self._columns.margins(self.w, self.y, self.z)

    @abstractmethod
    def _best_multiple(self, u: np.ndarray, max_multiple: float, loss: float | None = None) -> tuple[float, float]:
        """The best multiple, at most `max_multiple`, of the dual point with slopes u (f8[n]), and its dual value.

        loss: the sum of losses at w if u are the slopes there.
        """

    @abstractmethod
    def value_at_zero(self) -> float:
        """f(0)."""

    def value(self) -> float:
        return float(self.penalty @ np.abs(self.w)) + self._classify()

    def gradient(self) -> tuple[float, np.ndarray]:
        """f at w, and the gradient of its losses, f8[d]."""
        loss = self._classify()
        g = self._transpose_product(self.u)
        self._slopes, max_multiple = self._feasible(g)
        known = loss if self._slopes is self.u else None
        self._multiple, self.bound = self._best_multiple(self._slopes, max_multiple, known)
        return float(self.penalty @ np.abs(self.w)) + loss, g

    def _transpose_product(self, u: np.ndarray) -> np.ndarray:
        """sum_i u_i x_i, f8[d]: by columns where these are stored, so that threads can share the work."""
        return self.rows.transpose_product(u) if self._columns is None else self._columns.products(u)

    def _feasible(self, g: np.ndarray) -> tuple[np.ndarray, float]:
        """Balanced slopes (f8[n]) of a dual point, and their largest feasible multiple; g = sum_i u_i x_i.

        A free bias requires sum_i a_i y_i = 0: the sign with the larger sum is scaled down, which costs a product.  The
        multiple is 0 where `balance` returns None.
        """
        u = self.u
        if self.free_bias:
            factors = balance(*self.sides())
            if factors is None:
                return self.u, 0.0
            u = self.balanced(*factors)
            g = self._transpose_product(u)
        steepest = float(np.max(self.penalty * np.abs(g), initial=0.0))
        return u, 1.0 / steepest if steepest > 0.0 else np.inf

    def dual_point(self) -> np.ndarray:
        """The dual point with value `bound`, f8[n]."""
        return -self._multiple * self._slopes * self.y

    def evaluate_model(self, held: bool) -> float:
        """Set `bound` and `dual_point` from the quadratic model's slopes at w + p; p as last given to `best_step`.

        The model's slopes satisfy the constraints to the accuracy of the model's solution, while those of the losses
        also have the model's error, which changes the bound to first order.  Overwrites the slopes at w.
        held: whether the model used the curvatures of `hessian`.
        """
        c = self._held_curvature() if held else self.c
        l1_loops.l1_model_slopes(self.u, self.y, self.cost, c, self.dz, self.logistic)
        slopes, max_multiple = self._feasible(self._transpose_product(self.u))
        self._slopes = slopes.copy() if slopes is self.u else slopes
        self._multiple, self.bound = self._best_multiple(self._slopes, max_multiple)
        return self.bound

    def _held_curvature(self) -> np.ndarray:
        """The curvatures used in the last `hessian`."""
        return self.c

    def widen(self) -> None:
        """Increase the rows' curvatures, for a model that is valid further away from w."""

    def hessian(self, rough: bool = False) -> np.ndarray:
        """sum_i c_i x_i x_i', d x d, symmetric; rough: small changes of curvature may be ignored."""
        return mirror(self.gram().copy())

    def columns(self) -> Columns:
        """The rows, stored by columns."""
        if self._columns is None:
            self._columns = Columns(self.rows)
        return self._columns

    def possible(self) -> np.ndarray | None:
        """Features whose weights can be non-zero at the optimum (i8, ascending, the bias feature last); None: all."""
        return None

    def narrowed(self, kept: np.ndarray) -> L1Objective:
        """The same problem for the weights `kept` (see `possible`), with rows stored by columns."""
        columns = Columns(self.rows, kept[: len(kept) - (self.rows.bias >= 0)])
        return type(self)(columns, self.y, self.cost, self.free_bias)

    def violations(self, g: np.ndarray) -> np.ndarray:
        """The optimality violation of each weight, |smallest subgradient of f|; g as returned by gradient()."""
        return violations_at(self.w, g, self.penalty)

    def descend(self, chosen: np.ndarray, count: np.ndarray, max_epochs: int, share: float) -> np.ndarray | None:
        """A step p by coordinate descent on f over the weights `chosen` (i8); None if the loss has no such method.

        At most `max_epochs` epochs, until the largest violation is `share` of the initial one; count[0] += epochs.
        """
        return None

    def best_step(self, p: np.ndarray, g: np.ndarray) -> float:
        """The approximate minimiser t in [0, 1] of f(w + t p); g as returned by gradient().  0: f does not decrease."""
        (self._columns or self.rows).margins(p, self.y, self.dz)
        moved = np.flatnonzero(p != 0.0)
        parts = self.w[moved], p[moved], self.penalty[moved], g[moved]
        return l1_loops.l1_step(self.z, self.dz, TARGET, self.cost, *parts, self._out, self.logistic)

    def step_to_zeros(self, t: float, p: np.ndarray) -> None:
        """w += t p, and the margins; weights within round-off of zero become zero."""
        used = np.flatnonzero(self.w != 0.0)
        old = self.w[used]
        self.step(t, p)
        self.w[used[np.abs(self.w[used]) <= 1e-15 * np.abs(old)]] = 0.0

    def at_costs(self, share: float) -> L1Objective:
        """The same problem with costs multiplied by `share`."""
        other = type(self)(self.rows, self.y, share * self.cost, self.free_bias)
        other._columns = self.columns()
        return other


class L1SquaredHinge(L1Objective):
    """C_i max(0, 1 - y_i x_i.w)^2"""

    def _prepare(self) -> None:
        super()._prepare()
        self._counts = np.zeros(3)
        self._state = hinge_loops.hinge2_state.bind(
            self.z, TARGET, self.cost, self.y, self.u, self.c, self._change, self._counts
        )

    def _classify(self) -> float:
        loss = self._state(0, self.n)
        self._note_change(*self._counts[:2].tolist())
        return loss

    def _best_multiple(self, u: np.ndarray, max_multiple: float, loss: float | None = None) -> tuple[float, float]:
        # D(s a) = s sum a - s^2 sum a^2 / (4 C), whose last sum is that of the losses at w
        conjugate = 0.25 * float(np.sum(u * u / self.cost)) if loss is None else loss
        linear = -float(self.y @ u)
        s = min(max_multiple, 0.5 * linear / conjugate) if conjugate > 0.0 else 0.0
        return s, s * (linear - s * conjugate)

    def dual_of(self, a: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
        """The dual value at the best feasible multiple of multipliers a >= 0, and that multiple, f8[n].

        v: sum_i a_i y_i x_i, f8[d].
        """
        if self.free_bias:
            factors = balance(float(a[self.y > 0.0].sum()), float(a[self.y < 0.0].sum()))
            if factors is None:
                return 0.0, np.zeros(self.n)
            a = a * np.where(self.y > 0.0, *factors)
            v = self.penalty * self.rows.transpose_product(a * self.y)
        steepest = float(np.abs(v).max(initial=0.0))
        s, value = self._best_multiple(-a * self.y, 1.0 / steepest if steepest > 0.0 else np.inf)
        return value, s * a

    def descend(self, chosen: np.ndarray, count: np.ndarray, max_epochs: int, share: float) -> np.ndarray | None:
        w, z, columns = self.w.copy(), self.z.copy(), self.columns()
        lists = columns.starts, columns.row_numbers, columns.values
        terms, first = (self.y, self.cost, self.penalty, w, chosen, z), None
        before = w.copy()  # at the last doubling of the epochs
        for k in range(max_epochs):
            largest = l1_loops.hinge2_column_epoch(*lists, *terms, columns.bias)
            count[0] += 1.0
            first = largest if first is None else first
            if largest <= share * first or limits.is_ended():
                break
            if k >= DESCENT_EVALUATION and k & (k + 1) == 0:
                if np.abs(w - before).max() <= DESCENT_RTOL * np.abs(w).max():
                    break
                before[:] = w
        return w - self.w

    def value_at_zero(self) -> float:
        return float(np.sum(self.cost))


class L1Logistic(L1Objective):
    """C_i log(1 + exp(-y_i x_i.w))"""

    logistic = True

    def _prepare(self) -> None:
        super()._prepare()
        self._held = np.zeros(self.n)
        self._state = logistic_loops.logistic_state.bind(self.z, self.cost, self.y, self.u, self.c)

    def _classify(self) -> float:
        self.active = self.n
        return self._state(0, self.n)

    def hessian(self, rough: bool = False) -> np.ndarray:
        """See L1Objective.  Rows keep their curvature in the matrix while it changes by less than CURVATURE_RTOL.

        rough: and also while it changed by less than ROUGH_SHARE times the mean curvature.
        """
        change = self.c - self._held
        slight = ROUGH_SHARE * np.mean(self.c) if rough else 0.0
        change[np.abs(change) <= CURVATURE_RTOL * np.maximum(self.c, self._held) + slight] = 0.0
        self._held += change
        if self._gram is None or np.count_nonzero(change) >= np.count_nonzero(self._held):
            self._gram = np.zeros((self.d, self.d))
            change = self._held
        self.rows.add_gram(change, self._gram)
        return super().hessian()

    def possible(self) -> np.ndarray | None:
        """See L1Objective.

        A row's slope lies between 0 and -C_i y_i, so that for any w the derivative of all losses in w_j is at most the
        larger of the sums of C_i |x_ij| over rows with y_i x_ij > 0 and over rows with y_i x_ij < 0.
        """
        if not self.rows.offers_coordinate_descent:
            return None
        kept = np.ones(self.d, bool)
        kept[: self.rows.n_features] = self.rows.signed_sums(self.cost * self.y).max(axis=1) > 1.0
        return np.flatnonzero(kept)

    def widen(self) -> None:
        logistic_loops.logistic_widen(self.z, self.cost, self.c)

    def _held_curvature(self) -> np.ndarray:
        return self._held

    def _best_multiple(self, u: np.ndarray, max_multiple: float, loss: float | None = None) -> tuple[float, float]:
        s = min(max_multiple, 1.0)
        if loss is None:
            return s, l1_loops.l1_slopes_dual(u, self.y, self.cost, s, self.n)
        return s, l1_loops.l1_logistic_dual(self.z, self.cost, s, self.n) if s > 0.0 else 0.0

    def value_at_zero(self) -> float:
        return float(np.sum(self.cost)) * np.log(2.0)


def of_task(task: Task) -> L1Objective:
    """The objective of a task: the squared hinge with targets 1 (None), the logistic loss with targets 0."""
    kind = L1SquaredHinge if task.target is None else L1Logistic
    return kind(task.rows, task.y, task.cost, task.free_bias)


def violations_at(w: np.ndarray, g: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The optimality violation of each weight of w; g: gradient of the losses."""
    out = np.abs(g)
    out -= penalty
    np.maximum(out, 0.0, out=out)
    used = np.flatnonzero(w != 0.0)
    out[used] = np.abs(g[used] + penalty[used] * np.sign(w[used]))
    return out
