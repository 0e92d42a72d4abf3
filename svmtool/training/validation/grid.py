"""Training at several values of C in one process, each from the weights at the last C (--grid)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmtool.activity import doing
from svmtool.certify.linear import Certificate
from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.outcome import Interruptible, worst_status
from svmtool.training.reductions.base import Reduction, problems_of
from svmtool.training.validation.cross_validation import Folds, held_out
from svmtool.training.validation.scores import PREDICTIONS, PROBABILITIES, HeldOut, Measure, task_of


class Point(NamedTuple):
    """The results at a value of C.

    C : the value
    certificate : of the training on all rows
    training : the score of these rows themselves
    validation : the score of rows held out; None without folds
    open_ends : statuses of the training and of the folds that did not converge
    seconds : time of training, certificate and folds
    """

    C: float
    certificate: Certificate
    training: float
    validation: float | None
    open_ends: tuple[Status, ...]
    seconds: float


class Grid(NamedTuple):
    """The results of a grid: its points by ascending C, and the C at which the time limit ended it, or None."""

    points: list[Point]
    ended_at: float | None

    @property
    def best(self) -> Point | None:
        """The point of the best validation, the smallest C of equally good ones; None without folds."""
        if not self.points or self.points[0].validation is None:
            return None
        return max(self.points, key=lambda point: point.validation)


def run_grid(
    table: Dataset, settings: Settings, row_weights: np.ndarray | None, values: tuple[float, ...], measure: Measure,
    folds: Folds | None, stop: StopFlag, report: Callable[[Point], object] = lambda point: None,
) -> Grid:  # fmt: skip
    """Train at each C of `values`, ascending, and validate by the folds if there are any.

    All trainings share the rows, which are prepared once.  A training starts from the weights at the last C, a fold
    from its own; both end by the rule of a training that starts at zero.  report receives each point.  Raises
    KeyboardInterrupt after Ctrl-C.
    """
    problems = problems_of(table, settings.replace(C=values[-1]), row_weights)
    warm: list = [None] * (0 if folds is None else folds.count)
    if folds is not None:
        folds.any_start = False
    start: np.ndarray | None = None
    points: list[Point] = []
    with doing("C", len(values)) as part:
        for C in values:
            if points and stop.left <= 0.0:
                return Grid(points, C)
            began, at_C = time.perf_counter(), settings.replace(C=C)
            problems.set_C(C)
            with Interruptible(stop):
                results, certificate = problems.fit_and_certify(start, stop=stop)
                if stop.set:
                    raise KeyboardInterrupt
                W = problems.weights(results)
                start = problems.as_start(W)
                training = measure.score(_of_training(problems, W, table, measure, settings))
                worst = worst_status(results)
                open_ends = (worst,) if worst is not None and not worst.converged else ()
                validation = None
                if folds is not None:
                    held = HeldOut(folds.table.labels, task_of(settings), measure.needs)
                    held_out(folds, at_C, stop, warm, held)
                    validation, open_ends = measure.score(held), open_ends + folds.open_ends
            if points and TIME in open_ends:
                return Grid(points, C)
            points.append(Point(C, certificate, training, validation, open_ends, time.perf_counter() - began))
            report(points[-1])
            if TIME in open_ends:
                return Grid(points, C)
            part.step()
    return Grid(points, None)


def _of_training(
    problems: Reduction, W: np.ndarray, table: Dataset, measure: Measure, settings: Settings
) -> HeldOut:
    """What a measure needs of the training rows; without probabilities where a model has none of its own."""
    model = problems.model(W)
    needs = measure.needs if measure.needs < PROBABILITIES or model.gives_probabilities else PREDICTIONS
    held = HeldOut(table.labels, task_of(settings), needs)
    decisions = model.decision_values(table)
    held.predictions = model.labels_from(decisions)
    held.keep(np.arange(len(table)), model, decisions)
    return held
