"""Least-squares SVM with exact leave-one-out predictions."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LinearClassifier

LSSVM = 70


class LSSVC(LinearClassifier):
    """Least-squares SVM: min 1/2 |w|^2 + C sum_i (1 - y_i w.x_i)^2, with its exact leave-one-out accuracy.

    Parameters
    ----------
    C, tol, fit_intercept, intercept_scaling, class_weight, probability, warm_start, verbose, random_state, max_iter, \
n_jobs, max_seconds :
        See `LinearSVC`.
    loo : bool, default=True
        Compute `loo_score_`; up to 1500 features.

    Attributes
    ----------
    loo_score_ : float
        Accuracy on the training rows, each predicted by the model trained without it: exact, without training again.
    coef_, intercept_, classes_, n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS,
        "intercept_scaling": [LINEAR_CONSTRAINTS["C"][0]],
        "loo": ["boolean"],
        "max_iter": [None, Interval(Integral, 0, None, closed="left")],
    }  # fmt: skip

    def __init__(
        self, *, C=1.0, tol=1e-6, fit_intercept=True, intercept_scaling=1.0, class_weight=None, probability=False,
        loo=True, warm_start=False, verbose=0, random_state=None, max_iter=None, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.C, self.tol, self.fit_intercept, self.intercept_scaling = C, tol, fit_intercept, intercept_scaling
        self.class_weight, self.probability, self.loo, self.warm_start = class_weight, probability, loo, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `LinearSVC.fit`."""
        options = {"C": self.C, "gap": self.tol, "loo": bool(self.loo), **self._bias(False)}
        return self._fit_classes(X, y, sample_weight, solver=LSSVM, **options)

    def _take(self, done: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.loo:
            self.loo_score_ = done.loo_score
        return super()._take(done)
