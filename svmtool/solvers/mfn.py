"""L2-SVM-MFN: modified finite Newton.      min_w  1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2
Paper: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale
Linear SVMs, Journal of Machine Learning Research 6 (2005) 341-361.  Algorithm of Section 4 and Appendix A.
Here is the engine (--method fast); papers/mfn.py is the algorithm as printed.

Notation   paper: beta   lambda   I(beta)       delta   y_i(beta)      code: w   1 / (2 C)   active rows   t   x_i.w
Differs from the paper in:
 1. C in place of lambda, one C_i for each row, R = I or with 0 for a free bias: LIBLINEAR's objective.
    A target of each row may stand in place of 1; two such rows make the tube of a regression.
 2. Where d is small the least squares problem on the active rows is solved by a factorised Gram matrix,
    updated by the rows that changed (Section 4.3 prefers CGLS: its rows were sparse and d large).
 3. CGLS is preconditioned by the Hessian's diagonal.
 4. The line search uses safeguarded Newton steps on phi' instead of sorted breakpoints (also exact).
 5. Steps begin at zero weights, not on a random subset of the rows (heuristic 3); the tolerance of CG follows what a
    step is about to gain (CG_LOOSE in tolerances.py) in place of heuristic 2's two values.  Where LIBLINEAR's rule for
    the gradient ends steps without a matrix of the features CG also ends as LIBLINEAR's, and a step is at most 1.
 6. Where a dual point exists, epochs of coordinate descent come first (Section 4.1's "inexpensive method") and take
    turns with Newton steps (shared/contest.py).  Where few rows are active, least squares on them is solved by a
    factorised system of that many unknowns, once conjugate gradients have cost as much; of at most GRAM_BELOW rows in
    all the whole dual is solved so.
Stops when: the active rows repeat after a full step (Theorem 1: the exact minimiser), or -e or --gap holds.
Memory: 5 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor, and once for all classes.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.linalg.systems import FACTOR_NS, ROW_VISIT_NS, VISIT_NS
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import contest, interior_steps
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.solvers.shared.contest import Contest, Epochs, NewtonSteps
from svmtool.tolerances import GRAM_BELOW

EPOCHS_A_STEP = 10.0  # epochs that a Newton step must cost for them to come first where d is small

METHODS = {
    "bias": BIAS,
    "primal": "Newton steps on a factorised matrix",
    "epochs": "epochs of coordinate descent, alternating with Newton steps if these do not end the run",
    "dual": "Newton steps with a system of the active rows",
    "cg": "Newton steps by conjugate gradients",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features and rows, their layout, the bias and the rule."""
    n, d = task.rows.n, task.rows.d
    if task.target is not None and task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    by_epochs = n > 0 and DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias, dense=True)
    # Where n < d few rows' pieces hold along a Newton step that starts far away: it is short, and there are many
    few = f"{d} features, at most {GRAM_BELOW}"
    if d <= GRAM_BELOW and not (by_epochs and n < d):
        if start is not None or not by_epochs or _epochs_a_step(task) < EPOCHS_A_STEP:
            return Plan("primal", few)
    if by_epochs:
        return Plan("epochs", f"{d} features, {n} rows")
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent for this layout or bias")


def _epochs_a_step(task: Task) -> float:
    """How many epochs take as long as forming and factorising a matrix of the features."""
    nnz, length = task.rows.nnz, task.rows.nnz / max(task.rows.n, 1)
    step = VISIT_NS * nnz * 0.5 * length / task.rows.gram_entries + FACTOR_NS * float(task.rows.d) ** 3
    return step / max(VISIT_NS * nnz + ROW_VISIT_NS * task.rows.n, 1.0)


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution())
    objective = task.objective(SquaredHinge, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run = Contest(objective, monitor, rule)
    epochs = Epochs(run, descent_from(objective, seed)) if method == "epochs" else None
    system = method if method in ("dual", "cg") else "primal" if objective.d <= GRAM_BELOW else "cg"
    steps = NewtonSteps(run, system)
    return contest.result(run, epochs, steps, interior_steps.candidate(task, 2.0, run))


def descent_from(objective: SquaredHinge, seed: int) -> DualCoordinateDescent:
    """Coordinate descent from the dual point that belongs to the objective's w."""
    alpha = objective.dual_point() if np.any(objective.w) else None
    upper = np.full(objective.n, np.inf)
    target = None if len(objective.target) == 1 else objective.target
    return DualCoordinateDescent(objective.rows, objective.y, 0.5 / objective.cost, upper, seed, alpha, target)
