"""Class probabilities: Platt's sigmoid or isotonic regression of cross-validated decision values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from svmtool.sklearn.base import warn
from svmtool.training.calibration import FOLDS, doubts, fit_sigmoid
from svmtool.training.validation.folds import fold_rows, stratified_folds


def method_of(probability: bool | str) -> str | None:
    """`sigmoid`, `isotonic` or None for a value of the parameter `probability`."""
    if probability is True:
        return "sigmoid"
    return probability if isinstance(probability, str) else None


class Sigmoid:
    """P(class | f) = 1 / (1 + exp(A f + B)): Platt's sigmoid, by the algorithm of Lin, Lin and Weng (2007)."""

    def __init__(self, values: np.ndarray, of_class: np.ndarray, weights: np.ndarray):
        self.A, self.B = fit_sigmoid(values, of_class, weights)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.exp(-np.logaddexp(0.0, self.A * values + self.B))


class Isotonic:
    """P(class | f) as a non-decreasing step function of f."""

    def __init__(self, values: np.ndarray, of_class: np.ndarray, weights: np.ndarray):
        self.regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.regression.fit(values, of_class.astype(np.float64), sample_weight=weights)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return self.regression.predict(values)


CALIBRATORS = {"sigmoid": Sigmoid, "isotonic": Isotonic}


def _has_probabilities(estimator: Any) -> bool:
    if method_of(estimator.probability) is None:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class ProbabilityMixin:
    """`predict_proba` and `predict_log_proba` of classifiers with a parameter `probability`.

    probability : False, True, "sigmoid" or "isotonic"; True means "sigmoid".  The calibration uses decision values
    of 5-fold cross-validation, one class against the rest; probabilities of several classes are normalised.
    """

    probability: bool | str
    classes_: np.ndarray
    decision_function: Callable[[Any], np.ndarray]
    _seed: Callable[[], int | None]

    def _calibrate(self, X: Any, codes: np.ndarray, weights: np.ndarray | None) -> None:
        """Fit one calibrator for each decision value; codes: class numbers.

        Warns of probabilities that mislead; where no row could be held out they are the shares of the classes.
        """
        method = method_of(self.probability)
        if method is None:
            self.calibrators_ = None
            return
        w = np.ones(len(codes)) if weights is None else weights
        used, k = np.flatnonzero(w), len(self.classes_)
        codes, w = codes[used].astype(np.intp), w[used]
        values = self._held_out(X, codes, weights, used)
        self.calibrators_, seen = [], []
        for f, j in zip(values.T, [1] if k == 2 else range(k), strict=True):
            known = ~np.isnan(f)
            some = known if known.any() else np.ones(len(f), bool)
            self.calibrators_.append(CALIBRATORS[method](np.nan_to_num(f[some]), codes[some] == j, w[some]))
            label = self.classes_[j]
            classes = f"classes {self.classes_[0]} and {label}" if k == 2 else f"class {label}"
            seen.append((getattr(self.calibrators_[-1], "A", 0.0), not known.all(), classes, label))
        for sentence in doubts(seen):
            warn(sentence.removeprefix("WARNING: "), UserWarning)

    def _held_out(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, used: np.ndarray) -> np.ndarray:
        """Decision values f8 (n, 1 or classes) of the rows `used` of X, whose classes are `codes`.

        Each by a model trained without its fold; nan where that lacks a class.
        """
        k = len(self.classes_)
        values = np.full((len(codes), 1 if k == 2 else k), np.nan)
        pairwise = getattr(self, "kernel", None) == "precomputed"  # columns are training rows
        order, starts = stratified_folds(codes.astype(np.float64), FOLDS, self._seed())
        for fold in range(len(starts) - 1):
            inside, outside = fold_rows(order, starts, fold, ascending=True)
            present = np.unique(codes[inside])
            if len(present) < 2:
                continue
            part = clone(self).set_params(probability=False)
            factors = getattr(self, "class_weight", None)
            if isinstance(factors, dict):
                known = self.classes_[present].tolist()
                part.set_params(class_weight={label: v for label, v in factors.items() if label in known})
            rows = used[inside]
            columns = rows if pairwise else slice(None)
            mine, others = X[rows][:, columns], X[used[outside]][:, columns]
            part.fit(mine, self.classes_[codes[inside]], None if weights is None else weights[rows])
            scores = part._class_scores(others).reshape(len(outside), -1)
            if scores.shape[1] == 1 and k > 2:
                scores = np.hstack((-scores, scores))
            if scores.shape[1] == 1:
                values[outside] = scores
            else:
                values[np.ix_(outside, present)] = scores
        return values

    def _class_scores(self, X: Any) -> np.ndarray:
        """Decision values, one for each class; of two classes a vector, positive for `classes_[1]`."""
        return self.decision_function(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; each row sums to 1.
        """
        check_is_fitted(self)
        return self._probabilities(X)

    def _probabilities(self, X: Any) -> np.ndarray:
        if not self.calibrators_:
            raise AttributeError("predict_proba is not available when fitted with probability=False")
        values = self._class_scores(X)
        values = values.reshape(len(values), -1)
        p = np.stack([calibrator(f) for calibrator, f in zip(self.calibrators_, values.T, strict=True)], axis=1)
        if p.shape[1] == 1:
            return np.hstack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.divide(p, total, out=np.full_like(p, 1.0 / p.shape[1]), where=total > 0.0)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Predict the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
