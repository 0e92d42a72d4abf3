"""Kernel machines by decomposition with large working sets.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022), Algorithm 1: repeat until the global KKT conditions hold: choose a working set of l = 2p
variables; solve (3) over them, the others fixed; bring f = sum_t a_t y_t K(x_t, .) up to date with the rows of the
kernel matrix whose variables have changed.  The problem is in kernels/decomposition.py.

Differs from the paper in:
 1. Sets are large (p = 1024), half of a set is the newest half of the last one, and the subproblem is solved by steps
    of pairs (SMO) on its l x l block of the matrix.  papers/alfpgm.py is the paper's algorithm as printed.
 2. Small problems have no sets: steps choose among all variables (METHODS, `plan`).
 3. f is computed again in double precision where single precision could hide a violation.  Kernel values are in double
    precision once steps among all variables have cost more than these values do, or single precision makes no progress.
 4. If pairs have cost more than a direct solution (kernels/direct.py) and are expected to cost as much again, they
    continue from that where its value is lower.
 5. A run to -e that ends with a certified gap above SLOW_MIN_GAP goes on for at most as much work again, the program's
    start included; the result is the one of these points with the smallest primal value.
 6. Of several classes, pairs of few rows are solved many in one call, by the same steps
    (training/kernel/fused_pairs.py).
Stops when: the KKT conditions hold over all variables to -e, or the certified gap is reached; at LIBSVM's limit of
steps with -e, or where the kernel may be indefinite.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.kernel import max_allowed_primal, value_at_zero
from svmtool.engine.slower import Slower
from svmtool.kernels import direct
from svmtool.kernels.decomposition import Decomposition, ViolatingSets
from svmtool.kernels.pair_descent import (
    EPS_SHARE,
    MAX_WHOLE_VARIABLES,
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
from svmtool.solvers.shared.base import OPTIMAL, PRECISION, RULE, STEPS, Monitor, Plan, Rule, Status
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import FIRST_CHECK_STEPS, NEGLIGIBLE_ERROR, ROUNDOFF_GAP, SLOW_MIN_GAP, SUM_RTOL

MISLEADING_ERROR = 0.5  # share of the violation from which errors of f mislead steps
# LIBSVM's own limit of steps, at least and for each of the l variables; as many, of l values each, are the most work
# with a kernel that may be indefinite, where SMO may not terminate.  1,500 rows of each of 12 sets, polynomials
# with r = -1 and sigmoids: the 28 of 48 runs that take such steps take 7e-5 of it in the median, 0.27 at most
LIBSVM_STEPS, LIBSVM_STEPS_EACH = 1e7, 100.0

METHODS = {
    "whole": "SMO steps over all variables",
    "sets": "SMO steps within working sets",
    "direct": "SMO steps from a direct solution",
    "double": "SMO steps with kernel values in double precision",
}


def plan(problem: KernelProblem, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose how the run begins: steps among all variables if there are not many, and memory for some kernel rows.

    Where steps beside other pairs have cost as much as the direct solution, this follows.
    """
    m, held = len(problem.y), rows_in_memory(len(problem.y), problem.cache_mb)
    if problem.spent and problem.spent >= direct.cost(problem):
        return Plan("direct", "steps beside other pairs of classes have cost as much")
    if m > MAX_WHOLE_VARIABLES:
        return Plan("sets", f"{m} variables, more than {MAX_WHOLE_VARIABLES}")
    if not WholeDescent.fits(problem, problem.cache_mb):
        return Plan("sets", f"{m} variables: -m {problem.cache_mb:g} has space for {held} kernel rows only")
    space = f"space for {min(held, problem.n)} kernel rows"
    return Plan("whole", f"{m} variables, at most {MAX_WHOLE_VARIABLES}, and {space}")


