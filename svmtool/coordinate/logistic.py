"""Dual coordinate descent for the logistic loss over sparse rows, fast for text, where d exceeds n.

    max over 0 < alpha_i < C_i of  - 1/2 |sum_i alpha_i y_i x_i|^2 - sum_i C_i (b_i log b_i + (1 - b_i) log(1 - b_i))

with b_i = alpha_i / C_i.  The variables are the logits t_i = log(b_i / (1 - b_i)): b_i keeps full precision near both
bounds, and a row's problem needs exp only.
Paper: Yu, Huang and Lin, Dual coordinate descent methods for logistic regression and maximum entropy models, Machine
Learning 85 (2011) 41-75, Algorithm 5.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss import logistic_loops as loops
from svmtool.coordinate.hinge import MAX_CHUNK_ROWS, MEMORY_CHECK_CHUNKS, chunk_of, random_state
from svmtool.data.csr import CsrRows

START_ALPHA, MIN_LOGIT = 1e-8, 7.0  # initial alpha_i at w = 0, smaller where C_i is small


class LogisticCoordinateDescent:
    """Dual coordinate descent from w = 0, or from the logits `t` (f8[n], overwritten); a regularised bias or none.

    `w` (length d) = sum alpha_i y_i x_i is kept up to date.  After `run`: steepest, the largest absolute derivative of
    the dual during the epoch; gap: the approximate difference of primal and dual.
    """

    def __init__(self, rows: CsrRows, y: np.ndarray, cost: np.ndarray, seed: int, t: np.ndarray | None = None):
        self.rows, self.y, self.cost, self.count = rows, y, cost, 0
        n, self.chunk = rows.n, MAX_CHUNK_ROWS if rows.mapped is None else chunk_of(rows)
        self.t = -np.maximum(np.log(cost / START_ALPHA), MIN_LOGIT) if t is None else t
        self._loss, self._curvature, self._u = 0.0, np.empty(n), np.empty(n)
        self._found = np.zeros(2)
        self.steepest = self.gap = np.inf
        self.w = rows.transpose_product(self.alpha() * y)
        self._epoch = loops.logistic_epoch.bind(
            *rows.csr_arrays, y, cost, rows.square_norms(), self.t, self.w,
            np.empty(n // self.chunk + 1, np.int64), random_state(n, seed)[1:], self._found,
        )  # fmt: skip

    def run(self) -> None:
        """Run one epoch over all rows."""
        self.count += 1
        for first, last in self.rows.pieces(0, -(-self.rows.n // self.chunk), MEMORY_CHECK_CHUNKS):
            self._epoch(self.rows.bias, self.chunk, first, last)
        self.steepest, self.gap = self._found.tolist()

    def alpha(self) -> np.ndarray:
        """Return the dual point, length n."""
        n = len(self.t)
        self._loss = loops.logistic_state(-self.t, self.cost, self.y, self._u, self._curvature, 0, n)
        return -self._u * self.y

    def dual_value(self) -> float:
        """Return the dual's value at alpha: a row's conjugate is alpha_i t_i - C_i log(1 + exp(t_i))."""
        alpha = self.alpha()
        return self._loss - float(alpha @ self.t) - 0.5 * float(self.w @ self.w)
