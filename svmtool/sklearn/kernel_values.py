"""Regression and novelty detection with kernels: SVR, NuSVR, OneClassSVM and FastOneClassSVM."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval

from svmtool.sklearn.base import NOT_NEGATIVE, POSITIVE, SHARE, inside_offset
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining

ONE_CLASS, EPSILON_SVR, NU_SVR, FOSVM, FOSVM_SAMPLE = 2, 3, 4, 80, 81  # LIBSVM's numbers, and the registry's


class _KernelRegressor(RegressorMixin, KernelTraining):
    """Regression with a kernel."""

    def _fit_values(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        X, y = self._data(X, y, y_numeric=True)
        weights = self._weights(sample_weight, X)
        self._train(X, np.asarray(y, np.float64), weights, eps=self.tol, **options)
        self._store(X)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.dual_coef_ = np.array(self._model.coef).reshape(1, -1)
        self.intercept_ = -np.array(self._model.rho)
        self.fit_status_ = 0 if self.converged_ else 1
        return self

    def predict(self, X):
        """The value of each row of X, ndarray of shape (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return self._decisions(X)[:, 0].copy()


class SVR(_KernelRegressor):
    """Epsilon-support vector regression, with scikit-learn's interface.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs, max_seconds :
        See `SVC`.
    C : float, default=1.0
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, gap_, objective_, certificate_, \
converged_ :
        See `SVC`.
    """

    _parameter_constraints: dict = {**KERNEL_CONSTRAINTS, "C": [POSITIVE], "epsilon": [NOT_NEGATIVE]}
    _parameter_constraints.pop("random_state")

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, C=1.0, epsilon=0.1, shrinking=True,
        cache_size=200, verbose=False, max_iter=-1, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol = kernel, degree, gamma, coef0, tol
        self.C, self.epsilon, self.shrinking, self.cache_size = C, epsilon, shrinking, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `SVC.fit`."""
        return self._fit_values(X, y, sample_weight, solver=EPSILON_SVR, C=self.C, p=self.epsilon)


class NuSVR(_KernelRegressor):
    """Nu-support vector regression, with scikit-learn's interface.

    Parameters
    ----------
    nu : float, default=0.5
    C : float, default=1.0
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, n_jobs, max_seconds :
        See `SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, gap_, objective_, certificate_, \
converged_ :
        See `SVC`.
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model; see `SVC.fit`."""
        return self._fit_values(X, y, sample_weight, solver=NU_SVR, C=self.C, nu=self.nu)


class _KernelOneClass(OutlierMixin, KernelTraining):
    """Novelty detection with a kernel."""

    def _fit_rows_alone(self, X: Any, sample_weight: Any, **options: Any) -> Any:
        X = self._data(X)
        weights = self._weights(sample_weight, X)
        self._train(X, None, weights, **options)
        self._store(X)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.dual_coef_ = np.array(self._model.coef).reshape(1, -1)
        self.offset_ = inside_offset(float(np.asarray(self._model.rho)[0]))
        self.intercept_ = np.array([-self.offset_])
        self.fit_status_ = 0 if self.converged_ else 1
        return self

    def decision_function(self, X):
        """Signed distance from the separating surface, ndarray of shape (n_samples,): positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X):
        """The decision function without its offset, ndarray of shape (n_samples,)."""
        return self._decisions(X)[:, 0] + float(np.asarray(self._model.rho)[0])

    def predict(self, X):
        """1 for rows inside and -1 for rows outside, ndarray of shape (n_samples,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


class OneClassSVM(_KernelOneClass):
    """One-class SVM for novelty detection, with scikit-learn's interface.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, n_jobs, max_seconds :
        See `SVC`.
    nu : float, default=0.5
        Upper bound of the share of training rows outside.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, coef_, n_iter_, gap_, objective_, \
certificate_, converged_ :
        See `SVC`.
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
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._fit_rows_alone(X, sample_weight, solver=ONE_CLASS, nu=self.nu, eps=self.tol)


class FastOneClassSVM(_KernelOneClass):
    """One-class SVM without slack by cutting planes (FOSVM): all rows lie inside, up to a share theta of the distance.

    Minimises 1/2 |w|^2 - rho subject to w.f(x_i) >= rho.

    Parameters
    ----------
    kernel, degree, gamma, coef0, cache_size, verbose, random_state, n_jobs, max_seconds :
        See `SVC`.
    theta : float, default=0.1
        The fit ends when no row has w.f(x) < (1 - theta) rho.
    sample : int or None, default=None
        Look for violating rows in samples of so many rows (not certified); None: in all rows.
    max_iter : int, default=-1

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, coef_, n_iter_, gap_, objective_, \
certificate_, converged_ :
        See `SVC`.
    """

    shrinking = True
    _parameter_constraints: dict = {
        **KERNEL_CONSTRAINTS,
        "theta": [Interval(Real, 0.0, 1.0, closed="neither")],
        "sample": [None, Interval(Integral, 1, None, closed="left")],
    }
    for _name in ("shrinking", "tol"):
        _parameter_constraints.pop(_name)

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, theta=0.1, sample=None, cache_size=200,
        verbose=False, random_state=None, max_iter=-1, n_jobs=None, max_seconds=None,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.theta = kernel, degree, gamma, coef0, theta
        self.sample, self.cache_size, self.verbose, self.random_state = sample, cache_size, verbose, random_state
        self.max_iter, self.n_jobs, self.max_seconds = max_iter, n_jobs, max_seconds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        options: dict[str, Any] = {"solver": FOSVM}
        if self.sample is not None:
            options = {"solver": FOSVM_SAMPLE, "sample": int(self.sample)}
        return self._fit_rows_alone(X, None, theta=float(self.theta), **options)
