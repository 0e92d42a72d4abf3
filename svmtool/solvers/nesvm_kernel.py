"""NESVM's problems with a kernel: K in place of X, the answer in coefficients c of K's columns, |w|^2 = c'Kc.

Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, "Kernel SVMs".

C-SVM (45-48): Algorithm 2, homotopy, with what solvers/nesvm.py changes in it for linear ones: the prox-function's
centre u0 moves to the last stage's u, so that the smoothing vanishes without mu going to zero; step (33) is taken in
the metric of F_mu's curvature, to the exact minimiser along its direction (kernels/smoothed.py).
LS-SVM (53-56) is one quadratic: there is nothing to smooth, and conjugate gradients take the place of the optimal
gradient's momentum.
Among several classes the C-SVMs of pairs of few rows are solved by steps of pairs of variables instead, many in
one call (training/kernel/pairs_together.py).
Stops when: the certified relative gap is as small as asked for.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.zero_model import above_zero
from svmtool.errors import SvmtoolError
from svmtool.kernels.conjugate import Conjugate
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.problems import KernelProblem, KernelResult, LeastSquaresSvc
from svmtool.kernels.rows import ROUNDING
from svmtool.kernels.smoothed import SmoothedHinge
from svmtool.limits import EndedError
from svmtool.solvers.shared.base import OPTIMAL, PRECISION, RULE, Monitor
from svmtool.solvers.shared.progress import Progress
from svmtool.solvers.shared.residual import rounds, without_rows
from svmtool.tolerances import ROUNDOFF_GAP

MU, MU_RISE, MU_LEAST = 0.3, 1e2, 1e-8  # the first mu, what it is raised by at most where C is large; the last
SHRINK = 0.4  # of mu from stage to stage
STAGE, STEPS = 0.1, 20  # a stage ends when the gradient is this small beside the way that C u has to go; steps at most
CLEAR = 0.05  # share of the gap's root up to which errors of decision values do not matter
PATIENCE = 12  # stages without a smaller gap, after which what is left is rounding
LOST = 4  # stages that one counts for which has neither found F_mu's minimum nor a smaller gap
EVALUATIONS = 8  # stages before the first check of progress


def c_svm(problem: KernelProblem, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0) -> KernelResult:
    """Hinge loss with a free bias, until the monitor's gap is reached, or a largest violation of eps."""
    state = Decomposition(problem, cache_mb / 2)
    smoothed = SmoothedHinge(state, cache_mb / 2)
    C = problem.upper
    mu = MU * min(max(1.0, float(np.mean(C))), MU_RISE)
    stalled, count, progress, minimised = 0, 0, Progress(EVALUATIONS), True
    best: KernelResult | None = None
    # what rounding adds to the systems' kernel values hides the diagonal that makes them solvable
    beyond = ROUNDING * float(state.sizes.max(initial=0.0)) * float(np.max(C, initial=0.0)) > mu
    while True:
        violation, rho, r = state.certify()
        value, gap = state.value_and_gap(rho, r)
        found = problem.relative(gap - value, -value)
        close = monitor.gap is not None and found <= monitor.gap  # as the certificate will have it: in double precision
        try:
            doubtful = close or (violation <= eps and state.error() * float(np.sum(C)) > CLEAR * gap)
            if doubtful and not state.exact:
                state.refresh()
                continue
            status = monitor.step(gap - value, -value, found, violation=violation, mu=mu)
            if status is None and violation <= eps:
                status = RULE if eps > 0.0 else OPTIMAL
            if best is None or found < best.gap:
                best, stalled = state.result(value, gap, rho, r, count, status), 0
            else:
                stalled += 1 if minimised else LOST
                if stalled >= PATIENCE // 2 and not state.exact:
                    state.refresh()
            if status is None:
                status = monitor.limit(count)
            if above_zero(problem, -value):  # the kernel is indefinite: F_mu has no minimum that stages would find
                beyond = True
            if status is None and (beyond or progress.stalls(gap, -value) or stalled >= PATIENCE):
                status = OPTIMAL if best.gap <= ROUNDOFF_GAP else PRECISION
            if status is None:
                smoothed.begin(mu)
                steps, minimised = _stage(smoothed, monitor)
                count += steps
                smoothed.settle()
        except EndedError:
            status = monitor.end()
        if status is not None:
            best = best or state.result(value, gap, rho, r, count, status)
            best.status, best.iterations = status, count
            return best
        mu = max(mu * SHRINK, MU_LEAST)


def _stage(smoothed: SmoothedHinge, monitor: Monitor) -> tuple[int, bool]:
    """Steps towards the minimum of F_mu, while Newton's system has a solution in numbers.

    Returns how many, and whether the last is as near to it as a stage is to come.
    """
    steps, left, way = 0, np.inf, 0.0
    while left > STAGE * way and steps < STEPS and not monitor.ended():
        try:
            d, db, _ = smoothed.newton()
        except SvmtoolError:
            break
        if not (np.all(np.isfinite(d)) and np.isfinite(db)):
            break
        smoothed.step(d, db)
        steps += 1
        goal = smoothed.slopes(smoothed.b)
        left = float(np.abs(goal - smoothed.c).max())
        way = float(np.abs(goal - smoothed.y * smoothed.C * smoothed.u0).max())
    return steps, left <= STAGE * way


def ls_svm(problem: LeastSquaresSvc, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0) -> KernelResult:
    """Least squares of the margins, to residuals of eps (0: until the monitor's gap is reached)."""
    if problem.n == 0:
        return without_rows(problem, monitor)
    return rounds(Conjugate(problem, cache_mb), monitor, eps, directly=True)
