"""The logistic loss, LIBLINEAR's -s 0 and 7:  f(w) = 1/2 w'Rw + sum_i C_i log(1 + exp(-y_i x_i.w))."""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss import logistic_loops as loops
from svmtool.objectives.base import Objective

ZERO_MARGIN = 750.0  # log(1 + exp(-z)) is 0 from this margin on


class Logistic(Objective):
    """The logistic loss over `rows`; see Objective.  Every row is active, and all curvatures change with each step.

    After gradient(): slopes u, whose multipliers alpha_i = -u_i y_i in (0, C_i) are a dual point.
    """

    line_search_rtol = 1e-2  # f is not piecewise quadratic, and an exact search would gain little

    def _prepare(self) -> None:
        super()._prepare()
        self._state = loops.logistic_state.bind(self.z, self.cost, self.y, self.u, self.c)
        self._line_search_loop = loops.logistic_line_search.bind(self.z, self.dz, self.cost, self._out)

    def sums(self) -> list[float]:
        return [self._state(0, self.n)]

    def _set_sums(self, sums: list[float]) -> float:
        self.changed = self.active = self.n
        self._gram = None
        return sums[0]

    def along(self, t: float) -> np.ndarray:
        self._line_search_loop(t, 0, self.n)
        return self._out

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        # D(alpha) at the slopes' multipliers, with conjugates -alpha_i z_i - loss_i, is f - |grad f|^2 / 2
        g = g + self.w
        return 0.5 * float(self.w @ self.w) + loss - 0.5 * float(g @ g)

    def balanced_sums(self, u: np.ndarray) -> list[float]:
        return [self.conjugates(np.abs(u))]

    def _balanced_bound(self, g: np.ndarray, sums: list[float]) -> float:
        return max(-sums[0] - 0.5 * float(g @ g), 0.0)

    def conjugates(self, alpha: np.ndarray) -> float:
        """sum_i C_i (b_i log b_i + (1 - b_i) log(1 - b_i)),  b_i = alpha_i / C_i in [0, 1]."""
        b = alpha / self.cost
        rest = 1.0 - b
        return float(self.cost @ (b * np.log(np.maximum(b, 1e-300)) + rest * np.log(np.maximum(rest, 1e-300))))

    def value_at_zero(self) -> float:
        return float(np.log(2.0) * np.sum(self.cost))

    def _slopes_at_zero(self) -> np.ndarray:
        return -0.5 * self.cost * self.y

    def steepest_dual(self, g: np.ndarray) -> float:
        """The largest absolute derivative of the dual at the multipliers of w, where f has the gradient g.

        For alpha_i it is log(alpha_i / (C_i - alpha_i)) + y_i x_i.v with v = sum_j alpha_j y_j x_j = w - g.  The
        logarithm is -z_i, so that it equals -y_i x_i.g.
        """
        self.rows.margins(g, self.y, self.dz)
        return float(np.abs(self.dz).max(initial=0.0))
