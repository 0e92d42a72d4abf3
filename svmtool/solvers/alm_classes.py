"""Crammer-Singer: dual coordinate descent, and augmented Lagrangian multipliers in the simplex.

    min over W of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)

Papers: the problem is Crammer and Singer's (JMLR 2, 2001); passes that minimise a row's multipliers together: Keerthi,
Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class Linear SVMs, KDD 2008; rounds:
Nie, Huang, Wang and Huang, ICML 2014 (alm.py), Algorithm 1.

Notation   paper: lambda_i   mu     code: p_i, a point of the simplex a row (beta, `multipliers`)   C_i sigma
Differs from the papers in:
 1. The multipliers of a row lie in the simplex in place of [0, 1], see objectives/crammer_singer.py; the rounds are
    those of alm_rounds.py; conjugate gradients there are preconditioned, and where few rows are off the simplex's
    corners a system with a number for each class of their faces takes their place (objectives/class_faces.py).
 2. Passes and rounds alternate.  Passes come first, until they are expected to take longer than Newton steps.  Rounds
    that cost more than expected end, and both alternate from there, each for twice as long as before.  Where d
    is large and -e decides, rounds also change to passes once sigma says that the rule is near: passes end the run.
 3. Where rounds do not end the run and both have cost a quarter of what interior-point steps are expected to cost,
    these go on (objectives/class_interior.py: few rows).  Data on raw scales need them.
 4. Passes shrink classes away as LIBLINEAR does, row by row and at once; what was shrunk away comes back each time that
    the largest violation has halved.
Stops when: the certified relative gap is as small as asked for; with -e, LIBLINEAR's rule for -s 4 besides.
Memory: 5 vectors of n k, 4 of d k; where features times classes are few, one matrix of their order and, for each pair
of classes, one of d x d, twice; from the rows' side three of the faces' classes squared, at most 2000; in
interior-point steps k n^2, at most 128 MB.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.coordinate.hinge import still_needed
from svmtool.limits import EndedError
from svmtool.objectives import class_faces, class_interior
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.crammer_singer import CrammerSingerLoss
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.alm_rounds import RECENT_RANGES, SIGMA_COLD, SMOOTH, WINDOW, Rounds
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import SAFETY, Monitor, Result, Rule, Status
from svmtool.solvers.shared.interior_steps import interior_steps
from svmtool.tolerances import ENOUGH, GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP, RULE_MIN_GAP

GROWTH_PRODUCTS = 2.0  # of sigma by conjugate gradients, which a large sigma slows down
MOST_EPOCHS = 100000  # LIBLINEAR's cap: most of them go over few rows
TIGHTER = 0.3  # how much further than -e says passes go where the gap is not certified then
# Passes compute the primal value each time their cost has grown by this share, and by so many evaluations of it
EVALUATIONS, DEAR = 0.3, 10.0
# Where d is large, passes continue towards SAFETY times LIBLINEAR's tolerance for at most this share of the cost at
# which its rule first held.  banking77, la12, tdt2, conll2000, isolet1, C = 1 and 100: with 0 the dual value of tdt2
# is below LIBLINEAR's, with 0.5 none is; banking77 at C = 100 takes 3.4 s (8.6 s without this limit, LIBLINEAR 2.2),
# the others end earlier
AFTER_RULE = 0.5
# Interior-point steps replace passes and rounds once these have cost this share of what the steps are expected to cost.
# 300 rows of each of 17 sets with 3 to 77 classes, C = 1, 100 and 1e4: 0.3 to 1 times the time of the four runs above a
# second, whose gaps went from 0.23, 1.8e-3, 1e-7 and 3e-7 to 4e-3, 2e-5, 1e-8 and 2e-6; the others end before
INTERIOR_SHARE = 0.25
NEAR = 1.5  # times the gap asked for, as passes estimate it, from which on they compute the primal


def solve(task: ClassTask, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None); see the module's text.

    start and the answer's w: the flat W of class_rows.py; the answer's alpha has k numbers a row, f8[n, k].
    """
    n, k = task.rows.n, task.k
    if n == 0 or k == 1:  # nothing to separate
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(np.zeros(k * task.rows.d), base.OPTIMAL, 1, monitor.history, np.zeros((n, k)))
    objective = CrammerSingerLoss(task)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    objective.sigma = SIGMA_COLD
    run = _Run(objective, monitor, rule, objective.d <= GRAM_BELOW)
    run.interior = class_interior.cost(task)
    descent = CrammerSingerDescent(task, objective.rows, seed, run.factorised)
    newton = run.factorised or objective.has_kronecker or 2 * n <= class_faces.MOST
    run.descent = descent
    if not run.factorised:
        run.growth, run.handing_over = GROWTH_PRODUCTS, rule.dual is not None

    def places(alpha: np.ndarray) -> np.ndarray:
        return objective.rows.narrowed(alpha).reshape(n, k)  # type: ignore[attr-defined]

    status, begun = None, start is not None  # begun: whether there are weights beside those of passes
    while status is None:
        if start is None or descent.count > 0:
            status = run.class_epochs(descent, newton)
            if status is not None and not begun:
                return Result(run.multiple * descent.w, status, descent.count, monitor.history, places(descent.alpha))
            run.best.take(run.primal(descent), run.multiple * descent.w, descent.dual_value(), descent.alpha)
            if status is not None:  # -e speaks of the dual point where passes ended; rounds may know a better primal
                alpha = descent.alpha if status.converged else run.best.alpha
                return Result(run.best.w, status, descent.count, monitor.history, places(alpha))
            objective.set_point(descent.w)
            objective.beta[:] = descent.multipliers
            objective.sigma = SIGMA_COLD
        begun, before = True, monitor.iterations
        status, stuck = run.rounds()
        alpha = -objective.u if run.near else run.best.alpha
        if status is None and not run.near and run.interior < np.inf and (stuck or run.outweighed):
            status = run.interior_steps(task)
            if run.best.gap <= ENOUGH:  # else rounding has spoilt these points
                alpha = run.best.alpha
        elif status is None and not run.near and (descent.count >= MOST_EPOCHS or run.rounded):
            status = base.OPTIMAL if run.best.gap <= ROUNDOFF_GAP else base.PRECISION
        if status is not None:
            break
        if run.near or stuck:  # once: passes end the run, or are too many
            newton, run.handing_over, run.descent = False, False, None
        else:
            descent.in_vain()
        run.reached = run.best.gap
        descent.resume(objective.multipliers(alpha), monitor.iterations - before)
    return Result(run.best.w, status, monitor.iterations, monitor.history, places(run.best.alpha))


