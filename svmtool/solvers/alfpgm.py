"""Kernel machines by decomposition with large working sets.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022), Algorithm 1: repeat until the global KKT conditions hold: choose a working set of l = 2p
variables; solve (3) over them, the others fixed; bring f = sum_t a_t y_t K(x_t, .) up to date with the rows of the
kernel matrix whose variables have changed.  The problem is in kernels/decomposition.py.

By default sets are large (p = 1024), half of a set is the newest half of the one before, and the subproblem is solved
pair by pair over the l x l block of the matrix.  `paper_form` has the paper's own: p pairs by second order (pWSS,
kernels/working_sets.py), solved by augmented Lagrangian and fast projected gradient (Algorithm 2).  Either ends
when the KKT conditions hold over all variables, with f in double precision where single could hide a violation.
Where pairs have cost more than a direct solution of the whole (kernels/direct.py), of few variables or of a linear
kernel in few features, and are expected to cost as much again, they go on from that.  Among several classes the
problems of pairs of few rows are solved many in one call, by the same steps (training/kernel/pairs_together.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmtool import limits
from svmtool.certify.zero_model import most_allowed, value_at_zero
from svmtool.kernels import direct
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.pair_descent import CLEAR, INNER, LAST, PATIENCE, PairDescent, WholeDescent, capacity_for_rows
from svmtool.kernels.problems import KernelProblem, KernelResult
from svmtool.kernels.working_sets import PairSets, ViolatingSets
from svmtool.limits import EndedError
from svmtool.solvers.shared.base import GAP, OPTIMAL, PRECISION, RULE, STEPS, Monitor
from svmtool.solvers.shared.progress import Progress
from svmtool.tolerances import ROUNDOFF_GAP

MU = 0.1  # the paper's penalty
POWER_STEPS, SAFETY = 10, 1.1  # of power iteration for the largest eigenvalue, and what it may lack
OUTER, FAST = 200, 2000  # multiplier steps of a subproblem at most, gradient steps of each
WHOLE = 0.9  # share of eps to which steps among all variables go: more than rounding may add to the violation
NOISE = 0.5  # share of the violation from which errors of f send steps astray
EVALUATIONS = 128  # rounds before the first check of progress, ...
POLISH = 8  # ... and from a direct solution on, where no more than rounding is left to them
ROUND = 30.0  # values of kernel rows that could be passed over in the time that a round takes for each variable, beside
# its subproblem: 27 and 42 on two sets of 50,000 and 93,000.  Runs on 25 sets (VALUE in kernels/linear_direct.py) take
# 11.3 s of CPU time, with a third of it 11.4, with three times that 11.7
# LIBSVM's own limit of steps, at least and for each of the l variables; as many, of l values each, are the most work
# with a kernel that may be indefinite, where pairs need not come to an end.  1,500 rows of each of 12 sets, polynomials
# with r = -1 and sigmoids: the 28 of 48 runs that take such steps take 7e-5 of it in the median, 0.27 at most
LIBSVM_STEPS, LIBSVM_STEPS_EACH = 1e7, 100.0


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
    state = Decomposition(problem, capacity_for_rows(len(problem.y), cache_mb))
    whole: WholeDescent | None = None
    if o.paper_form:
        sets = PairSets(o.pairs or 50, o.delta_alpha, o.min_alpha_opt, o.max_alpha_opt, o.min_alpha_check)
        subproblem, pairs = augmented_lagrangian, None
    else:
        sets = ViolatingSets(2 * (o.pairs or 1024))
        subproblem = pairs = PairDescent()
        whole = WholeDescent(state, cache_mb) if o.pairs is None and WholeDescent.fits(problem, cache_mb) else None
    best, stalled, moved, progress = np.inf, 0, True, Progress(EVALUATIONS)
    polishing, least = False, None  # from a direct solution on; the result with the smallest gap since
    at_zero, allowed = value_at_zero(problem)[0], (most_allowed(problem) if problem.kernel.positive else -np.inf)
    slower, settled = direct.Slower(problem, eps if eps > 0.0 else monitor.gap or 0.0), False
    if o.paper_form or slower.cost == np.inf:
        slower = None
    m, most = len(problem.y), np.inf
    if not problem.kernel.positive:
        most = m * max(LIBSVM_STEPS, LIBSVM_STEPS_EACH * m)
    while True:
        violation, rho, r = state.certify()
        value, gap = state.value_and_gap(rho, r)
        found = problem.relative(gap - value, -value)
        if monitor.gap is not None and at_zero <= gap - value <= allowed:
            # no better than w = 0 but for rounding, and the dual value says that nothing is
            found = min(found, problem.relative(at_zero, -value))
        close = monitor.gap is not None and found <= monitor.gap  # as the certificate will have it: in double precision
        done = violation <= eps or close
        try:
            doubtful = close or state.error() > (CLEAR * eps if done else NOISE * violation)
            if not state.exact and (not moved or doubtful):
                state.refresh()
                moved = True
                continue
            if state.exact:
                stalled = 0 if violation < best else stalled + 1
                best = min(best, violation)
            if polishing and (state.exact or not state.rows.followed) and (least is None or found < least.gap):
                least = state.result(value, gap, rho, r, 0, None)
                least.alpha = least.alpha.copy()
            status, steps = monitor.step(gap - value, -value, found, violation=violation), whole or pairs
            still = progress.stalls(gap, -value) or stalled >= PATIENCE or (state.exact and not moved) or settled
            if violation <= eps and status is not GAP:
                status = RULE if eps > 0.0 else OPTIMAL
            elif status is None and slower and (still or slower.shown(steps.work, violation if eps > 0.0 else found)):
                why = "a standstill" if still else "it costs less than the pairs so far, and than those ahead"
                slower, moved, still = None, True, False
                best, stalled, progress = np.inf, 0, Progress(POLISH)
                polishing, settled = direct.go_to_minimum(state)
                if polishing:
                    monitor.uses("pairs of variables from a direct solution", why)
                    continue
            if status is None and still:
                if least is not None and least.gap < found:  # rounding makes each round's gap larger or smaller
                    least.iterations = monitor.iterations - 1
                    least.status = OPTIMAL if least.gap <= ROUNDOFF_GAP else PRECISION
                    return least
                status = OPTIMAL if found <= ROUNDOFF_GAP else PRECISION
            if status is None and steps is not None and steps.work > most:
                status = STEPS
            if status is not None:
                return state.result(value, gap, rho, r, monitor.iterations - 1, status)
            if whole is not None:
                moved = whole.run(max(WHOLE * eps, INNER * violation if eps == 0.0 else 0.0))
                if whole.hard or not moved:
                    pairs.work, whole, moved = whole.work, None, True
                continue
            chosen = sets.choose(state)
            if slower:
                pairs.work += ROUND * len(problem.y)
            moved = state.change(chosen, subproblem(state, chosen, max(LAST * eps, INNER * violation)))
        except EndedError:
            return state.result(value, gap, rho, r, monitor.iterations - 1, monitor.end())


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
    E = np.stack([np.where(system[chosen], y if len(state.signs) == 1 else 1.0, 0.0) for system in state.signs])
    fixed = E @ before
    L = SAFETY * _largest_eigenvalue(Q) + MU * len(chosen)  # (16)
    a, lam = before.copy(), np.zeros(len(E))
    lam[:] = _multipliers(E, Q @ a + chi, (a > 0) & (a < upper))
    for _ in range(OUTER):
        v, t = a.copy(), 1.0
        for _ in range(FAST):
            limits.check()
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
