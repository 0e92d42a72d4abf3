"""Proximal Newton with working sets.      min_w  |w|_1 + sum_i C_i l(y_i x_i.w)
Papers: G.-X. Yuan, C.-H. Ho and C.-J. Lin, An Improved GLMNET for L1-regularized Logistic Regression, Journal of
Machine Learning Research 13 (2012) 1999-2030: Algorithm 1 (newGLMNET), eqs. (12), (13).  M. Massias, A. Gramfort and
J. Salmon, Celer: a Fast Solver for the Lasso with Dual Extrapolation, ICML 2018: growing working sets (Section 4).

Notation   paper: w   d   H   grad L     q(d)            code: w   p = v - w   H   g   the model
Differs from the papers in:
 1. l is the squared hinge as well; its H is that of the rows with a positive slack.
 2. H is not made regular by a multiple of I: the curvature of a row has a floor that follows its slope instead
    (MIN_CURVATURE_RATIO in compiled/loops/loss/logistic_loops.py), whatever the scale of the features.  A step
    ends where f falls no more on the search direction (at t = 1 at most), not by Armijo's rule on powers of a constant.
 3. Where d is small the model is held as a matrix; for dense rows over the weights that it can move alone, where
    these are few.  Epochs over it cost little compared with a pass over the rows.  A factorised system of the
    non-zero weights ends them, as far as the first weight that becomes zero.  The logistic loss keeps its matrix for
    the next step while violations fall fast, and adds to it only what rows whose curvature changed by much bring.
 4. Where d is large epochs go over the columns of a working set: weights that are not zero, and the
    largest violations, as many as there are non-zero weights.  Violations take the place of Celer's distances.
    Between epochs the weights that are not zero move together, by conjugate gradients on the model's matrix plus a
    share of its diagonal: columns that depend on each other (one-hot features) would else make long steps that the
    breakpoints of |w|_1 cut short.  Weights that reach zero stay there while the others move on.
 5. With many rows the first guess is the solution for a random subset; where d is large, that for smaller costs,
    which grow tenfold.
 6. Models are solved less accurately far from the end, where each holds for a part of the way only.  After a step
    that its model made too long the logistic loss has a model that lies above it (L1Logistic.widen).
 7. Before all that, where d is large, weights of the logistic loss are left out that no slopes of its rows can move.
 8. Where d is large the squared hinge continues by the method of multipliers (objectives/l1/dual.py) where the model
    is accurate only near w, or does not halve the gap within its share of the work; the two alternate
    from there.
 9. Once its steps have taken half as much work as an interior-point run takes at most (objectives/l1/interior.py;
    either in about this many multiplications), that run takes over: badly scaled features and large costs make Newton
    steps short, but leave the number of interior-point iterations nearly the same.  Newton steps over the nonzero
    weights then make the zeros exact (`sparse`).  It also takes over where rounding or no progress ends the other
    methods.
10. The lower bound is the better one of two: at the slopes of the losses, and at those that the model has where the
    step ends (evaluate_model).
Files: the outer steps, 5 and 10 here; 8, 9 and the end of a run in state.py; the models of 3 and 4 in model.py; 6 in
all of them; 1, 2 and 7 in objectives/l1/objective.py.
Stops when: the certified relative gap reaches the target; -e asks for L1_GAP_AN_EPS e (Rule.gap).  -e also ends a run
where V = sum_j |violation_j| is at most RULE_SHARE of what LIBLINEAR's rule allows, e max(1, min(pos, neg)) / l times
that at w = 0, and the gap is at most SLOW_MIN_GAP; the run's budget begins there, too.
Memory: 5 vectors of n, 6 of d; d x d twice where d is small, else the rows once more by columns, and once for the
working set.
"""

from __future__ import annotations

import numpy as np

