"""Results of kernel solvers: their gaps (certify/kernel.py derives them), and the decision functions they stand for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool.objectives.task import SolverResult
from svmtool.tolerances import SUM_RTOL


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


def gap_of(
    problem: Any, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0, apart: float = 0.0,
    losses: np.ndarray | None = None,
) -> float:  # fmt: skip
    """Return an upper bound of f(a) - min f; alpha and gradient = Qa + p (within `apart`): f8[m].

    losses f8[m]: cost of a loss of 1; None: the upper bounds.
    """
    losses = problem.upper if losses is None else losses
    s = gradient - (r + problem.y * rho)
    if apart == 0.0:
        return float(np.sum(np.where(s > 0, alpha * s, (alpha - losses) * s)))
    above, below = np.maximum(s + apart, 0.0), np.maximum(apart - s, 0.0)
    return float(np.sum(alpha * above) + np.sum((losses - alpha) * below))


def feasible_sums(problem: Any, alpha: np.ndarray) -> bool:
    """Whether y'a, or the sum of each sign, is that of problem.start to within round-off; else a has no dual value."""
    signs = [problem.y > 0, problem.y < 0] if problem.two_sums else [np.ones(len(alpha), bool)]
    moved, sizes = problem.y * (alpha - problem.start), np.abs(alpha)
    return all(abs(float(np.sum(moved[s]))) <= SUM_RTOL * float(np.sum(sizes[s])) for s in signs)
