"""Rows of the kernel matrix in single precision: products of sparse rows, exp, and sums of rows.

A tile P has m rows (targets) and `width` columns (training rows), row-major.
"""

from numpy import float32, int32, uint64

from svmtool.compiled import _library, helper, loop
from svmtool.compiled.loops.rows.simd_loops import SINGLE_LANES

if _library is None:
    from numba import types
    from numba.cpython.unsafe.numbers import viewer

    from svmtool.compiled.loops.rows.simd_loops import single_lane_products

N0, N1, N2, N3, N4 = uint64(0), uint64(1), uint64(2), uint64(3), uint64(4)  # int would make indices floats
LANES = uint64(SINGLE_LANES)  # training rows handled at a time

ZERO32, ONE32, TWO32 = float32(0.0), float32(1.0), float32(2.0)
MIN_EXPONENT32 = float32(-87.0)  # below this exp is not a normal number
LOG2_E32, ROUND = float32(1.4426950408889634), float32(0.5)
LN2_HIGH32, LN2_LOW32 = float32(0.693359375), float32(-2.1219444005469057e-4)  # sum: log 2; k times the first is exact
T2, T3, T4 = float32(1 / 2), float32(1 / 6), float32(1 / 24)
T5, T6, T7 = float32(1 / 120), float32(1 / 720), float32(1 / 5040)


@helper(fast=True)
def single_exp_of_negative(x):
    """exp(x) for single-precision x <= 0: 2^k exp(r), x = k log 2 + r, exp(r) its Taylor series to degree 7."""
    x = max(x, MIN_EXPONENT32)
    k = int32(x * LOG2_E32 - ROUND)  # truncation: the nearest integer
    whole = float32(k)
    r = (x - whole * LN2_HIGH32) - whole * LN2_LOW32
    p = T7 * r + T6
    p = p * r + T5
    p = p * r + T4
    p = p * r + T3
    p = p * r + T2
    p = p * r + ONE32
    p = p * r + ONE32
    return p * viewer(int32((k + int32(127)) << int32(23)), types.float32)


@loop("void(f4[], f4[], f4[], f8, u8, u8, u8)", fast=True)
def rbf_tile(P, own, norms, gamma, m, width, first):
    """Replace products by kernel values exp(-gamma |x - x_j|^2); own f4[m] = |x|^2, norms[first + j] = |x_j|^2."""
    single = float32(gamma)
    two = TWO32 * single
    for k in range(m):
        start = k * width
        base = -single * own[k]
        for j in range(width):
            x = base - single * norms[first + j] + two * P[start + j]
            P[start + j] = single_exp_of_negative(min(x, ZERO32))


@loop("void(f8[], f8[], f8[], f4[], f8, u8, u8, u8)", fast=True)
def rbf_tile_of_double(products, own, norms, P, gamma, m, width, first):
    """`rbf_tile` from products and squared norms in double precision; only the exponent is rounded to single."""
    for k in range(m):
        base = -gamma * own[k]
        for j in range(width):
            x = base - gamma * norms[first + j] + 2.0 * gamma * products[k * width + j]
            P[k * width + j] = single_exp_of_negative(float32(min(x, 0.0)))


@loop("void(f4[], f8[], f8[], f8[], f8[], u8, u8, u8, u8)", fast=True)
def add_half_tile(P, c, v, f, below, m, width, first, beyond):
    """f[first + j] += sum_k c_k P[k, j], and below[k] += sum_j P[k, j] v[first + j] over first + j >= beyond."""
    own = beyond - first
    k = N0
    while k + N2 <= m:
        a, b = c[k], c[k + N1]
        at = k * width
        for j in range(own):
            f[first + j] += a * P[at + j] + b * P[at + width + j]
        s = t = 0.0
        for j in range(own, width):
            x, y, u = P[at + j], P[at + width + j], v[first + j]
            f[first + j] += a * x + b * y
            s += x * u
            t += y * u
        below[k] += s
        below[k + N1] += t
        k += N2
    while k < m:
        at = k * width
        for j in range(own):
            f[first + j] += c[k] * P[at + j]
        s = 0.0
        for j in range(own, width):
            f[first + j] += c[k] * P[at + j]
            s += P[at + j] * v[first + j]
        below[k] += s
        k += N1


@loop("void(f4[], f8[], f8[], u8, u8, u8)", fast=True)
def dots_with_rows(store, v, sums, n, lo, hi):
    """sums[k] = sum of store[k n + j] v[j] over j from lo to hi - 1, for each row of length n."""
    for k in range(len(sums)):
        s = 0.0
        for j in range(lo, hi):
            s += store[k * n + j] * v[j]
        sums[k] = s


@loop("void(f4|f8[], u8[], f8[], f8[], u8, u8, u8)", fast=True)
def add_stored(store, slots, c, f, n, lo, hi):
    """f[j] += sum_k c_k store[slots[k], j] for j in lo .. hi-1, rows of length n."""
    m = len(slots)
    width = hi - lo
    k = N0
    while k + N4 <= m:
        a, b, p, q = c[k], c[k + N1], c[k + N2], c[k + N3]
        sa, sb = slots[k] * n + lo, slots[k + N1] * n + lo
        sp, sq = slots[k + N2] * n + lo, slots[k + N3] * n + lo
        for j in range(width):
            f[lo + j] += a * store[sa + j] + b * store[sb + j] + p * store[sp + j] + q * store[sq + j]
        k += N4
    while k < m:
        a = c[k]
        at = slots[k] * n + lo
        for j in range(width):
            f[lo + j] += a * store[at + j]
        k += N1


@helper
def scatter_lanes(starts, columns, values, place, lanes, lo, hi):
    """Store training rows lo .. hi-1 (at most LANES) by features: lanes[(place[feature] - 1) * LANES + row - lo].

    place is 0 for features that occur in none of them.
    """
    found = N0
    for i in range(lo, hi):
        for q in range(starts[i], starts[i + N1]):
            feature = columns[q]
            if place[feature] == 0:
                for lane in range(found * LANES, found * LANES + LANES):
                    lanes[lane] = ZERO32
                found += N1
                place[feature] = found
            lanes[(uint64(place[feature]) - N1) * LANES + (i - lo)] = values[q]


@loop("void(u8[], u4[], f4[], u8[], u4[], f4[], u4[], f4[], u4[], f4[], f4[], f4[], u8, u8, u8)")
def sparse_tile(starts, columns, values, t_starts, t_columns, t_values, place, lanes, at, met, sums, P, m, lo, hi):
    """P[k, j] = product of target k < m and training row lo + j, both in compressed sparse rows.

    place (one number for each feature, all 0 before and after) and lanes: see `scatter_lanes`.  Scratch: at and met (as
    long as the longest target), sums (LANES).
    """
    width = hi - lo
    begin = lo
    while begin < hi:
        end = min(begin + LANES, hi)
        scatter_lanes(starts, columns, values, place, lanes, begin, end)
        for k in range(m):
            hits = N0
            for q in range(t_starts[k], t_starts[k + N1]):
                p = uint64(place[t_columns[q]])
                if p > N0:
                    at[hits] = p - N1
                    met[hits] = t_values[q]
                    hits += N1
            single_lane_products(at, met, hits, lanes, sums)
            to = k * width + (begin - lo)
            for lane in range(end - begin):
                P[to + lane] = sums[lane]
        for q in range(starts[begin], starts[end]):
            place[columns[q]] = 0
        begin = end
