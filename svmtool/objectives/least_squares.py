"""Least squares of the margins:  f(w) = 1/2 w'Rw + sum_i C_i (target_i - y_i x_i.w)^2, one quadratic."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svmtool import limits
from svmtool.data.row_storage import Rows
from svmtool.linalg.golub_kahan import GolubKahan
from svmtool.linalg.systems import Factored
from svmtool.objectives.base import Objective
from svmtool.objectives.squared_hinge import dual_bound


class LeastSquares(Objective):
    """f over `rows`; see Objective.  Every row is always active.  target: f8[n], None for all 1."""

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False, target: np.ndarray | None = None
    ):
        super().__init__(rows, y, cost, free_bias)
        self.target = np.ones(self.n) if target is None else target
        self._factor: Factored | None = None

    @cached_property
    def _edge(self) -> np.ndarray:
        return self.edge()

    def edge(self) -> np.ndarray:
        """sum_i 2 C_i x_i: the change of sum_i u_i x_i with a free bias."""
        return self.rows.transpose_product(2.0 * self.cost)

    def fitting_sums(self) -> np.ndarray:
        """Sums over the rows of 2 C, u, target y u, 2 C target y and u^2 / C, for slopes u."""
        signed, twice = self.target * self.y, 2.0 * self.cost
        return np.array([np.sum(twice), np.sum(self.u), signed @ self.u, signed @ twice, np.sum(self.u**2 / self.cost)])

    def sums(self) -> list[float]:
        xi = self.target - self.z
        np.multiply(self.cost, xi, out=self.u)
        loss = float(self.u @ xi)
        linear = 2.0 * float(self.u @ self.target)
        self.u *= self.y
        self.u *= -2.0
        first = self.active == 0
        self.c[:] = 2.0 * self.cost
        return [loss, float(self.n if first else 0), float(self.n), linear]

    def _set_sums(self, sums: list[float]) -> float:
        loss, changed, active, self._linear = sums
        self._note_change(changed, active)
        return loss

    def along(self, t: float) -> np.ndarray:
        weighted = 2.0 * self.cost * self.dz
        self._out[:] = -(weighted @ (self.target - self.z - t * self.dz)), weighted @ self.dz
        return self._out

    def gradient(self) -> tuple[float, np.ndarray]:
        f, g = super().gradient()
        if self.free_bias:
            self.bound = self._fitting_bound(g - self.regular(self.w))
        return f, g

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        # -g = sum alpha_i y_i x_i for alpha_i = 2 C_i (target_i - z_i); alpha_i^2 / 4 C_i is the row's loss
        return dual_bound(self._linear, float(g @ g), loss)

    def _free_bound(self) -> float:
        return 0.0  # `gradient` computes it

    def _fitting_bound(self, g: np.ndarray) -> float:
        """The dual value of the slopes at the best bias, where they sum to zero."""
        total, slopes, linear, signed, squares = self.fitting_sums().tolist()
        if not total:  # the only class has weight 0
            return 0.0
        t = slopes / total  # u - 2 t C are the slopes under that bias
        g = g - t * self._edge
        g[-1] = 0.0
        return dual_bound(t * signed - linear, float(g @ g), 0.25 * (squares - 2.0 * t * slopes))

    def _slopes_at_zero(self) -> np.ndarray:
        return -2.0 * self.cost * self.y * self.target

    def golub_kahan(self) -> GolubKahan:
        """Golub-Kahan steps from w, for primal and dual; `both` applies them.

        With r_i = sqrt(2 C_i), A has the rows r_i x_i and b the entries r_i y_i target_i.  A free bias is eliminated by
        projecting r out of b and of all columns of A.
        """
        self._root = np.sqrt(2.0 * self.cost)
        self._along_root = self._root / float(np.sqrt(self._root @ self._root))
        self._s = self._residual(self.w)
        return GolubKahan(self._forward, self._back, self.n, self.regular(self.w) - self._back(self._s))

    def whole_step(self) -> tuple[np.ndarray, np.ndarray]:
        """dw and ds of the step from w to the solution, after `golub_kahan`, by the n x n system (I + A A') s = b.

        Forming the matrix takes the products of n steps, and the memory of two n x n matrices.
        """
        if self._factor is None:
            H = np.eye(self.n)
            for k, unit in enumerate(np.eye(self.n)):
                limits.check()
                H[k] += self._forward(self._back(self._centred(unit)))
            self._factor = Factored(H)
        ds = self._factor.solve(self._forward(self.regular(self.w) - self._back(self._s)))
        return self._back(self._s + ds) - self.regular(self.w), ds

    def _centred(self, u: np.ndarray) -> np.ndarray:
        if self.free_bias:
            u -= float(self._along_root @ u) * self._along_root
        return u

    def _forward(self, v: np.ndarray) -> np.ndarray:
        u = np.empty(self.n)
        self.rows.margins(v, self._root, u)
        return self._centred(u)

    def _back(self, u: np.ndarray) -> np.ndarray:
        return self.regular(self.rows.transpose_product(self._root * u))

    def _residual(self, w: np.ndarray) -> np.ndarray:
        """b - A w."""
        return self._centred(self._root * self.y * self.target) - self._forward(w)

    def both(self, dw: np.ndarray, ds: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Set the point to w + dw with the best bias; returns f, the dual value at s + ds and that dual point."""
        w = self.regular(self.w) + dw
        if self.free_bias:
            self.rows.margins(w, self.y, self.z)
            xi = self.y * (self.target - self.z)
            w[-1] = float(self.cost @ xi) / float(np.sum(self.cost)) / self.rows.bias
        self.set_point(w)
        u = self._root * self._centred(self._s + ds)
        v, linear = self.regular(self.rows.transpose_product(u)), float((self.y * self.target) @ u)
        bound = dual_bound(linear, float(v @ v), 0.25 * float(np.sum(u * u / self.cost)))
        return self.value(), bound, self.y * u
