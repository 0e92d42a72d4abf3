"""Direct solution of a kernel machine's dual in double precision, if steps of pairs make little progress.

    min over a of  1/2 a'Qa + p'a,   0 <= a <= u,   fixed sums

The problem is that of kernels/problems.py.  Newton steps on the face of the variables between their bounds (Face) lead
from the point of the steps of pairs to the minimum, whatever the condition of the kernel matrix, if that is small or
the kernel is linear: K(x, z) = x.z.  Then, with one fixed sum, of 0, the problem is the dual of a hinge with a free
bias, in d + 1 unknowns,

    min over w, b of  1/2 |w|^2 + sum_t u_t max(0, -p_t - y_t (x_row(t).w + b)),

which some tens of interior-point steps solve for any u and any scales of the features (power_interior.py).  A step
costs about a pass over the rows.  They give w and b to all digits, but a less exactly: variables that belong at a bound
are not quite there, and large u and features multiply that error.  Steps on the face then give a, as far as the run
needs, to within round-off at most.

The number of steps of pairs depends on u and on the condition number of the face, for a linear kernel the square of
that of the features.  Measured with the linear kernel on 25 sets of 4 to 500 features and 300 to 2,000 rows, most of
them raw, -s 0 or -s 3, C = 1, 100, 1e4, 1e6: 100 runs that took 0.1 s to more than 15 s of CPU time, 574 s in all, 26
of them without an end in 15 s, take 0.1 s to 0.6 s, 20 s in all, and every gap is as small as before or below 1e-10
(with an earlier form of the steps on the face, which went on to round-off; on 45 later runs a later one took .65 of its
time).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool import limits
from svmtool.coordinate.hinge import STARTUP_VISITS
from svmtool.data.replicated import RepeatedRows
from svmtool.kernels.decomposition import Decomposition, largest
from svmtool.kernels.problems import KernelProblem, Points, Svr
from svmtool.kernels.whole import kernel_matrix
from svmtool.limits import EndedError
from svmtool.linalg.systems import CALLS_NS, MAX_DENSE_WORK, VISIT_NS, restore_sum
from svmtool.models.kernel_functions import LINEAR
from svmtool.objectives import power_interior
from svmtool.objectives.power_interior import PowerInterior, step_cost
from svmtool.objectives.task import Task
from svmtool.tolerances import (
    CONFIRMED_GAP,
    DUAL_RTOL,
    GRAM_BELOW,
    MATRIX_ROWS,
    NEWTON_RTOL,
    ROUNDOFF_GAP,
    STALL_STEPS,
    SUFFICIENT_DECREASE,
    SUM_RTOL,
    VALUE_RTOL,
)

# A direct solution by faces of m variables costs about CUBE_COST m^3 + FIXED_COST values of kernel rows: on 113
# problems of 10 to 400 rows it takes .28 of that in the median, .08 and 2.0 at the first and last tenth.
CUBE_COST, FIXED_COST = 2.5, 2e7
# On 25 sets of 300 to 2,000 rows, C = 1 and 1e4, a run of `primal_minimum` takes 0.39 to 1.67 of its cost (median
# 0.71); all runs together 11.3 s of CPU time, with VALUE_NS / 3 13.3, with 3 VALUE_NS 10.3.
VALUE_NS = 3.0  # nanoseconds that SMO steps take for a value of a kernel row: 2.2 to 4.4 on six sets
START_VALUES = STARTUP_VISITS * VISIT_NS / VALUE_NS  # values for which they take as long as the program's start
MAX_TOTAL_WORK = 8 * MAX_DENSE_WORK  # of all decompositions with their calls: some seconds


def cost(problem: KernelProblem) -> float:
    """The cost of a direct solution, in values of kernel rows read by steps of pairs; inf if there is none."""
    m = len(problem.y)
    faces = CUBE_COST * m**3 + FIXED_COST if m <= MATRIX_ROWS and bool((problem.upper < np.inf).all()) else np.inf
    return min(faces, primal_cost(problem))


def go_to_minimum(state: Decomposition, enough: Callable[[float, float], bool]) -> tuple[bool, bool]:
    """Set the state to the direct solution, of finite cost, if it is better.

    enough: whether a violation and a relative gap end the run.  Returns whether the state has changed, and whether it
    is the minimum to within round-off.  EndedError leaves the state unchanged.
    """
    start, least = state.kept, state.value()
    try:
        a = primal_minimum(state.problem) if primal_possible(state.problem) else None
        if a is not None:
            state.go_to(a)
        at_minimum = Face(state).minimise(enough)
    except EndedError:
        state.restore(start)
        raise
    if state.value() < least:
        return True, at_minimum
    state.restore(start)
    return False, False


def primal_possible(problem: KernelProblem) -> bool:
    """Whether `primal_minimum` solves the problem: linear kernel, finite costs, sum 0, not too many features."""
    if not _linear(problem) or problem.two_sums or np.any(problem.start) or not 0 < problem.rows.d < GRAM_BELOW:
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


def pair_values(points: Points, nu: float, sizes: np.ndarray) -> np.ndarray:
    """`primal_cost` of pairs of classes of `sizes` rows (i8), f8; inf where there is none.  nu: of nu-SVMs, else 0."""
    rows, found = points.rows, np.full(len(sizes), np.inf)
    if points.kernel.kind != LINEAR or rows is None or nu or not 0 < rows.d < GRAM_BELOW:
        return found
    with_bias, (different, at) = RepeatedRows(rows.with_bias(1.0), 1), np.unique(sizes, return_inverse=True)
    steps = np.array([step_cost(with_bias, like=size) for size in different.tolist()])
    return (power_interior.USUAL_STEPS / VALUE_NS * steps)[at]


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
    """Newton steps of a `state` on the face of the variables between their bounds.

    At its minimum F is equal for all variables with the same fixed sum.  With K, their kernel values centred for each
    sum, the change c of y a to that point solves K c = F centred.  K's eigenvectors give the shortest such c; for a
    linear kernel they are the singular vectors of the centred rows, and c has the accuracy of the rows instead of their
    products.  A step ends where a variable reaches a bound, which it keeps until the face's minimum.  There variables
    at a bound that violate optimality join the face.
    """

    def __init__(self, state: Decomposition):
        self.state, self._work_left, p = state, float(MAX_TOTAL_WORK), state.problem
        self._sums = [(e, float(e @ p.start)) for e in (np.where(side, p.y, 0.0) for side in state.signs)]
        self._K = None if _linear(p) else kernel_matrix(p.points)

    def minimise(self, enough: Callable[[float, float], bool]) -> bool:
        """Step until `enough`, or only round-off is left; return False if other steps may do better or these take long.

        The state is then the one with the smallest gap.
        """
        state, idle, exact, tiny = self.state, 0, False, self.state.problem.floor
        least, lowest, best, began, value = np.inf, np.inf, state.a, np.inf, np.inf
        while self._work_left >= 0.0:
            violation, rho, r = state.certify()
            value, gap = state.value_and_gap(rho, r)
            nearer = gap < SUFFICIENT_DECREASE * least or value < lowest - VALUE_RTOL * max(abs(lowest), tiny)
            idle = 0 if nearer else idle + 1
            began = value if nearer else began
            face = state.free.copy()
            if least < np.inf or not np.any(face):
                face[self._violating(rho, r)] = True
            lowest = min(value, lowest)
            if gap < least:
                least, best = gap, state.a
            exact = least <= DUAL_RTOL * max(abs(value), tiny)
            if idle >= STALL_STEPS or exact or enough(violation, state.problem.relative(gap - value, -value)):
                break
            state.go_to(self._minimum(np.flatnonzero(face)))
        if state.a is not best:
            state.go_to(best)
        stalled = began - lowest <= SUM_RTOL * max(abs(value), abs(least))
        return exact or (idle >= STALL_STEPS and stalled and least <= CONFIRMED_GAP * abs(value))

    def _violating(self, rho: float, r: float) -> np.ndarray:
        """The variables at a bound that violate optimality most, i8: of each sum those that rise and those that fall.

        Of either as many as are on the face; one of each at least, because a sum is fixed.
        """
        state = self.state
        ahead = state.F + state.problem.y * r + rho  # how far F lies above its level
        chosen = []
        for side in state.signs:
            count = max(np.count_nonzero(state.free & side), 1)
            for movable, beyond in ((state.rising, ahead), (state.falling, -ahead)):
                at_bound = movable & side & ~state.free & (beyond > 0.0)
                chosen.append(largest(np.where(at_bound, beyond, -np.inf), count))
        return np.concatenate(chosen)

    def _minimum(self, face: np.ndarray) -> np.ndarray:
        """The a (f8[m]) of the minimum over the variables `face`, i8, or near it where that takes too long."""
        state, p = self.state, self.state.problem
        a, F = state.a.copy(), state.F.copy()
        while len(face):
            limits.check()
            fewer, more = sorted((len(face), p.rows.d if self._K is None else len(face)))
            work = (fewer + more) * fewer * fewer + CALLS_NS
            self._work_left -= work if work <= MAX_DENSE_WORK else np.inf
            if self._work_left < 0.0:
                break
            try:
                c, fall, length = self._change(face, F[face])
            except np.linalg.LinAlgError:
                break
            da, upper = p.y[face] * c, p.upper[face]
            slack, reach = np.where(da > 0.0, upper - a[face], a[face]), np.full(len(face), np.inf)
            with np.errstate(over="ignore"):
                np.divide(slack, np.abs(da), out=reach, where=da != 0.0)
            t = min(float(reach.min()), length)
            bound = np.where(da > 0.0, upper, 0.0)
            a[face] = np.where(reach <= t, bound, np.clip(a[face] + t * da, 0.0, upper))
            if t >= length:
                break
            F[face] -= t * fall
            face = face[reach > t]
        if not p.feasible_sums(a):  # round-off of many steps
            for e, total in self._sums:
                restore_sum(a, e, p.upper, total)
        return a

    def _change(self, face: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return c (see the class), f8[len(face)], by what F falls, and the multiple of c with the least value.

        If no c makes F equal, it is mostly a direction of descent with little curvature.
        """
        state, p = self.state, self.state.problem
        sides = [own for own in (np.flatnonzero(side[face]) for side in state.signs) if len(own)]
        right = _centred(F, sides)
        if self._K is None:
            A = _centred(p.rows.dense_of(p.row[face]), sides)
            if len(face) < p.rows.d:  # as exact, and the decomposition does not form long vectors
                A = np.transpose(np.linalg.qr(A.T, mode="r"))
            U, S, _ = np.linalg.svd(A, full_matrices=False)
            curvature, rounding = S * S, DUAL_RTOL * DUAL_RTOL
        else:
            K = _centred(self._K[np.ix_(p.row[face], p.row[face])], sides)
            curvature, U = np.linalg.eigh(_centred(K.T, sides))
            curvature, rounding = np.maximum(curvature, 0.0), DUAL_RTOL
        kept = curvature > rounding * curvature.max(initial=0.0)
        along = right @ U[:, kept]
        c, rest = U[:, kept] @ (along / curvature[kept]), right - U[:, kept] @ along
        rest -= U[:, kept] @ (rest @ U[:, kept])  # once more, for round-off
        if np.abs(rest).max() > VALUE_RTOL * max(np.abs(state.F).max(), np.abs(p.p).max()):
            c = rest + float(curvature @ (rest @ U) ** 2) / float(rest @ rest) * c  # in proportion to their best steps
        c = _centred(c, sides)
        parts = c @ U
        rise, bend = float(right @ c), float(curvature @ (parts * parts))
        length = 0.0 if not rise > 0.0 else rise / bend if bend > 0.0 else np.inf
        return c, U @ (curvature * parts), length


def _linear(problem: KernelProblem) -> bool:
    """Whether the kernel values are products of features."""
    return problem.kernel.kind == LINEAR and problem.rows is not None


def _centred(A: np.ndarray, sides: list[np.ndarray]) -> np.ndarray:
    """A without the mean of the rows of each side."""
    A = A.copy()
    for own in sides:
        A[own] -= np.mean(A[own], axis=0)
    return A
