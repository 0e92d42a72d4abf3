"""Whose turn it is in a run of l1.py: that of proximal Newton steps, or of the method of multipliers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svmtool.problem.l1_dual import L1Dual
from svmtool.problem.l1_objective import L1Objective

PATIENCE, HALVED = 800.0, 0.5  # work in which a method that brings the gap to that share of what it was may go on, ...
LONGER = 4.0  # ... times this where both have had their turn


class Turns:
    """When the method that runs gives way to the other one.

    wide: whether there is no matrix; with one the method of multipliers runs only where features are of like size.
    """

    def __init__(self, objective: L1Objective, wide: bool):
        self._objective, self._wide = objective, wide
        self._patience, self._since, self._gap = PATIENCE, 0.0, np.inf  # since which work the gap is not half of this

    @cached_property
    def possible(self) -> bool:
        """Whether the method of multipliers may have its turn."""
        o = self._objective
        return L1Dual.possible(o) and (self._wide or L1Dual.features_alike(o))

    def over(self, gap: float, work: float, at_once: bool = False) -> bool:
        """Whether the turn is over: the gap was not halved in the work that a turn has, or at_once."""
        if gap <= HALVED * self._gap:
            self._since, self._gap = work, gap
        if work - self._since < self._patience and not at_once:
            return False
        self._since, self._gap = work, gap
        return True

    def lengthen(self) -> None:
        """Both methods have had their turn: the next ones are longer."""
        self._patience *= LONGER
