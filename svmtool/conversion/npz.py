"""Reads and writes numpy archives: a sparse matrix as scipy.sparse.save_npz writes it, with an array y of labels."""

from __future__ import annotations

import os
import zipfile

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats.output import replacing

LABEL_ARRAYS = ("y", "label", "labels", "target", "targets")
DENSE = ("X", "x", "features")


def read(path: str, without_labels: bool) -> Dataset:
    """Read rows: a scipy matrix (or an array named X), with the labels in an array named y.

    without_labels: all labels are 0.  Raises SvmtoolError for anything else, and for values that are not finite.
    """
    from scipy import sparse

    if not os.path.exists(path):
        raise SvmtoolError(f"can't open input file {path}")
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            held = list(archive.files)
            dense = next((name for name in DENSE if name in held), None)
            X = sparse.csr_matrix(archive[dense]) if dense and "format" not in held else None
            name = next((name for name in LABEL_ARRAYS if name in held), None)
            y = None if name is None or without_labels else np.asarray(archive[name], np.float64).reshape(-1)
            if X is None and "format" not in held:
                held_names = ", ".join(held) or "nothing"
                raise SvmtoolError(f"{path} holds {held_names}: expected a matrix of scipy, or X, and y")
            if X is None:
                file.seek(0)
                X = sparse.csr_matrix(sparse.load_npz(file))
    except SvmtoolError:
        raise
    except (ValueError, OSError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as e:
        raise SvmtoolError(f"can't read {path} as npz: {' '.join(str(e).split())}") from None
    if y is None and not without_labels:
        raise SvmtoolError(f"{path} holds no labels (an array named y): --no-label writes 0 for each row")
    labels = np.zeros(X.shape[0]) if y is None else y
    if len(labels) != X.shape[0]:
        raise SvmtoolError(f"{path} holds {X.shape[0]} rows, but {len(labels)} labels")
    X = X.astype(np.float64)
    X.sum_duplicates()
    X.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(X.data))
    if len(bad):
        row = int(np.searchsorted(X.indptr, bad[0], "right")) - 1
        kind = "missing (nan)" if np.isnan(X.data[bad[0]]) else "not finite"
        raise SvmtoolError(f"{path}: row {row + 1}, column {X.indices[bad[0]] + 1}: the value is {kind}")
    if not np.all(np.isfinite(labels)):
        raise SvmtoolError(f"{path}: the label of row {int(np.argmin(np.isfinite(labels))) + 1} is not finite")
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return Dataset(labels, indptr, indices, X.data, X.shape[1])


def write(path: str, rows: Dataset, width: int) -> None:
    """Write rows so that scipy.sparse.load_npz reads the matrix; the array y holds the labels."""
    with replacing(path) as file:
        np.savez_compressed(
            file, indices=rows.indices, indptr=rows.indptr, format=np.array(b"csr"),
            shape=np.array([len(rows), width]), data=rows.values, y=rows.labels,
        )  # fmt: skip
