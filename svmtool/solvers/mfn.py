"""L2-SVM-MFN: modified finite Newton.      min_w  1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2
Paper: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale
Linear SVMs, Journal of Machine Learning Research 6 (2005) 341-361.  Algorithm of Section 4 and Appendix A.

Notation   paper: beta   lambda   I(beta)       delta   y_i(beta)      code: w   1 / (2 C)   active rows   t   x_i.w
Differs from the paper in:
 1. C in place of lambda, one C_i for each row, R = I or with 0 for a free bias: LIBLINEAR's objective.
 2. Where d is small the least squares problem on the active rows is solved by a factorised Gram matrix,
    updated by the rows that changed (Section 4.3 prefers CGLS: its rows were sparse and d large).
 3. CGLS is preconditioned by the Hessian's diagonal.
 4. The ray's minimiser is found by safeguarded Newton steps on phi' instead of sorted kinks (exact all the same).
 5. Heuristic 3 (start on a random subset) is always used where rows abound, a coordinate pass (see 6)
    where they do not; heuristics 1 and 2 (few CG steps first, then a loose and a tight tolerance) come from
    one schedule of CG tolerances.
 6. Where d is large and a dual point exists, coordinate passes give the first guess (Section 4.1's
    "inexpensive method") and end the run where they certify first.  Where they are slow and few rows are
    active, least squares on the active rows is solved by a factorised system of that many unknowns.
Stops when: the active rows repeat after a full step (Theorem 1: the exact minimiser), or -e or --gap holds.
Memory: 5 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.dual_passes import DualPasses
from svmtool.problem.linalg import conjugate_gradient, solve_positive
from svmtool.problem.rows import CsrRows
from svmtool.problem.squared_hinge import SquaredHinge
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import Monitor, Result, Rule, Status

GRAM_BELOW = 1500  # features up to which the Gram matrix is formed
CG_CAP_FIRST = 10  # heuristic 1: CG steps of the first least squares problem
CG_LOOSE, CG_TIGHT = 1e-2, 1e-6  # heuristic 2: the paper's two values of eps in (13)
CG_BRIEF, CG_BRIEF_STEPS = 0.1, 8  # a first step that only looks round, where rows are long and a Gram matrix dear;
CG_BRIEF_SUM = 16  # such steps go on while CG needs few products, up to this many in all
LONG_ROWS = 64  # non-zeros a row from which a product is that much cheaper than a Gram matrix
SAMPLE_GROUP = 16  # heuristic 3: the subset holds one row in this many ...
SAMPLE_ROWS_A_FEATURE = 16  # ... and at least this many rows for each feature
SAMPLE_ROWS = 400  # ... and this many in all;
SAMPLE_GAP, SAMPLE_ROUNDS = 1e-3, 20  # its solution need not be exact
FIRST_PASSES = 1  # coordinate passes for a first guess where the subset would be too small
DUAL_PASSES = 1000  # coordinate passes before Newton steps take over ...
ROWS_SIDE = 4000  # ... or fewer, where no more rows than this are active: their system is then factorised
ROUNDED = 1e-8  # certified gap up to which an answer that rounding stopped is as good as exact
SURE = 1e-6  # certified gap at which -e may end factorised steps; they converge so fast that it costs a step or none
EXACT = 1e-12  # certified gap of an exact minimiser: what is left is rounding
FLAT = 1e-14  # relative decrease below which rounding has the last word


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    objective = SquaredHinge(task.rows, task.y, task.cost, task.free_bias, task.one_of_several)
    at_start = SURE if start is None else np.inf
    if objective.small:
        return _small(objective, monitor, rule, start, seed, at_start)
    objective.move(np.zeros(objective.d) if start is None else start)
    if objective.d <= GRAM_BELOW:
        if start is None:
            _first_guess(objective, monitor, seed)
        status = _newton(objective, monitor, rule, "features", at_start)
        return Result(objective.w, status, monitor.iterations, monitor.history)
    if not _passes_possible(objective):
        return Result(objective.w, _newton(objective, monitor, rule, "products"), monitor.iterations, monitor.history)
    passes = _passes_from(objective, seed)
    status = _coordinate_passes(objective, passes, monitor, rule)
    if status is not None:
        return Result(passes.w, status, passes.count, monitor.history, passes.alpha)
    support = np.flatnonzero(passes.alpha)
    if len(support) <= ROWS_SIDE:
        objective.move(objective.face(support))
        status = _newton(objective, monitor, rule, "rows")
    else:
        objective.move(passes.w)
        status = _newton(objective, monitor, rule, "products")
    return Result(objective.w, status, monitor.iterations, monitor.history)


SMALL_ENDS = (None, base.OPTIMAL, base.GAP, base.RULE, base.PRECISION)
SMALL_ROUNDS = 200


def _small(
    objective: SquaredHinge, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, at_start: float
) -> Result:
    """All rounds in one compiled call: a small problem is solved sooner than Python could follow it."""
    w = np.zeros(objective.d) if start is None else start.copy()
    if start is None and _sampling_pays(objective):
        objective.sample(SAMPLE_GROUP, seed).small_newton(w, SAMPLE_GAP, -1.0, 0.0, 0.0, SAMPLE_ROUNDS)
    enough = -1.0 if rule.gradient is None else rule.gradient * objective.gradient_at_zero()
    most = SMALL_ROUNDS if monitor.max_iter is None else min(SMALL_ROUNDS, monitor.max_iter + 1)
    gap = -1.0 if monitor.gap is None else monitor.gap
    records, code = objective.small_newton(w, gap, enough, at_start, SURE, most)
    status = None
    for f, bound, norm, active, t in records:
        status = monitor.step(f, bound, gradient=norm, active=int(active), cg=0, step=t)
    if SMALL_ENDS[code] is base.PRECISION:
        status = _rounded(*records[-1][:2])
    else:
        status = SMALL_ENDS[code] or status or base.ITERATIONS
    return Result(w, status, monitor.iterations, monitor.history)


def _first_guess(objective: SquaredHinge, monitor: Monitor, seed: int) -> None:
    """Move to the minimiser over a random subset of the rows (heuristic 3), or where a coordinate pass leads."""
    if _sampling_pays(objective):
        subset = objective.sample(SAMPLE_GROUP, seed)
        subset.move(np.zeros(objective.d))
        _newton(subset, Monitor(gap=SAMPLE_GAP, max_iter=SAMPLE_ROUNDS, stop=monitor.stop), Rule(), "features")
        objective.move(subset.w)
    elif _passes_possible(objective):
        passes = _passes_from(objective, seed)
        for _ in range(FIRST_PASSES):
            passes.run()
        objective.move(passes.w)


def _passes_possible(objective: SquaredHinge) -> bool:
    return isinstance(objective.rows, CsrRows) and DualPasses.possible(
        objective.rows, objective.cost, objective.free_bias
    )


def _passes_from(objective: SquaredHinge, seed: int) -> DualPasses:
    """Coordinate passes from the dual point that belongs to the objective's w."""
    alpha = objective.dual_point() if np.any(objective.w) else None
    upper = np.full(objective.n, np.inf)
    return DualPasses(objective.rows, objective.y, 0.5 / objective.cost, upper, seed, alpha)


