"""A kernel machine's dual solved directly, by the cheaper of two ways, for where pairs of variables get nowhere.

problem/interior.py: systems of the variables, whatever the kernel; problem/linear_minimum.py: systems of the features,
for the linear kernel.  A linear kernel's solution by either then goes on by steps on its face.
"""

from __future__ import annotations

import numpy as np

from svmtool.limits import EndedError
from svmtool.problem import interior, linear_minimum
from svmtool.problem.decomposition import Decomposition
from svmtool.problem.kernel_problem import KernelProblem
from svmtool.problem.linear_minimum import Face


def cost(problem: KernelProblem) -> float:
    """What a direct solution costs, in values of kernel rows that steps of pairs pass over; inf where there is none."""
    return min(_by_variables(problem), _by_features(problem))


def _by_variables(problem: KernelProblem) -> float:
    m = len(problem.y)
    if m > interior.MOST or not np.all(problem.upper < np.inf):
        return np.inf
    return interior.DIRECT * m**3 + interior.ONCE


def _by_features(problem: KernelProblem) -> float:
    return linear_minimum.cost(problem) if linear_minimum.possible(problem) else np.inf


def go_to_minimum(state: Decomposition) -> tuple[bool, bool]:
    """Take the best of the direct solutions where it is better than the state.

    Returns whether the state has moved, and whether no more than rounding is left between it and the minimum.
    EndedError leaves the state as it was.
    """
    start = best = state.kept
    least, settled = state.value(), False
    try:
        for a in _points(state.problem):
            state.go_to(a)
            rounded = Face.possible(state.problem) and Face(state).settle()
            if state.value() < least:
                best, least, settled = state.kept, state.value(), rounded
            if settled:
                break
    except EndedError:
        state.restore(start)
        raise
    state.restore(best)
    return best is not start, settled


def _points(problem: KernelProblem) -> list[np.ndarray]:
    """Points near the minimum, by the cheaper way, or where it fails the other one."""
    by_features, by_variables = _by_features(problem), _by_variables(problem)
    if by_features < np.inf and by_features <= by_variables:
        a = linear_minimum.minimum(problem)
        if a is not None:
            return [a]
    return interior.minima(problem) if by_variables < np.inf else []
