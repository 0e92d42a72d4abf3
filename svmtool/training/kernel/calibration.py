"""-b 1 with kernels, as LIBSVM: a sigmoid for each pair of classes, the error width of a regression, density marks.

    classes:     P(first | f) = 1 / (1 + exp(A f + B)), fitted to decision values of rows held out in five folds
    regression:  a Laplace distribution of the errors of rows held out in five folds, of scale mean |error|, without
                 those beyond five standard deviations
    one class:   ten marks that divide the training rows' decision values below and above 0 into five parts each

A row of weight v counts as v rows.

Source: Chang and Lin, LIBSVM: a Library for Support Vector Machines, ACM TIST 2 (2011) 27, Section 8; Lin and Weng,
Simple Probabilistic Predictions for Support Vector Regression (2004); Que and Lin, One-class SVM Probabilistic
Outputs, IEEE TNNLS (2024).  Folds are drawn as LIBSVM draws them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.models.kernel import DENSITY_MARKS
from svmtool.progress import counted
from svmtool.solvers.shared.base import TIME
from svmtool.training.calibration import FOLDS, NotCalibratedError, fit_sigmoid
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting
from svmtool.training.outcome import Training
from svmtool.training.validation.folds import GlibcRand, fold_rows, liblinear_folds

OUTLIER_DEVIATIONS = 5.0  # standard deviations of a Laplace distribution beyond which an error does not count
TOO_FEW = f"WARNING: number of positive or negative decision values <{DENSITY_MARKS // 2}; "
TOO_FEW += "too few to do a probability estimation."

Train = Callable[[KernelSet, Fitting], Training]


def held_out(data: KernelSet, order: np.ndarray, starts: np.ndarray, fitting: Fitting, train: Train):
    """Yield for each fold the rows held out (i8) and the training without them."""
    for k in counted("calibration fold", range(len(starts) - 1)):
        inside, outside = fold_rows(order, starts, k)
        training = train(data.take(inside), fitting)
        if fitting.stop.set:
            raise NotCalibratedError("interrupted")
        if training.status is TIME:
            raise NotCalibratedError(TIME.advice)
        yield outside, training


def pair_sigmoid(
    pair: KernelSet, costs: tuple[float, float], fitting: Fitting, train: Train, rand: GlibcRand
) -> tuple[float, float, str, bool]:
    """Return A, B and LIBSVM's text of a pair of classes, labelled +1 and -1, whose rows cost costs[0] and costs[1].

    The last: whether a fold had rows of one class alone to train on.
    """
    n = len(pair)
    weights = ((1, costs[0]), (-1, costs[1]))
    inner = fitting.within(probability=0, C=1.0, class_weights=weights)
    order, starts = liblinear_folds(n, FOLDS, rand)
    values, text, few = np.empty(n), "", False

    def trained(some: KernelSet, within: Fitting) -> Training:
        done = train(some, within)
        if len(done.model.labels) != 2:
            done.text = ""
        return done

    for outside, done in held_out(pair, order, starts, inner, trained):
        text += done.text
        if done.solved:
            values[outside] = done.model.decision_values(pair.take(outside).table)[:, 0]
        else:  # without rows of the other class LIBSVM uses the label as the value
            values[outside], few = done.model.labels[0], True
    A, B = fit_sigmoid(values, pair.labels > 0, pair.table.factors)
    return A, B, text, few


def laplace_scale(data: KernelSet, fitting: Fitting, train: Train, rand: GlibcRand) -> tuple[float, str]:
    """Mean size of the errors of a regression, and LIBSVM's text."""
    if len(data) < 2:
        raise NotCalibratedError("at least two rows are needed")
    order, starts = liblinear_folds(len(data), FOLDS, rand)
    errors, text = np.empty(len(data)), ""
    for outside, done in held_out(data, order, starts, fitting.within(probability=0), train):
        part = data.take(outside)
        errors[outside] = np.abs(part.labels - done.model.predict(part.table))
        text += done.text
    weights = data.table.factors
    counted = errors <= OUTLIER_DEVIATIONS * np.sqrt(2.0) * np.average(errors, weights=weights)
    sigma = float(np.average(errors[counted], weights=weights[counted]))
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
