"""Checks of a sparse matrix's arrays, before compiled code follows their indices.

scipy checks little of what it is given: an index outside the shape reads and writes memory outside of its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svmtool.compiled.loops.text.text_loops import LAST_INDEX
from svmtool.errors import RowsError

COMPRESSED = ("data", "indices", "indptr")
ARRAYS = {  # format of scipy -> names of its arrays, as attributes and in files
    "csr": COMPRESSED, "csc": COMPRESSED, "bsr": COMPRESSED, "coo": ("data", "row", "col"), "dia": ("data", "offsets"),
}  # fmt: skip
DIMENSIONS = {"bsr": 3, "dia": 2}  # of `data`, where not 1


def refuse_unsound(form: str, shape: Sequence[int], arrays: Mapping[str, np.ndarray]) -> None:
    """Raise RowsError unless these arrays are a matrix of real numbers of this format and shape.

    form: one of ARRAYS.  arrays: those that ARRAYS names.  Whether the values are finite is not checked.
    """
    rows, columns = sound_shape(shape)
    data = arrays["data"]
    if data.dtype.kind not in "biuf":
        held = "complex numbers" if data.dtype.kind == "c" else f"values of type {data.dtype}"
        raise RowsError(f"it holds {held}, and features must be real numbers")
    if data.ndim != DIMENSIONS.get(form, 1):
        raise RowsError(f"its values have the shape {data.shape}: {DIMENSIONS.get(form, 1)} dimensions expected")
    for name in ARRAYS[form][1:]:
        if arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1:
            raise RowsError(f"its array {name!r} is no list of integers")
    if form == "coo":
        _refuse_outside("row", arrays["row"], 0, rows, len(data))
        _refuse_outside("col", arrays["col"], 0, columns, len(data))
    elif form == "dia":  # a diagonal outside of the shape holds nothing
        offsets = arrays["offsets"]
        _refuse_outside("offsets", offsets, 1 - 2**31, 2**31, len(data))
        if len(np.unique(offsets)) < len(offsets):
            raise RowsError("it has a diagonal twice")
    else:
        _refuse_compressed(form, rows, columns, data, arrays["indices"], arrays["indptr"])


def sound_shape(shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns of a matrix; RowsError if the shape is none, or has more features than indices can name."""
    if len(shape) != 2 or any(not isinstance(n, (int, np.integer)) or n < 0 for n in shape):
        raise RowsError(f"its shape must be two counts, not {', '.join(map(str, list(shape)[:4])) or 'none'}")
    rows, columns = map(int, shape)
    if columns > LAST_INDEX:
        raise RowsError(f"it has {columns} features, the most are {LAST_INDEX}")
    return rows, columns


def _refuse_compressed(
    form: str, rows: int, columns: int, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> None:
    """The checks of CSR, CSC and BSR, in which `indptr` divides the indices into rows (CSC: columns)."""
    lines, others = (columns, rows) if form == "csc" else (rows, columns)
    if form == "bsr":
        height, width = data.shape[1:]
        if not height or not width or rows % height or columns % width:
            raise RowsError(f"its blocks of {height} x {width} do not divide its shape ({rows}, {columns})")
        lines, others = rows // height, columns // width
    if len(indptr) != lines + 1:
        raise RowsError(f"its array 'indptr' has {len(indptr)} entries, not {lines + 1}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > len(indices):
        raise RowsError(f"its array 'indptr' does not ascend from 0 to its {len(indices)} indices")
    _refuse_outside("indices", indices, 0, others, len(data), used=int(indptr[-1]))


def _refuse_outside(name: str, indices: np.ndarray, first: int, end: int, wanted: int, used: int | None = None) -> None:
    """RowsError unless there are `wanted` indices, and the first `used` of them lie in first .. end - 1."""
    if len(indices) != wanted:
        raise RowsError(f"its array {name!r} has {len(indices)} entries, but there are {wanted} values")
    some = indices[:used]
    if not len(some):
        return
    low, high = int(some.min()), int(some.max())
    if low < first or high >= end:
        at = low if low < first else high
        raise RowsError(f"its array {name!r} has {at}, outside of {first} to {end - 1}")
