"""Proximal Newton with working sets.      min_w  |w|_1 + sum_i C_i l(y_i x_i.w)
Papers: G.-X. Yuan, C.-H. Ho and C.-J. Lin, An Improved GLMNET for L1-regularized Logistic Regression, Journal of
Machine Learning Research 13 (2012) 1999-2030: Algorithm 1 (newGLMNET), eqs. (12), (13).  M. Massias, A. Gramfort and
J. Salmon, Celer: a Fast Solver for the Lasso with Dual Extrapolation, ICML 2018: growing working sets (Section 4).

Notation   paper: w   d   H   grad L     q(d)            code: w   p = v - w   H   g   the model
Differs from the papers in:
 1. l is the squared hinge as well; its H is that of the rows with a positive slack.
 2. H is not made regular by a multiple of I: the curvature of a row has a floor that follows its slope instead
    (LEAST_CURVATURE in compiled/logistic_loops.py), which holds whatever the scale of the features.  A step ends
    where f falls no more on the ray (at t = 1 at most), not by Armijo's rule on powers of a constant.
 3. Where d is small the model is held as a matrix, of dense rows over the weights that it moves alone where these
    are few: coordinate passes over it cost nothing beside a pass over the rows, and a factorised system of the
    non-zero weights ends them, as far as the first weight that becomes zero.  The logistic loss keeps its matrix for
    the next step while violations fall fast, and adds to it only what rows whose curvature changed by much bring.
 4. Where d is large coordinate passes go over the columns of a working set: weights that are not zero, and the
    largest violations, as many as there are non-zero weights.  Violations take the place of Celer's distances.
    Between passes the weights that are not zero move together, by conjugate gradients on the model's matrix plus a
    share of its diagonal: columns that depend on each other (one-hot features) would else make long steps that the
    kinks of |w|_1 cut short.  Weights that come to zero stay there while the others go on.
 5. Where rows abound the first guess is the answer for a random subset; where d is large, that for smaller costs,
    which grow tenfold.
 6. Models are solved less well far from the end, where each serves but for a part of the way.  After a step that its
    model made too long the logistic loss has a model that lies above it (L1Logistic.widen).
 7. Before all that, where d is large, weights of the logistic loss are left out that no slopes of its rows can move.
 8. Small problems are solved in one compiled call (compiled/small_l1_loops.py), with a matrix each.
 9. The squared hinge goes on by the method of multipliers (problem/l1_dual.py) where the model holds for a small part
    of the way only, or does not halve the gap in its turn (l1_turns.py); the two take turns from there.
10. The lower bound is the better one of two: at the slopes of the losses, and at those that the model has where the
    step ends (look_at_model).
Stops when: the certified relative gap is as small as asked for; -e asks for 1e-4 times itself (see Rule.gap).  But for
small problems -e also ends a run where V = sum_j |violation_j| is a twentieth of what LIBLINEAR's rule allows, e
max(1, min(pos, neg)) / l times that at w = 0, and the last step's fall of f times V / V before it, which is about what
is left to gain, a share of 1e-2 e at most; from there it takes as much work again (MORE) to bring the gap to ENOUGH.
Memory: 5 vectors of n, 6 of d; d x d twice where d is small, else the rows once more by columns, and once for the
working set.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import l1_loops as loops
from svmtool.compiled.small_l1_loops import (
    FACES,
    FLAT_STEPS,
    INNER_LEAST,
    INNER_MATRIX,
    KEEP,
    NEARER,
    PASSES,
    RIDGE,
    SETTLED,
    SHY,
)
from svmtool.limits import EndedError
from svmtool.problem.certify import relative_gap
from svmtool.problem.l1_dual import L1Dual
from svmtool.problem.l1_objective import Face, L1Objective, of_task
from svmtool.problem.linalg import conjugate_gradient, solve_positive
from svmtool.problem.rows import DenseRows
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import ENOUGH, Monitor, Result, Rule, Status
from svmtool.solvers.l1_turns import Turns
from svmtool.solvers.newton import EXACT, FLAT, rounded

GRAM_BELOW = 1500  # features up to which the model is held as a matrix
FEW = 0.25  # share of the weights up to which those of dense rows that differ from zero or should have a matrix alone
SAMPLE_GROUP = 16  # the subset holds one row in this many, or more: ...
SAMPLE_ROWS_A_FEATURE = 8  # ... at least this many rows for each feature
SAMPLE_ROWS = 400  # ... and this many in all; with less than a third to spare there is none
SAMPLE_GAP, SAMPLE_ROUNDS, SAMPLE_FALL = 1e-2, 20, 1e-2  # its solution need not be exact: as on a path, below
INNER_LOOSE, INNER_TIGHT = 0.5, 0.03  # as INNER_MATRIX, of columns: at first and after a shy step; halved where passes
# ... over columns alone got there, down to the latter
PASSES_COLUMNS = 5  # over columns between two such systems
PASSES_DESCENT = 5  # a step shorter than SHY is followed by passes on f itself (hinge): twice so many, ...
DESCENT_LEFT = 0.03  # ... twice as many each time, or until that share of the violation is left, ...
MOST_DESCENT = 5120  # ... and so many at most
FAR, CG_FAR = 1e-3, 8  # as long as a step lowers f by that share a model has one system, by so many steps of ...
CG_TOLERANCE, CG_STEPS = 0.03, 15  # ... conjugate gradients, to this; later so many, twice as many each time the ...
# ... solution changes no sign, and as many systems as take this share of the run's work so far, or that much work
MODEL_WORK, LEAST_WORK = 0.5, 100.0
PROJECTED = 0.3  # of a step along which weights stay at zero, where the longer one does not lower the model enough
RIDGE_FIRST, RIDGE_STEP, RIDGE_MOST = 1e-5, 10.0, 0.1  # RIDGE of such systems: at first; its change after steps ...
SHY_FACE = 0.1  # ... shorter than this (up) or whole ones (down); and the most.  Gap at the end by -e for one class
# ... at C = 100, with 1e-3 / 1e-5 at first: -s 6 farm-ads .026 / .0026, polarity2 7e-4 / 2e-5, dorothea 4e-4 / 2e-4,
# ... tdt2 4e-4 / 3e-4, la12 .004 / .010, madelon 5e-4 both; -s 5 la12 .025 / .017, polarity2 .095 / .007,
# ... tdt2 .051 / .041, dorothea .002 both.  With RIDGE throughout conll2000 .0045 where 1e-4 at first had .0013 (-s 6)
LATE = 0.003  # largest violation from which a working set that is small enough has its model as a matrix too
SMALL_ENDS = (None, base.OPTIMAL, base.GAP, base.RULE, base.PRECISION)  # of the compiled call, by its code
SMALL_ROUNDS = 200  # most steps of the compiled call, ...
SMALL_WORK = 1 << 27  # ... or as many as visit so many numbers: then a limit may end the run
PATH_FROM = 100.0  # largest slope at zero weights up to which a run begins there; else with costs smaller ...
PATH_STEP, PATH_GAP, PATH_ROUNDS = 0.1, 0.3, 50  # ... by such factors; gap and steps that suffice on the way, ...
PATH_FALL = 0.1  # ... or, where the loss is smooth, a step that lowers f by no more than this share
RULE_SHARE = 0.05  # except on small problems -e also ends a run where this share of LIBLINEAR's tolerance is met ...
RULE_FALL = 100.0  # ... and about so many times the gap that -e asks for, at most, is left to gain, relative
# a point whose gap is above ENOUGH goes on ...
MORE, MORE_STEPS = 0.5, 10.0  # ... for this share of the work so far, where models are matrices at least so many steps,
MORE_WORK = 60.0  # ... else so much work, which is little beside reading the rows from a file
FIRST_SET = 200  # least size of a working set
ONE_SIDED = 1000.0  # margin at which the logistic loss, too, is 0 as far as rounding tells

RISE = 1e-12  # relative rise of f that is rounding
STEP_WORK = 6.0  # of a step over columns beside its coordinate passes: products with all rows, and with the working set
MATRIX_WORK = 0.1  # of a step with a matrix beside that, for each feature

CROWDED = Status("crowded", False, "more weights than rows of a class: a subset that small is fitted by chance")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None, or if those are better); see the module's text."""
    if (answer := task.one_sided_answer(ONE_SIDED)) is not None:
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(answer, base.OPTIMAL, monitor.iterations, monitor.history)
    objective = of_task(task)
    kept = objective.possible() if objective.d > GRAM_BELOW else None
    if kept is not None:
        objective, start = objective.narrowed(kept), None if start is None else start[kept]
    run = _Run(objective, monitor, rule)
    if start is None and not run.wide and (group := _sample_group(objective)) >= 3:
        start = _first_guess(objective.sample(group, seed), monitor)
    w = np.zeros(objective.d)
    if start is not None:
        objective.move(start)
        if objective.value() <= objective.value_at_zero():
            w[:] = start
    status = run.from_weights(w)
    if kept is not None:
        w, part = np.zeros(task.rows.d), w
        w[kept] = part
    return Result(w, status, monitor.iterations, monitor.history, run.alpha)


