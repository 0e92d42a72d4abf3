"""The multiplier rounds of SVM-ALM, Algorithm 1 of the paper; problem, letters and departures: alm.py, alm_classes.py.

Notation   paper: e_i   lambda_i   mu   gamma       code: y_i v_i   -C_i y_i beta_i   C_i sigma   1 / sigma
A round minimises over e and w together: e is eliminated (objectives/augmented.py, objectives/crammer_singer.py), and
what is left in w, smooth and quadratic in pieces, is solved by Newton steps with the exact line search, only as far as
the multiplier step deserves (GRADIENT_TOL): factorised where d is small, by conjugate gradients, or by a system with a
row for each active row, where it is large.  sigma grows geometrically.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from svmtool.objectives.augmented import Augmented
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import CG_RTOL, Monitor, Rule, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import (
    ALM_IDLE_ROUNDS,
    ALM_STALL_RTOL,
    ALM_STALL_STEPS,
    DUAL_ROWS,
    OPTIMAL_GAP,
    ROUNDOFF_GAP,
    RULE_MIN_GAP,
)

if TYPE_CHECKING:
    from svmtool.objectives.crammer_singer import CrammerSingerLoss

SIGMA_COLD = 3.0  # first sigma of a run that starts with zero multipliers
SIGMA_GROWTH, SIGMA_MAX = 3.0, 1e8
GRADIENT_TOL = 1.0  # a round ends when the gradient is this small relative to the coming change of the multipliers
SMOOTHING = 0.9  # weight of the earlier ranges in their running mean: single ranges vary much
RECENT_RANGES = 4  # share of all evaluations, one in this many, over which the fall of the range is measured
WINDOW = 4  # evaluations over which the fall of the gap is measured where it fluctuates


class Rounds:
    """Rounds over an objective from its w, beta and sigma.

    factorised: whether Newton steps factorise a d x d matrix, else by conjugate gradients or the dual system; ruled:
    whether LIBLINEAR's rule held before the first round; the rounds then serve a smaller gap only.
    """

    unit, growth = 1.0, SIGMA_GROWTH  # what slacks are measured in; how much larger sigma is in the next round
    ruled = False
    stall_steps, roundoff_gap = ALM_STALL_STEPS, ROUNDOFF_GAP

    def __init__(self, objective: Augmented | CrammerSingerLoss, monitor: Monitor, rule: Rule, factorised: bool):
        self.objective, self.monitor, self.rule = objective, monitor, rule
        self.factorised, self.max_rows, self.rule_gap = factorised, DUAL_ROWS, RULE_MIN_GAP

    @cached_property
    def best(self) -> Best:
        """The best points so far; created at first use, since epochs that end a run need none."""
        return Best(self.objective)

    @property
    def max_products(self) -> int:
        """Most products in one Newton step by conjugate gradients."""
        return 10 * self.objective.d

    def switches(self, ends: bool, cg: int) -> bool:
        """Whether another method takes over after a Newton step of cg products; ends: whether it ends its round."""
        return False

    def multiplier_rounds(self) -> Status | None:
        """Newton steps and multiplier steps until the gap reaches the target; None where these `switches`.

        The multiplier step that ends a round comes with the first Newton step of the next one.
        """
        o, monitor, best = self.objective, self.monitor, self.best
        cg, t, stalled, idle = 0, 0.0, 0, 0
        smallest = lowest = np.inf
        first, system = True, "cg"  # first: of its round, or of the run
        while True:
            f, g = o.gradient()
            best.keep()
            gap, norm = best.gap, float(np.sqrt(g @ g))
            status = monitor.step(best.primal, best.dual, inner_gradient=norm, active=o.support, cg=cg, step=t)
            ends = norm * norm <= GRADIENT_TOL * GRADIENT_TOL * o.moved / o.sigma
            if status is None:
                better = gap < 0.999 * smallest
                stalled = 0 if better or (not first and f < lowest - ALM_STALL_RTOL * abs(f)) else stalled + 1
                idle = 0 if better else idle + first
                smallest, lowest = min(gap, smallest), f if first else min(f, lowest)
                status = self._end(gap, stalled >= self.stall_steps or idle >= ALM_IDLE_ROUNDS)
            if status is not None:
                return status
            first = ends
            if self.switches(ends, cg):
                return None
            if ends:
                o.accept()
                o.sigma = min(o.sigma * self.growth, SIGMA_MAX / self.unit)
                g = o.gradient_on_pieces() if o.p == 1.0 else o.gradient()[1]
            if self.factorised and (o.active or not o.dual_system_cheaper):
                p, cg, _ = o.factorised_direction(g, stalled > 0)
            else:
                few, max_products = o.has_dual_system and 0 < o.active <= self.max_rows, self.max_products
                if few and (o.p > 1.0 or o.free_bias):  # by what the last step has cost
                    few = system == "dual" or cg * o.product_cost > o.face_cost
                    if o.p == 1.0:  # with a large C products alone need not end: no longer than a system
                        max_products = int(min(max_products, o.face_cost / o.product_cost + 1.0))
                system = "dual" if few else "cg"
                p, cg, _ = o.newton_direction(g, system, CG_RTOL, max_products, monitor.ended)
            monitor.uses(f"multiplier rounds: Newton steps by {o.way}")
            t = o.line_search(p)
            o.step(t, p)

    def _end(self, gap: float, stalled: bool) -> Status | None:
        """Status if a rule other than --gap and the limits ends the run here, else None."""
        if gap <= OPTIMAL_GAP:
            return base.OPTIMAL
        if gap <= self.rule.certified.gap:
            return base.RULE
        if self.rule.dual is not None and gap <= self.rule_gap:
            if self.objective.projected_range(self.best.alpha) <= self.rule.dual.width:
                return base.RULE
            self.rule_gap *= 0.1
        if not stalled:
            return None
        if gap <= self.roundoff_gap:
            return base.OPTIMAL
        return base.RULE if self.ruled else base.PRECISION
