"""Checks of a sparse matrix's arrays, before compiled code follows their indices.

scipy checks little of what it is given: an index outside the shape reads and writes memory outside of its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svmtool.errors import RowsError

MAX_FEATURES = 2**31 - 1
COMPRESSED = ("data", "indices", "indptr")
ARRAYS = {  # format of scipy -> names of its arrays, as attributes and in files
    "csr": COMPRESSED, "csc": COMPRESSED, "bsr": COMPRESSED, "coo": ("data", "row", "col"), "dia": ("data", "offsets"),
}  # fmt: skip
DIMENSIONS = {"bsr": 3, "dia": 2}  # of `data`, where not 1


def refuse_unsound(form: str, shape: Sequence[int], arrays: Mapping[str, np.ndarray]) -> None:
    """Raise RowsError (a ValueError) unless these arrays are a matrix of real numbers of this format and shape.

    form: one of ARRAYS.  arrays: those that ARRAYS names.  Whether the values are finite is not checked.
    """
    if len(shape) != 2 or any(not isinstance(n, (int, np.integer)) or n < 0 for n in shape):
        raise RowsError(f"the shape of a matrix must be two counts, not {_listed(shape)}")
    rows, columns = map(int, shape)
    if columns > MAX_FEATURES:
        raise RowsError(f"the matrix has {columns} features, the most are {MAX_FEATURES}")
    matrix = f"{form.upper()} matrix of shape ({rows}, {columns})"
    data = arrays["data"]
    if data.dtype.kind not in "biuf":
        held = "complex numbers" if data.dtype.kind == "c" else f"values of type {data.dtype}"
        raise RowsError(f"the {matrix} holds {held}, and features must be real numbers")
    if data.ndim != DIMENSIONS.get(form, 1):
        raise RowsError(f"the {matrix} has values of shape {data.shape}: {DIMENSIONS.get(form, 1)} dimensions expected")
    for name in ARRAYS[form][1:]:
        if arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1:
            raise RowsError(f"the {matrix} has an array {name!r} that is no list of integers")
    if form == "coo":
        _refuse_outside(matrix, "row", arrays["row"], 0, rows, len(data))
        _refuse_outside(matrix, "col", arrays["col"], 0, columns, len(data))
    elif form == "dia":
        offsets = arrays["offsets"]
        _refuse_outside(matrix, "offsets", offsets, 1 - rows, columns, len(data))
        if len(np.unique(offsets)) < len(offsets):
            raise RowsError(f"the {matrix} has a diagonal twice")
    else:
        _refuse_compressed(matrix, form, rows, columns, data, arrays["indices"], arrays["indptr"])


def _refuse_compressed(
    matrix: str, form: str, rows: int, columns: int, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> None:
    """The checks of CSR, CSC and BSR, in which `indptr` divides the indices into rows (CSC: columns)."""
    lines, others = (columns, rows) if form == "csc" else (rows, columns)
    if form == "bsr":
        height, width = data.shape[1:]
        if not height or not width or rows % height or columns % width:
            raise RowsError(f"the {matrix} has blocks of {height} x {width}, which do not divide it")
        lines, others = rows // height, columns // width
    if len(indptr) != lines + 1:
        raise RowsError(f"the {matrix} has {len(indptr)} entries in 'indptr', not {lines + 1}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > len(indices):
        raise RowsError(f"the {matrix} has an 'indptr' that does not ascend from 0 to its {len(indices)} indices")
    _refuse_outside(matrix, "indices", indices, 0, others, len(data), used=int(indptr[-1]))


def _refuse_outside(
    matrix: str, name: str, indices: np.ndarray, first: int, end: int, wanted: int, used: int | None = None
) -> None:
    """RowsError unless there are `wanted` indices, and the first `used` of them lie in first .. end - 1."""
    if len(indices) != wanted:
        raise RowsError(f"the {matrix} has {len(indices)} entries in {name!r}, but {wanted} values")
    some = indices[:used]
    if not len(some) or (first <= int(some.min()) and int(some.max()) < end):
        return
    at = int(np.argmin(some) if int(some.min()) < first else np.argmax(some))
    raise RowsError(f"the {matrix} has {int(some[at])} in {name!r}, outside of {first} to {end - 1}")


def _listed(shape: Sequence[int]) -> str:
    return ", ".join(map(str, list(shape)[:4])) or "none"
