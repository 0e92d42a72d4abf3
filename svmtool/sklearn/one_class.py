"""Linear one-class SVM."""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.sklearn.base import SHARE, inside_offset
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining

ONE_CLASS = 21  # number of the solver in the registry


class LinearOneClassSVM(OutlierMixin, LinearTraining):
    """Linear one-class SVM: the exact counterpart of scikit-learn's `SGDOneClassSVM`.

    Minimises 1/2 |w|^2 + sum_i max(0, rho - w.x_i) - nu n rho.

    Parameters
    ----------
    nu : float, default=0.5
        Share of the rows that may lie outside, 0 < nu <= 1.
    tol : float, default=1e-4
        Certified relative gap at which the fit ends.
    warm_start, verbose, random_state, max_iter, n_jobs, max_seconds :
        See `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    offset_ : ndarray of shape (1,)
        The decision function is coef_.x - offset_.
    n_iter_, gap_, objective_, certificate_, converged_ :
        See `LinearSVC`.
    """

    fit_intercept = False  # the offset takes its place
    _parameter_constraints: dict = {
        **{name: rule for name, rule in LINEAR_CONSTRAINTS.items() if name not in ("fit_intercept", "C")},
        "nu": [SHARE],
    }

    def __init__(
        self, nu=0.5, *, tol=1e-4, warm_start=False, verbose=0, random_state=None, max_iter=None, n_jobs=None,
        max_seconds=None,
    ):  # fmt: skip
        self.nu, self.tol, self.warm_start = nu, tol, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds = n_jobs, max_seconds

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
        X = self._data(X)
        weights = self._weights(sample_weight, X)
        done = self._run(X, None, weights, solver=ONE_CLASS, nu=self.nu, gap=self.tol, init=self._start())
        W, _ = self._take(done)
        self.coef_, self.offset_ = W, np.array([inside_offset(done.model.rho)])
        return self

    def score_samples(self, X):
        """coef_.x of each row, ndarray of shape (n_samples,)."""
        check_is_fitted(self)
        X = self._data(X, reset=False)
        return safe_sparse_dot(X, self.coef_.T)[:, 0]

    def decision_function(self, X):
        """coef_.x - offset_ of each row, ndarray of shape (n_samples,): positive inside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        """1 for rows inside and -1 for rows outside, ndarray of shape (n_samples,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
