"""The contest: epochs of dual coordinate descent, Newton steps and interior-point steps take turns at one problem.

Which of them is the fastest is not known in advance.  On text epochs meet LIBLINEAR's rule after ten visits to each
row; where many rows share few features and C is large they may need thousands.  Newton steps end soon where a matrix of
the features or of the active rows is cheap; elsewhere conjugate gradients may need as many products.  So each candidate
gets turns, in counted work (nanoseconds of one core of 2024), which depends on nothing but the problem:

1. Epochs run first, for as long as the usual number of Newton steps would take; a turn goes on while the fall of what
   the rule measures says that less than another turn is left.
2. Newton steps have a turn of the same length, and so on; each pair of turns is twice as long as the last.  Newton
   steps whose primal value is the larger restart from the weights of epochs, in short turns if their dual value is the
   smaller, too.  Epochs restart from the best dual point where that halves the gap.
3. Once Newton steps have the better primal and the better dual value, they end the run alone.
4. Interior-point steps take over once both have cost as much as these would and are expected to need as much again,
   or where round-off stops them.

The stopping criteria are the same for all candidates (`Contest.record`): the requested duality gap; or LIBLINEAR's
criterion, with a certified relative duality gap of RULE_MIN_GAP where features or rows are few, elsewhere of
SLOW_MIN_GAP if it is that of -s 2 or 11 for the gradient, which may be small far from the minimum.  Once LIBLINEAR's
criterion holds, the further work is limited (Monitor.liblinear_ends); Newton steps then end -s 2 and 11 alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.coordinate.hinge import FACE_TURN_VISITS, MAX_EPOCHS
from svmtool.data.replicated import stored_rows
from svmtool.engine.slower import Slower, still_needed
from svmtool.linalg.systems import CALLS_NS, VISIT_NS
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import (
    CALL_NONZEROS,
    CG_LOOSE,
    CG_TIGHT,
    DUAL_ROWS,
    DUAL_RTOL,
    EPOCH_TOL,
    GRAM_BELOW,
    NEWTON_RTOL,
    OPTIMAL_GAP,
    PAIR_STALL_STEPS,
    ROUNDOFF_GAP,
    RULE_MIN_GAP,
    RULE_SHARE,
    SIGMA_MAX,
    SLOW_MIN_GAP,
    STALL_ROUNDS,
    STALL_STEPS,
    TIGHTER,
    USUAL_PRODUCTS,
)

# Turns.  Usual Newton steps from a good dual point, of a smooth loss, and of rounds with and without a factorised
# matrix of the features: epochs come first for as long as these take
SMOOTH_STEPS, ROUND_STEPS, WIDE_ROUND_STEPS = 4, 2, 60
TURN_GROWTH, BEHIND_SHARE = 2.0, 0.25  # factor of the length from turn to turn; share of a turn for the one behind
NAME = "epochs of coordinate descent"  # in the solver log
INTERIOR = Status("interior", False, "interior-point steps are expected to be cheaper")  # not of a run
MAX_VISITS = 5000.0  # visits to each row after which Newton steps go on alone
# Epochs: first evaluation of the gap, in visits; later ones after REMAINING_SHARE of the visits still expected, at
# least MIN_BETWEEN and at most MAX_BETWEEN of those so far
FIRST_EVALUATION, REMAINING_SHARE, MIN_BETWEEN, MAX_BETWEEN = 4.0, 0.8, 2.0, 0.5
# Weight of the earlier values, an epoch, in the running mean of the rule's measure, which varies much; calls, and one
# in so many of all, over which its fall is measured
SMOOTHING, RECENT = 0.9, 4
FIRST_PRODUCTS = 10  # most of the first direction from zero weights; usual number up to a rule for the gradient
# Conjugate gradients by_rule end, far from the minimum, after a product that gains less than this share of the mean:
# LIBLINEAR's.  Counted work of 24 runs of -s 2 on eight sets .96 (.66 to 1.18), of 76 on generated wide ones .91; one
# of these took 25 times as much before steps were at most 1
MIN_GAIN = 0.5
BETTER = 0.999  # factor of the least gap that counts as a smaller one
# Multiplier rounds: sigma at first, per unit of the slacks, less (at least 1) with more than SIGMA_FEATURES features,
# and its growth; a round ends when the gradient is small relative to the coming change of multipliers
SIGMA, SIGMA_FEATURES, SIGMA_GROWTH = 4.0, 64, 3.0


class Contest:
    """A solver run: the best primal and dual points of all candidates, and the stopping criteria.

    objective: where Newton steps are taken; it is also used to evaluate the points of epochs.
    gap_of_rule: certified gap that LIBLINEAR's rule needs besides, None: RULE_MIN_GAP where features or rows are few;
    early: share of the tolerance of a rule for the gradient at which the budget begins there; late: whether epochs have
    reached LIBLINEAR's limit, or Newton steps go on alone, from where on a rule for the gradient may end the run
    (Rule.late); steps of a tube then go on to the gap of its rule.
    """

    late = False

    def __init__(
        self, objective: Any, monitor: Monitor, rule: Rule, gap_of_rule: float | None = None, early: float = EPOCH_TOL
    ):
        self.objective, self.monitor, self.rule = objective, monitor, rule
        self.best = Best(objective)
        self.candidates: list[Any] = []
        self.slower: Slower | None = None  # compares the candidates with interior-point steps
        few, least = min(objective.d, objective.n) <= GRAM_BELOW, RULE_MIN_GAP if rule.sums is None else rule.gap
        self.gap_of_rule = gap_of_rule or (least if few else np.inf)
        self.early = early if few else 1.0  # steps that are not factorised may take long from there on
        self.at_zero: float | None = None  # LIBLINEAR's measure at zero weights

    @property
    def gradient_tol(self) -> float:
        """The norm of the gradient at which LIBLINEAR's rule holds; negative: it has none for the gradient."""
        share = self.rule.late if self.late and self.rule.gradient is None else self.rule.gradient
        if share is None:
            return -1.0
        if self.at_zero is None:
            self.at_zero = self.objective.gradient_at_zero()
        return share * self.at_zero

    def record(
        self, primal: float, w: np.ndarray, bound: float, alpha: Any, norm: float | None = None, held: bool = False,
        **fields: Any,
    ) -> Status | None:  # fmt: skip
        """Record a point, and return why the run ends there, if it does.

        primal: value of the problem at w (f8[d]); bound: of the dual at alpha, which a function gives; norm: of the
        gradient at w; held: whether another part of LIBLINEAR's rule holds.  fields: of Monitor.step.
        """
        best, tol = self.best, self.gradient_tol
        size = np.inf if norm is None else norm
        met = norm is not None and size <= tol
        if primal < best.primal or met:
            best.primal, best.w[:] = primal, w
        if bound > best.dual or held:  # the rule is about this point
            best.dual, best.alpha = bound, alpha()
        gap = best.gap
        status = self.monitor.step(primal if norm is not None else best.primal, best.dual, weights=best.w, **fields)
        if status is None and gap <= self.rule.gap:
            status = base.RULE
        # A search for C starts where another C ended, and LIBLINEAR's rule alone may end it there.  Elsewhere the
        # objective may be above LIBLINEAR's where its rule just holds
        alone = self.monitor.budget == 0.0
        if held or (met and (not self.monitor.history[1:] if alone else size <= self.early * tol)):
            self.monitor.liblinear_ends()
        if status is None and (held or met):
            sufficient = held or alone or self.rule.range is not None  # -s 1's for the gradient is ten times tighter
            most = self.gap_of_rule if sufficient else min(self.gap_of_rule, SLOW_MIN_GAP)
            status = base.RULE if gap <= most else self.monitor.limit()
        if status is None and (norm == 0.0 or gap <= OPTIMAL_GAP):
            status = base.OPTIMAL
        slower = self.slower
        if status is None and slower is not None and slower.shown(self.work, gap):
            status = INTERIOR if slower.cost <= self.monitor.work_left else None
        return status

    @property
    def ending(self) -> bool:
        """Whether the rule of -s 2 or 11 has held: the rest of the budget is for steps that lower the gradient."""
        return self.rule.gradient is not None and self.monitor.work_left < np.inf

    @property
    def target_gap(self) -> float:
        """The certified gap that ends the run at once; negative: none."""
        return self.rule.gap if self.monitor.gap is None else self.monitor.gap

    @property
    def work(self) -> float:
        """Work of all candidates so far."""
        return sum(candidate.work for candidate in self.candidates)

    def run(
        self, epochs: Any | None, steps: Any | None, interior: Callable[[], Status] | None = None,
        interior_work: float = np.inf,
    ) -> Status:  # fmt: skip
        """Give the candidates turns; return why the run ended.

        The first are Epochs or others with their methods, the second NewtonSteps; one of them may be None.  interior:
        runs interior-point steps; interior_work: about their work.
        """
        self.candidates = [candidate for candidate in (epochs, steps) if candidate is not None]
        target = max(self.target_gap, RULE_MIN_GAP)
        self.slower = None if interior is None else Slower(interior_work, target, 1.0)
        status = self._turns(epochs, steps)
        if interior is not None and (status is INTERIOR or status is base.PRECISION):
            before, status = status, interior()
            if before is INTERIOR and status is base.PRECISION:  # round-off ended them
                self.slower = None
                status = self._turns(epochs, steps)
        self.candidates = []  # candidates know the contest: a cycle would keep the rows
        return status or base.PRECISION

    def _turns(self, epochs: Any | None, steps: Any | None) -> Status | None:
        """Turns of epochs and Newton steps; return why they ended."""
        if epochs is None:
            self.late = self.rule.sums is None
            return steps.turn(np.inf)
        if steps is None:
            return epochs.turn(np.inf, None)
        length, share, ahead = 0.0, 1.0, False
        while True:
            status = epochs.turn(BEHIND_SHARE * length if ahead else length, steps)
            if status is not None:
                return status
            length = length or epochs.work
            steps.begin(epochs)
            status = steps.turn(np.inf if epochs.over else share * length)
            if status is not None:
                return status
            nearer, higher = steps.primal <= epochs.primal, steps.dual >= epochs.dual
            ahead = nearer and higher
            if ahead and steps.alone:
                self.late = self.late or self.rule.sums is None
                return steps.turn(np.inf)
            share = BEHIND_SHARE if steps.alone and not (nearer or higher) else 1.0
            length *= TURN_GROWTH
            epochs.begin()


