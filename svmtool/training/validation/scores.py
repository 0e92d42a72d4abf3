"""Measures of held-out predictions: the lines of --metrics, and the scores by which -C and --grid choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.metrics import ClassCounts, RankCurve, RegressionErrors, class_scores, log_loss
from svmtool.models.linear import LOGISTIC_WORDS, LinearModel
from svmtool.numbers import distinct
from svmtool.params import Settings
from svmtool.registry.row import CLASSIFIERS

PREDICTIONS, SCORES, PROBABILITIES = range(3)


class HeldOut:
    """Predictions, scores and probabilities of rows by models that have not seen them.

    Attributes
    ----------
    labels, predictions : f8[n]
    classes : the labels of the data, ascending; -1 and 1 for one-class problems; empty for regressions
    scores : f8 (n, classes), the larger the likelier is the class; for measures that need them, else None
    probabilities : f8 (n, classes); as `scores`, also None where a fold has none
    """

    def __init__(self, labels: np.ndarray, kind: str, needs: int = PREDICTIONS):
        self.labels, self.kind, self.needs = labels, kind, needs
        self.classes: list[int] = []
        if kind == "one-class":
            self.labels, self.classes = np.where(labels == 1.0, 1.0, -1.0), [-1, 1]
        elif kind != "regression":
            self.classes = [int(label) for label in distinct(np.trunc(labels))]
        self.predictions: Any = np.zeros(0)  # LabelCounts of label sets
        shape = (len(labels), len(self.classes))
        self.scores = np.empty(shape) if needs >= SCORES else None
        self.probabilities = np.empty(shape) if needs >= PROBABILITIES else None

    def keep(self, rows: np.ndarray, model: Any, decisions: np.ndarray) -> None:
        """Keep what a model says of the rows (i8) that it has not seen; decisions: its decision values of them."""
        if self.scores is not None:
            values = model.class_values(decisions) if isinstance(model, LinearModel) else decisions
            self.scores[rows] = arranged(class_scores(model, values), self.classes, len(rows), -math.inf)
        probabilities = self.probabilities  # folds may run in parallel
        if probabilities is None or not model.gives_probabilities:
            self.probabilities = None
            return
        found = dict(zip(model.labels, model.probabilities(decisions).T, strict=True))
        probabilities[rows] = arranged(found, self.classes, len(rows), 0.0)

    @property
    def positive(self) -> int | None:
        """The index of the positive class, the larger of two labels; None for other numbers of classes."""
        return 1 if len(self.classes) == 2 else None

    def counts(self) -> ClassCounts:
        """Counts of labels and predictions of all classes."""
        found = ClassCounts(tuple(map(float, self.classes)))
        found.add(np.trunc(self.labels), self.predictions)
        return found

    def errors(self) -> RegressionErrors:
        """Errors of the predictions of a regression."""
        found = RegressionErrors()
        found.add(self.labels, self.predictions)
        return found

    def mean_of_curves(self, area: Callable[[RankCurve], float]) -> float:
        """A measure of the curve of the positive class; otherwise the mean over each class against the rest."""
        assert self.scores is not None
        truth = np.trunc(self.labels)
        found = []
        for k in range(len(self.classes)) if self.positive is None else (self.positive,):
            curve = RankCurve(float(self.classes[k]))
            curve.add(truth, self.scores[:, k])
            found.append(area(curve))
        return sum(found) / len(found) if found else math.nan


def arranged(columns: dict[Any, np.ndarray], keys: Sequence[Any], n: int, unknown: float) -> np.ndarray:
    """Columns f8[n] in the order of the keys, f8 (n, keys); a key without a column has `unknown`."""
    absent = np.full(n, unknown)
    return np.stack([columns.get(key, absent) for key in keys], axis=1)


class Measure(NamedTuple):
    """A measure of held-out predictions.

    title : as it is printed
    kinds : the kinds of labels for which it is defined
    needs : PREDICTIONS, SCORES or PROBABILITIES
    compute : the measure of a HeldOut
    percent : whether it is printed in percent
    sign : 1 if larger is better, else -1
    """

    title: str
    kinds: tuple[str, ...]
    needs: int
    compute: Callable[[HeldOut], float]
    percent: bool = False
    sign: int = 1

    @property
    def capital(self) -> str:
        """The title with a capital letter."""
        return self.title[:1].upper() + self.title[1:]

    def score(self, held: HeldOut) -> float:
        """The measure with the sign that makes larger better; minus infinity where it is not defined."""
        value = self.compute(held)
        return self.sign * value if value == value else -math.inf

    def text(self, score: float) -> str:
        """A score as it is printed: the measure itself, 100 times it with a percent sign, or nan."""
        value = self.sign * score if math.isfinite(score) else math.nan
        return f"{100.0 * value:g}%" if self.percent else f"{value:g}"


def _f1(held: HeldOut) -> float:
    if held.positive is None:
        return held.counts().macro()[2]
    return held.counts().rows()[held.positive][3]


def _log_loss(held: HeldOut) -> float:
    if held.probabilities is None:
        return math.nan
    place = np.searchsorted(held.classes, np.trunc(held.labels))
    return log_loss(held.probabilities[np.arange(len(place)), place])


ACCURACY = Measure(
    "accuracy", (*CLASSIFIERS, "ordinal", "one-class", "hard one-class"), PREDICTIONS,
    lambda held: float(np.count_nonzero(held.predictions == held.labels)) / len(held.labels), percent=True,
)  # fmt: skip
ERROR = Measure(
    "mean squared error", ("regression",), PREDICTIONS, lambda held: held.errors().squared / len(held.labels), sign=-1
)
_ALL_CLASSES = (*CLASSIFIERS, "ordinal", "one-class")
_SCORED = (*CLASSIFIERS, "one-class")
MEASURES: dict[str, Measure] = {
    "accuracy": ACCURACY,
    "balanced-accuracy": Measure(
        "balanced accuracy", _ALL_CLASSES, PREDICTIONS, lambda held: held.counts().balanced_accuracy(), percent=True
    ),
    "f1": Measure("F1", _ALL_CLASSES, PREDICTIONS, _f1, percent=True),
    "auc": Measure("AUC", _SCORED, SCORES, lambda held: held.mean_of_curves(RankCurve.area)),
    "average-precision": Measure(
        "average precision", _SCORED, SCORES, lambda held: held.mean_of_curves(RankCurve.average_precision)
    ),
    "log-loss": Measure("log loss", CLASSIFIERS, PROBABILITIES, _log_loss, sign=-1),
    "mse": ERROR,
    "mae": Measure(
        "mean absolute error", ERROR.kinds, PREDICTIONS, lambda held: held.errors().absolute / len(held.labels), sign=-1
    ),
    "r2": Measure("R2", ERROR.kinds, PREDICTIONS, lambda held: held.errors().determination()),
}  # fmt: skip
OF_POSITIVE = ("f1", "average-precision")  # measures that depend on which of two classes is the positive one
MEANS = (*OF_POSITIVE, "auc")  # measures that are means over more than two classes


def kind_of(settings: Settings) -> str:
    """The kind of labels of the solver, without the difference between one-class problems."""
    return settings.row.kind.removeprefix("hard ")


def measure_of(score: str | None, settings: Settings) -> Measure:
    """The measure of --score, None: accuracy or mean squared error; SvmtoolError where the solver has none."""
    kind = kind_of(settings)
    if score is None:
        return ERROR if kind == "regression" else ACCURACY
    measure = MEASURES[score]
    if kind not in measure.kinds:
        able = ", ".join(name for name, some in MEASURES.items() if kind in some.kinds)
        raise SvmtoolError(f"ERROR: --score {score}: -s {settings.row.number} is for {kind}: use {able}")
    gives_probabilities = settings.run.probability or settings.row.word in LOGISTIC_WORDS
    if measure.needs == PROBABILITIES and not gives_probabilities:
        other = "" if settings.row.kernel else ", or use -s 0 or 6"
        raise SvmtoolError(f"ERROR: --score {score} needs probabilities: add -b 1{other}")
    return measure


def metric_needs(settings: Settings) -> int:
    """What the lines of --metrics need."""
    kind = kind_of(settings)
    if kind in CLASSIFIERS:
        return SCORES if settings.problem.kernel is not None and not settings.run.probability else PROBABILITIES
    return SCORES if kind == "one-class" else PREDICTIONS


def metric_lines(held: HeldOut) -> str:
    """The lines of --metrics: the measures that LIBLINEAR's own lines do not have."""
    lines = []
    for name, measure in MEASURES.items():
        if held.kind not in measure.kinds or measure in (ACCURACY, ERROR):
            continue
        if measure.needs == PROBABILITIES and held.probabilities is None:
            continue
        about = ""
        if name in OF_POSITIVE and held.positive is not None:
            about = f" (label {held.classes[held.positive]})"
        elif name in MEANS and held.positive is None:
            about = f" (mean of {len(held.classes)} classes)"
        lines.append(f"{measure.capital} = {measure.text(measure.score(held))}{about}\n")
    return "".join(lines)
