"""The mean of the iterates of inexact SVM-ALM, from which it restarts; see alm_inexact.py, point 5."""

from __future__ import annotations

import numpy as np

from svmtool.objectives.admm import Admm
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared.incumbent import Best

# iterations after a restart when the mean is examined, and between evaluations
FIRST_EVALUATION, EVALUATION_GROWTH = 20, 1.5


class Average:
    """The mean of the points since the last restart, from which to go on where its gap is less than that of the last.

    With few rows between their ends the points circle about the answer.  All that a point consists of is linear in
    (w, beta): a mean costs no product, only the check of it does.
    """

    def __init__(self, o: Admm, left: np.ndarray):
        self.o = o
        self._point = o.w, left  # what of it is no row's; `o` has the rest
        self._sums = [np.zeros_like(x) for x in self._point]
        self._count, self._evaluation_due = 0, FIRST_EVALUATION

    def add(self) -> None:
        """Take the present point into the mean."""
        for total, x in zip(self._sums, self._point, strict=True):
            total += x
        self.o.add_point()
        self._count += 1

    @property
    def due(self) -> bool:
        """Whether it is time for an evaluation."""
        return self._count >= self._evaluation_due

    def restart(self, best: Best) -> np.ndarray | None:
        """Go to the mean and return the gradient there if it is better than the present point; else None."""
        o = self.o
        here = relative_gap(o.primal, o.bound)
        kept = [x.copy() for x in self._point]
        for x, total in zip(self._point, self._sums, strict=True):
            np.divide(total, self._count, out=x)
        o.go_to_mean(self._count)
        _, g = o.gradient()
        best.keep()
        if relative_gap(o.primal, o.bound) < here:
            for total in self._sums:
                total[:] = 0.0
            o.forget_points()
            self._count, self._evaluation_due = 0, FIRST_EVALUATION
            return g
        for x, old in zip(self._point, kept, strict=True):
            x[:] = old
        o.go_back()
        o.gradient()
        self._evaluation_due = int(EVALUATION_GROWTH * self._count) + 1
        return None
