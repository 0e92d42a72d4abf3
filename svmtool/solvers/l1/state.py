"""State of a run of proximal_newton.py: when it ends, and the methods that follow its Newton steps (9 and 10 there)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.limits import EndedError
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1 import interior
from svmtool.objectives.l1.dual import L1Dual
from svmtool.objectives.l1.interior import PASS_COST, L1Interior
from svmtool.objectives.l1.objective import L1Objective
from svmtool.solvers.l1.model import NEWTON_STALL_STEPS, ColumnsModel, MatrixModel, step_of_matrix
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, Status, rounded
from svmtool.solvers.shared.interior_steps import NAME
from svmtool.tolerances import OPTIMAL_GAP, RULE_SHARE, SLOW_MIN_GAP

ZERO_LOSS_MARGIN = 1000.0  # margin at which the logistic loss, too, is 0 up to round-off
MAX_FIRST_SLOPE = 100.0  # largest slope at zero weights up to which a run begins there; else with smaller costs
PATH_FACTOR, PATH_GAP, PATH_ROUNDS = 0.1, 0.3, 50  # factor of these costs; gap and steps that suffice there
MULTIPLICATION_NS = 0.3  # nanoseconds of a multiplication, for the budget of a run
# Work of other steps before an interior-point run, as share of what that takes at most.  CPU time compared with 1.0 on
# fifteen sets of 36 to 62,061 features (text, one-hot, raw, images; C = 1, 100, 1e4, at most 40 s): 0.85 to 1.15 times,
# most of it noise; on 341 rows of banking77 at C = 1e4, whose 77 runs all get there, 0.8 times
L1_INTERIOR_SHARE = 0.5
STALL_WORK, STALL_SHARE = 800.0, 0.5  # a method continues while so much work brings the gap to that share
STALL_WORK_GROWTH = 4.0  # STALL_WORK grows by this factor each time that both methods have run
MAX_SUPPORT_STEPS = 20  # most Newton steps over the nonzero weights
FACE_STEP_SHARE = 0.9  # another step follows if the last left at most this share of the gap at the slopes
STEP_WORK = 6.0  # of a step without its model: products with all rows, and with the working set

CROWDED = Status("crowded", False, "more weights than rows of a class: a subset that small is fitted by chance")

L1_BIAS = "the bias alone: every loss is 0 up to round-off"
L1_BIAS_WHY = "one value of the free bias fits all rows"


class L1State:
    """One run: the best dual point so far, and the work.  wide: models over columns, not held as a matrix."""

    def __init__(self, objective: L1Objective, monitor: Monitor, rule: Rule, wide: bool = False):
        self.objective, self.monitor, self.rule, self.wide = objective, monitor, rule, wide
        self.model = ColumnsModel(objective, monitor) if self.wide else MatrixModel(objective, monitor)
        self.bound, self.alpha = -np.inf, None
        self.short = False  # whether the last step was short: the model is accurate only near w
        self.widened = False  # whether the last model was an upper bound of the loss; Newton's alternate with it
        self.max_used = objective.d  # weights that may differ from zero
        self.fall = np.inf  # share of f by which the last step lowered it
        self.least_fall = -1.0  # the share at which a first guess is good enough
        self.max_violation = -1.0  # the sum of violations at which LIBLINEAR's rule holds
        self.work = 0.0  # so far
        self.has_multipliers = wide and not objective.logistic and not objective.free_bias
        self.dual: L1Dual | None = None  # the method of multipliers, once it has run
        self._patience, self._since, self._gap = STALL_WORK, 0.0, np.inf  # the gap to halve, and the work then
        self.multiplications = 0.0  # about those of all steps; at `interior_after` the interior-point method runs, once
        self.interior_after = np.inf
        if L1Interior.possible(objective):
            self.interior_after = L1_INTERIOR_SHARE * L1Interior.cost(objective)

    def _count(self, work: float, more: float = 0.0) -> None:
        """Add to `multiplications`: work in passes over the rows, and more multiplications."""
        work = PASS_COST * work * self.objective.rows.nnz + more
        self.multiplications += work
        self.monitor.spend(MULTIPLICATION_NS * work)

    def halves_slowly(self, gap: float, at_once: bool = False) -> bool:
        """Whether the other method is next: the gap was not halved within the work that one may take, or at_once."""
        if gap <= STALL_SHARE * self._gap:
            self._since, self._gap = self.work, gap
        if self.work - self._since < self._patience and not at_once:
            return False
        self._since, self._gap = self.work, gap
        return True

    def _by_dual(self) -> Status | None:
        """Continue by the method of multipliers; None where Newton steps are next again."""
        w = self.objective.w.copy()
        self.monitor.uses("method of multipliers", "Newton steps are short, or did not halve the gap")
        if self.dual is None:
            self.dual = L1Dual(self.objective, w)
        else:  # the method continues from its last point
            self._patience *= STALL_WORK_GROWTH

        def over(gap: float) -> bool:
            return self.halves_slowly(gap) or self.multiplications >= self.interior_after

        return self._follow(self.dual, w, over)

    def _by_interior_point(self) -> Status | None:
        """Continue by an interior-point method; None if rounding ended the method but not the run."""
        o, path = self.objective, L1Interior(self.objective)
        self.monitor.uses(NAME, "the other methods have used half of its expected cost, or make no progress")
        status = self._follow(path, o.w.copy(), path.over)
        w, f = o.w.copy(), o.value()
        gap_tol = self.rule.gap if self.monitor.gap is None else self.monitor.gap
        if path.identified:
            try:
                value, other = sparse(o, w, path.used(), gap_tol, self.monitor)
            except (EndedError, SvmtoolError):  # a limit ends it, or numbers overflow
                value, other = np.inf, w
            if value <= f or (status is not None and relative_gap(value, self.bound) <= gap_tol):
                w, f = other, value
            o.set_point(w)
        g = o.gradient()[1]
        if o.bound > self.bound or relative_gap(f, o.bound) <= gap_tol:  # slopes at w violate no condition on rows
            self.bound, self.alpha = o.bound, o.dual_point()
        self.monitor.step(
            f, self.bound, gradient=float(o.violations(g).max(initial=0.0)), active=int(np.count_nonzero(w)),
            cg=0, step=path.sigma,
        )  # fmt: skip
        return status

    def _follow(self, dual: L1Dual | L1Interior, w: np.ndarray, over: Callable[[float], bool]) -> Status | None:
        """Continue by another method from the weights w until the run ends, or over(gap) says that the method does.

        The objective moves to the best weights.
        """
        o, monitor = self.objective, self.monitor
        best, best_w, done = np.inf, w.copy(), dual.work
        o.set_point(w)
        violations = o.violations(o.gradient()[1])
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
            self._count(dual.work - done)
            status = monitor.step(
                best, self.bound, gradient=float(violations.max(initial=0.0)), active=int(np.count_nonzero(best_w)),
                cg=int(dual.work - done), step=dual.sigma,
            )  # fmt: skip
            done = dual.work
            status = status or self._end(best, violations, 0, dual is self.dual)
            if status in (base.GAP, base.RULE) and not dual.identified:
                status = monitor.limit()
            if status is not None:
                o.set_point(best_w)
                return status
            if over(relative_gap(best, self.bound)):
                o.set_point(best_w)
                return None
            try:
                o.set_point(dual.step())
            except EndedError:
                o.set_point(best_w)
                return monitor.end()
            except SvmtoolError:  # its systems overflow
                o.set_point(best_w)
                return None

    def _end(self, f: float, violations: np.ndarray, stalled: int, fall_counts: bool) -> Status | None:
        """Status if a rule other than --gap and the limits ends the run here, else None.

        fall_counts: whether the last fall of f estimates what is left to gain, which that of a short step does not.
        """
        if np.count_nonzero(self.objective.w) > self.max_used:
            return CROWDED
        gap = relative_gap(f, self.bound)
        total = float(violations.sum())
        if gap <= OPTIMAL_GAP or total == 0.0:
            return base.OPTIMAL
        met = total <= RULE_SHARE * self.max_violation
        if met:
            self.monitor.liblinear_ends()
        if gap <= max(self.rule.gap, SLOW_MIN_GAP if met else -1.0) or (fall_counts and self.fall <= self.least_fall):
            return base.RULE
        return rounded(f, self.bound) if stalled >= NEWTON_STALL_STEPS else None


def sparse(
    objective: L1Objective, w: np.ndarray, used: np.ndarray, gap: float, monitor: Monitor
) -> tuple[float, np.ndarray]:
    """Make zeros exact after interior-point steps: Newton steps from w over the weights `used` (bool[d]) alone.

    Returns the objective's value and the weights (f8[d]), zero where they are not in `used`.  gap: the relative one
    that is small enough, by the lower bound at the losses' slopes.
    """
    o = objective
    o.set_point(np.where(used | (o.penalty == 0.0), w, 0.0))
    used = used.copy()
    used[o.rows.n_features :] = True  # the bias: `part_of_hessian` has it
    chosen, epochs, previous, lowest = np.flatnonzero(used), np.zeros(2), np.inf, np.inf
    if not 0 < len(chosen) <= interior.MAX_ORDER:
        return o.value(), o.w.copy()
    for _ in range(MAX_SUPPORT_STEPS):
        value, g = o.gradient()
        relative = relative_gap(value, o.bound)
        if relative <= gap or (value >= lowest and relative > FACE_STEP_SHARE * previous) or monitor.ended():
            break
        previous, lowest = relative, min(value, lowest)
        violations = o.violations(g)
        H, part = o.part_of_hessian(chosen), (g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen])
        p = np.zeros(o.d)
        p[chosen] = step_of_matrix(H, *part, epochs, monitor)
        o.step_to_zeros(o.best_step(p, g), p)
    return o.value(), o.w.copy()
