"""Kernel functions: blocks of kernel values for training, and decision values for prediction.

Prediction handles LANES rows at a time.  They are stored by features, so that one load of a support vector's value
serves all lanes; kernel values and sums of a support vector follow while it is in the cache.  No matrix of kernel
values is stored.

For a linear kernel the support vectors are summed to weights, with compensation for round-off: with large costs and
unscaled features the terms cancel to a share of 1e-10 or less, and the decision values are products of the weights with
the same features, which would have no correct digits otherwise.
"""

import math

from svmtool.compiled import _library, helper, loop
from svmtool.compiled.loops.rows.simd_loops import LANES
from svmtool.compiled.loops.text.decision_loops import add_row
from svmtool.tolerances import SPLIT_FACTOR

LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED = range(5)

if _library is None:
    import numpy as np
    from numpy import uint64

    from svmtool.compiled.loops.rows.simd_loops import add_lanes, lane_differences, lane_products
    from svmtool.compiled.loops.text.power_table import bits_of_float, float_of_bits

STRIP_VECTORS = 16  # support vectors whose kernel values are computed together

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2; k LN2_HIGH is exact
ROUNDING_SHIFT = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer in the lowest bits
MIN_EXPONENT, MAX_EXPONENT = -708.0, 709.0  # exp is 0 below (it is at most 3.4e-308), inf above


@helper(fast=True)
def taylor_tail(r):
    """(exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2: with it Taylor's polynomial of degree 13 has an error below 1e-17."""
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    return p * r + 0.5


@helper(fast=True)
def taylor(r):
    """exp(r) for |r| <= ln 2 / 2."""
    return taylor_tail(r) * (r * r) + r + 1.0


@helper
def exponential(x):
    """exp(x) within two units of the last place, in a form that compilers turn into vector instructions.

    exp(x) = 2^k exp(r), k integer, |r| <= ln 2 / 2.
    """
    shifted = x * LOG2_E + ROUNDING_SHIFT
    k = shifted - ROUNDING_SHIFT
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    value = taylor(r) * float_of_bits((bits_of_float(shifted) + 1023) << 52)
    value = 0.0 if x < MIN_EXPONENT else value  # a NaN passes both
    return math.inf if x > MAX_EXPONENT else value


@helper
def hyperbolic_tangent(x):
    """tanh(x) within a few units of the last place: by its continued fraction near 0, else from exp."""
    s = x * x
    near_0 = x * (135135.0 + s * (17325.0 + s * (378.0 + s))) / (135135.0 + s * (62370.0 + s * (3150.0 + s * 28.0)))
    e = exponential(-2.0 * abs(x))
    by_exp = (1.0 - e) / (1.0 + e)
    return near_0 if s < 0.25 else (-by_exp if x < 0.0 else by_exp)


@helper
def power(base, degree):
    """base^degree by squaring; 1 for a degree below 1."""
    result = 1.0
    while degree > 0:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


@helper
def kernel_value(u, kind, degree):
    """The kernel's value; u: gamma |x - z|^2 for RBF (negative counts as 0), else the argument."""
    if kind == RBF:
        return exponential(0.0 if u < 0.0 else -u)
    if kind == SIGMOID:
        return hyperbolic_tangent(u)
    return power(u, degree) if kind == POLYNOMIAL else u


@helper
def kernel_values(u, count, kind, degree):
    """`kernel_value` of each number, by a loop for each kind: one loop for all is not vectorised."""
    if kind == RBF:
        for k in range(count):
            u[k] = kernel_value(u[k], RBF, degree)
    elif kind == SIGMOID:
        for k in range(count):
            u[k] = kernel_value(u[k], SIGMOID, degree)
    elif kind == POLYNOMIAL:
        for k in range(count):
            u[k] = kernel_value(u[k], POLYNOMIAL, degree)


@loop("void(f8|f4[], f8[], f8[], i8, f8, i8, f8, i8, i8, i8)")
def finish_kernel(P, left, right, kind, gamma, degree, coef0, columns, lo, hi):
    """Turn inner products into kernel values, each in double precision, in rows lo .. hi-1 of P (rows x columns)."""
    n = uint64(columns)
    for i in range(uint64(lo), uint64(hi)):
        for k in range(i * n, i * n + n):
            u = gamma * (left[i] + right[k - i * n] - 2.0 * P[k]) if kind == RBF else gamma * P[k] + coef0
            P[k] = kernel_value(u, kind, degree)


@helper
def place_of(index, features, n_places):
    """The place of a feature (the file's index minus 1) in the table; n_places if the model lacks it.

    features: those of the model, ascending; empty: the place is the feature itself.
    """
    if len(features) == 0:
        return index + 1 if index + 1 < n_places else n_places
    low, high = 0, len(features)
    while low < high:
        middle = (low + high) >> 1
        if features[middle] < index:
            low = middle + 1
        else:
            high = middle
    return low if low < len(features) and features[low] == index else n_places


