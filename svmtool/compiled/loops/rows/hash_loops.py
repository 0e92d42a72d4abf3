"""Hashes of rows."""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE


@helper
def mixed(h):
    """The finaliser of splitmix64: each bit of the result depends on all bits of h."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


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
