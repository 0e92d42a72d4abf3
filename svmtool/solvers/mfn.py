"""L2-SVM-MFN: modified finite Newton.      min_w  1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2
Paper: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale
Linear SVMs, Journal of Machine Learning Research 6 (2005) 341-361.  Algorithm of Section 4 and Appendix A.
Here is the engine (--method fast); papers/mfn.py is the algorithm as printed.

Notation   paper: beta   lambda   I(beta)       delta   y_i(beta)      code: w   1 / (2 C)   active rows   t   x_i.w
Differs from the paper in:
 1. C in place of lambda, one C_i for each row, R = I or with 0 for a free bias: LIBLINEAR's objective.
    A target of each row may stand in place of 1; two such rows make the tube of a regression.
 2. Where d is small the least squares problem on the active rows is solved by a factorised Gram matrix,
    updated by the rows that changed (Section 4.3 prefers CGLS: its rows were sparse and d large);
    where rows are long, brief CG steps (CG_BRIEF_RTOL in newton.py) come before the first such matrix.
 3. CGLS is preconditioned by the Hessian's diagonal.
 4. The line search uses safeguarded Newton steps on phi' instead of sorted breakpoints (also exact).
 5. Heuristic 3 (start on a random subset) is always used where d is small and rows abound; the tolerance of CG follows
    what a step is about to gain (CG_LOOSE in newton.py) in place of heuristic 2's two values.
 6. Where d is large or exceeds n, and a dual point exists, epochs of coordinate descent give the first guess
    (Section 4.1's "inexpensive method") and end the run where they certify first.  Where they are slow and few
    rows are active, least squares on the active rows is solved by a factorised system of that many unknowns;
    where many are, epochs and steps alternate (`alternated`).
Stops when: the active rows repeat after a full step (Theorem 1: the exact minimiser), or -e or --gap holds.
Memory: 5 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import contextlib

import numpy as np

from svmtool.coordinate.hinge import MAX_EPOCHS, MAX_VISITS, DualCoordinateDescent
from svmtool.limits import EndedError
from svmtool.linalg.systems import VISIT_NS
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, Status, bias_only
from svmtool.solvers.shared.newton import RuleEpochs, newton_steps
from svmtool.tolerances import DUAL_ROWS, GRAM_BELOW, LATE_EPOCHS, RULE_MIN_GAP, SLOW_MIN_GAP

# Heuristic 3: the sample holds one row in MFN_SAMPLE_GROUP, if these are at least MFN_SAMPLE_EACH rows for each feature
# and MFN_SAMPLE_ROWS in all
MFN_SAMPLE_GROUP, MFN_SAMPLE_EACH, MFN_SAMPLE_ROWS = 16, 16, 400
MFN_SAMPLE_GAP, MFN_SAMPLE_ROUNDS = 1e-3, 20  # its solution need not be exact
# Visits to each row in the first turn of epochs.  A visit to a row with few non-zeros costs more per non-zero, so the
# turn makes fewer visits in the same time; but if fewer rows are active than there are features, the dual is the
# smaller problem, and epochs continue to FIRST_TURN_VISITS.  On ten wide sets (frappe, ml100k, banking77, la12,
# farm-ads, conll2000, imdb.tfidf.t, polarity2.bigram, dorothea, tdt2; -s 1 and 2, C = 0.01, 1, 100, 60 runs, CPU time
# of whole commands) this takes 0.90 times as long as 40 visits everywhere, 0.63 times in the 12 runs above 0.6 s, and
# at most 1.14 times.  Gaps that -e leaves change by at most 40 times either way (frappe -s 1, C = 100 0.002 to 0.07;
# ml100k -s 1, C = 1 0.23 to 0.15).  Without the exception banking77's gap at -s 2, C = 100 rises from 1e-3 to 0.2.
FIRST_TURN_VISITS = 40.0
TURN_GROWTH = 2.0  # how much longer each turn is than the last
# Certified gap at which Newton steps on the row system change to epochs where -e decides; it is multiplied by
# NEAR_GAP_FACTOR each time that the epochs do not end the run.
NEAR_GAP = 1e-2
NEAR_GAP_FACTOR = 0.1
EPOCHS_TEXT = "epochs of coordinate descent"  # in the solver log
SHORT_TURN_SHARE = 0.25  # length of a turn of the slower steps, relative to that of the epochs

METHODS = {
    "bias": BIAS,
    "primal": "Newton steps on a factorised matrix",
    "primal-sampled": "Newton steps on a factorised matrix, from the minimiser over a sample of the rows",
    "epochs": "epochs of coordinate descent, alternating with Newton steps if these do not end the run",
    "dual": "Newton steps with a system of the active rows",
    "cg": "Newton steps by conjugate gradients",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features and rows, their layout and the bias."""
    n, d = task.rows.n, task.rows.d
    if task.target is not None and task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    enough = n >= MFN_SAMPLE_GROUP * max(MFN_SAMPLE_ROWS, MFN_SAMPLE_EACH * d)
    sampled = "-sampled" if start is None and enough else ""
    by_epochs = DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias)
    # Where n < d few rows' pieces hold along a Newton step that starts far away: it is short, and there are many.  On
    # subsets of six sets with n < d (one-hot, text, digits; -s 1, 2 and 40, C 1 to 1e6) whole runs took between 0.05
    # times the time and, up to noise of some 0.03 s, the same
    if d <= GRAM_BELOW and not (by_epochs and n < d):
        return Plan("primal" + sampled, f"{d} features, at most {GRAM_BELOW}")
    if by_epochs:
        return Plan("epochs", f"{d} features, more than " + (f"{GRAM_BELOW}" if d > GRAM_BELOW else f"{n} rows"))
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent for this layout or bias")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution())
    objective = task.objective(SquaredHinge, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if method == "epochs":
        if objective.d <= GRAM_BELOW and rule.confirmed.at_start == RULE_MIN_GAP:
            rule = rule._replace(confirmed=base.Confirmation(slow=RULE_MIN_GAP))  # as cheap as with factorised features
        return alternated(objective, descent_from(objective, seed), monitor, rule, MAX_VISITS, DUAL_ROWS)
    if method == "primal-sampled" and start is None:
        _sampled(objective, monitor, seed)
    system = method if method in ("dual", "cg") else "primal"
    max_rows = DUAL_ROWS if objective.has_dual_system and system != "primal" else 0
    status = newton_steps(objective, monitor, rule, system, max_rows)
    return Result(objective.w, status, monitor.iterations, monitor.history, objective.best_dual_point())


def _sampled(objective: SquaredHinge, monitor: Monitor, seed: int) -> None:
    """Move to the minimiser over a random subset of the rows (heuristic 3)."""
    subset = objective.sample(MFN_SAMPLE_GROUP, seed)
    subset.set_point(np.zeros(objective.d))
    newton_steps(subset, monitor.child(MFN_SAMPLE_GAP, MFN_SAMPLE_ROUNDS), Rule(), "primal")
    objective.set_point(subset.w)


def descent_from(objective: SquaredHinge, seed: int) -> DualCoordinateDescent:
    """Coordinate descent from the dual point that belongs to the objective's w."""
    alpha = objective.dual_point() if np.any(objective.w) else None
    upper = np.full(objective.n, np.inf)
    target = None if len(objective.target) == 1 else objective.target
    return DualCoordinateDescent(objective.rows, objective.y, 0.5 / objective.cost, upper, seed, alpha, target)


def steps_rule(rule: Rule, late: bool = False) -> Rule:
    """Return the rule that ends Newton steps where -e decides: a certified gap in place of sums of projected gradients.

    late: epochs have not ended the run, or steps are ahead of them (RangeRule.primal_share).
    """
    primal = rule.primal
    if late:
        share = None if rule.dual is None else rule.dual.primal_share
        primal = None if share is None else base.GradientRule(share)
    gap = max(rule.certified.gap, min(SLOW_MIN_GAP, rule.certified.loose))
    return rule._replace(primal=primal, certified=base.GapRule(gap))


def alternated(
    objective: SquaredHinge, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, max_visits: float,
    max_rows: int, first_turn: float = FIRST_TURN_VISITS, max_epochs: int = MAX_EPOCHS,
) -> Result:  # fmt: skip
    """Minimise by epochs and Newton steps in turns, from the dual point of `descent` and the w of `objective`.

    The faster one is not known in advance: on text epochs meet LIBLINEAR's rule after about ten visits to each row, but
    where many rows share few features and C is large they may need thousands; on other data conjugate gradients may
    need as many products.  Epochs come first; turns are of equal cost, each twice as long as the last, until the steps
    have both the better primal and the better dual.  Steps that are behind restart from the w of coordinate descent, in
    shorter turns.  As in LIBLINEAR, a rule for the dual that 300 epochs have not met is replaced by one for the primal.
    If few enough rows are active, Newton steps with a factorised system of these rows end the run without turns.

    max_visits, max_epochs: visits to each row, and epochs, after which Newton steps continue alone; max_rows:
    largest row system to factorise; first_turn: visits to each row in the first turn, fewer where a visit costs more.
    """
    unit = descent.cost
    turn, share = first_turn * VISIT_NS * objective.rows.nnz / max(unit, 1.0), 1.0
    best, least = objective.w.copy(), np.inf  # the best weights so far, and their f
    limited = rule.dual is not None and rule.dual.primal_share is not None  # as in LIBLINEAR, by LATE_EPOCHS
    while True:
        visits = min(descent.visits + turn, max_visits)
        if limited and descent.visits < LATE_EPOCHS:
            visits = min(visits, LATE_EPOCHS)
        status = RuleEpochs(objective, descent, monitor, rule, max_rows).run(visits, max_epochs)
        if status is not None:
            if monitor.history[-1]["objective"] <= least:
                best = descent.w
            return _result(best, status, descent, monitor)
        dual, active = descent.dual_value(), np.count_nonzero(descent.alpha)
        few = active <= max_rows
        over = descent.visits >= max_visits or descent.count >= max_epochs
        late = limited and (over or max(descent.count, descent.visits) >= LATE_EPOCHS)
        if few and (descent.newton_is_cheaper(unit * descent.visits, max_rows) or over):
            return _by_rows(objective, descent, monitor, rule, max_rows, dual)
        if descent.visits < first_turn <= max_visits and active <= objective.d:
            turn = first_turn
            continue
        # Steps may meet a rule for the gradient: on nine sets, -s 2, C = 1 and 100, with this turn news20 and
        # farm-ads took 0.68 and 0.29 times as long at C = 100, and the others as long as before
        if few and not late and rule.primal is None:
            continue
        t, value = objective.least_multiple(descent.w)
        if value < least:
            best, least = t * descent.w, value
        objective.set_point(best)
        work = np.inf if over else share * turn * unit
        monitor.uses("Newton steps", f"epochs have not ended the run in {descent.visits:.0f} visits to each row")
        status = newton_steps(objective, monitor, steps_rule(rule, late), "cg", max_rows, work, dual)
        primal, bound = monitor.history[-1]["objective"], monitor.history[-1]["bound"]
        if primal <= least:
            best, least = objective.w.copy(), primal
        if status is not None:
            return _result(best, status, descent, monitor, objective)
        if primal <= value and bound > dual:
            max_visits = 0.0
        share = 1.0 if primal <= value or bound > dual else SHORT_TURN_SHARE
        turn *= TURN_GROWTH
        monitor.uses(EPOCHS_TEXT, "Newton steps did not converge within their budget")


def _by_rows(
    objective: SquaredHinge, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, max_rows: int, dual: float
) -> Result:
    """Take Newton steps with the row system, from the minimiser over the rows that coordinate descent holds active.

    Where -e decides, epochs continue from the dual point of these steps near the end: the rule is about single rows,
    so that epochs meet it soon, where Newton steps would have to continue to the exact minimiser.
    """
    w = descent.w
    with contextlib.suppress(EndedError):
        w = objective.face(np.flatnonzero(descent.alpha))
    objective.set_point(w)
    monitor.uses("Newton steps", f"few active rows: their system costs less than epochs, {descent.visits:.0f} so far")
    near = NEAR_GAP if rule.dual is not None and monitor.gap is None else -1.0
    while True:
        status = newton_steps(objective, monitor, rule, "dual", max_rows, known=dual, near=near)
        if status is not None:
            return _result(objective.w, status, descent, monitor, objective)
        best, least = objective.w.copy(), monitor.history[-1]["objective"]
        alpha = objective.best_dual_point()
        descent.resume(objective.dual_point() if alpha is None else alpha)
        monitor.uses(EPOCHS_TEXT, "near the minimum epochs satisfy -e sooner")
        status = RuleEpochs(objective, descent, monitor, rule, 0).run(descent.visits + FIRST_TURN_VISITS)
        if status is not None:
            w = best if least < monitor.history[-1]["objective"] else descent.w
            return _result(w, status, descent, monitor)
        objective.set_point(best)
        dual, near = max(dual, descent.dual_value()), NEAR_GAP_FACTOR * near


def _result(
    w: np.ndarray, status: Status, descent: DualCoordinateDescent, monitor: Monitor,
    objective: SquaredHinge | None = None,
) -> Result:  # fmt: skip
    """Return the Result; objective: after Newton steps, with dual points of its own (-e is about that of its w)."""
    alpha = descent.alpha
    if objective is not None:
        alpha = objective.best_dual_point(alpha, descent.dual_value())
        if status is base.RULE and relative_gap(objective.primal_value(), objective.bound) <= SLOW_MIN_GAP:
            alpha = None
    result = Result(w, status, max(descent.count, monitor.iterations), monitor.history, alpha)
    products = sum(2.0 * record.get("cg", 0) * record["active"] for record in monitor.history)  # over active rows alone
    result.visits = descent.visits + products / max(descent.n, 1)
    return result
