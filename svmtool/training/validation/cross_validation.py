"""Cross-validation (-v): folds, models and predictions.  report.py prints the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel, sigmoid_notes
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.calibration import NotCalibratedError, Sigmoids, of_folds, too_few
from svmtool.training.outcome import worst_status
from svmtool.training.reductions.base import Reduction, problems_of
from svmtool.training.validation.folds import FOLDS, AnyFolds, Keep
from svmtool.training.validation.scores import PROBABILITIES, HeldOut, kind_of

UNCHANGED_NORM = 1e-15  # largest norm of a change of weights that counts as unchanged


class Folds(AnyFolds):
    """The folds of a data set for linear models.

    any_start: whether warm starts use LIBLINEAR's rule alone, as its search for C does.  parallel: whether folds may be
    trained beside each other.
    """

    any_start = parallel = True

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: list | None = None, keep: Keep | None = None,
        calibrated: bool = False, verified: bool = True,
        witness: Callable[[int, Reduction, list, Dataset], object] | None = None,
    ) -> tuple[np.ndarray, bool]:  # fmt: skip
        """See AnyFolds.  witness receives a fold's number, its problems with their results, and the rows held out."""
        moved = [False] * self.count
        so_far: list[Any] = [None] * self.count  # weights of folds stopped by their share of the time
        searches = warm is not None and self.any_start

        def train(
            k: int, inside: np.ndarray, outside: np.ndarray, share: StopFlag
        ) -> tuple[Any, Status | None, list[str]]:  # fmt: skip
            problems = self.problems(k, inside, settings)
            problems.any_start, problems.seeded = searches, True
            start = warm[k] if warm is not None else None
            begin = start if so_far[k] is None else so_far[k]
            results = problems.fit(begin, stop=share, verified=verified and not searches)
            W, warnings = problems.weights(results), problems.warnings()
            late = any(r.status is TIME for r in results)
            if late and stop.may_resume(share):
                so_far[k] = problems.as_start(W)
                return None, TIME, warnings
            if warm is not None:
                warm[k] = problems.as_start(W)
                moved[k] = start is not None and float(np.sqrt(np.sum((warm[k] - start) ** 2))) > UNCHANGED_NORM
            model = problems.model(W)
            if calibrated and not model.gives_probabilities:
                why, doubts = add_sigmoids(model, self.table.take(inside), settings, share)
                warnings += [f"WARNING: a fold has no probabilities (-b 1): {why}"] if why else doubts
            if witness is not None:
                witness(k, problems, results, self.table.take(outside))
            return model, TIME if late else worst_status(results), warnings

        beside = threads.beside(self.count) if self.parallel and self.table.mapped is None else 1
        return self._each(train, stop, keep, beside), any(moved)

    def problems(self, k: int, inside: np.ndarray, settings: Settings) -> Reduction:
        """The problems of fold k, whose training rows are `inside`, i8."""
        return problems_of(self.table.take(inside), settings)

    def largest_square(self, bias: float) -> float:
        """max |x_i|^2 with the bias feature; see checked_square."""
        return checked_square(float(np.max(self.table.rows(bias, -1).square_norms(), initial=0.0)))


def held_out(folds: Folds, settings: Settings, stop: StopFlag, warm: list | None, needs: int) -> tuple[HeldOut, bool]:
    """What `Folds.evaluate` gives, the predictions with what a measure `needs`."""
    held = HeldOut(folds.table.labels, kind_of(settings), needs)
    calibrated = needs == PROBABILITIES and bool(settings.run.probability)
    held.predictions, moved = folds.evaluate(settings, stop, warm, held.keep, calibrated)
    return held, moved


def checked_square(largest: float) -> float:
    """Return max |x_i|^2; SvmtoolError if all rows are empty or squares overflow."""
    if largest <= 0:
        raise SvmtoolError("the search for C needs rows with features: every row of the data is empty; give -c")
    if largest == math.inf:
        raise SvmtoolError("feature values overflow when squared and summed: scale the features (svm-scale)")
    return largest


def calibrate(table: Dataset, settings: Settings, labels: tuple[int, ...], stop: StopFlag) -> Sigmoids:
    """The sigmoids of a model with these labels, trained on the table with these settings; NotCalibratedError."""
    table = table.in_use()
    if len(table) < 2:
        raise NotCalibratedError("at least two rows are needed")
    try:
        folds = Folds(table, settings.replace(stratified=True, grouped=False), FOLDS)
    except SvmtoolError:  # one fold would hold all rows
        raise NotCalibratedError(too_few(labels[0])) from None
    return of_folds(folds, settings, labels, stop)


def add_sigmoids(
    model: LinearModel, rows: Any, settings: Settings, stop: StopFlag, calibrate: Callable[..., Sigmoids] = calibrate
) -> tuple[str, list[str]]:
    """Add the sigmoids that `calibrate` makes of the rows, on which the model was trained with these settings.

    Returns why that is impossible, or "", and warnings.
    """
    try:
        found = calibrate(rows, settings, model.labels or (), stop)
    except NotCalibratedError as e:
        return str(e), []
    model.notes += sigmoid_notes(found.pairs)
    return "", found.warnings
