"""Regression with kernels: SVR and NuSVR."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from svmtool.api.arrays import floats
from svmtool.sklearn.base import COST, NOT_NEGATIVE, POSITIVE, SHARE, checks_parameters
from svmtool.sklearn.described import described
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining

if TYPE_CHECKING:
    from typing_extensions import Self


class _KernelRegressor(RegressorMixin, KernelTraining):
    """Regression with a kernel."""

    _problem: Callable[[], dict[str, Any]]  # the solver and its keywords, as `api.fit` takes them

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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

    def predict(self, X: Any) -> np.ndarray:
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


@described
class SVR(_KernelRegressor):
    """Epsilon-support vector regression, with scikit-learn's interface.

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
        self, *, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3, gamma: str | float = "scale",
        coef0: float = 0.0, tol: float = 1e-3, C: float = 1.0, epsilon: float = 0.1, shrinking: bool = True,
        cache_size: float = 200, verbose: int = False, max_iter: int = -1, n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol = kernel, degree, gamma, coef0, tol
        self.C, self.epsilon, self.shrinking, self.cache_size = C, epsilon, shrinking, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "epsilon-svr", "C": self.C, "p": self.epsilon}


@described
class NuSVR(_KernelRegressor):
    """Nu-support vector regression, with scikit-learn's interface.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of rows outside the tube, lower bound of the share of support vectors.

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
        self, *, nu: float = 0.5, C: float = 1.0, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3,
        gamma: str | float = "scale", coef0: float = 0.0, shrinking: bool = True, tol: float = 1e-3,
        cache_size: float = 200, verbose: int = False, max_iter: int = -1, n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.nu, self.C, self.kernel, self.degree, self.gamma, self.coef0 = nu, C, kernel, degree, gamma, coef0
        self.shrinking, self.tol, self.cache_size = shrinking, tol, cache_size
        self.verbose, self.max_iter, self.n_jobs, self.max_seconds = verbose, max_iter, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "nu-svr", "C": self.C, "nu": self.nu}
