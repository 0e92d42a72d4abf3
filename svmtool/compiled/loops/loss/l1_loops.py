"""Losses regularised by |w|_1: rows by columns, and coordinate descent on a quadratic model or on the squared hinge.

The model of proximal Newton at w (Yuan, Ho and Lin, JMLR 13 (2012), Eq. 13) over v = w + p is

    q(v) = g'(v - w) + 1/2 (v - w)'H(v - w) + sum_j penalty_j |v_j|,      H = sum_i c_i x_i x_i'

with penalty_j = 1, or 0 for a free bias.  One variable's minimiser is a soft threshold.
"""

import math

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.cd.dcd_loops import shuffled
from svmtool.compiled.loops.rows.row_loops import ONE, ZERO, add_row, row_dot


@loop("void(u8[], u4|u8[], u8[], u8, u8)")
def count_columns(indptr, indices, counts, lo, hi):
    """counts_j += the non-zeros of rows lo .. hi-1 in column j."""
    for k in range(indptr[lo], indptr[hi]):
        counts[indices[k]] += ONE


@loop("void(u8[], u4|u8[], f8|f4[], u8[], u4[], f8|f4[], u8, u8)")
def fill_columns(indptr, indices, values, at, row_numbers, column_values, lo, hi):
    """Store rows lo .. hi-1 by columns: column j from at_j on; at_j becomes its end."""
    for i in range(lo, hi):
        for k in range(indptr[i], indptr[i + ONE]):
            m = at[indices[k]]
            at[indices[k]] = m + ONE
            row_numbers[m] = np.uint32(i)
            column_values[m] = values[k]


@loop("void(u8[], u4[], f8|f4|i1|u1[], u8[], f8[], f8[])", fast=True)
def column_diagonal(starts, row_numbers, values, chosen, c, diagonal):
    """diagonal_k = sum_i c_i x_ij^2 of column j = chosen_k."""
    for k in range(len(chosen)):
        lo, hi = starts[chosen[k]], starts[chosen[k] + ONE]
        total = 0.0
        if len(row_numbers) == 0:
            for i in range(hi - lo):
                total += c[i] * values[lo + i] * values[lo + i]
        else:
            for m in range(lo, hi):
                total += c[row_numbers[m]] * values[m] * values[m]
        diagonal[k] = total


@loop("void(u8[], u4[], f8|f4|i1|u1[], u8[], f8[], f8[], u8, u8)", fast=True)
def column_products(starts, row_numbers, values, chosen, r, out, lo, hi):
    """out_k = r times column chosen_k, for k in lo .. hi-1."""
    for k in range(lo, hi):
        out[k] = row_dot(row_numbers, values, r, starts[chosen[k]], starts[chosen[k] + ONE])


@loop("void(u8[], u4[], f8|f4|i1|u1[], u8[], f8[], f8[], u8, u8)", fast=True)
def column_sum(starts, row_numbers, values, chosen, x, out, lo, hi):
    """out += sum of x_k times column chosen_k, for k in lo .. hi-1."""
    for k in range(lo, hi):
        if x[k] != 0.0:
            add_row(row_numbers, values, out, ZERO, x[k], starts[chosen[k]], starts[chosen[k] + ONE])


@helper(fast=True)
def add_weighted(row_numbers, values, c, r, t, lo, hi):
    """r_i += t c_i x_i over one column x, see `row_dot`."""
    if len(row_numbers) == 0:
        for i in range(hi - lo):
            r[i] += t * c[i] * values[lo + i]
    else:
        for m in range(lo, hi):
            r[row_numbers[m]] += t * c[row_numbers[m]] * values[m]


@helper(fast=True)
def violation_at(v, g, penalty):
    """The optimality violation of a variable v, with gradient g of the smooth part."""
    if v > 0.0:
        return abs(g + penalty)
    if v < 0.0:
        return abs(g - penalty)
    return max(abs(g) - penalty, 0.0)


@helper(fast=True)
def threshold(x, t):
    """Soft threshold: sign(x) max(|x| - t, 0)."""
    return x - t if x > t else x + t if x < -t else 0.0


@helper(fast=True)
def thresholded(v, g, h, penalty):
    """The minimiser over x of g (x - v) + h/2 (x - v)^2 + penalty |x|."""
    if not h > 0.0:
        return 0.0 if penalty > 0.0 else v
    return threshold(v - g / h, penalty / h)


@helper(fast=True)
def moved(v, j, g, h, penalty):
    """Minimise over v_j; returns the step."""
    old = v[j]
    v[j] = thresholded(old, g, h, penalty)
    return v[j] - old


