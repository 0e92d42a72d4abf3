"""Linear SVMs of the papers: Lp hinge, L1 norm with the hinge, and ordinal regression."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from svmtool.errors import clipped
from svmtool.models.linear import LinearModel
from svmtool.sklearn import model_files
from svmtool.sklearn.base import METHOD_CONSTRAINTS, ClassifierTraining, checks_parameters, warn
from svmtool.sklearn.class_order import ordered_categories
from svmtool.sklearn.described import Texts, described
from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LP_HINGE, LinearClassifier, LinearTraining

if TYPE_CHECKING:
    from typing_extensions import Self

ORDINAL, L1_HINGE = 43, 51  # numbers of the solvers in the registry

# What the papers' estimators have of their own, for their docstrings
PAPER_TOL = (
    "float",
    'Certified relative gap at which the fit ends; with method="paper" the tolerance of the paper\'s own rule.',
)
FREE_INTERCEPT = "bool", "Whether the model has an intercept, which is not regularised."


@described
class LpSVC(LinearClassifier):
    """Lp-SVM by augmented Lagrangian multipliers: a power of the hinge between 1 and 2, with a free intercept.

    Minimises 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b))^p.
    Source: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
    Classifications, ICML 2014.

    Parameters
    ----------
    p : float, default=1.5
        Power of the hinge, from 1 to 2; above 2 only the paper's algorithm has it.
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 31`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LpSVC
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LpSVC(p=1.2).fit(X, y)
    >>> model.converged_
    True
    """

    _described: Texts = {"tol": PAPER_TOL, "fit_intercept": FREE_INTERCEPT}
    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, **METHOD_CONSTRAINTS,
        "p": [Interval(Real, 1.0, None, closed="left")],
    }  # fmt: skip

    def __init__(
        self, p: float = 1.5, *, C: float = 1.0, tol: float = 1e-4, fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None, probability: bool | str = False,
        warm_start: bool = False, verbose: int = 0, random_state: Any = None, max_iter: int | None = None,
        n_jobs: int | None = None, max_seconds: float | None = None, method: str = "fast",
    ) -> None:  # fmt: skip
        self.p, self.C, self.tol, self.fit_intercept = p, C, tol, fit_intercept
        self.class_weight, self.probability, self.warm_start = class_weight, probability, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds, self.method = n_jobs, max_seconds, method

    def _problem(self) -> dict[str, Any]:
        bias = self._bias(self.fit_intercept)
        return {"solver": LP_HINGE, "C": self.C, "loss_power": self.p, **self._rule(), **bias}


@described
class LPSVC(LinearClassifier):
    """LP-SVM: the hinge with the L1 norm, which gives sparse weights, and a free intercept.

    Minimises |w|_1 + C sum_i max(0, 1 - y_i (w.x_i + b)).
    Source: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010.

    Parameters
    ----------
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 51`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LPSVC
    >>> X, y = make_classification(n_features=50, n_informative=3, random_state=0)
    >>> model = LPSVC(C=0.1).fit(X, y)
    >>> bool((model.coef_ == 0.0).mean() > 0.5)
    True
    """

    _described: Texts = {"tol": PAPER_TOL, "fit_intercept": FREE_INTERCEPT}
    _parameter_constraints: dict = {**LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, **METHOD_CONSTRAINTS}

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-4, fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None, probability: bool | str = False,
        warm_start: bool = False, verbose: int = 0, random_state: Any = None, max_iter: int | None = None,
        n_jobs: int | None = None, max_seconds: float | None = None, method: str = "fast",
    ) -> None:  # fmt: skip
        self.C, self.tol, self.fit_intercept = C, tol, fit_intercept
        self.class_weight, self.probability, self.warm_start = class_weight, probability, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds, self.method = n_jobs, max_seconds, method

    def _problem(self) -> dict[str, Any]:
        return {"solver": L1_HINGE, "C": self.C, **self._rule(), **self._bias(self.fit_intercept)}


@described
class OrdinalSVM(ClassifierMixin, ClassifierTraining, LinearTraining):
    """Ordinal regression: classes in their order are ranks, told apart by one direction and thresholds.

    The order is that of an ordered pandas Categorical; of other classes it is the ascending one, which for more than
    two names is the alphabet's and is shown in a warning.

    Source: S. S. Keerthi and D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs,
    JMLR 6 (2005), Section 6.

    Parameters
    ----------
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 43`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The direction.
    thresholds_ : ndarray of shape (n_classes - 1,)
        A row has the rank of the number of thresholds that coef_.x reaches.
    classes_ : ndarray of shape (n_classes,)
        The classes in their order.
    class_weight_
    n_iter_

    Examples
    --------
    >>> from svmtool.sklearn import OrdinalSVM
    >>> X, stars = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 3, 3, 5, 5]
    >>> model = OrdinalSVM(C=10.0).fit(X, stars)
    >>> model.predict([[0.5], [2.5], [9.0]]).tolist()
    [1, 3, 5]
    """

    _described: Texts = {"tol": PAPER_TOL}
    fit_intercept = False  # the thresholds take its place
    _parameter_constraints: dict = {
        **{name: rule for name, rule in LINEAR_CONSTRAINTS.items() if name != "fit_intercept"},
        "class_weight": CLASS_CONSTRAINTS["class_weight"],
        **METHOD_CONSTRAINTS,
    }

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-4, class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False, verbose: int = 0, random_state: Any = None, max_iter: int | None = None,
        n_jobs: int | None = None, max_seconds: float | None = None, method: str = "fast",
    ) -> None:  # fmt: skip
        self.C, self.tol, self.class_weight, self.warm_start = C, tol, class_weight, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds, self.method = n_jobs, max_seconds, method

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            The class of each row: an ordered pandas Categorical, numbers, or names in the order of the alphabet.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's C; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        y, categories = ordered_categories(y) or (y, None)
        X, codes, weights = self._checked(X, y, sample_weight, categories=categories)
        if categories is None and len(self.classes_) > 2 and isinstance(self.classes_[0], (str, bytes)):
            order = " < ".join(clipped(repr(name)) for name in self.classes_.tolist())
            warn(
                f"{type(self).__name__} ranks the classes by the alphabet: {order}. For another order give an ordered "
                "pandas Categorical, or numbers",
                UserWarning,
            )
        options = {"class_weight": self._factors(), "init": self._start()}
        done = self._run(X, codes, weights, solver=ORDINAL, C=self.C, **self._rule(), **options)
        self._read_fit(done)
        self.coef_, self.thresholds_ = _direction(done.model)
        self._complete = True
        return self

    def _file_model(self) -> LinearModel:
        """The model as its file holds it: score_s(x) = s w.x - sum_{r < s} b_r, of two classes w.x - b."""
        check_is_fitted(self)
        k = len(self.classes_)
        W = np.arange(k)[:, None] * self.coef_ if k > 2 else self.coef_
        b = -np.concatenate([[0.0], np.cumsum(self.thresholds_)]) if k > 2 else -self.thresholds_
        return model_files.classifier(self._word, self.classes_, W, b, self._notes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes coef_.x less the threshold; of more the scores of the classes, whose largest is the
            prediction.
        """
        check_is_fitted(self)
        X = self._data(X, reset=False)
        f = safe_sparse_dot(X, self.coef_)[:, None] - self.thresholds_
        if f.shape[1] == 1:
            return f[:, 0]
        return np.hstack([np.zeros((len(f), 1)), np.cumsum(f, axis=1)])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        f = self.decision_function(X)
        return self.classes_[(f > 0.0).astype(np.intp) if f.ndim == 1 else np.argmax(f, axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that are no ranks
        return tags


def _direction(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The direction and the thresholds of an ordinal model: score_s(x) = s w.x - sum_{r < s} b_r."""
    W = model.W if model.columns > 1 else np.hstack([np.zeros_like(model.W), -model.W])
    order = np.argsort(model.labels)
    steps = np.diff(W[:, order], axis=1) if model.columns > 1 else -model.W * (1.0 if model.labels[0] == 0 else -1.0)
    return steps[:-1, 0].copy(), -steps[-1] * model.bias
