"""LP-SVM: -s 51, --method fast.      min_w  |w|_1 + sum_i C_i max(0, 1 - y_i x_i.w)
The problem is that of T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010:
Eq. 49.  There loss and norm are smoothed; here nothing is:
 1. With few features interior-point steps (objectives/power_interior.py) solve it.
 2. With many features, or few non-zeros, restarted PDHG improves the primal and the dual value together
    (objectives/l1/pdhg.py): thousands of passes over few rows and columns, and no system.  Interior-point steps take
    over (shared/contest.py) if a system of the features or rows is small.
 3. Where round-off ends interior-point steps, PDHG goes on from their best point.
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; interior-point steps: a matrix of d x d, and its factor; PDHG: the rows twice, sparse.
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import VISIT_NS
from svmtool.objectives.l1.hinge import L1Columns
from svmtool.objectives.l1.pdhg import L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, Status, bias_only
from svmtool.solvers.shared.contest import Contest
from svmtool.tolerances import CALL_NONZEROS, GRAM_BELOW

CUBE_RATIO = 1e4  # ratio of d^3 to the non-zeros, from which methods without a d x d system are faster
# Restarted PDHG
PDHG_FIRST_STEPS, PDHG_EVALUATION_SHARE = 40, 0.1  # before rows and columns are chosen; between evaluations
EVALUATION_PASSES = 4.0  # over the rows, in an evaluation

METHODS = {
    "bias": BIAS,
    "pdhg": "restarted PDHG",
    "interior": interior_steps.NAME,
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose interior-point steps, or what suits many or sparse columns."""
    rows = task.rows
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if rows.d > GRAM_BELOW:
        return Plan("pdhg", f"{rows.d} features, more than {GRAM_BELOW}")
    if rows.d**3 > CUBE_RATIO * rows.nnz or not interior_steps.possible(task):
        return Plan("pdhg", "a system of the features costs far more than passes over the non-zeros")
    return Plan("interior", f"{rows.d} features, at most {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    run = Contest(L1Columns(task), monitor, rule)
    steps, interior, status = Pdhg(run, start), interior_steps.candidate(task, 1.0, run, l1=True), base.PRECISION
    if method == "interior" and interior is not None:
        status, interior = interior[0](), None
    if status is base.PRECISION:
        status = run.run(None, steps, *(interior or ()))
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


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
