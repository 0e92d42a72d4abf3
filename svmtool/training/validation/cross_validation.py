"""Cross-validation (-v): folds, models and predictions.  report.py prints the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, in_turn, with_time_shares
from svmtool.params import Settings
from svmtool.progress import doing
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.outcome import worst_status
from svmtool.training.reductions.base import Reduction, problems_of
from svmtool.training.validation.folds import GlibcRand, drawn_folds, fold_rows
from svmtool.training.validation.scores import PROBABILITIES, HeldOut

UNCHANGED_NORM = 1e-15  # largest norm of a change of weights that counts as unchanged
TOO_MANY = "Will use # folds = # data instead (i.e., leave-one-out cross validation)"

# What takes the rows of a fold (i8), its model, and the decision values of these rows, from the thread that has
# trained the model
Keep = Callable[[np.ndarray, Any, np.ndarray], object]


class Folds:
    """The folds of a data set, drawn once.  Rows of a fold are copied while it is used, to limit memory.

    count: number of folds; warnings: messages for the user so far, in order; open_ends: the statuses of the folds of
    the last `evaluate` that did not converge; any_start: whether warm starts use LIBLINEAR's rule alone, as its search
    for C does.  Raises SvmtoolError for fewer than two rows.
    """

    open_ends: tuple[Status, ...] = ()
    any_start = True
    part = "fold"  # what progress calls one
    too_many = f"WARNING: # folds > # data. {TOO_MANY}"

    def __init__(self, table: Dataset, settings: Settings, wanted: int, rand: GlibcRand | None = None):
        self.table, self.settings, run = table, settings, settings.run
        groups = table.groups if run.grouped else None  # every row has one, see Reading
        self.order, self.starts = drawn_folds(table.labels, wanted, run.stratified, rand or run.seed, groups)
        self.count = len(self.starts) - 1
        self.warnings = [self.too_many.format(wanted, len(table))] if len(table) < wanted else []

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: list | None = None, keep: Keep | None = None,
        calibrated: bool = False, verified: bool = True,
        witness: Callable[[int, Reduction, list, Dataset], object] | None = None,
    ) -> tuple[np.ndarray, bool]:  # fmt: skip
        """Train every fold and predict its held-out rows.

        Returns the predictions f8[n], each by the model that has not seen the row, and whether any weight vector
        changed.  warm: a weight matrix (or None) for each fold, replaced by the new one.  keep: see Keep.
        calibrated: the model has probabilities, with sigmoids fitted to the fold's training rows where needed.
        verified: see Reduction.fit.  witness receives a fold's number, its problems with their results, and the rows
        held out.  Raises KeyboardInterrupt once `stop` is set.  After the time limit the models trained so far predict.
        """
        moved = [False] * self.count
        so_far: list[Any] = [None] * self.count  # weights of folds stopped by their share of the time
        searches = warm is not None and self.any_start

        def train(
            k: int, inside: np.ndarray, outside: np.ndarray, share: StopFlag
        ) -> tuple[Any, Status | None, list[str]]:  # fmt: skip
            problems = problems_of(self.table.take(inside), settings)
            problems.any_start, problems.seeded = searches, True
            start = warm[k] if warm is not None else None
            begin = start if so_far[k] is None else so_far[k]
            results = problems.fit(begin, stop=share, verified=verified and not searches)
            W, warnings = problems.weights(results), problems.warnings()
            late = any(r.status is TIME for r in results)
            if late and stop.may_resume(share):
                so_far[k] = problems.start_from(problems.model(W))
                return None, TIME, warnings
            if warm is not None:
                warm[k] = problems.as_start(W)
                moved[k] = start is not None and float(np.sqrt(np.sum((warm[k] - start) ** 2))) > UNCHANGED_NORM
            model = problems.model(W)
            if calibrated and not model.gives_probabilities:
                from svmtool.training.calibration import add_sigmoids

                why, doubts = add_sigmoids(model, self.table.take(inside), settings, share)
                warnings += [f"WARNING: a fold has no probabilities (-b 1): {why}"] if why else doubts
            if witness is not None:
                witness(k, problems, results, self.table.take(outside))
            return model, TIME if late else worst_status(results), warnings

        beside = 1 if self.table.mapped is not None else threads.beside(self.count)
        return self._each(train, stop, keep, beside), any(moved)

    def _each(self, train: Callable[..., Any], stop: StopFlag, keep: Keep | None, beside: int) -> np.ndarray:
        """The predictions of all folds, trained `beside` each other.

        train(k, training rows, rows held out, stop) gives a fold's model, its status and warnings; without a model
        its share of the time has ended it, and it is called again.
        """
        predictions, on_disk = np.empty(len(self.table)), self.table.mapped is not None
        found: list[Any] = [None] * self.count

        def one(k: int, share: StopFlag) -> bool:
            if stop.set:
                raise KeyboardInterrupt
            inside, outside = fold_rows(self.order, self.starts, k, on_disk)
            model, *found[k] = train(k, inside, outside, share)
            if model is None:
                return True
            decisions = model.decision_values(self.table.take(outside))
            predictions[outside] = self.answers(model, decisions)
            if keep is not None:
                keep(outside, model, decisions)
            part.step()
            return False

        with doing(self.part, self.count) as part:
            run = threads.run_blocks if beside > 1 else in_turn
            with_time_shares(one, self.count, stop, beside, run)
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends = tuple(status for status, _ in found if status is not None and not status.converged)
        self.warnings += [text for _, of_fold in found for text in of_fold]
        return predictions

    def answers(self, model: Any, decisions: np.ndarray) -> np.ndarray:
        """Labels or values f8[n] by a fold's model, from decision values."""
        return model.labels_from(decisions)

    def largest_square(self, bias: float) -> float:
        """max |x_i|^2 with the bias feature; see checked_square."""
        return checked_square(float(np.max(self.table.rows(bias, -1).square_norms(), initial=0.0)))


def held_out(
    folds: Folds, settings: Settings, stop: StopFlag, warm: list | None, held: HeldOut
) -> tuple[np.ndarray, bool]:
    """`Folds.evaluate`, for a HeldOut that receives what it needs."""
    calibrated = held.needs == PROBABILITIES and bool(settings.run.probability)
    found = folds.evaluate(settings, stop, warm, held.keep, calibrated)
    held.predictions = found[0]
    return found


def checked_square(largest: float) -> float:
    """Return max |x_i|^2; SvmtoolError if all rows are empty or squares overflow."""
    if largest <= 0:
        raise SvmtoolError("the search for C needs rows with features: every row of the data is empty; give -c")
    if largest == math.inf:
        raise SvmtoolError("feature values overflow when squared and summed: scale the features (svm-scale)")
    return largest
