"""Dual coordinate descent by pairs for the linear one-class SVM.

    min_{w,rho}  1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - nu (sum_i c_i) rho

Paper: H.-Y. Chou, P.-Y. Lin and C.-J. Lin, Dual Coordinate-Descent Methods for Linear One-Class SVM and SVDD,
SIAM International Conference on Data Mining (SDM) 2020: two-level coordinate descent (supplement, Algorithm 7).

Notation   paper: alpha   nabla_i f(alpha)   nu l         code: alpha   z_i = w.x_i   k
Each round takes a tenth of the active rows: those with the smallest z_i that may grow, paired with those with the
largest z_i that may shrink, and minimises over each pair in turn; rows clearly at a bound leave until the rest has
converged.
Differs from the paper in:
 1. c_i for each row.
 2. Initial weights are used: the rows that are extreme in their direction are the first vertex.
 3. The pairs' order is that of the violations up to factors of two, which needs no sort.
 4. Where rounds are slow, one factorised system (Newton on the face) solves for the free rows (0 < alpha_i < c_i).
 5. Where the origin is in the reduced convex hull of the rows, w = 0 is the solution: one system of the features
    finds its multipliers.
 6. It ends by a certified gap, alone or with the violation; the result is the best multiple of w and its best rho.
Stops when: the certified relative gap (objectives/one_class.py) reaches the target; with -e, when max {z_i: alpha_i >
0} - min {z_i: alpha_i < c_i} <= EPOCH_TOL e (LIBLINEAR's rule, stricter) and the gap is at most RULE_MIN_GAP.
Memory: 9 vectors of n, 3 of d.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.one_class import OneClassDescent
from svmtool.limits import EndedError
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status
from svmtool.tolerances import (
    DUAL_RTOL,
    EPOCH_TOL,
    FIRST_CHECK_STEPS,
    GRAM_BELOW,
    OPTIMAL_GAP,
    ROUNDOFF_GAP,
    RULE_MIN_GAP,
    STALL_ROUNDS,
)

MAX_FACE_ROWS = 500  # free rows whose system is factorised where rounds alone are slow
CALL_ROUNDS, ROUND_CALL_NONZEROS = 100, 1 << 26  # most rounds and visited non-zeros between two passes over all rows

METHODS = {
    "rows": "rounds of pairs, from the vertex of the first rows",
    "start": "rounds of pairs, from the vertex in the direction of the initial weights",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose the vertex that rounds begin at."""
    if start is not None and np.any(start[:-1]):
        return Plan("start", "initial weights are given")
    return Plan("rows", "no initial weights")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (w and rho, zeros if None); see the module's text.  Result.w is w and rho."""
    descent = OneClassDescent(task.rows, task.cost, task.nu)
    if method == "rows":
        descent.begin()
    else:
        descent.begin_towards(np.zeros(task.rows.d) if start is None else start[:-1])
    status = _rounds(descent, monitor, rule, method == "start")
    _, w, rho = best = descent.answer()
    if start is not None and np.any(start[:-1]):  # weights may be better than those of their dual point
        start = np.ascontiguousarray(start[:-1])
        _, w, rho = min(best, descent.value(start), key=lambda found: found[0])
    return Result(np.append(w, rho), status, descent.rounds, monitor.history, descent.alpha)


def _rounds(descent: OneClassDescent, monitor: Monitor, rule: Rule, warm: bool) -> Status:
    """Rounds until the rule or the gap holds; returns why they ended.  warm: the free rows may be the right ones."""
    range_tol, gap = np.inf, OPTIMAL_GAP if monitor.gap is None else monitor.gap  # violation and gap that end the run
    if monitor.gap is None and rule.range is not None:
        range_tol, gap = EPOCH_TOL * rule.range, RULE_MIN_GAP
    call_rounds = max(1, min(CALL_ROUNDS, ROUND_CALL_NONZEROS // max(descent.rows.nnz, 1), monitor.call_rounds))
    smallest, highest, stalled, try_face, next_try = np.inf, -np.inf, 0, warm, 0
    evaluations, max_evaluations = 0, np.inf
    while True:
        reached = descent.evaluate(range_tol, gap)
        support = int(np.count_nonzero(descent.alpha))
        status = monitor.step(descent.primal, descent.dual, descent.gap, violation=descent.violation, active=support)
        if status is None and reached:
            status = base.RULE if rule.range is not None else base.OPTIMAL
        if status is None and descent.gap <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None:
            better = descent.gap < 0.999 * smallest or descent.dual > highest + DUAL_RTOL * abs(highest)
            stalled = 0 if better else stalled + 1
            smallest, highest = min(smallest, descent.gap), max(highest, descent.dual)
            evaluations += 1
            if descent.gap <= ROUNDOFF_GAP:  # where values are far larger than -e no violation may become so small
                max_evaluations = min(max_evaluations, 2 * evaluations + FIRST_CHECK_STEPS)
            if stalled >= STALL_ROUNDS or evaluations >= max_evaluations:
                status = base.OPTIMAL if descent.gap <= ROUNDOFF_GAP else base.PRECISION
        status = status or monitor.limit(descent.rounds)
        if status is not None:
            return status
        try:
            if try_face and descent.minimise_on_face(MAX_FACE_ROWS):
                try_face = False
                continue
            # no multiple of w with P < 0 so far: the origin may be in the reduced convex hull
            if try_face and descent.primal >= 0.0 and descent.d <= GRAM_BELOW and monitor.iterations >= next_try:
                if descent.solve_at_zero():
                    continue
                next_try = 2 * monitor.iterations
        except EndedError:  # the next evaluation computes the state of the rows
            continue
        rounds = call_rounds if monitor.max_iter is None else min(call_rounds, monitor.max_iter - descent.rounds)
        try_face = not descent.run(range_tol, gap, rounds)
