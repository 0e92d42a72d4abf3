"""Values of C compared by held-out rows: LIBLINEAR's search (-C), for regressions also for p, and grids (--grid).

report.py prints the results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.progress import counted, doing
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.outcome import worst_status
from svmtool.training.reductions.base import Reduction, problems_of
from svmtool.training.validation.cross_validation import Folds, held_out
from svmtool.training.validation.scores import PREDICTIONS, PROBABILITIES, HeldOut, Measure, kind_of

MAX_C, MAX_C_REGRESSION = 1024.0, 1048576.0
P_STEPS = 20
UNCHANGED_ROUNDS = 5  # the search ends after this many successive values of C at which no weights change


class Tried(NamedTuple):
    """A value of C and its score.

    p, C : the parameters
    score : the measure of --score, errors with a minus sign; by default the share of rows predicted correctly, of a
        regression the mean squared error
    open_ends : the statuses of the folds that did not converge
    """

    p: float
    C: float
    score: float
    open_ends: tuple[Status, ...]


class Search(NamedTuple):
    """The result of a search.

    tried, best : all values tried, and the best
    ended_at : where the time limit ended it, else empty
    bound : with a guarantee, what no C from the smallest to the largest tried exceeds; else None
    """

    tried: list[Tried]
    best: Tried
    ended_at: str
    bound: float | None = None


# Called after each value, and with None when the largest C is reached.
Report = Callable[[Tried | None], object]


def goes_on(found: list, value: Any, report: Callable[[Any], object]) -> bool:
    """Take and report a Tried or Point, if it is in time or the first; returns whether there is time for another."""
    late = TIME in value.open_ends
    if not (found and late):
        found.append(value)
        report(value)
    return not late


def search_C(
    folds: Folds, settings: Settings, stop: StopFlag, measure: Measure, report: Report = lambda tried: None,
    first_C: float | None = None, first_p: float | None = None,
) -> Search:  # fmt: skip
    """Double C from a small value; each fold starts from its weights at the last C (beta-seeding, Section 4.1).

    Start, end and ties are LIBLINEAR's: the smallest of equally good values wins, and the search ends when no weights
    have changed for five successive values.  A regression searches C for each p, in decreasing order; the largest p
    wins a tie.  At the time limit the best value so far wins; an unfinished C counts only if there is no other.
    measure: what the score is.  first_C, first_p: where C and p start; None: LIBLINEAR's values.
    """
    labels, row = folds.table.labels, settings.row
    regression = row.kind == "regression"
    tried: list[Tried] = []
    ended_at = ""
    max_C = MAX_C_REGRESSION if regression else MAX_C

    def double(C: float, settings: Settings) -> float | None:
        """Try values from C to max_C; returns the C at which the time ended, or None."""
        warm: list = [None] * folds.count
        unmoved = 0
        with doing("C", 1 + int(math.log2(max_C) - math.log2(C))) as part:
            while C <= max_C:
                if tried and stop.seconds_left <= 0.0:
                    return C
                held, moved = held_out(folds, settings.replace(C=C), stop, warm, measure.needs)
                if not goes_on(tried, Tried(settings.problem.p, C, measure.score(held), folds.open_ends), report):
                    return C
                unmoved = 0 if moved else unmoved + 1
                if unmoved == UNCHANGED_ROUNDS:
                    return None
                C *= 2.0
                part.step()
        report(None)
        return None

    for p in counted("p", [*_values_of_p(labels, first_p)] if regression else [settings.problem.p]):
        C = first_C
        if C is None:
            square = folds.largest_square(settings.problem.bias)
            C = smallest_C_of_tube(labels, p, square) if regression else smallest_C(len(labels), square, row.loss)
        last = double(min(C, max_C), settings.replace(p=p))
        if last is not None:
            ended_at = f"p = {p:g}, C = {last:g}" if regression else f"C = {last:g}"
            break
    return Search(tried, max(tried, key=lambda value: value.score), ended_at)  # the first of the best


def _values_of_p(labels: np.ndarray, first_p: float | None) -> Iterable[float]:
    """The values of p, which decrease from the largest |label| in steps of a twentieth of it."""
    step = float(np.max(np.abs(labels), initial=0.0)) / P_STEPS
    first = P_STEPS - 1
    if first_p is not None and 0.0 < first_p < first * step:
        first = int(first_p / step)
    return (i * (step * P_STEPS) / P_STEPS for i in range(first, -1, -1))


def smallest_C(n: int, square: float, loss: str) -> float:
    """LIBLINEAR's first C: a power of two below 1 / (2 n max |x_i|^2), for the logistic loss below twice that."""
    factor = 1.0 if loss == "logistic" else 2.0
    return _power_of_two_below(1.0 / (factor * n * square))


