"""Cross-validation and the search for C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from svmtool.api import arrays
from svmtool.api.run import RunContext
from svmtool.api.settings import check_names, checked, settings_of
from svmtool.api.training import CLASSIFIES, by_number, check_labels, kernel_rows
from svmtool.api.values import flag, shown, text, whole
from svmtool.api.wording import in_keywords
from svmtool.data.dataset import Dataset, left_out
from svmtool.data.labels import Classes
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.solvers.shared.base import Status
from svmtool.training.calibration import by_label
from svmtool.training.kernel.train import KernelFolds
from svmtool.training.validation import guarantee as guaranteed
from svmtool.training.validation import search
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.multilabel import LABEL_MEASURES, MICRO_F1, LabelFolds
from svmtool.training.validation.scores import (
    MEASURES,
    PREDICTIONS,
    PROBABILITIES,
    HeldOut,
    Measure,
    arranged,
    kind_of,
    measure_of,
)
from svmtool.training.validation.search import Search

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from svmtool.api.keywords import Keywords

Metric = str | Callable[[np.ndarray, np.ndarray], float]


class Validation(NamedTuple):
    """The result of a cross-validation.

    Attributes
    ----------
    predictions : ndarray, (n,), or csr_matrix, (n, labels)
        Prediction of each row by the model trained without it; of a matrix of labels the matrix that marks them.
    decision_values : ndarray, (n, columns), or None
        Decision values of these models, with the columns of a model of all rows; nan where a fold's model lacks a
        class, None where these have different columns, and of a matrix of labels.
    metrics : dict
        Name to value, of the requested measures.
    fold : ndarray of int, (n,)
        The fold of each row.
    open_ends : tuple of Status
        Statuses of the folds that did not converge.
    warnings : tuple of str
        What the commands print as warnings, with keywords.
    """

    predictions: Any
    decision_values: np.ndarray | None
    metrics: dict[str, float]
    fold: np.ndarray
    open_ends: tuple[Status, ...]
    warnings: tuple[str, ...]


def cross_validate(
    X: Any, y: Any, solver: int | str | None = None, *, folds: int = 5, stratified: bool = False, groups: Any = None,
    metrics: Metric | Mapping[str, Metric] | list[Metric] | tuple[Metric, ...] | None = None, kernel: str | None = None,
    sample_weight: Any = None, threads: int | None = None, one_class: bool = False, progress: bool = False,
    **keywords: Unpack[Keywords],
) -> Validation:  # fmt: skip
    """Predict every row by a model trained without the row's fold.

    Folds are those of `svm-train -v`: LIBLINEAR's, with a kernel LIBSVM's, which are stratified for classification.

    Parameters
    ----------
    X : array or sparse matrix, (n, features)
        As of `fit`.
    y : array, (n,), or array or sparse matrix, (n, labels)
        As of `fit`.
    solver : int or str, optional
        As of `fit`.
    folds : int
        Number of folds.
    stratified : bool
        Folds with equal shares of each class; not of a matrix of labels.
    groups : array, (n,), optional
        The group of each row, such as a user, a family or the query of a ranking: numbers or text.  The rows of a group
        are in the same fold.
    metrics : str, callable, or several of them, optional
        Names are those of `svm-train --score`: accuracy, balanced-accuracy, f1, auc, average-precision, log-loss
        (needs probabilities), mse, mae, r2; of a matrix of labels micro-f1 and macro-f1. A callable takes
        (y, predictions), of a matrix of labels both as csr_matrix.
    kernel : str, optional
        As of `fit`.
    sample_weight : array, (n,), optional
        As of `fit`.
    threads : int, optional
        As of `fit`.
    one_class : bool
        As of `fit`.
    progress : bool
        As of `fit`.
    **keywords
        Others of `fit`: C, eps, gap, bias, ...

    Returns
    -------
    Validation
        Predictions, decision values, metrics and folds.

    Raises
    ------
    ValueError, TypeError
        As of `fit`; also for unknown metrics.

    Examples
    --------
    >>> import numpy as np
    >>> from svmtool import api
    >>> X = np.vstack([np.eye(3), 2 * np.eye(3)])
    >>> found = api.cross_validate(X, [1, 2, 2, 1, 2, 2], solver=2, folds=2, metrics="accuracy")
    >>> found.predictions.shape, sorted(found.metrics)
    ((6,), ['accuracy'])
    """
    check_names(
        keywords, ("kernel", "sample_weight", "threads", "folds", "stratified", "groups", "metrics", "progress")
    )
    wanted = _named(metrics)
    folds, stratified = whole("folds", folds), flag("stratified", stratified)
    one_class = flag("one_class", one_class)
    data, classes, also = _read(X, y, sample_weight, groups, stratified, keywords)
    with RunContext(threads, keywords.get("max_seconds"), progress=progress) as run:
        settings = settings_of(data, solver, kernel, keywords, also)
        if data.sets is not None:
            if stratified:
                raise ValueError("y is a matrix of labels: folds are not stratified")
            return _of_sets(data, settings.replace(grouped=groups is not None), folds, run, wanted)
        check_labels(data, settings, one_class, y, classes)
        measures = {name: metric if callable(metric) else _measure(metric, settings) for name, metric in wanted.items()}
        needs = max((m.needs for m in measures.values() if isinstance(m, Measure)), default=PREDICTIONS)
        held = HeldOut(data.labels, kind_of(settings), needs)
        found = _evaluated(data, settings.replace(stratified=stratified, grouped=groups is not None), folds, run, held)
    held.predictions = found.predictions
    y_true, predictions = data.labels, found.predictions
    if classes is not None and settings.row.kind in CLASSIFIES:
        y_true, predictions = classes[y_true.astype(np.intp)], classes[predictions.astype(np.intp)]
    warnings = [*left_out(data.weights, "sample_weight"), *found.warnings]
    values = {
        name: m.compute(held) if isinstance(m, Measure) else float(m(y_true, predictions))
        for name, m in measures.items()
    }
    return found._replace(
        predictions=predictions, metrics=values, warnings=tuple(dict.fromkeys(map(in_keywords, warnings)))
    )


def _read(
    X: Any, y: Any, sample_weight: Any, groups: Any, stratified: bool, keywords: dict[str, Any]
) -> tuple[Dataset, np.ndarray | None, tuple[str, ...]]:
    """The rows, the classes that their labels number, if these were text, and what is given besides the keywords.

    Class weights of the keywords become those of the numbers.  ValueError for keywords of one model.
    """
    for name in ("thresholds", "prune", "keep_dual"):
        if keywords.get(name) is not None and keywords.get(name) is not False:
            raise ValueError(f"{name} is of one model: give it to fit")
    y, classes, sets = arrays.read_labels(y)
    data = arrays.dataset(X, y, sample_weight, sets)
    data.groups = arrays.groups(groups, len(data), stratified)
    if "class_weight" in keywords:
        keywords["class_weight"] = by_number(keywords["class_weight"], classes)
    given = {
        "sample_weight": sample_weight is not None, "stratified": stratified, "groups": groups is not None,
        "multilabel": sets is not None,
    }  # fmt: skip
    return data, classes, tuple(name for name, there in given.items() if there)


def _named(given: Any) -> dict[str, Metric]:
    """The requested metrics, by name."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        _named(list(given.values()))
        return {text("metrics: a name", name): metric for name, metric in given.items()}
    some = [given] if isinstance(given, str) or callable(given) else given
    if not isinstance(some, (list, tuple)) or not all(isinstance(m, str) or callable(m) for m in some):
        raise TypeError(f"metrics must be a name, a function, or a list or dict of them, not {shown(given)}")
    return {m if isinstance(m, str) else getattr(m, "__name__", repr(m)): m for m in some}


