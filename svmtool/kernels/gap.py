"""The duality gap of a point of a kernel problem; certify/kernel.py derives it."""

from __future__ import annotations

import numpy as np

from svmtool.kernels.problems import KernelProblem

FEASIBLE = 1e-12  # relative error of a sum that counts as round-off


def gap_of(
    problem: KernelProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0, apart: float = 0.0,
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


def feasible_sums(problem: KernelProblem, alpha: np.ndarray) -> bool:
    """Whether y'a, or the sum of each sign, is that of problem.start to within round-off; else a has no dual value."""
    signs = [problem.y > 0, problem.y < 0] if problem.two_sums else [np.ones(len(alpha), bool)]
    moved, sizes = problem.y * (alpha - problem.start), np.abs(alpha)
    return all(abs(float(np.sum(moved[s]))) <= FEASIBLE * float(np.sum(sizes[s])) for s in signs)
