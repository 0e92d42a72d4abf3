"""Linear support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.linear_model._base import LinearModel
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.validation import check_is_fitted

from svmtool.api.arrays import floats, refuse_unsound
from svmtool.sklearn import model_files
from svmtool.sklearn.base import NOT_NEGATIVE, SCALING, numbers_in_range
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining, refuse_unsupported

SVR_SQUARED, SVR_TUBE = 11, 13  # numbers of the solvers in the registry


class LinearSVR(RegressorMixin, LinearModel, LinearTraining):
    """Linear support vector regression, with scikit-learn's interface.

    Minimises 1/2 |w|^2 + C sum_i max(0, |y_i - w.x_i| - epsilon), or its square.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube in which errors cost nothing.
    tol : float, default=1e-4
        Certified relative gap at which the fit ends.
    C : float, default=1.0
        Weight of the loss relative to the regulariser; larger values follow the training rows more closely.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Loss outside the tube: the distance from it, or its square.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight makes the intercept, regularised as the others.
    dual : bool or "auto", default="auto"
        Chooses nothing, the method is chosen by measured costs; what scikit-learn refuses is refused.
    verbose : int, default=0
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's random choices.
    max_iter : int or None, default=1000
        Limit on the solver's iterations; None: no limit.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_ : int
        Iterations of the solver.
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
    >>> from sklearn.datasets import make_regression
    >>> from svmtool.sklearn import LinearSVR
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> model = LinearSVR(C=100.0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS,
        "epsilon": [NOT_NEGATIVE],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "intercept_scaling": [SCALING],
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
            Training rows.
        y : array-like of shape (n_samples,)
            The target value of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's C; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_unsupported("l2", self.loss, self.dual)
        X, y = self._data(X, y, y_numeric=True)
        weights = self._weights(sample_weight, X)
        number = SVR_TUBE if self.loss == "epsilon_insensitive" else SVR_SQUARED
        done = self._run(
            X, floats(y, "y"), weights, solver=number, C=self.C, p=self.epsilon, gap=self.tol,
            init=self._start(), **self._bias(False),
        )  # fmt: skip
        W, b = self._read_fit(done)
        self.coef_, self.intercept_ = W[0], b if self.fit_intercept else 0.0
        self._complete = True
        return self

    def _file_model(self) -> Any:
        """The model as its file holds it."""
        check_is_fitted(self)
        return model_files.linear(self._word, None, self.coef_, self.intercept_, self._notes)

    def _decision_function(self, X: Any) -> np.ndarray:
        refuse_unsound(X, "X")  # scikit-learn would convert it unchecked
        with numbers_in_range():
            return super()._decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
