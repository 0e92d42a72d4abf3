"""SVM-ALM: augmented Lagrangian multipliers.    min_{w,b}  1/2 w'w + C sum_i max(0, 1 - y_i (w.x_i + b))^p
Paper: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
Classifications, ICML 2014.  Algorithm 1 (exact) and Algorithm 2 (inexact); e-step Eqs. 11-13, multipliers Eq. 9.

Notation   paper: e_i   lambda_i   mu   gamma       code: y_i v_i   -C_i y_i beta_i   C_i sigma   1 / sigma
Differs from the paper in:
 1. Exact: each round of Algorithm 1 minimises over e and w one after the other; here both are minimised
    together: e is eliminated (problem/augmented.py), and what is left in w, smooth and quadratic in pieces for
    p = 1 and 2, is solved by Newton steps with the exact ray search, factorised where d is small, by conjugate
    gradients where it is large, only as far as the multiplier step deserves (INNER).  sigma grows
    geometrically, or by Eq. 29 where task.mu is "merit".
 2. C_i for each row, and sigma in units of it: the same number of rounds whatever C.
 3. The bias is free (the paper), regularised or absent, as the problem says.
 4. Where the dual allows coordinate passes (hinge, or its square where d is large; no free bias), a few of them give
    the first multipliers, and they end the run where they certify first.
 5. Several classes at once (Crammer and Singer): multipliers in the simplex in place of [0, 1], see
    problem/class_hinge.py; the passes minimise a row's multipliers together (Keerthi et al., KDD 2008).  Where d is
    large and -e decides, rounds hand over to passes once sigma says that the rule is near: passes end the run.  There,
    too, rounds that cost more than expected hand back, and both take turns, each as long again as before.
Stops when: the certified relative gap is as small as asked for; with -e, LIBLINEAR's rule for its -s 3 or 4 besides.
Memory: 9 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from svmtool.compiled import small_alm_loops
from svmtool.problem.augmented import Augmented
from svmtool.problem.certify import relative_gap
from svmtool.problem.class_hinge import ClassHinge
from svmtool.problem.class_passes import ClassPasses
from svmtool.problem.class_rows import ClassTask
from svmtool.problem.dual_passes import (
    MOST_PASSES,
    MOST_VISITS,
    DualPasses,
    chunk_of,
    of_data,
    random_state,
    still_needed,
)
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import ENOUGH, SAFETY, Monitor, Result, Rule, Status
from svmtool.solvers.best import Best

GRAM_BELOW = 1500  # features up to which the Gram matrix is formed
SIGMA_COLD, SIGMA_WARM = 3.0, 5.0  # first sigma without and with multipliers from coordinate passes
SIGMA_FEATURES = 64  # more features than that put more rows on the margin: a smaller sigma, down to ...
SIGMA_LEAST = 1.0  # ... this, takes Newton steps over fewer of their kinks
# the unit of slacks and of 1 / sigma: 1, or the mean size of the rows' own targets by TARGETS, or by less where there
TARGETS = 10.0  # are more than SIGMA_FEATURES
SIGMA_SMOOTH = 1e6  # p = 2: nearly the loss itself
GROWTH, SIGMA_MOST = 3.0, 1e8
GROWTH_PRODUCTS = 2.0  # of all classes at once by conjugate gradients, which a large sigma slows down
INNER = 1.0  # a round ends when the gradient is this small beside the way the multipliers want to go
SURE = 1e-6  # certified gap at which -e may end a run, where the rule does not name one
EXACT = 1e-12  # certified gap of an exact minimiser: what is left is rounding
ROUNDED = 1e-8  # certified gap up to which an answer that rounding stopped is as good as exact
FLAT, FLAT_STEPS = 1e-13, 12  # after so many steps without a better gap or a lower phi rounding has the last word ...
IDLE_ROUNDS = 30  # ... or after so many rounds without a better gap, the last of them at the largest sigma
CG_TOLERANCE = 0.1  # of a Newton direction, beside the gradient
MOST_CLASS_PASSES = 100000  # of all classes at once, LIBLINEAR's cap: most of them go over few rows
ROWS_SIDE = 4000  # free rows up to which Newton systems have a row for each, in place of further passes
RECENT, WINDOW = 2, 4  # looks over which the fall of the gap is measured: more where d is large, for it wavers there
RECENT_SPREADS = 4  # share of all looks, one in so many, over which the fall of the spread is measured
SMOOTH = 0.9  # weight of the spreads before in their mean, for a single one wavers
TIGHTER = 0.3  # how much further than -e says passes over all classes go where the gap is not certified then
NEAR = 1.5  # times the gap asked for, as passes over all classes tell it, from which on they look at the primal
LOOKS = 0.1  # share of the visits so far that pass between two looks at the primal, ...
LEAST_BOUND = 1e-3  # share of the primal that the bound counts as at least where the gap is measured by it
NEARLY = 0.8  # ... or of those that lie ahead of the wanted gap; never more than went before
SHARPER = 0.3  # each time that shrunk rows come back, the spread at which they will again falls to this share
# compiled as one call: most features, most non-zeros of a lone problem, and of one among several, which share the cores
SMALL_FEATURES, SMALL_WORK, SMALL_SHARE = 64, 1 << 16, 1 << 21
SMALL_RECORDS, SMALL_VISITS = 1000, 1 << 28  # most of the call, or as many as visit so many non-zeros
PASSES = 2  # coordinate passes before Newton steps take over ...
PASSES_WORTH = 8  # ... unless they would reach the gap, at the rate of the last ones, within so many, and ...
STEPS_SPARED = 10  # ... as many more as take the time in which this number of matrices are factorised
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
    run = _Run(objective, monitor, rule, task.mu == "merit")
    if small is not None:
        run.best.dual, run.best.alpha = small.history[-1]["bound"], small.alpha
        objective.move(small.w)
        np.divide(small.alpha, task.cost, out=objective.beta)
        run.unit = _unit(task)
        objective.sigma = _sigma_warm(objective.d) / run.unit
        status = run.multiplier_rounds()
        return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
    rows = task.rows.as_csr() if isinstance(task.rows, DenseRows) and not task.free_bias else task.rows
    passes = None
    quick = task.p == 1.0 or (task.p == 2.0 and objective.d > GRAM_BELOW)
    if start is None and quick and DualPasses.possible(rows, task.cost, task.free_bias):
        passes = DualPasses.of_power(rows, task.y, task.cost, task.p, seed, objective.target)
        status = run.coordinate_passes(passes)
        if status is not None:
            result = Result(run.multiple * passes.w, status, passes.count, monitor.history, passes.alpha)
            result.visits = passes.visits
            return result
    run.unit = unit = _unit(task)
    if passes is not None:
        run.best.dual, run.best.alpha = passes.dual_value(), passes.alpha
        objective.move(passes.w)
        np.divide(passes.alpha, task.cost, out=objective.beta)
    else:
        objective.move(np.zeros(objective.d) if start is None else start)
        if start is not None and task.p > 1.0:
            objective.start_multipliers()
    if task.p == 2.0:
        objective.sigma = SIGMA_SMOOTH
    else:
        objective.sigma = (SIGMA_COLD if passes is None else _sigma_warm(objective.d)) / unit
    status = run.multiplier_rounds()
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


def all_classes(
    task: ClassTask | Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1
) -> Result:
    """The same for Crammer and Singer's problem, of which the hinge is the case of two classes (then a Task comes).

    start and the answer's w: the flat W of class_rows.py; the answer's alpha has k numbers a row, f8[n, k].
    """
    if isinstance(task, Task):
        return exact(task, monitor, rule, start, seed)
    n, k = task.rows.n, task.k
    if n == 0 or k == 1:  # nothing to tell apart
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(np.zeros(k * task.rows.d), base.OPTIMAL, 1, monitor.history, np.zeros((n, k)))
    objective = ClassHinge(task)
    objective.move(np.zeros(objective.d) if start is None else start)
    objective.sigma = SIGMA_COLD
    run, factorised = _Run(objective, monitor, rule, False), objective.d <= GRAM_BELOW
    passes = ClassPasses(task, objective.rows, seed, factorised)
    newton = factorised or objective.has_kronecker
    if not factorised:
        run.growth, run.handing_over = GROWTH_PRODUCTS, rule.projected is not None
        run.passes = passes

    def places(alpha: np.ndarray) -> np.ndarray:
        return objective.rows.narrowed(alpha).reshape(n, k)

    status, begun = None, start is not None  # begun: whether there are weights beside those of passes
    while status is None:
        if start is None or passes.count > 0:
            status = run.class_passes(passes, newton)
            if status is not None and not begun:
                return Result(passes.w, status, passes.count, monitor.history, places(passes.alpha))
            run.best.take(passes.primal_value(), passes.w, passes.dual_value(), passes.alpha)
            if status is not None:  # -e speaks of the dual point where passes ended; rounds may know a better primal
                alpha = passes.alpha if status.converged else run.best.alpha
                return Result(run.best.w, status, passes.count, monitor.history, places(alpha))
            objective.move(passes.w)
            objective.beta[:] = passes.multipliers
            objective.sigma = SIGMA_COLD
        begun, before = True, monitor.iterations
        status = run.multiplier_rounds()
        stuck = status is base.PRECISION and run.passes is not None and run.best.gap > SURE
        if status is not None and not stuck:
            break
        status = None
        if run.near or stuck:  # once: passes end the run, or are too many
            newton, run.handing_over, run.passes = False, False, None
        else:
            passes.in_vain()
        alpha = -objective.u if run.near else run.best.alpha
        passes.resume(objective.multipliers(alpha), monitor.iterations - before)
    return Result(run.best.w, status, monitor.iterations, monitor.history, places(run.best.alpha))


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
    passes = PASSES if start is None else 0
    most = min(SMALL_RECORDS, SMALL_VISITS // max(rows.nnz, 1))
    most = most if monitor.max_iter is None else min(most, monitor.max_iter)
    history = np.empty((most + 2, small_alm_loops.FIELDS))
    code = small_alm_loops.small_hinge(
        rows.indptr, rows.indices, rows.values, task.y, task.cost, target, w, alpha,
        np.empty(6 * n + 2 * d * d + 3 * d + 17), np.empty(rows.n + rows.n // chunk + 1, np.int64),
        random_state(rows.n, seed),
        history, gap, -1.0 if rule.projected is None else SAFETY * rule.projected,
        SIGMA_COLD / unit, SIGMA_WARM / unit, SIGMA_MOST / unit, GROWTH, INNER,
        chunk, passes, _passes_worth(d, rows.nnz), most,
    )  # fmt: skip
    status, count = None, 0
    for f, bound, norm, support, t, passes_so_far in history[: int(history[-1, 0])].tolist():
        status = monitor.step(f, bound, gradient=norm, active=int(support), cg=0, step=t)
        count = int(passes_so_far)
    if code == 4:
        status = base.OPTIMAL if relative_gap(f, bound) <= ROUNDED else base.PRECISION
    else:
        end = base.RULE if code == 2 and monitor.gap is None else SMALL_ENDS[code]
        status = end or monitor.limit()
    return Result(w, status, count or monitor.iterations, monitor.history, alpha)


def _sigma_warm(d: int) -> float:
    """The first sigma after coordinate passes, for slacks of unit size."""
    if d > GRAM_BELOW:
        return SIGMA_WARM
    return max(min(SIGMA_WARM, SIGMA_WARM * SIGMA_FEATURES / d), SIGMA_LEAST)


def _passes_worth(d: int, nnz: int) -> int:
    """How many coordinate passes may be tried where Newton steps factorise matrices of order d."""
    return PASSES_WORTH + int(STEPS_SPARED * (FACTOR * d**3 + SQUARE * d * d) / (1.3 * max(nnz, 1)))


class _Run:
    """One run: coordinate passes, then rounds."""

    def __init__(self, objective: Augmented | ClassHinge, monitor: Monitor, rule: Rule, by_merit: bool):
        self.objective, self.monitor, self.rule = objective, monitor, rule
        self.by_merit, self.merit = by_merit, -np.inf  # of the last round; none before the first
        self.unit, self.sure, self.growth = 1.0, SURE, GROWTH
        self.multiple = 1.0  # of where passes lead: the answer
        self.handing_over = False  # whether passes end the run where the multipliers' steps say that -e is near ...
        self.near = False  # ... as they did
        self.passes: ClassPasses | None = None  # that rounds hand back to where they cost more than these expect

    @cached_property
    def best(self) -> Best:
        """Not before rounds need it: passes that end a run do without."""
        return Best(self.objective)

    def coordinate_passes(self, passes: DualPasses) -> Status | None:
        """Passes until the rule or the gap holds; None where Newton steps shall take over."""
        objective, monitor, rule = self.objective, self.monitor, self.rule
        gap = rule.gap if monitor.gap is None else monitor.gap
        wide = objective.d > GRAM_BELOW
        loose = rule.loose if wide else -1.0  # what will do where projected gradients have become small
        wanted = max(gap, loose) if gap >= 0.0 else SURE if not wide else ENOUGH
        enough = -1.0 if rule.projected is None else SAFETY * rule.projected
        if rule.projected is None and wide:
            enough = passes.unit  # the gap alone ends the run, but rows shrunk too early must come back
        worth = _passes_worth(objective.d, of_data(objective.rows).nnz)
        first = 1 if wide else PASSES  # pass after which there is something to decide
        spent = visits = 0.0
        at, left, lefts, costs, seen, patience = 0, 1.0, [1.0], [0.0], [0.0], 1.0
        while passes.visits < MOST_VISITS and passes.count < MOST_PASSES:
            visits += passes.share
            spent += passes.run()
            small = wide and passes.size <= rule.size
            near = small and left <= loose  # as of the last look
            settled = passes.spread <= enough
            limit = monitor.limit(passes.count)
            if (settled or near) and not passes.complete and limit is None:
                passes.restore()
                continue
            # a look at the primal costs a product: between two there are a visit to each row or a few passes, or more
            some = max(4.0, patience, LOOKS * passes.count)
            waited = max((visits - seen[-1]) / max(patience, LOOKS * visits), (passes.count - at) / some)
            early = waited < 1.0 or (passes.count < first and passes.spread > 0.0)
            if early and not (settled or limit or near):
                continue
            at = passes.count
            if limit and not wide:  # cut short: early passes overshoot, the best multiple of where they led does not
                passes.scale(objective.best_multiple(passes.w))
            if wide:  # rows on the margin that fall short of it by a little cost more than all else
                self.multiple, primal = objective.least_multiple(passes.w)
            elif objective.p == 1.0:
                primal = passes.primal_value()
            else:
                objective.move(passes.w)
                primal = objective.primal_value()
            bound = passes.dual_value()
            left = relative_gap(primal, bound)
            # beside the bound it falls evenly, beside a primal many times the answer hardly at all
            lefts.append(left / max(1.0 - left, LEAST_BOUND) if wide else left)
            costs.append(spent)
            seen.append(visits)
            ahead = still_needed(lefts, seen, wanted, RECENT)
            patience = visits if left <= loose else NEARLY * ahead
            patience = min(max(1.0, patience), max(1.0, visits))
            reached = left <= gap or (small and left <= loose and passes.complete)
            if settled and rule.projected is None:
                settled, enough = False, SHARPER * enough
            if settled and not reached and limit is None and not wide and left > SURE:
                return None  # LIBLINEAR may have been luckier within its rule: Newton steps go on from here
            if reached or settled or limit:
                support = int(np.count_nonzero(passes.alpha))
                status = monitor.step(primal, bound, gradient=0.0, active=support, cg=0, step=1.0)
                return status or limit or base.RULE
            if not wide:
                if not visits + ahead <= worth:
                    return None
            elif objective.p == 1.0 and passes.enough(spent, ROWS_SIDE, still_needed(lefts, costs, wanted, WINDOW)):
                return None
        return None

    def class_passes(self, passes: ClassPasses, newton: bool) -> Status | None:
        """The same for all classes at once: passes tell themselves about how large the gap is.

        newton: whether Newton steps may take over.
        """
        objective, monitor, rule = self.objective, self.monitor, self.rule
        gap = rule.gap if monitor.gap is None else monitor.gap
        wanted = gap if gap >= 0.0 else SURE
        enough = SAFETY * rule.projected if rule.projected is not None else -1.0
        spent = looked = 0.0
        lefts, spreads, costs = [1.0], [1.0], [0.0]
        for _ in range(MOST_CLASS_PASSES):
            spent += passes.run()
            lefts.append(passes.left)
            spreads.append(spreads[-1] ** SMOOTH * max(passes.spread, 1e-300) ** (1.0 - SMOOTH))
            costs.append(spent)
            settled = rule.projected is not None and passes.spread <= enough
            limit = monitor.limit(passes.count)
            if settled and not passes.complete and limit is None:
                passes.restore()
                continue
            near = lefts[-1] <= NEAR * gap and spent - looked >= passes.look
            if near or settled or limit:
                looked = spent
                if limit:  # cut short: early passes overshoot, so the best multiple of where they led is the answer
                    passes.scale(objective.best_multiple(passes.w))
                primal, bound = passes.primal_value(), passes.dual_value()
                left = relative_gap(primal, bound)
                if left <= gap or limit or (settled and (left <= SURE or not passes.factorised)):
                    support = int(np.count_nonzero(passes.alpha))
                    status = monitor.step(primal, bound, gradient=0.0, active=support, cg=0, step=1.0)
                    return status or limit or base.RULE
                if settled:  # LIBLINEAR may have been luckier within its rule
                    enough *= TIGHTER
            expected = still_needed(lefts, costs, wanted, WINDOW)
            if not passes.factorised and enough > 0.0:  # any gap will do then; the spread wavers more
                expected = min(expected, still_needed(spreads, costs, enough, len(costs) // RECENT_SPREADS))
            if newton and (expected > passes.newton if settled else passes.enough(spent, expected)):
                return None
        return None

    def multiplier_rounds(self) -> Status | None:
        """Newton steps and multiplier steps until the gap is as small as asked for, or None where passes shall go on.

        The multiplier step that ends a round comes with the first Newton step of the next one.
        """
        o, monitor, best = self.objective, self.monitor, self.best
        wanted = self.rule.gap if monitor.gap is None else monitor.gap
        wanted = wanted if wanted > 0.0 else SURE
        cg, t, flat, idle = 0, 0.0, 0, 0
        smallest = lowest = np.inf
        gaps, costs = [1.0], [0.0]  # costs: in usual Newton steps
        first, side = True, "products"  # first: of its round, or of the run
        while True:
            f, g = o.gradient()
            best.keep()
            gap, norm = best.gap, float(np.sqrt(g @ g))
            status = monitor.step(best.primal, best.dual, gradient=norm, active=o.support, cg=cg, step=t)
            ends = norm * norm <= INNER * INNER * o.moved / o.sigma
            if status is None:
                better = gap < 0.999 * smallest
                flat = 0 if better or (not first and f < lowest - FLAT * abs(f)) else flat + 1
                idle = 0 if better else idle + first
                smallest, lowest = min(gap, smallest), f if first else min(f, lowest)
                status = self._end(gap, flat >= FLAT_STEPS or idle >= IDLE_ROUNDS)
            if status is not None:
                return status
            first = ends
            self.near = ends and self.handing_over and o.multiplier_spread() <= SAFETY * self.rule.projected
            if self.near:
                return None
            if self.passes is not None:
                gaps.append(gap)
                costs.append(costs[-1] + self.passes.usual_steps(o.curved, cg))
                if costs[-1] > self.passes.steps:
                    ahead = still_needed(gaps, costs, wanted, len(gaps) // 2)
                    if ahead > self.passes.steps:
                        return None
            if ends:
                sigma = self._next_sigma()
                o.accept()
                o.sigma = sigma
                g = o.gradient_on_pieces() if o.p == 1.0 else o.gradient()[1]
            if o.d <= GRAM_BELOW and (flat or not o.rows_quicker):
                side = "features"
            else:
                few = o.rows_side and 0 < o.active <= ROWS_SIDE
                if few and o.p == 1.0:
                    few = not o.free_bias
                elif few:  # by what the last step has cost
                    few = side == "rows" or cg * o.product_cost > o.face_cost
                side = "rows" if few else "products"
            most = 10 * o.d if self.passes is None else min(10 * o.d, self.passes.most_products)
            p, cg, _ = o.newton_direction(g, side, CG_TOLERANCE, most, monitor.ended)
            t = o.ray(p)
            o.advance(t, p)

    def _next_sigma(self) -> float:
        """Geometric growth, or Eq. 29: as large as keeps the merit function of Lemma 3 from growing, never smaller."""
        o = self.objective
        if not self.by_merit:
            return min(o.sigma * self.growth, SIGMA_MOST / self.unit)
        residual = o.moved / o.sigma**2  # sum C r^2
        rest = 0.5 * float(o.w @ o.regular(o.w)) + o.e_loss()
        grown = (self.merit - rest) / (0.5 * residual) if residual > 0.0 else 0.0
        sigma = min(max(o.sigma, grown), SIGMA_MOST / self.unit)
        self.merit = 0.5 * sigma * residual + rest
        return sigma

    def _end(self, gap: float, flat: bool) -> Status | None:
        """Whether the run ends here though neither --gap nor a limit says so."""
        if gap <= EXACT:
            return base.OPTIMAL
        if gap <= self.rule.gap:
            return base.RULE
        if self.rule.projected is not None and gap <= self.sure:
            if self.objective.projected_spread(self.best.alpha) <= self.rule.projected:
                return base.RULE
            self.sure *= 0.1
        if flat:
            return base.OPTIMAL if gap <= ROUNDED else base.PRECISION
        return None
