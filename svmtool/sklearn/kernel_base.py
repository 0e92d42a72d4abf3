"""What all estimators with kernels share.

`tol` is LIBSVM's and scikit-learn's: the violation of the most violating pair of dual variables at which a fit ends.
"""

from __future__ import annotations

import inspect
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_y, _num_samples, check_consistent_length, check_is_fitted

from svmtool import api
from svmtool.api.arrays import floats, refuse_unsound
from svmtool.api.settings import KERNELS_WITH
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import Kernel
from svmtool.sklearn import model_files
from svmtool.sklearn.base import (
    COMMON_CONSTRAINTS,
    NOT_NEGATIVE,
    POSITIVE,
    CertifiedEstimator,
)
from svmtool.sklearn.described import PARAMETERS, Texts

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


MODEL_PARTS = tuple(inspect.signature(KernelModel).parameters)


def _rows_of(vectors: Any) -> dict[str, np.ndarray]:
    """Support vectors, dense or CSR, as a KernelModel holds them."""
    if sp.issparse(vectors):
        indptr, indices, values = vectors.indptr, vectors.indices, vectors.data
    else:
        rows, indices = np.nonzero(vectors)
        indptr = np.searchsorted(rows, np.arange(len(vectors) + 1))
        values = vectors[rows, indices]
    return {"indptr": indptr.astype(np.int64), "indices": indices.astype(np.int32), "values": values}


class KernelTraining(CertifiedEstimator):
    """Kernel parameters, support vectors, and decision values of the trained model."""

    _fitted = (
        "support_",
        "support_vectors_",
        "n_support_",
        "dual_coef_",
        "intercept_",
        "coef_",
        "fit_status_",
        "shape_fit_",
        "n_iter_",
    )
    _described: Texts = {
        "tol": (
            "float",
            "Violation of the most violating pair of dual variables at which the fit ends; `gap_` is the gap that it "
            "gave.",
        ),
        "verbose": ("bool or int", PARAMETERS["verbose"][1]),
        "max_iter": ("int", "Limit on the solver's rounds, each of many SMO steps; -1: no limit."),
        "n_iter_": ("int", "Rounds of the solver."),
        "coef_": ("ndarray of shape (1, n_features)", 'Weights, with kernel="linear" only.'),
        "intercept_": ("ndarray of shape (1,)", "The intercept."),
    }

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
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (len(data),)
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
        if not callable(self.kernel):
            return super()._data(X, y, **options)
        if not options.get("reset", True):  # X is whatever the kernel takes: numbers, texts, graphs
            return X
        self._complete = False
        if isinstance(y, str):
            return X
        refuse_unsound(y, "y")
        check_consistent_length(X, y)
        return X, _check_y(y, y_numeric=options.get("y_numeric", False), estimator=self)

    def _store(self, X: Any, coef: np.ndarray) -> None:
        """Set `support_` to 4-byte indices, and the support vectors and their coefficients: sparse where X is."""
        self.support_ = self.support_.astype(np.int32)
        empty = np.zeros((0, 0)) if self.kernel == "precomputed" or callable(self.kernel) else None
        self.support_vectors_ = X[self.support_] if empty is None else empty
        self.dual_coef_ = type(X)(coef) if sp.issparse(self.support_vectors_) else coef

    def _gamma_of(self, X: Any, weights: np.ndarray | None) -> float:
        """`gamma` as a number; "scale" uses the variance of the weighted rows: weights are the same as repetition."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return 1.0
        if self.gamma == "scale":
            values = X.data if sp.issparse(X) else X[X != 0.0]  # the same bits for dense and sparse rows
            share, size = np.ones(len(values)), float(X.shape[0] * X.shape[1])
            if weights is not None:
                counts = np.diff(X.indptr) if sp.issparse(X) else np.count_nonzero(X, axis=1)
                share, size = np.repeat(weights, counts), float(weights.sum()) * X.shape[1]
            with np.errstate(all="ignore"):
                mean = float(share @ values) / size
                zeros = max(size - float(share.sum()), 0.0)
                variance = (float(share @ np.square(values - mean)) + zeros * mean * mean) / size
            if not np.isfinite(variance):
                raise ValueError(
                    "The dual coefficients or intercepts are not finite where the variance of X overflows, which "
                    "gamma='scale' needs: scale the features"
                )
            return 1.0 / (X.shape[1] * variance) if variance != 0.0 else 1.0
        return 1.0 / X.shape[1] if self.gamma == "auto" else float(self.gamma)

    def _values(self, X: Any) -> np.ndarray:
        """A callable kernel's values of rows of X with the training rows."""
        K = self.kernel(X, self._fit_rows)
        found = floats(K.toarray() if sp.issparse(K) else K, "kernel")
        wanted = (_num_samples(X), _num_samples(self._fit_rows))
        if found.shape != wanted:
            raise ValueError(f"the kernel gave shape {found.shape}, not {wanted}")
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
        elif sp.issparse(X) and not sp.issparse(self.support_vectors_):
            raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        return api.decision_values(self._model, X, threads=self._threads())

    def _file_model(self) -> KernelModel:
        """The model as its file holds it."""
        check_is_fitted(self)
        if callable(self.kernel):
            raise ValueError("a model file cannot hold a kernel that is a function: give the kernel a name")
        return model_files.kernel(self._model, getattr(self, "classes_", None))

    @property
    def coef_(self) -> Any:
        """The weights of a linear kernel, which cannot be written.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_pairs, n_features)
            A row for each pair of classes; one row for regression and novelty detection.  Sparse as the training rows.
        """
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef, vectors = self.dual_coef_, self.support_vectors_
        coef = coef.toarray() if sp.issparse(coef) else coef
        W = self._primal_weights(coef)
        if sp.issparse(vectors):
            W = type(vectors)(W)
        (W.data if sp.issparse(vectors) else W).flags.writeable = False
        return W

    def _primal_weights(self, coef: np.ndarray) -> np.ndarray:
        """The weights f8 (problems, features) of a linear kernel, from the coefficients of the support vectors."""
        return coef @ self.support_vectors_

    def __getstate__(self) -> dict:
        """The state, with the model's arrays by name, but for those of `support_vectors_`."""
        state = super().__getstate__()
        model = state.get("_model")
        if model is not None:
            parts = {name: getattr(model, name) for name in MODEL_PARTS}
            parts["kernel"] = tuple(model.kernel)
            known = _rows_of(self.support_vectors_)
            if all(np.array_equal(parts[name], array) for name, array in known.items()):
                parts |= dict.fromkeys(known)
            state = {**state, "_model": parts}
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        parts = getattr(self, "_model", None)
        if isinstance(parts, dict):
            known = _rows_of(self.support_vectors_) if parts["values"] is None else {}
            self._model = KernelModel(**{**parts, **known, "kernel": Kernel(*parts["kernel"])})

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
