"""LIBLINEAR's search for C (-C), for regressions also for p.  report.py prints the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmtool.activity import doing
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.solvers.shared.base import Status
from svmtool.training.outcome import Interruptible
from svmtool.training.validation.cross_validation import Folds, held_out
from svmtool.training.validation.scores import HeldOut, Measure, measure_of, task_of

MAX_C, MAX_C_REGRESSION = 1024.0, 1048576.0
P_STEPS = 20
UNMOVED_ROUNDS = 5  # the search ends after this many successive values of C at which no weights change


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
    """The result of a search: all values tried, the best, and where the time limit ended it (else empty)."""

    tried: list[Tried]
    best: Tried
    ended_at: str


# Called after each value, and with None when the largest C is reached.
Report = Callable[[Tried | None], object]


def search_C(
    folds: Folds, settings: Settings, stop: StopFlag | None = None, report: Report = lambda tried: None,
    first_C: float | None = None, first_p: float | None = None, measure: Measure | None = None,
) -> Search:  # fmt: skip
    """Double C from a small value; each fold starts from its weights at the last C (beta-seeding, Section 4.1).

    Start, end and ties are LIBLINEAR's: the smallest of equally good values wins, and the search ends when no weights
    have changed for five successive values.  A regression searches C for each p, in decreasing order; the largest p
    wins a tie.  At the time limit the best value so far wins; an unfinished C counts only if there is no other.
    stop: None: max_seconds, counted from now.
    first_C, first_p: where C and p start; None: LIBLINEAR's values.
    measure: what the score is; None: accuracy or mean squared error.
    """
    measure = measure_of(None, settings) if measure is None else measure
    stop = StopFlag(settings.stopping.max_seconds) if stop is None else stop
    if settings.row.task == "regression":
        return _search_p(folds, settings, stop, report, first_C, first_p, measure)
    start = first_C
    if start is None:
        start = smallest_C(len(folds.table), folds.largest_square(settings.problem.bias), settings.row.loss)
    tried: list[Tried] = []
    last = _double_C(folds, settings, start, MAX_C, measure, stop, tried, report)
    return Search(tried, _best(tried), "" if last is None else f"C = {last:g}")


def _search_p(
    folds: Folds, settings: Settings, stop: StopFlag, report: Report, first_C: float | None, first_p: float | None,
    measure: Measure,
) -> Search:  # fmt: skip
    """Search for p and C: p decreases from the largest |label| in steps of a twentieth of it."""
    labels = folds.table.labels
    step = float(np.max(np.abs(labels), initial=0.0)) / P_STEPS
    first = P_STEPS - 1
    if first_p is not None and 0.0 < first_p < first * step:
        first = int(first_p / step)

    tried: list[Tried] = []
    last = None
    for i in range(first, -1, -1):
        p = i * (step * P_STEPS) / P_STEPS
        start = first_C
        if start is None:
            start = smallest_C_of_tube(labels, p, folds.largest_square(settings.problem.bias))
        last = _double_C(folds, settings.replace(p=p), start, MAX_C_REGRESSION, measure, stop, tried, report)
        if last is not None:
            break
    return Search(tried, _best(tried), "" if last is None else f"p = {p:g}, C = {last:g}")


def _best(tried: list[Tried]) -> Tried:
    """The first of the best."""
    return max(tried, key=lambda value: value.score)


def _double_C(
    folds: Folds, settings: Settings, start: float, most: float, measure: Measure,
    stop: StopFlag, tried: list[Tried], report: Report,
) -> float | None:  # fmt: skip
    """Try C from `start` to `most`, appending to `tried`.

    Returns the C at which the time limit was reached, or None.
    """
    C = min(start, most)
    warm: list = [None] * folds.count
    unmoved = 0
    while C <= most:
        if tried and stop.left <= 0.0:
            return C
        held = HeldOut(folds.table.labels, task_of(settings), measure.needs)
        with Interruptible(stop), doing(f"search at C = {C:g}"):
            _, moved = held_out(folds, settings.replace(C=C), stop, warm, held)
        if tried and folds.cut:
            return C
        unmoved = 0 if moved else unmoved + 1
        tried.append(Tried(settings.problem.p, C, measure.score(held), folds.open_ends))
        report(tried[-1])
        if folds.cut:
            return C
        if unmoved == UNMOVED_ROUNDS:
            return None
        C *= 2.0
    report(None)
    return None


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
