"""NESVM's LP-SVM: -s 51.      min_w  |w|_1 + sum_i C_i max(0, 1 - y_i x_i.w)
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010: Eqs. 49-52.

Algorithm 1 and 2 are those of solvers/nesvm.py, with its differences from the paper 1 to 3 and besides:
 1. |w|_1 is smoothed as the loss is, with a proximal term whose weight falls from stage to stage.
 2. In many features, or in fewer with few non-zeros, the problem is solved from both sides at once by proximal steps
    (l1/restarted_pdhg.py); where these are too slow, stages take in columns whose dual constraint is violated
    (l1/column_generation.py).
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.objectives.l1.hinge import L1Columns, L1Hinge
from svmtool.objectives.l1.pdhg import FEWEST
from svmtool.objectives.task import Task
from svmtool.solvers.l1.column_generation import COLUMNS, by_columns
from svmtool.solvers.l1.restarted_pdhg import in_rounds
from svmtool.solvers.shared import smoothing
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_alone
from svmtool.solvers.shared.homotopy import MU_LEAST, Homotopy
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import GRAM_BELOW

MU, SHRINK = 1.0, 0.5  # the first mu, and how mu and the proximal term's weight shrink
RHO_FIRST, RHO_LEAST = 1e-3, 1e-10  # that weight, beside the sum of all C_i; see shared/smoothing.py
EVALUATION_STEPS = 8  # steps between two evaluations of the gap within a stage
BACK = 0.1  # factor by which mu goes back when columns enter
PASSES_WORTH = 1e4  # d^3 operations of a step beside the non-zeros, from which steps without them are faster
FEW_COLUMNS = 200  # up to this many violated dual constraints at the start column generation comes first

METHODS = {
    "bias": BIAS,
    "plain": smoothing.PLAIN,
    "stages": "stages of the smoothed loss and norm, over all columns",
    "wide": f"restarted PDHG if more than {FEW_COLUMNS} dual constraints are violated, else column generation",
    "pdhg": "restarted PDHG, then column generation if that is slow",
    "columns": "column generation, by stages of the smoothed loss and norm",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose Algorithm 1, stages over all columns, or what suits many or sparse columns."""
    rows = task.rows
    if task.one_sided_answer() is not None:
        return Plan("bias", BIAS_WHY)
    if not task.options.homotopy:
        return Plan("plain", smoothing.NO_HOMOTOPY)
    if not rows.offers_coordinate_descent:
        return Plan("stages", "the rows are not stored sparse")
    if rows.d > GRAM_BELOW:
        return Plan("wide", f"{rows.d} features, more than {GRAM_BELOW}")
    if rows.d**3 > PASSES_WORTH * rows.nnz:
        return Plan("wide", "a system of the features costs far more than passes over the non-zeros")
    return Plan("stages", f"{rows.d} features, at most {GRAM_BELOW}")


def solve(
    task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str,
    columns: int = COLUMNS, fewest: int = FEWEST,
) -> Result:  # fmt: skip
    """Solve from `start` (zeros if None).

    columns: least number of columns that column generation takes in at a time.  fewest: rows and columns that
    restarted PDHG keeps at least.
    """
    if method == "bias":
        return bias_alone(monitor, task.one_sided_answer(), np.zeros(task.rows.n))
    if method == "plain":
        return smoothing.plain(smoothing.smoothed_hinge(task, True), monitor, start)
    mu = smoothing.first_mu(task, MU)
    if method == "stages":
        run = LpHomotopy(task, monitor, mu, start)
        status = run.stages()
        return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
    whole = L1Columns(task)
    best, w = Best(whole), np.zeros(whole.d) if start is None else start
    pull, _, alpha = whole.feasible(whole.slopes(w))  # the solution where C is small
    best.take(whole.primal(w), w, float(whole.target @ alpha), alpha)
    ended = monitor.step(best.primal, best.dual, gradient=0.0, active=0, cg=0, step=0.0)
    if method == "wide":
        method = "pdhg" if np.count_nonzero(np.abs(pull) > 1.0) > FEW_COLUMNS else "columns"
        monitor.uses(METHODS[method], "by the number of violated dual constraints at the start")
    if ended is None and method == "pdhg":
        ended = in_rounds(task, monitor, best, fewest)
    if ended is None:
        monitor.uses(METHODS["columns"])
        ended = by_columns(task, monitor, best, stages_of(mu), columns)
    return Result(best.w, ended, monitor.iterations, monitor.history, best.alpha)


def stages_of(mu: float) -> Callable[..., LpHomotopy]:
    """Return what makes a run of stages for a choice of columns: (task, monitor, w, run before) -> run."""
    return lambda task, monitor, w, before: LpHomotopy(task, monitor, mu, w, before)


class LpHomotopy(Homotopy):
    """Stages for the LP-SVM, whose |w|_1 is smoothed too, with a proximal term that falls from stage to stage.

    before: the run on the last choice of columns.
    """

    objective: L1Hinge

    def __init__(
        self, task: Task, monitor: Monitor, mu: float, start: np.ndarray | None, before: LpHomotopy | None = None
    ):
        self.total = float(np.sum(task.cost))
        rho = RHO_FIRST * self.total / smoothing.rise(task)
        if before is not None:
            rho = min(rho, before.objective.rho / BACK)
        super().__init__(L1Hinge(task, rho), monitor)
        o = self.objective
        o.set_point(np.zeros(o.d))
        o.sigma = 1.0 / mu
        if start is not None:
            o.start_from(start)
        self.best.alpha = np.zeros(task.rows.n)

    def follow(self, alpha: np.ndarray, pull: np.ndarray, other: LpHomotopy | None) -> None:
        """Take over a dual point, its sums `pull` (f8[m]), and from a run on other columns a somewhat larger mu."""
        o = self.objective
        o.take_multipliers(alpha, pull)
        if other is not None:
            o.sigma = max(o.sigma, BACK * other.objective.sigma)

    def keep(self, ends: bool) -> None:
        # within a stage the dual point is rarely better, and to evaluate it costs as much as a step
        if not ends and self.monitor.iterations % EVALUATION_STEPS:
            return
        o = self.objective
        o.certify()
        self.best.take(o.primal, o.answer, o.bound, o.alpha)

    def next_stage(self) -> np.ndarray:
        o = self.objective
        o.recentre(min(o.sigma / SHRINK, 1.0 / MU_LEAST), max(o.rho * SHRINK, RHO_LEAST * self.total))
        return o.gradient_on_pieces()