def solve(
    problem: KernelProblem, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to a largest violation of rule.range, else to the monitor's gap.

    ValueError where `method` is `direct` and there is no direct solution of the problem.
    """
    run = _Run(problem, monitor, rule.range or 0.0, start, method)
    while True:
        try:
            result = run.advance()
        except EndedError:
            result = run.ended()
        if result is not None:
            return result


class _Run:
    """A run: rounds of steps, and what ends them."""

    def __init__(self, problem: KernelProblem, monitor: Monitor, eps: float, start: np.ndarray | None, method: str):
        self.problem, self.monitor, self.eps, self.method = problem, monitor, eps, method
        self.state = Decomposition(problem, capacity_for_rows(len(problem.y), problem.cache_mb), start)
        self.steps = _Steps(self.state, method, eps)
        self.progress = Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
        self.moved, self.misled, self.idle, self.at_minimum = True, 0, 0, False
        self.ruled = False  # whether the rule of -e has held: the run goes on to polish its certificate
        self.least: KernelResult | None = None  # the result with the smallest primal value
        self.lowest: tuple[float, np.ndarray] = np.inf, self.state.a  # the least value of the programme, and its point
        self.at_zero = value_at_zero(problem)[0]
        self.allowed = max_allowed_primal(problem) if problem.kernel.positive else -np.inf
        self.slower: Slower | None = Slower(direct.cost(problem), eps if eps > 0.0 else monitor.gap or 0.0)
        if method == "direct" and self.slower.cost == np.inf:
            raise ValueError("no direct solution: it needs finite costs, and few variables or a linear kernel")
        if self.slower.cost == np.inf:
            self.slower = None
        m = len(problem.y)
        limited = eps > 0.0 or not problem.kernel.positive
        self.max_work = m * max(LIBSVM_STEPS, LIBSVM_STEPS_EACH * m) if limited else np.inf

    def advance(self) -> KernelResult | None:
        """Examine the present point, then make a round of steps; returns the result at the end of the run."""
        state, eps, monitor = self.state, self.eps, self.monitor
        violation, self.rho, self.r = state.certify()
        self.value, gap = state.value_and_gap(self.rho, self.r)
        self.gap, primal, dual = gap, gap - self.value, -self.value
        self.relative = self.problem.relative(primal, dual)
        if monitor.gap is not None and self.at_zero <= primal <= self.allowed:
            # as good as w = 0 to within round-off, and the dual value shows that nothing is better
            self.relative = min(self.relative, self.problem.relative(self.at_zero, dual))
        close = self._close(self.relative)  # as certified: in double precision
        done = violation <= eps or close
        doubtful = close or state.error() > (NEGLIGIBLE_ERROR * eps if done else MISLEADING_ERROR * violation)
        if not state.exact and (not self.moved or doubtful):
            state.refresh()
            self.moved = True
            return None
        if state.exact or not state.single or not state.rows.own_suffice:
            self._keep(violation > eps and state.error_of_steps() > MISLEADING_ERROR * violation)
        status = monitor.step(primal, dual, self.relative, violation=violation)
        stalls = self.progress.stalls(gap, dual, violation if state.exact else None)
        stalls = stalls and (self.eps == 0.0 or state.single)  # to the rule of -e as long as LIBSVM
        still = stalls or self.at_minimum or self.idle >= base.STALL_ROUNDS or (state.exact and not self.moved)
        uncertain = state.single and not violation <= self.eps
        if status is None and uncertain and (self.steps.hard or self.misled > 1 or still):
            self._use_double()
            return None
        if status is None and (violation <= self.eps or (self.ruled and close)):
            status = self._by_rule()
        if status is None and self._goes_directly(still, violation):
            return None
        if status is None and still:
            status = OPTIMAL if self.relative <= ROUNDOFF_GAP else PRECISION
        if status is None and self.steps.work > self.max_work:
            status = STEPS
        if status is not None:
            return self._best(status)
        most = self.max_work - self.steps.work
        if self.slower is not None and not self.ruled:
            most = min(most, self.slower.unknown(self.steps.work))
        self.moved = self.steps.take(violation, most)
        return None

    def _close(self, relative: float) -> bool:
        """Whether a relative gap is the one that ends the run."""
        wanted = SLOW_MIN_GAP if self.ruled else self.monitor.gap
        return wanted is not None and relative <= wanted

    def _enough(self, violation: float, relative: float) -> bool:
        """Whether a violation and a relative gap end the run: by the rule of -e without polishing, or by the gap."""
        return self._close(relative) or (violation <= self.eps and relative <= SLOW_MIN_GAP)

    def ended(self) -> KernelResult:
        """The result after a limit within a round."""
        return self._best(self.monitor.end())

    def _best(self, status: Status) -> KernelResult:
        """The present result, or an earlier one with a smaller primal value where nothing else decides between them."""
        status, found, count = RULE if self.ruled else status, self.least, self.monitor.iterations - 1
        present = self.state.result(self.value, self.gap, self.rho, self.r, count, status)
        if found is None or not found.primal < self.gap - self.value or (status.converged and not self.ruled):
            return present
        if self.value < found.objective:
            found.dual_point = present
        found.gap = self.problem.relative(found.primal, -min(self.value, found.objective))
        found.iterations = count
        found.status = OPTIMAL if status is PRECISION and found.gap <= ROUNDOFF_GAP else status
        return found

    def _keep(self, misled: bool) -> None:
        """Count the rounds in a row that round-off misled, and those without a better value; keep what is best."""
        self.misled = self.misled + 1 if misled else 0
        least, primal = self.lowest[0], self.gap - self.value
        lower = self.value < least - SUM_RTOL * min(abs(least), abs(self.value))
        nearer = self.least is None or primal < self.least.primal
        self.idle = 0 if lower or nearer else self.idle + 1
        if self.value < least:
            self.lowest = self.value, self.state.a.copy()
        if nearer:
            self.least = self.state.result(self.value, self.gap, self.rho, self.r, 0, None)
            self.least.alpha, self.least.primal = self.least.alpha.copy(), primal

    def _use_double(self) -> None:
        """Continue from the best point with kernel values in double precision."""
        self.misled, self.moved = 0, True
        why = "many steps" if self.steps.hard else "no more progress in single precision"
        self.monitor.uses(METHODS["double"], why)
        self.idle, self.progress = 0, Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
        self.state.use_double()
        if self.lowest[0] < self.state.value():
            self.state.go_to(self.lowest[1])
        self.steps = _Steps(self.state, self.method, self.steps.eps, self.steps.work)

    def _by_rule(self) -> Status | None:
        """The status where the rule holds; None if the run goes on to polish a poor certificate.

        Polishing takes at most as long as the run so far, with this problem's share of the program's start.
        """
        if self.eps == 0.0:
            return OPTIMAL
        if self.relative <= SLOW_MIN_GAP or not self.problem.kernel.positive:
            return RULE
        self.ruled, self.least = True, None
        self.eps = self.steps.eps = 0.0
        self.max_work = 2.0 * self.steps.work + direct.START_VALUES / self.problem.beside
        self.progress = Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
        self._keep(False)
        return None

    def _goes_directly(self, still: bool, violation: float) -> bool:
        """Take the direct solution where that is expected to be faster; whether it has changed the point."""
        if self.slower is None:
            return False
        work, why = self.steps.work, "it is cheaper than the SMO steps done and those still expected"
        if self.ruled:
            wanted, why = work + self.slower.cost <= self.max_work, "the rule of -e holds with a poor certificate"
        else:
            wanted = self.method == "direct" or self.slower.shown(work, violation if self.eps > 0.0 else self.relative)
        if still and not wanted:
            wanted, why = not self.ruled, "no more progress"
        if not wanted:
            return False
        self.steps.work += self.slower.cost
        self.slower, self.moved = None, True
        self.progress = Progress(base.STALL_ROUNDS, base.STALL_ROUNDS)  # only round-off is left
        changed, self.at_minimum = direct.go_to_minimum(self.state, self._enough)
        if changed:
            self.monitor.uses(METHODS["direct"], why)
        return changed


class _Steps:
    """The steps of a run to violations of eps: among all variables, later or at once within working sets.

    work: kernel values used so far.  hard: whether steps in single precision among all variables have read each kernel
    value many times, so that values in double precision cost less than steps.
    """

    def __init__(self, state: Decomposition, method: str, eps: float, work: float = 0.0):
        cache_mb = state.problem.cache_mb
        self.state, self.eps, self.whole, self.work, self.hard = state, eps, None, work, False
        self.sets, self.pairs = ViolatingSets(), PairDescent()
        self.fits_double = WholeDescent.fits(state.problem, cache_mb, 8)
        fits = WholeDescent.fits(state.problem, cache_mb) if state.single else self.fits_double
        if method in ("whole", "direct") and fits:
            self.whole = WholeDescent(state, cache_mb)

    def take(self, violation: float, most: float) -> bool:
        """Take the steps of a round; return whether any variable has moved.

        most: values of kernel rows after which steps among all variables end.
        """
        state, eps, whole, by = self.state, self.eps, self.whole, self.whole or self.pairs
        before = by.work
        if whole is not None:
            moved = whole.run(max(EPS_SHARE * eps, VIOLATION_SHARE * violation if eps == 0.0 else 0.0), most)
            self.hard = whole.hard and self.fits_double
            if not moved or whole.full:
                self.whole, moved = None, True
        else:
            chosen = self.sets.choose(state)
            tolerance = max(TOLERANCE_SHARE * eps, VIOLATION_SHARE * violation)
            moved = state.change(chosen, self.pairs(state, chosen, tolerance))
        self.work += by.work - before
        return moved
