"""Prepares data sets by name for a study and stores them for the children of all tools."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

import numpy as np
import scipy.sparse

import svmtool
from experiments.declare import Data

SEED = 1


def find(name: str, folders: list[Path]) -> Path | None:
    """The file of a set, plain or compressed; None if no folder has it."""
    places = (folder / (name + ending) for folder in folders for ending in ("", ".xz"))
    return next(filter(Path.is_file, places), None)


def prepared(data: Data, folders: list[Path], cache: Path) -> Path:
    """The file of a set: training rows in CSR and their labels, test rows and theirs.  FileNotFoundError."""
    path = find(data.name, folders)
    if path is None:
        raise FileNotFoundError(f"{data.name}: in none of {', '.join(map(str, folders))}")
    mark = f"{data!r} {path.stat().st_size} {path.stat().st_mtime_ns}"
    target = cache / f"{data.name}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}.pickle"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        partial.write_bytes(pickle.dumps(_parts(data, path, find(data.name + ".t", folders))))
        partial.replace(target)
    return target


def _parts(data: Data, path: Path, test: Path | None) -> tuple:
    X, y = svmtool.read_svmlight(str(path))
    random = np.random.default_rng(SEED)
    order = random.permutation(X.shape[0])
    if test is not None:
        T, t = svmtool.read_svmlight(str(test))
        for A in (X, T):
            A.resize(A.shape[0], max(X.shape[1], T.shape[1]))
    else:
        held, order = np.split(order, [int(data.test * len(order))])
        T, t = X[np.sort(held)], y[np.sort(held)]
    if data.normal is not None:
        order, one = order[y[order] == data.normal], data.normal
        kept = _thinned(t == data.normal, random)
        T, t = T[kept], t[kept]
    order = np.sort(order[: data.rows])
    X, y = X[order], y[order]
    if data.normal is None:  # the greater of two classes, else that with most rows
        labels, counts = np.unique(y, return_counts=True)
        one = labels[-1] if len(labels) == 2 else labels[np.argmax(counts)]
    if data.features is not None:
        often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[: data.features]
        X, T = X[:, np.sort(often)], T[:, np.sort(often)]
    if data.unit:
        size = np.maximum(np.abs(X).max(axis=0).toarray().ravel(), np.finfo(float).tiny)
        X, T = (A @ scipy.sparse.diags(1.0 / size) for A in (X, T))
    if data.bias:
        X, T = (scipy.sparse.hstack((A, np.ones((A.shape[0], 1)))) for A in (X, T))
    X, T = X.tocsr(), T.tocsr()
    for A in (X, T):
        A.sort_indices()
        A.indices, A.indptr = A.indices.astype("i4"), A.indptr.astype("i4")
    return X, np.where(y == one, 1.0, -1.0), T, np.where(t == one, 1.0, -1.0)


def _thinned(normal: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows in random order: all normal ones and a tenth as many others."""
    others = random.permutation(np.flatnonzero(~normal))[: max(np.count_nonzero(normal) // 10, 1)]
    return random.permutation(np.concatenate((np.flatnonzero(normal), others)))
