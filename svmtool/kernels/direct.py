"""Direct solution of a kernel machine's dual in double precision, if steps of pairs make little progress.

kernels/interior.py solves systems of the variables, for any kernel.  This module chooses, and solves the dual of a
linear kernel in the feature space:

    min over a of  1/2 a'Qa + p'a,  Q_st = y_s y_t x_row(s).x_row(t),   0 <= a <= u,   fixed sums

The problem is that of kernels/problems.py.  With one fixed sum, of 0, it is the dual of a hinge with a free bias,
in d + 1 unknowns,

    min over w, b of  1/2 |w|^2 + sum_t u_t max(0, -p_t - y_t (x_row(t).w + b)),

which some tens of interior-point steps solve for any u and any scales of the features (power_interior.py).  A step
costs about a pass over the rows.  They give w and b to all digits, but a less exactly: variables that belong at a bound
are not quite there, and large u and features multiply that error.  Steps on the face of the variables between their
bounds, by a singular value decomposition of their rows, then give a to within round-off.

The number of steps of pairs depends on u and on the condition number of the face, the square of that of the features.
Measured on 25 sets of 4 to 500 features and 300 to 2,000 rows, most of them raw, -s 0 or -s 3, C = 1, 100, 1e4, 1e6:
100 runs that took 0.1 s to more than 15 s of CPU time, 574 s in all, 26 of them without an end in 15 s, take 0.1 s to
0.6 s, 20 s in all, and every gap is as small as before or below 1e-10.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.coordinate.hinge import STARTUP_VISITS
from svmtool.data.replicated import RepeatedRows
from svmtool.kernels import interior
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.problems import KernelProblem, Svr
from svmtool.limits import EndedError
from svmtool.linalg.systems import MAX_DENSE_WORK, VISIT_NS, restore_sum
from svmtool.models.kernel_functions import LINEAR
from svmtool.objectives import power_interior
from svmtool.objectives.power_interior import PowerInterior, step_cost
from svmtool.objectives.task import Task
from svmtool.tolerances import (
    CONFIRMED_GAP,
    DUAL_RTOL,
    GRAM_BELOW,
    NEWTON_RTOL,
    ROUNDOFF_GAP,
    STALL_STEPS,
    SUFFICIENT_DECREASE,
    SUFFICIENT_RISE,
    SUM_RTOL,
    VALUE_RTOL,
)

# On 25 sets of 300 to 2,000 rows, C = 1 and 1e4, a run of `primal_minimum` takes 0.39 to 1.67 of its cost (median
# 0.71); all runs together 11.3 s of CPU time, with VALUE_NS / 3 13.3, with 3 VALUE_NS 10.3.
VALUE_NS = 3.0  # nanoseconds that SMO steps take for a value of a kernel row: 2.2 to 4.4 on six sets
START_VALUES = STARTUP_VISITS * VISIT_NS / VALUE_NS  # values for which they take as long as the program's start
MAX_TOTAL_WORK = 8 * MAX_DENSE_WORK  # of all decompositions: some seconds
JOINING_SHARE = 0.1  # of the largest violation of a variable at its bound, with which others join the face


def cost(problem: KernelProblem) -> float:
    """The cost of a direct solution, in values of kernel rows read by steps of pairs; inf if there is none."""
    return min(interior.cost(problem), primal_cost(problem))


def go_to_minimum(state: Decomposition) -> tuple[bool, bool]:
    """Set the state to the best of the direct solutions if it is better.

    Returns whether the state has changed, and whether it is the minimum to within round-off.
    EndedError leaves the state unchanged.
    """
    start = best = state.kept
    least, at_minimum = state.value(), False
    try:
        for a in _points(state.problem):
            state.go_to(a)
            rounded = Face.possible(state.problem) and Face(state).minimise()
            if state.value() < least:
                best, least, at_minimum = state.kept, state.value(), rounded
            if at_minimum:
                break
    except EndedError:
        state.restore(start)
        raise
    state.restore(best)
    return best is not start, at_minimum


def _points(problem: KernelProblem) -> list[np.ndarray]:
    """Points near the minimum, by the cheapest method, or the other one if that fails."""
    by_rows, by_variables = primal_cost(problem), interior.cost(problem)
    if by_rows < np.inf and by_rows <= by_variables:
        a = primal_minimum(problem)
        if a is not None:
            return [a]
    return interior.minima(problem) if by_variables < np.inf else []


def primal_possible(problem: KernelProblem) -> bool:
    """Whether `primal_minimum` solves the problem: linear kernel, finite costs, sum 0, not too many features."""
    linear = problem.kernel.kind == LINEAR and problem.rows is not None
    if not linear or problem.two_sums or np.any(problem.start) or not 0 < problem.rows.d < GRAM_BELOW:
        return False
    copies = len(problem.row) // max(problem.n, 1)
    whole = np.array_equal(problem.row, np.tile(np.arange(problem.n), copies))
    return whole and bool(np.all(problem.upper < np.inf)) and problem.shrunk == 1.0


def primal_cost(problem: KernelProblem) -> float:
    """The estimated cost of `primal_minimum`, in values of kernel rows read by steps of pairs; inf if impossible."""
    if not primal_possible(problem):
        return np.inf
    copies = len(problem.y) // max(problem.n, 1)
    step = step_cost(RepeatedRows(problem.rows.with_bias(1.0), copies))
    return power_interior.USUAL_STEPS * step / VALUE_NS


def primal_minimum(problem: KernelProblem) -> np.ndarray | None:
    """Return a feasible a f8[m] close to the minimum, None if the steps fail; EndedError if the run ends meanwhile."""
    n = problem.n
    used = np.flatnonzero(problem.upper[:n] > 0.0)
    if not len(used):
        return None
    copies = len(problem.row) // n
    chosen = (used + n * np.arange(copies)[:, None]).ravel()
    rows = problem.rows if len(used) == n else problem.rows.take(used)
    task = Task(
        RepeatedRows(rows.with_bias(1.0), copies),
        problem.y[chosen],
        problem.upper[chosen],
        True,
        -problem.p[chosen],
        1.0,
    )
    with np.errstate(all="ignore"):
        found = _interior(task)
    if found is None:
        return None
    a = np.zeros(len(problem.row))
    a[chosen] = np.clip(found, 0.0, task.cost)
    if isinstance(problem, Svr):  # a row is on one side of the tube
        sides = a.reshape(2, -1)
        sides -= np.min(sides, axis=0)
    return a


def _interior(task: Task) -> np.ndarray | None:
    """The dual point of the smallest gap, with multipliers set to their bounds where that is indicated."""
    run, least, best = PowerInterior(task, 1.0), np.inf, None
    for _ in run.steps():
        rounding = least <= ROUNDOFF_GAP and run.gap >= least
        if run.gap < least:
            best, _ = run.dual_at_bounds()
        least = min(run.gap, least)
        if least <= NEWTON_RTOL or rounding:
            break
    return best


class Face:
    """Newton steps of a linear kernel's `state` on the face of the variables between their bounds.

    At its minimum F is equal for all variables with the same fixed sum.  With A, their centred rows, the change c of
    y a to that point solves A A'c = F centred; the shortest such c has each sum 0.  A singular value decomposition of A
    gives c with the accuracy of A instead of A A'.  A step ends where a variable reaches a bound.  After a full step
    the variables at a bound that violate optimality join the face.
    """

    def __init__(self, state: Decomposition):
        self.state, self._work_left, p = state, MAX_TOTAL_WORK, state.problem
        self._sums = [(e, float(e @ p.start)) for e in (np.where(side, p.y, 0.0) for side in state.signs)]

    @staticmethod
    def possible(problem: KernelProblem) -> bool:
        """Whether the kernel is linear and all bounds are finite."""
        return problem.kernel.kind == LINEAR and problem.rows is not None and bool(np.all(problem.upper < np.inf))

    def minimise(self) -> bool:
        """Step until only round-off is left; return False if other steps may do better or these take too long.

        The state is then the one with the smallest gap.
        """
        state, joining, idle = self.state, False, 0
        least, lowest, best, began, value = np.inf, np.inf, state.a, np.inf, np.inf
        while True:
            limits.check()
            _, rho, r = state.certify()
            value, gap = state.value_and_gap(rho, r)
            nearer = gap < SUFFICIENT_DECREASE * least or value < lowest - SUFFICIENT_RISE * least
            idle = 0 if nearer else idle + joining  # on the way to a face's minimum the gap may grow
            began = value if nearer else began
            lowest = min(value, lowest)
            if gap < least:
                least, best = gap, state.a
            if idle >= STALL_STEPS or gap == 0.0:
                break
            face = state.free | self._violating(rho, r) if joining or not np.any(state.free) else state.free
            step = self._step(np.flatnonzero(face))
            if step is None:
                break
            a, joining = step
            state.go_to(a)
        if state.a is not best:
            state.go_to(best)
        stalled = began - lowest <= SUM_RTOL * max(abs(value), abs(least))
        return least == 0.0 or (idle >= STALL_STEPS and stalled and least <= CONFIRMED_GAP * abs(value))

    def _violating(self, rho: float, r: float) -> np.ndarray:
        """The variables at a bound that should leave it, bool[m], without those much nearer to optimality."""
        state = self.state
        ahead = state.F + state.problem.y * r + rho  # how far F lies above its level
        beyond = np.where(state.rising, np.maximum(ahead, 0.0), 0.0)
        beyond = np.maximum(beyond, np.where(state.falling, np.maximum(-ahead, 0.0), 0.0))
        beyond[state.free] = 0.0
        return beyond > JOINING_SHARE * float(beyond.max(initial=0.0))

    def _step(self, face: np.ndarray) -> tuple[np.ndarray, bool] | None:
        """Return the next a f8[m], and whether the step was full; None if it takes too long or no variable can move."""
        state, p, whole = self.state, self.state.problem, True
        while len(face):
            fewer, more = sorted((len(face), p.rows.d))
            work = (fewer + more) * fewer * fewer
            self._work_left -= work + p.rows.nnz  # and a pass over the rows
            if work > MAX_DENSE_WORK or self._work_left < 0:
                return None
            c, length = self._change(face)
            da, a = p.y[face] * c, state.a[face]
            slack = np.where(da > 0.0, p.upper[face] - a, a)
            reach = np.full(len(face), np.inf)
            with np.errstate(over="ignore"):
                np.divide(slack, np.abs(da), out=reach, where=da != 0.0)
            t = float(reach.min())
            if t <= 0.0:  # those that would leave the box stay at their bound
                face, whole = face[reach > 0.0], False
                continue
            new = state.a.copy()
            new[face] = np.clip(a + min(t, length) * da, 0.0, p.upper[face])
            if t < length:
                first = reach <= t
                new[face[first]] = np.where(da[first] > 0.0, p.upper[face[first]], 0.0)
            if not p.feasible_sums(new):  # round-off of many steps
                for e, total in self._sums:
                    restore_sum(new, e, p.upper, total)
            return new, whole and t >= length
        return None

    def _change(self, face: np.ndarray) -> tuple[np.ndarray, float]:
        """Return c (see the class), f8[len(face)], and 1; if no c makes F equal, a direction of descent and inf."""
        state, p = self.state, self.state.problem
        A, right = p.rows.dense_of(p.row[face]), state.F[face].copy()
        for side in state.signs:
            own = np.flatnonzero(side[face])
            if len(own):
                A[own] -= np.mean(A[own], axis=0)
                right[own] -= np.mean(right[own])
        try:
            U, S, _ = np.linalg.svd(A, full_matrices=False)
        except np.linalg.LinAlgError:
            return np.zeros(len(face)), 1.0
        kept = S > DUAL_RTOL * S.max(initial=0.0)
        U = U[:, kept]
        along = right @ U
        rest = right - U @ along
        if np.abs(rest).max() > VALUE_RTOL * max(np.abs(state.F).max(), np.abs(p.p).max()):
            return rest, np.inf
        return U @ (along / S[kept] ** 2), 1.0
