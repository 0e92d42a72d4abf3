"""Coordinate descent that precedes the multiplier rounds of SVM-ALM; see alm.py, point 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.compiled.loops.cd.dcd_loops import EVALUATION_SHARE, REMAINING_SHARE
from svmtool.coordinate.hinge import MAX_EPOCHS, DualCoordinateDescent
from svmtool.data.replicated import stored_rows
from svmtool.engine.slower import still_needed
from svmtool.linalg.systems import FACTOR_NS, VISIT_NS
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.alm_rounds import RECENT_RANGES, SMOOTHING, WINDOW
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, Status
from svmtool.solvers.shared.epochs import RATE_EVALUATIONS, SWITCH, Epochs
from svmtool.tolerances import EPOCH_TOL, RULE_MIN_GAP, RULE_SHARE, SLOW_MIN_GAP

if TYPE_CHECKING:
    from typing import Any

# Expected Newton steps with the dual system after epochs; epochs may cost as much first.
# At C = 100 12 to 20 on la12, 23 to 60 on farm-ads, 15 to over 100 on news20, on all of which epochs end sooner
EXPECTED_STEPS = 60
# largest cost of these EXPECTED_STEPS, relative to that of the epochs so far, for which a regression continues with
# them after LIBLINEAR's rule: with few rows they reach the gap (arcene -s 13, C = 0.01 and 1: 6e-8 and 1e-3, else 0.8
# and 1)
MAX_NEWTON_COST = 4.0
MIN_DUAL_SHARE = 1e-3  # share of the primal that the bound counts as at least where the gap is measured by it
RANGE_UNSHRINK_SHARE = 0.3  # factor of the range at which shrunk rows return, each time they do
CALL_NONZEROS = 1e7  # non-zeros that epochs visit in one call: limits are checked between calls
FIRST_EPOCHS = 2  # epochs before Newton steps with a matrix of the features take over
# They do not take over if epochs would reach the gap, at the last rate, within EPOCHS_WORTH epochs and as many more as
# take the time of EPOCHS_FACTORS factorisations
EPOCHS_WORTH, EPOCHS_FACTORS = 8, 10
SQUARE_NS = 2.0  # nanoseconds of a factorisation per d^2, besides FACTOR_NS


def epochs_worth(d: int, nnz: int) -> int:
    """Return how many epochs may be tried where Newton steps factorise matrices of order d."""
    return EPOCHS_WORTH + int(EPOCHS_FACTORS * (FACTOR_NS * d**3 + SQUARE_NS * d * d) / (VISIT_NS * max(nnz, 1)))


class HingeEpochs(Epochs):
    """Epochs until the rule or the gap holds, or multiplier rounds are expected to be cheaper.

    wide: whether rounds have no factorised matrix of the features; max_rows: largest row system that they factorise;
    cheap: see MAX_NEWTON_COST.
    After the run: multiple, of the descent's w, gives the best primal value; ruled: whether LIBLINEAR's rule holds,
    and rounds serve a smaller gap only.
    """

    def __init__(
        self, objective: Augmented, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, wide: bool,
        max_rows: int, cheap: float = MAX_NEWTON_COST,
    ):  # fmt: skip
        super().__init__(descent, monitor)
        self.objective, self.rule, self.wide, self.max_rows = objective, rule, wide, max_rows
        self.cheap, self.multiple, self.ruled = cheap, 1.0, False
        self.gap = rule.certified.gap if monitor.gap is None else monitor.gap
        self.loose = rule.certified.loose if wide else -1.0  # sufficient gap once the projected gradients are small
        of_rule = SLOW_MIN_GAP if wide else RULE_MIN_GAP
        self.target_gap = max(self.gap, self.loose) if self.gap >= 0.0 else of_rule
        self.range_tol = -1.0 if rule.dual is None else EPOCH_TOL * rule.dual.width
        if rule.dual is None and wide:
            self.range_tol = descent.unit  # the gap alone ends the run, but rows shrunk too early must come back
        self.first = 1 if wide else FIRST_EPOCHS  # epochs before there is something to decide
        self.nnz = max(stored_rows(objective.rows).nnz, 1)
        self.worth = epochs_worth(objective.d, self.nnz)  # most epochs where rounds factorise
        self.pg_range, self.certified_gap, self.patience = 1.0, 1.0, 1.0
        self.promising = -1.0  # range at which the gap will be reached if both fall at the same rate
        self.gaps, self.pg_ranges, self.costs, self.visits_at = [1.0], [1.0], [0.0], [0.0]  # of each evaluation
        self.small = self.over = self.near = self.within_tol = False  # of the last epoch; see `measure`
        self.limit: Status | None = None

    def batch(self) -> tuple[Any, ...]:
        """Return the arguments for several epochs where d is small: those before the next evaluation."""
        descent, max_iter = self.descent, self.monitor.max_iter
        if self.wide or descent.count < self.first:
            return ()
        remaining = (MAX_EPOCHS if max_iter is None else max_iter) - descent.count
        until = self.visits_at[-1] + self._visits_between()
        max_visits = min(until, descent.visits + CALL_NONZEROS / self.nnz)
        return max(remaining, 1), max(self.range_tol, self.promising), max_visits

    def measure(self) -> None:
        descent = self.descent
        self.pg_range = self.pg_range**SMOOTHING * max(descent.pg_range, 1e-300) ** (1.0 - SMOOTHING)
        self.small = self.wide and descent.gradient_sum <= RULE_SHARE * self.rule.certified.gradient_sum
        self.over = self.wide and descent.enough_after_rule(self.rule.certified.gradient_sum)
        self.near = self.small and self.certified_gap <= self.loose  # as of the last evaluation
        self.within_tol = descent.pg_range <= self.range_tol
        self.limit = self.monitor.limit(descent.count) or (base.RULE if self.over else None)

    def switches(self) -> bool:
        """Whether LIBLINEAR's rule holds and Newton steps are cheap enough to reach the gap."""
        if self.over and self.objective.p == 1.0:
            self.ruled = self.descent.newton_is_cheaper(self.cheap * self.spent, self.max_rows, steps=EXPECTED_STEPS)
        return self.ruled

    def unshrinks(self) -> bool:
        return (self.within_tol or self.near) and self.limit is None

    def _visits_between(self) -> float:
        return max(self.patience, EVALUATION_SHARE * self.descent.visits)

    def due(self) -> bool:
        """Whether the primal is worth its cost, a product: after some visits, or where the gap may be reached."""
        descent = self.descent
        early = descent.visits - self.visits_at[-1] < self._visits_between() and descent.pg_range > self.promising
        early = early or (descent.count < self.first and descent.pg_range > 0.0)
        return not early or self.within_tol or self.limit is not None or self.near

    def evaluate(self) -> Status | None:
        descent, limit, wide = self.descent, self.limit, self.wide
        self.pg_ranges.append(self.pg_range)
        self.costs.append(self.spent)
        self.visits_at.append(descent.visits)
        if wide and self.gap < 0.0 and not (self.within_tol or limit):  # no gap ends the run: f is not needed
            window = max(WINDOW, len(self.costs) // RECENT_RANGES)
            return self._compared(still_needed(self.pg_ranges, self.costs, self.range_tol, window))
        primal = self._primal()
        bound = descent.dual_value()
        self.certified_gap = certified_gap = relative_gap(primal, bound)
        # relative to the bound it falls evenly; relative to a primal value far above the minimum it is almost constant
        self.gaps.append(certified_gap / max(1.0 - certified_gap, MIN_DUAL_SHARE) if wide else certified_gap)
        ahead = still_needed(self.gaps, self.visits_at, self.target_gap, RATE_EVALUATIONS)
        patience = descent.visits if certified_gap <= self.loose else REMAINING_SHARE * ahead
        self.patience = min(max(1.0, patience), max(1.0, descent.visits))
        self.promising = descent.pg_range * min(self.target_gap / certified_gap, 1.0) if certified_gap > 0.0 else 0.0
        reached = certified_gap <= self.gap or (self.small and certified_gap <= self.loose and descent.complete)
        if self.within_tol and self.rule.dual is None:
            self.within_tol, self.range_tol = False, RANGE_UNSHRINK_SHARE * self.range_tol
        if self.within_tol and not reached and limit is None and not wide and certified_gap > RULE_MIN_GAP:
            return SWITCH  # LIBLINEAR's objective may be lower where its rule holds: Newton steps take over
        if reached or self.within_tol or limit:
            support = int(np.count_nonzero(descent.alpha))
            status = self.monitor.step(primal, bound, active=support, epochs=descent.count)
            return status or limit or base.RULE
        if wide:
            return self._compared(still_needed(self.gaps, self.costs, self.target_gap, WINDOW))
        return None if descent.visits + ahead <= self.worth else SWITCH

    def _primal(self) -> float:
        """Return the primal value at `multiple` times the descent's w."""
        o, descent = self.objective, self.descent
        if self.limit and not self.wide:  # early epochs overshoot: use the best multiple of their w
            descent.scale(o.best_multiple(descent.w))
        if self.wide:  # rows just short of the margin would contribute most of the value
            self.multiple, primal = o.least_multiple(descent.w)
        elif o.p == 1.0:
            primal = descent.primal_value()
        else:
            o.set_point(descent.w)
            primal = o.primal_value()
        return primal

    def _compared(self, expected: float) -> Status | None:
        """Return SWITCH if Newton steps with a row system are cheaper than epochs at this expected cost."""
        cheaper = self.descent.newton_is_cheaper
        switches = self.objective.p == 1.0 and cheaper(self.spent, self.max_rows, expected, EXPECTED_STEPS)
        return SWITCH if switches else None
