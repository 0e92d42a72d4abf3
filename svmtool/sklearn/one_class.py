"""Linear one-class SVM."""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.models.linear import LinearModel
from svmtool.sklearn import model_files
from svmtool.sklearn.base import SHARE
from svmtool.sklearn.linear import LINEAR_CONSTRAINTS, LinearTraining

LINEAR_ONE_CLASS = 21  # number of the solver in the registry


class LinearOneClassSVM(OutlierMixin, LinearTraining):
    """Linear one-class SVM: the exact counterpart of scikit-learn's `SGDOneClassSVM`.

    Minimises 1/2 |w|^2 + sum_i max(0, rho - w.x_i) - nu n rho.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows outside, above 0 and at most 1.
    tol : float, default=1e-4
        Certified relative gap at which the fit ends.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    verbose : int, default=0
        1 shows progress bars and prints the certificate, 2 prints it and each iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's random choices.
    max_iter : int or None, default=None
        Limit on the solver's iterations; None: no limit.
    n_jobs : int or None, default=None
        Number of threads; None: as many as the process may use, -1: all cores.
    max_seconds : float or None, default=None
        Limit on the seconds of a fit; None: no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    offset_ : ndarray of shape (1,)
        The decision function is coef_.x less this.
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

    def score_samples(self, X):
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

    def decision_function(self, X):
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

    def predict(self, X):
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
