"""Row updates of ADMM (Algorithm 2 of the ALM paper): e, then (w, b), then the multipliers.

Letters as in augmented.py and solvers/alm_inexact.py: v = y e is the slack of a row after the e-step,
xi = target - z its slack at w; the constraint is r = xi - v = 0.  Methods return sums over rows.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.augmented import Augmented


class Admm(Augmented):
    """phi over `rows` with the steps of ADMM; see Augmented."""

    def begin(self) -> None:
        """Set the first e from w."""
        self._v = self.target - self.z
        self._sums_of_points = [np.zeros(self.n), np.zeros(self.n)]

    def cost_gram(self) -> np.ndarray:
        """sum_i C_i x_i x_i' (d x d; only the upper triangle is meaningful)."""
        upper = np.zeros((self.d, self.d))
        self.rows.add_gram(self.cost, upper)
        return upper

    def cost_diagonal(self) -> np.ndarray:
        """sum_i C_i x_ij^2, length d."""
        return self.rows.diagonal(self.cost)

    def cost_product(self, v: np.ndarray) -> np.ndarray:
        """sum_i C_i (x_i.v) x_i, length d."""
        return self.rows.curvature_product(self.cost, v)

    def curvature_along(self, p: np.ndarray) -> float:
        """sum_i C_i (x_i.p)^2; p is the direction of the next step."""
        self.rows.margins(p, self.y, self.dz)
        return float(self.cost @ np.square(self.dz))

    def curvature_product_of_step(self) -> np.ndarray:
        """sum_i C_i (x_i.p) x_i, length d."""
        return self.rows.transpose_product(self.cost * self.y * self.dz)

    def step_rows(self, s: float, relaxed: float) -> np.ndarray:
        """Update the margins to w - s p, after gradient() made the step in e; relaxed: the over-relaxation factor.

        Returns sum_i C_i r_i^2 and sum_i C_i (v_i - old v_i)^2, f8[2].
        """
        self.dz *= -s
        self.z += self.dz
        apart = (self.slopes() - self.beta) / self.sigma  # xi - v at the old w
        self._relaxed_residual = relaxed * apart - self.dz
        apart -= self.dz
        residual = float(self.cost @ np.square(apart))
        v = self.target - self.z - apart
        moved = float(self.cost @ np.square(v - self._v))
        self._v = v
        return np.array([residual, moved])

    def multiply(self, sigma: float) -> None:
        """Multiplier step (Eq. 9): beta += sigma r."""
        self.beta += sigma * self._relaxed_residual

    def sizes(self) -> np.ndarray:
        """sum_i C_i v_i^2, sum_i C_i xi_i^2 and sum_i C_i beta_i^2, f8[3]."""
        return np.array(
            [
                float(self.cost @ np.square(self._v)),
                float(self.cost @ np.square(self.target - self.z)),
                float(self.cost @ np.square(self.beta)),
            ]
        )

    def add_point(self) -> None:
        """Add the current margins and multipliers to the mean."""
        for total, x in zip(self._sums_of_points, (self.z, self.beta), strict=True):
            total += x

    def drop_points(self) -> None:
        """Start a new mean."""
        for total in self._sums_of_points:
            total[:] = 0.0

    def go_to_mean(self, count: int) -> None:
        """Set margins and multipliers to the mean of `count` points."""
        self._before = self.z.copy(), self.beta.copy()
        for x, total in zip((self.z, self.beta), self._sums_of_points, strict=True):
            np.divide(total, count, out=x)

    def restore_point(self) -> None:
        """Restore margins and multipliers from before `go_to_mean`."""
        self.z[:], self.beta[:] = self._before
