"""Alternates coordinate descent and Newton steps, since the faster one is not known in advance.

On text dual passes reach LIBLINEAR's rule in some ten visits to each row.  Where many rows share few features and C is
large they may need thousands, and conjugate gradients as many products as passes would need visits in other places.
Passes begin; from then on both have turns of the same cost, each twice as long as the one before, until the steps have
both the better primal and the better dual.  Steps that are behind restart from the point of the passes, in shorter
turns.  As in LIBLINEAR, a rule for the dual that 300 passes have not met is replaced by one for the primal.
Where few enough rows are active, a factorised system for each of them ends the run: it needs no turns.
"""

from __future__ import annotations

import contextlib

import numpy as np

from svmtool.coordinate.hinge import LATE_EPOCHS, MOST_EPOCHS, DualCoordinateDescent
from svmtool.limits import EndedError
from svmtool.linalg.costs import VISIT
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.solvers.shared.base import RULE, Monitor, Result, Rule, Status
from svmtool.solvers.shared.newton import coordinate_epochs, newton_steps
from svmtool.tolerances import ENOUGH

# Visits to each row by the first passes.  In rows of few non-zeros each of them costs more, so that the first turn
# makes fewer visits in the same time; but where fewer rows are active than there are features, the dual is the smaller
# problem, and passes have their FIRST_TURN.  On ten wide sets (frappe, ml100k, banking77, la12, farm-ads, conll2000,
# imdb.tfidf.t, polarity2.bigram, dorothea, tdt2; -s 1 and 2, C = 0.01, 1, 100, 60 runs, CPU time of whole commands)
# that takes 0.90 times as long as 40 visits everywhere, 0.63 times in the 12 runs above 0.6 s, and at most 1.14 times.
# Gaps that -e leaves change by at most 40 times either way (frappe -s 1, C = 100 0.002 to 0.07; ml100k -s 1, C = 1 0.23
# to 0.15).  Without the exception banking77's gap at -s 2, C = 100 rises from 1e-3 to 0.2.
FIRST_TURN = 40.0
LONGER = 2.0  # how much longer each turn is than the last
NEAR = 1e-2  # certified gap at which Newton steps from the rows' side change to passes where -e decides, ...
NEARER = 0.1  # ... and each time that these do not end the run this share of it
BEHIND = 0.25  # length of a turn of steps that are behind, beside the passes'


def steps_rule(rule: Rule, late: bool = False) -> Rule:
    """What ends Newton steps where -e decides: passes have the sums of projected gradients, steps a certified gap.

    late: passes have not ended the run, or steps are ahead of them (Rule.late).
    """
    steps = Rule(rule.late if late else rule.gradient, rule.projected, max(rule.gap, min(ENOUGH, rule.loose)))
    steps.sure = rule.sure
    return steps


def by_turns(
    objective: SquaredHinge,
    descent: DualCoordinateDescent,
    monitor: Monitor,
    rule: Rule,
    most_visits: float,
    most_rows: int,
) -> Result:
    """Minimise from the passes' dual point and the objective's w.

    most_visits: by passes, after which steps go on alone; most_rows: of a system that steps may factorise.
    """
    unit = descent.cost
    turn, share = FIRST_TURN * VISIT * objective.rows.nnz / max(unit, 1.0), 1.0
    best, least = objective.w.copy(), np.inf  # the best weights so far, and their f
    while True:
        visits = min(descent.visits + turn, most_visits)
        if rule.late is not None and descent.visits < LATE_EPOCHS:
            visits = min(visits, LATE_EPOCHS)
        status = coordinate_epochs(objective, descent, monitor, rule, visits, most_rows)
        if status is not None:
            if monitor.history[-1]["objective"] <= least:
                best = descent.w
            return _result(best, status, descent, monitor)
        dual, active = descent.dual_value(), np.count_nonzero(descent.alpha)
        few = active <= most_rows
        over = descent.visits >= most_visits or descent.count >= MOST_EPOCHS
        late = rule.late is not None and (over or max(descent.count, descent.visits) >= LATE_EPOCHS)
        if few and (descent.enough(unit * descent.visits, most_rows) or over):
            return _by_rows(objective, descent, monitor, rule, most_rows, dual)
        if descent.visits < FIRST_TURN <= most_visits and active <= objective.d:
            turn = FIRST_TURN
            continue
        # Steps may meet a rule for the gradient: on nine sets, -s 2, C = 1 and 100, with this turn of theirs news20 and
        # farm-ads took 0.68 and 0.29 times as long at C = 100, and the others as long as before
        if few and not late and rule.gradient is None:
            continue
        t, value = objective.least_multiple(descent.w)
        if value < least:
            best, least = t * descent.w, value
        objective.set_point(best)
        work = np.inf if over else share * turn * unit
        monitor.uses("Newton steps", f"passes have not ended the run in {descent.visits:.0f} visits to each row")
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


def _by_rows(
    objective: SquaredHinge, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, most_rows: int, dual: float
) -> Result:
    """Newton steps from the rows' side, from the minimiser over the rows that passes hold active.

    Where -e decides passes go on from their dual point near the end: they soon have what it asks for, which speaks of
    single rows and would take several more steps.
    """
    w = descent.w
    with contextlib.suppress(EndedError):
        w = objective.face(np.flatnonzero(descent.alpha))
    objective.set_point(w)
    monitor.uses("Newton steps", f"few active rows: their system costs less than passes, {descent.visits:.0f} so far")
    near = NEAR if rule.projected is not None and monitor.gap is None else -1.0
    while True:
        status = newton_steps(objective, monitor, rule, "dual", most_rows, known=dual, near=near)
        if status is not None:
            return _result(objective.w, status, descent, monitor, objective)
        best, least = objective.w.copy(), monitor.history[-1]["objective"]
        alpha = objective.best_dual_point()
        descent.resume(objective.dual_point() if alpha is None else alpha)
        status = coordinate_epochs(objective, descent, monitor, rule, descent.visits + FIRST_TURN, 0)
        if status is not None:
            w = best if least < monitor.history[-1]["objective"] else descent.w
            return _result(w, status, descent, monitor)
        objective.set_point(best)
        dual, near = max(dual, descent.dual_value()), NEARER * near


def _result(
    w: np.ndarray, status: Status, descent: DualCoordinateDescent, monitor: Monitor,
    objective: SquaredHinge | None = None,
) -> Result:  # fmt: skip
    """objective: has dual points too, after Newton steps; that of its w is the one that -e speaks of."""
    alpha = descent.alpha
    if objective is not None:
        alpha = objective.best_dual_point(alpha, descent.dual_value())
        if status is RULE and relative_gap(objective.primal_value(), objective.bound) <= ENOUGH:
            alpha = None
    result = Result(w, status, max(descent.count, monitor.iterations), monitor.history, alpha)
    products = sum(2.0 * record.get("cg", 0) * record["active"] for record in monitor.history)  # over active rows alone
    result.visits = descent.visits + products / max(descent.n, 1)
    return result
