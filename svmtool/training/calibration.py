"""Probabilities (-b 1) from the decision values of held-out rows; first Platt's sigmoids for classifiers.

    P(class | f) = 1 / (1 + exp(A f + B)),     (A, B) = argmin  - sum_i v_i (t_i log p_i + (1 - t_i) log(1 - p_i))

for each two-class problem.  f is its decision value, v_i the weight of row i (1 without --weights),
t_i = (N+ + 1) / (N+ + 2) for rows of the class and 1 / (N- + 2) for the others, N+ and N- their total weights.
With several classes each value is divided by their sum, as in LIBLINEAR's logistic models.

Paper: Lin, Lin and Weng, A Note on Platt's Probabilistic Outputs for Support Vector Machines, Machine Learning 68
(2007) 267-276, doi 10.1007/s10994-007-5018-6: Newton's method with backtracking (Algorithm 1), targets of Platt.

Differs from the paper:
1. f is shifted by its median and scaled to at most 1, so that the stopping rule is independent of scale.
2. The Hessian's diagonal is increased by a relative amount, not by a constant.
3. It stops when the Newton decrement is small relative to the value, not by the size of the gradient.
4. Folds are stratified, as LIBSVM draws them for -v, so that every training part contains each class.

A > 0 means that held-out rows of the class have the smaller decision values: on noise, or where a class has one row or
two.  Such sigmoids are kept, as LIBSVM keeps them, and `doubts` makes the warning.

With kernels folds and values are LIBSVM's:

    classes:     a sigmoid for each pair of classes
    regression:  a Laplace distribution of the errors of rows held out in five folds, of scale mean |error|, without
                 those beyond five standard deviations
    one class:   ten marks that divide the training rows' decision values below and above 0 into five parts each

A row of weight v counts as v rows.  Source: Chang and Lin, LIBSVM: a Library for Support Vector Machines, ACM TIST 2
(2011) 27, Section 8; Lin and Weng, Simple Probabilistic Predictions for Support Vector Regression (2004); Que and Lin,
One-class SVM Probabilistic Outputs, IEEE TNNLS (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from svmtool.limits import StopFlag
from svmtool.metrics import class_scores
from svmtool.models.kernel import DENSITY_MARKS
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.progress import counted
from svmtool.solvers.shared.base import TIME
from svmtool.tolerances import ARMIJO, FINE_RTOL, RIDGE
from svmtool.training.notices import first_of
from svmtool.training.validation.folds import FOLDS, AnyFolds, GlibcRand, Keep, fold_rows, liblinear_folds
from svmtool.training.validation.scores import arranged

if TYPE_CHECKING:
    from svmtool.training.kernel.dataset import ClassPairs, KernelSet
    from svmtool.training.kernel.fit import Fitting

MAX_SIGMOID_STEPS = 100
MIN_SCALE = 1e-290  # size of centred decision values below which they count as equal, since quotients overflow

OUTLIER_DEVIATIONS = 5.0  # standard deviations of a Laplace distribution beyond which an error does not count
TOO_FEW = f"WARNING: number of positive or negative decision values <{DENSITY_MARKS // 2}; "
TOO_FEW += "too few to do a probability estimation."
REVERSED = "reversed probabilities: held-out rows of class label {} have the smaller decision values, so that the most "
REVERSED += "probable class is often not the predicted one"
FEW = "a class has too few rows to hold some of them out"


class Sigmoids(NamedTuple):
    """(A, B) of the sigmoid of each two-class problem, warnings about them, and with a kernel LIBSVM's text of each."""

    pairs: list[tuple[float, float]]
    warnings: list[str]
    texts: list[str] = []


class Seen(NamedTuple):
    """What a warning about a sigmoid needs.

    A; whether rows with a held-out value are of the class, bool[m]; whether rows could not be held out because a class
    has too few; the class of which the sigmoid gives the probability, and the other one of a pair.
    """

    A: float
    of_class: np.ndarray
    few: bool
    classes: Sequence[int]

    @property
    def turned(self) -> bool:
        """Whether the rows held out, which are of the class and of others, contradict the decision values."""
        return self.A > 0.0 and bool(self.of_class.any()) and not self.of_class.all()

    @property
    def words(self) -> str:
        """The classes in a sentence."""
        return ("class label " if len(self.classes) == 1 else "classes ") + " and ".join(map(str, self.classes))


class NotCalibratedError(Exception):
    """Raised where sigmoids cannot be fitted; its text completes a warning."""


