"""Weights of a linear kernel's support vectors, summed with compensation for round-off.

With large costs and unscaled features the terms cancel to a share of 1e-10 or less, and the decision values are
products of the weights with the same features: without compensation they would have no correct digits.
"""

from svmtool.compiled import _library, helper, loop

if _library is None:
    import numpy as np

SPLIT = 134217729.0  # 2^27 + 1: splits a number into halves whose products are exact


@helper
def product_error(a, b, p):
    """a b - p for p = a b rounded (Dekker, Numerische Mathematik 18 (1971) 224-242); 0 where numbers are too large."""
    c, e = SPLIT * a, SPLIT * b
    a_high, b_high = c - (c - a), e - (e - b)
    a_low, b_low = a - a_high, b - b_high
    left = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return left if left - left == 0.0 else 0.0


@helper
def sum_error(a, b, s):
    """a + b - s for s = a + b rounded (Knuth); 0 where numbers are too large."""
    t = s - a
    left = (a - (s - t)) + (b - t)
    return left if left - left == 0.0 else 0.0


@loop("void(i8[], i4[], f8[], f8[], i8[], f8[], f8[], i8, i8)")
def pair_weights(sv_indptr, sv_places, sv_values, coef, ends, W, rest, columns, pairs):
    """W (places, pairs) += sum of coef_s z_s for each pair; the rounding errors are added to `rest`."""
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


@loop("void(f8[], f8[])")
def add_rest(W, rest):
    """W += rest."""
    for k in range(len(W)):
        W[k] += rest[k]
