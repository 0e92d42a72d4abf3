"""Cross-validation (-v) and LIBLINEAR's search for C (-C)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled.decision_loops import add_errors
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight import Table
from svmtool.limits import StopFlag, in_turns
from svmtool.metrics import quotient, squared_correlation
from svmtool.problem.rows import CsrRows
from svmtool.settings import Settings
from svmtool.solvers.base import TIME, Status
from svmtool.training import folds as draws
from svmtool.training.interrupt import Interruptible
from svmtool.training.outcome import NOT_CONVERGED, advice, worst_status
from svmtool.training.problem_set import problems_of, take

MAX_C, MAX_C_REGRESSION = 1024.0, 1048576.0
P_STEPS = 20
UNMOVED_ROUNDS = 5  # values of C in a row at which no fold's w moves: the search ends
UNMOVED = 1e-15
DEFAULT_FOLDS = 5


class Folds:
    """The folds of one data set, drawn once; each is copied when it is used, so that memory stays bounded.

    open_ends: the statuses of those folds of the last `evaluate` that did not converge; cut: how many of them the
    limit of time has cut short.
    """

    open_ends: tuple[Status, ...] = ()

    def __init__(self, table: Table, settings: Settings, row_weights: np.ndarray | None, console: Any, wanted: int):
        self.table, self.settings, self.row_weights, self.console = table, settings, row_weights, console
        if len(table) < 2:
            raise SvmtoolError(f"cross-validation needs at least two rows of data, here there are {len(table)}")
        if wanted > len(table):
            console.warn(draws.TOO_MANY_FOLDS)
        if settings.stratified:
            self.order, self.starts = draws.stratified_folds(table.labels, wanted, settings.seed)
        else:
            self.order, self.starts = draws.liblinear_folds(len(table), wanted, settings.seed)
        self.count = len(self.starts) - 1

    @property
    def cut(self) -> int:
        return self.open_ends.count(TIME)

    def evaluate(self, settings: Settings, stop: StopFlag, warm: list | None = None) -> tuple[np.ndarray, bool]:
        """Predictions for every row, each by the model that has not seen it, and whether any w moved from its start.

        warm holds a weight matrix a fold (or None); it is replaced by the new one.  KeyboardInterrupt once
        `stop` is set: half a cross-validation says nothing.  Where its time is over the models so far predict.
        """
        predictions = np.empty(len(self.table))
        moved = [False] * self.count
        warnings: list[list[str]] = [[] for _ in range(self.count)]
        so_far: list[Any] = [None] * self.count  # where folds stand that their share of the time has cut short
        ends: list[Status | None] = [None] * self.count

        def one(k: int, share: StopFlag) -> bool:
            inside, outside = draws.fold_rows(self.order, self.starts, k, self.table.room is not None)
            weights = None if self.row_weights is None else self.row_weights[inside]
            problems = problems_of(take(self.table, inside), settings, weights)
            warnings[k] = problems.warnings()
            problems.any_start = warm is not None
            start = warm[k] if warm is not None else None
            results = problems.fit(start if so_far[k] is None else so_far[k], stop=share, sure=warm is None)
            W = problems.weights(results)
            late = any(r.status is TIME for r in results)
            ends[k] = TIME if late else worst_status(results)
            if late and stop.goes_on(share):
                so_far[k] = problems.start_from(problems.model(W))
                return True
            moved[k] = start is not None and float(np.sqrt(np.sum((W - start) ** 2))) > UNMOVED
            if warm is not None:
                warm[k] = W
            predictions[outside] = problems.model(W).predict(take(self.table, outside))
            return False

        on_disk = self.table.room is not None
        beside = 1 if on_disk else draws.threads.beside(self.count)
        in_turns(one, self.count, stop, beside, lambda work, count: draws.run_folds(work, count, on_disk))
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends = tuple(status for status in ends if status is not None and not status.converged)
        for sentences in warnings:
            for sentence in sentences:
                self.console.warn(sentence)
        return predictions, any(moved)

    def rate(self, predictions: np.ndarray) -> float:
        """Share of rows whose label is predicted."""
        return float(np.count_nonzero(predictions == self.table.labels)) / len(self.table)


def cross_validate(
    table: Table, settings: Settings, row_weights: np.ndarray | None, console: Any, stop: StopFlag | None = None
) -> int:
    """-v: LIBLINEAR's lines on stdout, also when quiet; returns the exit status.

    stop: the command's; None: settings.max_seconds count from here on.
    """
    assert settings.folds is not None
    stop = StopFlag(settings.max_seconds) if stop is None else stop
    folds = Folds(table, settings, row_weights, console, settings.folds)
    with Interruptible(stop):
        predictions, _ = folds.evaluate(settings, stop)
    if settings.row.task == "regression":
        console.out(regression_lines(table.labels, predictions))
    else:
        console.out(f"Cross Validation Accuracy = {percent(folds.rate(predictions))}%\n")
    if settings.row.task == "ordinal":
        from svmtool.training.ordinal import validation_lines

        console.out(validation_lines(table.labels, predictions))
    for status in dict.fromkeys(folds.open_ends):
        many = f"{folds.open_ends.count(status)} of {folds.count} folds were not converged"
        console.warn(f"WARNING: {many}: {advice(status, settings.row)}")
    return NOT_CONVERGED if settings.strict and folds.open_ends else 0


def _out_of_time(console: Any, settings: Settings, last: str) -> int:
    """Say where the limit of time has ended the search; returns the exit status."""
    console.warn(f"WARNING: the search has ended at {last}: {advice(TIME, settings.row)}")
    return NOT_CONVERGED if settings.strict else 0


def regression_lines(labels: np.ndarray, predictions: np.ndarray) -> str:
    """LIBLINEAR's two lines for -v of a regression; labels and predictions f8[n]."""
    sums = np.zeros(7)
    add_errors(labels, predictions, sums, len(labels))
    return (
        f"Cross Validation Mean squared error = {quotient(sums[0], len(labels))}\n"
        f"Cross Validation Squared correlation coefficient = {squared_correlation(sums, len(labels))}\n"
    )


