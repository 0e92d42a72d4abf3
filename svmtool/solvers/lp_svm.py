"""LP-SVM: -s 51, --method fast.      min_w  |w|_1 + sum_i C_i max(0, 1 - y_i x_i.w)
The problem is that of T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010:
Eq. 49.  As there, loss and norm are smoothed, and mu falls from stage to stage:
 1. The prox-function of the loss is sum (u_i - u0_i)^2, and u0 moves to the last stage's u: the smoothing vanishes with
    u - u0, and mu need not go to zero for the exact answer.  |w|_1 is smoothed likewise, with a proximal term whose
    weight falls from stage to stage (objectives/l1/hinge.py).
 2. A step is Newton's on the smoothed function, to the exact minimiser along its direction.
 3. A stage ends when its gradient is small relative to the remaining distance of u.
 4. With many features, or few non-zeros, restarted PDHG improves the primal and the dual value together
    (objectives/l1/pdhg.py): thousands of passes over few rows and columns, and no system.
 5. Interior-point steps take over (shared/contest.py) if a system of the features or rows is small.
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import VISIT_NS
from svmtool.objectives.l1.hinge import L1Columns, L1Hinge, rise
from svmtool.objectives.l1.pdhg import L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, Status, bias_only
from svmtool.solvers.shared.contest import Contest, NewtonSteps
from svmtool.tolerances import CALL_NONZEROS, GRAM_BELOW

SIGMA_FACTOR = 2.0  # by which 1 / mu grows
EVALUATION_STEPS = 8  # steps between two evaluations of the gap within a stage: each costs as much as a step
CUBE_RATIO = 1e4  # ratio of d^3 to the non-zeros, from which methods without a d x d system are faster
# Restarted PDHG
PDHG_FIRST_STEPS, PDHG_EVALUATION_SHARE = 40, 0.1  # before rows and columns are chosen; between evaluations
EVALUATION_PASSES = 4.0  # over the rows, in an evaluation

METHODS = {
    "bias": BIAS,
    "stages": "stages of the smoothed loss and norm, over all columns",
    "pdhg": "restarted PDHG",
    "interior": interior_steps.NAME,
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose stages over all columns, or what suits many or sparse columns."""
    rows = task.rows
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if not rows.offers_coordinate_descent:
        return Plan("stages", "the rows are not stored sparse")
    if rows.d > GRAM_BELOW:
        return Plan("pdhg", f"{rows.d} features, more than {GRAM_BELOW}")
    if rows.d**3 > CUBE_RATIO * rows.nnz:
        return Plan("pdhg", "a system of the features costs far more than passes over the non-zeros")
    return Plan("stages", f"{rows.d} features, at most {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    objective = L1Columns(task) if method == "pdhg" else L1Hinge(task)
    run = Contest(objective, monitor, rule)
    interior = interior_steps.candidate(task, 1.0, run, l1=True)
    if method == "interior":
        status = interior[0]() if interior else base.PRECISION
    else:
        steps = Pdhg(run, start) if method == "pdhg" else Stages(run, start)
        status = run.run(None, steps, *(interior or ()))
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


class Stages(NewtonSteps):
    """Candidate: stages of the smoothed loss and norm, an Augmented with beta = u0 and sigma = 1 / mu."""

    def __init__(self, contest: Contest, start: np.ndarray | None):
        o = contest.objective
        super().__init__(contest, "primal" if o.d <= GRAM_BELOW else "cg", rounds=True, by_rows=False)
        self.growth = SIGMA_FACTOR
        o.set_point(np.zeros(o.d))
        o.sigma = 1.0 / rise(o.task)
        if start is not None:
            o.start_from(start)

    def _recorded(self, f: float, g: np.ndarray, norm: float, ends: bool) -> Status | None:
        c, o = self.contest, self.objective
        fields = {"inner_gradient": norm, "active": o.support, "cg": self.products, "step": self.t}
        if not (ends or c.monitor.iterations % EVALUATION_STEPS == 0):
            return c.record(np.inf, o.w, -np.inf, None, **fields)
        o.certify()
        return c.record(o.primal, o.answer, o.bound, lambda: o.alpha, **fields)


class Pdhg:
    """Candidate: restarted PDHG from `start` (zeros if None).  work: so far."""

    alone, work = True, 0.0

    def __init__(self, contest: Contest, start: np.ndarray | None):
        self.contest, whole = contest, contest.objective
        w = np.zeros(whole.d) if start is None else start
        _, _, alpha = whole.feasible(whole.slopes(w))  # the solution where C is small
        contest.best.update(whole.primal(w), w, float(whole.target @ alpha), alpha)
        self._run: L1Pdhg | None = None

    def turn(self, work: float) -> Status | None:
        """Take steps until `work` is done; return why the run ends, if it does."""
        c, task, end = self.contest, self.contest.objective.task, self.work + work
        nnz, status = max(task.rows.nnz, 1), c.record(np.inf, c.best.w, -np.inf, None, active=0)
        if status is not None:
            return status
        run = self._run = self._run or L1Pdhg(task, c.best.w)
        while status is None and self.work < end:
            last_step = run.steps + max(PDHG_FIRST_STEPS, int(PDHG_EVALUATION_SHARE * run.steps))
            before = run.steps
            while run.steps < last_step and status is None:
                run.run(min(max(1, int(CALL_NONZEROS) // nnz), last_step - run.steps))
                status = c.monitor.limit()
            run.evaluate()
            self.work += VISIT_NS * (2.0 * run.nnz * (run.steps - before) + EVALUATION_PASSES * nnz)
            alpha = run.alpha
            status = (
                c.record(
                    run.primal,
                    run.answer,
                    run.bound,
                    lambda alpha=alpha: alpha,
                    violation=run.excess,
                    active=run.columns,
                )
                or status
            )
            if status is None:
                run.choose()
        return status