def _measure(name: str | None, settings: Settings) -> Measure:
    """The measure of this name; ValueError if there is none, SvmtoolError if the solver does not have it."""
    if name is not None and name not in MEASURES:
        raise ValueError(f"unknown metric {name!r}: use one of {', '.join(MEASURES)}")
    return measure_of(name, settings)


def _evaluated(data: Dataset, s: Settings, count: int, run: RunContext, held: HeldOut) -> Validation:
    folds: Folds | KernelFolds
    if s.problem.kernel is None:
        folds = Folds(data, s, count)
    else:
        folds = KernelFolds(kernel_rows(data, s), s, count)
    labels = _labels(data, s.row.kind)
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def keep(rows: np.ndarray, model: LinearModel | KernelModel, decisions: np.ndarray) -> None:
        parts.append((rows, _columns(model, decisions, labels, s.row.kind)))
        held.keep(rows, model, decisions)

    calibrated = held.needs == PROBABILITIES and bool(s.run.probability)
    predictions, _ = folds.evaluate(s, run.stop, None, keep, calibrated)
    decisions = _gathered(len(data), parts)
    return Validation(predictions, decisions, {}, _fold_of(folds), folds.open_ends, tuple(folds.warnings))


def _fold_of(folds: Folds | KernelFolds) -> np.ndarray:
    """The fold of each row, i8[n]."""
    fold = np.empty(len(folds.order), np.int64)
    fold[folds.order] = np.repeat(np.arange(folds.count), np.diff(folds.starts))
    return fold