@loop("f8(f8[], f8[], f8[], f8[], f8[], u8[], u8[], i8, f8)", fast=True)
def gram_epochs(gram, v, g, penalty, count, order, state, max_epochs, tolerance):
    """Coordinate descent on q with H = gram (d x d, symmetric), for at most `max_epochs` epochs in random order.

    Ends when the largest violation in an epoch over all variables is at most `tolerance`; epochs over the non-zero
    variables come between.  v and g, the gradient of q's smooth part, are updated.  Returns the violation, or infinity
    if it is above the tolerance; count[0] += epochs, count[1] is the sum of the violations that the last one met.
    order: scratch; state[0]: that of the random numbers.
    """
    d = np.uint64(len(v))
    everywhere = True
    largest = np.inf
    for _ in range(max_epochs):
        largest = total = 0.0
        state[0] = shuffled(order, d, state[0])
        for r in range(d):
            j = order[r]
            if not everywhere and v[j] == 0.0:
                continue
            violation = violation_at(v[j], g[j], penalty[j])
            largest = max(largest, violation)
            total += violation
            step = moved(v, j, g[j], gram[j * d + j], penalty[j])
            if step != 0.0:
                for k in range(d):
                    g[k] += step * gram[j * d + k]
        count[0] += 1.0
        count[1] = total
        if everywhere and largest <= tolerance:
            return largest
        everywhere = largest <= tolerance
    return np.inf


@loop(
    "f8(u8[], u4[], f8|f4|i1|u1[], u8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], u8, i8, f8)", fast=True
)
def column_epochs(
    starts, row_numbers, values, chosen, c, diagonal, g, penalty, v, r, count, order, state, together, max_epochs,
    tolerance,
):  # fmt: skip
    """`gram_epochs` on the columns `chosen`; updates r_i = c_i sum_k (v_k - w_k) x_ik; g: gradient at w.

    `together` columns are visited one after the other.
    """
    everywhere = True
    largest = np.inf
    m = np.uint64(len(v))
    parts = (m + together - ONE) // together
    for _ in range(max_epochs):
        largest = 0.0
        state[0] = shuffled(order, parts, state[0])
        for p in range(parts):
            for k in range(order[p] * together, min(m, (order[p] + ONE) * together)):
                if not everywhere and v[k] == 0.0:
                    continue
                lo = starts[chosen[k]]
                hi = starts[chosen[k] + ONE]
                slope = g[k] + row_dot(row_numbers, values, r, lo, hi)
                largest = max(largest, violation_at(v[k], slope, penalty[k]))
                step = moved(v, k, slope, diagonal[k], penalty[k])
                if step != 0.0:
                    add_weighted(row_numbers, values, c, r, step, lo, hi)
        count[0] += 1.0
        if everywhere and largest <= tolerance:
            return largest
        everywhere = largest <= tolerance
    return np.inf


@helper(fast=True)
def hinge2_slopes(row_numbers, values, signed, z, lo, hi):
    """First and second derivative of the squared hinges along the variable of one column; see `row_dot`.

    Without branches, whose outcome nothing predicts.
    """
    slope = curvature = 0.0
    if len(row_numbers) == 0:
        for i in range(hi - lo):
            x = np.float64(values[lo + i])
            slope -= signed[i] * x * max(1.0 - z[i], 0.0)
            curvature += abs(signed[i]) * x * x if z[i] < 1.0 else 0.0
    else:
        for m in range(lo, hi):
            i = row_numbers[m]
            x = np.float64(values[m])
            slope -= signed[i] * x * max(1.0 - z[i], 0.0)
            curvature += abs(signed[i]) * x * x if z[i] < 1.0 else 0.0
    return slope, curvature


@helper(fast=True)
def hinge2_slope_after(row_numbers, values, signed, z, step, lo, hi):
    """The first derivative after a step of the variable."""
    slope = 0.0
    if len(row_numbers) == 0:
        for i in range(hi - lo):
            x = np.float64(values[lo + i])
            slope -= signed[i] * x * max(1.0 - z[i] - math.copysign(1.0, signed[i]) * step * x, 0.0)
    else:
        for m in range(lo, hi):
            i = row_numbers[m]
            x = np.float64(values[m])
            slope -= signed[i] * x * max(1.0 - z[i] - math.copysign(1.0, signed[i]) * step * x, 0.0)
    return slope


@loop("f8(u8[], u4[], f8|f4|i1|u1[], f8[], f8[], f8[], f8[], u8[], f8[])", fast=True)
def hinge2_column_epoch(starts, row_numbers, values, y, signed, penalty, w, chosen, z):
    """An epoch of coordinate descent on f for the squared hinge; updates w and z_i = y_i x_i.w; signed_i = 2 C_i y_i.

    Each variable takes a Newton step, shortened if f would increase because rows become active.  chosen: the columns to
    visit.  Returns the sum of violations, each before its step, as LIBLINEAR does.
    """
    violations = 0.0
    for s in range(len(chosen)):
        j = chosen[s]
        lo, hi = starts[j], starts[j + ONE]
        slope, curvature = hinge2_slopes(row_numbers, values, signed, z, lo, hi)
        violations += violation_at(w[j], slope, penalty[j])
        step = thresholded(w[j], slope, curvature, penalty[j]) - w[j]
        for _ in range(30):
            if step == 0.0:
                break
            after = hinge2_slope_after(row_numbers, values, signed, z, step, lo, hi)
            new = w[j] + step
            # f decreases along the whole step
            pull = penalty[j] if new > 0.0 or (new == 0.0 and step < 0.0) else -penalty[j]
            rise = (after + pull) * step
            if rise <= 0.5 * abs(slope + pull) * abs(step):
                break
            step *= 0.5
        if step != 0.0:
            w[j] += step
            add_weighted(row_numbers, values, y, z, step, lo, hi)
    return violations
