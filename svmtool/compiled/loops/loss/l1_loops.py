"""Losses regularised by |w|_1: dual values, steps along a line, and coordinate descent on a quadratic model.

The model of proximal Newton at w (Yuan, Ho and Lin, JMLR 13 (2012), Eq. 13) over v = w + p is

    q(v) = g'(v - w) + 1/2 (v - w)'H(v - w) + sum_j penalty_j |v_j|,      H = sum_i c_i x_i x_i'

with penalty_j = 1, or 0 for a free bias.  One variable's minimiser is a soft threshold.
"""

import math

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.loss.hinge_loops import hinge2_line_search
from svmtool.compiled.loops.loss.logistic_loops import exp_of_negative, log_of_one_plus, logistic_line_search
from svmtool.compiled.loops.rows.row_loops import ONE
from svmtool.tolerances import MIN_POSITIVE

MIN_BOUND_SHARE = 0.1  # of its distance from a bound that a multiplier keeps in a step, see `l1_model_slopes`
MIN_END_CURVATURE = 0.1  # at the end of a step, as share of the mean along it, unless f is known to decrease
MAX_END_SLOPE_RATIO = 1e-2  # largest slope at the end of a line search, as share of that at w


@loop("f8(f8[], f8[], f8, u8)", fast=True)
def l1_logistic_dual(z, cost, s, rows):
    """-sum_i C_i (a log a + (1 - a) log(1 - a)), a = s b, b = 1 / (1 + exp(z_i)), 0 < s <= 1: the dual value.

    log a = log s + log b and log(1 - a) = log(1 - b) + log(1 + (1 - s) exp(-z_i)) do not cancel.
    """
    log_s = math.log(s)
    log_left = math.log(1.0 - s) if s < 1.0 else 0.0
    total = 0.0
    for i in range(rows):
        e = exp_of_negative(-abs(z[i]))
        large = 1.0 / (1.0 + e)  # the larger of the two probabilities
        small = e * large
        b, other = (small, large) if z[i] > 0.0 else (large, small)
        log_near = -log_of_one_plus(e)
        log_a = log_s + log_near - max(z[i], 0.0)
        t = (1.0 - s) * (e if z[i] > 0.0 else 1.0 / e)
        more = log_of_one_plus(min(t, 1.0 / max(t, 1e-300))) + (log_left - z[i] if t > 1.0 else 0.0)
        total -= cost[i] * (s * b * log_a + (other + (1.0 - s) * b) * (log_near + min(z[i], 0.0) + more))
    return total


@loop("f8(f8[], f8[], f8[], f8, u8)", fast=True)
def l1_slopes_dual(u, y, cost, s, rows):
    """`l1_logistic_dual` for a_i = -s y_i u_i / C_i, strictly between 0 and 1."""
    total = 0.0
    for i in range(rows):
        a = -s * y[i] * u[i] / cost[i]
        total -= cost[i] * (a * math.log(max(a, MIN_POSITIVE)) + (1.0 - a) * math.log(max(1.0 - a, MIN_POSITIVE)))
    return total


@loop("void(f8[], f8[], f8[], f8[], f8[], i8)", fast=True)
def l1_model_slopes(u, y, cost, c, dz, logistic):
    """u += c dz y: the model's slopes at the end of a step, kept within the bounds of the multipliers.

    Multipliers of the logistic loss stay away from the bounds, where the dual's slope is infinite, by the share
    MIN_BOUND_SHARE of their distance.
    """
    for i in range(np.uint64(len(u))):
        a = -u[i] * y[i]
        new = a - c[i] * dz[i]
        if logistic:
            new = min(max(new, MIN_BOUND_SHARE * a), cost[i] - MIN_BOUND_SHARE * (cost[i] - a))
        u[i] = -max(new, 0.0) * y[i]