def search_C(
    table: Table, settings: Settings, row_weights: np.ndarray | None, console: Any, stop: StopFlag | None = None
) -> int:
    """-C: double C from a small value; each fold starts from its answer at the last C (beta-seeding, Section 4.1).

    Starting value, end and ties are LIBLINEAR's: the smallest of equally good values wins, and the
    search ends early once no fold's w has moved for five values in a row, of which the very first may be one.
    Regression: so for each p, the largest first, which wins a tie.
    Where the time is over the best so far wins; a C that the limit cut short counts where there is no other.
    stop: as of cross_validate.
    """
    stop = StopFlag(settings.max_seconds) if stop is None else stop
    wanted = settings.folds if settings.folds is not None else DEFAULT_FOLDS
    console.out(f"Doing parameter search with {wanted}-fold cross validation.\n")
    folds = Folds(table, settings, row_weights, console, wanted)
    if settings.row.task == "regression":
        return _search_p(folds, settings, stop)

    def tell(predictions: np.ndarray) -> tuple[float, str]:
        rate = folds.rate(predictions)
        return rate, f"rate={percent(rate)}"

    start = settings.C if settings.C_given else smallest_C(table, settings.bias, settings.row.loss)
    C, rate, last = _best_C(folds, settings, start, MAX_C, tell, stop)
    console.out(f"Best C = {C:g}  CV accuracy = {percent(rate)}%\n")
    return 0 if last is None else _out_of_time(console, settings, f"C = {last:g}")


