"""Kernel machines by decomposition with large working sets.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022), Algorithm 1: repeat until the global KKT conditions hold: choose a working set of l = 2p
variables; solve (3) over them, the others fixed; bring f = sum_t a_t y_t K(x_t, .) up to date with the rows of the
kernel matrix whose variables have changed.  The problem is in problem/decomposition.py.

By default sets are large (p = 1024), half of a set is the newest half of the one before, and the subproblem is solved
pair by pair over the l x l block of the matrix.  `paper_form` has the paper's own: p pairs by second order (pWSS,
problem/working_sets.py), solved by augmented Lagrangian and fast projected gradient (Algorithm 2).  Either ends
when the KKT conditions hold over all variables, with f in double precision where single could hide a violation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool.compiled import working_set_loops as loops
from svmtool.problem.certify_kernel import relative
from svmtool.problem.decomposition import Decomposition
from svmtool.problem.kernel_problem import KernelProblem, KernelResult
from svmtool.problem.kernel_rows import MEGABYTE, large_array
from svmtool.problem.working_sets import LARGEST, PairSets, ViolatingSets
from svmtool.solvers.base import GAP, PRECISION, RULE, Monitor

LANES = int(loops.LANES)
STEPS = 100  # of single pairs for each variable of a working set: a round stays short enough to be interrupted
INNER = 0.1  # a subproblem is solved to this share of the violation found outside ...
LAST = 0.5  # ... but to no less than this share of the tolerance
CLEAR = 0.1  # share of the tolerance up to which errors of f do not matter
PATIENCE = 5  # rounds from an exact f without a smaller violation: rounding rules
EASY = 10  # of these steps are taken among all of them, before they go on ...
SMALL = 256  # ... within sets of so many, whose block of the kernel matrix takes 256 KB, ...
MIDDLE = 1024  # ... or where many of them are free up to so many: 4 MB
MU = 0.1  # the paper's penalty
POWER_STEPS, SAFETY = 10, 1.1  # of power iteration for the largest eigenvalue, and what it may lack
OUTER, FAST = 200, 2000  # multiplier steps of a subproblem at most, gradient steps of each


class Options(NamedTuple):
    """How working sets are chosen and solved; None: the default of the form, the paper's or ours.

    pairs: p; delta_alpha, min_alpha_opt, max_alpha_opt, min_alpha_check: see PairSets, for the paper's form only.
    """

    paper_form: bool = False
    pairs: int | None = None
    delta_alpha: float = 1e-6
    min_alpha_opt: int = 5
    max_alpha_opt: int = 20
    min_alpha_check: int | None = None


def solve(
    problem: KernelProblem, monitor: Monitor, eps: float = 1e-3, cache_mb: float = 100.0, **options: Any
) -> KernelResult:
    """Solve to a largest violation of eps (0: until the monitor's gap is reached); cache_mb: for kernel rows.

    options: the fields of Options.
    """
    o = Options(**options)
    block_mb = min(LARGEST, len(problem.y)) ** 2 * 4 / MEGABYTE
    state = Decomposition(problem, max(cache_mb - block_mb, cache_mb / 2))
    if o.paper_form:
        sets = PairSets(o.pairs or 50, o.delta_alpha, o.min_alpha_opt, o.max_alpha_opt, o.min_alpha_check)
        subproblem = augmented_lagrangian
    else:
        sets = ViolatingSets(2 * (o.pairs or 1024))
        subproblem = PairDescent()
    best, stalled, moved = np.inf, 0, True
    while True:
        violation, rho, r = state.judge()
        value, gap = state.value_and_gap(rho, r)
        found = relative(gap - value, -value)
        done = violation <= eps or (monitor.gap is not None and found <= monitor.gap)
        if not state.exact and (not moved or (done and state.error() > CLEAR * eps)):
            state.refresh()
            moved = True
            continue
        if state.exact:
            stalled = 0 if violation < best else stalled + 1
            best = min(best, violation)
        status = monitor.step(gap - value, -value, found, violation=violation)
        if violation <= eps and status is not GAP:
            status = RULE
        elif status is None and (stalled >= PATIENCE or (state.exact and not moved)):
            status = PRECISION
        if status is not None:
            return state.result(value, gap, rho, r, monitor.iterations - 1, status)
        chosen = sets.choose(state)
        moved = state.change(chosen, subproblem(state, chosen, max(LAST * eps, INNER * violation)))


class PairDescent:
    """The subproblem (3) by steps of single pairs; keeps the memory of the kernel's block.

    A step costs as much as there are variables: where many are needed, they are taken within small sets, chosen from
    the working set as that is from all variables.
    """

    def __init__(self):
        self.room = np.empty(0, np.float32)

    def __call__(self, state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
        """New values f8 of the chosen variables, to a violation of `tolerance` among them."""
        p = state.problem
        place, filled, cut = _in_lanes(chosen, state.signs[0])
        if self.room.size < len(filled) ** 2:
            self.room = np.empty(0, np.float32)  # the system has it back before a larger one is taken
            self.room = large_array(len(filled) ** 2)
        K = self.room[: len(filled) ** 2].reshape(len(filled), -1)
        state.rows.block(p.row[filled], K)
        part = _Part(K, cut, p.y[filled], np.zeros(len(filled)), state.a[filled], state.F[filled])
        part.upper[place] = p.upper[chosen]  # what only fills lanes cannot move
        left = STEPS * len(chosen)
        left -= part.descend(tolerance, EASY * len(chosen))
        sets = ViolatingSets(SMALL, MIDDLE)
        while left > 0:
            violation = part.judge()
            if violation <= tolerance:
                break
            steps = part.descend_within(sets.choose(part), max(LAST * tolerance, INNER * violation), left)
            if steps == 0:
                break
            left -= steps
        return part.a[place]


def _in_lanes(chosen: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Variables in whole lanes, those that are `first` before the others.

    Returns the place i8 of each of `chosen`; the variable at each place, the last of a side again where lanes are left
    over; and where the second side begins.
    """
    order = np.argsort(~first[chosen], kind="stable")
    n_first = int(np.count_nonzero(first[chosen]))
    sides = chosen[order[:n_first]], chosen[order[n_first:]]
    filled = [np.concatenate([s, np.full(-len(s) % LANES, s[-1])]) for s in sides if len(s)]
    cut = n_first + -n_first % LANES
    place = np.empty(len(chosen), np.int64)
    place[order] = np.arange(len(chosen)) + np.where(np.arange(len(chosen)) < n_first, 0, cut - n_first)
    return place, np.concatenate(filled), cut


class _Part:
    """Variables in lanes with their block K of the kernel matrix: a problem of its own, as Decomposition is.

    Places from `cut` on are the second side, where each sign's sum is fixed.
    """

    def __init__(self, K: np.ndarray, cut: int, y: np.ndarray, upper: np.ndarray, a: np.ndarray, F: np.ndarray):
        self.K, self.cut, self.y, self.upper, self.a, self.F = K, cut, y, upper, a, F
        sides = np.arange(len(y)) < cut
        self.signs = [sides, ~sides] if cut < len(y) else [sides]

    def judge(self) -> float:
        """The largest violation; sets the masks."""
        above, below, up = self.a > 0.0, self.a < self.upper, self.y > 0
        movable = self.upper > 0.0
        self.rising, self.falling = np.where(up, below, above) & movable, np.where(up, above, below) & movable
        self.free = self.rising & self.falling
        highs = [np.max(self.F, where=self.rising & s, initial=-np.inf) for s in self.signs]
        lows = [np.min(self.F, where=self.falling & s, initial=np.inf) for s in self.signs]
        return float(max(high - low for high, low in zip(highs, lows, strict=True)))

    def descend(self, tolerance: float, most: int) -> int:
        """Steps of pairs in one compiled call; their number."""
        l = len(self.a)  # noqa: E741  # the paper's letter
        self.a[self.upper <= 0.0] = 0.0
        single = np.empty(l, np.float32), np.empty(l, np.float32), np.empty(LANES, np.float32)
        double = np.empty(l), np.empty(l), np.empty(2 * LANES), np.empty(2 * LANES)
        arrays = self.K, *single, self.y, self.a, self.upper, self.F, *double
        return loops.pair_descent(*arrays, l, self.cut, tolerance, most)

    def descend_within(self, inner: np.ndarray, tolerance: float, most: int) -> int:
        """`descend` with the variables at the places `inner` alone; F follows at all."""
        place, filled, cut = _in_lanes(inner, self.signs[0])
        block = np.ascontiguousarray(self.K[np.ix_(filled, filled)])
        part = _Part(block, cut, self.y[filled], np.zeros(len(filled)), self.a[filled], self.F[filled])
        part.upper[place] = self.upper[inner]
        steps = part.descend(tolerance, most)
        step = part.a[place] - self.a[inner]
        moved = np.flatnonzero(step)
        self.a[inner] = part.a[place]
        self.F -= (step[moved] * self.y[inner[moved]]) @ self.K[inner[moved]]
        return steps


def augmented_lagrangian(state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
    """Algorithm 2: the subproblem (3) by augmented Lagrangian and fast projected gradient, the paper's letters.

    g(a) = E a - E a_before with a row of E for each fixed sum; L_mu = 1/2 a'Qa + chi'a - lam'g + mu/2 |g|^2  (7).
    Returns new values f8 with max(nu, |g|) <= tolerance (10), (11), their sums then set right.
    """
    p = state.problem
    y, upper, before = p.y[chosen], p.upper[chosen], state.a[chosen]
    K = state.rows.values(p.row[chosen], p.row[chosen]).astype(np.float64)
    Q = y[:, None] * (0.5 * (K + K.T)) * y
    chi = -y * state.F[chosen] - Q @ before
    E = np.stack([np.where(side[chosen], y if len(state.signs) == 1 else 1.0, 0.0) for side in state.signs])
    fixed = E @ before
    L = SAFETY * _largest_eigenvalue(Q) + MU * len(chosen)  # (16)
    a, lam = before.copy(), np.zeros(len(E))
    lam[:] = _multipliers(E, Q @ a + chi, (a > 0) & (a < upper))
    for _ in range(OUTER):
        v, t = a.copy(), 1.0
        for _ in range(FAST):
            step = np.clip(v - (Q @ v + chi - E.T @ (lam - MU * (E @ v - fixed))) / L, 0.0, upper)
            slope = Q @ step + chi - E.T @ (lam - MU * (E @ step - fixed))
            if float(np.sum((step - v) * (a - step))) > 0.0:  # momentum that goes uphill is given up
                t = 1.0
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            v = step + (t - 1.0) / after * (step - a)
            a, t = step, after
            nu = np.where(a >= upper, np.maximum(slope, 0.0), np.abs(slope))
            nu[a <= 0.0] = np.maximum(-slope[a <= 0.0], 0.0)
            if nu.max(initial=0.0) < 0.5 * tolerance:
                break
        g = E @ a - fixed
        lam -= MU * g  # (9)
        if np.abs(g).max(initial=0.0) <= tolerance:
            break
    for constraint, total in zip(E, fixed, strict=True):
        a = _with_sum(a, upper, constraint, total)
    return a


def _largest_eigenvalue(Q: np.ndarray) -> float:
    v = np.ones(len(Q))
    size = 0.0
    for _ in range(POWER_STEPS):
        v = Q @ v
        size = float(np.linalg.norm(v))
        if size == 0.0:
            break
        v /= size
    return max(size, float(np.diag(Q).max(initial=0.0)), 1e-12)


def _multipliers(E: np.ndarray, slope: np.ndarray, free: np.ndarray) -> np.ndarray:
    """First guess: what makes the slopes of free variables zero on average."""
    used = E * free
    return (used @ slope) / np.maximum(np.sum(used * used, axis=1), 1.0)


def _with_sum(a: np.ndarray, upper: np.ndarray, e: np.ndarray, total: float) -> np.ndarray:
    """The point of the box with e'a = total nearest to a: clip(a + s e), s by bisection between its ends."""
    reach = float(np.max(upper, initial=0.0)) + float(np.max(np.abs(a), initial=0.0)) + 1.0
    low, high = -reach, reach
    for _ in range(200):
        s = 0.5 * (low + high)
        if float(e @ np.clip(a + s * e, 0.0, upper)) < total:
            low = s
        else:
            high = s
        if not low < 0.5 * (low + high) < high:
            break
    new = np.clip(a + high * e, 0.0, upper)
    rest = total - float(e @ new)  # what rounding has left goes to a variable that can take it
    room = np.flatnonzero((e != 0.0) & (new + e * rest >= 0.0) & (new + e * rest <= upper))
    if len(room):
        new[room[0]] += e[room[0]] * rest
    return new
