"""Cross-validation (-v) with kernels: LIBSVM's folds and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.limits import TimeShares
from svmtool.models.kernel import KernelModel
from svmtool.params import Request
from svmtool.progress import counted
from svmtool.solvers.shared.base import Status
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting, KernelTraining
from svmtool.training.kernel.train import trainer
from svmtool.training.outcome import report_folds
from svmtool.training.validation import scores
from svmtool.training.validation.folds import GlibcRand, drawn_folds, fold_rows
from svmtool.training.validation.report import print_validation


class Folds:
    """The folds of one data set, as LIBSVM draws them: see validation/folds.py.

    warnings: about their number, if there is any.  Raises SvmtoolError where no fold can be drawn.
    """

    def __init__(self, data: KernelSet, classifies: bool, wanted: int, rand: GlibcRand):
        self.order, self.starts = drawn_folds(data.labels, wanted, classifies, rand)
        self.count, n = len(self.starts) - 1, len(data)
        instead = "Will use # folds = # data instead (i.e., leave-one-out cross validation)"
        self.warnings = [f"WARNING: # folds ({wanted}) > # data ({n}). {instead}"] if wanted > n else []


def run_validation(
    data: KernelSet, fitting: Fitting, rand: GlibcRand, request: Request, console: Any
) -> tuple[np.ndarray, int]:
    """Validate and print the lines of -v, also when quiet; returns the predictions, f8[n], and the exit status."""
    s = fitting.settings
    assert request.folds is not None
    folds = Folds(data, s.row.kind == "classification", request.folds, rand)
    console.warn(*folds.warnings)

    # probabilities only with -b 1
    needs = min(scores.metric_needs(s), scores.PROBABILITIES if s.run.probability else scores.SCORES)
    held = scores.HeldOut(data.labels, scores.kind_of(s), needs) if request.metrics else None

    told: set[str] = set()

    def show(done: KernelTraining, outside: np.ndarray, decisions: np.ndarray) -> None:
        console.solver(done.text)
        console.warn(*(text for text in done.warnings if text not in told))
        told.update(done.warnings)
        if held is not None:
            held.keep(outside, done.model, decisions)

    predictions, open_ends = evaluate(data, fitting, folds, rand, show)
    print_validation(console, s, data.labels, predictions, held)
    return predictions, report_folds(open_ends, folds.count, s.row, request.strict, console)


def evaluate(
    data: KernelSet, fitting: Fitting, folds: Folds, rand: GlibcRand,
    keep: Callable[[KernelTraining, np.ndarray, np.ndarray], object],
) -> tuple[np.ndarray, list[Status]]:  # fmt: skip
    """Predictions f8[n] of each row by the training without its fold, and the statuses of those not converged.

    keep receives each training, its rows held out (i8) and their decision values.
    """
    s = fitting.settings
    classifies = s.row.kind == "classification"
    order, starts, train = folds.order, folds.starts, trainer(s)
    predictions, open_ends = np.empty(len(data)), []
    shares = TimeShares(fitting.stop, folds.count, 1)
    for k in counted("fold", range(folds.count)):
        inside, outside = fold_rows(order, starts, k)
        within = Fitting(s, fitting.report, shares.next())
        done = train(data.take(inside), within, rand if classifies else None)
        if fitting.stop.set:
            raise KeyboardInterrupt  # a part of a cross-validation has no result
        if done.lacking:
            raise SvmtoolError(f"ERROR: -v with -b 1: {done.lacking}")
        if done.status is not None and not done.status.converged:
            open_ends.append(done.status)
        decisions = done.model.decision_values(data.take(outside).table)
        predictions[outside] = answers(done.model, decisions)
        keep(done, outside, decisions)
    return predictions, open_ends


def answers(model: KernelModel, decisions: np.ndarray) -> np.ndarray:
    """Labels or values f8[n] from decision values; with -b 1 the most probable class."""
    if model.labels is None or len(model.labels) < 2 or model.probA is None:
        return model.labels_from(decisions)
    return np.array(model.labels, dtype=np.float64)[np.argmax(model.probabilities(decisions), axis=1)]
