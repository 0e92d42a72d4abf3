"""The squared hinge, LIBLINEAR's -s 1 and 2:  f(w) = 1/2 w'Rw + sum_i C_i max(0, target_i - y_i x_i.w)^2.

Targets are 1 there; two terms for each row give the tube of -s 11 and 12 (training/reductions/regression.py).
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss import hinge_loops as loops
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import FACTOR_NS, mirror, nonnegative, solve_positive
from svmtool.objectives.base import Objective
from svmtool.tolerances import GRAM_BELOW


def dual_bound(total: float, square: float, loss: float) -> float:
    """max over s of D(s alpha), for sum target alpha = total, |sum alpha y x|^2 = square, sum alpha^2 / 4C = loss."""
    total, quadratic = max(total, 0.0), square + 2.0 * loss
    return 0.5 * total * (total / quadratic) if quadratic > 0 else 0.0  # total^2 would overflow first


class SquaredHinge(Objective):
    """The squared hinge over `rows`; see Objective.  target: f8[n], None for 1 everywhere."""

    piecewise_quadratic = True

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False, target: np.ndarray | None = None
    ):
        super().__init__(rows, y, cost, free_bias)
        self.target = np.ones(1) if target is None else target  # a single number saves a vector
        self.face_alpha: np.ndarray | None = None  # best dual point of `face`, with value `face_bound`

    def _prepare(self) -> None:
        super()._prepare()
        self._counts = np.zeros(3)
        terms = self.z, self.target, self.cost, self.y
        self._state = loops.hinge2_state.bind(*terms, self.u, self.c, self._change, self._counts)
        self._line_search_loop = loops.hinge2_line_search.bind(self.z, self.dz, self.target, self.cost, self._out)

    def sums(self) -> list[float]:
        return [self._state(0, self.n), *self._counts.tolist()]

    def _set_sums(self, sums: list[float]) -> float:
        loss, changed, active, self._total = sums
        self._note_change(changed, active)
        return loss

    def along(self, t: float) -> np.ndarray:
        self._line_search_loop(t, 0, self.n)
        return self._out

    def breakpoint_terms(self) -> tuple:
        return self.target, np.zeros(1), 2.0, np.inf, 0.0

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        # -g = sum alpha_i y_i x_i for alpha_i = 2 C_i max(0, target_i - z_i)
        return dual_bound(self._total, float(g @ g), loss)

    def balanced_sums(self, u: np.ndarray) -> list[float]:
        return [-float((self.target * self.y) @ u), 0.25 * float(np.sum(u * u / self.cost))]

    def _balanced_bound(self, g: np.ndarray, sums: list[float]) -> float:
        total, loss = sums
        return dual_bound(total, float(g @ g), loss)

    def value_at_zero(self) -> float:
        return float((self.cost * np.square(np.maximum(self.target, 0.0))).sum())

    def _slopes_at_zero(self) -> np.ndarray:
        return -2.0 * self.cost * self.y * np.maximum(self.target, 0.0)

    @property
    def has_dual_system(self) -> bool:
        """Whether dual systems are possible: the rows are in this process, and the bias is regularised."""
        return self.rows.have_kernel and not self.free_bias

    @property
    def dual_system_cheaper(self) -> bool:
        return self.has_dual_system and 0 < self.active < self.d and self.face_cost < FACTOR_NS * float(self.d) ** 3

    def by_rows(self, g: np.ndarray) -> np.ndarray:
        return self.face(self.active_rows()) - self.w

    def face(self, used: np.ndarray) -> np.ndarray:
        """The minimiser of 1/2 |w|^2 + sum over rows `used` (i8) of C_i (target_i - y_i x_i.w)^2 by the dual system.

        w = sum a_i y_i x_i with (Q + D) a = target, Q_ij = y_i y_j x_i.x_j, D_ii = 1 / (2 C_i): len(used) unknowns.
        Of at most GRAM_BELOW rows the minimiser of f: all of them are used, and a >= 0.
        """
        few, a = self.n <= GRAM_BELOW, np.zeros(self.n)
        used, Q = self.dual_matrix(np.arange(self.n) if few else used, self.y, 0.5 / self.cost)
        Q = np.ascontiguousarray(Q.T)
        if few:  # where rows are fewer than features most of them lie near the margin: steps on a face are short
            start = self.dual_point()[used]
            part = nonnegative(mirror(Q), self._targets(used), start, start > 0.0)
        else:
            part = solve_positive(Q, self._targets(used))
        a[used] = part
        w = self.rows.transpose_product(self.y * a)
        feasible = w
        if part.min(initial=0.0) < 0.0:
            np.maximum(a, 0.0, out=a)
            feasible = self.rows.transpose_product(self.y * a)
        self.keep_dual_point(a, feasible)
        return w

    def keep_dual_point(self, alpha: np.ndarray, w: np.ndarray) -> None:
        """Keep the best multiple of alpha >= 0 if it is the best dual point so far; w = sum alpha_i y_i x_i.

        Where 2 C_i |x_i| |w| eps is not small relative to alpha_i, `dual_point` is inaccurate and this is not.
        """
        total = float(np.sum(alpha) * self.target[0] if len(self.target) == 1 else self.target @ alpha)
        quadratic = float(w @ w) + 0.5 * float(np.sum(alpha * alpha / self.cost))
        bound = dual_bound(total, quadratic, 0.0)
        if bound > self.face_bound and quadratic > 0.0:  # 0 where squares of tiny multipliers underflow
            self.face_bound, self.face_alpha = bound, alpha * (total / quadratic)

    def _targets(self, chosen: np.ndarray) -> np.ndarray:
        return np.full(len(chosen), self.target[0]) if len(self.target) == 1 else self.target[chosen]

    def dual_point(self) -> np.ndarray:
        """alpha_i = 2 C_i max(0, target_i - z_i), f8[n]: the dual point at w (paper's Section 4.7)."""
        return 2.0 * self.cost * np.maximum(self.target - self.z, 0.0)

    def projected_range(self, alpha: np.ndarray) -> float:
        """Projected-gradient range of the dual at alpha (f8[n]), or its distance from zero: LIBLINEAR's measure."""
        z = np.empty(self.n)
        self.rows.margins(self.rows.transpose_product(alpha * self.y), self.y, z)
        z += 0.5 * alpha / self.cost - self.target
        np.minimum(z, 0.0, out=z, where=alpha <= 0.0)
        return float(z.max(initial=0.0) - z.min(initial=0.0))
