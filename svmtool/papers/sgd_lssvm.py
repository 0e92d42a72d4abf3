"""SGD-LSSVM, as printed: the linear LS-SVM in the feature space of a kernel, by steepest sub-gradients.
Paper: K. Nguyen, T. Le, V. Lai, D. Nguyen, D. Tran, W. Ma, Least Square Support Vector Machine for Large-scale
Dataset, IJCNN 2015: -s 73, Algorithm 2 (`compiled/loops/kernel/steepest_loops.py` is the body of its loop).

    min_w  1/2 |w|^2 + C sum_i xi_i^2,   y_i w'phi(x_i) = 1 - xi_i                                               (4)
    min_alpha  f(alpha) = 1/2 alpha'Q alpha - e'alpha,   Q_ij = y_i y_j K~(x_i, x_j) + nu delta_ij,  nu = 1/(2C)

phi has the constant 1 appended, so that K~ = K + 1.  Letters: g = Q alpha - e;  B: the t indices of the largest |g_i|.
The loop has c_i = y_i alpha_i, e_i = -y_i g_i, and nu_i = 1/(2 C_i), the paper's nu for rows of their own C_i.
"""

from __future__ import annotations

import sys
from collections.abc import Generator

import numpy as np

from svmtool.compiled.loops.kernel.steepest_loops import steepest_steps
from svmtool.errors import SvmtoolError
from svmtool.kernels.decomposition import largest
from svmtool.kernels.least_squares import Residuals
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.papers.running import Point, Tolerance, run
from svmtool.registry.row import About
from svmtool.solvers.shared.base import INDEFINITE, PRECISION, RULE, Monitor, Plan, Status
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import FIRST_CHECK_STEPS, NEGLIGIBLE_ERROR, SAME_RTOL

T = 1  # t without --sgd-rows: the paper recommends 1 or 2
PREFETCH_ROWS = 64  # kernel rows computed at a time
SLOW = Status(
    "slow", False,
    "-e would take a thousand times as many iterations as so far: scale the features (svm-scale) or use --method fast",
)  # fmt: skip
CALL_STEPS = 1000  # iterations between two records

METHODS = {"paper": "SGD-LSSVM, Algorithm 2: steepest sub-gradient steps in t variables"}
ABOUT = {
    73: About(
        "Algorithm 2: alpha = 0; B = the t = --sgd-rows (default 1) largest |g_i|; a_i = sum_(j in B) g_j y_j K~_ij; "
        "theta = g_B'g_B / (nu g_B'g_B + sum_B g_i y_i a_i); alpha_B -= theta g_B; g_B <- (1 - nu theta) g_B; "
        "g_i -= theta y_i a_i; until |g|_inf < -e (default 0.01)",
        (
            "K~ = K + 1 for the constant that print appends to phi",
            "rows with their own C_i, which print does not have, have their own nu_i = 1/(2 C_i)",
            "kernel values are single precision, kept up to -m MB; g is computed anew in double precision where "
            "their error could matter for -e, and before the run ends",
            "it ends, not converged, where theta's divisor or a dual value above P(0) shows that the kernel is not "
            "positive definite, and where -e would take a thousand times as many iterations as so far",
        ),
        "t rows of the kernel matrix, of n values each, and about n (t + 3) more operations",
        "conjugate gradients, and a direct solution of few rows",
    ),
}  # fmt: skip


