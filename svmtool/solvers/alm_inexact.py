"""SVM-ALM, inexact (Algorithm 2 of the paper; see solvers/alm.py for the problem and the letters).

Each iteration: the e-step at w (Eqs. 11-13), one gradient step on w and b with the optimal step size (Eqs. 16, 18),
a new mu, and the multiplier step with the new w and the old e (Eq. 9).  Two products with the rows.
Differs from the paper in:
 1. The step is the first one of conjugate gradients on the least squares problem (14) that Algorithm 1 solves
    exactly.  More of them cost one more pass each; `inner_steps` = 1 is the paper's form, None starts there and
    doubles their number each time the certified gap has not halved in PATIENCE iterations.
 2. C_i for each row, mu = C_i sigma; no start from w = 1 but from zero, which serves every scale.
 3. mu keeps the two residuals in balance (task.mu is None or "balance"): constraints |r| and their dual mu |e - e_old|.
    With "merit" it is the paper's Eq. 29, 1/2 w'w as the regulariser (the paper prints |w|_2), with "geometric" it
    grows; either runs away from the answer on most sets: a large mu leaves w where it is.
Stops when: the certified relative gap is as small as asked for, else after MOST_ITERATIONS, and says which.
Memory: 10 vectors of n, 8 of d.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.augmented import Augmented
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import Monitor, Result, Rule
from svmtool.solvers.best import Best

SIGMA_FIRST = 1.0  # mu(1) / C_i, which the paper leaves open
SIGMA_MOST = 1e5  # the paper's cap on mu
BALANCE, BALANCE_STEP = 10.0, 2.0  # squared residuals may differ so much; mu's change
BALANCE_EVERY, BALANCE_REST = 5, 0.3  # iterations between two changes: at least so many, and this share of all so far
GROWTH = 1.05  # of mu an iteration, where it grows geometrically
PATIENCE = 20  # iterations in which the gap shall halve
MOST_STEPS = 16  # conjugate gradient steps an iteration
MOST_ITERATIONS = 10000


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if (answer := task.one_sided_answer()) is not None:
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(answer, base.OPTIMAL, monitor.iterations, monitor.history, np.zeros(task.rows.n))
    o = Augmented(task.rows, task.y, task.cost, task.p, task.free_bias, task.target)
    o.move(np.zeros(o.d) if start is None else start)
    if start is not None and task.p > 1.0:
        o.start_multipliers()
    o.sigma = SIGMA_FIRST
    steps, fixed = (1, False) if task.inner_steps is None else (task.inner_steps, True)
    best = Best(o)
    aim, since, balanced = np.inf, 0, BALANCE_EVERY
    merit = 0.0
    for k in range(MOST_ITERATIONS):
        # Step 1: e, and with it the gradient of the augmented Lagrangian in (w, b)
        _, g = o.gradient()
        best.keep()
        gap, norm = best.gap, float(np.sqrt(g @ g))
        status = monitor.step(best.primal, best.dual, gradient=norm, active=o.support, cg=steps, step=o.sigma)
        if status is None and not np.any(g) and o.moved == 0.0:
            status = base.OPTIMAL
        if status is not None:
            return Result(best.w, status, monitor.iterations, monitor.history, best.alpha)
        if gap <= 0.5 * aim:
            aim, since = gap, 0
        since += 1
        if since > PATIENCE and not fixed:
            steps, since, aim = min(2 * steps, MOST_STEPS), 0, gap
        # Step 2: w and b
        e_loss = o.e_loss()
        residual = o.step_with_fixed_e(g, steps)
        # Step 3: mu, as large as keeps the merit function of Lemma 3 from growing (Eq. 29), and the multipliers
        rest = 0.5 * float(o.w @ o.regular(o.w)) + e_loss
        sigma = o.sigma
        if task.mu == "geometric":
            sigma = min(GROWTH * sigma, SIGMA_MOST)
        elif task.mu == "merit":
            grown = (merit - rest) / (0.5 * residual) if residual > 0.0 and k > 0 else 0.0
            sigma = min(max(sigma, grown), SIGMA_MOST)
        elif k >= balanced:
            balanced = k + max(BALANCE_EVERY, BALANCE_REST * k)  # ever less often, lest mu go in circles
            dual_residual = sigma * sigma * o.e_moved
            if residual > BALANCE * dual_residual:
                sigma *= BALANCE_STEP
            elif dual_residual > BALANCE * residual:
                sigma /= BALANCE_STEP
        merit = 0.5 * sigma * residual + rest
        o.step_of_multipliers(sigma)
    return Result(best.w, base.ITERATIONS, monitor.iterations, monitor.history, best.alpha)
