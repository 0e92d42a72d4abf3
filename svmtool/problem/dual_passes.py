"""Dual coordinate passes over sparse rows: the "inexpensive method" of the MFN paper's Section 4.1.

They are what wins on text, where d exceeds n (Hsieh et al., ICML 2008).  The
dual point has length n and therefore lives here; solvers see w and scalars.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import dcd_loops, hinge_loops
from svmtool.problem.objective import SquaredHinge
from svmtool.problem.rows import CsrRows

# What work costs, in nanoseconds on one core of 2024; only their ratios matter.
VISIT = 1.3  # a non-zero in a coordinate pass
INNER = 0.4  # a non-zero of an inner product of rows, half of them by symmetry
FACTOR, COPY = 0.02, 10.0  # a factorisation: per m^3 and per m^2
NEWTON_STEPS = 4  # usual from a good dual point
PATIENCE = 0.2  # share of the Newton steps' cost that passes may take first
CHUNK = 16  # neighbouring rows visited together


class DualPasses:
    """Dual coordinate descent on an objective with a regularised bias, started from the objective's w.

    `w` (length d) = sum alpha_i y_i x_i is kept up to date.
    """

    @staticmethod
    def possible(objective: SquaredHinge) -> bool:
        return isinstance(objective.rows, CsrRows) and not objective.free_bias and bool(np.all(objective.cost > 0))

    def __init__(self, objective: SquaredHinge, seed: int):
        self.objective = objective
        rows = objective.rows
        assert isinstance(rows, CsrRows)
        self.n = rows.n
        self.count = 0  # passes so far
        self.row_length = rows.nnz / max(self.n, 1)
        self.alpha = np.zeros(self.n)
        self.w = np.zeros(rows.d)
        if np.any(objective.w):
            self._out = np.zeros(3)
            hinge_loops.hinge2_dual_terms(objective.z, objective.cost, objective.y, self.alpha, self._out, 0, self.n)
            self.w[:] = rows.transpose_product(self.alpha * objective.y)
        self.diagonal = 0.5 / objective.cost
        self.square_norms = rows.square_norms()
        self.active, self._chunks = np.arange(self.n), np.empty(self.n // CHUNK + 1, np.int64)
        self.limits = np.array([np.inf, 0.0, 0.0])
        self.state = np.array([self.n, 88172645463325252 ^ (seed * 2654435761 % 2**63)], np.uint64)
        self._pass = dcd_loops.dcd_pass.bind(
            rows.indptr, rows.indices, rows.values, objective.y, self.diagonal, self.square_norms,
            self.alpha, self.w, self.active, self._chunks, self.limits, self.state,
        )  # fmt: skip

    @property
    def complete(self) -> bool:
        """Whether the last pass went over all rows, none shrunk away."""
        return int(self.state[0]) == self.n

    @property
    def spread(self) -> float:
        """How far the projected gradients of the last pass lie apart or from zero."""
        _, largest, smallest = self.limits.tolist()
        return max(largest - smallest, abs(largest), abs(smallest)) if largest >= smallest else 0.0

    def run(self) -> float:
        """One pass over the rows not shrunk away; rows at zero with a clearly positive gradient leave.

        Returns about what it cost.
        """
        self.count += 1
        cost = float(self.state[0]) * self.row_length * VISIT
        self._pass(self.objective.rows.bias, CHUNK)
        largest = float(self.limits[1])
        self.limits[0] = largest if largest > 0 else np.inf
        return cost

    def enough(self, spent: float, most: int) -> bool:
        """Whether passes that cost `spent` in all should give way to Newton steps from the rows' side.

        Never where more than `most` rows carry weight: the system would be too large.
        """
        m = float(np.count_nonzero(self.alpha))
        if m > most:
            return False
        newton = NEWTON_STEPS * (FACTOR * m**3 + COPY * m * m) + INNER * m * m * self.row_length
        return spent > PATIENCE * newton

    def restore(self) -> None:
        """Let all rows take part again."""
        self.active[:] = np.arange(self.n)
        self.state[0] = self.n
        self.limits[0] = np.inf

    def scale(self, t: float) -> None:
        """Go to t times the dual point, t >= 0."""
        self.alpha *= t
        self.w *= t

    def dual_value(self) -> float:
        """D(alpha) = sum alpha - 1/2 |w|^2 - 1/2 sum alpha_i^2 / (2 C_i)."""
        a = self.alpha
        return float(np.sum(a)) - 0.5 * float(self.w @ self.w) - 0.5 * float(self.diagonal @ (a * a))