@helper(fast=True)
def to_minimum(w, p, penalty, at, way, slope, curvature, max_distance):
    """Distance, at most `max_distance`, from `at` to the minimum of a quadratic plus sum_j penalty_j |w_j + t p_j|.

    way: 1 upwards, -1 downwards; slope (< 0): of all terms at `at` in this direction; curvature: of the quadratic.
    """
    gone = 0.0
    while True:
        breakpoint = max_distance
        jump = 0.0
        for j in range(len(w)):
            if w[j] * p[j] < 0.0:
                away = way * (-w[j] / p[j] - at)
                if away > gone and away <= breakpoint:
                    if away < breakpoint:
                        breakpoint = away
                        jump = 0.0
                    jump += 2.0 * penalty[j] * abs(p[j])
        zero = gone - slope / curvature if curvature > 0.0 else np.inf
        if zero <= breakpoint:
            return zero
        slope += curvature * (breakpoint - gone) + jump
        if breakpoint >= max_distance or slope >= 0.0:
            return breakpoint
        gone = breakpoint


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], i8)", fast=True)
def l1_step(z, dz, target, cost, w, p, penalty, g, out, logistic):
    """The approximate minimiser t in [0, 1] of f(w + t p), 0 if f does not decrease; g: gradient of the losses at w."""
    rows = np.uint64(len(z))
    first = 0.0
    for j in range(len(w)):
        first += g[j] * p[j] + penalty[j] * (-abs(p[j]) if w[j] * p[j] < 0.0 else abs(p[j]))
    if not first < 0.0:
        return 0.0
    low = 0.0
    high = 1.0
    gained = 0.0  # lower bound of f(0) - f(low), by convexity
    t = 1.0
    for _ in range(100):
        if logistic:
            logistic_line_search(z, dz, cost, out, t, np.uint64(0), rows)
        else:
            hinge2_line_search(z, dz, target, cost, out, t, np.uint64(0), rows)
        left = out[0]
        right = out[0]
        for j in range(len(w)):
            size = penalty[j] * abs(p[j])
            breakpoint = -w[j] / p[j] if w[j] * p[j] < 0.0 else 0.0
            left += size if t > breakpoint else -size
            right += size if t >= breakpoint else -size
        # if most of the curvature is near 0, f can be above f(0) at a t with a small positive slope
        falls = left <= 0.0 or (t - low) * left <= gained or out[1] * t >= MIN_END_CURVATURE * (left - first)
        if falls and left <= MAX_END_SLOPE_RATIO * -first and (t == 1.0 or right >= MAX_END_SLOPE_RATIO * first):
            break
        if left > 0.0:
            high = t
            new = t - to_minimum(w, p, penalty, t, -1.0, -left, out[1], t - low)
        else:
            low = t
            gained = -right * t
            new = t + to_minimum(w, p, penalty, t, 1.0, right, out[1], high - t)
        if not (low < new and new < high):
            new = 0.5 * (low + high)
        if high - low <= 1e-12 * high:
            return low
        t = new
    return t


@loop("void(u8[], u4|u8[], u4[], u8[], u8, u8)")
def count_columns(indptr, indices, place, counts, lo, hi):
    """counts_p += the non-zeros of rows lo .. hi-1 in the feature with place p; the last place is not a column."""
    for k in range(indptr[lo], indptr[hi]):
        counts[place[indices[k]]] += ONE


@loop("void(u8[], u4|u8[], f8[], u4[], u8[], u4[], f8[], u8, u8)")
def fill_columns(indptr, indices, values, place, at, row_numbers, column_values, lo, hi):
    """Store rows lo .. hi-1 by columns: the column with place p from at_p on; at_p becomes its end."""
    d = len(at) - 1
    for i in range(lo, hi):
        for k in range(indptr[i], indptr[i + ONE]):
            p = place[indices[k]]
            if p < d:
                m = at[p]
                at[p] = m + ONE
                row_numbers[m] = np.uint32(i)
                column_values[m] = values[k]


@loop("void(u8[], u4[], f8[], f8[], u8[], u8[], u4[], f8[], f8[], f8)", fast=True)
def gather_columns(starts, row_numbers, values, root, chosen, to_starts, to_rows, to_values, diagonal, bias):
    """Columns `chosen`, with row i multiplied by root_i and rows with root_i = 0 left out; diagonal_k = |column k|^2.

    Column d (one beyond those stored) is the bias feature.
    """
    at = np.uint64(0)
    to_starts[0] = at
    d = np.uint64(len(starts)) - ONE
    for k in range(len(chosen)):
        total = 0.0
        if chosen[k] == d:
            for i in range(np.uint64(len(root))):
                if root[i] != 0.0:
                    t = root[i] * bias
                    to_rows[at] = np.uint32(i)
                    to_values[at] = t
                    total += t * t
                    at += ONE
        else:
            for m in range(starts[chosen[k]], starts[chosen[k] + ONE]):
                t = root[row_numbers[m]] * values[m]
                if t != 0.0:
                    to_rows[at] = row_numbers[m]
                    to_values[at] = t
                    total += t * t
                    at += ONE
        diagonal[k] = total
        to_starts[np.uint64(k) + ONE] = at


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