class Epochs:
    """Candidate: epochs of dual coordinate descent.

    descent: a DualCoordinateDescent or another with its methods.  work: of the epochs so far; primal, dual: at the last
    evaluation.  mean: of the weights after each of `calls`, which swing about the minimum of a hinge: it is nearer.
    """

    def __init__(self, contest: Contest, descent: Any):
        self.contest, self.descent, self.work = contest, descent, 0.0
        self.primal, self.dual = np.inf, -np.inf
        self.mean, self.calls = np.zeros(len(descent.w)), 0
        rule = contest.rule
        self.tolerance, self.share, self.measure = descent.unit, 1.0, "pg_range"
        if rule.range is not None:
            self.tolerance, self.share = rule.range, EPOCH_TOL
        elif rule.sums is not None:
            self.tolerance, self.share, self.measure = rule.sums, RULE_SHARE, "gradient_sum"
        self.has_rule = rule.range is not None or rule.sums is not None
        self.began = False  # whether LIBLINEAR's rule has held
        self.last = MAX_EPOCHS  # number of the last epoch of this turn
        self.gaps, self.visits, self.works = [1.0], [0.0], [0.0]  # at each evaluation
        self.measures, self.costs = [1.0], [0.0]  # running mean of the rule's measure, and the work then
        self.next = FIRST_EVALUATION if contest.target_gap > 0.0 else np.inf  # visits at which the gap is evaluated

    @property
    def over(self) -> bool:
        """Whether Newton steps go on alone."""
        return self.descent.visits >= MAX_VISITS or self.descent.count >= MAX_EPOCHS

    def begin(self) -> None:
        """Begin another turn: from the best dual point where that halves the gap, with all rows."""
        best, descent = self.contest.best, self.descent
        if best.alpha is not None and best.gap <= 0.5 * relative_gap(best.primal, self.dual):
            descent.resume(best.alpha)
            self.calls = 0
        descent.unshrink()
        self.contest.monitor.uses(NAME, "Newton steps have not ended the run")

    def turn(self, work: float, steps: NewtonSteps | None) -> Status | None:
        """Run epochs for about `work` (0: as long as `steps` would take); return why the run ends, if it does."""
        c, descent = self.contest, self.descent
        end, first = self.work + work, work == 0.0
        most, self.last = np.inf if steps is None else MAX_VISITS, MAX_EPOCHS
        if c.monitor.max_iter is not None and steps is not None and steps.features:  # some are left for the steps
            self.last = min(descent.count + max(c.monitor.max_iter - descent.count, 0) // 4 + 1, MAX_EPOCHS)
        while descent.visits < most and descent.count < self.last:
            status = c.monitor.limit(descent.count)
            if status is not None:
                self._evaluate(False, last=True)
                return status
            status = self._epochs()
            if status is not None:
                return status
            length = steps.expected(descent) if first and steps is not None else work
            if self.work >= (length if first else end) and self._rest() > length:
                break
        return self._evaluate(False)

    def _rest(self) -> float:
        """Work expected until the rule or the gap holds, at the rate of the last epochs."""
        if self.has_rule:
            return still_needed(self.measures, self.costs, self.tolerance, max(RECENT, len(self.costs) // RECENT))
        return still_needed(self.gaps, self.works, self.contest.target_gap, 2)

    def _epochs(self) -> Status | None:
        """Run epochs until there is something to decide; return why the run ends, if it does."""
        c, descent = self.contest, self.descent
        rest = (self.last if c.monitor.max_iter is None else min(self.last, c.monitor.max_iter)) - descent.count
        until = min(self.next, descent.visits + CALL_NONZEROS / max(stored_rows(c.objective.rows).nnz, 1))
        range_tol = self.tolerance if self.measure == "pg_range" else -1.0
        before = descent.count
        work = descent.run(max(rest, 1) if self.measure == "pg_range" else 1, range_tol, until)
        self.work += work
        c.monitor.spend(work)
        if descent.visits > FACE_TURN_VISITS:  # problems that end before do not pay for it
            self.calls += 1
            self.mean += (descent.w - self.mean) / self.calls
        measure = max(getattr(descent, self.measure), 1e-300)
        earlier = SMOOTHING ** (descent.count - before)
        self.measures.append(self.measures[-1] ** earlier * measure ** (1.0 - earlier))
        self.costs.append(self.work)
        if c.monitor.due():
            c.monitor.note(descent.primal_value(), descent.dual_value(), epochs=descent.count)
        met = getattr(descent, self.measure) <= self.tolerance
        if met and not descent.complete:  # the rows that are left say nothing of the others
            descent.unshrink()
            return None
        if met and self.has_rule and not self.began:
            self.began, self.tolerance = True, self.share * self.tolerance
            c.monitor.liblinear_ends()
            met = getattr(descent, self.measure) <= self.tolerance
        if self.has_rule and not c.late and descent.count >= c.rule.epochs:
            c.late = True
            if c.rule.late is None:
                c.monitor.liblinear_ends(base.LATE)
        return self._evaluate(met) if met or descent.visits >= self.next else None

    def _evaluate(self, met: bool, last: bool = False) -> Status | None:
        """Compute the primal; return why the run ends, if it does.

        met: whether the tolerance is met by all rows; last: whether the run ends here.
        """
        c, descent = self.contest, self.descent
        o, w, norm, fields = c.objective, descent.w, None, {}
        if c.gradient_tol > 0.0 and not last:
            o.set_point(w)
            self.primal, g = o.gradient()
            norm = float(np.sqrt(g @ g))
            fields["gradient"] = norm
        else:  # rows just short of the margin would contribute most of the value, and early epochs overshoot
            t, self.primal = o.least_multiple(w)
            if self.calls > 1 and (c.late or last):  # earlier the swing is small, and this takes a line search
                mean_t, primal = o.least_multiple(self.mean)
                if primal < self.primal:
                    t, self.primal, w = mean_t, primal, self.mean
            w = t * w
        self.dual = descent.dual_value()
        status = c.record(
            self.primal, w, self.dual, lambda: descent.alpha.copy(), norm, met and self.has_rule,
            active=int(np.count_nonzero(descent.alpha)), epochs=descent.count, **fields,
        )  # fmt: skip
        if met:
            self.tolerance *= TIGHTER
        self.gaps.append(relative_gap(self.primal, self.dual))
        self.visits.append(descent.visits)
        self.works.append(self.work)
        if self.next < np.inf:
            coming = REMAINING_SHARE * still_needed(self.gaps, self.visits, c.target_gap, 2)
            self.next = descent.visits + max(MIN_BETWEEN, min(coming, MAX_BETWEEN * descent.visits))
        return status


class NewtonSteps:
    """Candidate: Newton steps with the exact line search; with `rounds` multiplier steps between them.

    system: how least squares on the active rows is solved: "primal" by a matrix of the features, "dual" by one of the
    active rows where these are few, "cg" by conjugate gradients until they cost more than the latter, if `by_rows`.
    Rounds (Nie et al., Algorithm 1): f is the augmented Lagrangian, minimised as far as the multiplier step deserves.
    unit: of the slacks.  work: so far; primal, dual: the value and the bound at the last step.
    """

    t, products, exact, first = 0.0, 0, False, True
    alone = True  # whether steps with the better points end the run

    def __init__(self, contest: Contest, system: str, rounds: bool = False, unit: float = 1.0, by_rows: bool = True):
        self.contest, self.objective, self.rounds, self.unit = contest, contest.objective, rounds, unit
        self.features, self.rows = system == "primal", system == "dual"
        self.max_rows = DUAL_ROWS if by_rows and not self.features else 0
        self.work, self.primal, self.dual = 0.0, np.inf, -np.inf
        self.cold, self.growth = True, SIGMA_GROWTH
        self.smallest = self.lowest = np.inf
        self.stalled, self.idle, self.w = 0, 0, None
        self.range_gap = RULE_MIN_GAP if self.features else SLOW_MIN_GAP  # from where on rule.range may hold

    @property
    def sigma(self) -> float:
        """The first sigma."""
        sigma = max(min(SIGMA, SIGMA * SIGMA_FEATURES / self.objective.d), 1.0) if self.features else SIGMA
        return sigma / self.unit

    @property
    def by_rule(self) -> bool:
        """Whether LIBLINEAR's rule for the gradient ends steps without a matrix of the features.

        Their directions end as LIBLINEAR's (MIN_GAIN), and they are at most 1: longer ones may leave few rows active.
        On 68 runs of -s 2 and 12 with many features the limit takes .94 of the counted work, .04 in one and .8 to 1.3
        in the others; with a matrix of the features (27 runs) it took 1.1 times as much, 3.4 times at worst.
        """
        c = self.contest
        return not (self.features or self.rounds) and c.monitor.gap is None and c.gradient_tol > 0.0

    def begin(self, epochs: Epochs) -> None:
        """Begin a turn: at the last point, or at that of epochs where it is better."""
        o, best = self.objective, self.contest.best
        if self.w is not None and self.primal <= epochs.primal:
            o.set_point(self.w)
            return
        self.w, self.first, self.exact = best.w.copy(), True, False
        self.smallest = self.lowest = np.inf
        o.set_point(self.w)
        if self.rounds:
            o.set_multipliers(epochs.descent.alpha)
            o.sigma = self.sigma
        why = f"epochs have not ended the run in {epochs.descent.visits:.0f} visits to each row"
        self.contest.monitor.uses("Newton steps", why)

    def expected(self, descent: Any) -> float:
        """Work of the usual number of steps from the dual point of `descent`."""
        o, free = self.objective, descent.free
        if self.features:
            return (ROUND_STEPS if self.rounds else SMOOTH_STEPS) * (o.feature_system_work(free) + self._passes)
        by_rows = o.row_system_work(free) if free <= self.max_rows else np.inf
        products = USUAL_PRODUCTS if self.contest.rule.gradient is None else FIRST_PRODUCTS
        by_products = products * 2.0 * VISIT_NS * o.mean_row_length * free
        steps = WIDE_ROUND_STEPS if self.rounds else SMOOTH_STEPS
        return steps * (min(by_rows, by_products) + self._passes)

    @property
    def _passes(self) -> float:
        """Work of a step without its system: the gradient, the line search and the step."""
        return CALLS_NS + 3.0 * VISIT_NS * stored_rows(self.objective.rows).nnz + 10.0 * self.objective.n

    def turn(self, work: float) -> Status | None:
        """Take steps until `work` is done; return why the run ends, if it does."""
        end, c = self.work + work, self.contest
        while self.work < end or c.ending:
            status = self.step(np.inf if c.ending else end)
            if status is not None:
                return status
        self.w = self.objective.w.copy()
        return None

    def step(self, end: float = np.inf) -> Status | None:
        """Evaluate, and take a step unless the run ends; end: most work of this turn."""
        c, o = self.contest, self.objective
        f, g = o.gradient()
        norm = float(np.sqrt(g @ g))
        ends = self.rounds and (norm * norm <= o.moved / o.sigma or self.stalled >= STALL_STEPS)
        status = self._recorded(f, g, norm, ends) or self._stall(f)
        if self.cold and base.empty(status, norm, o.w):
            status, c.best.primal = None, np.inf
        if status is not None:
            return status
        self.first = ends
        if ends:
            o.accept()
            o.sigma = min(o.sigma * self.growth, SIGMA_MAX / self.unit)
            g = o.gradient_on_pieces() if o.p == 1.0 else o.gradient()[1]
        p = self._direction(f, g, end - self.work)
        c.monitor.uses(f"{'multiplier rounds: ' if self.rounds else ''}Newton steps by {o.way}")
        self.t = o.line_search(p)
        if self.by_rule:
            self.t = min(self.t, 1.0)
        o.step(self.t, p)
        self.exact = self.exact and abs(self.t - 1.0) <= 1e-9
        return None

    def _recorded(self, f: float, g: np.ndarray, norm: float, ends: bool) -> Status | None:
        c, o = self.contest, self.objective
        bound, alpha = o.bound, o.dual_point if self.rounds else lambda: None
        if not (self.rounds or o.free_bias):
            bound = max(bound, f - 0.5 * norm * norm)
            if o.face_bound > bound:
                bound, alpha = o.face_bound, lambda: o.face_alpha
        self.primal, self.dual = o.primal if self.rounds else f, bound
        fields = {"cg": self.products, "step": self.t}
        if self.rounds:
            fields.update(inner_gradient=norm, active=o.support)
        else:
            fields.update(gradient=norm, active=o.active)
        status = c.record(self.primal, o.w, bound, alpha, None if self.rounds else norm, **fields)
        if status is None and c.rule.range is not None and c.best.gap <= self.range_gap:
            self.range_gap *= 0.1
            point = c.best.alpha if self.rounds else o.dual_point()
            if o.projected_range(point) <= c.rule.range:
                if not self.rounds:
                    c.best.primal, c.best.w[:], c.best.alpha = f, o.w, point
                status = base.RULE
        if status is None and not self.rounds and self.exact and o.changed == 0:
            status = base.OPTIMAL
        return status

    def _stall(self, f: float) -> Status | None:
        """Status if round-off stops progress here, else None."""
        gap = self.contest.best.gap
        lower = f < self.lowest - (DUAL_RTOL if self.rounds else NEWTON_RTOL) * abs(f)
        better = self.rounds and gap < BETTER * self.smallest
        first = self.rounds and self.first
        last = first and self.objective.sigma >= SIGMA_MAX / self.unit
        if first:
            lower = not last  # a larger sigma may help
        self.stalled = 0 if better or lower else self.stalled + 1
        self.idle = 0 if better else self.idle + last
        self.smallest = min(gap, self.smallest)
        self.lowest = f if first else min(f, self.lowest)
        most = PAIR_STALL_STEPS if self.rounds else STALL_STEPS
        if self.stalled < most and self.idle < STALL_ROUNDS:
            return None
        return base.OPTIMAL if gap <= ROUNDOFF_GAP else base.PRECISION

    def _direction(self, f: float, g: np.ndarray, rest: float) -> np.ndarray:
        """The Newton direction; rest: most work of its system by conjugate gradients."""
        c, o = self.contest, self.objective
        cold, self.cold = self.cold and not o.w.any(), False
        few = 0 < o.active <= self.max_rows and o.has_dual_system
        if self.features:
            work = o.feature_system_work(min(o.changed or o.active, o.active))
            p, self.products, self.exact = o.factorised_direction(g, self.stalled > 0)
        elif few and self.rows:
            work = o.face_cost
            p, self.products, self.exact = o.newton_direction(g, "dual")
        else:
            tolerance, most = self._tolerance(f, g), FIRST_PRODUCTS if cold and not self.rounds else 10 * o.d
            cap = min(most, rest / max(o.product_cost, 1.0) + 1.0)
            if few:  # no longer than a system of the rows
                cap = min(cap, max(o.face_cost / max(o.product_cost, 1.0), FIRST_PRODUCTS) + 1.0)
            min_gain = MIN_GAIN * tolerance / CG_LOOSE if self.by_rule else 0.0
            ended = c.monitor.ended
            p, self.products, reached = o.newton_direction(g, "cg", tolerance, int(cap), ended, min_gain)
            self.exact = reached and tolerance == CG_TIGHT
            work = (self.products + 1) * o.product_cost
            self.rows = self.rows or (few and self.products * o.product_cost > o.face_cost)
        work += self._passes
        self.work += work
        c.monitor.spend(work)
        return p

    def _tolerance(self, f: float, g: np.ndarray) -> float:
        """Tolerance of conjugate gradients for a step from a point with value f and gradient g.

        Of a smooth loss the root of what the step is about to gain, as a share of f.
        """
        if self.rounds or not f > 0.0:
            return CG_LOOSE if self.rounds else CG_TIGHT
        decrement = float(g @ (g / self.objective.hessian_diagonal()))  # about twice the decrease of the step
        return min(CG_LOOSE, max(CG_TIGHT, (decrement / f) ** 0.5))


def newton_steps(objective: Any, monitor: Monitor, rule: Rule, system: str) -> Status:
    """Take Newton steps alone from the objective's w, which moves to the best point; return why they ended."""
    contest = Contest(objective, monitor, rule)
    contest.late = True
    steps = NewtonSteps(contest, system, by_rows=False)
    status = steps.turn(np.inf)
    if contest.best.primal < steps.primal and not (status and status.converged):
        objective.set_point(contest.best.w)
    return status or base.PRECISION


def result(contest: Contest, epochs: Epochs | None, steps: NewtonSteps | None, interior: tuple | None = None) -> Result:
    """Run the contest and return its result; interior: the last two arguments of `Contest.run`."""
    monitor, best = contest.monitor, contest.best
    status = contest.run(epochs, steps, *(interior or ()))
    count = 0 if epochs is None else epochs.descent.count
    return Result(best.w, status, max(count, monitor.iterations), monitor.history, best.alpha)
