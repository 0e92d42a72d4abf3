"""Alternates coordinate descent and Newton steps, since the faster one is not known in advance.

On text, coordinate descent meets LIBLINEAR's rule after about ten visits to each row.  Where many rows share few
features and C is large it may need thousands; on other data conjugate gradients may need as many products.
Epochs come first.  Then both methods run in turns of equal cost, each turn twice as long as the last, until the steps
have both the better primal and the better dual.  Steps that are behind restart from the w of coordinate descent, in
shorter turns.  As in LIBLINEAR, a rule for the dual that 300 epochs have not met is replaced by one for the primal.
If few enough rows are active, Newton steps with a factorised system of these rows end the run without turns.
"""

from __future__ import annotations

import contextlib

import numpy as np

from svmtool.coordinate.hinge import LATE_EPOCHS, MOST_EPOCHS, DualCoordinateDescent
from svmtool.limits import EndedError
from svmtool.linalg.costs import VISIT
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.solvers.shared.base import RULE, GapRule, GradientRule, Monitor, Result, Rule, Status
from svmtool.solvers.shared.newton import RuleEpochs, newton_steps
from svmtool.tolerances import ENOUGH

# Visits to each row in the first turn of epochs.  A visit to a row with few non-zeros costs more per non-zero, so the
# turn makes fewer visits in the same time; but if fewer rows are active than there are features, the dual is the
# smaller problem, and epochs continue to FIRST_TURN.  On ten wide sets (frappe, ml100k, banking77, la12, farm-ads,
# conll2000, imdb.tfidf.t, polarity2.bigram, dorothea, tdt2; -s 1 and 2, C = 0.01, 1, 100, 60 runs, CPU time of whole
# commands) this takes 0.90 times as long as 40 visits everywhere, 0.63 times in the 12 runs above 0.6 s, and at
# most 1.14 times.
# Gaps that -e leaves change by at most 40 times either way (frappe -s 1, C = 100 0.002 to 0.07; ml100k -s 1, C = 1 0.23
# to 0.15).  Without the exception banking77's gap at -s 2, C = 100 rises from 1e-3 to 0.2.
FIRST_TURN = 40.0
LONGER = 2.0  # how much longer each turn is than the last
# Certified gap at which Newton steps on the row system change to epochs where -e decides; it is multiplied by NEARER
# each time that the epochs do not end the run.
NEAR = 1e-2
NEARER = 0.1
EPOCHS = "epochs of coordinate descent"  # in the solver log
BEHIND = 0.25  # length of a turn of steps that are behind, relative to that of the epochs


def steps_rule(rule: Rule, late: bool = False) -> Rule:
    """Return the rule that ends Newton steps where -e decides: a certified gap in place of sums of projected gradients.

    late: epochs have not ended the run, or steps are ahead of them (RangeRule.late).
    """
    primal = rule.primal
    if late:
        primal = None if rule.dual is None or rule.dual.late is None else GradientRule(rule.dual.late)
    return rule._replace(primal=primal, certified=GapRule(max(rule.certified.gap, min(ENOUGH, rule.certified.loose))))