@loop("i8(i4[])")
def largest_index(indices):
    """The largest index; -1 if there is none."""
    largest = -1
    for k in range(len(indices)):
        largest = max(largest, np.int64(indices[k]))
    return largest


@loop("void(i8[], i4[], f8[], i4[], i4[], f8[], i8)")
def place_support(indptr, indices, values, features, places, norms, n_places):
    """places[k] = `place_of` indices[k], and the square norm of each row."""
    for s in range(len(norms)):
        total = 0.0
        for k in range(indptr[s], indptr[s + 1]):
            places[k] = place_of(indices[k], features, n_places)
            total += values[k] * values[k]
        norms[s] = total


@helper
def sum_differences(places, values, start, stop, row, table, gamma, outside, out, at, n_places):
    """out[at + a] = gamma |x_a - z|^2 summed over all places, plus `outside`: slower, but without cancellation.

    row: n_places zeros, restored.
    """
    for k in range(start, stop):
        row[places[k]] = values[k]
    lane_differences(row, n_places, table, gamma, outside, out, at)
    for k in range(start, stop):
        row[places[k]] = 0.0


@helper
def scatter_rows(indptr, indices, values, features, table, norms, outside, n_places, lo, hi):
    """Write rows lo .. hi-1 into the lanes of the table, and their square norms.

    outside: the part of a row's square norm from features that the model lacks.
    """
    for a in range(LANES):
        norms[a] = 0.0
        outside[a] = 0.0
    for i in range(lo, hi):
        a = i - lo
        for k in range(indptr[i], indptr[i + 1]):
            place = place_of(indices[k], features, n_places)
            square = values[k] * values[k]
            norms[a] += square
            if place == n_places:
                outside[a] += square
            else:
                table[place * LANES + a] = values[k]


@helper
def clear_rows(indptr, indices, features, table, n_places, lo, hi):
    """Reset to 0 the entries that `scatter_rows` wrote."""
    for i in range(lo, hi):
        for k in range(indptr[i], indptr[i + 1]):
            place = place_of(indices[k], features, n_places)
            if place < n_places:
                table[place * LANES + (i - lo)] = 0.0


@helper
def decide_pairs(sums, rho, decisions, classes, columns, own, lo, hi):
    """The decision values of rows lo .. hi-1 from the sums (classes, columns, LANES) of `kernel_decisions`.

    For i < j the coefficients of the pair are in column j - 1 for support vectors of class i, in column i for those of
    j.  own >= 0: the sums are those of this class's pairs.
    """
    if own >= 0:
        for r in range(lo, hi):
            for m in range(columns):
                decisions[r * columns + m] = sums[m * LANES + r - lo]
        return
    for r in range(lo, hi):
        a = r - lo
        pair = r * len(rho)
        if classes == 1:
            decisions[pair] = sums[a] - rho[0]
        for i in range(classes):
            for j in range(i + 1, classes):
                first, second = sums[(i * columns + j - 1) * LANES + a], sums[(j * columns + i) * LANES + a]
                decisions[pair] = first + second - rho[pair - r * len(rho)]
                pair += 1


