"""What all estimators with kernels share.

`tol` is LIBSVM's and scikit-learn's: the violation of the most violating pair of dual variables at which a fit ends.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from svmtool import api
from svmtool.api.arrays import floats
from svmtool.api.settings import KERNELS_WITH
from svmtool.models.kernel import KernelModel
from svmtool.sklearn import model_files
from svmtool.sklearn.base import (
    COMMON_CONSTRAINTS,
    NOT_NEGATIVE,
    POSITIVE,
    CertifiedEstimator,
)

KERNEL_CONSTRAINTS: dict[str, list] = {
    **COMMON_CONSTRAINTS,
    "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), NOT_NEGATIVE],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "shrinking": ["boolean"],
    "cache_size": [POSITIVE],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
}


class KernelTraining(CertifiedEstimator):
    """Kernel parameters, support vectors, and decision values of the trained model."""

    def _train(self, X: Any, y: np.ndarray | None, weights: np.ndarray | None, **options: Any) -> api.Fit:
        """Train on checked data; sets the attributes that all kernel estimators have."""
        kernel = "precomputed" if callable(self.kernel) else self.kernel
        self._fit_rows = X if callable(self.kernel) else None
        self._gamma = self._gamma_of(X, weights)
        data = self._values(X) if callable(self.kernel) else X
        if kernel == "precomputed":
            if sp.issparse(data):
                raise TypeError("Sparse precomputed kernels are not supported.")
            if data.shape[0] != data.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {data.shape[0]}x{data.shape[1]} matrix."
                )
        self.shape_fit_ = data.shape
        values = {"gamma": self._gamma, "degree": int(self.degree), "coef0": float(self.coef0)}
        options |= {name: value for name, value in values.items() if kernel in KERNELS_WITH[name]}
        if options.get("method", "fast") == "fast":  # a paper's algorithm keeps no kernel values
            options["cache_mb"] = float(self.cache_size)
        done = self._run(data, y, weights, kernel=kernel, **options)
        self._model, self.support_ = done.model, np.asarray(done.support, np.intp)
        self._set_n_iter(done)
        return done

    def _set_n_iter(self, done: api.Fit) -> None:
        self.n_iter_ = int(max(1, np.max(done.n_iter)))

    def _data(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        try:
            return super()._data(X, y, **options)
        except ValueError as e:
            if callable(self.kernel) and "could not convert" in str(e):
                raise ValueError(f"a callable kernel receives X as numbers: {e}") from None
            raise

    def _store(self, X: Any) -> None:
        """Set `support_` to 4-byte indices, `support_vectors_` and `n_support_`."""
        self.support_ = self.support_.astype(np.int32)
        empty = np.zeros((0, 0)) if self.kernel == "precomputed" or callable(self.kernel) else None
        self.support_vectors_ = X[self.support_] if empty is None else empty

    def _gamma_of(self, X: Any, weights: np.ndarray | None) -> float:
        """`gamma` as a number; "scale" uses the variance of the weighted rows: weights are the same as repetition."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return 1.0
        if self.gamma == "scale":
            n, d = X.shape
            share = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
            with np.errstate(all="ignore"):
                mean = float(share @ np.asarray(X.sum(axis=1)).ravel()) / d
                squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.square(X - mean).sum(axis=1)
                variance = float(share @ np.asarray(squares).ravel()) / d - (mean * mean if sp.issparse(X) else 0.0)
            if not np.isfinite(variance):
                raise ValueError("gamma='scale': the variance of X overflows: scale the features")
            return 1.0 / (X.shape[1] * variance) if variance != 0.0 else 1.0
        return 1.0 / X.shape[1] if self.gamma == "auto" else float(self.gamma)

    def _values(self, X: Any) -> np.ndarray:
        """A callable kernel's values of rows of X with the training rows."""
        found = floats(self.kernel(X, self._fit_rows), "kernel")
        if found.shape != (X.shape[0], self._fit_rows.shape[0]):
            raise ValueError(f"the kernel gave shape {found.shape}, not {(X.shape[0], self._fit_rows.shape[0])}")
        return found

    def _decisions(self, X: Any) -> np.ndarray:
        """Decision values f8 (n, columns) as the model has them."""
        check_is_fitted(self)
        X = self._data(X, reset=False)
        if callable(self.kernel):
            X = self._values(X)
        elif self.kernel == "precomputed" and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, "
                "the number of samples at training time"
            )
        return api.decision_values(self._model, X, threads=self._threads())

    def _file_model(self) -> KernelModel:
        """The model as its file holds it."""
        check_is_fitted(self)
        if callable(self.kernel):
            raise ValueError("a model file cannot hold a kernel that is a function: give the kernel a name")
        return model_files.kernel(self._model, getattr(self, "classes_", None))

    @property
    def coef_(self):
        """The weights of a linear kernel.

        Returns
        -------
        ndarray of shape (n_pairs, n_features)
            A row for each pair of classes; one row for regression and novelty detection.
        """
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef, vectors = self.dual_coef_, self.support_vectors_
        if isinstance(self, ClassifierMixin) and len(self.classes_) > 2:
            return self._pair_weights()
        return np.asarray(vectors.T @ coef.T).T if sp.issparse(vectors) else coef @ vectors

    def __getstate__(self) -> dict:
        state = super().__getstate__()
        if state.get("_model") is not None:  # as text, which later versions read
            state = {**state, "_model": api.dumps(state["_model"])}
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if isinstance(getattr(self, "_model", None), str):
            self._model = api.loads(self._model)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _more_tags(self) -> dict:  # before scikit-learn 1.6
        return {"pairwise": self.kernel == "precomputed"}
