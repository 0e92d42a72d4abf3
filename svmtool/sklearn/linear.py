"""LinearSVC, and what all linear estimators share.

`tol` is a certified relative gap: a fit ends when the objective is known to be within that share of its minimum.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from svmtool import api
from svmtool.models.certain import NO_BOUNDS, lengths, within
from svmtool.models.linear import CRAMMER_SINGER_WORD, LinearModel, radius_notes, sigmoid_notes
from svmtool.sklearn import model_files
from svmtool.sklearn.base import (
    COMMON_CONSTRAINTS,
    POSITIVE,
    SCALING,
    CertifiedEstimator,
    ClassifierTraining,
    LinearDecisions,
    checks_parameters,
)
from svmtool.sklearn.described import PARAMETERS, Texts, described
from svmtool.sklearn.probabilities import ProbabilityMixin, Sigmoid
from svmtool.tolerances import EPS

if TYPE_CHECKING:
    from typing_extensions import Self

SQUARED_HINGE, HINGE, CRAMMER_SINGER, L1_SQUARED_HINGE = 2, 3, 4, 5  # solvers' numbers
LP_HINGE = 31
HINGE_WORD = "L2R_L1LOSS_SVC_DUAL"  # in a model file
EPOCHS = 100  # of Crammer and Singer's problem in an iteration: the default limit is then LIBLINEAR's, 100,000

LINEAR_CONSTRAINTS: dict[str, list] = {
    **COMMON_CONSTRAINTS,
    "C": [POSITIVE],
    "fit_intercept": ["boolean"],
    "max_iter": [None, Interval(Integral, 0, None, closed="left")],
    "warm_start": ["boolean"],
}
CLASS_CONSTRAINTS: dict[str, list] = {
    "class_weight": [None, dict, StrOptions({"balanced"})],
    "probability": ["boolean", StrOptions({"sigmoid", "isotonic"})],
}
INTERCEPT_CONSTRAINTS: dict[str, list] = {"intercept_scaling": [SCALING], "regularize_intercept": ["boolean"]}


def refuse_unsupported(penalty: str, loss: str, dual: bool | str) -> None:
    """Refuse what LIBLINEAR has no solver for, as scikit-learn does, though `dual` chooses nothing here.

    Parameters
    ----------
    penalty : {"l1", "l2"}
        Norm of the weights.
    loss : str
        The loss of LinearSVC or LinearSVR.
    dual : bool or "auto"
        Which problem scikit-learn would solve.

    Raises
    ------
    ValueError
        For a set of arguments that it refuses.
    """
    absolute = loss in ("hinge", "epsilon_insensitive")
    if (penalty == "l1" and (absolute or dual is True)) or (absolute and dual is False):
        more = "; use svmtool.sklearn.LPSVC" if penalty == "l1" and absolute else "; use dual='auto'"
        raise ValueError(f"Unsupported set of arguments: {penalty=}, {loss=}, {dual=}{more}")


class LinearTraining(CertifiedEstimator):
    """`coef_` and `intercept_` from a trained model, warm starts, and the bias options."""

    def _bias(self, free: bool) -> dict[str, Any]:
        """The bias options of `api.fit`; free: an intercept is not regularised."""
        if not self.fit_intercept:
            return {"bias": -1.0}
        if free:
            return {"bias": 1.0, "regularize_bias": False}
        return {"bias": float(getattr(self, "intercept_scaling", 1.0))}

    @staticmethod
    def _attributes(sign: float, bias: float, w: np.ndarray) -> dict[str, Any]:
        """The fitted attributes with the solver's weights w, for callbacks; sign: of the estimator's weights."""
        W = sign * w
        if bias < 0:
            return {"coef_": W[None], "intercept_": 0.0}
        return {"coef_": W[None, :-1], "intercept_": W[-1:] * bias}

    def _start(self) -> Any:
        """The last model as a warm start; None without one, or where the classes or the intercept are others now."""
        model = getattr(self, "_model", None) if self.warm_start else None
        if model is None or (model.bias >= 0) != self.fit_intercept:
            return None
        known = getattr(self, "classes_", None)
        return model if known is None or model.labels is None or len(known) == len(model.labels) else None

    def _read_fit(self, done: api.Fit) -> tuple[np.ndarray, np.ndarray]:
        """Weights f8 (columns, features) and intercepts f8[columns] in the order of the model's columns."""
        model = done.model
        self._model = model if self.warm_start else None
        self._word, self._notes = model.word, model.notes
        self.n_iter_ = int(self._steps(done).max())
        W = model.W.T
        if model.bias < 0:
            return W.copy(), np.zeros(len(W))
        return np.ascontiguousarray(W[:, :-1]), W[:, -1] * model.bias

    def _steps(self, done: api.Fit) -> np.ndarray:
        """The iterations of each problem, i4, at least 1: the first record is that of the start."""
        return np.maximum(done.n_iter - 1, 1).astype(np.int32)

    def __getstate__(self) -> dict:
        state = super().__getstate__()
        if state.get("_model") is not None:  # as text, which later versions read
            state = {**state, "_model": api.dumps(state["_model"])}
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if isinstance(getattr(self, "_model", None), str):
            self._model = api.loads(self._model)


