"""The duality gap of a point of a kernel problem; certify/kernel.py derives it."""

from __future__ import annotations

import numpy as np

from svmtool.kernels.problems import KernelProblem

FEASIBLE = 1e-12  # share of a sum that rounding may take from it


def gap_of(
    problem: KernelProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0, apart: float = 0.0,
    losses: np.ndarray | None = None,
) -> float:  # fmt: skip
    """The bound of f(a) - min f; alpha, gradient = Qa + p: f8[m], the latter to within `apart`.

    losses f8[m]: what a loss of 1 costs; None: the upper bounds.
    """
    losses = problem.upper if losses is None else losses
    s = gradient - (r + problem.y * rho)
    if apart == 0.0:
        return float(np.sum(np.where(s > 0, alpha * s, (alpha - losses) * s)))
    above, below = np.maximum(s + apart, 0.0), np.maximum(apart - s, 0.0)
    return float(np.sum(alpha * above) + np.sum((losses - alpha) * below))


def feasible_sums(problem: KernelProblem, alpha: np.ndarray) -> bool:
    """Whether y'a, or the sum of each sign, is what it is at the start, but for rounding: else a has no dual value."""
    signs = [problem.y > 0, problem.y < 0] if problem.two_sums else [np.ones(len(alpha), bool)]
    moved, sizes = problem.y * (alpha - problem.start), np.abs(alpha)
    return all(abs(float(np.sum(moved[s]))) <= FEASIBLE * float(np.sum(sizes[s])) for s in signs)
