"""Classification with kernels: SVC and NuSVC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from svmtool import api
from svmtool.models.certain import certain, why_none
from svmtool.sklearn.base import COST, SHARE, ClassifierTraining, checks_parameters, warn
from svmtool.sklearn.class_order import sorted_classes
from svmtool.sklearn.described import ATTRIBUTES, Texts, described
from svmtool.sklearn.kernel_base import KERNEL_CONSTRAINTS, KernelTraining
from svmtool.sklearn.probabilities import BOOLEANS_DEPRECATED, ProbabilityMixin, method_of

if TYPE_CHECKING:
    from typing_extensions import Self

FEASIBLE = 0.999  # share of the largest feasible nu: where nu is that, the bias is not determined


class _KernelClassifier(ProbabilityMixin, ClassifierMixin, ClassifierTraining, KernelTraining):
    """Classification: one problem for each pair of classes, with classes in ascending order."""

    _fitted = ("classes_", "class_weight_", "probA_", "probB_")
    _described: Texts = {
        "probability": (
            'bool, "sigmoid" or "isotonic"',
            'Add `predict_proba`: "sigmoid" is LIBSVM\'s, a sigmoid for each pair of classes, coupled; "isotonic" is '
            'calibrated one class against the rest; "deprecated", for none, and True for "sigmoid" are scikit-learn\'s '
            "values.",
        ),
        "random_state": ("int, RandomState instance or None", "Seed of the folds of `probability`."),
        "coef_": ("ndarray of shape (n_pairs, n_features)", 'Weights, with kernel="linear" only.'),
        "dual_coef_": ("{ndarray, sparse matrix} of shape (n_classes - 1, n_SV)", ATTRIBUTES["dual_coef_"][1]),
        "intercept_": ("ndarray of shape (n_pairs,)", "Intercept of each pair of classes."),
        "n_iter_": ("ndarray of shape (n_pairs,)", "Rounds of each pair of classes."),
        "n_support_": ("ndarray of shape (n_classes,)", "Number of support vectors of each class."),
    }
    _without_probabilities = "deprecated"
    _balances_rows = True  # as scikit-learn's SVC and NuSVC, unlike its LinearSVC and LogisticRegression

    _problem: Callable[[], dict[str, Any]]  # the solver and its keywords, as `api.fit` takes them

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with kernel="precomputed" the kernel's values, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's C; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit_classes(X, y, sample_weight, **self._problem())

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        X, codes, weights = self._checked(X, y, sample_weight, keep=True)
        self.__dict__.pop("calibrators_", None)
        method = method_of(self.probability)
        if isinstance(self.probability, bool) and BOOLEANS_DEPRECATED:
            warn(
                "`probability`: the parameter's values True and False are deprecated, as in scikit-learn 1.9: use "
                "probability='sigmoid', or leave it out",
                FutureWarning,
            )
        options["probability"] = method == "sigmoid"
        costs, options = self._options_for(codes, weights, options)
        self._train(X, codes, costs, eps=self.tol, **options)
        self._model, self.support_ = sorted_classes(self._model, self.support_)
        model = self._model
        self.n_support_ = np.array(model.nr_sv, np.int32)
        sign = -1.0 if len(self.classes_) == 2 else 1.0  # scikit-learn: positive for classes_[1]
        self._store(X, sign * np.array(model.coef).reshape(len(self.classes_) - 1, -1))
        self.intercept_ = -sign * np.array(model.rho)
        self.fit_status_ = 0 if self.converged_ else 1
        if method == "isotonic":
            self._calibrate(X, codes, weights)
        self._complete = True
        return self

    def _options_for(
        self, codes: np.ndarray, weights: np.ndarray | None, options: dict[str, Any]
    ) -> tuple[np.ndarray | None, dict[str, Any]]:
        """The weights of rows and the keywords of `api.fit`."""
        return weights, {**options, "class_weight": self._factors()}

    def _set_n_iter(self, done: api.Fit) -> None:
        self.n_iter_ = np.maximum(done.n_iter, 1).astype(np.int32)

    def _primal_weights(self, coef: np.ndarray) -> np.ndarray:
        """Weights of each pair of classes from the support vectors of both."""
        if len(self.classes_) == 2:
            return super()._primal_weights(coef)
        k, ends = len(self.classes_), np.concatenate([[0], np.cumsum(self.n_support_)])
        rows, vectors = [], self.support_vectors_
        for i in range(k):
            for j in range(i + 1, k):
                a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
                rows.append(coef[j - 1, a] @ vectors[a] + coef[i, b] @ vectors[b])
        return np.stack(rows)

    @property
    def probA_(self):
        """The slopes of the sigmoids, deprecated in scikit-learn 1.9.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Empty without probability="sigmoid".
        """
        return self._of_sigmoids("probA")

    @property
    def probB_(self):
        """The offsets of the sigmoids, deprecated in scikit-learn 1.9.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Empty without probability="sigmoid".
        """
        return self._of_sigmoids("probB")

    def _of_sigmoids(self, name: str) -> np.ndarray:
        check_is_fitted(self)
        if BOOLEANS_DEPRECATED:
            warn(f"Attribute `{name}_` was deprecated in scikit-learn 1.9, which drops it in 1.11", FutureWarning)
        found = getattr(self._model, name)
        return np.empty(0) if found is None else np.array(found)

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Columns by `decision_function_shape`; of two classes a vector, positive for `classes_[1]`.
        """
        f = self._decisions(X)
        return f if len(self.classes_) > 2 and self.decision_function_shape == "ovo" else self._by_class(f)

    def _class_scores(self, X: Any) -> np.ndarray:
        return self._by_class(self._decisions(X))

    def _by_class(self, f: np.ndarray) -> np.ndarray:
        """Decision values of classes, from LIBSVM's f8 (rows, pairs)."""
        return -f[:, 0] if len(self.classes_) == 2 else _ovr_decision_function(f < 0.0, -f, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with kernel="precomputed" the kernel's values of each row with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        check_is_fitted(self)
        if self.break_ties and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self.classes_[self._model.labels_from(self._decisions(X)).astype(np.intp)]

    def _probabilities(self, X: Any) -> np.ndarray:
        if method_of(self.probability) == "isotonic":
            return super()._probabilities(X)
        if not self._model.gives_probabilities:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._model.probabilities(self._decisions(X))


CLASSIFIER_CONSTRAINTS: dict[str, list] = {
    **KERNEL_CONSTRAINTS,
    "probability": ["boolean", StrOptions({"sigmoid", "isotonic"}), Hidden(StrOptions({"deprecated"}))],
    "class_weight": [None, dict, StrOptions({"balanced"})],
    "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    "break_ties": ["boolean"],
}


@described
class SVC(_KernelClassifier):
    """C-support vector classification, with scikit-learn's interface.

    Several classes are fitted one against another, a problem for each pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from svmtool.sklearn import SVC
    >>> X, y = make_moons(noise=0.1, random_state=0)
    >>> model = SVC(C=10.0).fit(X, y)
    >>> model.score(X, y) > 0.98, model.gap_ < 1e-2
    (True, True)
    """

    _parameter_constraints: dict = {**CLASSIFIER_CONSTRAINTS, "C": [COST]}

    def __init__(
        self, *, C: float = 1.0, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3,
        gamma: str | float = "scale", coef0: float = 0.0, shrinking: bool = True,
        probability: bool | str = "deprecated", tol: float = 1e-3, cache_size: float = 200,
        class_weight: Mapping[Any, float] | str | None = None, verbose: int = False, max_iter: int = -1,
        decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None,
        n_jobs: int | None = None, max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.C, self.kernel, self.degree, self.gamma, self.coef0 = C, kernel, degree, gamma, coef0
        self.shrinking, self.probability, self.tol, self.cache_size = shrinking, probability, tol, cache_size
        self.class_weight, self.verbose, self.max_iter = class_weight, verbose, max_iter
        self.decision_function_shape, self.break_ties = decision_function_shape, break_ties
        self.random_state, self.n_jobs, self.max_seconds = random_state, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "svc", "C": self.C}

    def certified_mask(self, X: Any) -> np.ndarray:
        """Find the rows whose class is that of the exact optimum for sure, by the certified gap of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True where the exact optimum predicts the same class as `predict`.

        Raises
        ------
        ValueError
            Where the gap bounds no decision values: for three classes or more, a kernel that is not known to be
            positive semidefinite, or a certificate from a sample of rows.
        """
        f = self._decisions(X)
        if why := why_none(self._model):
            raise ValueError(f"no class is certified: {why}")
        return certain(self._model, api.arrays.dataset(self._data(X, reset=False)), f)


@described
class NuSVC(_KernelClassifier):
    """Nu-support vector classification, with scikit-learn's interface.

    Several classes are fitted one against another, a problem for each pair.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of margin errors, lower bound of the share of support vectors.  Where the sizes of the
        classes do not allow it, the largest value that they allow is used, with a warning.

    Attributes
    ----------
    class_weight_ : ndarray of shape (n_classes,)
        Factor of each class, without effect.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from svmtool.sklearn import NuSVC
    >>> X, y = make_moons(noise=0.1, random_state=0)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> len(model.support_) >= 0.2 * len(X)
    True
    """

    _one_class_left = f"specified nu is infeasible: {ClassifierTraining._one_class_left}"
    _parameter_constraints: dict = {**CLASSIFIER_CONSTRAINTS, "nu": [SHARE]}

    def __init__(
        self, *, nu: float = 0.5, kernel: str | Callable[[Any, Any], Any] = "rbf", degree: int = 3,
        gamma: str | float = "scale", coef0: float = 0.0, shrinking: bool = True,
        probability: bool | str = "deprecated", tol: float = 1e-3, cache_size: float = 200,
        class_weight: Mapping[Any, float] | str | None = None, verbose: int = False, max_iter: int = -1,
        decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None,
        n_jobs: int | None = None, max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.nu, self.kernel, self.degree, self.gamma, self.coef0 = nu, kernel, degree, gamma, coef0
        self.shrinking, self.probability, self.tol, self.cache_size = shrinking, probability, tol, cache_size
        self.class_weight, self.verbose, self.max_iter = class_weight, verbose, max_iter
        self.decision_function_shape, self.break_ties = decision_function_shape, break_ties
        self.random_state, self.n_jobs, self.max_seconds = random_state, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        return {"solver": "nu-svc"}

    def _options_for(
        self, codes: np.ndarray, weights: np.ndarray | None, options: dict[str, Any]
    ) -> tuple[np.ndarray | None, dict[str, Any]]:
        """The weights of rows, and nu no larger than the classes allow."""
        if self.class_weight is not None:
            warn("class_weight has no effect: the problem of NuSVC has no costs", UserWarning)
        sizes = np.sort(np.bincount(codes.astype(np.intp), weights))
        max_nu = 2.0 * sizes[0] / (sizes[0] + sizes[-1])
        if self.nu <= max_nu:
            return weights, {**options, "nu": float(self.nu)}
        sentence = f"the sizes of the classes allow nu up to {max_nu:.3g} only, which is used"
        warn(sentence, UserWarning)
        return weights, {**options, "nu": FEASIBLE * max_nu}
