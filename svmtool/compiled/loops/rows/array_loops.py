"""Checksums of arrays in files, CSR of dense rows, hashes of rows; in one pass each.

Each term of a checksum depends on its position, so that exchanged entries, or two that change together, change the
checksum.  Terms can be summed in any order: in parallel, and while an array is being written.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE

GOLDEN_RATIO_BITS = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / the golden ratio; with MIX_FACTOR as in splitmix64
MIX_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
MIX_SHIFT = np.uint64(32)


@loop("u8(u8|u4[], u8)")
def sum_words(bits, first):
    """Checksum of consecutive entries of 8 or 4 bytes, beginning at position `first` of the array."""
    total = np.uint64(0)
    for k in range(np.uint64(len(bits))):
        term = (np.uint64(bits[k]) ^ ((first + k) * GOLDEN_RATIO_BITS)) * MIX_FACTOR
        total += term ^ (term >> MIX_SHIFT)
    return total


@loop("u8(f8|f4[], u8[], u4[], f8|f4[], u8)")
def csr_of_dense(X, indptr, indices, values, d):
    """The values of X that are not zero as CSR, in arrays of X's size; returns their number.

    Each value is stored, and the next one takes its place if it was zero: a branch would often be predicted wrongly.
    """
    count = np.uint64(0)
    place = np.uint64(0)
    for i in range(np.uint64(len(indptr)) - ONE):
        for j in range(d):
            indices[count] = j
            values[count] = X[place]
            count += np.uint64(X[place] != 0.0)
            place += ONE
        indptr[i + ONE] = count
    return count


@helper
def mixed(h):
    """The finaliser of splitmix64: each bit of the result depends on all bits of h."""
    h = (h ^ (h >> np.uint64(30))) * MIX_FACTOR
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@loop("void(u8[], u4|u8[], u8[], u8[], u8[], u8[], u8, u8)")
def hash_rows(indptr, indices, bits, label_bits, weight_bits, hashes, lo, hi):
    """hashes_i, an even number, from label, weight and non-zero features; numbers are given as their bits."""
    for i in range(lo, hi):
        h = mixed(label_bits[i] + GOLDEN_RATIO_BITS)
        h = mixed(h ^ weight_bits[i])
        for k in range(indptr[i], indptr[i + ONE]):
            if bits[k] << ONE:  # neither 0 nor -0
                h = mixed(mixed(h + np.uint64(indices[k]) + ONE) ^ bits[k])
        hashes[i] = h & ~ONE
