"""Shared by all estimators: input checks, a call of `svmtool.api.fit`, and the certificate of its result.

Parameters that every estimator has, with the meaning that they have in scikit-learn: `random_state`, `n_jobs`
(threads; None: as many as the process may use), `verbose` and `max_iter`.  `max_seconds` limits the time of a fit.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from svmtool import api
from svmtool.api.arrays import TOO_LARGE, floats, of_columns, refuse_unsound, refuse_weights
from svmtool.api.settings import MAX_SQUARED
from svmtool.api.values import real, shown, whole
from svmtool.api.wording import in_parameters
from svmtool.certify.linear import Certificate
from svmtool.data.dataset import left_out
from svmtool.data.labels import balanced_weights
from svmtool.errors import clipped
from svmtool.registry.row import METHODS
from svmtool.training.notices import Notice

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Has no callbacks."""


POSITIVE = Interval(Real, 0.0, None, closed="neither")
COST = Interval(Real, 0.0, None, closed="right")  # inf: no errors
NOT_NEGATIVE = Interval(Real, 0.0, None, closed="left")
SCALING = Interval(Real, 0.0, MAX_SQUARED, closed="right")  # of the intercept: its square is a number
SHARE = Interval(Real, 0.0, 1.0, closed="right")

METHOD_CONSTRAINTS: dict[str, list] = {"method": [StrOptions(set(METHODS))]}  # of the papers' estimators
COMMON_CONSTRAINTS: dict[str, list] = {
    "tol": [POSITIVE],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
    "max_seconds": [None, POSITIVE],
}


def warn(sentence: str, category: type[Warning]) -> None:
    """Warn at the line that called the estimator: outside of this package and of scikit-learn's wrapper of `fit`.

    Parameters
    ----------
    sentence : str
        The warning.
    category : type of Warning
        Its class.
    """
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("svmtool.sklearn", "sklearn.base")):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, category, stacklevel=level + 1)


Fitted = Callable[[np.ndarray], dict[str, Any]]
Method = TypeVar("Method", bound=Callable[..., Any])


def _is_finite(x: np.ndarray) -> bool:
    """Whether all numbers of an array are finite; False also where their range is not."""
    return x.dtype.kind != "f" or float(x.max()) - float(x.min()) < np.inf


def check_classes(y: np.ndarray) -> None:
    """Raise ValueError for labels that are no classes, but for whole numbers: scikit-learn's check takes longer than a
    small fit, and numpy warns in it of numbers beyond 64 bits.
    """
    if y.dtype.kind not in "biu" and not (y.dtype.kind == "f" and np.array_equal(np.trunc(y), y)):
        check_classification_targets(y)


