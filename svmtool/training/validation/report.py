"""Printed lines of -v and -C, LIBLINEAR's, the table of --grid, plots, and exit statuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.drawing import Plot
from svmtool.limits import StopFlag
from svmtool.metrics import LabelCounts
from svmtool.options.train import LONG
from svmtool.params import Request, Settings
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import TIME
from svmtool.training import plots
from svmtool.training.interruption import interruptible
from svmtool.training.lines import Still
from svmtool.training.notices import advice
from svmtool.training.outcome import NOT_CONVERGED, fold_warnings
from svmtool.training.validation import guarantee, scores
from svmtool.training.validation.cross_validation import Folds, held_out
from svmtool.training.validation.folds import FOLDS
from svmtool.training.validation.multilabel import MICRO_F1, LabelFolds
from svmtool.training.validation.search import MAX_C, Point, Search, Tried, run_grid, search_C


def validate(drawn: Callable[[int], Folds], request: Request, console: Any, stop: StopFlag) -> int:
    """-v and -C: print LIBLINEAR's lines on stdout, those of results also when quiet; returns the exit status.

    drawn: the folds of the rows, for a number of folds.
    """
    wanted = FOLDS if request.folds is None else request.folds
    if request.find_C:
        console.out(f"Doing parameter search with {wanted}-fold cross validation.\n")
    folds = drawn(wanted)
    with nothing_kept(request, console, stop):
        return (run_search if request.find_C else run_validation)(folds, request, console, stop)[1]


def nothing_kept(request: Request, console: Any, stop: StopFlag) -> AbstractContextManager[StopFlag]:
    """A block that Ctrl-C ends, since the parts of a validation have no result; it prints a line once in a while."""
    what = "the search has no result" if request.find_C else "the validation has no result"
    if request.grid is not None:
        what = "the values so far stand, the rest is lost"
    return interruptible(stop, console, what, [Still(lambda text: console.still(text, error=True)).beat])


def run_validation(folds: Folds, request: Request, console: Any, stop: StopFlag) -> tuple[np.ndarray, int]:
    """Validate and print the lines of -v; returns the predictions, f8[n], and the exit status."""
    labels, settings = folds.table.labels, folds.settings
    needs = scores.metric_needs(settings) if request.metrics else scores.PREDICTIONS
    try:
        held, _ = held_out(folds, settings, stop, None, needs)
    finally:
        console.warn(*folds.warnings)
    print_validation(console, settings, labels, held, request.metrics)
    console.warn(*fold_warnings(folds.open_ends, folds.count, settings.row))
    return held.predictions, NOT_CONVERGED if request.strict and folds.open_ends else 0


def print_validation(console: Any, settings: Settings, labels: np.ndarray, held: scores.HeldOut, metrics: bool) -> None:
    """Print the lines of -v, and those of --metrics; labels: f8[n] as in the data."""
    predictions = held.predictions
    if isinstance(predictions, LabelCounts):
        for name, measure in (("Micro", predictions.micro_f1), ("Macro", predictions.macro_f1)):
            console.out(f"Cross Validation {name} F1 = {100.0 * measure():g}%\n")
        return
    if settings.row.kind == "regression":
        errors = held.errors()
        console.out(
            f"Cross Validation Mean squared error = {errors.mean_squared()}\n"
            f"Cross Validation Squared correlation coefficient = {errors.squared_correlation()}\n"
        )
        console.warn(*errors.warnings())
    else:
        share = np.count_nonzero(predictions == labels) / len(labels)
        console.out(f"Cross Validation Accuracy = {100.0 * share:g}%\n")
    if settings.row.kind == "ordinal":
        from svmtool.training.reductions.ordinal import validation_lines

        console.out(validation_lines(labels, predictions))
    if metrics:
        console.out(scores.metric_lines(held))


def run_search(folds: Folds, request: Request, console: Any, stop: StopFlag) -> tuple[Search, int]:
    """Search and print the lines of -C; returns the result and the exit status."""
    settings = folds.settings
    regression = settings.row.kind == "regression"
    first_C = settings.problem.C if "-c" in request.given else None
    first_p = settings.problem.p if "-p" in request.given else None
    measure = MICRO_F1 if isinstance(folds, LabelFolds) else scores.measure_of(request.score, settings)
    plot = Plot(request.plot)

    def line(tried: Tried | None) -> None:
        if tried is None:
            console.solver("WARNING: maximum C reached.\n")
            return
        name = "rate" if measure is scores.ACCURACY else measure.capital
        p = f"p={tried.p:7.2f}\t" if regression else ""
        console.solver(f"log2c={math.log2(tried.C):7.2f}\t{p}{name}={measure.text(tried.score).rstrip('%')}\n")

    try:
        if request.guarantee is None:
            found = search_C(folds, settings, stop, measure, line, first_C, first_p)
        else:
            found = guarantee.search(folds, settings, request.guarantee, stop, line, first_C, console.warn)
    finally:
        console.warn(*folds.warnings)
    best = found.best
    p = f" Best p = {best.p:g}" if regression else ""
    title = "MSE" if measure is scores.ERROR else measure.title
    console.out(f"Best C = {best.C:g}{p}  CV {title} = {measure.text(best.score)}\n")
    if found.bound is not None:
        ends = f"No C from {found.tried[0].C:g} to {MAX_C:g}"
        console.out(f"{ends} has a CV {title} above {measure.text(found.bound)}; values of C: {len(found.tried)}\n")
    curves: dict[str, plots.Points] = {}
    for value in found.tried:
        curves.setdefault(f"p = {value.p:g}" if regression else "", []).append((value.C, value.score))
    _draw(plot, curves, (best.C, best.score), measure)
    what = f"{len(found.tried)} values of {'p and C' if regression else 'C'}"

    def text(where: list[Tried]) -> str:
        return f"folds did not converge at {len(where)} of {what}{', including the best' if best in where else ''}"

    ended, row = found.ended_at and f"the search ended at {found.ended_at}", settings.row
    if request.guarantee is not None:  # advice names no option that it excludes
        row = row._replace(supported=row.supported.difference(LONG["--guarantee"].excludes))
    return found, _exit_status(found.tried, text, ended, row, request.strict, console)


def _draw(
    plot: Plot, curves: dict[str, plots.Points], best: tuple[float, float] | None, measure: scores.Measure,
    gaps: plots.Points | None = None, target: float | None = None,
) -> None:  # fmt: skip
    """Draw pairs of C and score by the names of their curves, and the best pair, where the scores are defined."""

    def defined(points: plots.Points) -> plots.Points:
        return [(C, measure.sign * score) for C, score in points if math.isfinite(score)]

    known = {name: points for name, some in curves.items() if (points := defined(some))}
    chosen = next(iter(defined([] if best is None else [best])), None)
    plot.draw(
        lambda figure: plots.search(figure, known, chosen, measure.title, measure.percent, gaps, target),
        height=4.5 if gaps is None else 6.0,
    )


def _exit_status(
    tried: list[Any], text: Callable[[list[Any]], str], ended: str, row: Solver, strict: bool, console: Any
) -> int:
    """Warn of runs that did not converge, by the text of their values, and of the time limit; returns the status."""
    statuses = dict.fromkeys(status for value in tried for status in value.open_ends if status is not TIME)
    for status in statuses:
        where = [value for value in tried if status in value.open_ends]
        console.warn(f"WARNING: {text(where)}: {advice(status, row)}")
    if ended:
        console.warn(f"WARNING: {ended}: {advice(TIME, row)}")
    return NOT_CONVERGED if strict and (ended or statuses) else 0


def grid(table: Dataset, settings: Settings, request: Request, console: Any, stop: StopFlag) -> int:
    """--grid: print the table, also when quiet; returns the exit status."""
    assert request.grid is not None
    measure = scores.measure_of(request.score, settings)
    plot = Plot(request.plot)
    folds = None if request.folds is None else Folds(table, settings, request.folds)
    by = "" if folds is None else f", validation by {folds.count} folds"
    console.out(f"Score: {measure.title}{by}\n")
    names = [f"{'C':>12}", f"{'objective':>14}", f"{'gap':>9}", f"{'training':>10}"]
    names += [] if folds is None else [f"{'validation':>10}"]
    console.out(" ".join([*names, f"{'seconds':>8}"]) + "\n")
    try:
        with nothing_kept(request, console, stop):
            found = run_grid(
                table, settings, request.grid, measure, folds, stop, lambda point: console.out(_line(point, measure))
            )
    finally:
        console.warn(*dict.fromkeys([] if folds is None else folds.warnings))
    if found.best is not None:
        C, score = found.best
        console.out(f"Best C = {C:g}  CV {measure.title} = {measure.text(score)}\n")
    curves = {
        "validation": [(point.C, point.validation) for point in found.points if point.validation is not None],
        "training": [(point.C, point.training) for point in found.points],
    }
    gaps = [(point.C, point.certificate.gap) for point in found.points]
    _draw(plot, curves, found.best, measure, gaps, settings.target)
    ended = "" if found.ended_at is None else f"the grid ended at C = {found.ended_at:g}"
    text = f"not converged at {{}} of {len(found.points)} values of C".format
    return _exit_status(found.points, lambda at: text(len(at)), ended, settings.row, request.strict, console)


def _line(point: Point, measure: scores.Measure) -> str:
    """A line of the table of --grid."""
    columns = [f"{point.C:12g}", f"{point.certificate.primal:14.8g}", f"{point.certificate.gap:9.2g}"]
    scores = [point.training] if point.validation is None else [point.training, point.validation]
    columns += [f"{measure.text(score):>10}" for score in scores]
    return " ".join([*columns, f"{point.seconds:8.3f}"]) + "\n"
