"""NESVM: Nesterov's smoothing.      min_w  R(w) + sum_i C_i l(1 - y_i x_i.w)
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010.
Algorithm 1 (`plain`), Eqs. 33-35, 43; Algorithm 2, homotopy (solvers/shared/homotopy.py), Eq. 44.
C-SVM (45-48): R = 1/2 |w|^2, l hinge.  LS-SVM (53-56): R = 1/2 |w|^2, l least squares.

Notation   paper: L(y X_i, w)   u_i      mu |X_i|_inf   w*      code: sum of l   C_i u_i = a_i   mu s_i   start
Algorithm 1 differs from the paper in:
 1. L_mu by power iteration: (48) is n times too large at worst, and (56) is no upper bound.
 2. It stops by the certified gap of the unsmoothed problem, or where what is left of it is mu's doing.
Algorithm 2 differs from the paper in:
 1. The prox-function is sum (u_i - u0_i)^2, and u0 moves to the last stage's u: the smoothing vanishes with u - u0
    and mu need not go to zero for the exact answer.  mu falls geometrically.
 2. A stage ends when its gradient is small beside the way that u has to go.
 3. Where d is small, step (33) is taken in the metric of F_mu's curvature at w instead of L_mu I, to the exact
    minimiser along its direction: what momentum gains is a part of what this gains.
 4. On sparse rows of few features one coordinate pass over the dual says where the first stage begins.
 5. Where d is large, the stage's dual is climbed coordinate by coordinate, each with its own Lipschitz constant
    |x_i|^2; a free bias is kept by a proximal term, whose centre moves as u0 does.
 6. LS-SVM has nothing to smooth: one stage.  Where d is large conjugate gradients climb on both sides of the gap
    (linalg/golub_kahan.py), or a system of few rows ends the run.
 7. LP-SVM in many features, or in fewer with few non-zeros, is solved from both sides at once by proximal steps
    (restarted_pdhg.py); where these are too slow stages take columns in as the dual point asks for them
    (column_generation.py).
 8. Rows that stand with both signs begin at their upper ends (objectives/opposite_duplicates.py), where d is large.
Stops when: the certified relative gap is as small as asked for.
Memory: 9 vectors of n, 5 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.csr import CsrRows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.hinge import L1Columns, L1Hinge
from svmtool.objectives.least_squares import LeastSquares
from svmtool.objectives.smoothed import Smoothed
from svmtool.objectives.task import Task
from svmtool.solvers.l1.column_generation import by_columns
from svmtool.solvers.l1.restarted_pdhg import in_rounds
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule, Status
from svmtool.solvers.shared.homotopy import MU_LEAST, Homotopy
from svmtool.solvers.shared.incumbent import Best
from svmtool.solvers.shared.least_squares import by_products, in_fewer_features
from svmtool.solvers.shared.newton import newton_steps
from svmtool.tolerances import GRAM_BELOW, OPTIMAL_GAP

MU = 5.0  # the paper's, for Algorithm 1
MU_FIRST = 0.3  # the first mu of Algorithm 2, times C where that is above 1
MU_RISE = 1e2  # ... up to so many times: beyond, rounding coarsens the dual point
MU_PASS, STAGE_PASS = 1.0, 1.5  # the first mu and STAGE where one coordinate pass came before
SMOOTHED = 0.1  # Algorithm 1: share of the gap that may come from F_mu's minimum not being reached
MU_LP, SHRINK_LP = 1.0, 0.5  # LP-SVM: the first mu, and how mu and the proximal term's weight shrink
RHO_FIRST, RHO_LEAST = 1e-3, 1e-10  # that weight, beside the sum of all C_i; see _rise()
EVALUATION_STEPS = 8  # steps between two evaluations of the gap within a stage
BACK = 0.1  # LP-SVM in many features: how far mu goes back when columns come in
PASSES_WORTH = 1e4  # LP-SVM: d^3 operations of a step beside the non-zeros, from which steps without them are faster
FEW_COLUMNS = 200  # LP-SVM in many features: stages begin where no more columns than this ask to come in at first
MU_EPOCHS = 10.0  # the first mu after passes

BLURRED = Status("blurred", False, "this smoothing cannot bring a smaller gap: lower --mu or leave out --no-homotopy")


def c_svm(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Hinge loss, from `start` (zeros if None); see the module's text."""
    if (answer := _without_work(task, monitor)) is not None:
        return answer
    if not task.options.homotopy:
        return plain(_smoothed(task, False), monitor, start)
    return in_fewer_features(_c_homotopy, GRAM_BELOW, task, monitor, rule, start, seed)


