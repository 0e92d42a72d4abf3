"""The best primal and dual points so far of a method that improves them alternately."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.objectives.duality import relative_gap

if TYPE_CHECKING:
    from svmtool.objectives.augmented import Augmented
    from svmtool.objectives.l1.hinge import L1Columns


class Best:
    """The best weights and the best dual point of a run so far, which need not come from the same step."""

    def __init__(self, objective: Augmented | L1Columns):
        self.objective = objective
        self.w, self.alpha = np.zeros(objective.d), objective.no_dual_point()
        self.primal, self.dual = np.inf, 0.0  # zero weights are no result: they tell no rows apart

    def update(self, primal: float, w: np.ndarray, dual: float, alpha: np.ndarray) -> None:
        """Store weights and a dual point with these values where they are better; both are copied."""
        if primal < self.primal:
            self.primal, self.w[:] = primal, w
        if dual > self.dual:
            self.dual, self.alpha = dual, alpha.copy()

    @property
    def gap(self) -> float:
        return relative_gap(self.primal, self.dual)
