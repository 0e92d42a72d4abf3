"""Checksums of arrays in files, bounds checks of index arrays, CSR of dense rows, hashes of rows; in one pass each.

Each term of a checksum depends on its position, so that exchanged entries, or two that change together, change the
checksum.  Terms can be summed in any order: in parallel, and while an array is being written.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE

GOLDEN_RATIO_BITS = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / the golden ratio; with MIX_FACTOR as in splitmix64
MIX_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
MIX_SHIFT = np.uint64(32)
MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)  # all bits except the sign: absolute values are in the order of these bits


@helper
def term(bits, place):
    t = (bits ^ (place * GOLDEN_RATIO_BITS)) * MIX_FACTOR
    return t ^ (t >> MIX_SHIFT)


@loop("u8(u8|u4[], u8)")
def sum_words(bits, first):
    """Checksum of consecutive entries of 8 or 4 bytes, beginning at position `first` of the array."""
    total = np.uint64(0)
    for k in range(np.uint64(len(bits))):
        total += term(np.uint64(bits[k]), first + k)
    return total


@loop("void(u8[], u8[], u8, u8)")
def check_values(bits, facts, lo, hi):
    """Checksum of the numbers lo .. hi-1, given as bits, and the bits of the largest absolute value.

    Adds to facts[0] and raises facts[1]; infinities are above all numbers, and nans above infinities.
    """
    total = np.uint64(0)
    largest = np.uint64(0)
    for k in range(lo, hi):
        total += term(bits[k], k)
        largest = max(largest, bits[k] & MAGNITUDE)
    facts[0] += total
    facts[1] = max(facts[1], largest)


@loop("void(u8[], u4[], u8[], u8, u8)")
def check_indices(indptr, indices, facts, lo, hi):
    """Checksum of the indices of rows lo .. hi-1, the largest, and how many do not ascend within their row.

    Rows must lie inside `indices`.  Adds to facts[0] and facts[2], raises facts[1].
    """
    start, stop = indptr[lo], indptr[hi]
    if start == stop:
        return
    first = indices[start]
    total = term(np.uint64(first), start)
    largest = first
    falls = np.uint64(0)
    for k in range(start + ONE, stop):
        index = indices[k]
        total += term(np.uint64(index), k)
        largest = max(largest, index)
        falls += np.uint64(index <= indices[k - ONE])
    for i in range(lo + ONE, hi):  # do not count descents between rows
        k = indptr[i]
        if start < k < indptr[i + ONE]:
            falls -= np.uint64(indices[k] <= indices[k - ONE])
    facts[0] += total
    facts[1] = max(facts[1], np.uint64(largest))
    facts[2] += falls


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