def _smoothed(task: Task, l1: bool) -> Smoothed:
    """The smoothed hinge of Algorithm 1, with --mu or the paper's mu."""
    return Smoothed(task, "hinge", l1, MU if task.options.mu is None else float(task.options.mu))


def _c_homotopy(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int) -> Result:
    objective = task.objective(Augmented, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run, status, mu = Homotopy(objective, monitor), None, MU_FIRST
    if start is None and isinstance(task.rows, CsrRows) and objective.n:
        if objective.d > GRAM_BELOW:
            status, mu = run.epochs(seed), MU_EPOCHS
        else:
            run.one_pass(seed)
            mu, run.stage = MU_PASS, STAGE_PASS
    if status is None:
        objective.sigma = 1.0 / _first_mu(task, mu)
        status = run.stages()
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


def lp_svm(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Hinge loss under |w|_1, from `start` (zeros if None); see the module's text."""
    if (answer := _without_work(task, monitor)) is not None:
        return answer
    if not task.options.homotopy:
        return plain(_smoothed(task, True), monitor, start)
    mu = _first_mu(task, MU_LP)
    rows = task.rows
    if isinstance(rows, CsrRows) and (rows.d > GRAM_BELOW or rows.d**3 > PASSES_WORTH * rows.nnz):
        return _lp_in_many_features(task, monitor, start, mu)
    run = _LpHomotopy(task, monitor, mu, start)
    status = run.stages()
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


def _lp_in_many_features(task: Task, monitor: Monitor, start: np.ndarray | None, mu: float) -> Result:
    whole = L1Columns(task)
    best, w = Best(whole), np.zeros(whole.d) if start is None else start
    pull, _, alpha = whole.feasible(whole.slopes(w))  # the answer where C is small
    best.take(whole.primal(w), w, float(whole.target @ alpha), alpha)
    status = monitor.step(best.primal, best.dual, gradient=0.0, active=0, cg=0, step=0.0)
    if status is None and np.count_nonzero(np.abs(pull) > 1.0) > FEW_COLUMNS:
        status = in_rounds(task, monitor, best)
    if status is None:
        status = by_columns(task, monitor, best, lambda *more: _LpHomotopy(more[0], more[1], mu, *more[2:]))
    return Result(best.w, status, monitor.iterations, monitor.history, best.alpha)


def ls_svm(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Least squares loss, from `start` (zeros if None); see the module's text."""
    if (answer := _without_work(task, monitor)) is not None:
        return answer
    if not task.options.homotopy:
        return plain(Smoothed(task, "least squares", False, 1.0), monitor, start)
    return in_fewer_features(_ls_steps, GRAM_BELOW, task, monitor, rule, start, seed)


def _ls_steps(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int) -> Result:
    objective = task.objective(LeastSquares, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if objective.d <= GRAM_BELOW or task.rows.distributed:
        system = "primal" if objective.d <= GRAM_BELOW else "cg"
        status = newton_steps(objective, monitor, rule, system)
        return Result(objective.w, status, monitor.iterations, monitor.history)
    return by_products(objective, monitor)


def _first_mu(task: Task, unit: float) -> float:
    """Of the homotopy: `--mu`, or a mu with which F_mu is no more curved at a large C than at 1.

    Where classes are separable a_i stays the same as C grows, and so must the curvature C_i / mu.
    """
    if task.options.mu is not None:
        return float(task.options.mu)
    return unit * _rise(task)


def _rise(task: Task) -> float:
    """By how much a large C makes the costs larger, and with them curvatures, while a_i stays the same."""
    return min(max(1.0, float(np.mean(task.cost)) if task.rows.n else 1.0), MU_RISE)


def _without_work(task: Task, monitor: Monitor) -> Result | None:
    """The answer where a free bias alone gives it: f is 0 there, and nothing can be said relative to it."""
    answer = task.one_sided_answer()
    if answer is None:
        return None
    monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
    return Result(answer, base.OPTIMAL, monitor.iterations, monitor.history, np.zeros(task.rows.n))


def plain(objective: Smoothed, monitor: Monitor, start: np.ndarray | None = None) -> Result:
    """Algorithm 1, as the paper has it."""
    L = objective.lipschitz()
    w_star = np.zeros(objective.d) if start is None else start
    w, total = w_star.copy(), np.zeros(objective.d)
    primal, dual, smooth, answer, alpha = np.inf, 0.0, -np.inf, w, np.zeros(objective.n)
    for k in range(1 << 30):
        # Steps 1 and 2: u and the gradient of F_mu
        g = objective.gradient(w)
        if objective.primal < primal:
            primal, answer = objective.primal, objective.answer
        if objective.bound > dual:
            dual, alpha = objective.bound, objective.alpha
        smooth = max(smooth, objective.smooth_bound)
        status = monitor.step(primal, dual, gradient=float(np.sqrt(g @ g)), active=0, cg=0, step=1.0 / L)
        if status is None and relative_gap(primal, dual) <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None and objective.value - smooth <= SMOOTHED * (monitor.gap or 0.0) * primal:
            status = BLURRED
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history, alpha)
        # Steps 3 and 4
        total += 0.5 * (k + 1) * g
        y = w - g / L  # (33)
        z = w_star - total / L  # (34)
        w = (2.0 * z + (k + 1.0) * y) / (k + 3.0)  # (35)
    raise AssertionError


class _LpHomotopy(Homotopy):
    """The same for LP-SVM, whose |w|_1 is smoothed alike, with a proximal term that is let go from stage to stage."""

    objective: L1Hinge

    def __init__(
        self, task: Task, monitor: Monitor, mu: float, start: np.ndarray | None, before: _LpHomotopy | None = None
    ):
        self.total = float(np.sum(task.cost))
        rho = RHO_FIRST * self.total / _rise(task)
        if before is not None:
            rho = min(rho, before.objective.rho / BACK)
        super().__init__(L1Hinge(task, rho), monitor)
        o = self.objective
        o.set_point(np.zeros(o.d))
        o.sigma = 1.0 / mu
        if start is not None:
            o.start_from(start)
        self.best.alpha = np.zeros(task.rows.n)

    def follow(self, alpha: np.ndarray, pull: np.ndarray, other: _LpHomotopy | None) -> None:
        """Take over a dual point, pull (f8[m]) its sums, and from a run on other columns mu, some way back."""
        o = self.objective
        o.take_multipliers(alpha, pull)
        if other is not None:
            o.sigma = max(o.sigma, BACK * other.objective.sigma)

    def keep(self, ends: bool) -> None:
        # within a stage the dual point is hardly ever better, and to look costs as much as a step
        if not ends and self.monitor.iterations % EVALUATION_STEPS:
            return
        o = self.objective
        o.certify()
        self.best.take(o.primal, o.answer, o.bound, o.alpha)

    def next_stage(self) -> np.ndarray:
        o = self.objective
        o.recentre(min(o.sigma / SHRINK_LP, 1.0 / MU_LEAST), max(o.rho * SHRINK_LP, RHO_LEAST * self.total))
        return o.gradient_on_pieces()
