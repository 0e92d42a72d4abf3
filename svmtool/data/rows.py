"""Choice of the layout of rows: sparse (csr.py) or dense (dense.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.compiled.loops.rows import row_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data import blocks
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows

if TYPE_CHECKING:
    from svmtool.data.mapped_arrays import MappedArrays


def dense_is_faster(n: int, plain: int, nnz: int, dense_below: int) -> bool:
    """Whether n rows of `plain` features with nnz non-zeros are held dense; dense_below: as of `from_csr`."""
    return blocks.DENSE_FEATURES < plain <= dense_below and nnz >= blocks.DENSE_FROM * n * plain


def from_csr(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, plain: int, bias: float, dense_below: int,
    mapped: MappedArrays | None = None,
) -> CsrRows | DenseRows:  # fmt: skip
    """Return the rows in the faster layout: dense for few features and few zeros, else sparse.

    dense_below: number of features up to which the solver forms Gram matrices.
    """
    n = len(indptr) - 1
    if dense_is_faster(n, plain, len(values), dense_below):
        X = np.zeros((n, plain)) if mapped is None else mapped.zeros((n, plain))
        step = max(1, blocks.BLOCK_WORK // plain)

        def work(b: int) -> None:
            lo, hi = b * step, min(n, (b + 1) * step)
            loops.csr_to_dense(indptr, indices, values, X[lo:hi], plain, lo, hi)
            if mapped is not None:
                mapped.check()

        run_blocks(work, -(-n // step))
        return DenseRows(X, bias, mapped)
    return CsrRows(indptr, indices, values, plain, bias, mapped)
