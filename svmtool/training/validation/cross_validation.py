"""Cross-validation (-v) and LIBLINEAR's search for C (-C)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from svmtool.data.rows import CsrRows
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight.table import Table
from svmtool.limits import StopFlag, in_turns
from svmtool.metrics import RegressionErrors
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.interrupt import Interruptible
from svmtool.training.outcome import NOT_CONVERGED, advice, told_folds, worst_status
from svmtool.training.reductions.base import problems_of, take
from svmtool.training.validation import folds as draws

MAX_C, MAX_C_REGRESSION = 1024.0, 1048576.0
P_STEPS = 20
UNMOVED_ROUNDS = 5  # values of C in a row at which no fold's w moves: the search ends
UNMOVED = 1e-15
DEFAULT_FOLDS = 5
DOING = "Doing parameter search with {}-fold cross validation.\n"


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
            draws.refuse_all_in_one(self.starts)
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
            inside, outside = draws.fold_rows(self.order, self.starts, k, self.table.mapped is not None)
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

        on_disk = self.table.mapped is not None
        beside = 1 if on_disk else draws.threads.beside(self.count)
        in_turns(one, self.count, stop, beside, lambda work, count: draws.run_folds(work, count, on_disk))
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends = tuple(status for status in ends if status is not None and not status.converged)
        for sentences in warnings:
            for sentence in sentences:
                self.console.warn(sentence)
        return predictions, any(moved)

    def largest_square(self, bias: float) -> float:
        """max |x_i|^2 with the bias feature."""
        return largest_square(self.table, bias)

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
    return validated(Folds(table, settings, row_weights, console, settings.folds), settings, stop)


def validated(folds: Folds, settings: Settings, stop: StopFlag) -> int:
    """`cross_validate` on folds that are drawn."""
    console, labels = folds.console, folds.table.labels
    with Interruptible(stop):
        predictions, _ = folds.evaluate(settings, stop)
    if settings.row.task == "regression":
        tell_regression(console, labels, predictions)
    else:
        console.out(f"Cross Validation Accuracy = {percent(folds.rate(predictions))}%\n")
    if settings.row.task == "ordinal":
        from svmtool.training.reductions.ordinal import validation_lines

        console.out(validation_lines(labels, predictions))
    return told_folds(folds.open_ends, folds.count, settings, console)


def tell_regression(console: Any, labels: np.ndarray, predictions: np.ndarray) -> None:
    """LIBLINEAR's two lines for -v of a regression, and what is to be said of them; labels and predictions f8[n]."""
    errors = RegressionErrors()
    errors.add(labels, predictions)
    console.out(
        f"Cross Validation Mean squared error = {errors.mean_squared()}\n"
        f"Cross Validation Squared correlation coefficient = {errors.squared_correlation()}\n"
    )
    for warning in errors.warnings():
        console.warn(warning)


class Tried(NamedTuple):
    """A value of C in a search: what was tried, its score, and the statuses of folds that did not converge."""

    p: float
    C: float
    score: float
    open_ends: tuple[Status, ...]


def _told_search(tried: list[Tried], best: Tried, last: str, settings: Settings, console: Any) -> int:
    """Say at how many values folds did not converge, and where the time was over; returns the exit status.

    last: the value at which the limit of time has ended the search; empty where it has not.
    """
    what = "p and C" if settings.row.task == "regression" else "C"
    statuses = dict.fromkeys(status for value in tried for status in value.open_ends if status is not TIME)
    for status in statuses:
        where = [value for value in tried if status in value.open_ends]
        also = ", also at the best" if best in where else ""
        many = f"{len(where)} of {len(tried)} values of {what}{also}"
        console.warn(f"WARNING: folds were not converged at {many}: {advice(status, settings.row)}")
    if last:
        console.warn(f"WARNING: the search has ended at {last}: {advice(TIME, settings.row)}")
    return NOT_CONVERGED if settings.strict and (last or statuses) else 0


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
    console.out(DOING.format(wanted))
    return searched(Folds(table, settings, row_weights, console, wanted), settings, stop)


def searched(folds: Folds, settings: Settings, stop: StopFlag) -> int:
    """`search_C` on folds that are drawn."""
    console = folds.console
    if settings.row.task == "regression":
        return _search_p(folds, settings, stop)

    def tell(predictions: np.ndarray) -> tuple[float, str]:
        rate = folds.rate(predictions)
        return rate, f"rate={percent(rate)}"

    start = settings.C
    if not settings.C_given:
        start = smallest_C(len(folds.table), folds.largest_square(settings.bias), settings.row.loss)
    tried: list[Tried] = []
    last = _double_C(folds, settings, start, MAX_C, tell, stop, tried)
    best = _best(tried)
    console.out(f"Best C = {best.C:g}  CV accuracy = {percent(best.score)}%\n")
    return _told_search(tried, best, "" if last is None else f"C = {last:g}", settings, console)


