"""Linear SVMs of the papers: Lp hinge, L1 norm with the hinge, and ordinal regression."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.sklearn.base import ClassifierTraining
from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LP_HINGE, LinearClassifier, LinearTraining

ORDINAL, L1_HINGE = 43, 51  # numbers of the solvers in the registry


class LpSVC(LinearClassifier):
    """Lp-SVM by augmented Lagrangian multipliers: sum_i C_i max(0, 1 - y_i (w.x_i + b))^p, 1 <= p <= 2, b free.

    Source: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
    Classifications, ICML 2014.

    Parameters
    ----------
    p : float, default=1.5
        Power of the hinge, from 1 to 2.
    C, tol, fit_intercept, class_weight, probability, warm_start, verbose, random_state, max_iter, n_jobs, max_seconds :
        See `LinearSVC`.  The intercept is not regularised.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, "p": [Interval(Real, 1.0, 2.0, closed="both")],
    }  # fmt: skip

    def __init__(
        self, p=1.5, *, C=1.0, tol=1e-4, fit_intercept=True, class_weight=None, probability=False, warm_start=False,
        verbose=0, random_state=None, max_iter=None, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.p, self.C, self.tol, self.fit_intercept = p, C, tol, fit_intercept
        self.class_weight, self.probability, self.warm_start = class_weight, probability, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `LinearSVC.fit`."""
        options = {"C": self.C, "gap": self.tol, "loss_power": self.p, **self._bias(self.fit_intercept)}
        return self._fit_classes(X, y, sample_weight, solver=LP_HINGE, **options)


class LPSVC(LinearClassifier):
    """LP-SVM: min |w|_1 + C sum_i max(0, 1 - y_i (w.x_i + b)), sparse weights with the hinge loss, b free.

    Source: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010.

    Parameters
    ----------
    C, tol, fit_intercept, class_weight, probability, warm_start, verbose, random_state, max_iter, n_jobs, max_seconds :
        See `LinearSVC`.  The intercept is not regularised.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    _parameter_constraints: dict = {**LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS}

    def __init__(
        self, *, C=1.0, tol=1e-4, fit_intercept=True, class_weight=None, probability=False, warm_start=False,
        verbose=0, random_state=None, max_iter=None, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.C, self.tol, self.fit_intercept = C, tol, fit_intercept
        self.class_weight, self.probability, self.warm_start = class_weight, probability, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `LinearSVC.fit`."""
        options = {"C": self.C, "gap": self.tol, **self._bias(self.fit_intercept)}
        return self._fit_classes(X, y, sample_weight, solver=L1_HINGE, **options)


class OrdinalSVM(ClassifierMixin, ClassifierTraining, LinearTraining):
    """Ordinal regression: classes in their sorted order are ranks, told apart by one direction and thresholds.

    Source: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs,
    JMLR 6 (2005), Section 6.

    Parameters
    ----------
    C, tol, class_weight, warm_start, verbose, random_state, max_iter, n_jobs, max_seconds :
        See `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    thresholds_ : ndarray of shape (n_classes - 1,)
        Row x has the rank of the number of thresholds that coef_.x reaches.
    classes_ : ndarray of shape (n_classes,)
    n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    fit_intercept = False  # the thresholds take its place
    _parameter_constraints: dict = {
        **{name: rule for name, rule in LINEAR_CONSTRAINTS.items() if name != "fit_intercept"},
        "class_weight": CLASS_CONSTRAINTS["class_weight"],
    }

    def __init__(
        self, *, C=1.0, tol=1e-4, class_weight=None, warm_start=False, verbose=0, random_state=None, max_iter=None,
        n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.C, self.tol, self.class_weight, self.warm_start = C, tol, class_weight, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `LinearSVC.fit`."""
        X, codes, weights = self._checked(X, y, sample_weight)
        options = {"class_weight": self._factors(), "init": self._start()}
        done = self._run(X, codes, weights, solver=ORDINAL, C=self.C, gap=self.tol, **options)
        self._take(done)
        self.coef_, self.thresholds_ = _direction(done.model)
        return self

    def decision_function(self, X):
        """coef_.x less the thresholds: a column for each threshold; of two classes a vector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of three or more classes the scores of the classes, whose largest is the prediction.
        """
        check_is_fitted(self)
        X = self._data(X, reset=False)
        f = safe_sparse_dot(X, self.coef_)[:, None] - self.thresholds_
        if f.shape[1] == 1:
            return f[:, 0]
        return np.hstack([np.zeros((len(f), 1)), np.cumsum(f, axis=1)])

    def predict(self, X):
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        f = self.decision_function(X)
        return self.classes_[(f > 0.0).astype(np.intp) if f.ndim == 1 else np.argmax(f, axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # on classes that are no ranks
        return tags

    def _more_tags(self) -> dict:  # before scikit-learn 1.6
        return {"poor_score": True}


def _direction(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The direction and the thresholds of an ordinal model: score_s(x) = s w.x - sum_{r < s} b_r."""
    W = model.W if model.columns > 1 else np.hstack([np.zeros_like(model.W), -model.W])
    order = np.argsort(model.labels)
    steps = np.diff(W[:, order], axis=1) if model.columns > 1 else -model.W * (1.0 if model.labels[0] == 0 else -1.0)
    return steps[:-1, 0].copy(), -steps[-1] * model.bias
