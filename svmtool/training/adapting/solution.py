"""The model of an adaptable training set from its sums, its certificate, and an estimate of round-off in the sums."""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate, certify_sums
from svmtool.data.class_statistics import UNIT, ClassStatistics
from svmtool.objectives.normal_equations import NormalEquations

GOLDEN = 0.6180339887498949
PROBES = 3  # random directions in which rounding is taken to have moved the matrix


def solution(problem: NormalEquations, sums: ClassStatistics) -> tuple[np.ndarray, Certificate]:
    """Return the minimiser and its certificate, computed from the sums by certify/linear.py."""
    w = problem.minimiser()
    return w, certify_sums(w, problem.matrix.S, problem.b, problem.V, problem.C, _passed(problem, sums))


def _passed(problem: NormalEquations, sums: ClassStatistics) -> np.ndarray:
    """Return q f8[d]: entry (i, j) of the problem's matrix is a sum that reached q_i q_j at most in size."""
    q = np.zeros(problem.d)
    q[: sums.m] = np.sqrt(sums.past)
    return q


def rounding(problem: NormalEquations, w: np.ndarray, sums: ClassStatistics) -> float:
    """Estimate how far round-off in the sums may have moved w, relative to its size.

    Each entry of the matrix is assumed to be off by UNIT times the largest size of its sum, with a random sign.
    """
    size = float(np.sqrt(w @ w))
    if size == 0.0:
        return 0.0
    q = _passed(problem, sums)
    k = np.arange(1, PROBES * problem.d + 1).reshape(PROBES, problem.d)
    signs = np.where(k * GOLDEN % 1.0 < 0.5, -1.0, 1.0)  # as good as random: importing numpy.random takes 20 ms
    moved = max(float(np.linalg.norm(problem.matrix.solve(s * q))) for s in signs)
    return 2.0 * problem.C * UNIT * moved * float(np.linalg.norm(q * w)) / size
