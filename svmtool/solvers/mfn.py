"""L2-SVM-MFN: modified finite Newton.      min_w  1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2
Paper: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale
Linear SVMs, Journal of Machine Learning Research 6 (2005) 341-361.  Algorithm of Section 4 and Appendix A.

Notation   paper: beta   lambda   I(beta)       delta   y_i(beta)      code: w   1 / (2 C)   active rows   t   x_i.w
Differs from the paper in:
 1. C in place of lambda, one C_i for each row, R = I or with 0 for a free bias: LIBLINEAR's objective.
    A target of each row may stand in place of 1; two such rows make the tube of a regression.
 2. Where d is small the least squares problem on the active rows is solved by a factorised Gram matrix,
    updated by the rows that changed (Section 4.3 prefers CGLS: its rows were sparse and d large);
    where rows are long, brief CG steps (CG_BRIEF in newton.py) come before the first such matrix, and where
    few short rows are active, so that products take less time than a factorisation, they stand in its place.
 3. CGLS is preconditioned by the Hessian's diagonal.
 4. The line search uses safeguarded Newton steps on phi' instead of sorted breakpoints (also exact).
 5. Heuristic 3 (start on a random subset) is always used where rows abound, an epoch (see 6) where they do
    not; the tolerance of CG follows what a step is about to gain (CG_LOOSE in newton.py) in place of
    heuristic 2's two values.
 6. Where d is large or exceeds n, and a dual point exists, epochs of coordinate descent give the first guess
    (Section 4.1's "inexpensive method") and end the run where they certify first.  Where they are slow and few
    rows are active, least squares on the active rows is solved by a factorised system of that many unknowns;
    where many are, epochs and steps alternate (alternation.py).
Stops when: the active rows repeat after a full step (Theorem 1: the exact minimiser), or -e or --gap holds.
Memory: 5 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import MOST_VISITS, DualCoordinateDescent
from svmtool.data.replicated import of_data
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import fused
from svmtool.solvers.shared.alternation import by_turns
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Confirmation, Monitor, Plan, Result, Rule, bias_alone
from svmtool.solvers.shared.newton import newton_steps
from svmtool.tolerances import GRAM_BELOW, RULE_MIN_GAP

SAMPLE_GROUP = 16  # heuristic 3: the subset holds one row in this many ...
SAMPLE_ROWS_A_FEATURE = 16  # ... and at least this many rows for each feature
SAMPLE_ROWS = 400  # ... and this many in all;
SAMPLE_GAP, SAMPLE_ROUNDS = 1e-3, 20  # its solution need not be exact
FIRST_EPOCHS = 1  # for a first guess where the subset would be too small
DUAL_ROWS = 4000  # active rows up to which their system is factorised in place of further epochs


METHODS = {
    "bias": BIAS,
    "fused": "Newton steps in one compiled call",
    "fused-sampled": "Newton steps in one compiled call, from the minimiser over a sample of the rows",
    "features": "Newton steps on a factorised matrix, or by conjugate gradients where they cost less",
    "features-sampled": "Newton steps on a factorised matrix, from the minimiser over a sample of the rows",
    "epochs": "epochs of coordinate descent, and Newton steps by turns where these do not end the run",
    "rows": "Newton steps with a system of the active rows",
    "products": "Newton steps by conjugate gradients",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features and rows, their layout and the bias."""
    n, d = task.rows.n, task.rows.d
    if task.target is not None and task.one_sided_answer() is not None:
        return Plan("bias", BIAS_WHY)
    sampled = "-sampled" if start is None and n >= SAMPLE_GROUP * max(SAMPLE_ROWS, SAMPLE_ROWS_A_FEATURE * d) else ""
    if fused.fits(task):
        return Plan("fused" + sampled, f"{d} features, at most {fused.MOST_FEATURES}, and little data")
    by_epochs = _offers_epochs(task)
    # Where n < d few rows' pieces hold along a Newton step that starts far away: it is short, and there are many.  On
    # subsets of six sets with n < d (one-hot, text, digits; -s 1, 2 and 40, C 1 to 1e6) whole runs took between 0.05
    # times the time and, up to noise of some 0.03 s, the same
    if d <= GRAM_BELOW and not (by_epochs and n < d):
        return Plan("features" + sampled, f"{d} features, at most {GRAM_BELOW}")
    if by_epochs:
        return Plan("epochs", f"{d} features, more than " + (f"{GRAM_BELOW}" if d > GRAM_BELOW else f"{n} rows"))
    return Plan("products", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent for this layout or bias")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_alone(monitor, task.one_sided_answer())
    objective = task.objective(SquaredHinge, one_of_several=task.one_of_several, target=task.target)
    if method.startswith("fused"):
        return _fused(objective, monitor, rule, start, seed if method == "fused-sampled" and start is None else None)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if method == "epochs":
        if objective.d <= GRAM_BELOW and rule.confirmed.at_start == RULE_MIN_GAP:
            rule = rule._replace(confirmed=Confirmation(slow=RULE_MIN_GAP))  # as cheap as with factorised features
        return by_turns(objective, descent_from(objective, seed), monitor, rule, MOST_VISITS, DUAL_ROWS)
    if method == "features-sampled" and start is None:
        _sampled(objective, monitor, seed)
    elif method == "features" and start is None and _offers_epochs(task):
        descent = descent_from(objective, seed)
        for _ in range(FIRST_EPOCHS):
            descent.run()
        objective.set_point(descent.w)
    system = {"rows": "dual", "products": "cg"}.get(method, "primal or cg")
    most_rows = DUAL_ROWS if objective.has_dual_system and system != "primal or cg" else 0
    status = newton_steps(objective, monitor, rule, system, most_rows)
    return Result(objective.w, status, monitor.iterations, monitor.history, objective.best_dual_point())


def _offers_epochs(task: Task) -> bool:
    return DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias)


