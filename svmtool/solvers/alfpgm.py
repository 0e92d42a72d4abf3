"""Kernel machines by decomposition with large working sets.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022), Algorithm 1: repeat until the global KKT conditions hold: choose a working set of l = 2p
variables; solve (3) over them, the others fixed; bring f = sum_t a_t y_t K(x_t, .) up to date with the rows of the
kernel matrix whose variables have changed.  The problem is in kernels/decomposition.py.

Differs from the paper in:
 1. Sets are large (p = 1024), half of a set is the newest half of the last one, and the subproblem is solved by steps
    of pairs (SMO) on its l x l block of the matrix.  --paper-form selects the paper's method: p pairs by second order
    (pWSS, kernels/decomposition.py), solved by augmented Lagrangian and fast projected gradient (Algorithm 2).
 2. Small problems have no sets: steps choose among all variables (METHODS, `plan`).
 3. f is computed again in double precision where single precision could hide a violation.
 4. If pairs have cost more than a direct solution (kernels/direct.py) and are expected to cost as much again, they
    continue from that.
 5. Of several classes, pairs of few rows are solved many in one call, by the same steps
    (training/kernel/fused_pairs.py).
Stops when: the KKT conditions hold over all variables to -e, or the certified gap is reached.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.certify.kernel import max_allowed_primal, value_at_zero
from svmtool.kernels import direct
from svmtool.kernels.decomposition import Decomposition, PairSets, ViolatingSets
from svmtool.kernels.pair_descent import (
    MAX_WHOLE_VARIABLES,
    NEGLIGIBLE_ERROR,
    TOLERANCE_SHARE,
    VIOLATION_SHARE,
    PairDescent,
    WholeDescent,
    capacity_for_rows,
    rows_in_memory,
)
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.results import KernelResult
from svmtool.limits import EndedError
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import GAP, OPTIMAL, PRECISION, RULE, STEPS, Monitor, Plan, Progress, Rule
from svmtool.tolerances import ROUNDOFF_GAP

PENALTY = 0.1  # the paper's penalty
EIGENVALUE_STEPS, EIGENVALUE_MARGIN = 10, 1.1  # power iteration: steps, and a factor for the error of its eigenvalue
MAX_MULTIPLIER_STEPS, MAX_GRADIENT_STEPS = 200, 2000  # of a subproblem, and of each multiplier step
WHOLE_EPS_SHARE = 0.9  # steps among all variables end at this share of eps, which leaves room for round-off
MISLEADING_ERROR = 0.5  # share of the violation from which errors of f mislead steps
AFTER_DIRECT = 8  # rounds before the first check of progress after a direct solution, where only round-off is left
# Cost of a round for each variable without its subproblem, in values of kernel rows: 27 and 42 on two sets of 50,000
# and 93,000.  25 sets (VALUE_NS in kernels/direct.py) take 11.3 s of CPU time, with a third of it 11.4, with three
# times that 11.7
ROUND_COST = 30.0
# LIBSVM's own limit of steps, at least and for each of the l variables; as many, of l values each, are the most work
# with a kernel that may be indefinite, where SMO may not terminate.  1,500 rows of each of 12 sets, polynomials
# with r = -1 and sigmoids: the 28 of 48 runs that take such steps take 7e-5 of it in the median, 0.27 at most
LIBSVM_STEPS, LIBSVM_STEPS_EACH = 1e7, 100.0

METHODS = {
    "whole": "SMO steps over all variables",
    "sets": "SMO steps within working sets",
    "direct": "SMO steps from a direct solution",
    "paper": "the paper's working sets, by augmented Lagrangian and fast projected gradient",
}


def plan(problem: KernelProblem, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose how the run begins: steps among all variables if there are not many, and memory for some kernel rows."""
    if problem.options.paper_form:
        return Plan("paper", "--paper-form")
    if problem.options.pairs is not None:
        return Plan("sets", f"--pairs {problem.options.pairs}")
    m, held = len(problem.y), rows_in_memory(len(problem.y), problem.cache_mb)
    if m > MAX_WHOLE_VARIABLES:
        return Plan("sets", f"{m} variables, more than {MAX_WHOLE_VARIABLES}")
    if not WholeDescent.fits(problem, problem.cache_mb):
        return Plan("sets", f"{m} variables: -m {problem.cache_mb:g} has space for {held} kernel rows only")
    space = f"space for {min(held, problem.n)} kernel rows"
    return Plan("whole", f"{m} variables, at most {MAX_WHOLE_VARIABLES}, and {space}")