def _search_p(folds: Folds, settings: Settings, stop: StopFlag) -> int:
    """The search of a regression: p falls by steps of a twentieth of the largest |label|."""
    labels = folds.table.labels
    step = float(np.max(np.abs(labels), initial=0.0)) / P_STEPS
    first = P_STEPS - 1
    if settings.p_given and 0.0 < settings.p < first * step:
        first = int(settings.p / step)
    tried: list[Tried] = []
    last = None
    for i in range(first, -1, -1):
        p = i * (step * P_STEPS) / P_STEPS

        def tell(predictions: np.ndarray, p: float = p) -> tuple[float, str]:
            errors = RegressionErrors()
            errors.add(labels, predictions)
            error = errors.squared / errors.n
            return -error, f"p={p:7.2f}\tMean squared error={error:g}"

        start = settings.C if settings.C_given else smallest_C_of_tube(labels, p, folds.largest_square(settings.bias))
        last = _double_C(folds, settings._replace(p=p), start, MAX_C_REGRESSION, tell, stop, tried)
        if last is not None:
            break
    best = _best(tried)
    folds.console.out(f"Best C = {best.C:g} Best p = {best.p:g}  CV MSE = {-best.score:g}\n")
    ended = "" if last is None else f"p = {p:g}, C = {last:g}"
    return _told_search(tried, best, ended, settings, folds.console)


def _best(tried: list[Tried]) -> Tried:
    """The first of the best."""
    return max(tried, key=lambda value: value.score)


def _double_C(
    folds: Folds, settings: Settings, start: float, most: float, tell: Callable[[np.ndarray], tuple[float, str]],
    stop: StopFlag, tried: list[Tried],
) -> float | None:  # fmt: skip
    """Try C from `start` to `most`; returns the C at which the time was over, None if it was not.

    tell says score (the larger the better) and line; tried: what has been tried, to which this adds.
    """
    C = min(start, most)
    warm: list = [None] * folds.count
    unmoved = 0
    while C <= most:
        if tried and stop.left <= 0.0:
            return C
        with Interruptible(stop):
            predictions, moved = folds.evaluate(settings._replace(C=C), stop, warm)
        if tried and folds.cut:
            return C
        score, line = tell(predictions)
        unmoved = 0 if moved else unmoved + 1
        tried.append(Tried(settings.p, C, score, folds.open_ends))
        folds.console.solver(f"log2c={math.log2(C):7.2f}\t{line}\n")
        if folds.cut:
            return C
        if unmoved == UNMOVED_ROUNDS:
            break
        C *= 2.0
    else:
        folds.console.solver("WARNING: maximum C reached.\n")
    return None


def smallest_C(n: int, square: float, loss: str) -> float:
    """LIBLINEAR's first C: a power of two below 1 / (2 n max |x_i|^2), for the logistic loss below twice that."""
    factor = 1.0 if loss == "logistic" else 2.0
    return _power_of_two_below(1.0 / (factor * n * square))


def smallest_C_of_tube(labels: np.ndarray, p: float, square: float) -> float:
    """LIBLINEAR's first C for -s 11: a power of two below 0.01 sum max(0, |t_i| - p)^2 / (8 (sum |t_i|)^2 max |x_i|^2).

    Infinite where every label lies in the tube.  Labels are divided by the largest: their squares stay numbers.
    """
    sizes = np.abs(labels)
    largest = float(np.max(sizes, initial=0.0)) or 1.0
    loss = float(np.sum(np.square(np.maximum(sizes - p, 0.0) / largest)))
    if loss == 0.0:
        return math.inf
    return _power_of_two_below(0.01 * loss / (8.0 * float(np.sum(sizes / largest)) ** 2 * square))


def largest_square(table: Table, bias: float) -> float:
    """max |x_i|^2 with the bias feature; see checked_square."""
    rows = CsrRows(table.indptr, table.indices, table.values, table.n_features, bias)
    return checked_square(float(np.max(rows.square_norms(), initial=0.0)))


def checked_square(largest: float) -> float:
    """max |x_i|^2 itself; SvmtoolError where every row is empty, or none can be squared."""
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
