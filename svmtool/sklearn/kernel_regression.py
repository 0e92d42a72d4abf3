"""Regression with kernels: SVR and NuSVR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, _fit_context

from svmtool.api.arrays import floats
from svmtool.sklearn.base import COST, NOT_NEGATIVE, POSITIVE, SHARE
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining


class _KernelRegressor(RegressorMixin, KernelTraining):
    """Regression with a kernel."""

    _problem: Callable[[], dict[str, Any]]  # the solver and its keywords, as `api.fit` takes them

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with kernel="precomputed" the kernel's values, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            The target value of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's C; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit_values(X, y, sample_weight, **self._problem())

    def _fit_values(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        X, y = self._data(X, y, y_numeric=True)
        weights = self._weights(sample_weight, X)
        self._train(X, floats(y, "y"), weights, eps=self.tol, **options)
        self._store(X, np.array(self._model.coef).reshape(1, -1))
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.intercept_ = -np.array(self._model.rho)
        self.fit_status_ = 0 if self.converged_ else 1
        self._complete = True
        return self

    def predict(self, X):
        """Predict the value of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values.
        """
        return self._decisions(X)[:, 0].copy()


class SVR(_KernelRegressor):
    """Epsilon-support vector regression, with scikit-learn's interface.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; "precomputed": X holds its values; a callable returns the values of the rows of two arrays.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel; "scale": 1 / (n_features * variance of X, weighted by rows), "auto": 1 / n_features.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Violation of the most violating pair of dual variables at which the fit ends; `gap_` is the gap that it gave.
    C : float, default=1.0
        Weight of the loss relative to the regulariser; larger values follow the training rows more closely.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing.
    shrinking : bool, default=True
        Accepted for compatibility.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    max_iter : int, default=-1
        Limit on the solver's rounds, each of many SMO steps; -1: no limit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Row numbers of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed or callable kernel.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
        Coefficients of the support vectors; sparse after a fit on sparse rows.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_features)
        Weights, with kernel="linear" only.
    fit_status_ : int
        0 if the fit converged, else 1.
    shape_fit_ : tuple of int
        Shape of the training rows.
    n_iter_ : int
        Rounds of the solver.
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
    >>> import numpy as np
    >>> from svmtool.sklearn import SVR
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: dict = {**KERNEL_CONSTRAINTS, "C": [COST], "epsilon": [NOT_NEGATIVE]}
    _parameter_constraints.pop("random_state")

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, C=1.0, epsilon=0.1, shrinking=True,
        cache_size=200, verbose=False, max_iter=-1, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol = kernel, degree, gamma, coef0, tol
        self.C, self.epsilon, self.shrinking, self.cache_size = C, epsilon, shrinking, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "epsilon-svr", "C": self.C, "p": self.epsilon}


class NuSVR(_KernelRegressor):
    """Nu-support vector regression, with scikit-learn's interface.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of rows outside the tube, lower bound of the share of support vectors.
    C : float, default=1.0
        Weight of the loss relative to the regulariser; larger values follow the training rows more closely.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; "precomputed": X holds its values; a callable returns the values of the rows of two arrays.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel; "scale": 1 / (n_features * variance of X, weighted by rows), "auto": 1 / n_features.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Accepted for compatibility.
    tol : float, default=1e-3
        Violation of the most violating pair of dual variables at which the fit ends; `gap_` is the gap that it gave.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    max_iter : int, default=-1
        Limit on the solver's rounds, each of many SMO steps; -1: no limit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Row numbers of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed or callable kernel.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
        Coefficients of the support vectors; sparse after a fit on sparse rows.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_features)
        Weights, with kernel="linear" only.
    fit_status_ : int
        0 if the fit converged, else 1.
    shape_fit_ : tuple of int
        Shape of the training rows.
    n_iter_ : int
        Rounds of the solver.
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
    >>> import numpy as np
    >>> from svmtool.sklearn import NuSVR
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = NuSVR(C=10.0, nu=0.5).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.99
    True
    """

    _parameter_constraints: dict = {**KERNEL_CONSTRAINTS, "C": [POSITIVE], "nu": [SHARE]}
    _parameter_constraints.pop("random_state")

    def __init__(
        self, *, nu=0.5, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True, tol=1e-3,
        cache_size=200, verbose=False, max_iter=-1, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.nu, self.C, self.kernel, self.degree, self.gamma, self.coef0 = nu, C, kernel, degree, gamma, coef0
        self.shrinking, self.tol, self.cache_size = shrinking, tol, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "nu-svr", "C": self.C, "nu": self.nu}
