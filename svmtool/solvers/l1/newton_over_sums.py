"""Proximal Newton for |w|_1 by sums over the rows only, which the partitions of a cluster can compute.

    min_w  |w|_1 + sum_i C_i l(y_i x_i.w)

Paper: G.-X. Yuan, C.-H. Ho and C.-J. Lin, An Improved GLMNET for L1-regularized Logistic Regression, Journal of
Machine Learning Research 13 (2012) 1999-2030: Algorithm 1 (newGLMNET), eqs. (12), (13).
Notation   paper: w   d   H   grad L     q(d)            code: w   p = v - w   H   g   the model
Does what proximal_newton.py does with rows in memory, and differs from it in:
 1. No coordinate pass goes over columns.  The model is a matrix over a working set: the weights that are not zero, and
    of the others those with the largest violations.
 2. Where that set is too large for a matrix its model is minimised by products: a proximal step by the diagonal of H
    moves weights away from zero, conjugate gradients then move those that are not zero together.
 3. The slope of f decides where a step ends: a few numbers for each t, on the search direction as far as t = 1.
Stops when: the certified relative gap reaches the target; -e asks for 1e-4 times itself (see GapRule.gap).
Memory: 6 vectors of d, and a matrix of the working set.
"""

from __future__ import annotations

import numpy as np

from svmtool.limits import EndedError
from svmtool.linalg.systems import conjugate_gradient
from svmtool.objectives.base import balance
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.objective import violations_at
from svmtool.objectives.logistic import Logistic
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import model, state
from svmtool.solvers.l1.model import NEWTON_STALL_STEPS, face_step, matrix_fits, next_ridge, step_of_matrix, working_set
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status, bias_only, rounded
from svmtool.tolerances import GRAM_BELOW, NEWTON_RTOL, OPTIMAL_GAP

# Measured at C = 1 to a gap of 1e-4, -s 5 and 6, in two partitions of up to 5000 rows of a9a, australian, madelon,
# splice, mushrooms, w8a, cod-rna, kdd99, magic04, dorothea, arcene, farm-ads, imdb.tfidf and polarity2.bigram: passes
# in ratio to those of the values that stand here, mean and worst.  15, 50 or 200 steps of conjugate gradients in place
# of FAR_CG_STEPS: 1.00, 1.00.  MAX_SYSTEMS 5, 10, 80: 0.99, 1.20; 1.00, 1.27; 1.01, 1.17.  MAX_END_SLOPE 0.01, 0.3,
# 0.5: 1.10, 16.5; 0.96, 3.2; 0.87, 1.75.  MIN_SET_SIZE 50, 800: 0.97, 3.8; 1.13, 15.2.  No path: 1.26, 17; from 10:
# 1.06, 14; with PATH_GAP 0.1, 0.03: 1.00, 1.21; 0.97, 1.24.  Matrices up to 300 weights: 2.4, 43; up to 4000: 0.93,
# 1.00, each of 128 MB.
MAX_END_SLOPE = 0.1  # share of the slope at t = 0 at which a search along a step ends
MAX_TRIALS = 60  # most values of t in a search: where the slope jumps at a zero of a weight, no t has such a slope
BRACKET_RTOL = 1e-3  # a bracket of t this narrow, relative, holds such a jump
MAX_SYSTEMS = 20  # most of them for a model


