"""Least-squares SVM with exact leave-one-out predictions."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from svmtool import registry
from svmtool.sklearn.base import METHOD_CONSTRAINTS, SCALING
from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LinearClassifier

LSSVM = 70


class LSSVC(LinearClassifier):
    """Least-squares SVM, with its exact leave-one-out accuracy.

    Minimises 1/2 |w|^2 + C sum_i (1 - y_i w.x_i)^2; several classes are fitted one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss relative to the regulariser; larger values follow the training rows more closely.
    tol : float, default=1e-6
        Certified relative gap at which the fit ends; method="paper" has no tolerance, and warns of a larger gap.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight makes the intercept, regularised as the others.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class, without effect in NuSVC; "balanced": n_samples / (n_classes * rows of the class), where
        `sample_weight` counts as repeated rows but in SVC and NuSVC.
    probability : bool, "sigmoid" or "isotonic", default=False
        Add `predict_proba`, calibrated on decision values of 5-fold cross-validation; True is "sigmoid" (Platt).
    loo : bool, default=True
        Compute `loo_score_`; with more than 1500 features it is None, and with a method that does not give it.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    verbose : int, default=0
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's random choices and of the folds of `probability`.
    max_iter : int or None, default=None
        Limit on the solver's iterations; None: no limit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 70`.

    Attributes
    ----------
    loo_score_ : float
        Accuracy on the training rows, each predicted by the model trained without it: exact, without training again.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; of two classes one row, for `classes_[1]`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C of each class.
    n_iter_ : int
        Iterations, of several problems the most.
    gap_ : float
        Certified relative gap (P - D) / P: the objective exceeds its minimum by at most this share of itself.
    objective_ : float
        The primal value P, of several problems their sum.
    certificate_ : Bunch
        `primal`, `dual`, `gap` and KKT `violation`; of several problems sums, and the largest gap and violation.
    converged_ : bool
        Whether the fit met its stopping rule.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had column names.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LSSVC
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LSSVC().fit(X, y)
    >>> 0.8 < model.loo_score_ <= model.score(X, y)
    True
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, **METHOD_CONSTRAINTS,
        "intercept_scaling": [SCALING],
        "loo": ["boolean"],
        "max_iter": [None, Interval(Integral, 0, None, closed="left")],
    }  # fmt: skip

    def __init__(
        self, *, C=1.0, tol=1e-6, fit_intercept=True, intercept_scaling=1.0, class_weight=None, probability=False,
        loo=True, warm_start=False, verbose=0, random_state=None, max_iter=None, n_jobs=None, max_seconds=None,
        method="fast",
    ):  # fmt: skip
        self.C, self.tol, self.fit_intercept, self.intercept_scaling = C, tol, fit_intercept, intercept_scaling
        self.class_weight, self.probability, self.loo, self.warm_start = class_weight, probability, loo, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds, self.method = n_jobs, max_seconds, method

    def _problem(self) -> dict[str, Any]:
        return {"solver": LSSVM, "C": self.C, "method": self.method, "gap": self.tol, **self._bias(False)}

    def _run(self, X: Any, y: np.ndarray | None, sample_weight: np.ndarray | None = None, **options: Any) -> Any:
        return super()._run(X, y, sample_weight, loo=self._offers_loo(), **options)

    def _read_fit(self, done: Any) -> tuple[np.ndarray, np.ndarray]:
        self.loo_score_ = done.loo_score if self._offers_loo() else None
        return super()._read_fit(done)

    def _offers_loo(self) -> bool:
        """Whether `loo_score_` is requested, and the method and the number of features allow it."""
        row = registry.find(LSSVM, self.method)
        max_features = registry.find(LSSVM).sums_below - int(self.fit_intercept)
        return bool(self.loo) and "--loo" in row.supported and self.n_features_in_ <= max_features
