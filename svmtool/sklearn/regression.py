"""Linear support vector regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.linear_model._base import LinearModel
from sklearn.utils._param_validation import Hidden, StrOptions

from svmtool.sklearn.base import NOT_NEGATIVE, POSITIVE
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining

SVR_SQUARED, SVR_TUBE = 11, 13  # numbers of the solvers in the registry


class LinearSVR(RegressorMixin, LinearModel, LinearTraining):
    """Linear support vector regression, with scikit-learn's interface.

    Minimises 1/2 |w|^2 + C sum_i max(0, |y_i - w.x_i| - epsilon), or its square.

    Parameters
    ----------
    epsilon : float, default=0.0
    tol : float, default=1e-4
        Certified relative gap at which the fit ends.
    C : float, default=1.0
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
    dual : bool or "auto", default="auto"
        Accepted for compatibility.
    verbose, random_state, max_iter, warm_start, n_jobs, max_seconds :
        See `LinearSVC`.  The intercept is regularised, as in scikit-learn.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS,
        "epsilon": [NOT_NEGATIVE],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "intercept_scaling": [POSITIVE],
        "dual": ["boolean", StrOptions({"auto"}), Hidden(StrOptions({"warn"}))],
    }

    def __init__(
        self, *, epsilon=0.0, tol=1e-4, C=1.0, loss="epsilon_insensitive", fit_intercept=True, intercept_scaling=1.0,
        dual="auto", verbose=0, random_state=None, max_iter=1000, warm_start=False, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.epsilon, self.tol, self.C, self.loss = epsilon, tol, C, loss
        self.fit_intercept, self.intercept_scaling, self.dual = fit_intercept, intercept_scaling, dual
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.warm_start, self.n_jobs, self.max_seconds = warm_start, n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X, y = self._data(X, y, y_numeric=True)
        weights = self._weights(sample_weight, X)
        number = SVR_TUBE if self.loss == "epsilon_insensitive" else SVR_SQUARED
        done = self._run(
            X, np.asarray(y, np.float64), weights, solver=number, C=self.C, p=self.epsilon, gap=self.tol,
            init=self._start(), **self._bias(False),
        )  # fmt: skip
        W, b = self._take(done)
        self.coef_, self.intercept_ = W[0], b if self.fit_intercept else 0.0
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
