"""Class probabilities: Platt's sigmoid or isotonic regression of cross-validated decision values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.fixes import parse_version
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from svmtool.training.calibration import Seen, doubts, fit_sigmoid
from svmtool.training.notices import Notice
from svmtool.training.validation.folds import FOLDS

# Whether this scikit-learn deprecates the values True and False of `probability` of estimators with kernels
BOOLEANS_DEPRECATED = parse_version(sklearn.__version__) >= parse_version("1.9.dev0")


def method_of(probability: bool | str) -> str | None:
    """`sigmoid`, `isotonic` or None for a value of the parameter `probability`."""
    if probability is True:
        return "sigmoid"
    return probability if isinstance(probability, str) and probability != "deprecated" else None


class Sigmoid:
    """P(class | f) = 1 / (1 + exp(A f + B)): Platt's sigmoid, by the algorithm of Lin, Lin and Weng (2007)."""

    def __init__(self, values: np.ndarray, of_class: np.ndarray, weights: np.ndarray) -> None:
        self.A, self.B = fit_sigmoid(values, of_class, weights)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.exp(-np.logaddexp(0.0, self.A * values + self.B))


class Isotonic:
    """P(class | f) as a non-decreasing step function of f."""

    def __init__(self, values: np.ndarray, of_class: np.ndarray, weights: np.ndarray) -> None:
        self.regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.regression.fit(values, of_class.astype(np.float64), sample_weight=weights)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return self.regression.predict(values)


CALIBRATORS: dict[str, Any] = {"sigmoid": Sigmoid, "isotonic": Isotonic}


def _has_probabilities(estimator: Any) -> bool:
    if method_of(estimator.probability) is None:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class ProbabilityMixin:
    """`predict_proba` and `predict_log_proba` of classifiers with a parameter `probability`.

    probability : False, True, "sigmoid" or "isotonic"; True means "sigmoid".  The calibration uses decision values
    of 5-fold cross-validation, one class against the rest; probabilities of several classes are normalised.
    """

    _without_probabilities: bool | str = False  # the value of `probability` for none
    probability: bool | str
    classes_: np.ndarray
    decision_function: Callable[[Any], np.ndarray]
    _show: Callable[[Notice], None]

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
            of_class = codes[some] == j
            self.calibrators_.append(CALIBRATORS[method](np.nan_to_num(f[some]), of_class, w[some]))
            A = getattr(self.calibrators_[-1], "A", 0.0)
            seen.append(Seen(A, of_class, not known.all(), (1, 0) if k == 2 else (j,)))
        for sentence in doubts(seen):
            self._show(Notice("training", sentence))

    def _held_out(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, used: np.ndarray) -> np.ndarray:
        """Decision values f8 (n, 1 or classes) of the rows `used` of X, whose classes are `codes`.

        Each by a model trained without its fold; nan for a row that is alone in its class, which every model needs.
        """
        k, counts = len(self.classes_), np.bincount(codes)
        values = np.full((len(codes), 1 if k == 2 else k), np.nan)
        several = np.flatnonzero(counts[codes] > 1)
        if not len(several):
            return values
        alone = np.flatnonzero(counts[codes] == 1)
        pairwise = getattr(self, "kernel", None) == "precomputed"  # columns are training rows
        seed = check_random_state(getattr(self, "random_state", None) or 0)
        folds = StratifiedKFold(min(FOLDS, int(counts[counts > 1].min())), shuffle=True, random_state=seed)
        for inside, outside in folds.split(several, codes[several]):
            training, outside = np.sort(np.concatenate((several[inside], alone))), several[outside]
            rows = used[training]
            columns = rows if pairwise else slice(None)
            mine, others = X[rows][:, columns], X[used[outside]][:, columns]
            part = clone(self).set_params(probability=self._without_probabilities)
            part.fit(mine, self.classes_[codes[training]], None if weights is None else weights[rows])
            values[outside] = part._class_scores(others).reshape(len(outside), -1)
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
