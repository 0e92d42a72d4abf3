"""Training and prediction from Python: arrays in, objects out.

Nothing is printed, and no file is opened except by `load` and `save`.  Arrays are not changed.

>>> from svmtool import api
>>> from svmtool.params import Settings
>>> done = api.fit(X, y, Settings(solver=3, C=0.5))
>>> done.certificate.gap, done.model.W.shape
>>> labels = api.predict(done.model, X)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from svmtool import kernel_params, params
from svmtool.compiled import threads as pool
from svmtool.data.dataset import Dataset, DenseDataset
from svmtool.errors import SvmtoolError
from svmtool.kernel_params import KernelSettings
from svmtool.limits import StopFlag
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.training.kernel.fit import Fitting, KernelTraining
from svmtool.training.pipeline import Training, train
from svmtool.training.validation import cross_validation, search
from svmtool.training.validation.cross_validation import Folds, Validation
from svmtool.training.validation.folds import GlibcRand
from svmtool.training.validation.search import Search

MOST_FEATURES = 2**31 - 1


def dataset(X: Any, y: Any = None) -> Dataset:
    """Return a Dataset of an array or a sparse matrix.

    Parameters
    ----------
    X : 2-D array of numbers, or a scipy sparse matrix or array; (n, features).  Used without a copy if it is a
        C-ordered float64 array, or CSR with sorted int32 indices and float64 values.
    y : labels or target values, length n; None: zeros.

    Raises
    ------
    SvmtoolError
        for values that are not finite numbers, and for shapes that do not agree.
    """
    if hasattr(X, "tocsr"):
        csr = X.tocsr()
        if not (csr.has_sorted_indices and csr.has_canonical_format):
            csr = csr.copy()
            csr.sum_duplicates()
        values = np.asarray(csr.data, np.float64)
        labels = _labels(y, csr.shape[0])
        if csr.shape[1] > MOST_FEATURES:
            raise SvmtoolError(f"X has {csr.shape[1]} features, the most are {MOST_FEATURES}")
        indptr, indices = np.asarray(csr.indptr, np.int64), np.asarray(csr.indices, np.int32)
        found = Dataset(labels, indptr, indices, values, csr.shape[1])
    else:
        values = np.ascontiguousarray(X, np.float64)
        if values.ndim != 2:
            raise SvmtoolError(f"X has {values.ndim} dimensions, it must have 2: rows and features")
        found = DenseDataset(_labels(y, len(values)), values)
    if not np.all(np.isfinite(values)):
        raise SvmtoolError("X holds a value that is not a finite number")
    return found


def _labels(y: Any, n: int) -> np.ndarray:
    labels = np.zeros(n) if y is None else np.ascontiguousarray(y, np.float64)
    if labels.shape != (n,):
        raise SvmtoolError(f"y has shape {labels.shape}, X has {n} rows")
    if not np.all(np.isfinite(labels)):
        raise SvmtoolError("y holds a value that is not a finite number")
    return labels


def _weights(sample_weight: Any, n: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, np.float64)
    if weights.shape != (n,) or not np.all(np.isfinite(weights)):
        raise SvmtoolError(f"sample_weight must be {n} finite numbers")
    return weights


@contextlib.contextmanager
def _threads(n: int | None) -> Iterator[None]:
    before = pool.count()
    pool.set_count(before if n is None else n)
    try:
        yield
    finally:
        pool.set_count(before)


def fit(
    X: Any, y: Any, settings: Settings | KernelSettings | None = None, sample_weight: Any = None,
    initial: LinearModel | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None,
    threads: int | None = None,
) -> Training | KernelTraining:  # fmt: skip
    """Train a model.

    Parameters
    ----------
    X, y : see `dataset`
    settings : Settings for a linear model, KernelSettings for one with a kernel; None: Settings()
    sample_weight : factor of each row's cost, length n; linear models only
    initial : model to start from; linear models only
    report : receives each solver record as keywords
    stop : ends the run when its `set` is true; None: settings.max_seconds count from here on
    threads : number of threads; None: as set for the process

    Returns
    -------
    Training or KernelTraining
        with `model`, `certificate` and `warnings`.

    Raises
    ------
    SvmtoolError
        for settings or data that make no problem.
    """
    s = Settings() if settings is None else settings
    rows = dataset(X, y)
    weights = _weights(sample_weight, len(rows))
    with _threads(threads):
        if isinstance(s, KernelSettings):
            if weights is not None or initial is not None:
                raise SvmtoolError("sample_weight and initial are for linear models")
            return _fit_kernel(rows, s, report, stop)
        params.check_after_reading(s)
        return train(rows, s, report, weights, initial, stop)


def _fit_kernel(
    rows: Dataset, s: KernelSettings, report: Callable[..., None] | None, stop: StopFlag | None
) -> KernelTraining:
    from svmtool.training.kernel.dataset import refuse_overflow
    from svmtool.training.kernel.pipeline import kernel_set
    from svmtool.training.kernel.train import trainer

    if s.kernel_type == kernel_params.PRECOMPUTED:
        raise SvmtoolError("precomputed kernels are read from files only")
    kernel_params.check_after_reading(s)
    data = kernel_set(rows, s, "X")
    refuse_overflow(data, s)
    if s.row.task == "classification":
        _, counts = np.unique(np.trunc(rows.labels), return_counts=True)
        kernel_params.check_feasible(s, counts.tolist())
    fitting = Fitting(s, report, StopFlag(s.max_seconds) if stop is None else stop)
    return trainer(s)(data, fitting, GlibcRand(1 if s.seed is None else s.seed))


def cross_validate(
    X: Any, y: Any, settings: Settings | None = None, folds: int = 5, sample_weight: Any = None,
    threads: int | None = None,
) -> Validation:  # fmt: skip
    """Predict every row by a linear model trained without its fold; LIBLINEAR's folds, see `svm-train -v`."""
    s, rows = Settings() if settings is None else settings, dataset(X, y)
    params.check_after_reading(s)
    with _threads(threads):
        return cross_validation.cross_validate(Folds(rows, s, _weights(sample_weight, len(rows)), folds), s)


