"""Crammer-Singer: dual coordinate descent, and augmented Lagrangian multipliers in the simplex.

    min over W of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)

Papers: the problem is Crammer and Singer's (JMLR 2, 2001); epochs that minimise a row's multipliers together: Keerthi,
Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class Linear SVMs, KDD 2008; rounds:
Nie, Huang, Wang and Huang, ICML 2014 (alm.py), Algorithm 1.

Notation   paper: lambda_i   mu     code: p_i, a point of the simplex a row (beta, `multipliers`)   C_i sigma
Differs from the papers in:
 1. The multipliers of a row lie in the simplex in place of [0, 1], see objectives/crammer_singer.py; the rounds are
    those of alm.py.
 2. Epochs and rounds take turns (shared/contest.py) where features times classes are few; elsewhere there are only
    epochs: rounds by conjugate gradients, or by systems of the rows off the simplex's corners, took longer.
 3. Epochs shrink classes as LIBLINEAR does, row by row, without delay; all are unshrunk each time that the largest
    violation has halved.
Stops when: the certified relative gap reaches the target; with -e, when LIBLINEAR's rule for -s 4 holds, and a gap of
RULE_MIN_GAP where d k is small.
Memory: 5 vectors of n k, 4 of d k; where features times classes are few, one matrix of their order and, for each pair
of classes, one of d x d, twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.crammer_singer import CrammerSingerLoss
from svmtool.solvers.shared import base, contest
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule
from svmtool.solvers.shared.contest import SMOOTH_STEPS, Contest, Epochs, NewtonSteps
from svmtool.tolerances import GRAM_BELOW

METHODS = {
    "zero": "no weights: there are no rows, or one class",
    "turns": "alternating epochs of coordinate descent and multiplier rounds on a factorised matrix",
    "epochs": "epochs of coordinate descent",
    "primal": "multiplier rounds on a factorised matrix",
}


def plan(task: ClassTask, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of rows, classes and features."""
    d, k = task.rows.d, task.k
    if task.rows.n == 0 or k == 1:
        return Plan("zero", f"{task.rows.n} rows, {k} classes")
    if d * k <= GRAM_BELOW:
        return Plan("turns", f"{d} features times {k} classes, at most {GRAM_BELOW}")
    return Plan("epochs", f"{d} features times {k} classes, more than {GRAM_BELOW}")


def solve(task: ClassTask, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text.

    start and the answer's w: the flat W of class_rows.py; the answer's alpha has k numbers a row, f8[n, k].
    """
    n, k = task.rows.n, task.k
    if method == "zero":
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(np.zeros(k * task.rows.d), base.OPTIMAL, 1, monitor.history, np.zeros((n, k)))
    objective = CrammerSingerLoss(task)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    objective.sigma = contest.SIGMA
    run = Contest(objective, monitor, rule)
    epochs = steps = None
    if method != "primal":
        epochs = Epochs(run, CrammerSingerDescent(task, objective.rows, seed))
        if start is not None:
            run.best.update(objective.primal_value(), start, -np.inf, run.best.alpha)
    if method != "epochs":
        steps = ClassSteps(run, "primal", rounds=True)
    found = contest.result(run, epochs, steps)
    found.alpha = objective.rows.narrowed(found.alpha).reshape(n, k)
    return found


class ClassSteps(NewtonSteps):
    """Multiplier rounds in the simplex; epochs come first for as long as steps of a smooth loss take, over all rows."""

    def expected(self, descent: Any) -> float:
        o = self.objective
        return SMOOTH_STEPS * (o.feature_system_work(o.base.n) + self._passes)
