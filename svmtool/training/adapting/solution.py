"""The model that sums over rows give, a bound of its gap, and what rounding in the sums may have done to it."""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.class_statistics import UNIT, ClassStatistics
from svmtool.objectives.normal_equations import NormalEquations

GOLDEN = 0.6180339887498949
PROBES = 3  # random directions in which rounding is taken to have moved the matrix


def solution(problem: NormalEquations, sums: ClassStatistics) -> tuple[np.ndarray, Certificate]:
    """The minimiser, and what the sums know of it; the violation is the largest entry of the gradient.

    Rounding in the sums, of which there are no rows to look at instead, may make f and its gradient other ones by so
    much as the matrix is off, see `rounding`, and UNIT of f's other parts: the certificate allows for that.
    """
    w = problem.minimiser()
    f, g = problem.gradient(w)
    q = _passed(problem, sums)
    reach = float(q @ np.abs(w))
    off = UNIT * problem.C * (problem.V + 2.0 * abs(float(problem.b @ w)) + reach * reach)
    slope = float(np.linalg.norm(g)) + 2.0 * UNIT * problem.C * reach * float(np.linalg.norm(q))
    primal, dual = f + off, f - off - 0.5 * slope * slope
    return w, Certificate(max(primal, 0.0), max(dual, 0.0), float(np.abs(g).max(initial=0.0)))


def _passed(problem: NormalEquations, sums: ClassStatistics) -> np.ndarray:
    """q f8[d]: entry (i, j) of the problem's matrix has gone through sums of size q_i q_j at most."""
    q = np.zeros(problem.d)
    q[: sums.m] = np.sqrt(sums.past)
    return q


def rounding(problem: NormalEquations, w: np.ndarray, sums: ClassStatistics) -> float:
    """How far rounding in the sums may have moved w, relative to its size: an estimate.

    Each entry of the matrix is taken to be off by UNIT of the sums that it has gone through, with a random sign.
    """
    size = float(np.sqrt(w @ w))
    if size == 0.0:
        return 0.0
    q = _passed(problem, sums)
    k = np.arange(1, PROBES * problem.d + 1).reshape(PROBES, problem.d)
    signs = np.where(k * GOLDEN % 1.0 < 0.5, -1.0, 1.0)  # as good as random: importing numpy.random takes 20 ms
    moved = max(float(np.linalg.norm(problem.matrix.solve(s * q))) for s in signs)
    return 2.0 * problem.C * UNIT * moved * float(np.linalg.norm(q * w)) / size
