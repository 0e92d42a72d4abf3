"""Printed lines of -v and -C, LIBLINEAR's, and exit statuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.metrics import RegressionErrors
from svmtool.params import Request, Settings
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import TIME
from svmtool.training import pictures
from svmtool.training.outcome import NOT_CONVERGED, advice, report_folds
from svmtool.training.pictures import Curve, Picture
from svmtool.training.validation import cross_validation, scores, search
from svmtool.training.validation.cross_validation import Folds, Validation
from svmtool.training.validation.scores import ACCURACY, ERROR, HeldOut, Measure, measure_of, metric_lines
from svmtool.training.validation.search import Search, Tried

DEFAULT_FOLDS = 5  # of -C
DOING = "Doing parameter search with {}-fold cross validation.\n"


def cross_validate(
    table: Dataset, settings: Settings, request: Request, row_weights: np.ndarray | None, console: Any,
    stop: StopFlag | None = None,
) -> int:  # fmt: skip
    """-v: print LIBLINEAR's lines on stdout, also when quiet; returns the exit status."""
    assert request.folds is not None
    return run_validation(Folds(table, settings, row_weights, request.folds), settings, request, console, stop)[1]


def run_validation(
    folds: Folds, settings: Settings, request: Request, console: Any, stop: StopFlag | None = None
) -> tuple[Validation, int]:
    """Validate and print the lines of -v; returns the result and the exit status."""
    labels = folds.table.labels
    held = HeldOut(labels, scores.task_of(settings), scores.metric_needs(settings)) if request.metrics else None
    try:
        found = cross_validation.cross_validate(folds, settings, stop, held)
    finally:
        _warn(folds, console)
    if settings.row.task == "regression":
        print_regression(console, labels, found.predictions)
    else:
        console.out(f"Cross Validation Accuracy = {percent(folds.rate(found.predictions))}%\n")
    if settings.row.task == "ordinal":
        from svmtool.training.reductions.ordinal import validation_lines

        console.out(validation_lines(labels, found.predictions))
    if held is not None:
        console.out(metric_lines(held))
    return found, report_folds(found.open_ends, folds.count, settings.row, request.strict, console)


def print_regression(console: Any, labels: np.ndarray, predictions: np.ndarray) -> None:
    """Print LIBLINEAR's two lines for -v of a regression, and warnings; labels and predictions f8[n]."""
    errors = RegressionErrors()
    errors.add(labels, predictions)
    console.out(
        f"Cross Validation Mean squared error = {errors.mean_squared()}\n"
        f"Cross Validation Squared correlation coefficient = {errors.squared_correlation()}\n"
    )
    for warning in errors.warnings():
        console.warn(warning)


def search_C(
    table: Dataset, settings: Settings, request: Request, row_weights: np.ndarray | None, console: Any,
    stop: StopFlag | None = None,
) -> int:  # fmt: skip
    """-C: print LIBLINEAR's lines; returns the exit status."""
    wanted = request.folds if request.folds is not None else DEFAULT_FOLDS
    console.out(DOING.format(wanted))
    return run_search(Folds(table, settings, row_weights, wanted), settings, request, console, stop)[1]


def run_search(
    folds: Folds, settings: Settings, request: Request, console: Any, stop: StopFlag | None = None
) -> tuple[Search, int]:
    """Search and print the lines of -C; returns the result and the exit status."""
    regression = settings.row.task == "regression"
    first_C = settings.problem.C if "-c" in request.given else None
    first_p = settings.problem.p if "-p" in request.given else None
    measure = measure_of(request.score, settings)
    picture = Picture(request.plot)

    def line(tried: Tried | None) -> None:
        if tried is None:
            console.solver("WARNING: maximum C reached.\n")
            return
        name = "rate" if measure is ACCURACY else measure.title[:1].upper() + measure.title[1:]
        p = f"p={tried.p:7.2f}\t" if regression else ""
        console.solver(f"log2c={math.log2(tried.C):7.2f}\t{p}{name}={measure.text(tried.score).rstrip('%')}\n")

    try:
        found = search.search_C(folds, settings, stop, line, first_C, first_p, measure)
    finally:
        _warn(folds, console)
    best = found.best
    p = f" Best p = {best.p:g}" if regression else ""
    title = "MSE" if measure is ERROR else measure.title
    console.out(f"Best C = {best.C:g}{p}  CV {title} = {measure.text(best.score)}\n")
    _draw(picture, found, measure, regression)
    return found, _search_status(found, settings.row, request.strict, console)


def _draw(picture: Picture, found: Search, measure: Measure, regression: bool) -> None:
    curves: dict[float, list[tuple[float, float]]] = {}
    for value in found.tried:
        if math.isfinite(value.score):
            curves.setdefault(value.p, []).append((value.C, measure.sign * value.score))
    named = [Curve(f"p = {p:g}" if regression else "", points) for p, points in curves.items()]
    best = found.best
    chosen = (best.C, measure.sign * best.score) if math.isfinite(best.score) else None
    picture.draw(lambda figure: pictures.search(figure, named, chosen, measure.title, measure.percent), height=4.5)


def _warn(folds: Folds, console: Any) -> None:
    for text in folds.warnings:
        console.warn(text)


def _search_status(found: Search, row: Solver, strict: bool, console: Any) -> int:
    """Warn about folds that did not converge and about the time limit; returns the exit status."""
    tried, best = found.tried, found.best
    what = "p and C" if row.task == "regression" else "C"
    statuses = dict.fromkeys(status for value in tried for status in value.open_ends if status is not TIME)
    for status in statuses:
        where = [value for value in tried if status in value.open_ends]
        also = ", also at the best" if best in where else ""
        many = f"{len(where)} of {len(tried)} values of {what}{also}"
        console.warn(f"WARNING: folds did not converge at {many}: {advice(status, row)}")
    if found.ended_at:
        console.warn(f"WARNING: the search ended at {found.ended_at}: {advice(TIME, row)}")
    return NOT_CONVERGED if strict and (found.ended_at or statuses) else 0


def percent(share: float) -> str:
    """100 times the share, as C's printf formats it with %g."""
    return f"{100.0 * share:g}"
