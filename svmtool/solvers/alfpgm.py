"""Kernel machines by decomposition with large working sets.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022), Algorithm 1: repeat until the global KKT conditions hold: choose a working set of l = 2p
variables; solve (3) over them, the others fixed; bring f = sum_t a_t y_t K(x_t, .) up to date with the rows of the
kernel matrix whose variables have changed.

    min over a of  1/2 a'Qa + p'a,  Q_st = y_s y_t K(x_s, x_t),  0 <= a <= upper,  y'a as it is at the start

With F = -y (Qa + p) = -y p - f, optimality is max F over variables whose y a may grow <= min F over those whose y a
may shrink.  The nu types fix each sign's sum, and ask this of either sign by itself.

Here sets are large (p = 1024), half of a set is the newest half of the one before, the subproblem is solved pair by
pair over the l x l block of the matrix, and the end is checked in double precision over all variables.  The paper's
own choices, few pairs by second order (pWSS) solved by augmented Lagrangian and fast projected gradient, are
`alfpgm_paper`'s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled import working_set_loops as loops
from svmtool.problem.certify_kernel import gap_of, relative
from svmtool.problem.kernel_problem import KernelProblem, KernelResult
from svmtool.problem.kernel_rows import KernelRows, exact_sum
from svmtool.problem.kernel_tiles import tiles_of
from svmtool.solvers.base import GAP, PRECISION, RULE, Monitor, Status

PAIRS = 1024
LANES = int(loops.LANES)
STEPS = 100  # of single pairs for each variable of a working set: a round stays short enough to be interrupted
INNER = 0.1  # a subproblem is solved to this share of the violation found outside ...
LAST = 0.5  # ... but to no less than this share of the tolerance
PATIENCE = 5  # rounds from an exact f without a smaller violation: rounding rules


def solve(
    problem: KernelProblem, monitor: Monitor, eps: float = 1e-3, cache_mb: float = 100.0, shrinking: bool = True,
    pairs: int = PAIRS,
) -> KernelResult:  # fmt: skip
    """Solve to a largest violation of eps (0: until the monitor's gap is reached)."""
    state = Decomposition(problem, cache_mb)
    sets = WorkingSets(problem, 2 * pairs)
    return run(state, monitor, eps, lambda violation: one_round(state, sets, max(LAST * eps, INNER * violation)))


def run(state: Decomposition, monitor: Monitor, eps: float, one: Callable[[float], bool]) -> KernelResult:
    """Algorithm 1: call `one` (which says whether it has moved anything) until the KKT conditions hold."""
    best, stalled = np.inf, 0
    moved = True
    while True:
        violation, rho, r = state.judge()
        value, gap = state.value_and_gap(rho, r)
        done = violation <= eps or (monitor.gap is not None and relative(gap - value, -value) <= monitor.gap)
        if (done or not moved) and not state.exact:
            state.refresh()
            continue
        if state.exact:
            stalled = 0 if violation < best else stalled + 1
            best = min(best, violation)
        status = monitor.step(gap - value, -value, relative(gap - value, -value), violation=violation)
        if violation <= eps and status is not GAP:
            status = RULE
        elif status is None and (stalled >= PATIENCE or (state.exact and not moved)):
            status = PRECISION
        if status is not None:
            return state.result(value, gap, rho, r, monitor.iterations - 1, status)
        moved = one(violation)


class Decomposition:
    """The point a, f over all rows, and what follows from them.

    exact: whether f is in double precision what it should be; changes since then go through kernel values in single
    precision.
    """

    def __init__(self, problem: KernelProblem, cache_mb: float):
        self.problem, self.a = problem, problem.start.copy()
        steps, self.exactly = tiles_of(problem.rows, problem.kernel, problem.matrix)
        self.rows = KernelRows(steps, cache_mb)
        self.signs = [problem.y > 0, problem.y < 0] if problem.two_sums else [np.ones(len(self.a), bool)]
        self.f = np.zeros(self.rows.n)
        self.exact = False
        self.refresh()

    def refresh(self) -> None:
        """f in double precision from all of a."""
        p = self.problem
        coef = np.bincount(p.row, p.y * self.a, self.rows.n)
        used = np.flatnonzero(coef)
        self.f = exact_sum(self.exactly, used, coef[used])
        self.exact = True

    def judge(self) -> tuple[float, float, float]:
        """The largest violation, rho and r; sets F, and the masks `rising` and `falling` of what y a may do."""
        p, a = self.problem, self.a
        self.F = -p.y * p.p - self.f[p.row]
        above, below = a > 0.0, a < p.upper
        up = p.y > 0
        self.rising, self.falling = np.where(up, below, above), np.where(up, above, below)
        free = above & below
        violation, levels = 0.0, []
        for side in self.signs:
            high = float(np.max(self.F, where=self.rising & side, initial=-np.inf))
            low = float(np.min(self.F, where=self.falling & side, initial=np.inf))
            violation = max(violation, high - low)
            levels.append(_level(self.F[free & side], high, low))
        if not self.problem.two_sums:
            return violation, -levels[0], 0.0
        plus, minus = -levels[0], levels[1]  # multipliers of the sums over y = +1 and y = -1
        return violation, (plus - minus) / 2, (plus + minus) / 2

    def value_and_gap(self, rho: float, r: float) -> tuple[float, float]:
        """1/2 a'Qa + p'a, and a bound of its distance from the minimum."""
        p = self.problem
        gradient = -p.y * self.F
        return 0.5 * float(self.a @ (gradient + p.p)), gap_of(p, self.a, gradient, rho, r)

    def change(self, chosen: np.ndarray, new: np.ndarray) -> bool:
        """a[chosen] = new, and f follows; says whether anything is new."""
        p = self.problem
        step = new - self.a[chosen]
        moved = np.flatnonzero(step)
        if not len(moved):
            return False
        self.a[chosen] = new
        rows, at = np.unique(p.row[chosen[moved]], return_inverse=True)
        c = np.bincount(at, (p.y[chosen] * step)[moved], len(rows))
        free = (new > 0.0) & (new < p.upper[chosen])  # at a bound they will mostly stay
        self.rows.add(rows, c, self.f, np.bincount(at, free[moved], len(rows)) > 0)
        self.exact = False
        return True

    def result(self, value: float, gap: float, rho: float, r: float, iterations: int, status: Status) -> KernelResult:
        gradient = -self.problem.y * self.F
        return KernelResult(self.a, rho, r, value, relative(gap - value, -value), iterations, status, gradient)


def _level(free: np.ndarray, high: float, low: float) -> float:
    """Where F of free variables lies: their mean; without any, the middle of what the bounds allow."""
    if len(free):
        return float(np.mean(free))
    if high == -np.inf or low == np.inf:
        return low if low < np.inf else (high if high > -np.inf else 0.0)
    return 0.5 * (high + low)


class WorkingSets:
    """Sets of `size` variables: the newest half of the last one, and those that violate optimality most."""

    def __init__(self, problem: KernelProblem, size: int):
        self.size = min(size, len(problem.y))
        self.newest = np.empty(0, np.int64)

    def choose(self, state: Decomposition) -> np.ndarray:
        """The next set, i8; those of y = +1 first where each sign's sum is fixed."""
        kept = self.newest[: self.size // 2]
        open_ = np.ones(len(state.F), bool)
        open_[kept] = False
        quota = (self.size - len(kept)) // (2 * len(state.signs))
        chosen = []
        for side in state.signs:
            high = _largest(np.where(state.rising & side & open_, state.F, -np.inf), quota)
            open_[high] = False
            low = _largest(np.where(state.falling & side & open_, -state.F, -np.inf), quota)
            open_[low] = False
            chosen += [high, low]
        order = np.concatenate([np.arange(len(c)) for c in chosen])
        self.newest = np.concatenate(chosen)[np.argsort(order, kind="stable")]
        everything = np.concatenate([self.newest, kept])
        if len(state.signs) == 1:
            return everything
        return everything[np.argsort(~state.signs[0][everything], kind="stable")]


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` largest finite values, largest first."""
    places = np.argpartition(-values, count)[:count] if count < len(values) else np.arange(len(values))
    places = places[values[places] > -np.inf]
    return places[np.argsort(-values[places], kind="stable")]


def one_round(state: Decomposition, sets: WorkingSets, tolerance: float) -> bool:
    """Choose a set and solve its subproblem (3) pair by pair; says whether anything has moved."""
    chosen, p = sets.choose(state), state.problem
    m = len(chosen)
    positive = int(np.count_nonzero(state.signs[0][chosen]))
    cut = -(-positive // LANES) * LANES
    l = cut + -(-(m - positive) // LANES) * LANES
    place = np.concatenate([np.arange(positive), cut + np.arange(m - positive)])
    K = np.zeros((l, l), np.float32)
    state.rows.block(p.row[chosen], K, place)
    y, upper, a, F = np.ones(l), np.zeros(l), np.zeros(l), np.zeros(l)
    y[place], upper[place], a[place], F[place] = p.y[chosen], p.upper[chosen], state.a[chosen], state.F[chosen]
    single = np.empty(l, np.float32), np.empty(l, np.float32), np.empty(LANES, np.float32)
    double = np.empty(l), np.empty(l), np.empty(2 * LANES), np.empty(2 * LANES)
    loops.pair_descent(K, *single, y, a, upper, F, *double, l, cut, tolerance, STEPS * m)
    return state.change(chosen, a[place])