def of_folds(folds: AnyFolds, settings: Settings, labels: tuple[int, ...], stop: StopFlag) -> Sigmoids:
    """The sigmoids of a model with these labels, from folds of its rows, trained with these settings.

    Folds use no warm start, which would depend on the held-out rows.  Raises NotCalibratedError if rows are too few or
    `stop` ends it.
    """
    values = np.empty((len(folds.table), 1 if len(labels) == 2 else len(labels)))

    def keep(rows: np.ndarray, model: Any, decisions: np.ndarray) -> None:
        values[rows] = by_label(model, model.class_values(decisions), labels)

    _held_out(folds, settings, stop, keep)
    return sigmoids(values, folds.table.labels, folds.table.factors, labels)


def _held_out(folds: AnyFolds, settings: Settings, stop: StopFlag, keep: Keep | None = None) -> np.ndarray:
    """The predictions of folds; NotCalibratedError where the run ends before all are trained."""
    folds.part = "calibration fold"
    try:
        predictions, _ = folds.evaluate(settings, stop, None, keep, verified=False)
    except KeyboardInterrupt:
        raise NotCalibratedError("interrupted") from None
    if TIME in folds.open_ends:
        raise NotCalibratedError(TIME.advice)
    return predictions


def doubts(found: list[Seen]) -> list[str]:
    """The warnings about sigmoids whose probabilities mislead."""
    turned = [one for one in found if one.turned]
    rough = [one.words for one in found if one.few and not one.turned]
    sentences = [
        f"WARNING: {one.words}: {REVERSED.format(one.classes[0])}{f'; {FEW}' if one.few else ''}" for one in turned
    ]
    others = f" (with {len(rough) - 1} more)" if len(rough) > 1 else ""
    last = [f"WARNING: {rough[0]}: rough probabilities{others}: {FEW}"] if rough else []
    return [*first_of(sentences, "sigmoids"), *last]


def sigmoids(values: np.ndarray, truth: np.ndarray, weights: np.ndarray, labels: tuple[int, ...]) -> Sigmoids:
    """The sigmoid of each two-class problem, from held-out decision values.

    values: f8 (n, problems), nan where the fold's model lacks the class; truth, weights: of each row, f8[n].
    """
    found, seen = [], []
    for label, column in zip(labels, values.T, strict=False):  # one column for two labels
        known = ~np.isnan(column)
        if not known.any():
            raise NotCalibratedError(too_few(label))
        of_class = np.trunc(truth[known]) == label
        found.append(fit_sigmoid(column[known], of_class, weights[known]))
        seen.append(Seen(found[-1][0], of_class, not known.all(), labels if len(labels) == 2 else (label,)))
    return Sigmoids(found, doubts(seen))


def too_few(label: int) -> str:
    """Why a class has no sigmoid."""
    return f"class label {label} has too few rows to hold some of them out"


def by_label(model: LinearModel, decisions: np.ndarray, labels: tuple[int, ...]) -> np.ndarray:
    """A model's decision values in the order of `labels`; nan where it lacks the class."""
    found = class_scores(model, decisions) if len(model.labels or ()) > 1 or len(labels) == 1 else {}
    return arranged(found, labels[: 1 if len(labels) == 2 else None], len(decisions), math.nan)