def _search_p(folds: Folds, settings: Settings, stop: StopFlag) -> int:
    """The search of a regression: p falls by steps of a twentieth of the largest |label|."""
    labels = folds.table.labels
    step = float(np.max(np.abs(labels), initial=0.0)) / P_STEPS
    first = P_STEPS - 1
    if settings.p_given and 0.0 < settings.p < first * step:
        first = int(settings.p / step)
    best, best_p, best_C, last = -math.inf, settings.p, settings.C, None
    for i in range(first, -1, -1):
        p = i * (step * P_STEPS) / P_STEPS

        def tell(predictions: np.ndarray, p: float = p) -> tuple[float, str]:
            error = float(np.mean(np.square(predictions - labels)))
            return -error, f"p={p:7.2f}\tMean squared error={error:g}"

        start = settings.C if settings.C_given else smallest_C_of_tube(folds.table, settings.bias, p)
        C, score, last = _best_C(folds, settings._replace(p=p), start, MAX_C_REGRESSION, tell, stop, best > -math.inf)
        if score > best:
            best, best_p, best_C = score, p, C
        if last is not None:
            break
    folds.console.out(f"Best C = {best_C:g} Best p = {best_p:g}  CV MSE = {-best:g}\n")
    return 0 if last is None else _out_of_time(folds.console, settings, f"p = {p:g}, C = {last:g}")


def _best_C(
    folds: Folds, settings: Settings, start: float, most: float, tell: Callable[[np.ndarray], tuple[float, str]],
    stop: StopFlag, known: bool = False,
) -> tuple[float, float, float | None]:  # fmt: skip
    """The best C from `start` to `most`, its score, and the C at which the time was over, None if it was not.

    tell says score (the larger the better) and line; known: whether some score is known already.
    """
    C = min(start, most)
    best_C, best = C, -math.inf
    warm: list = [None] * folds.count
    unmoved = 0
    while C <= most:
        if known and stop.left <= 0.0:
            return best_C, best, C
        with Interruptible(stop):
            predictions, moved = folds.evaluate(settings._replace(C=C), stop, warm)
        if known and folds.cut:
            return best_C, best, C
        score, line = tell(predictions)
        unmoved = 0 if moved else unmoved + 1
        if score > best:
            best_C, best = C, score
        folds.console.solver(f"log2c={math.log2(C):7.2f}\t{line}\n")
        if folds.cut:
            return best_C, best, C
        known = True
        if unmoved == UNMOVED_ROUNDS:
            break
        C *= 2.0
    else:
        folds.console.solver("WARNING: maximum C reached.\n")
    return best_C, best, None


def smallest_C(table: Table, bias: float, loss: str) -> float:
    """LIBLINEAR's first C: a power of two below 1 / (2 n max |x_i|^2), for the logistic loss below twice that."""
    factor = 1.0 if loss == "logistic" else 2.0
    return _power_of_two_below(1.0 / (factor * len(table) * _largest_square(table, bias)))


def smallest_C_of_tube(table: Table, bias: float, p: float) -> float:
    """LIBLINEAR's first C for -s 11: a power of two below 0.01 sum max(0, |t_i| - p)^2 / (8 (sum |t_i|)^2 max |x_i|^2).

    Infinite where every label lies in the tube.  Labels are divided by the largest: their squares stay numbers.
    """
    sizes = np.abs(table.labels)
    largest = float(np.max(sizes, initial=0.0)) or 1.0
    loss = float(np.sum(np.square(np.maximum(sizes - p, 0.0) / largest)))
    if loss == 0.0:
        return math.inf
    return _power_of_two_below(0.01 * loss / (8.0 * float(np.sum(sizes / largest)) ** 2 * _largest_square(table, bias)))


def _largest_square(table: Table, bias: float) -> float:
    """max |x_i|^2 with the bias feature; SvmtoolError where every row is empty, or none can be squared."""
    rows = CsrRows(table.indptr, table.indices, table.values, table.n_features, bias)
    largest = float(np.max(rows.square_norms(), initial=0.0))
    if largest <= 0:
        raise SvmtoolError("the search for C needs rows with features: every row of the data is empty; give -c")
    if largest == math.inf:
        raise SvmtoolError("feature values overflow when squared and summed: scale the features (svm-scale)")
    return largest


def _power_of_two_below(x: float) -> float:
    """As LIBLINEAR computes it, whose quotient of logarithms may miss a power of two itself."""
    return 2.0 ** math.floor(math.log(max(x, 5e-324)) / math.log(2.0))


def percent(share: float) -> str:
    """A share as C's printf shows 100 times it with %g."""
    return f"{100.0 * share:g}"
