"""Improves a poor certificate: coordinate descent continues from the dual point of the result.

LIBLINEAR's rules can end a run where only one of primal and dual is accurate.  On wide data with a large C, dual
methods have the dual value to three digits while P at their w is several times the minimum, because all rows on the
margin miss it by a little.  The best multiple t w then closes most of the gap.  Measured at default -e and C = 100,
certified gap before and after the best multiple: dorothea -s 3 0.85 and 0.0013, polarity2.bigram 0.98 and 0.1, tdt2 0.9
and 0.04, la12 0.9 and 0.17.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.coordinate.hinge import READING_VISITS, STARTUP_VISITS, DualCoordinateDescent
from svmtool.linalg.systems import VISIT_NS
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.crammer_singer import CrammerSingerLoss
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Monitor
from svmtool.tolerances import SLOW_MIN_GAP

# most visits of polishing: this share of those in training, besides READING_VISITS and STARTUP_VISITS for all problems
VISITS_SHARE = 0.5
EPOCH_VISITS = 2e4  # fixed cost of an epoch, in visits to non-zeros
FACE_SHARE = 0.5  # share of the work for conjugate gradients over the free dual variables, before coordinate descent
POLISH_EVALUATION_SHARE = 0.5  # visits between two evaluations of the primal, as share of all so far
POLISH_UNSHRINK_SHARE = 0.1  # rows are unshrunk when the gradients of the others have decreased to this share


def allowance(visits: float, nnz: int, problems: int) -> float:
    """Non-zeros that polishing one problem may visit; visits: of training to each row, nnz: of the data."""
    return VISITS_SHARE * visits * nnz + (READING_VISITS * nnz + STARTUP_VISITS) / problems


def polished(
    task: Task, power: float, w: np.ndarray, primal: float, candidates: list[np.ndarray], work: float,
    monitor: Monitor,
) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
    """Weights with P <= primal, f8[d], and a dual point, f8[n], by dual coordinate descent; None if it does not apply.

    power: of the hinge, 1 or 2; primal: P(w); candidates: dual points to start from; work: most non-zeros to visit.
    """
    if not candidates or not DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias):
        return None
    descent = None
    for alpha in candidates:
        other = DualCoordinateDescent.of_power(task.rows, task.y, task.cost, power, 1, task.target, alpha.copy())
        other.scale_to_best()
        if descent is None or other.dual_value() > descent.dual_value():
            descent = other
    kind = {"p": 1.0} if power == 1.0 else {}
    objective = task.objective(Augmented if power == 1.0 else SquaredHinge, target=task.target, **kind)
    return _go_on(descent, objective, w, primal, work, monitor), descent.alpha


def polished_classes(
    task: ClassTask, w: np.ndarray, primal: float, alpha: np.ndarray, work: float, monitor: Monitor
) -> tuple[np.ndarray, np.ndarray] | None:
    """`polished` for all classes at once: w the flat W, alpha f8[n, k]."""
    if not np.all(task.cost > 0.0):
        return None
    objective = CrammerSingerLoss(task)
    descent = CrammerSingerDescent(task, objective.rows, 1)
    places = np.zeros((task.rows.n, objective.rows.wide))
    places[:, : task.k] = alpha
    descent.resume(places.reshape(-1))
    w = _go_on(descent, objective, w, primal, work, monitor)
    return w, objective.rows.narrowed(descent.alpha).reshape(alpha.shape)


def _go_on(
    descent: DualCoordinateDescent | CrammerSingerDescent, objective: Augmented | SquaredHinge | CrammerSingerLoss,
    w: np.ndarray, primal: float, work: float, monitor: Monitor,
) -> np.ndarray:  # fmt: skip
    """The best of w, the iterates of coordinate descent and their multiples, after visits to `work` non-zeros."""

    def least(v: np.ndarray) -> tuple[np.ndarray, float]:
        t, value = objective.least_multiple(v)
        return (t * v, value) if value < primal else (w, primal)

    w, primal = least(w)
    nnz = objective.rows.nnz
    # cost of an epoch over all rows, in visits
    each = descent.cost / VISIT_NS if isinstance(descent, DualCoordinateDescent) else nnz
    made, evaluated, sharp = 0.0, 0.0, np.inf
    if isinstance(descent, DualCoordinateDescent) and relative_gap(primal, descent.dual_value()) > SLOW_MIN_GAP:
        made = descent.minimise_on_face(FACE_SHARE * work)
        w, primal = least(descent.w)
    while relative_gap(primal, descent.dual_value()) > SLOW_MIN_GAP:
        made += descent.active_share * each + EPOCH_VISITS
        if made > work or monitor.ended():
            break
        descent.run()
        if descent.pg_range <= sharp and not descent.complete:
            sharp = POLISH_UNSHRINK_SHARE * descent.pg_range
            descent.unshrink()
        if made >= evaluated + max(each, POLISH_EVALUATION_SHARE * evaluated):
            evaluated = made
            w, primal = least(descent.w)
    return least(descent.w)[0] if made > evaluated else w
