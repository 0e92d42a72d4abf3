"""SVM-ALM: augmented Lagrangian multipliers.    min_{w,b}  1/2 w'w + C sum_i max(0, 1 - y_i (w.x_i + b))^p
Paper: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
Classifications, ICML 2014.  Algorithm 1 (exact) and Algorithm 2 (inexact); e-step Eqs. 11-13, multipliers Eq. 9.

Notation and the rounds of Algorithm 1: alm_rounds.py.  Algorithm 2: alm_inexact.py.  Several classes: alm_classes.py.
Differs from the paper in:
 1. Exact: each round of Algorithm 1 minimises over e and w one after the other; here both are minimised
    together: e is eliminated (objectives/augmented.py), and what is left in w, smooth and quadratic in pieces for
    p = 1 and 2, is solved by Newton steps with the exact line search, factorised where d is small, by conjugate
    gradients where it is large, only as far as the multiplier step deserves (INNER).  sigma grows
    geometrically, or by Eq. 29 where task.options.mu is "merit".
 2. C_i for each row, and sigma in units of it: the same number of rounds whatever C.
 3. The bias is free (the paper), regularised or absent, as the problem says.
 4. Where the dual allows coordinate passes (hinge, or its square where d is large; no free bias), a few of them give
    the first multipliers, and they end the run where they certify first.
 5. Where d is small, a gap is asked for and Newton steps get nowhere, or would take much longer than interior-point
    steps, these go on (interior_steps.py); not where task.options.mu is "merit".
Stops when: the certified relative gap is as small as asked for; with -e, LIBLINEAR's rule for its -s 3 besides.
Memory: 9 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.fused import fused_alm_loops
from svmtool.coordinate.hinge import (
    MOST_EPOCHS,
    MOST_VISITS,
    DualCoordinateDescent,
    chunk_of,
    random_state,
    still_needed,
)
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import of_data
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.power_interior import PowerInterior, step_cost
from svmtool.objectives.task import Task
from svmtool.solvers.alm_rounds import GROWTH, INNER, RECENT_RANGES, SIGMA_COLD, SIGMA_MOST, SMOOTH, WINDOW, Rounds
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import SAFETY, SIZE_SHARE, Monitor, Result, Rule, Status
from svmtool.solvers.shared.interior_steps import Slower, interior_steps, possible
from svmtool.tolerances import ENOUGH, ROUNDOFF_GAP, RULE_MIN_GAP

SIGMA_WARM = 5.0  # first sigma with multipliers from coordinate passes
SIGMA_FEATURES = 64  # more features than that put more rows on the margin: a smaller sigma, down to ...
SIGMA_LEAST = 1.0  # ... this, takes Newton steps over fewer of their breakpoints
# the unit of slacks and of 1 / sigma: 1, or the mean size of the rows' own targets by TARGETS, or by less where there
TARGETS = 10.0  # are more than SIGMA_FEATURES
SIGMA_SMOOTH = 1e6  # p = 2: nearly the loss itself
# Newton steps, each with a factorised system of the free rows, from where passes lead; passes may cost as much before.
# At C = 100 12 to 20 on la12, 23 to 60 on farm-ads, 15 to over 100 on news20, on all of which passes end sooner
ROUNDS = 60
# largest cost of these ROUNDS, relative to that of the passes so far, for which a regression continues with them after
# LIBLINEAR's rule: with few rows they reach the gap (arcene -s 13, C = 0.01 and 1: 6e-8 and 1e-3, else 0.8 and 1)
CHEAP = 4.0
RECENT = 2  # evaluations over which the fall of the gap is measured, and WINDOW where d is large, for it wavers there
EVALUATIONS = 0.1  # share of the visits so far that pass between two evaluations of the primal, ...
NEARLY = 0.8  # ... or of those that lie ahead of the wanted gap; never more than went before
LEAST_BOUND = 1e-3  # share of the primal that the bound counts as at least where the gap is measured by it
SHARPER = 0.3  # each time that shrunk rows come back, the spread at which they will again falls to this share
# compiled as one call: most features, most non-zeros of a lone problem, and of one among several, which share the cores
SMALL_FEATURES, SMALL_WORK, SMALL_SHARE = 64, 1 << 16, 1 << 21
SMALL_RECORDS, SMALL_VISITS = 1000, 1 << 28  # most of the call, or as many as visit so many non-zeros
EPOCHS = 2  # coordinate passes before Newton steps take over ...
PASSES_WORTH = 8  # ... unless they would reach the gap, at the rate of the last ones, within so many, and ...
STEPS_SPARED = 10  # ... as many more as take the time in which this number of matrices are factorised
# cost of a Newton step beside an interior-point step's: where few rows change in the Gram matrix, and where all do
NEWTON_KEPT, NEWTON_STEP = 0.2, 0.5
FACTOR, SQUARE = 0.02, 2.0  # what that takes beside a visit to a non-zero (1.3): per d^3, and per d^2


def exact(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if (answer := task.one_sided_answer()) is not None:
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(answer, base.OPTIMAL, monitor.iterations, monitor.history, np.zeros(task.rows.n))
    small = _small(task, monitor, rule, start, seed) if _is_small(task) else None
    if small is not None and small.status is not None:
        return small
    objective = task.objective(Augmented, p=task.p, target=task.target)
    run = _Run(objective, monitor, rule, task.options.mu == "merit")
    run.unit = unit = _unit(task)
    if small is not None:
        run.best.dual, run.best.alpha = small.history[-1]["bound"], small.alpha
        objective.set_point(small.w)
        np.divide(small.alpha, task.cost, out=objective.beta)
        objective.sigma = run.sigma_warm / unit
        return run.finished(task)
    rows = task.rows.as_csr() if isinstance(task.rows, DenseRows) and not task.free_bias else task.rows
    descent = None
    quick = task.p == 1.0 or (task.p == 2.0 and not run.factorised)
    if start is None and quick and DualCoordinateDescent.possible(rows, task.cost, task.free_bias):
        descent = DualCoordinateDescent.of_power(rows, task.y, task.cost, task.p, seed, objective.target)
        status = run.coordinate_epochs(descent)
        if status is not None:
            result = Result(run.multiple * descent.w, status, descent.count, monitor.history, descent.alpha)
            result.visits = descent.visits
            return result
    if descent is not None:
        run.best.dual, run.best.alpha = descent.dual_value(), descent.alpha
        objective.set_point(descent.w)
        np.divide(descent.alpha, task.cost, out=objective.beta)
    else:
        objective.set_point(np.zeros(objective.d) if start is None else start)
        if start is not None and task.p > 1.0:
            objective.start_multipliers()
    if task.p == 2.0:
        objective.sigma = SIGMA_SMOOTH
    else:
        objective.sigma = (SIGMA_COLD if descent is None else run.sigma_warm) / unit
    return run.finished(task)


def _unit(task: Task) -> float:
    """What slacks are measured in."""
    if task.target is None or task.p != 1.0 or not np.any(task.target):
        return 1.0
    parts = max(1.0, TARGETS * min(1.0, SIGMA_FEATURES / max(task.rows.d, 1)))
    return float(np.mean(np.abs(task.target))) / parts


def _is_small(task: Task) -> bool:
    """Hinge or tube on sparse rows without a bias feature, a step of which costs less than its calls from Python."""
    rows, most = of_data(task.rows), SMALL_SHARE if task.one_of_several else SMALL_WORK
    small = isinstance(rows, CsrRows) and rows.bias < 0 and 0 < rows.d <= SMALL_FEATURES and rows.nnz <= most
    return small and task.p == 1.0 and rows.n > 0


SMALL_ENDS = (None, base.OPTIMAL, base.GAP, base.RULE, base.PRECISION)


def _small(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int) -> Result:
    """All of `exact` in one compiled call; the signs and targets as there.  status None: more than a call may do."""
    rows, n, d = of_data(task.rows), task.rows.n, task.rows.d
    chunk, unit = chunk_of(rows), _unit(task)
    gap = rule.gap if monitor.gap is None else monitor.gap
    w = np.zeros(d) if start is None else start.copy()
    alpha, target = np.zeros(n), np.ones(n) if task.target is None else task.target
    descent = EPOCHS if start is None else 0
    most = min(SMALL_RECORDS, SMALL_VISITS // max(rows.nnz, 1))
    most = most if monitor.max_iter is None else min(most, monitor.max_iter)
    history = np.empty((most + 2, fused_alm_loops.FIELDS))
    code = fused_alm_loops.fused_hinge(
        *rows.csr_arrays, task.y, task.cost, target, w, alpha,
        np.empty(6 * n + 2 * d * d + 3 * d + 17), np.empty(rows.n + rows.n // chunk + 1, np.int64),
        random_state(rows.n, seed),
        history, gap, -1.0 if rule.projected is None else SAFETY * rule.projected,
        SIGMA_COLD / unit, SIGMA_WARM / unit, SIGMA_MOST / unit, GROWTH, INNER,
        chunk, descent, _epochs_worth(d, rows.nnz), most,
    )  # fmt: skip
    status, count = None, 0
    monitor.uses("coordinate passes and multiplier rounds in one compiled call", "a small problem")
    for f, bound, norm, support, t, passes_so_far in history[: int(history[-1, 0])].tolist():
        status = monitor.step(f, bound, gradient=norm, active=int(support), cg=0, step=t)
        count = int(passes_so_far)
    if code == 4:
        status = base.OPTIMAL if relative_gap(f, bound) <= ROUNDOFF_GAP else base.PRECISION
    else:
        end = base.RULE if code == 2 and monitor.gap is None else SMALL_ENDS[code]
        status = end or monitor.limit()
    return Result(w, status, count or monitor.iterations, monitor.history, alpha)


def _epochs_worth(d: int, nnz: int) -> int:
    """How many coordinate passes may be tried where Newton steps factorise matrices of order d."""
    return PASSES_WORTH + int(STEPS_SPARED * (FACTOR * d**3 + SQUARE * d * d) / (1.3 * max(nnz, 1)))


class _Run(Rounds):
    """One run: coordinate passes, then rounds."""

    multiple = 1.0  # of where passes lead: the answer
    steps, slower = 0, None  # Newton steps so far, and whether they are too slow

    @property
    def sigma_warm(self) -> float:
        """The first sigma after coordinate passes, for slacks of unit size."""
        if not self.factorised:
            return SIGMA_WARM
        return max(min(SIGMA_WARM, SIGMA_WARM * SIGMA_FEATURES / self.objective.d), SIGMA_LEAST)

    def finished(self, task: Task) -> Result:
        """Rounds from here on, and what they give way to."""
        monitor, best = self.monitor, self.best
        direct = monitor.gap is not None and not self.by_merit and possible(task)
        if direct:
            share = NEWTON_KEPT if self.objective.straight else NEWTON_STEP
            self.slower = Slower(task, share * step_cost(task.rows), monitor.gap)
        status = self.multiplier_rounds()
        if status is None or (direct and status is base.PRECISION):
            status = interior_steps(PowerInterior(task, task.p), monitor, best)
        return Result(best.w, status, monitor.iterations, monitor.history, best.alpha)

    def gives_way(self, ends: bool, cg: int) -> bool:
        self.steps += 1
        return self.slower is not None and self.slower.shown(self.steps, self.best.gap)

    def coordinate_epochs(self, descent: DualCoordinateDescent) -> Status | None:
        """Passes until the rule or the gap holds; None where Newton steps are next."""
        objective, monitor, rule = self.objective, self.monitor, self.rule
        gap = rule.gap if monitor.gap is None else monitor.gap
        wide = not self.factorised
        loose = rule.loose if wide else -1.0  # sufficient gap once the projected gradients are small
        wanted = max(gap, loose) if gap >= 0.0 else RULE_MIN_GAP if not wide else ENOUGH
        enough = -1.0 if rule.projected is None else SAFETY * rule.projected
        if rule.projected is None and wide:
            enough = descent.unit  # the gap alone ends the run, but rows shrunk too early must come back
        worth = _epochs_worth(objective.d, of_data(objective.rows).nnz)
        first = 1 if wide else EPOCHS  # pass after which there is something to decide
        spent, pg_range = 0.0, 1.0
        monitor.uses("coordinate passes", "they come first, until Newton steps are expected to cost less")
        at, left, lefts, pg_ranges, costs, seen, patience = 0, 1.0, [1.0], [1.0], [0.0], [0.0], 1.0
        while descent.visits < MOST_VISITS and descent.count < MOST_EPOCHS:
            spent += descent.run()
            visits = descent.visits
            pg_range = pg_range**SMOOTH * max(descent.pg_range, 1e-300) ** (1.0 - SMOOTH)
            small = wide and descent.size <= SIZE_SHARE * rule.size
            over = wide and descent.beyond(rule.size)
            if over and objective.p == 1.0 and descent.enough(CHEAP * spent, self.most_rows, steps=ROUNDS):
                self.ruled = True  # and Newton steps are cheap enough to reach the gap
                return None
            near = small and left <= loose  # as of the last evaluation
            settled = descent.pg_range <= enough
            limit = monitor.limit(descent.count) or (base.RULE if over else None)
            if (settled or near) and not descent.complete and limit is None:
                descent.unshrink()
                continue
            # a look at the primal costs a product: between two there are a visit to each row or a few passes, or more
            some = max(4.0, patience, EVALUATIONS * descent.count)
            waited = max((visits - seen[-1]) / max(patience, EVALUATIONS * visits), (descent.count - at) / some)
            early = waited < 1.0 or (descent.count < first and descent.pg_range > 0.0)
            if early and not (settled or limit or near):
                continue
            at = descent.count
            pg_ranges.append(pg_range)
            costs.append(spent)
            seen.append(visits)
            if wide and gap < 0.0 and not (settled or limit):  # no gap ends the run: there is no need to know f
                expected = still_needed(pg_ranges, costs, enough, max(WINDOW, len(costs) // RECENT_RANGES))
                if objective.p == 1.0 and descent.enough(spent, self.most_rows, expected, ROUNDS):
                    return None
                continue
            if limit and not wide:  # cut short: early passes overshoot, the best multiple of where they led does not
                descent.scale(objective.best_multiple(descent.w))
            if wide:  # rows on the margin that fall short of it by a little cost more than all else
                self.multiple, primal = objective.least_multiple(descent.w)
            elif objective.p == 1.0:
                primal = descent.primal_value()
            else:
                objective.set_point(descent.w)
                primal = objective.primal_value()
            bound = descent.dual_value()
            left = relative_gap(primal, bound)
            # beside the bound it falls evenly, beside a primal many times the answer hardly at all
            lefts.append(left / max(1.0 - left, LEAST_BOUND) if wide else left)
            ahead = still_needed(lefts, seen, wanted, RECENT)
            patience = visits if left <= loose else NEARLY * ahead
            patience = min(max(1.0, patience), max(1.0, visits))
            reached = left <= gap or (small and left <= loose and descent.complete)
            if settled and rule.projected is None:
                settled, enough = False, SHARPER * enough
            if settled and not reached and limit is None and not wide and left > RULE_MIN_GAP:
                return None  # LIBLINEAR's objective may be lower where its rule holds: Newton steps go on from here
            if reached or settled or limit:
                support = int(np.count_nonzero(descent.alpha))
                status = monitor.step(primal, bound, gradient=0.0, active=support, cg=0, step=1.0)
                return status or limit or base.RULE
            if not wide:
                if not visits + ahead <= worth:
                    return None
            elif objective.p == 1.0:
                expected = still_needed(lefts, costs, wanted, WINDOW)
                if descent.enough(spent, self.most_rows, expected, ROUNDS):
                    return None
        return None