def _of_sets(data: Dataset, s: Settings, count: int, run: RunContext, wanted: dict[str, Metric]) -> Validation:
    """`cross_validate` of rows with sets of labels."""
    from scipy.sparse import csr_matrix

    for metric in wanted.values():
        if not callable(metric) and metric not in LABEL_MEASURES:
            raise ValueError(
                f"y is a matrix of labels: metrics are {' and '.join(LABEL_MEASURES)}, not {shown(metric)}"
            )
    assert data.sets is not None
    folds, marks = LabelFolds(data, s, count), [(0, np.zeros(0, np.int64))]
    folds.marks = marks
    counts, _ = folds.evaluate(s, run.stop)

    def _matrix(rows: np.ndarray, labels: np.ndarray) -> Any:
        """The matrix that marks these labels of rows."""
        return csr_matrix((np.ones(len(rows), np.int64), (rows, labels)), (len(data), data.sets.count))

    y = _matrix(data.sets.rows, data.sets.labels.astype(np.int64))
    predictions = _matrix(
        np.concatenate([rows for _, rows in marks]),
        np.repeat([label for label, _ in marks], [len(r) for _, r in marks]),
    )
    values = {
        name: float(metric(y, predictions) if callable(metric) else LABEL_MEASURES[metric](counts))
        for name, metric in wanted.items()
    }
    warnings = dict.fromkeys(map(in_keywords, [*left_out(data.weights, "sample_weight"), *folds.warnings]))
    return Validation(predictions, None, values, _fold_of(folds), folds.open_ends, tuple(warnings))


def _labels(data: Dataset, kind: str) -> tuple[int, ...] | None:
    """The labels of a model of all rows, in its order; None for other kinds than classification."""
    if kind not in CLASSIFIES:
        return None
    labels = Classes(data.labels).labels
    return tuple(sorted(labels)) if kind == "ordinal" else tuple(labels)


def _columns(
    model: LinearModel | KernelModel, decisions: np.ndarray, labels: tuple[int, ...] | None, kind: str
) -> np.ndarray:
    """Decision values of a fold's model with the columns of a model of all rows; nan where it lacks them."""
    if model.labels == labels:
        return decisions
    if isinstance(model, KernelModel):
        return _pairs(model, decisions, labels)
    if kind == "ordinal" or labels is None:
        return np.full((len(decisions), 1), np.nan)
    return by_label(model, decisions, labels)


def _pairs(model: KernelModel, decisions: np.ndarray, labels: tuple[int, ...] | None) -> np.ndarray:
    """`_columns` of a model with a kernel: one column a pair of labels."""
    if labels is None:
        return decisions
    known = model.labels or ()
    column = dict(zip(combinations(known, 2), decisions.T, strict=True))
    column |= {(b, a): -values for (a, b), values in column.items()}
    return arranged(column, list(combinations(labels, 2)), len(decisions), np.nan)