def solve(
    problem: KernelProblem, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to a largest violation of rule.dual.width, else to the monitor's gap.

    ValueError where `method` is `direct` and there is no direct solution of the problem.
    """
    eps = rule.dual.width if rule.dual else 0.0
    state = Decomposition(problem, capacity_for_rows(len(problem.y), problem.cache_mb), start)
    steps, moved, progress = _Steps(state, method, eps), True, Progress(base.FIRST_CHECK_ROUNDS, base.STALL_ROUNDS)
    polishing, least = False, None  # after a direct solution; the result with the smallest gap since then
    at_zero = value_at_zero(problem)[0]
    allowed = max_allowed_primal(problem) if problem.kernel.positive else -np.inf
    slower, at_minimum = direct.Slower(problem, eps if eps > 0.0 else monitor.gap or 0.0), False
    if method == "direct" and slower.cost == np.inf:
        raise ValueError("no direct solution: it needs finite costs, and few variables or a linear kernel")
    if method == "paper" or slower.cost == np.inf:
        slower = None
    m, max_work = len(problem.y), np.inf
    if not problem.kernel.positive:
        max_work = m * max(LIBSVM_STEPS, LIBSVM_STEPS_EACH * m)
    while True:
        violation, rho, r = state.certify()
        value, gap = state.value_and_gap(rho, r)
        relative = problem.relative(gap - value, -value)
        if monitor.gap is not None and at_zero <= gap - value <= allowed:
            # as good as w = 0 to within round-off, and the dual value shows that nothing is better
            relative = min(relative, problem.relative(at_zero, -value))
        close = monitor.gap is not None and relative <= monitor.gap  # as certified: in double precision
        done = violation <= eps or close
        try:
            doubtful = close or state.error() > (NEGLIGIBLE_ERROR * eps if done else MISLEADING_ERROR * violation)
            if not state.exact and (not moved or doubtful):
                state.refresh()
                moved = True
                continue
            better = least is None or relative < least.gap
            if polishing and better and (state.exact or not state.rows.single_suffices):
                least = state.result(value, gap, rho, r, 0, None)
                least.alpha = least.alpha.copy()
            status = monitor.step(gap - value, -value, relative, violation=violation)
            still = progress.stalls(gap, -value, violation if state.exact else None) or at_minimum
            still = still or (state.exact and not moved)
            if violation <= eps and status is not GAP:
                status = RULE if eps > 0.0 else OPTIMAL
            elif status is None and slower and (
                still or method == "direct" or slower.shown(steps.work, violation if eps > 0.0 else relative)
            ):
                why = "no more progress" if still else "it is cheaper than the SMO steps done and those still expected"
                slower, moved, still, progress = None, True, False, Progress(AFTER_DIRECT, base.STALL_ROUNDS)
                polishing, at_minimum = direct.go_to_minimum(state)
                if polishing:
                    monitor.uses(METHODS["direct"], why)
                    continue
            if status is None and still:
                if least is not None and least.gap < relative:  # round-off makes the gaps of rounds differ
                    least.iterations = monitor.iterations - 1
                    least.status = OPTIMAL if least.gap <= ROUNDOFF_GAP else PRECISION
                    return least
                status = OPTIMAL if relative <= ROUNDOFF_GAP else PRECISION
            if status is None and steps.work > max_work:
                status = STEPS
            if status is not None:
                return state.result(value, gap, rho, r, monitor.iterations - 1, status)
            moved = steps.take(violation, ROUND_COST * m if slower else 0.0)
        except EndedError:
            return state.result(value, gap, rho, r, monitor.iterations - 1, monitor.end())


class _Steps:
    """The steps of a run to violations of eps: among all variables, later or at once within working sets."""

    def __init__(self, state: Decomposition, method: str, eps: float):
        o, cache_mb = state.problem.options, state.problem.cache_mb
        self.state, self.eps, self.whole = state, eps, None
        if method == "paper":
            self.sets = PairSets(o.pairs or 50, o.delta_alpha, o.min_alpha_opt, o.max_alpha_opt, o.min_alpha_check)
            self.subproblem, self.pairs = augmented_lagrangian, None
            return
        self.sets = ViolatingSets(2 * (o.pairs or 1024))
        self.subproblem = self.pairs = PairDescent()
        if method == "whole" or (method == "direct" and WholeDescent.fits(state.problem, cache_mb)):
            self.whole = WholeDescent(state, cache_mb)

    @property
    def work(self) -> float:
        """Kernel values used so far; the paper's subproblems do not count them."""
        counted = self.whole or self.pairs
        return counted.work if counted else 0.0

    def take(self, violation: float, cost: float) -> bool:
        """Take the steps of a round; return whether any variable has moved.  cost: of a round besides its steps."""
        state, eps, whole = self.state, self.eps, self.whole
        if whole is not None:
            moved = whole.run(max(WHOLE_EPS_SHARE * eps, VIOLATION_SHARE * violation if eps == 0.0 else 0.0))
            if whole.hard or not moved:
                self.pairs.work, self.whole, moved = whole.work, None, True
            return moved
        chosen = self.sets.choose(state)
        if cost:
            self.pairs.work += cost
        tolerance = max(TOLERANCE_SHARE * eps, VIOLATION_SHARE * violation)
        return state.change(chosen, self.subproblem(state, chosen, tolerance))


def augmented_lagrangian(state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
    """Algorithm 2: the subproblem (3) by augmented Lagrangian and fast projected gradient, the paper's letters.

    g(a) = E a - E a_before with a row of E for each fixed sum; L_mu = 1/2 a'Qa + chi'a - lam'g + mu/2 |g|^2  (7).
    Returns new values f8 with max(nu, |g|) <= tolerance (10), (11), then corrected to the fixed sums.
    """
    p = state.problem
    y, upper, before = p.y[chosen], p.upper[chosen], state.a[chosen]
    K = state.rows.values(p.row[chosen], p.row[chosen]).astype(np.float64)
    Q = y[:, None] * (0.5 * (K + K.T)) * y
    chi = -y * state.F[chosen] - Q @ before
    E = np.stack([np.where(system[chosen], y if len(state.signs) == 1 else 1.0, 0.0) for system in state.signs])
    fixed = E @ before
    L = EIGENVALUE_MARGIN * _largest_eigenvalue(Q) + PENALTY * len(chosen)  # (16)
    a, used = before.copy(), E * ((before > 0) & (before < upper))
    lam = (used @ (Q @ a + chi)) / np.maximum(np.sum(used * used, axis=1), 1.0)  # slopes of these are 0 on average
    for _ in range(MAX_MULTIPLIER_STEPS):
        v, t = a.copy(), 1.0
        for _ in range(MAX_GRADIENT_STEPS):
            limits.check()
            step = np.clip(v - (Q @ v + chi - E.T @ (lam - PENALTY * (E @ v - fixed))) / L, 0.0, upper)
            slope = Q @ step + chi - E.T @ (lam - PENALTY * (E @ step - fixed))
            if float(np.sum((step - v) * (a - step))) > 0.0:  # momentum uphill is reset
                t = 1.0
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            v = step + (t - 1.0) / after * (step - a)
            a, t = step, after
            nu = np.where(a >= upper, np.maximum(slope, 0.0), np.abs(slope))
            nu[a <= 0.0] = np.maximum(-slope[a <= 0.0], 0.0)
            if nu.max(initial=0.0) < 0.5 * tolerance:
                break
        g = E @ a - fixed
        lam -= PENALTY * g  # (9)
        if np.abs(g).max(initial=0.0) <= tolerance:
            break
    for constraint, total in zip(E, fixed, strict=True):
        a = _with_sum(a, upper, constraint, total)
    return a


def _largest_eigenvalue(Q: np.ndarray) -> float:
    v = np.ones(len(Q))
    size = 0.0
    for _ in range(EIGENVALUE_STEPS):
        v = Q @ v
        size = float(np.linalg.norm(v))
        if size == 0.0:
            break
        v /= size
    return max(size, float(np.diag(Q).max(initial=0.0)), 1e-12)


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
    rest = total - float(e @ new)  # the round-off goes to a variable that can take it
    free = np.flatnonzero((e != 0.0) & (new + e * rest >= 0.0) & (new + e * rest <= upper))
    if len(free):
        new[free[0]] += e[free[0]] * rest
    return new