def _sampling_pays(objective: SquaredHinge) -> bool:
    return objective.n >= SAMPLE_GROUP * max(SAMPLE_ROWS, SAMPLE_ROWS_A_FEATURE * objective.d)


def _newton(objective: SquaredHinge, monitor: Monitor, rule: Rule, side: str, at_start: float = SURE) -> Status:
    """Newton steps with the exact ray search from the objective's w; returns why they ended.

    at_start: certified gap at which the rule may end the run where it starts, with factorised features.
    side says how least squares on the active rows is solved: "features" by a factorised d x d matrix, "rows"
    by one with a row for each active row, "products" by conjugate gradients.
    """
    warm = bool(np.any(objective.w))
    enough = -1.0 if rule.gradient is None else rule.gradient * objective.gradient_at_zero()
    brief = CG_BRIEF_SUM if side == "features" and objective.mean_row_length >= LONG_ROWS else 0
    previous, exact, flat = np.inf, False, 0
    best, best_w = float(np.sum(objective.cost)), np.zeros(objective.d)  # f(0): a guess may be worse
    cg_steps, t = 0, 0.0
    for k in range(1 << 30):
        # Step 1: value, gradient and active rows I(w)
        f, g = objective.gradient()
        norm = float(np.sqrt(g @ g))
        bound = max(objective.bound, f - 0.5 * norm * norm) if not objective.free_bias else 0.0
        if f < best:
            best, best_w[:] = f, objective.w
        status = monitor.step(f, bound, gradient=norm, active=objective.active, cg=cg_steps, step=t)
        if status is None and norm <= enough and (side != "features" or f - bound <= (SURE if k else at_start) * f):
            status = base.RULE
        if status is None and (norm == 0.0 or f - bound <= EXACT * f or (exact and objective.changed == 0)):
            status = base.OPTIMAL
        if status is None:
            flat = flat + 1 if previous - f <= FLAT * abs(f) else 0
            status = _rounded(f, bound) if flat >= 3 else None
        if status is not None:
            if f > best and not status.converged:
                objective.move(best_w)
            return status
        previous = f
        # Step 2 (Section 4.3): least squares on the active rows, p = w_bar - w
        if brief > 0:
            p, cg_steps, few = conjugate_gradient(
                objective.hessian_product, g, objective.hessian_diagonal(), CG_BRIEF, CG_BRIEF_STEPS
            )
            p, exact, brief = -p, False, brief - cg_steps if few else 0
        elif side == "features":
            p, exact, cg_steps = -solve_positive(objective.hessian(), g), True, 0
        elif side == "rows" and objective.active <= ROWS_SIDE:
            p, exact = objective.face(objective.active_rows()) - objective.w, True
        else:
            tolerance = CG_LOOSE if k == 0 or (t < 0.9 and k < 5) else CG_TIGHT
            cap = CG_CAP_FIRST if k == 0 and not warm else 10 * objective.d
            p, cg_steps, exact = conjugate_gradient(
                objective.hessian_product, g, objective.hessian_diagonal(), tolerance, cap,
                lambda: monitor.limit() is not None,
            )  # fmt: skip
            p, exact = -p, exact and tolerance == CG_TIGHT
        # Step 3 (Section 4.4): exact minimiser on the ray
        t = objective.ray(p)
        objective.advance(t, p)
        exact = exact and abs(t - 1.0) <= 1e-9
    raise AssertionError


