"""Decision values of a kernel model, several rows at a time on several threads.

Of a linear kernel's support vectors only their sums are kept, one vector of weights for each pair of classes.
"""

from __future__ import annotations

import threading

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

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import Any

DIRECT_PLACES = 1 << 18  # indices up to which a feature's place is its index; the table then has 32 MB a thread
MOST_WEIGHTS = 1 << 24  # numbers in the weights of all pairs; beyond, a linear kernel is summed like the others
BLOCK_VALUES = 1 << 18  # kernel values that a thread computes at a time, about
ROWS_A_BLOCK = 2048  # at most

# 2 gamma |z|^2 of a support vector z up to which distances from it are taken from inner products: their error, some
# units of the last place of that number, is an error of about 1e-14 of a kernel value (rows much longer than z have a
# value of nearly 0).  For sparse support vectors differences take long, and 1e-11 must do.
LARGEST_SQUARE, LARGEST_SPARSE_SQUARE = 64.0, 1e4
SPARSE = 0.5  # share of non-zeros below which support vectors are sparse.  Differences took 1.3 to 2 times as long as
# products on seven sets of shares from 0.8 on, 3 to 9 times on five from 0.03 to 0.34 (10 to 780 features)


class KernelScores:
    """What prediction makes of a KernelModel before the first row."""

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
        self.n_places = largest_index(model.indices) + 2  # the file's indices, from 0 on
        if self.n_places > DIRECT_PLACES:
            import numpy as np

            indices = model.indices.array() if isinstance(model.indices, Buffer) else model.indices
            self.features = np.unique(indices)
            self.n_places = len(self.features)
        place_support(model.indptr, model.indices, model.values, self.features, self.places, self.norms, self.n_places)
        sparse = model.indices.size < SPARSE * self.n_sv * (self.n_places - 1)
        self.largest_square = LARGEST_SPARSE_SQUARE if sparse else LARGEST_SQUARE
        if self.kernel.kind == LINEAR and self.n_places * self.pairs <= MOST_WEIGHTS:
            self.W, rest = (Buffer("f8", self.n_places * self.pairs) for _ in range(2))
            support = self.indptr, self.places, self.values, self.coef, self.ends
            pair_weights(*support, self.W, rest, self.columns, self.pairs)
            add_rest(self.W, rest)

    def unfit_row(self, rows) -> int:
        """The first row that lacks kernel values which a precomputed kernel wants; -1 for none."""
        return first_row_without(rows.indptr, rows.indices, self.last) if self.kernel.kind == PRECOMPUTED else -1

    def decide(self, rows, n: int, decisions) -> None:
        """Decision values f8 (n, pairs) of a Dataset or RawTable of n rows; for precomputed none may be unfit."""
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
                self._scratch[me] = self._room()
            kernel_decisions(
                rows.indptr, rows.indices, rows.values, self.features, self.indptr, self.places, self.values,
                self.norms, self.coef, self.ends, self.rho, *self._scratch[me], decisions, kernel.kind, kernel.gamma,
                kernel.degree, kernel.coef0, self.columns, self.n_places, self.largest_square, lo, hi,
            )  # fmt: skip

        self._run(work, n, min(ROWS_A_BLOCK, LANES * max(1, BLOCK_VALUES // (LANES * max(1, self.n_sv)))))

    def _room(self) -> tuple[Buffer, Buffer, Buffer]:
        """Dataset, scratch and sums of one thread."""
        classes = self.ends.size - 1
        sizes = (self.n_places * LANES, self.n_places + (2 + STRIP) * LANES, classes * self.columns * LANES)
        table, scratch, sums = (Buffer("f8", size) for size in sizes)
        return table, scratch, sums

    def _run(self, work, n: int, step: int) -> None:
        threads.run_blocks(lambda b: work(b * step, min(n, (b + 1) * step)), -(-n // step))