METHODS = {
    "bias": state.L1_BIAS,
    "direct": "proximal Newton steps by sums over the rows",
    "path": "proximal Newton steps by sums over the rows, from the solutions for smaller costs",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose where steps begin."""
    d = task.rows.d
    if task.bias_only_solution(state.ZERO_LOSS_MARGIN) is not None:
        return Plan("bias", state.L1_BIAS_WHY)
    if matrix_fits(d):
        return Plan("direct", f"{d} features, at most {GRAM_BELOW}")
    return Plan("path", f"{d} features, more than {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None, or if those are better); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(state.ZERO_LOSS_MARGIN))
    run = NewtonOverSums(task, monitor, rule, method)
    status = run.from_weights(start)
    return Result(run.losses.w, status, monitor.iterations, monitor.history)


class NewtonOverSums:
    """One run: its losses, limits and the penalty of each weight."""

    def __init__(self, task: Task, monitor: Monitor, rule: Rule, method: str):
        self.logistic, self.monitor, self.rule = task.target is not None, monitor, rule
        self.losses = task.objective(Logistic if self.logistic else SquaredHinge)
        self.wide = method == "path"
        self._single = np.ones(task.rows.d)
        if task.free_bias:
            self._single[-1] = 0.0
        self.products, self._ridge = 0, model.RIDGE_FIRST

    def from_weights(self, start: np.ndarray | None) -> Status:
        """Minimise from the better one of `start` and the end of a path; returns the status."""
        o, monitor = self.losses, self.monitor
        if start is not None and np.any(start):
            o.set_point(start)
            if o.loss_and_slope()[0] + float(self._single @ np.abs(start)) <= o.value_at_zero():
                return self._steps(1.0, monitor, self.rule.gap)
        o.set_point(np.zeros(o.d))
        if self.wide:  # with smaller costs, which are larger penalties, first
            factor, steepest = 1.0, float(np.abs(o.loss_and_slope()[1]).max(initial=0.0))
            while steepest > state.MAX_FIRST_SLOPE * factor:
                factor /= state.PATH_FACTOR
            while factor > state.PATH_FACTOR**-0.5 and not monitor.ended():
                self._steps(factor, monitor.child(None, state.PATH_ROUNDS), state.PATH_GAP)
                factor *= state.PATH_FACTOR
        return self._steps(1.0, monitor, self.rule.gap)

    def _steps(self, factor: float, monitor: Monitor, gap_tol: float) -> Status:
        """Steps on factor |w|_1 + the losses until the gap reaches the target, or `gap_tol`; why they ended."""
        o = self.losses
        self.penalty = penalty = factor * self._single
        previous, bound, stalled, t = np.inf, 0.0, 0, 0.0
        while True:
            loss, g = o.loss_and_slope()
            f = loss + float(penalty @ np.abs(o.w))
            bound = max(bound, self._dual_value(g, factor))
            violations = violations_at(o.w, g, penalty)
            largest = float(violations.max(initial=0.0))
            status = monitor.step(
                f, bound, gradient=largest, active=int(np.count_nonzero(o.w)), cg=self.products, step=t
            )
            gap = relative_gap(f, bound)
            stalled = stalled + 1 if previous - f <= NEWTON_RTOL * abs(f) else 0
            if status is None and (gap <= OPTIMAL_GAP or largest == 0.0):
                status = base.OPTIMAL
            if status is None and gap <= gap_tol:
                status = base.RULE
            if status is None and stalled >= NEWTON_STALL_STEPS:
                status = rounded(f, bound)
            if status is not None:
                return status
            self._far, previous = previous - f > model.FAR_DECREASE * f, f
            try:
                p = self._model_step(g, violations)
            except EndedError:
                return monitor.end()
            t = self._search(p, g)
            if t == 0.0:
                return rounded(f, bound)
            used = np.flatnonzero(o.w)
            old = o.w[used]
            o.step(t, p)
            o.w[used[np.abs(o.w[used]) <= 1e-15 * np.abs(old)]] = 0.0

    def _dual_value(self, g: np.ndarray, factor: float) -> float:
        """The dual's value at the best feasible multiple of the slopes at w; g: their sum_i u_i x_i (length d)."""
        o, up, down = self.losses, 1.0, 1.0
        if o.free_bias:
            factors = balance(*o.sides())
            if factors is None:
                return 0.0
            up, down = factors
            g = np.array(factors) @ o.by_side
        steepest = float(np.max(self._single * np.abs(g), initial=0.0)) / factor
        max_multiple = 1.0 / steepest if steepest > 0.0 else np.inf
        if self.logistic:
            s = min(max_multiple, 1.0)
            return -float(o.multiplied_sums(s * up, s * down)[0])
        linear, conjugate = o.multiplied_sums(up, down)
        s = min(max_multiple, 0.5 * linear / conjugate) if conjugate > 0.0 else 0.0
        return s * (linear - s * conjugate)

    def _model_step(self, g: np.ndarray, violations: np.ndarray) -> np.ndarray:
        """p = v - w (length d) from the model over a working set; the others stay zero."""
        o, self.products = self.losses, 0
        used = o.w != 0.0
        used[o.rows.n_features :] = True
        chosen = working_set(used, violations, self.wide)
        p, part = np.zeros(o.d), (g[chosen], o.w[chosen], self.penalty[chosen], violations[chosen])
        if matrix_fits(len(chosen)):
            p[chosen] = step_of_matrix(o.part_of_hessian(chosen), *part, np.zeros(2), self.monitor, self._far)
        else:
            p[chosen] = self._step_of_products(chosen, *part)
        return p

    def _step_of_products(
        self, chosen: np.ndarray, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, violations: np.ndarray
    ) -> np.ndarray:
        """p = v - w for the minimiser v of the model with the features `chosen`, by products with its matrix."""
        o, v, slope = self.losses, w.copy(), g.copy()
        diagonal = o.rows.diagonal(o.c)[chosen]
        diagonal += 1e-300 + model.RIDGE_FIRST * float(diagonal.mean())
        share = model.LOOSE_TOLERANCE if self._far else model.MATRIX_TOLERANCE
        tolerance = max(share * float(violations.max()), model.MIN_TOLERANCE * float(np.abs(g).max()))

        def product(x: np.ndarray, where: np.ndarray = chosen) -> np.ndarray:
            self.products += 1
            whole = np.zeros(o.d)
            whole[where] = x
            return o.rows.curvature_product(o.c, whole)[where]

        for _ in range(MAX_SYSTEMS):
            # away from zero, as each weight alone would move
            q = v - slope / diagonal
            q = np.sign(q) * np.maximum(np.abs(q) - penalty / diagonal, 0.0) - v
            image = product(q)
            fall = -float(slope @ q + penalty @ (np.abs(v + q) - np.abs(v)))
            along = float(q @ image)
            t = min(1.0, fall / along) if along > 0.0 else 1.0
            v, slope = v + t * q, slope + t * image
            # and together
            face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
            where, face_gradient = chosen[face], slope[face] + penalty[face] * np.sign(v[face])
            small = self._ridge * diagonal[face]
            q, _, _ = conjugate_gradient(
                lambda x, where=where, small=small: product(x, where) + small * x, -face_gradient,
                diagonal[face] + small, model.MODEL_CG_RTOL, model.FAR_CG_STEPS, self.monitor.ended,
            )  # fmt: skip
            new, t = face_step(
                v[face], q, penalty[face], face_gradient, lambda x, where=where: float(x @ product(x, where))
            )
            self._ridge = next_ridge(self._ridge, t)
            v[face] = new
            slope = g + product(v - w)
            if float(violations_at(v, slope, penalty).max()) <= tolerance or self.monitor.ended():
                break
        return v - w

    def _search(self, p: np.ndarray, g: np.ndarray) -> float:
        """About the t in [0, 1] that minimises f(w + t p), g the slope of the losses at w; 0: f does not fall."""
        o = self.losses
        o.rows.margins(p, o.y, o.dz)
        moved = np.flatnonzero(p)
        w, q, penalty = o.w[moved], p[moved], self.penalty[moved]

        def slope(t: float) -> tuple[float, float]:
            losses, curvature = o.along(t).tolist()
            at = w + t * q
            signs = np.where(np.abs(at) > 1e-15 * np.abs(w), np.sign(at), np.sign(q))
            return losses + float((penalty * q) @ signs), curvature

        at_zero = float(g[moved] @ q) + float((penalty * q) @ np.where(w != 0.0, np.sign(w), np.sign(q)))
        if not at_zero < 0.0:
            return 0.0
        low, high, t = 0.0, 1.0, 1.0
        for k in range(MAX_TRIALS):
            rise, curvature = slope(t)
            if rise > 0.0:
                high = t
            else:
                low = t
            if abs(rise) <= -MAX_END_SLOPE * at_zero or low == 1.0:
                return t
            if low > 0.0 and high - low <= BRACKET_RTOL * high:
                break
            new = t - rise / curvature if curvature > 0.0 else low
            t = new if low < new < high and k % 3 < 2 else 0.5 * (low + high)
        return low
