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

    coef, rho  f8[n]; the decision value of x is sum_i coef_i K(x_i, x) - rho
    objective  the value of the programme times `scale`; root: the square root of `scale`
    bounded    number of coef at their bounds
    says       the line that LIBSVM prints about it, or empty
    doubt      a warning for the user, or empty
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
        """The factor from a value of the programme to the objective."""
        return self.root * self.root

    def worth(self, value: float) -> float:
        """Scale a value of the programme; works also where `scale` itself overflows."""
        return self.root * value * self.root