def _fused(objective: SquaredHinge, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int | None) -> Result:
    """All rounds in one compiled call; seed: of the sample whose minimiser comes first, None for none."""
    w = np.zeros(objective.d) if start is None else start.copy()
    if seed is not None:
        objective.sample(SAMPLE_GROUP, seed).fused_newton(w, SAMPLE_GAP, -1.0, 0.0, 0.0, SAMPLE_ROUNDS)
    enough = -1.0 if rule.primal is None else rule.primal.share * objective.gradient_at_zero()
    gap = rule.certified.gap if monitor.gap is None else monitor.gap
    most = fused.most_rounds(monitor, of_data(objective.rows).nnz)
    records, code = objective.fused_newton(w, gap, enough, rule.confirmed.at_start, RULE_MIN_GAP, most)
    status = fused.end(monitor, records, code)
    if status is None:
        objective.set_point(w)
        status = newton_steps(objective, monitor, rule, "primal")
        w = objective.w
    return Result(w, status, monitor.iterations, monitor.history)


def _sampled(objective: SquaredHinge, monitor: Monitor, seed: int) -> None:
    """Move to the minimiser over a random subset of the rows (heuristic 3)."""
    subset = objective.sample(SAMPLE_GROUP, seed)
    subset.set_point(np.zeros(objective.d))
    newton_steps(subset, monitor.child(SAMPLE_GAP, SAMPLE_ROUNDS), Rule(), "primal")
    objective.set_point(subset.w)


def descent_from(objective: SquaredHinge, seed: int) -> DualCoordinateDescent:
    """Coordinate descent from the dual point that belongs to the objective's w."""
    alpha = objective.dual_point() if np.any(objective.w) else None
    upper = np.full(objective.n, np.inf)
    target = None if len(objective.target) == 1 else objective.target
    return DualCoordinateDescent(objective.rows, objective.y, 0.5 / objective.cost, upper, seed, alpha, target)
