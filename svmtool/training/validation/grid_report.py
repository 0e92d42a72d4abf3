"""The table of --grid on stdout, its picture and its exit status."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings
from svmtool.solvers.shared.base import TIME
from svmtool.training import pictures
from svmtool.training.outcome import NOT_CONVERGED, advice
from svmtool.training.pictures import Curve, Picture
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.grid import Grid, Point, run_grid
from svmtool.training.validation.scores import Measure, measure_of

WIDTH = 10  # of the columns of scores


def grid(
    table: Dataset, settings: Settings, request: Request, row_weights: np.ndarray | None, console: Any, stop: StopFlag
) -> int:
    """--grid: print the table, also when quiet; returns the exit status."""
    assert request.grid is not None
    measure = measure_of(request.score, settings)
    picture = Picture(request.plot)
    folds = None if request.folds is None else Folds(table, settings, row_weights, request.folds)
    by = "" if folds is None else f", validation by {folds.count} folds"
    console.out(f"Score: {measure.title}{by}\n")
    names = [f"{'C':>12}", f"{'objective':>14}", f"{'gap':>9}", f"{'training':>{WIDTH}}"]
    names += [] if folds is None else [f"{'validation':>{WIDTH}}"]
    console.out(" ".join([*names, f"{'seconds':>8}"]) + "\n")
    try:
        found = run_grid(
            table, settings, row_weights, request.grid, measure, folds, stop,
            lambda point: console.out(line(point, measure)),
        )  # fmt: skip
    finally:
        for text in dict.fromkeys([] if folds is None else folds.warnings):
            console.warn(text)
    best = found.best
    if best is not None and best.validation is not None:
        console.out(f"Best C = {best.C:g}  CV {measure.title} = {measure.text(best.validation)}\n")
    _draw(picture, found, measure, settings)
    return _status(found, settings, request, console)


def line(point: Point, measure: Measure) -> str:
    """A line of the table."""
    columns = [f"{point.C:12g}", f"{point.certificate.primal:14.8g}", f"{point.certificate.gap:9.2g}"]
    scores = [point.training] if point.validation is None else [point.training, point.validation]
    columns += [f"{measure.text(score):>{WIDTH}}" for score in scores]
    return " ".join([*columns, f"{point.seconds:8.3f}"]) + "\n"


def _draw(picture: Picture, found: Grid, measure: Measure, settings: Settings) -> None:
    def curve(name: str, scores: list[float | None]) -> Curve:
        pairs = [(point.C, score) for point, score in zip(found.points, scores, strict=True)]
        return Curve(name, [(C, measure.sign * s) for C, s in pairs if s is not None and math.isfinite(s)])

    curves = [curve("training", [point.training for point in found.points])]
    best = found.best
    if best is not None:
        curves.insert(0, curve("validation", [point.validation for point in found.points]))
    chosen = None if best is None or best.validation is None else (best.C, measure.sign * best.validation)
    gaps = [(point.C, point.certificate.gap) for point in found.points]
    picture.draw(
        lambda figure: pictures.search(figure, curves, chosen, measure.title, measure.percent, gaps, settings.target)
    )


def _status(found: Grid, settings: Settings, request: Request, console: Any) -> int:
    """Warn about values of C that did not converge and about the time limit; returns the exit status."""
    statuses = dict.fromkeys(status for point in found.points for status in point.open_ends if status is not TIME)
    for status in statuses:
        count = sum(status in point.open_ends for point in found.points)
        console.warn(
            f"WARNING: not converged at {count} of {len(found.points)} values of C: {advice(status, settings.row)}"
        )
    if found.ended_at is not None:
        console.warn(f"WARNING: the grid ended at C = {found.ended_at:g}: {advice(TIME, settings.row)}")
    return NOT_CONVERGED if request.strict and (statuses or found.ended_at is not None) else 0