def search_C(
    X: Any, y: Any, settings: Settings | None = None, folds: int = 5, sample_weight: Any = None,
    threads: int | None = None,
) -> Search:  # fmt: skip
    """Search for the best C (of regressions also p) by cross-validation, as `svm-train -C` does."""
    s, rows = Settings(solver=2) if settings is None else settings, dataset(X, y)
    params.check_after_reading(s)
    with _threads(threads):
        return search.search_C(Folds(rows, s, _weights(sample_weight, len(rows)), folds), s)


def decision_values(model: LinearModel | KernelModel, X: Any) -> np.ndarray:
    """Return decision values f8 (n, columns): one column for two classes, else one a class, or one a pair of classes
    with a kernel."""
    return model.decision_values(dataset(X))


def predict(model: LinearModel | KernelModel, X: Any) -> np.ndarray:
    """Return predicted labels or values, f8[n]."""
    return model.labels_from(decision_values(model, X))


def load(path: str) -> LinearModel | KernelModel:
    """Read a model file of svm-train, LIBLINEAR or LIBSVM; raises ModelError for anything else."""
    from svmtool.formats.models import kernel, linear
    from svmtool.formats.models.text import is_kernel_model
    from svmtool.formats.models.text import load as load_text

    with load_text(path) as text:
        with_kernel = is_kernel_model(text)
    return kernel.read(path) if with_kernel else linear.read(path)


def save(model: LinearModel | KernelModel, path: str) -> None:
    """Write a model file that LIBLINEAR or LIBSVM reads; an old file stays whole until the new one is."""
    from svmtool.formats.models import kernel, linear

    if isinstance(model, KernelModel):
        kernel.write(path, model)
    else:
        linear.write(path, model)
