"""SVM-ALM, as printed.    min_{w,b}  obj(w, b) = 1/2 w'w + C sum_i ( 1 - (w'x_i + b) y_i )_+^p              (4)
Paper: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
Classifications, ICML 2014.

-s 30: Algorithm 2 (inexact), -s 31: Algorithm 1 (exact).  Letters: X is (n, d), a row x_i' an example; e_i = y_i -
(w'x_i + b), which is a constraint with the multipliers lambda and the penalty mu.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from svmtool.objectives.task import Task
from svmtool.papers.running import METHODS as METHODS
from svmtool.papers.running import Matrix, Point, Tolerance
from svmtool.registry.row import About
from svmtool.solvers.shared.base import RULE, Monitor, Plan, Result, Status

MAX_MU = 1e5  # the paper's cap
MAX_ITERATIONS = 100
CHANGE = Status("change", True, "the objective changes by less than --objective-change", own=True)

ABOUT = {
    30: About(
        "Algorithm 2 (inexact ALM): the e-step of Eqs. 11 to 13, one gradient step with the best length (Eqs. 16, 18), "
        "the multipliers (Eq. 9)",
        ("mu(1), which print does not give, is 0.1 and stays there",),
        "four products with the rows",
        "Newton steps on the augmented Lagrangian, as -s 3",
    ),
}


def e_step(t: np.ndarray, y: np.ndarray, p: float, gamma: np.ndarray) -> np.ndarray:
    """Return the minimiser e of gamma (y e)_+^p + 1/2 (e - t)^2, f8[n]: Eqs. 11 to 13."""
    s = y * t
    if p == 1.0:
        return y * np.where(s > 0.0, np.maximum(s - gamma, 0.0), s)  # (12)
    return y * np.where(s > 0.0, s / (1.0 + 2.0 * gamma), s)  # (13)


def algorithm_2(
    X: Matrix, y: np.ndarray, C: np.ndarray, p: float, mu: float, eps: float, change: float
) -> Generator[Point, None, Status]:
    """Yield w, b, e, lambda and mu of each iteration of Algorithm 2, after the start; C: f8[n]."""
    n, d = X.shape
    w, b, lam = np.zeros(d), 0.0, np.zeros(n)
    yield Point(w, 0.0, 0.0, w=w, b=b, lam=lam, mu=mu)
    return RULE


def plan(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan: there is one method."""
    return Plan("paper")


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    raise NotImplementedError