def fit_sigmoid(f: np.ndarray, of_class: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """A and B for decision values f (f8[n]), class membership (bool[n]) and weights (f8[n], > 0)."""
    positive, negative = float(weights[of_class].sum()), float(weights[~of_class].sum())
    t = np.where(of_class, (positive + 1) / (positive + 2), 1 / (negative + 2))
    middle = float(np.median(f))
    x = f - middle
    scale = float(np.abs(x).max())
    x /= scale if scale > MIN_SCALE else math.inf

    def value(A: float, B: float) -> tuple[float, np.ndarray]:
        z = A * x + B
        return float(weights @ (np.logaddexp(0.0, -z) + t * z)), z

    A, B = 0.0, math.log((negative + 1) / (positive + 1))
    F, z = value(A, B)
    for _ in range(MAX_SIGMOID_STEPS):
        e = np.exp(-np.abs(z))  # <= 1: no overflow
        both = 1.0 + e
        p = np.where(z >= 0, e, 1.0) / both
        r, h = weights * (t - p), weights * e / both**2
        g1, g2 = float(r @ x), float(r.sum())
        more = 1 + RIDGE
        h11, h12, h22 = more * float(h * x @ x) + 1e-300, float(h @ x), more * float(h.sum())
        determinant = h11 * h22 - h12 * h12
        dA, dB = (h12 * g2 - h22 * g1) / determinant, (h12 * g1 - h11 * g2) / determinant
        decrement = -(g1 * dA + g2 * dB)
        if decrement <= FINE_RTOL * F:
            A, B = A + dA, B + dB
            break
        step = 1.0
        while (tried := value(A + step * dA, B + step * dB))[0] > F - ARMIJO * step * decrement and step > FINE_RTOL:
            step /= 2
        A, B, (F, z) = A + step * dA, B + step * dB, tried
    return (A / scale, B - A * middle / scale) if scale > MIN_SCALE else (0.0, B)


Train = Callable[["KernelSet", "Fitting"], Any]


def pair_sigmoids(pairs: ClassPairs, fitting: Fitting, train: Train, rand: GlibcRand) -> Sigmoids:
    """The sigmoid of each pair of classes; raises NotCalibratedError.  train: a pair labelled +1 and -1."""
    from svmtool.training.kernel import fold_pairs

    folds = [liblinear_folds(rows, FOLDS, rand) for rows in pairs.counts.sum(axis=1).tolist()]
    held = fold_pairs.values_of_folds(pairs, folds, fitting)
    found, texts, seen = [], [], []
    for k, counts in enumerate(counted("pair of classes", pairs.counts)):
        pair = pairs.data.take(pairs.rows(k)).labelled(np.repeat((1.0, -1.0), counts))
        weights = tuple(zip((1, -1), pairs.costs(k), strict=True))
        inner = fitting.changed(False, probability=0, C=1.0, class_weights=weights)
        values, text, few = np.empty(len(pair)), "", False
        for f, known in enumerate(held[k]):
            inside, outside = fold_rows(*folds[k], f)
            if known is not None:
                values[outside], more = known
                text += more
                continue
            done = train(pair.take(inside), inner)
            if fitting.stop.set:
                raise NotCalibratedError("interrupted")
            if done.status is TIME:
                raise NotCalibratedError(TIME.advice)
            if done.solved:
                values[outside] = done.model.decision_values(pair.take(outside).table)[:, 0]
                text += done.text
            else:  # without rows of the other class LIBSVM uses the label as the value
                values[outside], few = done.model.labels[0], True
        found.append(fit_sigmoid(values, pair.table.labels > 0, pair.table.factors))
        texts.append(text)
        names = [pairs.classes.labels[c] for c in pairs.pairs[k]]
        seen.append(Seen(found[-1][0], pair.table.labels > 0, few, names))
    return Sigmoids(found, doubts(seen), texts)


def laplace_scale(data: KernelSet, fitting: Fitting, drawn: Callable[..., AnyFolds]) -> tuple[float, str]:
    """Mean size of the errors of a regression, and LIBSVM's text; drawn(settings, number, say) gives the folds."""
    if len(data) < 2:
        raise NotCalibratedError("at least two rows are needed")
    texts: list[str] = []
    inner = fitting.settings.replace(probability=0, grouped=False)
    folds = drawn(inner, FOLDS, say=texts.append)
    errors, text = np.abs(data.table.labels - _held_out(folds, inner, fitting.stop)), "".join(texts)
    weights = data.table.factors
    usual = errors <= OUTLIER_DEVIATIONS * np.sqrt(2.0) * np.average(errors, weights=weights)
    sigma = float(np.average(errors[usual], weights=weights[usual]))
    return sigma, text + (
        "Prob. model for test data: target value = predicted value + z,\n"
        f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= {sigma:g}\n"
    )


def density_marks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the ten marks of decision values f8[n] of rows with weights f8[n] > 0.

    Raises NotCalibratedError with LIBSVM's sentence if they are too few.
    """
    half, order = DENSITY_MARKS // 2, np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    cut, unit = int(np.searchsorted(values, 0.0)), min(1.0, float(weights.min(initial=1.0)))
    below, above = np.cumsum(weights[:cut]), np.cumsum(weights[cut:])
    if min(max(len(side), float(side[-1])) if len(side) else 0.0 for side in (below, above)) < half:
        raise NotCalibratedError(TOO_FEW)
    parts = np.arange(half)
    # LIBSVM's row numbers i n // 5 and (i + 1) n // 5 - 1 of n rows, where n is a sum of weights
    first = np.searchsorted(below, parts * below[-1] / half, side="right")
    last = np.searchsorted(above, (parts + 1) * above[-1] / half - unit, side="right")
    ends = np.concatenate((values[first], [0.0], values[cut + np.minimum(last, len(above) - 1)]))
    return 0.5 * (ends[:-1] + ends[1:])
