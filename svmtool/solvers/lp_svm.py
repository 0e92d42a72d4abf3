"""LP-SVM: -s 51, --method fast.      min_w  |w|_1 + sum_i C_i max(0, 1 - y_i x_i.w)
The problem is that of T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010:
Eq. 49.  As there, loss and norm are smoothed, and mu falls from stage to stage:
 1. The prox-function of the loss is sum (u_i - u0_i)^2, and u0 moves to the last stage's u: the smoothing vanishes with
    u - u0, and mu need not go to zero for the exact answer.  |w|_1 is smoothed likewise, with a proximal term whose
    weight falls from stage to stage (objectives/l1/hinge.py).
 2. A step is Newton's on the smoothed function, to the exact minimiser along its direction.
 3. A stage ends when its gradient is small relative to the remaining distance of u.
 4. With many features, or few non-zeros, restarted PDHG improves the primal and the dual value together
    (objectives/l1/pdhg.py): thousands of passes over few rows and columns, and no system.  Where it is too slow, or
    few dual constraints |sum_i a_i y_i x_ij| <= 1 are violated at the start, columns enter where theirs is
    (Dedieu, Mazumder and Wang, Solving L1-regularized SVMs and related linear programs, JMLR 23 (2022)): the answer
    over some columns is feasible for all, and so is its dual point once it is shrunk by the largest of these sums.
    Each choice is solved by stages to a part of the gap so far; columns of weight zero leave again.
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.hinge import L1Columns, L1Hinge
from svmtool.objectives.l1.pdhg import L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, CG_RTOL, Monitor, Plan, Result, Rule, Status, bias_only, rounded
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import ALM_STALL_RTOL, ALM_STALL_STEPS, GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP

LP_MU_FACTOR = 0.5  # by which mu and the proximal term's weight shrink
MU_RISE, MU_MIN = 1e2, 1e-8  # largest first mu, see `rise`: beyond, rounding coarsens the dual point; the least mu
RHO_FIRST, RHO_MIN = 1e-3, 1e-10  # first and least weight of the proximal term over sum C_i; see `rise`
STAGE_STALL_STEPS = 3  # steps without a better gap or a lower F_mu that end a stage: round-off may prevent its own end
EVALUATION_STEPS = 8  # steps between two evaluations of the gap within a stage
BACK_FACTOR = 0.1  # factor by which mu increases when columns enter
CUBE_RATIO = 1e4  # ratio of d^3 to the non-zeros, from which methods without a d x d system are faster
MAX_FIRST_COLUMNS = 200  # up to this many violated dual constraints at the start column generation comes first
# Restarted PDHG
PDHG_FIRST_STEPS, PDHG_EVALUATION_SHARE = 40, 0.1  # before rows and columns are chosen; between evaluations
# PDHG stalls if the gap does not fall to this share while the steps grow by this factor and number
PDHG_STALL_SHARE, PDHG_STALL_GROWTH, PDHG_MIN_STEPS = 0.7, 2.0, 4000
CALL_NUMBERS = 1 << 23  # numbers that steps go over between two checks of the limits
# Column generation
MIN_COLUMNS = 200  # least number of columns that enter at a time
ENTERING_SUM = 0.8  # sums from which a column enters, if any sum is above 1
LEAVING_SUM = 0.8  # sums below which a column of weight zero leaves again
LEAVING_GAP_SHARE = 0.95  # columns leave if the gap is this share of that when some last left: none cycles
INNER_GAP = 0.3  # share of the whole gap to which a choice of columns is solved

METHODS = {
    "bias": BIAS,
    "stages": "stages of the smoothed loss and norm, over all columns",
    "wide": f"restarted PDHG if more than {MAX_FIRST_COLUMNS} dual constraints are violated, else column generation",
    "pdhg": "restarted PDHG, then column generation if that is slow",
    "columns": "column generation, by stages of the smoothed loss and norm",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose stages over all columns, or what suits many or sparse columns."""
    rows = task.rows
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if not rows.offers_coordinate_descent:
        return Plan("stages", "the rows are not stored sparse")
    if rows.d > GRAM_BELOW:
        return Plan("wide", f"{rows.d} features, more than {GRAM_BELOW}")
    if rows.d**3 > CUBE_RATIO * rows.nnz:
        return Plan("wide", "a system of the features costs far more than passes over the non-zeros")
    return Plan("stages", f"{rows.d} features, at most {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    mu = rise(task)
    if method == "stages":
        run = Stages(task, monitor, mu, start)
        status = run.stages()
        return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
    whole = L1Columns(task)
    best, w = Best(whole), np.zeros(whole.d) if start is None else start
    column_sums, _, alpha = whole.feasible(whole.slopes(w))  # the solution where C is small
    best.update(whole.primal(w), w, float(whole.target @ alpha), alpha)
    ended = monitor.step(best.primal, best.dual, active=0)
    if method == "wide":
        method = "pdhg" if np.count_nonzero(np.abs(column_sums) > 1.0) > MAX_FIRST_COLUMNS else "columns"
        monitor.uses(METHODS[method], "by the number of violated dual constraints at the start")
    if ended is None and method == "pdhg":
        ended = by_pdhg(task, monitor, best)
    if ended is None:
        monitor.uses(METHODS["columns"])
        ended = by_columns(task, monitor, best, mu)
    return Result(best.w, ended, monitor.iterations, monitor.history, best.alpha)


def by_pdhg(task: Task, monitor: Monitor, best: Best) -> Status | None:
    """Improve `best` until the gap reaches the target; returns why the run ended, None where steps are too slow."""
    run, status = L1Pdhg(task, best.w), None
    least, at = best.gap, 0  # the gap at its last sufficient decrease, and the steps until then
    burst = max(1, CALL_NUMBERS // max(task.rows.nnz, 1))
    while status is None:
        last_step = run.steps + max(PDHG_FIRST_STEPS, int(PDHG_EVALUATION_SHARE * run.steps))
        while run.steps < last_step and status is None:
            run.run(min(burst, last_step - run.steps))
            status = monitor.limit()
        run.evaluate()
        best.update(run.primal, run.answer, run.bound, run.alpha)
        now = monitor.step(best.primal, best.dual, violation=run.excess, active=run.columns)
        status = now or status
        if status is None and best.gap <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if best.gap <= PDHG_STALL_SHARE * least:
            least, at = best.gap, run.steps
        elif run.steps > PDHG_STALL_GROWTH * at + PDHG_MIN_STEPS:
            break
        if status is None:
            run.choose()
    return status


def by_columns(
    task: Task, monitor: Monitor, best: Best, mu: float, columns: int = MIN_COLUMNS, progress: float = LEAVING_GAP_SHARE
) -> Status:
    """Improve `best` until the gap reaches the target; returns why the run ended.

    mu: a choice's first one; columns, progress: see MIN_COLUMNS and LEAVING_GAP_SHARE.
    """
    rows, m = task.rows, task.rows.n_features
    whole = L1Columns(task)
    w, last, column_sums = best.w, best.alpha, whole.transpose_sums(best.alpha)
    run: Stages | None = None  # the last choice's stages
    used, last_gap, inner_gap = np.flatnonzero(w[:m]), best.gap, 1.0  # last_gap: the gap of the last choice
    support, least = w[:m] != 0.0, 1.0  # non-zero weights of the last choice; the gap when columns left last
    status = None
    while status is None:
        size = np.abs(column_sums)
        count = max(columns, int(np.count_nonzero(support)))
        entering = np.setdiff1d(np.argsort(-size[:m], kind="stable")[:count], used)
        if run is not None:
            entering = entering[size[entering] > (ENTERING_SUM if size.max(initial=0.0) > 1.0 else 1.0)]
        if best.gap < progress * least:
            least = best.gap
            used = used[support[used] | (size[used] > LEAVING_SUM)]
        used = np.union1d(used, entering)
        at = np.append(used, m) if rows.bias >= 0 else used
        part = Task(rows.columns(used), task.y, task.cost, task.free_bias, task.target)
        before, inner_gap = inner_gap, max(INNER_GAP * last_gap, 0.3 * (monitor.gap or 0.0))
        if not len(entering):  # no column to enter: solve this choice more accurately
            inner_gap = min(inner_gap, 0.1 * before)
        kept, run = run, Stages(part, monitor.child(inner_gap), mu, w[at], run)
        run.follow(last, column_sums[at[: run.objective.m]], kept)
        ended = run.stages()
        w, last = np.zeros(rows.d), run.best.alpha
        w[at] = run.best.w
        support = w[:m] != 0.0
        column_sums, largest, alpha = whole.feasible(last)
        bound = float(whole.target @ alpha)
        best.update(run.best.primal, w, bound, alpha)
        last_gap = relative_gap(run.best.primal, bound)
        status = monitor.step(best.primal, best.dual, violation=largest - 1.0, active=len(used))
        if status is None and best.gap <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None and ended is base.OPTIMAL and not len(entering):
            status = rounded(best.primal, best.dual)
        if status is None and not ended.converged:
            status = ended
    return status


def rise(task: Task) -> float:
    """The first mu, 1 or more: the factor by which a large C raises costs, and with them curvatures C_i / mu.

    Where classes are separable a_i stays the same as C grows, and so must the curvature.
    """
    return min(max(1.0, float(np.mean(task.cost)) if task.rows.n else 1.0), MU_RISE)


class Stages:
    """Stages of the smoothed loss and norm: an Augmented with beta = u0 and sigma = 1 / mu, and a proximal term.

    before: the run on the last choice of columns.
    """

    objective: L1Hinge

    def __init__(self, task: Task, monitor: Monitor, mu: float, start: np.ndarray | None, before: Stages | None = None):
        self.total, self.monitor = float(np.sum(task.cost)), monitor
        rho = RHO_FIRST * self.total / rise(task)
        if before is not None:
            rho = min(rho, before.objective.rho / BACK_FACTOR)
        self.objective = L1Hinge(task, rho)
        o = self.objective
        self.best = Best(o)
        o.set_point(np.zeros(o.d))
        o.sigma = 1.0 / mu
        if start is not None:
            o.start_from(start)
        self.best.alpha = np.zeros(task.rows.n)

    def follow(self, alpha: np.ndarray, column_sums: np.ndarray, other: Stages | None) -> None:
        """Continue from a dual point and its `column_sums` (f8[m]), with a larger mu than the run on other columns."""
        o = self.objective
        o.set_multipliers(alpha, column_sums)
        if other is not None:
            o.sigma = max(o.sigma, BACK_FACTOR * other.objective.sigma)

    def stages(self) -> Status:
        """Stages, each with a smaller mu, until the gap reaches the target."""
        o, best = self.objective, self.best
        cg, t, stalled = 0, 0.0, 0
        smallest = lowest = np.inf
        first = True  # of its stage
        while True:
            f, g = o.gradient()
            norm = float(np.sqrt(g @ g))
            ends = norm * norm <= o.moved / o.sigma
            # within a stage the dual point is rarely better, and to evaluate it costs as much as a step
            if ends or self.monitor.iterations % EVALUATION_STEPS == 0:
                self.keep()
            gap = best.gap
            status = self.monitor.step(best.primal, best.dual, inner_gradient=norm, active=o.support, cg=cg, step=t)
            if status is None:
                if first:  # a new mu, if it is not the smallest yet
                    lower = o.sigma * MU_MIN < 1.0
                else:
                    lower = f < lowest - ALM_STALL_RTOL * abs(f)
                stalled = 0 if lower or gap < 0.999 * smallest else stalled + 1
                smallest, lowest = min(gap, smallest), f if first else min(f, lowest)
                status = base.OPTIMAL if gap <= OPTIMAL_GAP else None
                if stalled >= ALM_STALL_STEPS:
                    status = base.OPTIMAL if gap <= ROUNDOFF_GAP else base.PRECISION
            if status is not None:
                return status
            first = stalled >= STAGE_STALL_STEPS or ends
            if first:
                g = self.next_stage()
            if o.d <= GRAM_BELOW:  # stalled: systems of rows may have lost precision where numbers are large
                p, cg, _ = o.factorised_direction(g, stalled > 0)
            else:
                p, cg, _ = o.newton_direction(g, "cg", CG_RTOL, 10 * o.d, self.monitor.ended)
            self.monitor.uses(f"stages of the smoothed loss and norm: Newton steps by {o.way}")
            t = o.line_search(p)
            o.step(t, p)

    def keep(self) -> None:
        """Keep the current answers where they are better."""
        o = self.objective
        o.certify()
        self.best.update(o.primal, o.answer, o.bound, o.alpha)

    def next_stage(self) -> np.ndarray:
        """u0 <- u, the centre to w, a smaller mu and proximal term; the gradient of the new function."""
        o = self.objective
        o.recentre(min(o.sigma / LP_MU_FACTOR, 1.0 / MU_MIN), max(o.rho * LP_MU_FACTOR, RHO_MIN * self.total))
        return o.gradient_on_pieces()