@loop("f8(f8[], f8[], f8[], f8[], f8[], i8, f8)", fast=True)
def gram_epochs(gram, v, g, penalty, count, max_epochs, tolerance):
    """Coordinate descent on q with H = gram (d x d, symmetric), for at most `max_epochs` epochs.

    Ends when the largest violation in an epoch over all variables is at most `tolerance`; epochs over the non-zero
    variables come between.  v and g, the gradient of q's smooth part, are updated.  Returns the violation, or infinity
    if it is above the tolerance; count[0] += epochs.
    """
    d = np.uint64(len(v))
    everywhere = True
    largest = np.inf
    for _ in range(max_epochs):
        largest = 0.0
        for j in range(d):
            if not everywhere and v[j] == 0.0:
                continue
            largest = max(largest, violation_at(v[j], g[j], penalty[j]))
            step = moved(v, j, g[j], gram[j * d + j], penalty[j])
            if step != 0.0:
                for k in range(d):
                    g[k] += step * gram[j * d + k]
        count[0] += 1.0
        if everywhere and largest <= tolerance:
            return largest
        everywhere = largest <= tolerance
    return np.inf


@loop("f8(f8[], f8[], f8[], f8, f8)", fast=True)
def l1_face_step(v, q, penalty, slope, curvature):
    """Add t q to v (the weights of a face) for the t in [0, 1] that minimises the model; returns t.

    slope and curvature: of the model at t = 0, including the slope of |v|_1 there.
    A weight whose sign changes exactly at this t becomes zero.
    """
    t = to_minimum(v, q, penalty, 0.0, 1.0, slope, curvature, 1.0)
    for j in range(len(v)):
        zero = v[j] * q[j] < 0.0 and -v[j] / q[j] == t
        v[j] = 0.0 if zero else v[j] + t * q[j]
    return t


@loop("f8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], i8, f8)", fast=True)
def column_epochs(starts, row_numbers, values, diagonal, g, penalty, v, r, count, max_epochs, tolerance):
    """`gram_epochs` with columns from `gather_columns`; updates r = sum_k (v_k - w_k) column_k; g: gradient at w."""
    everywhere = True
    largest = np.inf
    for _ in range(max_epochs):
        largest = 0.0
        for k in range(np.uint64(len(v))):
            if not everywhere and v[k] == 0.0:
                continue
            lo = starts[k]
            hi = starts[k + ONE]
            slope = g[k]
            for m in range(lo, hi):
                slope += values[m] * r[row_numbers[m]]
            largest = max(largest, violation_at(v[k], slope, penalty[k]))
            step = moved(v, k, slope, diagonal[k], penalty[k])
            if step != 0.0:
                for m in range(lo, hi):
                    r[row_numbers[m]] += step * values[m]
        count[0] += 1.0
        if everywhere and largest <= tolerance:
            return largest
        everywhere = largest <= tolerance
    return np.inf


@loop("f8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], u8[], f8[], f8)", fast=True)
def hinge2_column_epoch(starts, row_numbers, values, y, cost, penalty, w, chosen, z, bias):
    """An epoch of coordinate descent on f for the squared hinge; updates w and z_i = y_i x_i.w.

    Each variable takes a Newton step, shortened if f would increase because rows become active.  chosen: the columns to
    visit (len(starts) - 1: the bias feature).  Returns the largest violation.
    """
    d = np.uint64(len(starts)) - ONE
    largest = 0.0
    for s in range(len(chosen)):
        j = chosen[s]
        lo = starts[j] if j < d else np.uint64(0)
        hi = starts[j + ONE] if j < d else np.uint64(len(z))
        slope = curvature = 0.0
        for m in range(lo, hi):
            i = np.uint64(row_numbers[m]) if j < d else m
            x = values[m] if j < d else bias
            slack = 1.0 - z[i]
            if slack > 0.0:
                t = 2.0 * cost[i] * x
                slope -= t * y[i] * slack
                curvature += t * x
        largest = max(largest, violation_at(w[j], slope, penalty[j]))
        step = thresholded(w[j], slope, curvature, penalty[j]) - w[j]
        for _ in range(30):
            if step == 0.0:
                break
            after = 0.0
            for m in range(lo, hi):
                i = np.uint64(row_numbers[m]) if j < d else m
                x = values[m] if j < d else bias
                slack = 1.0 - z[i] - step * y[i] * x
                if slack > 0.0:
                    after -= 2.0 * cost[i] * x * y[i] * slack
            new = w[j] + step
            # f decreases along the whole step
            pull = penalty[j] if new > 0.0 or (new == 0.0 and step < 0.0) else -penalty[j]
            rise = (after + pull) * step
            if rise <= 0.5 * abs(slope + pull) * abs(step):
                break
            step *= 0.5
        if step != 0.0:
            w[j] += step
            for m in range(lo, hi):
                i = np.uint64(row_numbers[m]) if j < d else m
                x = values[m] if j < d else bias
                z[i] += step * y[i] * x
    return largest
