"""Prepares data sets by name for a study and stores them as .npz for the children of all tools."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import scipy.sparse

from experiments.declare import Data
from svmtool.formats.svmlight import table as svmlight

SEED = 1


class AbsentError(Exception):
    """A set that is in no folder."""


def find(name: str, folders: list[Path]) -> Path | None:
    """The file of a set, plain or compressed; None if no folder has it."""
    for folder in folders:
        for ending in ("", ".xz"):
            if (folder / (name + ending)).is_file():
                return folder / (name + ending)
    return None


def read(path: Path):
    """(X as scipy CSR, labels)."""
    table = svmlight.read(str(path))
    shape = (len(table.labels), table.n_features)
    return scipy.sparse.csr_matrix((table.values, table.indices, table.indptr), shape=shape), table.labels


def prepared(data: Data, folders: list[Path], cache: Path) -> Path:
    """The .npz of a set: X and T (training and test rows) in CSR parts, y and t, d.  AbsentError."""
    path = find(data.name, folders)
    if path is None:
        raise AbsentError(f"{data.name}: in none of {', '.join(map(str, folders))}")
    mark = f"{data!r} {path.stat().st_size} {path.stat().st_mtime_ns}"
    target = cache / f"{data.name}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}.npz"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial.npz")
        np.savez(partial, **_parts(data, path, find(data.name + ".t", folders)))
        partial.replace(target)
    return target


def _parts(data: Data, path: Path, test: Path | None) -> dict[str, np.ndarray]:
    X, y = read(path)
    random = np.random.default_rng(SEED)
    if test is not None:
        T, t = read(test)
        d = max(X.shape[1], T.shape[1])
        X.resize(X.shape[0], d)
        T.resize(T.shape[0], d)
        order = random.permutation(X.shape[0])
    else:
        order = random.permutation(X.shape[0])
        held = int(data.test * len(order))
        T, t = X[np.sort(order[:held])], y[np.sort(order[:held])]
        order = order[held:]
    if data.normal is not None:
        order = order[y[order] == data.normal]
        kept = _thinned(t == data.normal, random)
        T, t = T[kept], t[kept]
    order = np.sort(order[: data.rows])
    X, y = X[order], y[order]
    if data.normal is not None:
        y, t = (np.where(labels == data.normal, 1.0, -1.0) for labels in (y, t))
    else:
        y, t = _two(y, t)
    if data.features is not None:
        often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[: data.features]
        X, T = X[:, np.sort(often)], T[:, np.sort(often)]
    if data.unit:
        size = np.maximum(np.abs(X).max(axis=0).toarray().ravel(), np.finfo(float).tiny)
        scale = scipy.sparse.diags(1.0 / size)
        X, T = X @ scale, T @ scale
    if data.bias:
        X, T = (scipy.sparse.hstack((A, np.ones((A.shape[0], 1)))) for A in (X, T))
    parts = {"y": y, "t": t, "d": np.array(X.shape[1])}
    for name, A in (("X", X), ("T", T)):
        A = A.tocsr()
        A.sort_indices()
        kept = {"values": A.data, "indices": A.indices.astype("i4"), "indptr": A.indptr.astype("i4")}
        parts |= {f"{name}_{part}": array for part, array in kept.items()}
    return parts


def _thinned(normal: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows in random order: all normal ones and a tenth as many others."""
    others = random.permutation(np.flatnonzero(~normal))[: max(np.count_nonzero(normal) // 10, 1)]
    return random.permutation(np.concatenate((np.flatnonzero(normal), others)))


def _two(y: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels -1 and 1: the greater of two, else the class with most rows, becomes 1."""
    labels, counts = np.unique(y, return_counts=True)
    one = labels[-1] if len(labels) == 2 else labels[np.argmax(counts)]
    return np.where(y == one, 1.0, -1.0), np.where(t == one, 1.0, -1.0)