def _gathered(n: int, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray | None:
    """Decision values of all rows from those of the folds; None where folds have different columns."""
    widths = {part.shape[1] for _, part in parts}
    if len(widths) != 1:
        return None
    values = np.full((n, widths.pop()), np.nan)
    for rows, part in parts:
        values[rows] = part
    return values


def _check_guarantee(settings: Settings, keywords: Mapping[str, Any], score: str | None) -> None:
    """ValueError for what a search with a guarantee cannot do."""
    excluded = {
        "eps": keywords.get("eps") is not None, "gap": keywords.get("gap") is not None, "score": score is not None,
        "regularize_bias=False": not settings.problem.regularize_bias, "a matrix y": settings.run.multilabel,
    }  # fmt: skip
    for name, given in excluded.items():
        if given:
            raise ValueError(f"guarantee and {name} cannot be combined")


def search_C(
    X: Any, y: Any, solver: int | str | None = None, *, folds: int = 5, stratified: bool = False, groups: Any = None,
    sample_weight: Any = None, threads: int | None = None, one_class: bool = False, score: str | None = None,
    callback: Callable[[search.Tried], object] | None = None, progress: bool = False, guarantee: float | None = None,
    **keywords: Unpack[Keywords],
) -> Search:  # fmt: skip
    """Search for the best C, of regressions also for p, by cross-validation, as `svm-train -C` does.

    Parameters
    ----------
    X : array or sparse matrix, (n, features)
        As of `fit`.
    y : array, (n,)
        As of `fit`.
    solver : int or str, optional
        As of `fit`, of those with a search; None is 2.
    folds : int
        Number of folds.
    stratified : bool
        Folds with equal shares of each class.
    groups : array, (n,), optional
        The group of each row, such as a user, a family or the query of a ranking: numbers or text.  The rows of a group
        are in the same fold.
    sample_weight : array, (n,), optional
        As of `fit`.
    threads : int, optional
        As of `fit`.
    one_class : bool
        As of `fit`.
    score : str, optional
        The measure that chooses, a name of `cross_validate`'s metrics; None: accuracy or mse. Errors have a minus sign.
    callback : callable, optional
        Receives each value that was tried, as `Search.tried` has it.
    progress : bool
        As of `fit`.
    guarantee : float, optional
        Search until no C from the first to 1024 has an accuracy that is more than this many percentage points higher,
        as `svm-train -C --guarantee` does.
    **keywords
        Others of `fit` for linear models; C and p are the first values.

    Returns
    -------
    Search
        `best` and `tried`, with p, C, score and open_ends; `ended_at`: where max_seconds ended it; with a guarantee
        `bound`: the accuracy that no C of the range exceeds.

    Raises
    ------
    ValueError, TypeError
        As of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmtool import api
    >>> X = np.vstack([np.eye(3), 2 * np.eye(3)])
    >>> found = api.search_C(X, [1, 2, 2, 1, 2, 2], folds=2)
    >>> found.best in found.tried, 0.0 <= found.best.score <= 1.0
    (True, True)
    """
    check_names(
        keywords, ("sample_weight", "threads", "folds", "stratified", "groups", "score", "callback", "progress")
    )
    folds, stratified = whole("folds", folds), flag("stratified", stratified)
    one_class = flag("one_class", one_class)
    if score is not None and text("score", score) not in MEASURES:
        raise ValueError(f"score: unknown metric {shown(score)}: use one of {', '.join(MEASURES)}")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {shown(callback)}")
    points = 0.0 if guarantee is None else checked("guarantee", guarantee)
    data, classes, also = _read(X, y, sample_weight, groups, stratified, keywords)
    with RunContext(threads, keywords.get("max_seconds"), progress=progress) as run:
        several = data.sets is not None
        if several and (stratified or score is not None):
            raise ValueError("y is a matrix of labels: the score is micro F1, and folds are not stratified")
        kind = "search" if guarantee is None else "guarantee"
        settings = settings_of(data, solver, None, keywords, (kind, *also), default=2)
        if not several:
            check_labels(data, settings, one_class, y, classes)
        settings = settings.replace(stratified=stratified, grouped=groups is not None)
        measure = MICRO_F1 if several else _measure(score, settings)
        first_C = settings.problem.C if "C" in keywords else None
        first_p = settings.problem.p if keywords.get("p") is not None else None

        def tell(tried: search.Tried | None) -> None:
            if tried is not None and callback is not None:
                callback(tried)

        drawn = (LabelFolds if several else Folds)(data, settings, folds)
        if guarantee is not None:
            _check_guarantee(settings, keywords, score)
            return guaranteed.search(drawn, settings, points, run.stop, tell, first_C)
        return search.search_C(drawn, settings, run.stop, measure, tell, first_C, first_p)