from svmtool.limits import EndedError
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.objective import L1Objective, of_task
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import state
from svmtool.solvers.l1.model import SHORT_STEP
from svmtool.solvers.l1.state import L1State
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status, bias_only, rounded
from svmtool.solvers.shared.sample import MIN_GROUP, SAMPLE_GAP, SAMPLE_ROUNDS, sample_group
from svmtool.solvers.shared.stalling import VALUE_RTOL
from svmtool.tolerances import GRAM_BELOW, NEWTON_RTOL, SUFFICIENT_DECREASE

# The solution for the sample need not be exact: as on a path, below.  Without it 15 sets take 1.03 times the CPU time
# of whole commands (-s 6; covtype, 7 classes: 1.2 times), and with -s 5, C = 100 covtype ends with a gap of 0.86 in
# place of 5e-12
SAMPLE_FALL = 1e-2
PATH_FALL = 0.1  # or, where the loss is smooth, a step on that path that lowers f by no more than this share

MATRIX = "proximal Newton steps, models held as a matrix"
METHODS = {
    "bias": state.L1_BIAS,
    "matrix": MATRIX,
    "matrix-sampled": MATRIX + ", from the solution for a sample of the rows",
    "columns": "proximal Newton steps, models over columns of a working set",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose the form of the models and whether a sample gives the first guess."""
    d = task.rows.d
    if task.bias_only_solution(state.ZERO_LOSS_MARGIN) is not None:
        return Plan("bias", state.L1_BIAS_WHY)
    if d > GRAM_BELOW:
        return Plan("columns", f"{d} features, more than {GRAM_BELOW}")
    sampled = "-sampled" if start is None and sample_group(task.rows) >= MIN_GROUP else ""
    return Plan("matrix" + sampled, f"{d} features, at most {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None, or if those are better); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(state.ZERO_LOSS_MARGIN))
    objective = of_task(task)
    kept = objective.possible() if method == "columns" else None
    if kept is not None:
        objective, start = objective.narrowed(kept), None if start is None else start[kept]
    if start is None and method.endswith("-sampled"):
        group = max(sample_group(task.rows), MIN_GROUP)
        start = _first_guess(objective.sample(group, seed), monitor)
    run = ProximalNewton(objective, monitor, rule, method)
    w = np.zeros(objective.d)
    if start is not None:
        objective.set_point(start)
        if objective.value() <= objective.value_at_zero():
            w[:] = start
    status = run.from_weights(w)
    if kept is not None:
        w, part = np.zeros(task.rows.d), w
        w[kept] = part
    return Result(w, status, monitor.iterations, monitor.history, run.alpha)


def _first_guess(subset: L1Objective, monitor: Monitor) -> np.ndarray:
    """The minimiser over a subset of the rows, or zeros where it has so many weights that chance fits them."""
    run = ProximalNewton(subset, monitor.child(SAMPLE_GAP, SAMPLE_ROUNDS), Rule(), "matrix")
    run.least_fall, run.interior_after = SAMPLE_FALL, np.inf
    run.max_used = min(np.count_nonzero(subset.y > 0.0), np.count_nonzero(subset.y < 0.0))
    w = np.zeros(subset.d)
    run.from_weights(w)
    return w if np.count_nonzero(w) <= run.max_used else np.zeros(subset.d)


class ProximalNewton(L1State):
    """The outer steps by one of METHODS, from the best of the possible starts."""

    def __init__(self, objective: L1Objective, monitor: Monitor, rule: Rule, method: str):
        super().__init__(objective, monitor, rule, method == "columns")
        self._text = METHODS[method]

    def from_weights(self, w: np.ndarray) -> Status:
        """Minimise from w (f8[d], overwritten by the solution); returns why the run ended."""
        o = self.objective
        if self.wide or self.rule.gradient is not None:
            self._choose_start(w)
        o.set_point(w)
        status = self.steps()
        w[:] = o.w
        if status is base.PRECISION and self.interior_after < np.inf:
            o.set_point(w)
            status = self._by_interior_point() or status
            w[:] = o.w
        return status

    def _choose_start(self, w: np.ndarray) -> None:
        """Compute the target of -e from the gradient at zero weights, and choose the start (w)."""
        o = self.objective
        o.set_point(np.zeros(o.d))
        g = o.gradient()[1]
        if self.rule.gradient is not None:
            self.max_violation = self.rule.gradient * float(o.violations(g).sum())
        if self.wide and not np.any(w):
            w[:] = self._along_path(float(np.abs(g).max(initial=0.0)))

    def _along_path(self, steepest: float) -> np.ndarray:
        """A first guess: the solution for smaller costs, found from that for still smaller ones.

        steepest: the largest slope at zero weights.
        """
        o, monitor = self.objective, self.monitor
        w, share = np.zeros(o.d), 1.0
        while share * steepest > state.MAX_FIRST_SLOPE:
            share *= state.PATH_FACTOR
        rounds = state.PATH_ROUNDS if monitor.max_iter is None else min(state.PATH_ROUNDS, monitor.max_iter)
        while share < state.PATH_FACTOR**0.5 and not monitor.ended():
            stage = o.at_costs(share)
            stage.set_point(w)
            run = ProximalNewton(stage, monitor.child(state.PATH_GAP, rounds), Rule(), "columns")
            run.least_fall, run.interior_after = PATH_FALL if o.logistic else -1.0, np.inf
            run.steps()
            w, share = stage.w, share / state.PATH_FACTOR
        return w

    def steps(self) -> Status:
        """Proximal Newton steps until the gap reaches the target."""
        o, monitor, model = self.objective, self.monitor, self.model
        previous, apart, stalled, t = np.inf, np.inf, 0, 0.0
        best, best_w = np.inf, o.w.copy()
        while True:
            monitor.uses(self._text)
            f, g = o.gradient()
            if not f <= best + VALUE_RTOL * abs(best):  # rounding has misled the search along the step
                o.set_point(best_w)
                return rounded(best, self.bound)
            if f < best:
                best, best_w[:] = f, o.w
            if o.bound > self.bound:
                self.bound, self.alpha = o.bound, o.dual_point()
            violations = o.violations(g)
            largest = float(violations.max(initial=0.0))
            status = monitor.step(
                f, self.bound, gradient=largest, active=int(np.count_nonzero(o.w)), cg=int(model.epochs[0]), step=t
            )
            if status is None:
                stalls = previous - f <= NEWTON_RTOL * abs(f) and f - self.bound > SUFFICIENT_DECREASE * apart
                stalled = stalled + 1 if stalls else 0
                apart = f - self.bound
                self.fall = (previous - f) / max(f, 1e-300)
                status = self._end(f, violations, stalled, not self.short)
            if status is not None:
                return status
            previous = f
            self.work += state.STEP_WORK + model.work
            # Eq. 13: the quadratic model's minimiser
            self.widened = self.short and not self.widened
            if self.widened:
                o.widen()
            model.max_work = self.interior_after  # a face of more weights than rows may take as long as such a run
            try:
                p = model.step(g, violations, self.fall, self.short, self.work)
            except EndedError:
                return monitor.end()
            t = o.best_step(p, g)
            self.short = t < SHORT_STEP
            if not self.short and o.evaluate_model(model.held) > self.bound:
                self.bound, self.alpha = o.bound, o.dual_point()
            o.step_to_zeros(t, p)
            self._count(state.STEP_WORK + (model.work if self.wide else 0.0), float(model.epochs[1]))
            if (self.short or model.epochs[1] >= model.max_work) and self.multiplications >= self.interior_after:
                self.interior_after = model.max_work = np.inf
                status = self._by_interior_point()
                if status is not None:
                    return status
                previous = np.inf
                continue
            at_once = self.short and self.dual is None  # a model that is accurate only near w
            if self.has_multipliers and self.halves_slowly(relative_gap(f, self.bound), at_once):
                status = self._by_dual()
                if status is not None:
                    return status
                previous = np.inf
            elif self.short:
                model.went_short()
