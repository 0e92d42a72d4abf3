"""SVM-ALM, inexact (Algorithm 2 of the paper; see solvers/alm.py for the problem and the letters).

Each iteration: the e-step at w (Eqs. 11-13), one step on w and b with the optimal step size (Eqs. 16, 18), and the
multiplier step with the new w and the old e (Eq. 9); two products with the rows, and now and then a new mu.
Differs from the paper in:
 1. The gradient step is preconditioned: by a factor of the Hessian R + mu XX' where d is small, which is kept until
    mu has moved by more than MAX_MU_RATIO; elsewhere a few conjugate gradient steps with the diagonal come before them,
    to ADMM_CG_RTOL.  What a step leaves of its equations stays in those of the next.  With `inner_steps` = 1 it is the
    paper's plain gradient step, with larger values that many conjugate gradient steps.
 2. Over-relaxation (Eckstein, Bertsekas 1992): w and the multipliers see e as if its step had been RELAXATION times as
    long.
 3. C_i for each row, mu = C_i sigma; no start from w = 1 but from zero, which suits every scale.
 4. mu keeps the two residuals in balance (options.mu is None or "balance"): constraints |r|, as share of |e|, and their
    dual mu |e - e_old|, as share of |lambda| (Wohlberg 2017).  With "merit" it is the paper's Eq. 29, 1/2 w'w as the
    regulariser (the paper prints |w|_2), with "geometric" it grows; either runs away from the answer on most sets: a
    large mu leaves w where it is.
 5. Where the mean of the points since the last restart has the smaller gap, the run continues from it.
 6. Where d is large and the dual allows coordinate descent (p = 1 or 2, no free bias), a few epochs give the first w
    and multipliers.
 7. Where d is small and the iterations make no progress, or have cost as much as interior-point steps and would cost as
    much again at the rate at which the gap falls, these take over (interior_steps.py): few free rows, raw features and
    p near 1 take thousands of iterations.
Neither 2, 5, 6 nor 7 with `inner_steps` or with a mu that only grows.
Stops when: the certified relative gap reaches the target, else where iterations make no progress (`Progress`) or
would need more than MAX_ITERATIONS at the rate of the last half of them.
Memory: 18 vectors of n, 12 of d; d x d for the Gram matrix, the Hessian and its factor.  With interior-point steps 30
more of n and a second such set of matrices; none where the rows are on disk.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent, still_needed
from svmtool.limits import EndedError
from svmtool.linalg.systems import VISIT_NS, Factored, conjugate_gradient, mirror
from svmtool.objectives.admm import Admm
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.power_interior import PowerInterior
from svmtool.objectives.task import Task
from svmtool.solvers.alm_rounds import sigma_by_merit
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.solvers.shared.incumbent import Best
from svmtool.solvers.shared.interior_steps import NAME as INTERIOR
from svmtool.solvers.shared.interior_steps import Slower, interior_steps, possible
from svmtool.tolerances import GRAM_BELOW, RULE_MIN_GAP

MAX_MU_RATIO = 1.2  # largest ratio of two mu for which the same factor is used
ADMM_CG_RTOL, ADMM_CG_STEPS = 0.2, 16  # of conjugate gradients, relative to the gradient, where there are more features
GUESS_EPOCHS = 5  # of coordinate descent for a first guess
RELAXATION = 1.7
SIGMA_FIRST = 0.3  # mu(1) / C_i, which the paper leaves open
PAPER_SIGMA_MAX = 1e5  # the paper's cap on mu
BALANCE_RATIO, BALANCE_STEP = 2.0, 4.0  # factors: between the residuals, and of mu at once, at most
BALANCE_EVERY, BALANCE_REST = 5, 0.3  # iterations between two changes: at least this many, and this share of all so far
GEOMETRIC_GROWTH = 1.05  # factor of mu in each iteration, where it grows geometrically
MAX_ITERATIONS = 10000
ADMM_PRODUCTS, ADMM_SQUARE_NS = 3.0, 2.0  # of a factorised iteration: products with the rows, operations per d^2
# After so many iterations, and each doubling, a run ends that is predicted to need more than MAX_ITERATIONS
PREDICTION_ITERATIONS = 1024
# iterations after a restart when the mean is examined, and between evaluations
FIRST_AVERAGE, AVERAGE_GROWTH = 20, 1.5

METHODS = {
    "bias": BIAS,
    "primal": "ADMM iterations with a factorised matrix of the features",
    "epochs": "epochs of coordinate descent for a first guess, then ADMM iterations by conjugate gradients",
    "cg": "ADMM iterations by conjugate gradients",
    "inner-steps": "ADMM iterations by a given number of gradient steps",
    "interior": INTERIOR,
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features, the layout of the rows, the loss, the options and the start."""
    d, options = task.rows.d, task.options
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if options.inner_steps is not None:
        return Plan("inner-steps", f"--inner-steps {options.inner_steps}")
    if d <= GRAM_BELOW:
        return Plan("primal", f"{d} features, at most {GRAM_BELOW}")
    ours, plain = options.mu in (None, "balance"), task.p in (1.0, 2.0)
    if start is None and ours and plain and DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias):
        return Plan("epochs", f"{d} features, more than {GRAM_BELOW}")
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent here")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    o = task.objective(Admm, p=task.p, target=task.target)
    o.set_point(np.zeros(o.d) if start is None else start)
    if start is not None and task.p > 1.0:
        o.start_multipliers()
    o.sigma = SIGMA_FIRST
    balance = task.options.mu in (None, "balance")
    ours = balance and task.options.inner_steps is None
    best = Best(o)
    if method == "interior":
        status = interior_steps(PowerInterior(task, o.p), monitor, best)
        return Result(best.w, status, monitor.iterations, monitor.history, best.alpha)
    if method == "epochs" and start is None:
        _first_guess(o, best, seed, monitor)
    o.begin()
    step = _Step(o, task.options.inner_steps, RELAXATION if ours else 1.0, monitor, method == "primal")
    average = Average(o, step.residual_gradient)
    balanced, merit, before = BALANCE_EVERY, -np.inf, 1.0
    slower = None
    if ours and possible(task):
        step_ns = ADMM_PRODUCTS * VISIT_NS * o.rows.nnz + ADMM_SQUARE_NS * o.d * o.d
        slower = Slower(task, step_ns, monitor.gap or RULE_MIN_GAP)
    for k in range(MAX_ITERATIONS):
        # Step 1: e, and with it the gradient of the augmented Lagrangian in (w, b)
        _, g = o.gradient()
        best.keep()
        if average.due and (there := average.restart(best)) is not None:
            g = there
            balanced = max(balanced, k + 1)  # e has jumped
        norm = float(np.sqrt(g @ g))
        status = monitor.step(best.primal, best.dual, inner_gradient=norm, active=o.support, cg=step.cg, step=o.sigma)
        doubled = k & (k - 1) == 0  # k is 0 or a power of two
        if status is None and k >= PREDICTION_ITERATIONS and doubled:
            ahead = still_needed([before, best.gap], [k // 2, k], monitor.gap or RULE_MIN_GAP, 1)
            status = base.PRECISION if k + ahead > MAX_ITERATIONS else None
        if doubled:
            before = best.gap
        if status is None and not np.any(g) and o.moved == 0.0:
            status = base.OPTIMAL
        if slower and (status is base.PRECISION or (status is None and slower.shown(k, best.gap))):
            status = interior_steps(PowerInterior(task, o.p), monitor, best)
        if status is not None:
            break
        # Step 2: w and b
        e_loss = o.e_loss()
        try:
            step.weights(g)
        except EndedError:
            status = monitor.end()
            break
        # Step 3: the multipliers and mu
        if balance:
            o.multiply(o.sigma)
            if ours:
                average.add()
            if k >= balanced:
                balanced = k + max(BALANCE_EVERY, BALANCE_REST * k)  # at growing intervals, so that mu cannot cycle
                o.sigma *= step.imbalance()
            continue
        if task.options.mu == "geometric":
            sigma = min(GEOMETRIC_GROWTH * o.sigma, PAPER_SIGMA_MAX)
        else:
            rest = 0.5 * float(o.w @ o.regular(o.w)) + e_loss
            sigma, merit = sigma_by_merit(o.sigma, step.residual, rest, merit, PAPER_SIGMA_MAX)
        o.multiply(sigma)
        o.sigma = sigma
    return Result(best.w, status or base.PRECISION, monitor.iterations, monitor.history, best.alpha)


def _first_guess(o: Admm, best: Best, seed: int, monitor: Monitor) -> None:
    """Take w and the multipliers from a few epochs of coordinate descent."""
    descent = DualCoordinateDescent.of_power(o.rows, o.y, o.cost, o.p, seed, o.target)
    for _ in range(GUESS_EPOCHS):
        if not monitor.ended():
            descent.run()
    best.dual, best.alpha = descent.dual_value(), descent.alpha
    o.set_point(descent.w)
    np.divide(descent.alpha, o.cost, out=o.beta)


class _Step:
    """The steps of Algorithm 2 in (w, b), after gradient() of `o` made the one in e.

    residual: sum_i C_i r_i^2 after the last step, r of the constraints; cg: conjugate gradient steps in it.
    """

    def __init__(self, o: Admm, steps: int | None, relaxed: float, monitor: Monitor, factorised: bool):
        self.o, self.steps, self.relaxed, self.monitor = o, steps, relaxed, monitor
        self.cg, self.residual = 0, np.inf
        self.residual_gradient = np.zeros(o.d)  # the gradient of 1/2 w'Rw + sum C_i beta_i xi_i, 0 after an exact step
        self._moved = np.inf  # sum_i C_i (v_i - old v_i)^2, v = y e
        self._factor: Factored | None = None
        self._factor_sigma = 0.0
        self._gram: np.ndarray | None = None
        self._factorised = factorised
        if not self._factorised and steps != 1:
            self._squares = o.cost_diagonal()

    def weights(self, g: np.ndarray) -> None:
        """Eqs. 16 and 18 along a preconditioned gradient; with e fixed the Hessian is R + sigma X'CX.

        limits.EndedError where the run comes to its end before anything has changed.
        """
        o, sigma = self.o, self.o.sigma
        if self._factorised and self._gram is None:
            self._gram = mirror(o.cost_gram())
        relaxed_g = g if self.relaxed == 1.0 else self.residual_gradient + self.relaxed * (g - self.residual_gradient)
        p = self._direction(relaxed_g)
        inner = o.regular(p)
        curvature = float(p @ inner) + sigma * o.curvature_along(p)
        s = float(relaxed_g @ p) / curvature if curvature > 0.0 else 0.0
        if self.relaxed != 1.0:
            curved = self._gram @ p if self._gram is not None else o.curvature_product_of_step()
            self.residual_gradient[:] = relaxed_g - s * (sigma * curved + inner)
        o.w -= s * p
        self.residual, self._moved = o.step_rows(s, self.relaxed).tolist()

    def imbalance(self) -> float:
        """The factor of sigma that makes the two residuals more equal; 1 if they are nearly equal."""
        o = self.o
        e_size, xi_size, beta_size = o.sizes().tolist()
        primal = self.residual * beta_size
        dual = o.sigma**2 * self._moved * max(e_size, xi_size)
        if not (primal > 0.0 and dual > 0.0):
            return 1.0
        ratio = float(np.sqrt(primal / dual))
        if 1.0 / BALANCE_RATIO <= ratio <= BALANCE_RATIO:
            return 1.0
        return min(max(float(np.sqrt(ratio)), 1.0 / BALANCE_STEP), BALANCE_STEP)

    def _direction(self, g: np.ndarray) -> np.ndarray:
        """An approximation of H^-1 g, or g itself."""
        o, sigma = self.o, self.o.sigma
        if self.steps == 1:
            return g
        if self._gram is not None:
            if self._factor is None or not 1.0 / MAX_MU_RATIO <= sigma / self._factor_sigma <= MAX_MU_RATIO:
                H = sigma * self._gram
                H.flat[:: o.d + 1] += 1.0
                if o.free_bias:  # keeps the matrix regular where no row has any weight
                    H[-1, -1] += 1e-12 * H.flat[:: o.d + 1].max() - 1.0
                self._factor, self._factor_sigma = Factored(H), sigma
            return self._factor.solve(g)
        diagonal = sigma * self._squares + 1.0
        if o.free_bias:  # also where rows have almost no weight
            diagonal[-1] = max(sigma * self._squares[-1], 1e-12)

        def product(v: np.ndarray) -> np.ndarray:
            return sigma * o.cost_product(v) + o.regular(v)

        tolerance, max_steps = (ADMM_CG_RTOL, ADMM_CG_STEPS) if self.steps is None else (1e-8, self.steps)
        p, self.cg, _ = conjugate_gradient(product, g, diagonal, tolerance, max_steps, self.monitor.ended)
        return p


class Average:
    """The mean of the points since the last restart; the run continues from it if its gap is smaller than the last one.

    With few free rows (0 < alpha_i < C_i) the iterates oscillate around the solution.  All parts of a point are linear
    in (w, beta): a mean costs no product, only the check of it does.
    """

    def __init__(self, o: Admm, residual_gradient: np.ndarray):
        self.o = o
        self._point = o.w, residual_gradient  # the parts of length d; `o` has those of length n
        self._sums = [np.zeros_like(x) for x in self._point]
        self._count, self._evaluation_due = 0, FIRST_AVERAGE

    def add(self) -> None:
        """Take the present point into the mean."""
        for total, x in zip(self._sums, self._point, strict=True):
            total += x
        self.o.add_point()
        self._count += 1

    @property
    def due(self) -> bool:
        """Whether it is time for an evaluation."""
        return self._count >= self._evaluation_due

    def restart(self, best: Best) -> np.ndarray | None:
        """Go to the mean and return the gradient there if it is better than the present point; else None."""
        o = self.o
        here = relative_gap(o.primal, o.bound)
        kept = [x.copy() for x in self._point]
        for x, total in zip(self._point, self._sums, strict=True):
            np.divide(total, self._count, out=x)
        o.go_to_mean(self._count)
        _, g = o.gradient()
        best.keep()
        if relative_gap(o.primal, o.bound) < here:
            for total in self._sums:
                total[:] = 0.0
            o.drop_points()
            self._count, self._evaluation_due = 0, FIRST_AVERAGE
            return g
        for x, old in zip(self._point, kept, strict=True):
            x[:] = old
        o.restore_point()
        o.gradient()
        self._evaluation_due = int(AVERAGE_GROWTH * self._count) + 1
        return None