def smallest_C_of_tube(labels: np.ndarray, p: float, square: float) -> float:
    """LIBLINEAR's first C for -s 11: a power of two below 0.01 sum max(0, |t_i| - p)^2 / (8 (sum |t_i|)^2 max |x_i|^2).

    Infinite if every label is in the tube.  Labels are divided by the largest, so that squares do not overflow.
    """
    sizes = np.abs(labels)
    largest = float(np.max(sizes, initial=0.0)) or 1.0
    loss = float(np.sum(np.square(np.maximum(sizes - p, 0.0) / largest)))
    if loss == 0.0:
        return math.inf
    return _power_of_two_below(0.01 * loss / (8.0 * float(np.sum(sizes / largest)) ** 2 * square))


def _power_of_two_below(x: float) -> float:
    """A power of two below x by a quotient of logarithms, with LIBLINEAR's rounding."""
    return 2.0 ** math.floor(math.log(max(x, 5e-324)) / math.log(2.0))


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
    def best(self) -> tuple[float, float] | None:
        """C and score of the best validation, the smallest C of equally good ones; None without folds."""
        scores = [(point.C, point.validation) for point in self.points if point.validation is not None]
        return max(scores, key=lambda pair: pair[1], default=None)


def run_grid(
    table: Dataset, settings: Settings, values: tuple[float, ...], measure: Measure, folds: Folds | None,
    stop: StopFlag, report: Callable[[Point], object] = lambda point: None,
) -> Grid:  # fmt: skip
    """Train at each C of `values`, ascending, and validate by the folds if there are any.

    All trainings share the rows, which are prepared once.  A training starts from the weights at the last C, a fold
    from its own; both end by the rule of a training that starts at zero.  report receives each point.  Raises
    KeyboardInterrupt after Ctrl-C.
    """
    problems = problems_of(table, settings.replace(C=values[-1]))
    problems.seeded = True
    warm: list = [None] * (0 if folds is None else folds.count)
    if folds is not None:
        folds.any_start = False
    start: np.ndarray | None = None
    points: list[Point] = []
    for C in counted("C", values):
        if points and stop.seconds_left <= 0.0:
            return Grid(points, C)
        began = time.perf_counter()
        problems.settings = settings.replace(C=C)  # at most the one that the overflow check has seen
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
            held, _ = held_out(folds, settings.replace(C=C), stop, warm, measure.needs)
            validation, open_ends = measure.score(held), open_ends + folds.open_ends
        seconds = time.perf_counter() - began
        if not goes_on(points, Point(C, certificate, training, validation, open_ends, seconds), report):
            return Grid(points, C)
    return Grid(points, None)


def _of_training(problems: Reduction, W: np.ndarray, table: Dataset, measure: Measure, settings: Settings) -> HeldOut:
    """What a measure needs of the training rows; without probabilities where a model has none of its own."""
    model = problems.model(W)
    needs = measure.needs if measure.needs < PROBABILITIES or model.gives_probabilities else PREDICTIONS
    held = HeldOut(table.labels, kind_of(settings), needs)
    decisions = model.decision_values(table)
    held.predictions = model.labels_from(decisions)
    held.keep(np.arange(len(table)), model, decisions)
    return held
