"""Coordinate descent that alternates with the multiplier rounds of Crammer-Singer problems; see alm_classes.py."""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.coordinate.hinge import still_needed
from svmtool.objectives.crammer_singer import CrammerSingerLoss
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.alm_rounds import RECENT_RANGES, SMOOTH, WINDOW
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, Status
from svmtool.solvers.shared.epochs import GIVES_WAY, Epochs
from svmtool.tolerances import RULE_MIN_GAP, SAFETY

TIGHTER = 0.3  # how much further than -e says epochs go where the gap is not certified then
# The primal value is computed each time the cost of epochs has grown by this share, and by this many evaluations of it
EVALUATIONS, DEAR = 0.3, 10.0
# Where d is large, epochs continue towards SAFETY times LIBLINEAR's tolerance for at most this share of the cost at
# which its rule first held.  banking77, la12, tdt2, conll2000, isolet1, C = 1 and 100: with 0 the dual value of tdt2
# is below LIBLINEAR's, with 0.5 none is; banking77 at C = 100 takes 3.4 s (8.6 s without this limit, LIBLINEAR 2.2),
# the others end earlier
AFTER_RULE = 0.5
NEAR = 1.5  # times the target gap, as epochs estimate it, from which on the primal is computed


class ClassEpochs(Epochs):
    """Epochs until the rule or the gap holds, or multiplier rounds are expected to be cheaper.

    Epochs estimate the gap themselves.  rounds: whether multiplier rounds may take over; reached: the certified gap
    before; after_rule: see AFTER_RULE.  After the run: multiple, of the descent's w, gives the best primal value.
    """

    def __init__(
        self, objective: CrammerSingerLoss, descent: CrammerSingerDescent, monitor: Monitor, rule: Rule,
        rounds: bool, reached: float = 1.0, after_rule: float = AFTER_RULE,
    ):  # fmt: skip
        super().__init__(descent)
        self.objective, self.monitor, self.rounds, self.reached = objective, monitor, rounds, reached
        self.after_rule, self.multiple = after_rule, 1.0
        self.gap = rule.certified.gap if monitor.gap is None else monitor.gap
        self.wanted = self.gap if self.gap >= 0.0 else RULE_MIN_GAP
        self.plain = -1.0 if rule.dual is None else rule.dual.most
        self.enough, self.ruled = SAFETY * self.plain, np.inf  # ruled: the cost at which LIBLINEAR's rule held first
        self.evaluated = 0.0
        self.lefts, self.pg_ranges, self.costs = [1.0], [1.0], [0.0]
        self.seen, self.paid = [1.0], [0.0]  # the gap and the cost where the primal is known

    def measure(self) -> None:
        descent, plain = self.descent, self.plain
        self.lefts.append(descent.left)
        self.pg_ranges.append(self.pg_ranges[-1] ** SMOOTH * max(descent.pg_range, 1e-300) ** (1.0 - SMOOTH))
        self.costs.append(self.spent)
        if descent.complete and descent.pg_range <= plain:
            self.ruled = min(self.ruled, self.spent)
        over = not descent.factorised and self.spent >= (1.0 + self.after_rule) * self.ruled
        self.settled = descent.pg_range <= self.enough
        if over and not self.settled and descent.pg_range <= plain:  # an epoch measures rows as it meets them
            self.settled = not descent.complete or self.objective.projected_range(descent.alpha) <= plain
        self.limit = self.monitor.limit(descent.count)

    def unshrinks(self) -> bool:
        return self.settled and self.limit is None

    def evaluate(self) -> Status | None:
        """Compute the primal where it is worth its cost, and compare with the expected cost of rounds."""
        descent, since = self.descent, self.spent - self.evaluated
        near = self.lefts[-1] <= NEAR * self.gap and since >= descent.evaluation_cost
        early = self.gap >= 0.0 and since >= max(DEAR * descent.evaluation_cost, EVALUATIONS * self.spent)
        if near or early or self.settled or self.limit:
            status = self._ended()
            if status is not None:
                return status
        if not self.rounds:
            return None
        expected = min(
            still_needed(self.lefts, self.costs, self.wanted, WINDOW),
            still_needed(self.seen, self.paid, self.wanted, WINDOW),
        )
        if not descent.factorised and self.plain > 0.0:  # the gap falls evenly; the range fluctuates
            window = len(self.costs) // RECENT_RANGES
            expected = min(expected, still_needed(self.pg_ranges, self.costs, self.enough, window))
        cheaper = expected > descent.newton if self.settled else descent.enough(self.spent, expected)
        return GIVES_WAY if cheaper else None

    def primal(self) -> float:
        """Return the least value along the descent's w, at `multiple`: with a large C rows just short of the margin
        cost most."""
        self.multiple, primal = self.objective.least_multiple(self.descent.w)
        return primal

    def _ended(self) -> Status | None:
        """Compute the primal; return why the run ends, or None."""
        descent, limit = self.descent, self.limit
        self.evaluated = self.spent
        if limit:  # early epochs overshoot: use the best multiple of their w
            descent.scale(self.objective.best_multiple(descent.w))
        primal, bound = self.primal(), descent.dual_value()
        left = relative_gap(primal, bound)
        self.seen.append(left)
        self.paid.append(self.spent)
        ruled = self.settled and (min(left, self.reached) <= RULE_MIN_GAP or not descent.factorised)
        if left <= self.gap or limit or ruled:
            support = int(np.count_nonzero(descent.alpha))
            status = self.monitor.step(primal, bound, gradient=0.0, active=support, cg=0, step=1.0)
            return status or limit or base.RULE
        if self.settled:  # LIBLINEAR's objective may be lower where its rule holds
            self.enough *= TIGHTER
        return None
