"""Least squares of the margins:  f(w) = 1/2 w'Rw + sum_i C_i (target_i - y_i x_i.w)^2, one quadratic."""

from __future__ import annotations

import numpy as np

from svmtool.problem.objective import Objective
from svmtool.problem.rows import Rows
from svmtool.problem.squared_hinge import dual_bound


class LeastSquares(Objective):
    """f over `rows`; see Objective.  Every row has curvature, everywhere.  target: f8[n], None for 1 everywhere."""

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False, target: np.ndarray | None = None
    ):
        super().__init__(rows, y, cost, free_bias)
        self.target = np.ones(self.n) if target is None else target

    def _prepare(self) -> None:
        super()._prepare()
        self._edge = self.rows.transpose_product(2.0 * self.cost) if self.free_bias else None

    def _classify(self) -> float:
        xi = self.target - self.z
        np.multiply(self.cost, xi, out=self.u)
        loss = float(self.u @ xi)
        self.u *= self.y
        self.u *= -2.0
        first = self.active == 0
        self.c[:] = 2.0 * self.cost
        self._note_change(float(self.n if first else 0), float(self.n))
        return loss

    def _along(self, t: float) -> None:
        weighted = 2.0 * self.cost * self.dz
        self._out[:] = -(weighted @ (self.target - self.z - t * self.dz)), weighted @ self.dz

    def gradient(self) -> tuple[float, np.ndarray]:
        f, g = super().gradient()
        self.bound = self._bound(g - self.regular(self.w))
        return f, g

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        return 0.0  # `gradient` asks once the bias has been balanced

    def _bound(self, g: np.ndarray) -> float:
        """The dual value of the slopes; under a free bias those of the bias that fits best, whose sum is zero."""
        u = self.u
        if self._edge is not None:
            t = float(np.sum(u)) / float(np.sum(2.0 * self.cost))
            u, g = u - t * 2.0 * self.cost, g - t * self._edge
            g[-1] = 0.0
        return dual_bound(-float((self.target * self.y) @ u), float(g @ g), 0.25 * float(np.sum(u * u / self.cost)))

    def value_at_zero(self) -> float:
        """f(0)."""
        return float(self.cost @ np.square(self.target))

    def gradient_at_zero(self) -> float:
        """|grad f(0)|."""
        g = self.rows.transpose_product(-2.0 * self.cost * self.y * self.target)
        return float(np.sqrt(g @ g))
