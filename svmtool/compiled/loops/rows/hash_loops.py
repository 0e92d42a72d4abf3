"""Hashes of rows."""

import numpy as np

from svmtool.compiled import loop
from svmtool.compiled.loops.rows.row_loops import ONE, mixed


@loop("void(u8[], u4[], u8[], u8[], u8[], u8[], u8, u8)")
def hash_rows(indptr, indices, bits, label_bits, weight_bits, hashes, lo, hi):
    """hashes_i, an even number, from label, weight and non-zero features; numbers are given as their bits."""
    for i in range(lo, hi):
        h = mixed(label_bits[i] + np.uint64(0x9E3779B97F4A7C15))
        h = mixed(h ^ weight_bits[i])
        for k in range(indptr[i], indptr[i + ONE]):
            if bits[k] << ONE:  # neither 0 nor -0
                h = mixed(mixed(h + np.uint64(indices[k]) + ONE) ^ bits[k])
        hashes[i] = h & ~ONE
