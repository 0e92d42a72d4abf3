"""LS-SVM with a kernel by steepest sub-gradient: -s 73.

Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015, Algorithm 2: repeat until
|g|_inf < eps: B = the t largest |g_i|; the best step along g_B.  The problem is kernels.problems.LeastSquaresSvc, its
bias regularised.

    paper: a_i, g_i, B, nu, Q     code: y_i c_i, -y_i e_i, chosen, D_i, K + 1 with the signs y_i y_j

These steps are used with --sgd-rows t; kernel rows of the largest |g_i| are computed together and cached.
Differs from the paper in: by default steps use all of g and are conjugate (kernels/conjugate.py); g is computed again
in double precision where single precision could hide its size.
Stops when: |g|_inf <= -e, or the certified gap is reached.  Memory: the cache, 8 vectors of n.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.kernel.steepest_loops import steepest_steps
from svmtool.errors import SvmtoolError
from svmtool.kernels.decomposition import largest
from svmtool.kernels.least_squares import Residuals
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.solvers.shared import kernel_least_squares
from svmtool.solvers.shared.base import Monitor, Plan, Rule

PREFETCH_ROWS = 64  # kernel rows computed at a time
T = 1  # variables of a steepest step without --sgd-rows
METHODS = {**kernel_least_squares.METHODS, "steepest": "steps along the largest entries of the gradient"}


def plan(problem: LeastSquaresSvc, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose how the run begins."""
    t = problem.options.sgd_rows
    return kernel_least_squares.plan(problem, rule, start) if t is None else Plan("steepest", f"--sgd-rows {t}")


def solve(
    problem: LeastSquaresSvc, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to |g|_inf <= rule.dual.width, else to the monitor's gap.

    SvmtoolError where the memory for kernel rows is too small for --sgd-rows of them.
    """
    if problem.n == 0 or method != "steepest":
        return kernel_least_squares.solve(problem, monitor, rule, start, seed, method)
    steps = Steepest(problem, problem.cache_mb, min(problem.options.sgd_rows or T, problem.n), start)
    return kernel_least_squares.rounds(steps, monitor, rule.dual.width if rule.dual else 0.0)


class Steepest:
    """Steps over t variables at a time, from alpha = start (None: zeros); count: how many there have been."""

    def __init__(self, problem: LeastSquaresSvc, cache_mb: float, t: int, start: np.ndarray | None = None):
        self.state, self.t, self.count = Residuals(problem, cache_mb, start), t, 0
        self.ahead = min(max(t, PREFETCH_ROWS), self.state.rows.capacity)
        if self.ahead < t:
            raise SvmtoolError(f"ERROR: --sgd-rows {t}: -m holds only {self.ahead} rows of the kernel matrix: raise -m")
        self.chosen = np.arange(t, dtype=np.uint64)  # variables of the next step
        self.pull, self.nothing = np.empty(problem.n), np.zeros(problem.n)

    def restart(self) -> None:
        """Nothing to do: steps do not depend on the last one."""

    def run(self, eps: float, max_steps: int) -> bool:
        """Step while the kernel rows are cached, `max_steps` steps at most, or until |g|_inf <= eps."""
        state, rows = self.state, self.state.rows
        now = self.chosen.astype(np.int64)
        if np.any(rows.slot[now] < 0):
            others = largest(np.abs(state.e), self.ahead)
            wanted = np.concatenate((now, others[~np.isin(others, now)]))[: self.ahead]
            rows.add(wanted, np.zeros(len(wanted)), self.nothing, np.ones(len(wanted), bool))
        steps = steepest_steps(
            rows.store, rows.slot, rows.used, state.D, state.e, state.c, self.chosen, self.pull, len(self.pull),
            self.t, state.problem.shift, eps, rows.clock, max_steps,
        )  # fmt: skip
        self.count += steps if steps >= 0 else -1 - steps
        return steps >= 0
