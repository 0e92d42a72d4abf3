"""Computes decision values of a kernel model for blocks of rows, on several threads.

For a linear kernel the support vectors are summed to one vector of weights for each pair of classes.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from svmtool import limits
from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel.kernel_loops import (
    LANES,
    LINEAR,
    PRECOMPUTED,
    STRIP,
    first_row_without,
    kernel_decisions,
    largest_index,
    linear_decisions,
    place_support,
)
from svmtool.compiled.loops.kernel.weight_loops import add_rest, pair_weights

if TYPE_CHECKING:
    from typing import Any

DIRECT_PLACES = 1 << 18  # up to this index a feature's place is its index; the table has 32 MB a thread
MAX_WEIGHTS = 1 << 24  # numbers in the weights of all pairs; beyond, a linear kernel is computed like the others
BLOCK_VALUES = 1 << 18  # kernel values that a thread computes at a time, about
ROWS_A_BLOCK = 2048  # limit of the rows of a block

# 2 gamma |z|^2 of a support vector z up to which distances from it are taken from inner products: their error, some
# units in the last place of that number, changes a kernel value by about 1e-14 (rows much longer than z have a value
# of nearly 0).  For sparse support vectors differences are slow, and 1e-11 is accepted.
LARGEST_SQUARE, LARGEST_SPARSE_SQUARE = 64.0, 1e4
SPARSE = 0.5  # share of non-zeros below which support vectors count as sparse.  Differences took 1.3 to 2 times as long
# as products on seven sets with shares from 0.8 on, 3 to 9 times on five from 0.03 to 0.34 (10 to 780 features)


class KernelScores:
    """A KernelModel prepared for prediction."""

    def __init__(self, model: Any):
        self.kernel, self.rho, self.coef = model.kernel, model.rho, model.coef
        self.columns, self.n_sv, self.pairs = model.coef_rows, model.total_sv, model.columns
        counts = (self.n_sv,) if model.nr_sv is None else model.nr_sv
        self.ends = Buffer("i8", len(counts) + 1)
        for c, count in enumerate(counts):
            self.ends.items[c + 1] = self.ends.items[c] + count
        self.indptr, self.values = model.indptr, model.values
        self.features = Buffer("i4", 0)
        self.places, self.norms = Buffer("i4", model.indices.size), Buffer("f8", self.n_sv)
        self.last = self.n_places = 0
        self.largest_square = LARGEST_SQUARE
        self.W: Buffer | None = None
        self._scratch: dict[int, tuple[Buffer, Buffer, Buffer]] = {}
        if self.kernel.kind == PRECOMPUTED:
            for s, serial in enumerate(memoryview(getattr(model.values, "items", model.values))):
                self.places.items[s] = int(serial)
            self.last = largest_index(self.places)
            return
        self.n_places = largest_index(model.indices) + 2  # indices as in the file, starting at 0
        if self.n_places > DIRECT_PLACES:
            import numpy as np

            indices = model.indices.array() if isinstance(model.indices, Buffer) else model.indices
            self.features = np.unique(indices)
            self.n_places = len(self.features)
        place_support(model.indptr, model.indices, model.values, self.features, self.places, self.norms, self.n_places)
        sparse = model.indices.size < SPARSE * self.n_sv * (self.n_places - 1)
        self.largest_square = LARGEST_SPARSE_SQUARE if sparse else LARGEST_SQUARE
        if self.kernel.kind == LINEAR and self.n_places * self.pairs <= MAX_WEIGHTS:
            self.W, rest = (Buffer("f8", self.n_places * self.pairs) for _ in range(2))
            support = self.indptr, self.places, self.values, self.coef, self.ends
            pair_weights(*support, self.W, rest, self.columns, self.pairs)
            add_rest(self.W, rest)

    def unfit_row(self, rows) -> int:
        """The first row that does not have the values that a precomputed kernel needs; -1 for none."""
        return first_row_without(rows.indptr, rows.indices, self.last) if self.kernel.kind == PRECOMPUTED else -1

    def decide(self, rows, n: int, decisions) -> None:
        """Compute decision values f8 (n, pairs) of a Dataset or RawTable of n rows, none of them unfit."""
        if self.pairs == 0:
            return
        if self.W is not None:
            call = linear_decisions.bind(
                rows.indptr, rows.indices, rows.values, self.features, self.W, self.rho, decisions
            )
            self._run(lambda lo, hi: call(self.n_places, lo, hi), n, ROWS_A_BLOCK)
            return
        kernel = self.kernel

        def work(lo: int, hi: int) -> None:
            limits.check()
            me = threading.get_ident()
            if me not in self._scratch:
                self._scratch[me] = self._workspace()
            kernel_decisions(
                rows.indptr, rows.indices, rows.values, self.features, self.indptr, self.places, self.values,
                self.norms, self.coef, self.ends, self.rho, *self._scratch[me], decisions, kernel.kind, kernel.gamma,
                kernel.degree, kernel.coef0, self.columns, self.n_places, self.largest_square, lo, hi,
            )  # fmt: skip

        self._run(work, n, min(ROWS_A_BLOCK, LANES * max(1, BLOCK_VALUES // (LANES * max(1, self.n_sv)))))

    def _workspace(self) -> tuple[Buffer, Buffer, Buffer]:
        """Table, scratch memory and sums of one thread."""
        classes = self.ends.size - 1
        sizes = (self.n_places * LANES, self.n_places + (2 + STRIP) * LANES, classes * self.columns * LANES)
        table, scratch, sums = (Buffer("f8", size) for size in sizes)
        return table, scratch, sums

    def _run(self, work, n: int, step: int) -> None:
        threads.run_blocks(lambda b: work(b * step, min(n, (b + 1) * step)), -(-n // step))
