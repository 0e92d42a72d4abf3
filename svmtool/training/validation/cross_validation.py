"""Cross-validation (-v): folds, models and predictions.  report.py prints the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, with_time_shares
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.progress import doing
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.outcome import worst_status
from svmtool.training.reductions.base import Reduction, problems_of
from svmtool.training.validation import folds as draws
from svmtool.training.validation.scores import PREDICTIONS, PROBABILITIES, HeldOut

if TYPE_CHECKING:
    from svmtool.training.kernel.validation import KernelFolds

UNCHANGED_NORM = 1e-15  # largest norm of a change of weights that counts as unchanged


class Folds:
    """The folds of a data set, drawn once.  Rows of a fold are copied while it is used, to limit memory.

    count: number of folds; warnings: messages for the user so far, in order; open_ends: the statuses of the folds of
    the last `evaluate` that did not converge; any_start: whether warm starts use LIBLINEAR's rule alone, as its search
    for C does.  Raises SvmtoolError for fewer than two rows.
    """

    open_ends: tuple[Status, ...] = ()
    any_start = True

    def __init__(self, table: Dataset, settings: Settings, wanted: int):
        self.table, self.settings = table, settings
        self.warnings: list[str] = []
        if 2 <= len(table) < wanted:
            self.warnings.append(draws.TOO_MANY_FOLDS)
        run, groups = settings.run, draws.groups_of(table, settings)
        self.order, self.starts = draws.drawn_folds(table.labels, wanted, run.stratified, run.seed, groups)
        self.count = len(self.starts) - 1

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: list | None = None,
        keep: Callable[[np.ndarray, LinearModel, np.ndarray], object] | None = None, calibrated: bool = False,
        witness: Callable[[int, Reduction, list, Dataset], object] | None = None,
    ) -> tuple[np.ndarray, bool]:  # fmt: skip
        """Train every fold and predict its held-out rows.

        Returns the predictions f8[n], each by the model that has not seen the row, and whether any weight vector
        changed.  warm: a weight matrix (or None) for each fold, replaced by the new one.  keep receives the rows (i8),
        the model and the decision values of each fold, from the thread that has trained it; calibrated: the model has
        probabilities, with sigmoids fitted to the fold's training rows where needed.  witness receives a fold's number,
        its problems with their results, and the rows held out.  Raises KeyboardInterrupt once
        `stop` is set.  After the time limit the models trained so far predict.
        """
        predictions = np.empty(len(self.table))
        moved = [False] * self.count
        warnings: list[list[str]] = [[] for _ in range(self.count)]
        so_far: list[Any] = [None] * self.count  # weights of folds stopped by their share of the time
        ends: list[Status | None] = [None] * self.count

        searches = warm is not None and self.any_start

        def one(k: int, share: StopFlag) -> bool:
            inside, outside = draws.fold_rows(self.order, self.starts, k, self.table.mapped is not None)
            problems = problems_of(self.table.take(inside), settings)
            problems.any_start, problems.seeded = searches, True
            start = warm[k] if warm is not None else None
            results = problems.fit(start if so_far[k] is None else so_far[k], stop=share, verified=not searches)
            W, warnings[k] = problems.weights(results), problems.warnings()
            late = any(r.status is TIME for r in results)
            ends[k] = TIME if late else worst_status(results)
            if late and stop.may_resume(share):
                so_far[k] = problems.start_from(problems.model(W))
                return True
            if warm is not None:
                warm[k] = problems.as_start(W)
                moved[k] = start is not None and float(np.sqrt(np.sum((warm[k] - start) ** 2))) > UNCHANGED_NORM
            model = problems.model(W)
            if calibrated and not model.gives_probabilities:
                from svmtool.training.calibration import add_sigmoids

                why, doubts = add_sigmoids(model, self.table.take(inside), settings, share)
                warnings[k] += [f"WARNING: a fold has no probabilities (-b 1): {why}"] if why else doubts
            decisions = model.decision_values(self.table.take(outside))
            predictions[outside] = model.labels_from(decisions)
            if witness is not None:
                witness(k, problems, results, self.table.take(outside))
            if keep is not None:
                keep(outside, model, decisions)
            part.step()
            return False

        on_disk = self.table.mapped is not None
        beside = 1 if on_disk else draws.threads.beside(self.count)
        with doing("fold", self.count) as part:
            with_time_shares(one, self.count, stop, beside, lambda work, count: draws.run_folds(work, count, on_disk))
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends = tuple(status for status in ends if status is not None and not status.converged)
        self.warnings += [text for of_fold in warnings for text in of_fold]
        return predictions, any(moved)

    def largest_square(self, bias: float) -> float:
        """max |x_i|^2 with the bias feature; see checked_square."""
        return checked_square(float(np.max(self.table.rows(bias, -1).square_norms(), initial=0.0)))


def held_out(
    folds: Folds | KernelFolds, settings: Settings, stop: StopFlag, warm: list | None, held: HeldOut | None
) -> tuple[np.ndarray, bool]:
    """`Folds.evaluate`, for a HeldOut that receives what it needs."""
    if held is None or held.needs == PREDICTIONS:  # distributed folds keep no decision values
        found = folds.evaluate(settings, stop, warm)
    else:
        calibrated = held.needs == PROBABILITIES and bool(settings.run.probability)
        found = folds.evaluate(settings, stop, warm, held.keep, calibrated)
    if held is not None:
        held.predictions = found[0]
    return found


def checked_square(largest: float) -> float:
    """Return max |x_i|^2; SvmtoolError if all rows are empty or squares overflow."""
    if largest <= 0:
        raise SvmtoolError("the search for C needs rows with features: every row of the data is empty; give -c")
    if largest == math.inf:
        raise SvmtoolError("feature values overflow when squared and summed: scale the features (svm-scale)")
    return largest
