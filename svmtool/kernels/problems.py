"""LIBSVM's five problems as one quadratic programme, and the decision functions of their solutions.

    min over a of  1/2 a'Qa + p'a,   Q_st = y_s y_t K(x_row(s), x_row(t)),   0 <= a_t <= upper_t,
    y'a = y'start;   nu-SVC and nu-SVR: the sum over y = +1 and the sum over y = -1, each that of `start`

The decision value of a row x is  sum_i coef_i K(x_i, x) - rho.  With the gradient G = Qa + p at the optimum the
multipliers of the equalities are r + rho (of y = +1) and r - rho (of y = -1); r is 0 where there is one equality.

Source: Chang and Lin, LIBSVM: a Library for Support Vector Machines, ACM TIST 2 (2011) 27, Sections 2 and 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool import limits
from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import Rows
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import MAX_DOUBLE_EXPONENT, POLYNOMIAL, RBF, UNDERFLOW_EXPONENT, Kernel
from svmtool.objectives import one_class
from svmtool.objectives.one_class import ORIGIN_IN_HULL, ORIGIN_IN_REDUCED_HULL, is_zero
from svmtool.params import NO_OPTIONS
from svmtool.tolerances import EPS, MIN_POSITIVE, MIN_VALUE_SHARE, ROWS_AT_ONCE, SUM_ROUNDOFF, SUM_RTOL


class Points(NamedTuple):
    """n rows with a kernel: their features, or the values f8 (n, n) of a precomputed kernel."""

    kernel: Kernel
    rows: Rows | None
    matrix: Any

    @property
    def n(self) -> int:
        return self.rows.n if self.rows is not None else len(self.matrix)

    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i), f8[n]."""
        norms = self.norms() if self.kernel.kind != RBF else np.zeros(self.n)  # which rbf does not read
        return np.diag(self.matrix) if norms is None else self.kernel.of_itself(norms)

    def norms(self) -> np.ndarray | None:
        """|x_i|^2, f8[n]; None with a precomputed kernel."""
        return None if self.rows is None else self.rows.square_norms()

    def take(self, chosen: np.ndarray) -> Points:
        """The rows `chosen` (i8); the object itself if that is all rows in order."""
        if len(chosen) == self.n and np.array_equal(chosen, np.arange(self.n)):
            return self
        if self.rows is not None:
            return self._replace(rows=self.rows.take(chosen))
        return self._replace(matrix=self.matrix[np.ix_(chosen, chosen)])

    def sums(self, coef: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        """sum_i coef_i K(x_i, .) of the rows `chosen` (i8; None: all) in double precision by svm-predict's code, f8."""
        used, rows = coef.nonzero()[0], self.rows
        if rows is None:
            return coef[used] @ (self.matrix[used] if chosen is None else self.matrix[np.ix_(used, chosen)])
        support = rows.take(used).as_csr()
        arguments = "epsilon_svr", self.kernel, None, 2, np.zeros(1), coef[None, used], None
        scores = KernelModel(*arguments, *support.csr_arrays).scores
        rows = rows if chosen is None else rows.take(chosen)
        at_once = ROWS_AT_ONCE if isinstance(rows, DenseRows) else max(rows.n, 1)
        f = np.empty(rows.n)
        for lo in range(0, rows.n, at_once):
            limits.check()
            part = rows.take(np.arange(lo, min(lo + at_once, rows.n))) if at_once < rows.n else rows
            scores.decide(part.as_csr(), part.n, f[lo : lo + part.n])
        return f

    def without_features(self, chosen: np.ndarray, norms: np.ndarray | None) -> Points:
        """`take` with the norms (f8[n], of all rows) in place of the features: enough for a result without weights."""
        return self.take(chosen) if norms is None else self._replace(rows=Norms(norms[chosen]))


class Norms:
    """Rows that have norms only."""

    def __init__(self, norms: np.ndarray):
        self.n, self._norms = len(norms), norms

    def take(self, chosen: np.ndarray) -> Norms:
        """Those of the rows `chosen` (i8)."""
        return Norms(self._norms[chosen])

    def square_norms(self) -> np.ndarray:
        """|x_i|^2, f8[n]."""
        return self._norms


def relative(primal: float, dual: float, floor: float = 0.0) -> float:
    """Return (P - D) / |P|, infinite if the signs of P and D differ.

    floor > 0: P is negative unless w = 0 is optimal, and errors are relative to at least that.
    """
    difference = max(primal - dual, 0.0)
    if difference == 0.0:
        return 0.0
    if floor > 0.0:
        return one_class.gap_of(primal, dual, floor)
    same_sign = primal * dual > 0.0 or (dual == 0.0 and primal > 0.0)
    return difference / abs(primal) if same_sign else np.inf


def floor_of(diagonal: np.ndarray, total: float) -> float:
    """MIN_VALUE_SHARE of one_class.py times -D for rows in one direction whose a sum to `total`.

    diagonal: K(x, x) of the rows.  The size is their median: a single very large row does not change the errors of the
    others.
    """
    sizes = np.abs(diagonal)
    sizes = sizes[sizes > 0.0]
    return MIN_VALUE_SHARE * 0.5 * total * total * (float(np.median(sizes)) if len(sizes) else 0.0)


class _Problem:
    """Base of the problems with a kernel.

    cache_mb  memory for rows of the kernel matrix, in MB
    options   of the solver
    beside    problems of the same run, this one included
    spent     values of kernel rows that steps which did not solve it have cost before
    floor     least value that gaps are relative to; above 0 if w = 0 can be optimal
    """

    cache_mb = 100.0
    beside, spent = 1, 0.0
    options = NO_OPTIONS
    floor = 0.0
    at_zero: tuple[float, float, float] | None = None  # certify.kernel.value_at_zero, once computed
    y: np.ndarray

    def coefficients(self, alpha: np.ndarray) -> np.ndarray:
        """coef f8[n] of alpha f8[m]."""
        return self.y * alpha

    def relative(self, primal: float, dual: float) -> float:
        """The relative gap of two values."""
        return relative(primal, dual, self.floor)


class KernelProblem(_Problem):
    """The quadratic programme of the module, in m variables over n points.

    row       i8[m]: the point of a variable
    y         f8[m] of +-1
    p, upper  f8[m]
    start     f8[m], feasible; two_sums: whether the sum of each sign is fixed
    losses    f8[m]: cost of a loss of 1: upper; if no a_t can reach its bound, 1 / `shrunk`, and upper is out of reach
    shrunk    factor of the solution of this programme to that of the problem, below 1 if no a_t can reach its bound
    """

    shrunk = 1.0

    def __init__(
        self, points: Points, row: np.ndarray, y: np.ndarray, p: np.ndarray, upper: np.ndarray, start: np.ndarray,
        two_sums: bool = False,
    ):  # fmt: skip
        self.points, self.n = points, points.n
        self.kernel, self.rows, self.matrix = points
        self.row, self.y, self.p, self.upper, self.start, self.two_sums = row, y, p, upper, start, two_sums

    @property
    def losses(self) -> np.ndarray:
        """Cost of a loss of 1 for each variable, see the class; finite, since an infinite one times 0 is no number."""
        return self.upper if self.shrunk == 1.0 else np.full(len(self.upper), 1.0 / max(self.shrunk, MIN_POSITIVE))

    def without_losses(self, gradient: np.ndarray) -> tuple[float, float]:
        """rho and r without any loss: the best for w if `shrunk` is below 1, because losses cost more than margins.

        gradient f8[m]: Qa + p.
        """
        if not self.two_sums:
            return float(np.min(gradient)), 0.0
        plus, minus = float(np.min(gradient[self.y > 0])), float(np.min(gradient[self.y < 0]))
        rounding = SUM_ROUNDOFF * (abs(plus) + abs(minus))  # r + rho and r - rho must not round up
        return 0.5 * (plus - minus), 0.5 * (plus + minus) - rounding

    def feasible_sums(self, alpha: np.ndarray) -> bool:
        """Whether y'a, or the sum of each sign, is that of `start` but for round-off; else alpha has no dual value."""
        signs: list[Any] = [self.y > 0, self.y < 0] if self.two_sums else [slice(None)]
        moved, sizes = self.y * (alpha - self.start), np.abs(alpha)
        return all(abs(float(moved[s].sum())) <= SUM_RTOL * float(sizes[s].sum()) for s in signs)

    def gradient(self, alpha: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Qa + p, f8[m], from decision values of the points without rho, f8[n]."""
        return self.y * f[self.row] + self.p

    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i), f8[n]."""
        return self.points.diagonal()

    def score_terms(self, alpha: np.ndarray) -> np.ndarray:
        """Roundings of the decision values in any order of sums, f8[n]: of the sum, and of x.z or rbf's exponent."""
        terms, k = np.full(self.n, np.count_nonzero(alpha) + 1.0), self.kernel
        if self.rows is None or k.kind != RBF:
            return terms + (0 if self.rows is None else self.rows.d * (max(k.degree, 1) if k.kind == POLYNOMIAL else 1))
        s = k.gamma * self.rows.square_norms()
        of_squares = np.minimum(2.0 * (s + np.max(s)), 2.0 * MAX_DOUBLE_EXPONENT)  # or of differences: Kernel.near
        return terms + np.where(s + np.min(s) > MAX_DOUBLE_EXPONENT, UNDERFLOW_EXPONENT, of_squares)

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        coef = self.coefficients(result.alpha)
        return self._function(coef, result, 1.0, self.upper[: len(coef)], self.report(coef, result))

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """The line that LIBSVM prints for this kind of problem."""
        return ""

    @staticmethod
    def _function(
        coef: np.ndarray, result: KernelResult, scale: float, bound: np.ndarray, report: str
    ) -> DecisionFunction:
        """The DecisionFunction of coef; multiplies rho and the objective by `scale`, but not `bound`."""
        bounded = int(np.count_nonzero((np.abs(coef) >= bound) & (coef != 0)))
        return DecisionFunction(coef, result.rho * scale, scale * result.objective * scale, scale, bounded, report)


class CSvc(KernelProblem):
    """C-SVC: min 1/2 a'Qa - sum a, 0 <= a_i <= cost_i, y'a = 0.  y f8[n] of +-1, cost f8[n]."""

    def __init__(self, points: Points, y: np.ndarray, cost: np.ndarray):
        n = points.n
        super().__init__(points, np.arange(n), y, np.full(n, -1.0), cost, np.zeros(n))

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """nu = sum a / (C n), where all rows cost the same."""
        C = self.upper[0]
        if (self.upper != C).any():
            return ""
        return f"nu = {result.alpha.sum() / (C * len(coef)):f}\n" if C > 0 else "nu = -nan\n"


def _share(nu: float, n: int, weights: np.ndarray | None) -> tuple[float, float, np.ndarray]:
    """Return the sum of a, `shrunk`, and the upper bounds f8[n]; for a sum of 1 no a reaches them: all are free."""
    if weights is not None:
        return nu * float(np.sum(weights)), 1.0, weights
    shrunk = min(nu * n, 1.0)
    return max(nu * n, 1.0), shrunk, np.full(n, 2.0 if shrunk < 1.0 else 1.0)


class NuSvc(KernelProblem):
    """nu-SVC: min 1/2 a'Qa, 0 <= a_i <= 1, the a of either class sum to nu n / 2; then all is divided by r.

    With weights (f8[n] > 0) these are the upper bounds, and their sum stands for n.

    If the sums are below 1 no a_i can reach its bound.  Then the problem with sums of 1 is solved, where a loss costs
    1 / `shrunk`; a and r are `shrunk` times its solution, and the decision function is the same.
    """

    def __init__(self, points: Points, y: np.ndarray, nu: float, weights: np.ndarray | None = None):
        n = points.n
        total, self.shrunk, upper = _share(nu / 2, n, weights)
        start = np.zeros(n)
        for side in (y > 0, y < 0):
            bound = 1.0 if weights is None else weights[side]
            start[side] = filled(total, bound, int(np.count_nonzero(side)))
        super().__init__(points, np.arange(n), y, np.zeros(n), upper, start, two_sums=True)
        self.nu, self.floor = nu, floor_of(self.diagonal(), float(np.sum(start)))

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        """See KernelProblem.

        A margin r that is not positive has no meaning.  LIBSVM divides by it, which inverts each decision; here the
        signs stay, and `warning` reports it.  The same holds if r is positive but the primal value is not below 0,
        that of w = 0: then r is round-off, or the run ended early.
        """
        r, warning = abs(result.r), ""
        said = np.any(result.alpha) or getattr(result.status, "converged", False)
        if not (0.0 < result.r < np.inf and result.primal < 0.0) and said:
            warning = f"nu-SVC finds no margin between them at -n {self.nu:g} (r = {result.r:g}): raise -n, or use -s 0"
        r = r if 0.0 < r < np.inf else 1.0
        coef = self.y * result.alpha / r
        full = np.where(result.alpha >= self.upper, 0.0, np.inf)  # in alpha, because the quotient may be rounded
        margin = self.shrunk * result.r
        C = "inf" if margin == 0.0 else f"{1.0 / margin:f}"
        return self._function(coef, result, 1.0 / r, full, f"C = {C}\n")._replace(warning=warning)


class OneClass(KernelProblem):
    """One-class SVM: min 1/2 a'Ka, 0 <= a_i <= 1, sum a = nu n; weights, and a sum below 1, as in NuSvc."""

    def __init__(self, points: Points, nu: float, weights: np.ndarray | None = None):
        n = points.n
        total, self.shrunk, upper = _share(nu, n, weights)
        start = filled(total, 1.0 if weights is None else weights, n)
        super().__init__(points, np.arange(n), np.ones(n), np.zeros(n), upper, start)
        self.floor, self.total = floor_of(self.diagonal(), total), total

    def plane(self, alpha: np.ndarray, z: np.ndarray, apart: float) -> tuple[float, bool]:
        """The model's rho (objectives/one_class.py) and whether w is 0 up to round-off; z = K alpha to within apart."""
        diagonal = np.abs(self.diagonal())
        _, smallest = one_class.best_rho(z, self.losses, self.total)
        if is_zero(smallest, float(alpha @ z), float(np.mean(diagonal)) * self.total**2):
            return 0.0, True
        sizes = np.sqrt(diagonal)
        terms = np.abs(z) if self.kernel.kind == RBF else float(alpha @ sizes) * sizes  # rbf's have one sign
        return one_class.boundary(z, apart + EPS * self.score_terms(alpha) * terms, self.losses, self.total), False

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        """See KernelProblem; of w = 0 without support vectors."""
        found = self._function(self.shrunk * result.alpha, result, self.shrunk, self.upper, "")
        none = {"coef": np.zeros(self.n), "rho": 0.0, "warning": ORIGIN_IN_REDUCED_HULL}
        return found._replace(**none) if result.zero else found


class HardOneClass(KernelProblem):
    """One-class SVM without slack: min 1/2 a'Ka, a_i >= 0, sum a = 1; see objectives/one_class.py.

    size: mean of K(x_i, x_i).
    """

    def __init__(self, points: Points):
        n = points.n
        super().__init__(points, np.arange(n), np.ones(n), np.zeros(n), np.full(n, np.inf), filled(1.0, 1.0, n))
        self.size = float(np.mean(self.diagonal()))

    def rounding(self, alpha: np.ndarray) -> float:
        """A bound of the round-off of w.phi(x_i) / |w|."""
        return EPS * float(np.max(self.score_terms(alpha)) * np.sqrt(max(np.max(self.diagonal()), 0.0)))

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        """See KernelProblem; that of the certified plane, where the certifier has run."""
        coef, rho, plane = result.alpha, result.rho, result.plane
        if plane is None:
            zero = is_zero(float(np.min(result.gradient)), rho, self.size)
        else:
            coef, rho, zero = plane.multiple * coef, plane.rho, plane.multiple == 0.0
        warning = ORIGIN_IN_HULL if zero and result.status.converged else ""
        return DecisionFunction(coef, rho, result.objective, 1.0, 0, self.report(coef, result), warning)

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """The statement about all rows after a run by samples, and how many training rows are outside."""
        said = f"{result.status.advice}\n" if result.status.name == "sample" else ""
        return said if result.plane is None else said + result.plane.line()


class Svr(KernelProblem):
    """Regression: each row has two variables, y = +1 and -1, and coef is their difference.

    targets f8[n], cost f8[n]; tube: half its width, added to both linear terms.

    The median is subtracted from the targets, because round-off of numbers far from 0 would hide their differences; the
    bias is free.  rho and the linear terms refer to these targets, rho of the decision function to the given ones.
    """

    def __init__(self, points: Points, targets: np.ndarray, cost: np.ndarray, tube: float, start: np.ndarray, **more):
        n = points.n
        self.middle = float(np.median(0.5 * targets)) * 2.0 if n else 0.0  # of halves, so that no sum overflows
        if not np.all(np.isfinite(targets - self.middle)):
            self.middle = 0.0
        targets = targets - self.middle
        p = np.concatenate((tube - targets, tube + targets))
        y, row = np.repeat((1.0, -1.0), n), np.tile(np.arange(n), 2)
        super().__init__(points, row, y, p, np.tile(cost, 2), np.tile(start, 2), **more)

    def coefficients(self, alpha: np.ndarray) -> np.ndarray:
        above, below = alpha.reshape(2, -1)
        return above - below

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        found = super().decision_function(result)
        return found._replace(rho=found.rho - self.middle)


class EpsilonSvr(Svr):
    """epsilon-SVR: min 1/2 c'Kc + tube sum |c| - t'c, |c_i| <= cost_i, sum c = 0."""

    def __init__(self, points: Points, targets: np.ndarray, cost: float | np.ndarray, tube: float):
        super().__init__(points, targets, np.full(points.n, cost), tube, np.zeros(points.n))

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """nu = sum |c| / (C n), where all rows cost the same."""
        if np.any(self.upper != self.upper[0]):
            return ""
        return f"nu = {np.sum(np.abs(coef)) / (self.upper[0] * len(coef)):f}\n"


class NuSvr(Svr):
    """nu-SVR: min 1/2 c'Kc - t'c, |c_i| <= cost_i, sum c = 0, the a of both signs sum to nu sum_i cost_i."""

    def __init__(self, points: Points, targets: np.ndarray, cost: float | np.ndarray, nu: float):
        n = points.n
        total = cost * nu * n / 2 if np.ndim(cost) == 0 else nu * float(np.sum(cost)) / 2
        super().__init__(points, targets, np.full(n, cost), 0.0, filled(total, cost, n), two_sums=True)

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """epsilon, half the width of the tube found."""
        return f"epsilon = {-result.r:f}\n"


class LeastSquaresSvc(_Problem):
    """LS-SVM, least squares of the margins: a quadratic program without bounds.

        min over w, b of  1/2 |w|^2 + sum_i C_i (1 - y_i (w.phi(x_i) + b))^2,   phi(x).phi(z) = K(x, z)
        min over c of     1/2 c'(K + D) c - y'c,   D_ii = 1 / (2 C_i),  sum c = 0

    If b is not free, 1/2 b^2 is added to the first line; the second then has K + 1 in place of K and no equality, and b
    is the sum of c.  The papers' a is y c.  Points of cost 0 are left out: n, rows, y and cost are those of the others.
    """

    def __init__(self, points: Points, y: np.ndarray, cost: np.ndarray, free_bias: bool):
        self.used, self.whole = np.flatnonzero(cost > 0.0), len(y)
        self.points = points.take(self.used)
        self.kernel, self.rows, self.matrix = self.points
        self.n, self.y, self.cost = len(self.used), y[self.used], cost[self.used]
        self.free_bias = free_bias
        self.shift = 0.0 if free_bias else 1.0  # added to all kernel values
        self.row = np.arange(self.n)
        self.start = np.zeros(self.n)

    def gradient(self, alpha: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Qa - 1 f8[n], Q_ij = y_i y_j (K_ij + D_ij), from f = K c, f8[n]."""
        return self.y * (f + 0.5 * self.coefficients(alpha) / self.cost) - 1.0

    def decision_function(self, result: KernelResult) -> DecisionFunction:
        coef = np.zeros(self.whole)
        coef[self.used] = self.y * result.alpha
        return DecisionFunction(coef, result.rho, result.objective, 1.0, 0, "")


AnyProblem = KernelProblem | LeastSquaresSvc


def filled(total: float, upper: float | np.ndarray, n: int) -> np.ndarray:
    """Return f8[n] with sum `total`: the first at `upper` (f8[n] or a number), then the remainder, then zeros."""
    before = upper * np.arange(n) if np.ndim(upper) == 0 else np.cumsum(upper) - upper
    return np.clip(total - before, 0.0, upper)
