"""Reads and writes numpy archives: a sparse matrix as scipy.sparse.save_npz writes it, with an array y of labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled.loops.text.text_loops import LAST_INDEX
from svmtool.conversion import gaps
from svmtool.conversion.table import missing, refuse_unfit
from svmtool.data.dataset import Dataset, DenseDataset
from svmtool.data.sparse_checks import ARRAYS, refuse_unsound
from svmtool.errors import RowsError, SvmtoolError
from svmtool.formats.archive import Archive, ArchiveError
from svmtool.formats.output import replacing
from svmtool.limits import memory

LABEL_ARRAYS = ("y", "label", "labels", "target", "targets")
DENSE = ("X", "x", "features")
REAL = "biuf"  # dtype.kind of labels and dense features
ROW_BYTES = 24  # memory of a row without values: its label and its place among the values


def read(path: str, without_labels: bool, needed: bool = True) -> Dataset:
    """Read rows: a scipy matrix (or an array named X), with the labels in an array named y.

    without_labels: that array is not read, and all labels are nan.  needed: it must be there otherwise.  A label nan is
    none, and a value nan is missing.
    Raises SvmtoolError for anything else, and for infinite values.
    """
    try:
        with open(path, "rb") as file:
            archive = Archive(file, memory())
            return _rows(path, archive, without_labels, needed)
    except FileNotFoundError:
        raise SvmtoolError(f"can't open input file {path}") from None
    except OSError as e:
        raise SvmtoolError(f"can't open input file {path}: {e.strerror or e}") from None
    except (ArchiveError, RowsError) as e:
        raise SvmtoolError(f"can't read {path} as npz: {e}") from None


def _labels(archive: Archive, needed: bool) -> np.ndarray | None:
    name = next((name for name in LABEL_ARRAYS if name in archive.names), None)
    if name is None and needed:
        raise RowsError("it holds no labels (an array named y): --no-label takes rows without")
    return None if name is None else archive.array(name, REAL).astype(np.float64).reshape(-1)


def _rows(path: str, archive: Archive, without_labels: bool, needed: bool) -> Dataset:
    dense = next((name for name in DENSE if name in archive.names), None)
    if dense is None and "format" not in archive.names:
        raise RowsError(f"it holds {', '.join(archive.names) or 'nothing'}: expected a matrix of scipy, or X, and y")
    y = None if without_labels else _labels(archive, needed)
    if dense is None or "format" in archive.names:
        shape, form, arrays = _sparse(archive)
        _refuse_count(shape[0], y)
        rows = _converted(shape, form, arrays)
    else:
        X = archive.array(dense, REAL)
        if X.ndim != 2 or X.shape[1] > LAST_INDEX:
            raise RowsError(f"its array {dense!r} has the shape {X.shape}, which is not rows x features")
        _refuse_count(len(X), y)
        rows = DenseDataset(np.full(len(X), np.nan), np.ascontiguousarray(X, np.float64)).as_sparse()
    rows = rows if y is None else rows.replace(labels=y)
    refuse_unfit(path, rows.values, lambda at: place_of(rows, at))
    if np.any(np.isinf(rows.labels)):
        raise SvmtoolError(f"{path}: the label of row {int(np.argmax(np.isinf(rows.labels))) + 1} is not finite")
    return rows


def place_of(rows: Dataset, at: int) -> str:
    """The row and the column of a value, for messages."""
    return f"row {int(np.searchsorted(rows.indptr, at, 'right'))}, column {rows.indices[at] + 1}"


def treated(path: str, rows: Dataset, rule: str, labelled: bool, say: Callable[[str], None]) -> Dataset:
    """The rows without those that the rule for missing values leaves out; labelled: each must have a label.

    Says how many values are missing and what is done.  Raises SvmtoolError by the rule.
    """
    gap, bare = np.isnan(rows.values), np.isnan(rows.labels) & labelled
    if gap.any() and rule == "error":
        raise missing(path, place_of(rows, int(np.argmax(gap))), "nan", gaps.CHOOSE)
    if bare.any() and rule != "drop":
        raise missing(path, f"row {int(np.argmax(bare)) + 1}, array y", "nan", gaps.CHOOSE_LABEL)
    of = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))[gap]
    bad = gaps.told("missing", np.append(of, np.flatnonzero(bare)), len(rows), rule, say) & (rule == "drop")
    left = gaps.left(path, bad)
    return rows if left is None else rows.take(left)


def _refuse_count(rows: int, y: np.ndarray | None) -> None:
    if y is not None and len(y) != rows:
        raise RowsError(f"it holds {rows} rows, but {len(y)} labels")
    if rows * ROW_BYTES > memory():
        raise RowsError(f"its {rows} rows exceed the machine's memory")


def _sparse(archive: Archive) -> tuple[tuple[int, int], str, dict[str, np.ndarray]]:
    """Shape, format and arrays of a matrix that scipy has written; RowsError unless they are sound."""
    text = archive.array("format", "SU")
    form = text.item() if text.ndim == 0 else ""
    form = form.decode("latin-1") if isinstance(form, bytes) else form
    if form not in ARRAYS:
        raise RowsError(f"its matrix has the format {form[:20]!r}, which is none of {', '.join(ARRAYS)}")
    shape = tuple(archive.array("shape", "iu").reshape(-1).tolist())
    coords = form == "coo" and "coords" in archive.names  # as scipy writes a coo_array
    kinds = dict.fromkeys(ARRAYS[form], "iu") | {"data": REAL + "c"}  # complex data are refused with the others
    arrays = {name: archive.array(name, kinds[name]) for name in kinds if not coords or name == "data"}
    if coords:
        both = archive.array("coords", "iu")
        if both.ndim != 2 or len(both) != 2:
            raise RowsError(f"its array 'coords' has the shape {both.shape}")
        arrays |= {"row": both[0], "col": both[1]}
    refuse_unsound(form, shape, arrays)
    return shape, form, arrays


def _converted(shape: tuple[int, int], form: str, arrays: dict[str, np.ndarray]) -> Dataset:
    """Rows of a sound matrix; entries of one place are added, zeros are left out, all labels are nan."""
    from scipy import sparse

    data, *indices = (arrays[name].astype("f8" if name == "data" else "i8") for name in ARRAYS[form])
    content = (data, tuple(indices)) if form == "coo" else (data, *indices)
    X = sparse.csr_matrix(getattr(sparse, f"{form}_matrix")(content, shape=shape))
    X.sum_duplicates()
    X.eliminate_zeros()
    return Dataset(np.full(shape[0], np.nan), X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, shape[1])


def write(path: str, rows: Dataset, width: int) -> None:
    """Write rows so that scipy.sparse.load_npz reads the matrix; the array y holds the labels."""
    with replacing(path) as file:
        np.savez_compressed(
            file, indices=rows.indices, indptr=rows.indptr, format=np.array(b"csr"),
            shape=np.array([len(rows), width]), data=rows.values, y=rows.labels,
        )  # fmt: skip
