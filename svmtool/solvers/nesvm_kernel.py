"""NESVM's C-SVM with a kernel: K in place of X, the solution in coefficients c of K's columns, |w|^2 = c'Kc.  -s 50.

Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, "Kernel SVMs".

C-SVM (45-48) by Algorithm 2, homotopy.  Differs from the paper in:
 1. The centre u0 of the prox-function moves to the last stage's u, so that the smoothing vanishes without mu going to
    zero, as in solvers/nesvm.py.
 2. Step (33) is taken in the metric of F_mu's curvature, to the exact minimiser along its direction
    (kernels/smoothed.py).
 3. Of several classes, pairs of few rows are solved by steps of pairs of variables, many in one call
    (training/kernel/fused_pairs.py).
Stops when: the certified relative gap is reached.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.kernel import above_zero
from svmtool.errors import SvmtoolError
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.results import KernelResult
from svmtool.kernels.rows import SINGLE_ROUNDOFF
from svmtool.kernels.smoothed import MAX_FACTORISED_ROWS, SmoothedHinge
from svmtool.limits import EndedError
from svmtool.solvers.shared.base import OPTIMAL, PRECISION, RULE, Monitor, Plan, Rule
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import ROUNDOFF_GAP

KERNEL_MU, KERNEL_MU_RISE, KERNEL_MU_MIN = 0.3, 1e2, 1e-8  # first mu, its largest factor for large C, least mu
KERNEL_MU_FACTOR = 0.4  # of mu from stage to stage
KERNEL_STAGE_RTOL, STAGE_STEPS = 0.1, 20  # a stage ends at this ratio of the gradient to the change of C u, or by steps
NEGLIGIBLE_SCORE_ERROR = 0.05  # share of the gap's root up to which errors of decision values do not matter
STALL_STAGES = 12  # stages without a smaller gap, after which only round-off is left
LOST_STAGE_WEIGHT = 4  # a stage that finds neither the minimum of F_mu nor a smaller gap counts as this many
FIRST_CHECK_STAGES = 8  # stages before the first check of progress

METHODS = {  # most rows of a Newton system that is factorised; conjugate gradients solve larger ones
    "factorised": "stages of the smoothed loss: Newton steps by a factorised system",
    "mixed": f"stages of the smoothed loss: Newton steps by a system factorised up to {MAX_FACTORISED_ROWS} rows",
    "cg": "stages of the smoothed loss: Newton steps by conjugate gradients",
    "none": "no stage: decomposition by SMO steps takes over",
}
# rows in the system that is factorised, by method
FACTORISED_ROWS = {"factorised": np.inf, "mixed": MAX_FACTORISED_ROWS, "cg": 0, "none": MAX_FACTORISED_ROWS}


def plan(problem: KernelProblem, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose how Newton's systems are solved; `none` where rounding of kernel values hides their diagonal, mu / C."""
    size, n = float(np.abs(problem.diagonal()).max(initial=0.0)), problem.n
    C = float(np.max(problem.upper, initial=0.0))
    if SINGLE_ROUNDOFF * size * C > _first_mu(problem):
        return Plan("none", f"kernel values up to {size:.2g} in single precision at a cost of {C:g} hide the smoothing")
    if n <= MAX_FACTORISED_ROWS:
        return Plan("factorised", f"{n} rows, at most {MAX_FACTORISED_ROWS}")
    return Plan("mixed", f"{n} rows, more than {MAX_FACTORISED_ROWS}")


def _first_mu(problem: KernelProblem) -> float:
    return KERNEL_MU * min(max(1.0, float(np.mean(problem.upper))), KERNEL_MU_RISE)


def solve(
    problem: KernelProblem, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Hinge loss with a free bias, to a largest violation of rule.dual.width or to the monitor's gap."""
    eps = rule.dual.width if rule.dual else 0.0
    state = Decomposition(problem, problem.cache_mb / 2, start)
    smoothed = SmoothedHinge(state, problem.cache_mb / 2, FACTORISED_ROWS[method])
    C, mu = problem.upper, _first_mu(problem)
    stalled, count, progress, minimised = 0, 0, Progress(FIRST_CHECK_STAGES), True
    best: KernelResult | None = None
    beyond = method == "none"
    while True:
        violation, rho, r = state.certify()
        value, gap = state.value_and_gap(rho, r)
        relative_gap = problem.relative(gap - value, -value)
        close = monitor.gap is not None and relative_gap <= monitor.gap  # as certified: in double precision
        try:
            doubtful = close or (violation <= eps and state.error() * float(np.sum(C)) > NEGLIGIBLE_SCORE_ERROR * gap)
            if doubtful and not state.exact:
                state.refresh()
                continue
            status = monitor.step(gap - value, -value, relative_gap, violation=violation, mu=mu)
            if status is None and violation <= eps:
                status = RULE if eps > 0.0 else OPTIMAL
            if best is None or relative_gap < best.gap:
                best, stalled = state.result(value, gap, rho, r, count, status), 0
            else:
                stalled += 1 if minimised else LOST_STAGE_WEIGHT
                if stalled >= STALL_STAGES // 2 and not state.exact:
                    state.refresh()
            if status is None:
                status = monitor.limit(count)
            if above_zero(problem, -value):  # the kernel is indefinite: F_mu has no minimum
                beyond = True
            if status is None and (beyond or progress.stalls(gap, -value) or stalled >= STALL_STAGES):
                status = OPTIMAL if best.gap <= ROUNDOFF_GAP else PRECISION
            if status is None:
                smoothed.begin(mu)
                steps, minimised = _stage(smoothed, monitor)
                count += steps
                smoothed.update_state()
        except EndedError:
            status = monitor.end()
        if status is not None:
            best = best or state.result(value, gap, rho, r, count, status)
            best.status, best.iterations = status, count
            return best
        mu = max(mu * KERNEL_MU_FACTOR, KERNEL_MU_MIN)


def _stage(smoothed: SmoothedHinge, monitor: Monitor) -> tuple[int, bool]:
    """Step towards the minimum of F_mu, as long as Newton's system has a finite solution.

    Returns the number of steps, and whether the stage is complete.
    """
    steps, distance, way = 0, np.inf, 0.0
    while distance > KERNEL_STAGE_RTOL * way and steps < STAGE_STEPS and not monitor.ended():
        try:
            d, db, _ = smoothed.newton()
        except SvmtoolError:
            break
        if not (np.all(np.isfinite(d)) and np.isfinite(db)):
            break
        smoothed.step(d, db)
        steps += 1
        goal = smoothed.slopes(smoothed.b)
        distance = float(np.abs(goal - smoothed.c).max())
        way = float(np.abs(goal - smoothed.y * smoothed.C * smoothed.u0).max())
    return steps, distance <= KERNEL_STAGE_RTOL * way
