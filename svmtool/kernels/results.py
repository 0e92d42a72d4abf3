"""Results of kernel solvers: their gaps (certify/kernel.py derives them), and the decision functions they stand for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool.objectives.task import SolverResult


class KernelResult(SolverResult):
    """Result of a solver for a KernelProblem or a LeastSquaresSvc.

    alpha      dual point, f8[m]
    rho, r     multipliers of the equalities, see kernels/problems.py; without slack rho is the w.phi(x) that the
               stopping rule bounds
    objective  1/2 a'Qa + p'a
    gap        relative gap according to the solver
    gradient   Qa + p of ALL variables, f8[m]
    primal     primal value found by the certifier, once it has run
    zero       one-class, whether w is 0 up to round-off
    replaced   whether rho and r are not the solver's, because with those P was above P(0)
    plane      without slack, the plane that the certifier found (certify/one_class.py)
    dual_point a result of the same run with a larger dual value, if there is one
    """

    alpha: np.ndarray
    primal, replaced, zero, plane = -np.inf, False, False, None
    dual_point: KernelResult | None = None

    def __init__(
        self, alpha: np.ndarray, rho: float, r: float, objective: float, gap: float, iterations: int, status: Any,
        gradient: np.ndarray,
    ):  # fmt: skip
        super().__init__(alpha, status, iterations, [])
        self.rho, self.r, self.objective, self.gap, self.gradient = rho, r, objective, gap, gradient


class DecisionFunction(NamedTuple):
    """A result as a decision function.

    coef, rho  f8[n]; the decision value of x is sum_i coef_i K(x_i, x) - rho
    objective  the value of the programme times `scale`; root: the square root of `scale`
    bounded    number of coef at their bounds
    report     the line that LIBSVM prints about it, or empty
    warning    for the user, or empty
    """

    coef: np.ndarray
    rho: float
    objective: float
    root: float
    bounded: int
    report: str
    warning: str = ""

    @property
    def scale(self) -> float:
        """The factor from a value of the programme to the objective."""
        return self.root * self.root

    def scaled(self, value: float) -> float:
        """Scale a value of the programme; works also where `scale` itself overflows."""
        return self.root * value * self.root
