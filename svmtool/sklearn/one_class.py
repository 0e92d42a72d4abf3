"""Linear one-class SVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.models.linear import LinearModel
from svmtool.sklearn import model_files
from svmtool.sklearn.base import SHARE, checks_parameters
from svmtool.sklearn.described import described
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining

if TYPE_CHECKING:
    from typing_extensions import Self

LINEAR_ONE_CLASS = 21  # number of the solver in the registry


@described
class LinearOneClassSVM(OutlierMixin, LinearTraining):
    """Linear one-class SVM: the exact counterpart of scikit-learn's `SGDOneClassSVM`.

    Minimises 1/2 |w|^2 + sum_i max(0, rho - w.x_i) - nu n rho.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows outside, above 0 and at most 1.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    offset_ : ndarray of shape (1,)
        The decision function is coef_.x less this.
    n_iter_

    Examples
    --------
    >>> import numpy as np
    >>> from svmtool.sklearn import LinearOneClassSVM
    >>> X = np.random.default_rng(0).uniform(1.0, 2.0, (100, 3))
    >>> model = LinearOneClassSVM(nu=0.05).fit(X)
    >>> model.predict([[1.5, 1.5, 1.5], [0.0, 0.0, 0.1]])
    array([ 1, -1])
    """

    fit_intercept = False  # the offset takes its place
    _parameter_constraints: dict = {
        **{name: rule for name, rule in LINEAR_CONSTRAINTS.items() if name not in ("fit_intercept", "C")},
        "nu": [SHARE],
    }

    def __init__(
        self, nu: float = 0.5, *, tol: float = 1e-4, warm_start: bool = False, verbose: int = 0,
        random_state: Any = None, max_iter: int | None = None, n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.nu, self.tol, self.warm_start = nu, tol, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

    @checks_parameters
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = self._data(X)
        weights = self._weights(sample_weight, X)
        done = self._run(X, None, weights, solver=LINEAR_ONE_CLASS, nu=self.nu, gap=self.tol, init=self._start())
        W, _ = self._read_fit(done)
        self.coef_, self.offset_ = W, np.array([done.model.rho])
        self._complete = True
        return self

    def _file_model(self) -> LinearModel:
        """The model as its file holds it."""
        check_is_fitted(self)
        return model_files.linear(self._word, None, self.coef_, 0.0, self._notes, float(self.offset_[0]))

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the decision values without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The value coef_.x of each row.
        """
        check_is_fitted(self)
        X = self._data(X, reset=False)
        return safe_sparse_dot(X, self.coef_.T)[:, 0]

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            `score_samples` less `offset_`, positive inside.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Tell rows inside from rows outside, as `svm-predict` does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 for rows inside, -1 for rows outside.
        """
        return np.where(self.decision_function(X) > 0.0, 1, -1)