class LinearClassifier(
    ProbabilityMixin, LinearDecisions, SparseCoefMixin, ClassifierTraining, LinearTraining
):  # fmt: skip
    """Linear classifiers: two classes have one weight vector, more have one for each class against the rest."""

    _types = (np.float64, np.float32)
    _fitted = ("coef_", "intercept_", "classes_", "class_weight_", "n_iter_")
    _described: Texts = {
        "random_state": (
            PARAMETERS["random_state"][0],
            "Seed of the solver's random choices and of the folds of `probability`.",
        ),
    }

    _problem: Callable[[], dict[str, Any]]  # the solver and its keywords, as `api.fit` takes them

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
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
        X, codes, weights = self._checked(X, y, sample_weight)
        self._fit_checked(X, codes, weights, **options)
        self._complete = True
        return self

    def _fit_checked(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, **options: Any) -> None:
        """Fit to checked rows, whose classes are `codes`."""
        sign = 1.0 if codes[0] == 1.0 else -1.0  # the column of two classes belongs to the first row's
        single = len(self.classes_) == 2 and options.get("solver") != CRAMMER_SINGER
        fitted = functools.partial(self._attributes, sign, options["bias"]) if single else None
        done = self._run(X, codes, weights, fitted, class_weight=self._factors(), init=self._start(), **options)
        W, b = self._read_fit(done)
        order = np.array(done.model.labels, np.intp)
        if len(W) == 1:
            self.coef_, self.intercept_ = sign * W, sign * b
        else:
            back = np.argsort(order)
            self.coef_, self.intercept_ = W[back], b[back]
        if len(self.classes_) == 2 and len(W) == 2:  # Crammer-Singer's two weight vectors act as their difference
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        self._bias_value, (radii, offsets) = options["bias"], np.array(done.certificate.bounds)
        if len(radii) == len(order) > 2:
            radii, offsets = radii[np.argsort(order)], offsets[np.argsort(order)]
        joint = done.model.word == CRAMMER_SINGER_WORD and len(order) == 2
        self._bounds = np.sqrt(2.0) * (1.0 + EPS) * radii if joint else radii, offsets
        if not self.fit_intercept:
            self.intercept_ = 0.0
        self._calibrate(X, codes, weights)

    def _file_model(self) -> LinearModel:
        """The model as its file holds it."""
        check_is_fitted(self)
        joint = self._word == CRAMMER_SINGER_WORD
        word = HINGE_WORD if joint and len(self.classes_) == 2 else self._word  # there one weight vector is left
        found = model_files.classifier(word, self.classes_, self.coef_, self.intercept_, self._notes)
        sigmoids = [c for c in getattr(self, "calibrators_", None) or () if isinstance(c, Sigmoid)]
        if sigmoids and found.word != CRAMMER_SINGER_WORD:
            found.notes += sigmoid_notes([(c.A, c.B) for c in sigmoids])
        if found.bias == getattr(self, "_bias_value", None):
            found.notes += radius_notes(*self._bounds)
        return found

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
            Where the gap bounds no decision values: with an L1 penalty, and for multinomial logistic regression.
        """
        check_is_fitted(self)
        bounds = getattr(self, "_bounds", NO_BOUNDS)
        if not len(bounds[0]):
            needed = "this needs an L2 penalty, and weights of float64; of logistic regression also two classes"
            raise ValueError(f"no class is certified: the gap bounds no decision values: {needed}")
        X = self._data(X, reset=False)
        f = np.asarray(self.decision_function(X), np.float64).reshape(X.shape[0], -1)
        sizes = lengths(api.arrays.dataset(X), X.shape[1], self._bias_value)
        return within(f, sizes, bounds, self._word, f.shape[1] + (f.shape[1] == 1))


@described
class LinearSVC(LinearClassifier):
    """Linear support vector classification, with scikit-learn's interface.

    Minimises 1/2 |w|^2 (or |w|_1) + C sum_i loss_i.  Several classes are fitted one against the rest, or by Crammer and
    Singer's problem.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Norm of the weights: 1/2 |w|^2 or |w|_1, which gives sparse weights.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Square of the hinge, or the hinge; the hinge with penalty="l1" is `LPSVC`.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One class against the rest, or all classes in one problem.
    regularize_intercept : bool, default=True
        Whether the intercept is regularised, as in scikit-learn; False needs multi_class="ovr".

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LinearSVC
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LinearSVC().fit(X, y)
    >>> model.gap_ <= 1e-4
    True
    >>> model.predict([[0.0, 0.0, 0.0, 1.0]])
    array([1])
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, **INTERCEPT_CONSTRAINTS,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"}), Hidden(StrOptions({"warn"}))],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    }  # fmt: skip

    def __init__(
        self, penalty: str | None = "l2", loss: str = "squared_hinge", *, dual: bool | str = "auto", tol: float = 1e-4,
        C: float = 1.0, multi_class: str = "ovr", fit_intercept: bool = True, intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None, verbose: int = 0, random_state: Any = None,
        max_iter: int | None = 1000, regularize_intercept: bool = True, probability: bool | str = False,
        warm_start: bool = False, n_jobs: int | None = None, max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.penalty, self.loss, self.dual, self.tol, self.C = penalty, loss, dual, tol, C
        self.multi_class, self.fit_intercept, self.intercept_scaling = multi_class, fit_intercept, intercept_scaling
        self.class_weight, self.verbose, self.random_state = class_weight, verbose, random_state
        self.max_iter = max_iter
        self.regularize_intercept, self.probability = regularize_intercept, probability
        self.warm_start, self.n_jobs, self.max_seconds = warm_start, n_jobs, max_seconds

    def _problem(self) -> dict[str, Any]:
        free = self.fit_intercept and not self.regularize_intercept
        options: dict[str, Any] = {"solver": SQUARED_HINGE}
        if self.multi_class == "ovr":
            refuse_unsupported(self.penalty, self.loss, self.dual)
        if self.multi_class == "crammer_singer":
            if free:
                raise ValueError("regularize_intercept=False is not available with multi_class='crammer_singer'")
            options = {"solver": CRAMMER_SINGER}
            if self.max_iter is not None:
                options["max_iter"] = EPOCHS * self.max_iter
        elif self.penalty == "l1":
            options = {"solver": L1_SQUARED_HINGE}
        elif self.loss == "hinge":
            options = {"solver": LP_HINGE, "method": "fast", "loss_power": 1.0} if free else {"solver": HINGE}
        return {"C": self.C, "gap": self.tol, **options, **self._bias(free)}
