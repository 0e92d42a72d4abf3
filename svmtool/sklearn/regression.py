"""Linear support vector regression."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model._base import LinearModel
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.api.arrays import floats
from svmtool.sklearn import model_files
from svmtool.sklearn.base import NOT_NEGATIVE, SCALING, checks_parameters
from svmtool.sklearn.described import described
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining, refuse_unsupported

if TYPE_CHECKING:
    from typing_extensions import Self

SVR_SQUARED, SVR_TUBE = 11, 13  # numbers of the solvers in the registry


@described
class LinearSVR(RegressorMixin, LinearModel, LinearTraining):
    """Linear support vector regression, with scikit-learn's interface.

    Minimises 1/2 |w|^2 + C sum_i max(0, |y_i - w.x_i| - epsilon), or its square.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Loss outside the tube: the distance from it, or its square.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from svmtool.sklearn import LinearSVR
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> model = LinearSVR(C=100.0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    _types = (np.float64, np.float32)
    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS,
        "epsilon": [NOT_NEGATIVE],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "intercept_scaling": [SCALING],
        "dual": ["boolean", StrOptions({"auto"}), Hidden(StrOptions({"warn"}))],
    }

    def __init__(
        self, *, epsilon: float = 0.0, tol: float = 1e-4, C: float = 1.0, loss: str = "epsilon_insensitive",
        fit_intercept: bool = True, intercept_scaling: float = 1.0, dual: bool | str = "auto", verbose: int = 0,
        random_state: Any = None, max_iter: int | None = 1000, warm_start: bool = False, n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.epsilon, self.tol, self.C, self.loss = epsilon, tol, C, loss
        self.fit_intercept, self.intercept_scaling, self.dual = fit_intercept, intercept_scaling, dual
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.warm_start, self.n_jobs, self.max_seconds = warm_start, n_jobs, max_seconds

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        bias = self._bias(False)
        fitted = functools.partial(self._attributes, 1.0, bias["bias"])
        options = {"solver": number, "C": self.C, "p": self.epsilon, "gap": self.tol, **bias}
        done = self._run(X, floats(y, "y"), weights, fitted, init=self._start(), **options)
        W, b = self._read_fit(done)
        self.coef_, self.intercept_ = W[0], b if self.fit_intercept else 0.0
        self._complete = True
        return self

    @staticmethod
    def _attributes(sign: float, bias: float, w: np.ndarray) -> dict[str, Any]:
        found = LinearTraining._attributes(sign, bias, w)
        return {**found, "coef_": found["coef_"][0]}

    def _file_model(self) -> Any:
        """The model as its file holds it."""
        check_is_fitted(self)
        return model_files.linear(self._word, None, self.coef_, self.intercept_, self._notes)

    def _decision_function(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return safe_sparse_dot(self._data(X, reset=False, order=None), self.coef_) + self.intercept_
