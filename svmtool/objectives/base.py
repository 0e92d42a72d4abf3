"""Regulariser plus a sum of losses over rows: the objective of linear models.

    f(w) = 1/2 w'Rw + sum_i loss_i(x_i.w),   R = I, or I with 0 for a free bias

The losses are piecewise quadratic or nearly so: LIBLINEAR's -s 1 and 2 in squared_hinge.py, the hinge, its powers and
Huber's loss in augmented.py; the logistic loss (logistic.py) is smooth.

Vectors of length n (margins, active rows, the dual point) stay inside; arguments and results are scalars and vectors
of the feature space.  Methods and their products with the rows:

    set_point(w)     margins at w                         one product X w
    gradient()       value, gradient, active rows         one product X'u over active rows
    hessian()        R + X'CX over active rows            Gram matrix, updated by rows that changed
    line_search(p)   exact minimiser along w + t p        one product X p
    step(t, p)       margins at w + t p                   none
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool import limits
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import stored_rows
from svmtool.linalg import systems
from svmtool.linalg.systems import Factored, conjugate_gradient, solve_positive
from svmtool.objectives.duality import balancing
from svmtool.objectives.row_losses import Losses
from svmtool.tolerances import RIDGE, SEARCH_RTOL

SYSTEMS = {"primal": "a system of features", "dual": "a system of active rows", "cg": "conjugate gradients"}


class Objective(Losses):
    """Base class of objectives with the regulariser 1/2 w'Rw.

    After gradient(), bound is a lower bound of min f.  A subclass defines sums over rows, which may be distributed:
    `sums`, `along` and `balanced_sums`; and what is computed from them: `_set_sums`, `_dual_bound`, `_balanced_bound`.
    """

    line_search_rtol = 1e-14  # relative error of the t that line_search() returns
    # slope at which a line search ends, relative to that at its start; 0: at the exact minimum
    line_search_share = 0.0
    way = ""  # how the last Newton direction was computed: a value of SYSTEMS
    products = 0  # products with the Hessian in the last direction by conjugate gradients
    face_bound = -np.inf  # best lower bound of min f found by a system of the active rows
    _hessian: np.ndarray | None = None

    if TYPE_CHECKING:  # methods of objectives that finite Newton methods minimise

        def _slopes_at_zero(self) -> np.ndarray:
            """Return the slopes u at w = 0, f8[n]."""

        def projected_range(self, point: Any) -> float:
            """Return the range of the projected gradients at a dual point."""

        def dual_point(self) -> Any:
            """Return the dual point of w, f8[n]."""

    @property
    def piecewise_quadratic(self) -> bool:
        """Whether each row's loss is; the class then has `breakpoint_terms`."""
        return False

    @property
    def scale(self) -> float:
        """The curvature of row i is scale * c_i: a common factor does not change the Gram matrix."""
        return 1.0

    @property
    def dual_system_cheaper(self) -> bool:
        """Whether the system of the active rows is cheaper than a d x d matrix."""
        return False

    @abstractmethod
    def sums(self) -> list[float]:
        """Compute slopes and curvatures of all rows at the current margins; returns the sums that `_set_sums` reads."""

    @abstractmethod
    def _set_sums(self, sums: list[float]) -> float:
        """Store the values of `sums` over all rows; returns the sum of losses."""

    def _classify(self) -> float:
        return self._set_sums(self.sums())

    @abstractmethod
    def along(self, t: float) -> np.ndarray:
        """Slope and curvature of the sum of losses at z + t dz, f8[2], until the next call."""

    @abstractmethod
    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        """A lower bound of min f from the slopes, g = sum u_i x_i, without a free bias."""

    def balanced_sums(self, u: np.ndarray) -> list[float]:
        """Sums over balanced slopes u (f8[n]) that `_balanced_bound` needs."""
        return []

    def _balanced_bound(self, g: np.ndarray, sums: list[float]) -> float:
        """A lower bound of min f with a free bias from balanced slopes; g = sum u_i x_i without the bias."""
        return 0.0

    def multiplied_sums(self, up: float, down: float) -> list[float]:
        """`balanced_sums` of the slopes, those of rows with y = 1 times `up`, the others times `down`."""
        return self.balanced_sums(self.balanced(up, down))

    def _free_bound(self) -> float:
        """A lower bound of min f with a free bias."""
        factors = balancing(*self.sides())
        g = np.array(factors) @ self.by_side
        g[-1] = 0.0
        return self._balanced_bound(g, self.multiplied_sums(*factors))

    def regular(self, w: np.ndarray) -> np.ndarray:
        """R w."""
        if not self.free_bias:
            return w
        v = w.copy()
        v[-1] = 0.0
        return v

    def value(self) -> float:
        """f at w."""
        return 0.5 * float(self.w @ self.regular(self.w)) + self._classify()

    def primal_value(self) -> float:
        """The value at w of the original problem if f is a smoothed form of it, else f."""
        return self.value()

    def gradient_at_zero(self) -> float:
        """|grad f(0)|, the unit of LIBLINEAR's rules for -s 0, 2 and 11."""
        g = self.rows.transpose_product(self._slopes_at_zero())
        return float(np.sqrt(g @ g))

    def loss_and_slope(self) -> tuple[float, np.ndarray]:
        """The sum of losses, and the sum of u_i x_i, at the current margins."""
        loss = self._classify()
        if not self.free_bias:
            return loss, self.rows.transpose_product(self.u)
        self.by_side = self.rows.sums_by_side(self.u, self.y)
        return loss, self.by_side.sum(axis=0)

    def gradient(self) -> tuple[float, np.ndarray]:
        """f and its gradient (length d) at w."""
        loss, g = self.loss_and_slope()
        self.bound = self._free_bound() if self.free_bias else self._dual_bound(g, loss)
        inner = self.regular(self.w)
        g += inner
        return 0.5 * float(self.w @ inner) + loss, g

    def hessian(self) -> np.ndarray:
        """R + sum_i scale c_i x_i x_i' (d x d, upper triangle), valid until the next call."""
        gram = self.gram()
        if self._hessian is None:  # allocating it each time would cost as much as filling it
            self._hessian = np.empty_like(gram)
        H = np.multiply(gram, self.scale, out=self._hessian)
        H.reshape(-1)[:: self.d + 1] += 1.0
        if self.free_bias:  # keeps the matrix regular where no row is active
            H[-1, -1] += RIDGE * H.flat[:: self.d + 1].max() - 1.0
        return H

    @property
    def mean_row_length(self) -> float:
        """Mean non-zeros in a row: its cost in a product; its cost in a Gram matrix is the square."""
        return self.rows.nnz / max(self.n, 1)

    @property
    def product_cost(self) -> float:
        """Approximate cost of a product with the Hessian, in the units of `face_cost`."""
        return 2.0 * systems.VISIT_NS * self.mean_row_length * self.active

    @property
    def face_cost(self) -> float:
        """Approximate cost of the first system of the active rows, in nanoseconds."""
        return self.row_system_work(self.active)

    def feature_system_work(self, rows: int) -> float:
        """Nanoseconds, about, of a factorised system of the features, of whose rows so many are new."""
        gram = systems.VISIT_NS * rows * self.mean_row_length * 0.5 * self.mean_row_length / self.rows.gram_entries
        return gram + systems.FACTOR_NS * float(self.d) ** 3 + systems.COPY_NS * float(self.d) ** 2

    def row_system_work(self, rows: int) -> float:
        """The same of a first system with a row for each of so many active rows."""
        dense, m = isinstance(stored_rows(self.rows), DenseRows), float(rows)
        inner = systems.DENSE_GRAM_NS if dense else systems.GRAM_NS
        return inner * m * m * self.mean_row_length + systems.FACTOR_NS * m**3 + systems.COPY_NS * m * m

    def hessian_product(self, v: np.ndarray) -> np.ndarray:
        """(R + sum_i scale c_i x_i x_i') v."""
        g = self.rows.curvature_product(self.c, v)
        g *= self.scale
        g += self.regular(v)
        return g

    def hessian_diagonal(self) -> np.ndarray:
        diagonal = self.rows.diagonal(self.c) * self.scale + 1.0
        if self.free_bias:
            diagonal[-1] = max(diagonal[-1] - 1.0, RIDGE)
        return diagonal

    def active_rows(self) -> np.ndarray:
        """Numbers of the rows with curvature, i8."""
        return np.flatnonzero(self.c)

    def newton_direction(
        self, g: np.ndarray, system: str, tolerance: float = 0.0, max_products: int = 0,
        stopped: Callable[[], bool] = lambda: False, min_gain: float = 0.0,
    ) -> tuple[np.ndarray, int, bool]:  # fmt: skip
        """p with H p = -g, the number of products with H, and whether p is as accurate as requested.

        system: "primal" factorises a d x d matrix; "dual" one with a row for each active row; "cg" runs
        conjugate gradients to the tolerance or `min_gain`, for at most `max_products` products, or until stopped().
        If the run ends meanwhile p is -g, which is also a descent direction.
        """
        self.way = SYSTEMS[system]
        try:
            if system == "primal":
                return -solve_positive(self.hessian(), g), 0, True
            if system == "dual":
                return self.by_rows(g), 0, True
            p, self.products, reached = conjugate_gradient(
                self.hessian_product, g, self.hessian_diagonal(), tolerance, max_products, stopped, min_gain
            )
        except limits.EndedError:
            return -g, 0, False
        return -p, self.products, reached

    def factorised_direction(self, g: np.ndarray, doubtful: bool) -> tuple[np.ndarray, int, bool]:
        """`newton_direction` by the cheaper factorised system, dual or primal.

        doubtful: check the residual of the dual system, which loses digits where numbers are large.
        """
        if self.dual_system_cheaper:
            p, _, exact = found = self.newton_direction(g, "dual")
            if not (exact and doubtful):
                return found
            residual = self.hessian_product(p) + g
            if float(residual @ residual) <= SEARCH_RTOL**2 * float(g @ g):
                return found
        return self.newton_direction(g, "primal")

    def by_rows(self, g: np.ndarray) -> np.ndarray:
        """-H^-1 g by the dual system of the active rows A, whose curvatures are c times the scale.

        p = -g - A'Ds, D = sqrt(c), with (D A A' D + I) s = -D A g.  The step of a free bias is the multiplier of its
        equation, which fixes the sum of Ds.  At least one row must be active then.
        """
        roots = np.sqrt(self.scale * self.c)
        used, Q = self.dual_matrix(self.active_rows(), roots, np.ones(self.n))
        root = roots[used]
        along, a = np.empty(self.n), np.zeros(self.n)
        self.rows.margins(g, np.ones(self.n), along)
        factored, shift = Factored(np.ascontiguousarray(Q.T)), 0.0
        s = factored.solve(-root * along[used])
        if self.free_bias:
            shifted = factored.solve(root)
            shift = -(g[-1] / self.rows.bias + root @ s) / (root @ shifted)  # numpy: 0 / 0 raises nothing
            s += shift * shifted
        a[used] = root * s
        p = -g - self.rows.transpose_product(a)
        if self.free_bias:
            p[-1] = shift / self.rows.bias
        return p

    def line_search(self, p: np.ndarray) -> float:
        """The t > 0 that minimises f(w + t p), exactly (paper's Section 4.4).

        phi'(t) is continuous and increasing, and for most losses piecewise linear, so that bracketed Newton steps reach
        its zero in finitely many steps.  No breakpoints are sorted; each step is one pass over z and dz.
        """
        self.rows.margins(p, self.y, self.dz)
        inner = self.regular(p)
        a, b = float(self.w @ inner), float(p @ inner)  # the regulariser's slope is a + t b
        low, high, t, slope_tol = 0.0, np.inf, 1.0, 0.0
        if self.line_search_share > 0.0:
            slope_tol = self.line_search_share * abs(self.along(0.0)[0] + a)
        for _ in range(100):
            slope, curvature = self.along(t).tolist()
            slope += a + t * b
            curvature += b
            if slope > 0.0:
                high = t
            else:
                low = t
            narrow = high < np.inf and high - low <= 1e-15 * high
            if not curvature > 0.0 or abs(slope) <= slope_tol or narrow:
                break
            new, near = t - slope / curvature, self.line_search_rtol * abs(t)
            if not (low < new < high or abs(new - t) <= near):  # t is an end of the bracket, not the zero
                new = 0.5 * (low + high) if high < np.inf else 2.0 * t
            if abs(new - t) <= near:
                break
            t = new
        return t

    def best_multiple(self, w: np.ndarray) -> float:
        """The t > 0 that minimises f(t w).  Sets the point to 0."""
        self.set_point(np.zeros(self.d))
        return self.line_search(w)

    def least_multiple(self, w: np.ndarray) -> tuple[float, float]:
        """The best multiple t of w and the problem's value there; t = 1 if w itself has a lower value.

        Where rows lie at a breakpoint the value rises steeply on both sides of t, and a rounding error in t matters.
        """
        t = self.best_multiple(w)
        margins = self.dz.copy()  # of w; `primal_value` may overwrite dz
        self.step(t, w)
        value = self.primal_value()
        self.w[:], self.z[:] = w, margins
        whole = self.primal_value()
        return (1.0, whole) if whole <= value else (t, value)
