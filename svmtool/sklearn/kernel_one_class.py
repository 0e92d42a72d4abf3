"""Novelty detection with kernels: OneClassSVM and FastOneClassSVM."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from svmtool.registry.row import BOUNDARIES
from svmtool.sklearn.base import METHOD_CONSTRAINTS, SHARE, checks_parameters
from svmtool.sklearn.described import Texts, described
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining

if TYPE_CHECKING:
    from typing_extensions import Self


class _KernelOneClass(OutlierMixin, KernelTraining):
    """Novelty detection with a kernel."""

    _fitted = ("offset_",)
    _described: Texts = {"intercept_": ("ndarray of shape (1,)", "`offset_` with the opposite sign.")}

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

    def decision_function(self, X: Any) -> np.ndarray:
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

    def score_samples(self, X: Any) -> np.ndarray:
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

    def predict(self, X: Any) -> np.ndarray:
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


@described
class OneClassSVM(_KernelOneClass):
    """One-class SVM for novelty detection, with scikit-learn's interface.

    Rows on the boundary are inside: `offset_` is lower than their scores by the round-off of these.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows outside, lower bound of the share of support vectors.

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
        self, *, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3, gamma: str | float = "scale",
        coef0: float = 0.0, tol: float = 1e-3, nu: float = 0.5, shrinking: bool = True, cache_size: float = 200,
        verbose: int = False, max_iter: int = -1, n_jobs: int | None = None, max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol, self.nu = kernel, degree, gamma, coef0, tol, nu
        self.shrinking, self.cache_size = shrinking, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    @checks_parameters
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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


@described
class FastOneClassSVM(_KernelOneClass):
    """One-class SVM without slack by cutting planes (FOSVM): all training rows are inside.

    Minimises 1/2 |w|^2 - rho subject to w.f(x_i) >= rho, by the solution of few rows.

    Parameters
    ----------
    theta : float, default=0.1
        Accuracy: the fit ends when no row has w.f(x) < (1 - theta) rho, with the rho of the rows chosen.
    sample : int or None, default=None
        Search for violating rows in samples of this size; rows that they miss can be outside.  None: in all rows.
    boundary : {"theta", "rho"}, default="theta"
        "theta": the offset is the largest that all training rows reach, after samples at least (1 - theta) rho; "rho":
        it is the rho of the rows chosen, which other rows miss by a share of up to theta.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.
    max_iter : int, default=-1
        Limit on the solver's iterations; -1: no limit.
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 80`, with
        `sample` as of `-s 81`.

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
        self, *, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3, gamma: str | float = "scale",
        coef0: float = 0.0, theta: float = 0.1, sample: int | None = None, boundary: str = "theta",
        cache_size: float = 200, verbose: int = False, random_state: Any = None, max_iter: int = -1,
        n_jobs: int | None = None, max_seconds: float | None = None, method: str = "fast",
    ) -> None:  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.theta = kernel, degree, gamma, coef0, theta
        self.sample, self.boundary, self.cache_size = sample, boundary, cache_size
        self.verbose, self.random_state = verbose, random_state
        self.max_iter, self.n_jobs, self.max_seconds, self.method = max_iter, n_jobs, max_seconds, method

    @checks_parameters
    def fit(self, X: Any, y: Any = None) -> Self:
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
