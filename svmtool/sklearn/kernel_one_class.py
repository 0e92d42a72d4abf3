"""Novelty detection with kernels: OneClassSVM and FastOneClassSVM."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from svmtool.registry.row import BOUNDARIES
from svmtool.sklearn.base import METHOD_CONSTRAINTS, SHARE
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining


class _KernelOneClass(OutlierMixin, KernelTraining):
    """Novelty detection with a kernel."""

    def _fit_rows_alone(self, X: Any, sample_weight: Any, **options: Any) -> Any:
        X = self._data(X)
        weights = self._weights(sample_weight, X)
        self._train(X, None, weights, **options)
        self._store(X, np.array(self._model.coef).reshape(1, -1))
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.offset_ = float(np.asarray(self._model.rho)[0])
        self.intercept_ = np.array([-self.offset_])
        self.fit_status_ = 0 if self.converged_ else 1
        self._complete = True
        return self

    def decision_function(self, X):
        """Compute the decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            `score_samples` less `offset_`, positive inside.
        """
        return self._decisions(X)[:, 0]  # as svm-predict has them: adding and subtracting rho would round

    def score_samples(self, X):
        """Compute the decision values without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The value w.f(x) of each row.
        """
        return self._decisions(X)[:, 0] + self.offset_

    def predict(self, X):
        """Tell rows inside from rows outside, as `svm-predict` does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 for rows inside, -1 for rows outside.
        """
        return np.where(self.decision_function(X) > 0.0, 1, -1)


class OneClassSVM(_KernelOneClass):
    """One-class SVM for novelty detection, with scikit-learn's interface.

    Rows on the boundary are inside: `offset_` is lower than their scores by the round-off of these.

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
    nu : float, default=0.5
        Upper bound of the share of training rows outside, lower bound of the share of support vectors.
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
        `offset_` with the opposite sign.
    coef_ : ndarray of shape (1, n_features)
        Weights, with kernel="linear" only.
    offset_ : float
        The decision function is `score_samples` less this.
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
    >>> from svmtool.sklearn import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: dict = {**KERNEL_CONSTRAINTS, "nu": [SHARE]}
    _parameter_constraints.pop("random_state")

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, nu=0.5, shrinking=True, cache_size=200,
        verbose=False, max_iter=-1, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol, self.nu = kernel, degree, gamma, coef0, tol, nu
        self.shrinking, self.cache_size = shrinking, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with kernel="precomputed" the kernel's values, (n_samples, n_samples).
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit_rows_alone(X, sample_weight, solver="one-class", nu=self.nu, eps=self.tol)


class FastOneClassSVM(_KernelOneClass):
    """One-class SVM without slack by cutting planes (FOSVM): all training rows are inside.

    Minimises 1/2 |w|^2 - rho subject to w.f(x_i) >= rho, by the solution of few rows.

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
    theta : float, default=0.1
        Accuracy: the fit ends when no row has w.f(x) < (1 - theta) rho, with the rho of the rows chosen.
    sample : int or None, default=None
        Search for violating rows in samples of this size; rows that they miss can be outside.  None: in all rows.
    boundary : {"theta", "rho"}, default="theta"
        "theta": the offset is the largest that all training rows reach, after samples at least (1 - theta) rho; "rho":
        it is the rho of the rows chosen, which other rows miss by a share of up to theta.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.
    max_iter : int, default=-1
        Limit on the solver's iterations; -1: no limit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 80`, with
        `sample` as of `-s 81`.

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
        `offset_` with the opposite sign.
    coef_ : ndarray of shape (1, n_features)
        Weights, with kernel="linear" only.
    offset_ : float
        The decision function is `score_samples` less this.
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
    >>> from svmtool.sklearn import FastOneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = FastOneClassSVM(gamma=0.5, theta=0.01).fit(X)
    >>> model.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: dict = {
        **KERNEL_CONSTRAINTS,
        **METHOD_CONSTRAINTS,
        "theta": [Interval(Real, 0.0, 1.0, closed="neither")],
        "sample": [None, Interval(Integral, 1, None, closed="left")],
        "boundary": [StrOptions(set(BOUNDARIES))],
    }
    for _name in ("shrinking", "tol"):
        _parameter_constraints.pop(_name)

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, theta=0.1, sample=None, boundary="theta",
        cache_size=200, verbose=False, random_state=None, max_iter=-1, n_jobs=None, max_seconds=None, method="fast",
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.theta = kernel, degree, gamma, coef0, theta
        self.sample, self.boundary, self.cache_size = sample, boundary, cache_size
        self.verbose, self.random_state = verbose, random_state
        self.max_iter, self.n_jobs, self.max_seconds, self.method = max_iter, n_jobs, max_seconds, method

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with kernel="precomputed" the kernel's values, (n_samples, n_samples).
        y : object, default=None
            Not used.

        Returns
        -------
        self
            The fitted estimator.
        """
        options: dict[str, Any] = {"solver": "fosvm", "method": self.method, "boundary": self.boundary}
        if self.sample is not None:
            options |= {"solver": "fosvm-sample", "sample": int(self.sample)}
        return self._fit_rows_alone(X, None, theta=float(self.theta), **options)