def _rounded(f: float, bound: float) -> Status:
    """Rounding lets nothing more happen: what the answer is worth."""
    return base.OPTIMAL if f - bound <= ROUNDED * f else base.PRECISION


def _coordinate_passes(objective: SquaredHinge, passes: DualPasses, monitor: Monitor, rule: Rule) -> Status | None:
    """Dual coordinate passes until the rule or the gap holds; None where Newton steps are the cheaper way on."""
    tolerance = base.SAFETY * rule.projected if rule.projected is not None else 1.0
    enough = rule.gradient * objective.gradient_at_zero() if rule.gradient is not None else -1.0
    spent = 0.0
    for _ in range(DUAL_PASSES):
        status = monitor.limit(passes.count)
        if status:  # cut short: early passes overshoot, so the best multiple of where they led is the answer
            objective.move(np.zeros(objective.d))
            passes.scale(objective.ray(passes.w))
            objective.move(passes.w)
            monitor.step(objective.value(), passes.dual_value(), gradient=0.0, active=objective.active, cg=0, step=1.0)
            return status
        spent += passes.run()
        if passes.spread > tolerance:
            if passes.enough(spent, ROWS_SIDE):
                return None
            continue
        if not passes.complete:
            passes.restore()
            continue
        objective.move(passes.w)
        if rule.gradient is None:
            f, norm = objective.value(), 0.0
        else:
            f, g = objective.gradient()
            norm = float(np.sqrt(g @ g))
        status = monitor.step(f, passes.dual_value(), gradient=norm, active=objective.active, cg=0, step=1.0)
        if status is None and (rule.projected is not None or norm <= enough):
            status = base.RULE
        if status is not None:
            return status
        tolerance *= 0.3
    return None