def checks_parameters(fit: Method) -> Method:
    """Run scikit-learn's checks of an estimator's parameters before a method, whose type stays.

    Parameters
    ----------
    fit : function
        The method.

    Returns
    -------
    function
        The method with the checks.
    """
    return _fit_context(prefer_skip_nested_validation=True)(fit)


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators: training through `svmtool.api`, and the certificate of the result.

    Attributes
    ----------
    gap_ : float
        Certified relative gap (P - D) / P: the objective is at most this share above its minimum.
    certificate_ : Bunch
        `primal`, `dual`, `gap` and `violation`, summed over the problems (worst gap and violation); `sampled`: a
        statement if a part of them was computed for a sample of the rows only, else empty.
    objective_ : float
        The primal value P.
    converged_ : bool
        Whether the run met its stopping rule, with a gap of at most 0.01: what `svm-train --strict` accepts.
    """

    _complete = False
    _types: tuple[Any, ...] = (np.float64,)  # of X that are not converted

    def _validate_params(self) -> None:
        """scikit-learn's checks of the parameters, which take numbers of numpy, and their range, for granted.

        Defaults need none: with all parameters the checks take longer than a small fit.
        """
        init, given = type(self).__init__, {}
        named = zip(init.__code__.co_varnames[1:], init.__defaults__ or (), strict=False)
        usual = {**(init.__kwdefaults__ or {}), **dict(named)}
        for name, value in vars(self).items():
            if name not in self._parameter_constraints or (name in usual and value is usual[name]):
                continue
            if isinstance(value, Real) and not isinstance(value, bool):
                real(name, value)
                if not isinstance(value, (int, float, np.number)):
                    raise TypeError(f"{name} must be a number of Python or numpy, not {shown(value)}")
            given[name] = value
        if given:
            with np.errstate(all="ignore"):
                validate_parameter_constraints(self._parameter_constraints, given, type(self).__name__)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the last fit was completed: an interrupted one leaves the estimator unfitted."""
        return self._complete

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rule(self) -> dict[str, Any]:
        """`method`, and what `tol` is with it, as `api.fit` takes them: the paper's own tolerance, or a gap."""
        return {"method": self.method, "eps" if self.method == "paper" else "gap": self.tol}

    def _seed(self) -> int | None:
        state = getattr(self, "random_state", None)
        return None if state is None else int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def _threads(self) -> int | None:
        jobs = self.n_jobs
        if jobs is None:
            return None
        if jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning")
        if jobs > 0:
            return whole("n_jobs", jobs)
        from joblib import effective_n_jobs

        return effective_n_jobs(jobs)

    def _is_plain(self, X: Any, y: Any, resets: bool) -> bool:
        """Whether `validate_data` would return X (and y) as they are: its checks take longer than a small fit."""
        plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous and X.dtype in self._types
        if not plain or hasattr(self, "feature_names_in_") or not _is_finite(X):
            return False
        if not resets and X.shape[1] != self.n_features_in_:
            return False
        if isinstance(y, str):
            return True
        plain = type(y) is np.ndarray and y.shape == X.shape[:1] and y.dtype.kind in "biuf"
        return plain and _is_finite(y)

    def _data(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """X (and y) as `validate_data` returns them: CSR or C-contiguous, of a type of `_types`."""
        resets = options.get("reset", True)
        if resets:
            self._complete = False
        if self._is_plain(X, y, resets):
            self.n_features_in_ = X.shape[1]
            return X if isinstance(y, str) else (X, y)
        for name, values in (("X", X), ("y", y)):
            refuse_unsound(values, name)
        checks = {
            "accept_sparse": "csr", "dtype": list(self._types), "order": "C", "accept_large_sparse": True, **options,
        }  # fmt: skip
        try:
            with np.errstate(all="ignore"):  # scikit-learn refuses what becomes infinite
                table = of_columns(X) if resets else None
                if table is None:
                    return validate_data(self, X, y, **checks)
                validate_data(self, X, skip_check_array=True)  # sets the names of features
                names = getattr(self, "feature_names_in_", None)
                found = validate_data(self, table, y, **checks)  # takes them away
                if names is not None:
                    self.feature_names_in_ = names
                return found
        except OverflowError:  # of whole numbers beyond floats
            raise ValueError(f"Input contains {TOO_LARGE}.") from None

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        """sample_weight as f8[n], checked, negative ones as 0, with a warning; None where there are none."""
        if sample_weight is None:
            return None
        given = floats(sample_weight, "sample_weight")
        if given.ndim == 1 and np.isfinite(given).all():
            refuse_weights(given)
        weights = _check_sample_weight(given, X, dtype=np.float64)
        refuse_weights(weights)
        for sentence in left_out(weights, "sample_weight"):
            warn(sentence.removeprefix("WARNING: "), UserWarning)
        return np.maximum(weights, 0.0)

    def _run(
        self, X: Any, y: np.ndarray | None, sample_weight: np.ndarray | None = None, fitted: Fitted | None = None,
        **options: Any,
    ) -> api.Fit:  # fmt: skip
        """Train, set the attributes of the certificate, and warn without convergence; fitted: see `_records_told`."""
        options.setdefault("max_iter", self._limit())
        try:
            with self._records_told(X, y, sample_weight, fitted) as told:
                done = api.fit(
                    X, y, sample_weight=sample_weight, seed=self._seed(), threads=self._threads(),
                    max_seconds=self.max_seconds, callback=told, progress=self.verbose == 1, one_class=True, **options,
                )  # fmt: skip
        except ValueError as e:
            raise ValueError(self._words(str(e))) from None
        found = done.certificate
        self._certify(found, done.converged)
        if self.verbose:
            print(found.line())
        for notice in done.notices:
            self._show(notice)
        return done

    @contextlib.contextmanager
    def _records_told(
        self, X: Any, y: Any, sample_weight: Any, fitted: Fitted | None = None
    ) -> Iterator[Callable[[dict], None] | None]:  # fmt: skip
        """A function that takes a solver's records: prints them with verbose=2, and tells scikit-learn's callbacks.

        For these a task ends, and the next begins, at each record.  fitted: the attributes of a fit that ends with the
        weights of a record; None where several problems make one.  No function where nobody asks for records.
        """
        printed = print if self.verbose > 1 else None
        if not getattr(self, "_skl_callbacks", None):
            yield printed
            return
        data = {"estimator": self, "X": X, "y": self._given(y)}
        if sample_weight is not None:
            data["metadata"] = {"sample_weight": sample_weight}
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(**data)
        tasks: list[Any] = []
        known: dict[str, Any] | None = None

        def _told(record: dict) -> None:
            nonlocal known
            if printed:
                printed(record)
            weights = record.get("weights")
            known = None if fitted is None or weights is None else {**fitted(weights), "_complete": True}
            if tasks:
                tasks.pop().call_on_fit_task_end(**data, reconstruction_attributes=known)
            tasks.append(context.subcontext(task_name="iteration"))
            tasks[0].call_on_fit_task_begin(**data, reconstruction_attributes=known)

        yield _told
        if tasks:
            tasks.pop().call_on_fit_task_end(**data)
        context.call_on_fit_task_end(**data, reconstruction_attributes=known)

    def _given(self, y: Any) -> Any:
        """The targets of rows as the caller has them."""
        return y

    def _show(self, notice: Notice) -> None:
        """Warn of a notice, in the estimator's words: a ConvergenceWarning if the run has not converged."""
        category = UserWarning if notice.converged else ConvergenceWarning
        warn(f"{type(self).__name__}: {self._words(notice.sentence)}", category)

    def _words(self, text: str) -> str:
        """A message in the parameters and classes of this estimator."""
        classes = getattr(self, "classes_", None)
        parameters = self.get_params(deep=False)
        if "max_iter" in parameters:
            text = text.replace("iteration limit reached", self._at_limit().format(**parameters))
        return in_parameters(text, parameters, None if classes is None else classes.tolist())

    def _at_limit(self) -> str:
        """What is said, in scikit-learn's words, where `max_iter` ends a fit."""
        return (
            "Solver terminated early (max_iter={max_iter}).  Consider pre-processing your data with StandardScaler or "
            "MinMaxScaler"
        )

    def _limit(self) -> int | None:
        """The limit on iterations; None: no limit."""
        max_iter = getattr(self, "max_iter", None)
        return None if max_iter is None or max_iter < 0 else int(max_iter)

    def _certify(self, found: Certificate, converged: bool) -> None:
        values = {name: float(getattr(found, name)) for name in ("primal", "dual", "gap", "violation")}
        self.certificate_ = Bunch(**values, sampled=found.sampled)
        self.gap_, self.objective_, self.converged_ = values["gap"], values["primal"], bool(converged)


class LinearDecisions(LinearClassifierMixin):
    """Linear classifiers of scikit-learn, with checks of rows that it would convert unchecked."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute the signed distance of rows to the planes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The values; of two classes one, positive for `classes_[1]`.
        """
        check_is_fitted(self)
        X = self._data(X, reset=False, order=None)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores.reshape(-1) if scores.ndim > 1 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of `classes_`.
        """
        return super().predict(X)


class ClassifierTraining(CertifiedEstimator):
    """Classes in any form, class weights and sample weights of the classifiers."""

    _one_class_left = "Invalid input - all samples with positive weights belong to the same class"
    _balances_rows = False  # whether class_weight="balanced" counts rows, not sample_weight

    def _given(self, y: np.ndarray) -> np.ndarray:
        """The classes of rows, whose numbers are y."""
        return self.classes_[y.astype(np.intp)]

    def _encoded(self, y: np.ndarray, categories: np.ndarray | None) -> np.ndarray:
        """Set `classes_`; returns the number of each row's class, f8[n]; categories: the classes that y numbers."""
        check_classes(y)
        self.classes_ = np.unique(y)
        codes = self.classes_.searchsorted(y)
        if categories is not None:
            self.classes_ = categories[self.classes_]
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                f"one class: {self.classes_.tolist()[0]!r}"
            )
        return codes.astype(np.float64)

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, keep: bool = False, categories: np.ndarray | None = None
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """X, class numbers and the weights of rows; sets `classes_` and `class_weight_`.

        Rows of weight zero are ignored, and a class with only such rows is not in `classes_`.  keep: they stay in X, as
        number 0, and `api.fit` leaves them out.  categories: the classes, where y holds their numbers.
        """
        X, y = self._data(X, y)
        weights = self._weights(sample_weight, X)
        used = None if weights is None or weights.all() else np.flatnonzero(weights)
        if used is not None and len(np.unique(y[used])) < 2 <= len(np.unique(y)):
            raise ValueError(self._one_class_left)
        codes = self._encoded(y if used is None else y[used], categories)
        values = self.classes_ if categories is None else np.unique(y if used is None else y[used])
        self.class_weight_ = self._class_factors(y, weights, values)
        if weights is None or used is None:
            return X, codes, weights
        if not keep:
            return X[used], codes, weights[used]
        whole = np.zeros(len(weights))
        whole[used] = codes
        return X, whole, weights

    def _factors(self) -> dict[int, float] | None:
        """The class weights as `api.fit` takes them."""
        found = {k: float(factor) for k, factor in enumerate(self.class_weight_) if factor != 1.0}
        return found or None

    def _class_factors(self, y: np.ndarray, weights: np.ndarray | None, values: np.ndarray) -> np.ndarray:
        """The factor of each of `classes_`, f8[classes]."""
        chosen, k = getattr(self, "class_weight", None), len(self.classes_)
        if chosen is None:
            return np.ones(k)
        if isinstance(chosen, str):  # "balanced"
            known = np.isin(y, values)
            codes = np.searchsorted(values, y[known]).astype(np.float64)
            counted = None if weights is None or self._balances_rows else weights[known]
            return np.array([factor for _, factor in balanced_weights(codes, counted)])
        unknown = [label for label in chosen if label not in set(self.classes_.tolist())]
        if unknown and len(chosen) - len(unknown) < k:
            raise ValueError(f"class_weight names classes that are not in y: {clipped(', '.join(map(repr, unknown)))}")
        factors = np.array([real("class_weight", chosen.get(label, 1.0)) for label in self.classes_.tolist()])
        for label, factor in zip(self.classes_.tolist(), factors.tolist(), strict=True):
            if not 0.0 <= factor < np.inf:
                raise ValueError(f"class_weight of {label!r} is {factor:g}: it must be a finite number >= 0")
        return factors
