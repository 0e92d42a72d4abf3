"""Results of kernel solvers, and the decision functions that they stand for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool.objectives.result import SolverResult


class KernelResult(SolverResult):
    """Result of a solver for a KernelProblem or a LeastSquaresSvc.

    alpha      dual point, f8[m]
    rho, r     multipliers of the equalities, see kernels/problems.py
    objective  1/2 a'Qa + p'a
    gap        relative gap according to the solver
    gradient   Qa + p of ALL variables, f8[m]
    primal     primal value found by the certifier, once it has run
    replaced   whether rho and r are not the solver's, because with those P was above P(0)
    """

    alpha: np.ndarray
    primal, replaced = -np.inf, False

    def __init__(
        self, alpha: np.ndarray, rho: float, r: float, objective: float, gap: float, iterations: int, status: Any,
        gradient: np.ndarray,
    ):  # fmt: skip
        super().__init__(alpha, status, iterations, [])
        self.rho, self.r, self.objective, self.gap, self.gradient = rho, r, objective, gap, gradient


class Answer(NamedTuple):
    """A result as a decision function.

    coef f8[n] and rho; objective, and the root of `scale`, by which the program's value becomes it; bounded: how many
    coef are as large as they may be; says: the line that LIBSVM prints about it, or nothing; doubt: what the user must
    know.
    """

    coef: np.ndarray
    rho: float
    objective: float
    root: float
    bounded: int
    says: str
    doubt: str = ""

    @property
    def scale(self) -> float:
        """What a value of the program is multiplied by."""
        return self.root * self.root

    def worth(self, value: float) -> float:
        """A value of the program as one of the answer: the scale may be beyond the numbers where both are not."""
        return self.root * value * self.root
