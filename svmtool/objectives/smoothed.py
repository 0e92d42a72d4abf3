"""The smoothed functions of the NESVM paper, with bounds of the smoothing error.

    F_mu(w) = R_mu(w) + sum_i C_i h_mu(xi_i),   xi_i = target_i - y_i x_i.w

hinge (Eqs. 5, 6, 10):  u_i = median{xi_i / (mu s_i), 0, 1},  h_mu = u_i xi_i - mu/2 s_i u_i^2,  s_i = |x_i|_inf
least squares:          h = xi_i^2, which needs no smoothing
R = |w|_1 (Eq. 24):     v_j = median{w_j / mu, -1, 1},  v_j w_j - mu/2 v_j^2;  R = 1/2 |w|^2 is smooth

Eq. 10 prints the threshold 1 - mu where it must be 1 - mu s_i.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.objectives.duality import balanced
from svmtool.objectives.squared_hinge import dual_bound
from svmtool.objectives.task import Task

POWER_STEPS, POWER_RTOL = 1000, 1e-4  # steps and tolerance of the power iteration, which gives a lower bound
POWER_MARGIN = 1.05  # factor that makes it an upper bound


class Smoothed:
    """F_mu of a task; loss: "hinge" or "least squares"; l1: whether R is |w|_1.

    After gradient(w): value F_mu(w), primal F(answer), bound <= min F, smooth_bound <= min F_mu, alpha (f8[n], the dual
    point with value `bound`), answer (w, with small weights set to zero where that does not increase F).
    """

    def __init__(self, task: Task, loss: str, l1: bool, mu: float):
        self.task, self.hinge, self.l1, self.mu = task, loss == "hinge", l1, mu
        self.n, self.d = task.rows.n, task.rows.d
        self.target = np.ones(self.n) if task.target is None else task.target
        self.regular = np.ones(self.d)
        if task.free_bias:
            self.regular[-1] = 0.0
        self.width = task.rows.largest_entries() if self.hinge else np.ones(self.n)  # type: ignore[attr-defined]
        self.width[self.width == 0.0] = 1.0
        self.z = np.empty(self.n)

    def lipschitz(self) -> float:
        """L_mu: the largest eigenvalue of X' diag(C_i / (mu s_i)) X (least squares: 2 C_i), and that of R_mu.

        Replaces (48) and (52), which bound it by n times the largest row, and (56), in which the sum is missing.
        """
        c = self.task.cost / (self.mu * self.width) if self.hinge else 2.0 * self.task.cost
        own = 1.0 / self.mu if self.l1 else 1.0
        v, largest = 1.0 + np.arange(self.d) % 7, 0.0
        for _ in range(POWER_STEPS):
            size = float(np.sqrt(v @ v))
            if size == 0.0 or limits.is_ended():
                break
            v = self.task.rows.curvature_product(c, v / size)
            found = float(np.sqrt(v @ v))
            if found <= largest * (1.0 + POWER_RTOL):
                largest = max(found, largest)
                break
            largest = found
        return own + POWER_MARGIN * largest

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """The gradient of F_mu at w (f8[d]); sets the attributes listed above."""
        task, mu = self.task, self.mu
        task.rows.margins(w, task.y, self.z)
        xi = self.target - self.z
        if self.hinge:
            u = np.clip(xi / (mu * self.width), 0.0, 1.0)
            a = task.cost * u
            smoothing = 0.5 * mu * float(a @ (self.width * u))
            loss = float(task.cost @ np.maximum(xi, 0.0))
            value = float(a @ xi) - smoothing
        else:
            a, smoothing = 2.0 * task.cost * xi, 0.0
            value = loss = 0.5 * float(a @ xi)
        column_sums = task.rows.transpose_product(a * task.y)
        inner = self.regular * w
        if self.l1:
            v = np.clip(inner / mu, -1.0, 1.0)
            slope, self.value = v, value + float(v @ inner) - 0.5 * mu * float(v @ v)
        else:
            slope, self.value = inner, value + 0.5 * float(inner @ inner)
        self.answer, self.primal = w.copy(), loss + self._size(inner)
        if self.l1:
            self._try_zeros(np.abs(slope) < 1.0)
        self._bounds(a, column_sums)
        return slope - column_sums

    def _size(self, inner: np.ndarray) -> float:
        return float(np.sum(np.abs(inner))) if self.l1 else 0.5 * float(inner @ inner)

    def _try_zeros(self, small: np.ndarray) -> None:
        """Set weights inside the smoothed part of |w_j| to zero unless F increases."""
        w = np.where(small & (self.regular > 0.0), 0.0, self.answer)
        z = np.empty(self.n)
        self.task.rows.margins(w, self.task.y, z)
        primal = float(self.task.cost @ np.maximum(self.target - z, 0.0)) + self._size(self.regular * w)
        if primal <= self.primal:
            self.answer, self.primal = w, primal

    def _bounds(self, a: np.ndarray, column_sums: np.ndarray) -> None:
        task = self.task
        if task.free_bias:
            if self.hinge:
                a = balanced(a, task.y)
            else:
                a = a - task.cost * task.y * (float(a @ task.y) / float(np.sum(task.cost)))
            column_sums = task.rows.transpose_product(a * task.y)
            column_sums[-1] = 0.0
        linear, square = float(self.target @ a), float(column_sums @ column_sums)
        blur = 0.5 * self.mu * float(a @ (self.width * a / task.cost)) if self.hinge else 0.0
        s = 1.0
        if self.l1:
            s = 1.0 / max(1.0, float(np.abs(column_sums).max(initial=0.0)))
            self.bound = s * linear
            self.smooth_bound = self.bound - s * s * (blur + 0.5 * self.mu * square)
        elif self.hinge:
            s = min(1.0, linear / square) if square > 0.0 else 1.0
            self.bound = s * linear - 0.5 * s * s * square
            self.smooth_bound = linear - 0.5 * square - blur
        else:
            self.bound = self.smooth_bound = dual_bound(linear, square, 0.25 * float(np.sum(a * a / task.cost)))
        self.alpha = s * a