class Steepest:
    """Iterations with B of t variables, from alpha = start (None: zeros); count: how many there have been.

    SvmtoolError where `cache_mb` has no room for t kernel rows.
    """

    def __init__(self, problem: LeastSquaresSvc, cache_mb: float, t: int, start: np.ndarray | None = None):
        self.state, self.t, self.count = Residuals(problem, cache_mb, start), t, 0
        self.ahead = min(max(t, PREFETCH_ROWS), self.state.rows.capacity)
        if self.ahead < t:
            raise SvmtoolError(f"ERROR: --sgd-rows {t}: -m holds only {self.ahead} rows of the kernel matrix: raise -m")
        self.chosen = np.arange(t, dtype=np.uint64)  # B of the next iteration
        self.pull, self.nothing = np.empty(problem.n), np.zeros(problem.n)

    def run(self, eps: float, most: int) -> bool:
        """Make at most `most` iterations, fewer where |g|_inf < eps; return whether theta's divisor is positive."""
        end, positive = self.count + most, True
        while positive and self.count < end:
            before = self.count
            positive = self._with_cached_rows(eps, end - before)
            if self.count == before and not np.any(self.state.rows.slot[self.chosen.astype(np.int64)] < 0):
                break
        return positive

    def _with_cached_rows(self, eps: float, most: int) -> bool:
        """Iterate while the kernel rows of B are cached."""
        state, rows = self.state, self.state.rows
        now = self.chosen.astype(np.int64)
        if np.any(rows.slot[now] < 0):
            others = largest(np.abs(state.e), self.ahead)
            wanted = np.concatenate((now, others[~np.isin(others, now)]))[: self.ahead]
            rows.add(wanted, np.zeros(len(wanted)), self.nothing, np.ones(len(wanted), bool))
        steps = steepest_steps(
            rows.store, rows.slot, rows.used, state.D, state.e, state.c, self.chosen, self.pull, len(self.pull),
            self.t, state.problem.shift, np.nextafter(eps, 0.0), rows.clock, most,
        )  # fmt: skip
        self.count += steps if steps >= 0 else -1 - steps
        return steps >= 0


def algorithm_2(
    steps: Steepest, eps: float, every: int = 1, most: int = sys.maxsize
) -> Generator[Point, None, Status]:  # fmt: skip
    """Yield alpha and g after each `every` iterations of Algorithm 2, and after `most`; first the start.

    A dual value above P(0) proves that the kernel is not positive definite.
    """
    state, y = steps.state, steps.state.problem.y
    beyond = (1.0 + SAME_RTOL) * float(np.sum(state.problem.cost))
    progress, positive, before = Progress(FIRST_CHECK_STEPS), True, (state.c, state.e)
    while True:
        worst, (dual, gap) = float(np.abs(state.e).max()), state.values()  # worst: |g|_inf
        if not np.isfinite(worst + dual + gap):
            state.c, state.e = before
            return PRECISION
        doubtful = worst < eps or not dual <= beyond or state.error() > NEGLIGIBLE_ERROR * max(worst, eps)
        if doubtful and not state.exact:
            state.refresh()
            continue
        alpha, g = y * state.c, -y * state.e
        yield Point(state.c, dual + gap, dual, {"violation": worst}, number=steps.count, alpha=alpha, g=g)
        if worst < eps:
            return RULE
        if not (positive and dual <= beyond):
            return INDEFINITE
        if progress.stalls(gap, dual):
            return SLOW
        before = state.c.copy(), state.e.copy()
        positive = steps.run(eps, min(every, most - steps.count))


def plan(problem: LeastSquaresSvc, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan: there is one method."""
    return Plan("paper", f"t = {problem.options.sgd_rows or T}")


def solve(
    problem: LeastSquaresSvc, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to |g|_inf < rule.eps from alpha = start (zeros if None); SvmtoolError as Steepest."""
    if problem.n == 0:
        monitor.step(0.0, 0.0, 0.0)
        return KernelResult(np.zeros(0), 0.0, 0.0, 0.0, 0.0, 0, RULE, np.zeros(0))
    steps = Steepest(problem, problem.cache_mb, min(problem.options.sgd_rows or T, problem.n), start)
    most = sys.maxsize if monitor.max_iter is None else monitor.max_iter
    _, status = run(algorithm_2(steps, rule.eps, CALL_STEPS, most), monitor)
    return steps.state.result(steps.count, status)