def _sample_group(objective: L1Objective) -> int:
    """One row in how many the subset of a first guess may hold."""
    return min(SAMPLE_GROUP, objective.n // max(SAMPLE_ROWS, SAMPLE_ROWS_A_FEATURE * objective.d))


def _first_guess(subset: L1Objective, monitor: Monitor) -> np.ndarray:
    """The minimiser over a subset of the rows, or zeros where it has so many weights that chance fits them."""
    run = _Run(subset, monitor.child(SAMPLE_GAP, SAMPLE_ROUNDS), Rule())
    run.least_fall = SAMPLE_FALL
    run.most_used = min(np.count_nonzero(subset.y > 0.0), np.count_nonzero(subset.y < 0.0))
    w = np.zeros(subset.d)
    run.from_weights(w)
    return w if np.count_nonzero(w) <= run.most_used else np.zeros(subset.d)


class _Run:
    """One run: the best dual point so far, and what the last model cost."""

    def __init__(self, objective: L1Objective, monitor: Monitor, rule: Rule):
        self.objective, self.monitor, self.rule = objective, monitor, rule
        self.wide = objective.d > GRAM_BELOW or objective.narrow
        self.bound, self.alpha = -np.inf, None
        self.shy = False  # whether the last step says that the model holds for a small part of the way only
        self.widened = False  # whether the last model was one above the loss; Newton's come in between: they end sooner
        self.descent = PASSES_DESCENT  # passes on f itself that come next
        self.H: np.ndarray | None = None  # the last model's matrix, and the violation where it was used
        self.largest = np.inf
        self.held = False  # whether the last model was that matrix
        self.most_used = objective.d  # weights that may differ from zero
        self.loose, self.ridge = INNER_LOOSE, RIDGE_FIRST
        self.fall = np.inf  # share of f by which the last step lowered it
        self.least_fall = -1.0  # the share at which a first guess is good enough
        self.most_violation = -1.0  # the sum of violations at which a run by -e may end
        self.total = 1e-300  # that sum where the last step began; none yet
        self.passes = np.zeros(1)  # coordinate passes of the last model
        self.work, self.most_work = 0.0, np.inf  # so far, and where a run by -e ends for good; see `_enough`
        self.share = 1.0  # numbers of the working set, as share of all: what a pass over it costs
        self.dual: L1Dual | None = None  # the method of multipliers, where it has had its turn
        self.turns = Turns(objective, self.wide)

    def from_weights(self, w: np.ndarray) -> Status:
        """Minimise from w (length d, overwritten by the answer); returns why it ended."""
        o = self.objective
        status = self._small(w) if o.small else None
        if status is None:
            if self.wide or self.rule.gradient is not None:
                self._set_out(w)
            o.move(w)
            status = self.steps()
            w[:] = self.objective.w
        return status

    def _set_out(self, w: np.ndarray) -> None:
        """What the gradient at zero weights tells: where -e ends the run, and where one from zero (w) better begins."""
        o = self.objective
        o.move(np.zeros(o.d))
        g = o.gradient()[1]
        if self.rule.gradient is not None:
            self.most_violation = RULE_SHARE * self.rule.gradient * float(o.violations(g).sum())
        if self.wide and not np.any(w):
            w[:] = self._along_path(float(np.abs(g).max(initial=0.0)))

    def _along_path(self, steepest: float) -> np.ndarray:
        """A first guess: the answer for smaller costs, found from that for still smaller ones.

        steepest: the largest slope at zero weights.
        """
        o, monitor = self.objective, self.monitor
        w, share = np.zeros(o.d), 1.0
        while share * steepest > PATH_FROM:
            share *= PATH_STEP
        rounds = PATH_ROUNDS if monitor.max_iter is None else min(PATH_ROUNDS, monitor.max_iter)
        while share < PATH_STEP**0.5 and not monitor.ended():
            stage = o.at_costs(share)
            stage.move(w)
            run = _Run(stage, monitor.child(PATH_GAP, rounds), Rule())
            run.least_fall = PATH_FALL if o.logistic else -1.0
            run.steps()
            w, share = stage.w, share / PATH_STEP
        return w

    def _small(self, w: np.ndarray) -> Status | None:
        """All steps in one compiled call: a small problem is solved sooner than Python could follow it.

        None where these were not enough.
        """
        monitor = self.monitor
        most = min(SMALL_ROUNDS, SMALL_WORK // (self.objective.n * self.objective.d))
        most = most if monitor.max_iter is None else min(most, monitor.max_iter + 1)
        gap = -1.0 if monitor.gap is None else monitor.gap
        records, code, self.alpha = self.objective.small_newton(w, gap, self.rule.gap, most)
        status = None
        for f, bound, largest, active, passes, t in records:
            status = monitor.step(f, bound, gradient=largest, active=int(active), cg=int(passes), step=t)
        self.bound = records[-1][1]
        if SMALL_ENDS[code] is base.PRECISION:
            return rounded(*records[-1][:2])
        return SMALL_ENDS[code] or status

    def steps(self) -> Status:
        """Proximal Newton steps until the gap is as small as asked for."""
        o, monitor = self.objective, self.monitor
        model = self._by_columns if self.wide else self._by_matrix
        previous, apart, flat, t = np.inf, np.inf, 0, 0.0
        best, best_w = np.inf, o.w.copy()
        while True:
            f, g = o.gradient()
            if not f <= best + RISE * abs(best):  # rounding has misled the search along the step
                o.move(best_w)
                return rounded(best, self.bound)
            if f < best:
                best, best_w[:] = f, o.w
            if o.bound > self.bound:
                self.bound, self.alpha = o.bound, o.dual_point()
            violations = o.violations(g)
            largest = float(violations.max(initial=0.0))
            status = monitor.step(
                f, self.bound, gradient=largest, active=int(np.count_nonzero(o.w)), cg=int(self.passes[0]), step=t
            )
            if status is None:
                flat = flat + 1 if previous - f <= FLAT * abs(f) and f - self.bound > NEARER * apart else 0
                apart = f - self.bound
                self.fall = (previous - f) / max(f, 1e-300)
                status = self._end(f, violations, flat, not self.shy)
            if status is not None:
                return status
            previous = f
            self.work += STEP_WORK + (self.share * float(self.passes[0]) if self.wide else MATRIX_WORK * o.d)
            self.passes[:] = 0.0
            # Eq. 13: the quadratic model's minimiser
            self.widened = self.shy and not self.widened
            if self.widened:
                o.widen()
            try:
                p = model(g, violations)
            except EndedError:
                return monitor.end()
            t = o.best_step(p, g)
            self.shy = t < SHY
            if not self.shy and o.look_at_model(self.held) > self.bound:
                self.bound, self.alpha = o.bound, o.dual_point()
            o.go(t, p)
            at_once = self.shy and self.dual is None  # a model that holds for a small part of the way only
            if self.turns.possible and self.turns.over(relative_gap(f, self.bound), self.work, at_once):
                status = self._by_dual()
                if status is not None:
                    return status
                previous = np.inf
            elif self.shy:
                self.descent = min(2 * self.descent, MOST_DESCENT)
                self.loose = INNER_LOOSE

    def _by_dual(self) -> Status | None:
        """Go on by the method of multipliers; None where the model's turn has come again."""
        o, monitor = self.objective, self.monitor
        best, best_w = np.inf, o.w.copy()
        if self.dual is None:
            self.dual = L1Dual(o, o.w)
        else:  # it goes on from where it was
            self.turns.lengthen()
        dual, done = self.dual, self.dual.work
        o.move(best_w)
        while True:
            f = o.value()
            if f < best:
                self.fall = (best - f) / max(f, 1e-300) if best < np.inf else 1.0  # not known yet
                best, best_w[:], violations = f, o.w, o.violations(o.gradient()[1])
                if o.bound > self.bound:
                    self.bound, self.alpha = o.bound, o.dual_point()
            else:
                self.fall *= 0.5
            value, alpha = dual.bound()
            if value > self.bound:
                self.bound, self.alpha = value, alpha
            self.work += dual.work - done
            status = monitor.step(
                best, self.bound, gradient=float(violations.max(initial=0.0)), active=int(np.count_nonzero(best_w)),
                cg=int(dual.work - done), step=dual.sigma,
            )  # fmt: skip
            done = dual.work
            status = status or self._end(best, violations, 0, True)
            if status is not None:
                o.move(best_w)
                return status
            if self.turns.over(relative_gap(best, self.bound), self.work):
                o.move(best_w)
                return None
            o.move(dual.step())

    def _end(self, f: float, violations: np.ndarray, flat: int, told: bool) -> Status | None:
        """Whether the run ends here though neither --gap nor a limit says so.

        told: whether the last step's fall tells what is left to gain; that of one cut short does not.
        """
        if np.count_nonzero(self.objective.w) > self.most_used:
            return CROWDED
        gap = relative_gap(f, self.bound)
        total = float(violations.sum())
        if gap <= EXACT or total == 0.0:
            return base.OPTIMAL
        fall = self.fall if told else np.inf
        left = fall * min(1.0, total / self.total)
        settled = left <= RULE_FALL * self.rule.gap and total <= self.most_violation
        self.total = total
        if gap <= self.rule.gap or (settled and self._enough(gap)) or fall <= self.least_fall:
            return base.RULE
        return rounded(f, self.bound) if flat >= FLAT_STEPS else None

    def _enough(self, gap: float) -> bool:
        """Whether a point where LIBLINEAR's rule holds ends the run: its gap says something, or saying so is dear."""
        if gap <= ENOUGH:
            return True
        if self.most_work == np.inf:
            least = MORE_WORK if self.wide else MORE_STEPS * (STEP_WORK + MATRIX_WORK * self.objective.d)
            self.most_work = self.work + max(MORE * self.work, least)
        return self.work >= self.most_work

    def _working_set(self, violations: np.ndarray) -> np.ndarray:
        """The weights that are not zero and as many others, those with the largest violations; i8, ascending."""
        o = self.objective
        used = (o.w != 0.0) | (o.penalty == 0.0)
        more = max(FIRST_SET, int(np.count_nonzero(used)))
        outside = np.flatnonzero(~used & (violations > 0.0))
        if len(outside) > more:
            outside = outside[np.argpartition(-violations[outside], more)[:more]]
        used[outside] = True
        return np.flatnonzero(used)

    def _by_matrix(self, g: np.ndarray, violations: np.ndarray) -> np.ndarray:
        """p from the model over all weights, or over those that its slope moves where these are few."""
        o, largest = self.objective, float(violations.max())
        some = (o.w != 0.0) | (violations > 0.0)
        some[o.rows.plain :] = True
        self.held = False
        if isinstance(o.rows, DenseRows) and np.count_nonzero(some) <= FEW * o.d:
            p, chosen = np.zeros(o.d), np.flatnonzero(some)
            H = o.part_of_hessian(chosen)
            p[chosen] = self._solve(H, g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen])
            return p
        if self.H is None or not o.logistic or largest > KEEP * self.largest:
            self.H = o.hessian(self.fall > SETTLED)
        self.largest, self.held = largest, True
        return self._solve(self.H, g, o.w, o.penalty, violations)

    def _solve(
        self, H: np.ndarray, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, violations: np.ndarray
    ) -> np.ndarray:
        """p = v - w for the minimiser v of the model with the matrix H."""
        v, slope = w.copy(), g.copy()
        size = np.sqrt(np.maximum(H.diagonal(), 0.0))
        used = size > 0.0
        largest = float(violations.max(initial=0.0))
        if np.any(used):  # nor may a feature of small values lag behind: by violation^2 / (2 H_jj) the model falls
            largest = min(largest, float((violations[used] / size[used]).max() * size[used].min()))
        enough = max(INNER_MATRIX * largest, INNER_LEAST * float(np.abs(g).max()))
        for _ in range(FACES):
            if loops.gram_passes(H.reshape(-1), v, slope, penalty, self.passes, PASSES, enough) <= enough:
                break
            before = len(v) + 1
            while np.count_nonzero(v) < before:  # a step that ends at a zero leaves a smaller face
                before = np.count_nonzero(v)
                face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
                pull = slope[face] + penalty[face] * np.sign(v[face])
                part = np.ascontiguousarray(H[np.ix_(face, face)])
                part.flat[:: len(face) + 1] *= 1.0 + RIDGE
                q, part_of_v = -solve_positive(part, pull), v[face]
                loops.l1_face_step(part_of_v, q, penalty[face], float(pull @ q), float(q @ part @ q))
                v[face] = part_of_v
                slope = g + H @ (v - w)
            if self.monitor.limit() is not None:
                break
        return v - w

    def _face_step(
        self, part: Face, v: np.ndarray, q: np.ndarray, penalty: np.ndarray, pull: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """The best of a few points in the direction q: the weights there, the step's length, and the change of r.

        These are the minimum on the ray, and points on the path on which weights that come to zero stay there:
        that path loses all weights that are too many at once, the ray one after the other.
        """
        dr = part.sum(q)
        new = v.copy()
        t = loops.l1_face_step(new, q, penalty, float(pull @ q), float(dr @ dr))
        if t == 1.0:
            return new, t, dr
        dr *= t
        signs = np.sign(v)
        best = float((pull - penalty * signs) @ (new - v) + penalty @ (np.abs(new) - np.abs(v)) + 0.5 * (dr @ dr))
        length = 1.0
        while length > t:
            other = v + length * q
            other[(other * v <= 0.0) & (penalty > 0.0)] = 0.0
            step = other - v
            change = part.sum(step)
            self.passes += 1.0
            value = float(pull @ step + 0.5 * (change @ change))
            if value < best:
                return other, length, change
            length *= PROJECTED
        return new, t, dr

    def _by_columns(self, g: np.ndarray, violations: np.ndarray) -> np.ndarray:
        """p from the model over a working set; the others stay zero."""
        o = self.objective
        chosen = self._working_set(violations)
        if self.shy and (p := o.descend(chosen, self.passes, self.descent, DESCENT_LEFT)) is not None:
            return p
        columns = o.columns().weighted(chosen, o.c)
        self.share = columns.nnz / max(o.columns().nnz, 1)
        w, g, penalty, r = o.w[chosen], g[chosen], o.penalty[chosen], np.zeros(o.n)
        v, diagonal = w.copy(), columns.square_norms
        enough = max(self.loose * float(violations[chosen].max()), INNER_LEAST * float(np.abs(g).max()))
        if float(violations.max()) <= LATE and len(chosen) <= GRAM_BELOW:
            p = np.zeros(o.d)
            p[chosen] = self._solve(columns.gram(), g, w, penalty, violations[chosen])
            return p
        cg_steps, most = CG_FAR, 0.0
        if self.fall <= FAR:
            cg_steps, most = CG_STEPS, max(LEAST_WORK, MODEL_WORK * self.work) / max(self.share, 1e-300)
        first = True
        while columns.passes(g, penalty, v, r, self.passes, PASSES_COLUMNS, enough) > enough:
            if not first and (self.passes[0] >= most or self.monitor.ended()):
                break
            first = False
            face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
            part = columns.take(face)
            pull = g[face] + part.products(r) + penalty[face] * np.sign(v[face])
            small = self.ridge * diagonal[face] + 1e-300
            q, steps, _ = conjugate_gradient(
                lambda x, part=part, small=small: part.products(part.sum(x)) + small * x, -pull,
                diagonal[face] + small, CG_TOLERANCE, cg_steps, lambda: self.monitor.limit() is not None,
            )  # fmt: skip
            self.passes += 2 * steps
            v[face], t, dr = self._face_step(part, v[face], q, penalty[face], pull)
            r += dr
            if t < SHY_FACE:
                self.ridge = min(self.ridge * RIDGE_STEP, RIDGE_MOST)
            elif t == 1.0:
                self.ridge = max(self.ridge / RIDGE_STEP, RIDGE)
            if t == 1.0 and steps == cg_steps:  # the face is right: what is left is the linear system
                cg_steps *= 2
        if first:
            self.loose = max(0.5 * self.loose, INNER_TIGHT)
        p = np.zeros(o.d)
        p[chosen] = v - w
        return p