def by_turns(
    objective: SquaredHinge,
    descent: DualCoordinateDescent,
    monitor: Monitor,
    rule: Rule,
    most_visits: float,
    most_rows: int,
    first_turn: float = FIRST_TURN,
    most_epochs: int = MOST_EPOCHS,
) -> Result:
    """Minimise from the dual point of `descent` and the w of `objective`.

    most_visits, most_epochs: visits to each row, and epochs, after which Newton steps continue alone; most_rows:
    largest row system to factorise; first_turn: visits to each row in the first turn, fewer where a visit costs more.
    """
    unit = descent.cost
    turn, share = first_turn * VISIT * objective.rows.nnz / max(unit, 1.0), 1.0
    best, least = objective.w.copy(), np.inf  # the best weights so far, and their f
    limited = rule.dual is not None and rule.dual.late is not None  # as in LIBLINEAR, by LATE_EPOCHS
    while True:
        visits = min(descent.visits + turn, most_visits)
        if limited and descent.visits < LATE_EPOCHS:
            visits = min(visits, LATE_EPOCHS)
        status = RuleEpochs(objective, descent, monitor, rule, most_rows).run(visits, most_epochs)
        if status is not None:
            if monitor.history[-1]["objective"] <= least:
                best = descent.w
            return _result(best, status, descent, monitor)
        dual, active = descent.dual_value(), np.count_nonzero(descent.alpha)
        few = active <= most_rows
        over = descent.visits >= most_visits or descent.count >= most_epochs
        late = limited and (over or max(descent.count, descent.visits) >= LATE_EPOCHS)
        if few and (descent.enough(unit * descent.visits, most_rows) or over):
            return _by_rows(objective, descent, monitor, rule, most_rows, dual)
        if descent.visits < first_turn <= most_visits and active <= objective.d:
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
        status = newton_steps(objective, monitor, steps_rule(rule, late), "cg", most_rows, work, dual)
        primal, bound = monitor.history[-1]["objective"], monitor.history[-1]["bound"]
        if primal <= least:
            best, least = objective.w.copy(), primal
        if status is not None:
            return _result(best, status, descent, monitor, objective)
        if primal <= value and bound > dual:
            most_visits = 0.0
        share = 1.0 if primal <= value or bound > dual else BEHIND
        turn *= LONGER
        monitor.uses(EPOCHS, "Newton steps have not ended the run in their turn")


def _by_rows(
    objective: SquaredHinge, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, most_rows: int, dual: float
) -> Result:
    """Take Newton steps with the row system, from the minimiser over the rows that coordinate descent holds active.

    Where -e decides, epochs continue from the dual point of these steps near the end: the rule is about single rows,
    so that epochs meet it soon, where Newton steps would have to go on to the exact minimiser.
    """
    w = descent.w
    with contextlib.suppress(EndedError):
        w = objective.face(np.flatnonzero(descent.alpha))
    objective.set_point(w)
    monitor.uses("Newton steps", f"few active rows: their system costs less than epochs, {descent.visits:.0f} so far")
    near = NEAR if rule.dual is not None and monitor.gap is None else -1.0
    while True:
        status = newton_steps(objective, monitor, rule, "dual", most_rows, known=dual, near=near)
        if status is not None:
            return _result(objective.w, status, descent, monitor, objective)
        best, least = objective.w.copy(), monitor.history[-1]["objective"]
        alpha = objective.best_dual_point()
        descent.resume(objective.dual_point() if alpha is None else alpha)
        monitor.uses(EPOCHS, "they soon meet the rule of -e near the end")
        status = RuleEpochs(objective, descent, monitor, rule, 0).run(descent.visits + FIRST_TURN)
        if status is not None:
            w = best if least < monitor.history[-1]["objective"] else descent.w
            return _result(w, status, descent, monitor)
        objective.set_point(best)
        dual, near = max(dual, descent.dual_value()), NEARER * near


def _result(
    w: np.ndarray, status: Status, descent: DualCoordinateDescent, monitor: Monitor,
    objective: SquaredHinge | None = None,
) -> Result:  # fmt: skip
    """Return the Result; objective: after Newton steps, with dual points of its own (-e is about that of its w)."""
    alpha = descent.alpha
    if objective is not None:
        alpha = objective.best_dual_point(alpha, descent.dual_value())
        if status is RULE and relative_gap(objective.primal_value(), objective.bound) <= ENOUGH:
            alpha = None
    result = Result(w, status, max(descent.count, monitor.iterations), monitor.history, alpha)
    products = sum(2.0 * record.get("cg", 0) * record["active"] for record in monitor.history)  # over active rows alone
    result.visits = descent.visits + products / max(descent.n, 1)
    return result