@loop(
    "void(i8[], i4|i8[], f8[], i4[], i8[], u4[], f8[], f8[], f8[], i8[], f8[], f8[], f8[], f8[], f8[],"
    "i8, f8, i8, f8, i8, i8, f8, i8, i8, i8)"
)
def kernel_decisions(
    indptr, indices, values, features, sv_indptr, sv_places, sv_values, sv_norms, coef, ends, rho, table, scratch,
    sums, decisions, kind, gamma, degree, coef0, columns, n_places, largest, own, lo, hi
):  # fmt: skip
    """Decision values of rows lo .. hi-1 for each pair of classes i < j:

        sum over the support vectors z_s of both classes of coef_s K(x, z_s), minus the pair's rho.

    decisions is (rows, pairs), coef (columns, support vectors); the support vectors of class c are ends[c] ..
    ends[c + 1] - 1.  A single "class" has one column and one decision value (regression, one-class).
    own: -1, or the only class whose pairs are wanted, without rho: then decisions is (rows, columns), arranged as the
    coefficients of a support vector of that class.
    sums: classes * columns * LANES numbers, with `own` columns * LANES; table: n_places * LANES zeros; scratch:
    n_places + (2 + STRIP_VECTORS) * LANES zeros, both restored up to n_places.
    PRECOMPUTED: places are positions in a row of the data.  RBF: where 2 gamma |z|^2 exceeds `largest`, a distance from
    inner products is inaccurate and is summed over all places instead.
    """
    classes = len(ends) - 1
    n_sv = ends[classes]
    row = scratch[:n_places]
    norms = scratch[n_places : n_places + LANES]
    outside = scratch[n_places + LANES : n_places + 2 * LANES]
    strip = scratch[n_places + 2 * LANES :]
    factor = -2.0 * gamma if kind == RBF else (1.0 if kind == LINEAR else gamma)
    for first in range(lo, hi, LANES):
        last = min(first + LANES, hi)
        if kind != PRECOMPUTED:
            scatter_rows(indptr, indices, values, features, table, norms, outside, n_places, first, last)
        for a in range(LANES):
            norms[a] = gamma * norms[a] if kind == RBF else 0.0
            outside[a] *= gamma
        for at in range(len(sums)):
            sums[at] = 0.0
        for c in range(classes):
            for begin in range(ends[c], ends[c + 1], STRIP_VECTORS):
                end = min(begin + STRIP_VECTORS, ends[c + 1])
                for s in range(begin, end):
                    at, start, stop = (s - begin) * LANES, sv_indptr[s], sv_indptr[s + 1]
                    constant = gamma * sv_norms[s] if kind == RBF else (0.0 if kind == LINEAR else coef0)
                    if kind == PRECOMPUTED:
                        for i in range(first, last):
                            strip[at + i - first] = values[indptr[i] + np.int64(sv_places[s])]
                    elif kind == RBF and 2.0 * constant > largest:
                        sum_differences(
                            sv_places, sv_values, start, stop, row, table, gamma, outside, strip, at, n_places
                        )
                    else:
                        lane_products(sv_places, sv_values, start, stop, table, factor, norms, constant, strip, at)
                kernel_values(strip, uint64((end - begin) * LANES), kind, degree)
                if own < 0 or own == c:
                    to = 0 if own >= 0 else c * columns
                    for m in range(columns):
                        add_lanes(coef, m * n_sv + begin, strip, end - begin, sums, (to + m) * LANES)
                else:
                    column, other = (own, c - 1) if own < c else (own - 1, c)
                    add_lanes(coef, column * n_sv + begin, strip, end - begin, sums, other * LANES)
        decide_pairs(sums, rho, decisions, classes, columns, own, first, last)
        if kind != PRECOMPUTED:
            clear_rows(indptr, indices, features, table, n_places, first, last)


@loop("i8(i8[], i4|i8[], i8)")
def first_row_without(indptr, indices, last):
    """The first row that does not begin with the file's indices 0, 1, .. last; -1 if there is none."""
    for i in range(len(indptr) - 1):
        start = indptr[i]
        if indptr[i + 1] - start <= last:
            return i
        for k in range(last + 1):
            if indices[start + k] != k - 1:
                return i
    return -1


@loop("void(i8[], i4|i8[], f8|f4[], i4[], f8[], f8[], f8[], i8, i8, i8)")
def linear_decisions(indptr, indices, values, features, W, rho, decisions, n_places, lo, hi):
    """decisions[i, :] = x_i W - rho for rows lo .. hi-1, W (places, pairs)."""
    pairs = len(rho)
    for i in range(lo, hi):
        for p in range(pairs):
            decisions[i * pairs + p] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            place = place_of(indices[k], features, n_places)
            if place < n_places:
                add_row(decisions, i * pairs, W, place * pairs, pairs, values[k])
        for p in range(pairs):
            decisions[i * pairs + p] -= rho[p]


@helper
def product_error(a, b, p):
    """a b - p for p = a b rounded (Dekker, Numerische Mathematik 18 (1971) 224-242); 0 where numbers are too large."""
    c, e = SPLIT_FACTOR * a, SPLIT_FACTOR * b
    a_high, b_high = c - (c - a), e - (e - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return error if error - error == 0.0 else 0.0


@helper
def sum_error(a, b, s):
    """a + b - s for s = a + b rounded (Knuth); 0 where numbers are too large."""
    t = s - a
    error = (a - (s - t)) + (b - t)
    return error if error - error == 0.0 else 0.0


@loop("void(i8[], i4[], f8[], f8[], i8[], f8[], f8[], i8, i8)")
def pair_weights(sv_indptr, sv_places, sv_values, coef, ends, W, rest, columns, pairs):
    """W (places, pairs) += sum of coef_s z_s for each pair, and then `rest`, zeros that receive the rounding errors."""
    classes = len(ends) - 1
    for c in range(classes):
        for s in range(ends[c], ends[c + 1]):
            for m in range(columns):
                other = m if m < c else m + 1
                i, j = min(c, other), max(c, other)
                pair = i * classes - i * (i + 1) // 2 + j - i - 1 if classes > 1 else 0
                factor = coef[m * ends[classes] + s]
                for k in range(sv_indptr[s], sv_indptr[s + 1]):
                    at = np.int64(sv_places[k]) * pairs + pair
                    term = factor * sv_values[k]
                    total = W[at] + term
                    rest[at] += sum_error(W[at], term, total) + product_error(factor, sv_values[k], term)
                    W[at] = total
    for k in range(len(W)):
        W[k] += rest[k]
