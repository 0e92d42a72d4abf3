"""Chooses the next method of proximal_newton.py: proximal Newton steps or the method of multipliers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svmtool.objectives.l1.dual import L1Dual
from svmtool.objectives.l1.objective import L1Objective

PATIENCE, HALVED = 800.0, 0.5  # a method goes on while it brings the gap to that share of what it was within this work
LONGER = 4.0  # PATIENCE grows by this factor each time that both methods have run


class Turns:
    """When the run changes from one method to the other.

    wide: whether there is no matrix; with one the method of multipliers runs only where features are of like size.
    """

    def __init__(self, objective: L1Objective, wide: bool):
        self._objective, self._wide = objective, wide
        self._patience, self._since, self._gap = PATIENCE, 0.0, np.inf  # since which work the gap is not half of this

    @cached_property
    def possible(self) -> bool:
        """Whether the method of multipliers can be used."""
        o = self._objective
        return L1Dual.possible(o) and (self._wide or L1Dual.features_alike(o))

    def over(self, gap: float, work: float, at_once: bool = False) -> bool:
        """Whether the other method is next: the gap was not halved within the work that one may take, or at_once."""
        if gap <= HALVED * self._gap:
            self._since, self._gap = work, gap
        if work - self._since < self._patience and not at_once:
            return False
        self._since, self._gap = work, gap
        return True

    def lengthen(self) -> None:
        """Both methods have run: each may take more work from now on."""
        self._patience *= LONGER