class _Run(Rounds):
    """One run: passes and rounds alternate."""

    multiple = 1.0  # the best multiple of the passes' weights
    handing_over = False  # whether passes end the run where the multipliers' steps say that -e is near ...
    near = False  # ... as they did
    reached = 1.0  # the certified gap before passes go on
    interior, spent = np.inf, 0.0  # what interior-point steps are expected to cost; what passes and rounds have cost
    rounded_cost = np.inf  # at which a gap of ENOUGH ends a run whose interior-point steps ended by rounding
    descent: CrammerSingerDescent | None = None  # that rounds hand back to where they cost more than these expect

    def class_epochs(self, descent: CrammerSingerDescent, newton: bool) -> Status | None:
        """Passes until the rule or the gap holds; None where Newton steps are next.

        Passes estimate the gap themselves.  newton: whether Newton steps may take over.
        """
        objective, monitor, rule = self.objective, self.monitor, self.rule
        gap = rule.certified.gap if monitor.gap is None else monitor.gap
        wanted = gap if gap >= 0.0 else RULE_MIN_GAP
        plain = -1.0 if rule.dual is None else rule.dual.most
        enough, ruled = SAFETY * plain, np.inf  # ruled: the cost at which LIBLINEAR's rule held first
        spent, evaluated, self.multiple = 0.0, 0.0, 1.0
        monitor.uses("coordinate passes", "until Newton steps are expected to cost less")
        lefts, pg_ranges, costs, seen, paid = [1.0], [1.0], [0.0], [1.0], [0.0]  # seen, paid: where the primal is known
        while descent.count < MOST_EPOCHS:
            cost = descent.run()
            spent += cost
            self.spent += cost
            lefts.append(descent.left)
            pg_ranges.append(pg_ranges[-1] ** SMOOTH * max(descent.pg_range, 1e-300) ** (1.0 - SMOOTH))
            costs.append(spent)
            if descent.complete and descent.pg_range <= plain:
                ruled = min(ruled, spent)
            over = not descent.factorised and spent >= (1.0 + AFTER_RULE) * ruled
            settled = descent.pg_range <= enough
            if over and not settled and descent.pg_range <= plain:  # a pass measures rows as it meets them
                settled = not descent.complete or objective.projected_range(descent.alpha) <= plain
            limit = monitor.limit(descent.count)
            if settled and not descent.complete and limit is None:
                descent.unshrink()
                continue
            near = lefts[-1] <= NEAR * gap and spent - evaluated >= descent.evaluate
            early = gap >= 0.0 and spent - evaluated >= max(DEAR * descent.evaluate, EVALUATIONS * spent)
            if near or early or settled or limit:
                evaluated = spent
                if limit:  # cut short: early passes overshoot, so the best multiple of where they led is the answer
                    descent.scale(objective.best_multiple(descent.w))
                primal, bound = self.primal(descent), descent.dual_value()
                left = relative_gap(primal, bound)
                seen.append(left)
                paid.append(spent)
                if (
                    left <= gap
                    or limit
                    or (settled and (min(left, self.reached) <= RULE_MIN_GAP or not descent.factorised))
                ):
                    support = int(np.count_nonzero(descent.alpha))
                    status = monitor.step(primal, bound, gradient=0.0, active=support, cg=0, step=1.0)
                    return status or limit or base.RULE
                if settled:  # LIBLINEAR's objective may be lower where its rule holds
                    enough *= TIGHTER
            expected = min(still_needed(lefts, costs, wanted, WINDOW), still_needed(seen, paid, wanted, WINDOW))
            if not descent.factorised and plain > 0.0:  # any gap will do then; the spread wavers more
                expected = min(expected, still_needed(pg_ranges, costs, enough, len(costs) // RECENT_RANGES))
            if newton and (expected > descent.newton if settled else descent.enough(spent, expected)):
                return None
        return None

    def primal(self, descent: CrammerSingerDescent) -> float:
        """The least value along passes.w, at `multiple`: with a large C rows just short of the margin cost most."""
        self.multiple, primal = self.objective.least_multiple(descent.w)
        return primal

    @property
    def most_products(self) -> int:
        most = super().most_products
        return most if self.descent is None or self.factorised else min(most, self.descent.most_products)

    def multiplier_rounds(self) -> Status | None:
        self._gaps, self._costs = [1.0], [0.0]  # costs: in usual Newton steps
        return super().multiplier_rounds()

    def gives_way(self, ends: bool, cg: int) -> bool:
        o, descent = self.objective, self.descent
        self.near = ends and self.handing_over and o.multiplier_range() <= SAFETY * self.rule.dual.most
        if self.near or descent is None:
            return self.near
        gap, costs = self.rule.certified.gap if self.monitor.gap is None else self.monitor.gap, self._costs
        self._gaps.append(self.best.gap)
        costs.append(costs[-1] + descent.usual_steps(o.step_cost(cg)))
        self.spent += descent.usual_cost * (costs[-1] - costs[-2])
        if costs[-1] <= descent.least_steps:
            return False
        return still_needed(self._gaps, costs, gap if gap > 0.0 else RULE_MIN_GAP, len(self._gaps) // 2) > descent.steps

    def rounds(self) -> tuple[Status | None, bool]:
        """Rounds until they end the run, or None; and whether rounding stopped them while passes may still help."""
        status = self.multiplier_rounds()
        stuck = status is base.PRECISION and self.descent is not None and self.best.gap > RULE_MIN_GAP
        return (None, True) if stuck else (status, False)

    def interior_steps(self, task: ClassTask) -> Status | None:
        """Interior-point steps, once.

        None where passes go on from there: LIBLINEAR's rule is for dual points most of whose numbers are zero.
        """
        ruled, self.rounded_cost, self.interior = self.rule.dual is not None, self.interior, np.inf
        try:
            with np.errstate(all="ignore"):  # what overflows ends the steps
                start = class_interior.ClassInterior(task)
            status = interior_steps(start, self.monitor, self.best, RULE_MIN_GAP if ruled else OPTIMAL_GAP)
        except EndedError:
            return self.monitor.end()
        goes_on = status is base.PRECISION or (ruled and status in (base.RULE, base.OPTIMAL))
        return None if goes_on else status

    @property
    def rounded(self) -> bool:
        """Whether interior-point steps have led to a gap of ENOUGH, and passes and rounds have cost as much."""
        return self.spent > self.rounded_cost and self.best.gap <= ENOUGH

    @property
    def outweighed(self) -> bool:
        """Whether the run has cost so much that interior-point steps are worth their cost."""
        return self.spent > INTERIOR_SHARE * self.interior
