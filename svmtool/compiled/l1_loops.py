"""Losses regularised by |w|_1: the logistic loss row by row, and coordinate descent on a quadratic model.

The model of proximal Newton at w (Yuan, Ho and Lin, JMLR 13 (2012), Eq. 13) over v = w + p is

    q(v) = g'(v - w) + 1/2 (v - w)'H(v - w) + sum_j penalty_j |v_j|,      H = sum_i c_i x_i x_i'

with penalty_j = 1, or 0 for a free bias.  One variable's minimiser is a soft threshold.
"""

import math

import numpy as np

from svmtool.compiled import helper, loop

ONE = np.uint64(1)


@loop("f8(f8[], f8[], f8[], f8[], f8[], u8, u8)", fast=True)
def l1_logistic_state(z, cost, y, u, c, lo, hi):
    """sum_i C_i log(1 + exp(-z_i)) of rows lo .. hi-1; u_i = d loss_i / d(x_i.w), c_i its second derivative."""
    loss = 0.0
    for i in range(lo, hi):
        e = math.exp(-abs(z[i]))
        near = 1.0 / (1.0 + e)  # of the two probabilities that of the side on which z lies
        b = e * near if z[i] > 0.0 else near
        loss += cost[i] * (math.log1p(e) + max(-z[i], 0.0))
        u[i] = -cost[i] * b * y[i]
        c[i] = cost[i] * (e * near) * near
    return loss


@loop("void(f8[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def l1_logistic_ray(z, dz, cost, out, at, lo, hi):
    """out[0], out[1] = slope and curvature at `at` of sum_i C_i log(1 + exp(-z_i - at dz_i))."""
    slope = 0.0
    curvature = 0.0
    for i in range(lo, hi):
        m = z[i] + at * dz[i]
        e = math.exp(-abs(m))
        near = 1.0 / (1.0 + e)
        t = cost[i] * dz[i]
        slope -= t * (e * near if m > 0.0 else near)
        curvature += t * dz[i] * (e * near) * near
    out[0] = slope
    out[1] = curvature


@loop("f8(f8[], f8[], f8, u8, u8)")
def l1_logistic_dual(z, cost, s, lo, hi):
    """-sum_i C_i (a log a + (1 - a) log(1 - a)), a = s / (1 + exp(z_i)), 0 <= s <= 1: the dual's value."""
    total = 0.0
    for i in range(lo, hi):
        e = math.exp(-abs(z[i]))
        near = 1.0 / (1.0 + e)
        b, rest = (e * near, near) if z[i] > 0.0 else (near, e * near)
        a = s * b
        rest = (1.0 - s) * b + rest
        if a > 1e-300 and rest > 1e-300:
            total -= cost[i] * (a * math.log(a) + rest * math.log(rest))
    return total


@loop("void(u8[], u4[], f8[], u8[], u4[], f8[])")
def columns_of_rows(indptr, indices, values, starts, row_numbers, column_values):
    """Sparse rows column after column: column j lies at starts[j] .. starts[j + 1]; starts (d + 1) is zeros before."""
    d = np.uint64(len(starts)) - ONE
    for k in range(len(indices)):
        starts[indices[k]] += ONE
    at = np.uint64(0)
    for j in range(d):
        at += starts[j]
        starts[j] = at
    starts[d] = at
    rows = len(indptr) - 1
    for r in range(rows):  # from the last row up, so that each column ends in ascending order
        i = np.uint64(rows - 1 - r)
        for k in range(indptr[i], indptr[i + ONE]):
            at = starts[indices[k]] - ONE
            starts[indices[k]] = at
            row_numbers[at] = np.uint32(i)
            column_values[at] = values[k]


@loop("void(u8[], u4[], f8[], f8[], u8[], u8[], u4[], f8[], f8[], f8)", fast=True)
def gather_columns(starts, row_numbers, values, root, chosen, to_starts, to_rows, to_values, diagonal, bias):
    """Columns `chosen`, row i times root_i, rows with root_i = 0 left out; diagonal_k = |column k|^2.

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
    """How far a gradient g of the smooth part is from what v's optimality asks."""
    if v > 0.0:
        return abs(g + penalty)
    if v < 0.0:
        return abs(g - penalty)
    return max(abs(g) - penalty, 0.0)


@helper(fast=True)
def thresholded(v, g, h, penalty):
    """The minimiser over x of g (x - v) + h/2 (x - v)^2 + penalty |x|."""
    if not h > 0.0:
        return 0.0 if penalty > 0.0 else v
    x = v - g / h
    t = penalty / h
    return x - t if x > t else x + t if x < -t else 0.0


@loop("f8(f8[], f8[], f8[], f8[], f8[], i8, f8)", fast=True)
def gram_passes(gram, v, g, penalty, count, most, tolerance):
    """Coordinate descent on q with H = gram (d x d, symmetric): at most `most` passes, until the largest violation
    in one over all variables is at most `tolerance`.  v and g, the gradient of q's smooth part, are kept up to date.

    Between passes over all variables those that are not zero are visited until they are done.  Returns that
    violation, or infinity where it is still larger; count[0] += passes.
    """
    d = np.uint64(len(v))
    everywhere = True
    largest = np.inf
    for _ in range(most):
        largest = 0.0
        for j in range(d):
            if not everywhere and v[j] == 0.0:
                continue
            largest = max(largest, violation_at(v[j], g[j], penalty[j]))
            new = thresholded(v[j], g[j], gram[j * d + j], penalty[j])
            step = new - v[j]
            if step != 0.0:
                v[j] = new
                for k in range(d):
                    g[k] += step * gram[j * d + k]
        count[0] += 1.0
        if largest <= tolerance:
            if everywhere:
                return largest
            everywhere = True
        else:
            everywhere = False
    return np.inf


@loop("f8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], i8, f8)", fast=True)
def column_passes(starts, row_numbers, values, diagonal, g, penalty, v, r, count, most, tolerance):
    """The same with the columns that `gather_columns` made: r = sum_k (v_k - w_k) column_k is kept up to date, g is
    the gradient at w."""
    everywhere = True
    largest = np.inf
    for _ in range(most):
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
            new = thresholded(v[k], slope, diagonal[k], penalty[k])
            step = new - v[k]
            if step != 0.0:
                v[k] = new
                for m in range(lo, hi):
                    r[row_numbers[m]] += step * values[m]
        count[0] += 1.0
        if largest <= tolerance:
            if everywhere:
                return largest
            everywhere = True
        else:
            everywhere = False
    return np.inf


@loop("f8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], u8[], f8[], f8[], i8, f8, f8)", fast=True)
def hinge2_column_passes(
    starts, row_numbers, values, y, cost, penalty, w, chosen, z, count, most, share, bias
):  # fmt: skip
    """Coordinate descent on f itself for the squared hinge: z_i = y_i x_i.w and w are kept up to date.

    Each variable takes a Newton step, or less where rows that become active would make f rise.  `most` passes over
    the columns `chosen` (len(starts) - 1: the bias feature), fewer where the largest violation falls below `share`
    of that in the first.  Returns the last pass's.
    """
    d = np.uint64(len(starts)) - ONE
    first = 0.0
    largest = 0.0
    for sweep in range(most):
        largest = 0.0
        for s in range(len(chosen)):
            j = chosen[s]
            lo = starts[j] if j < d else np.uint64(0)
            hi = starts[j + ONE] if j < d else np.uint64(len(z))
            slope = 0.0
            curvature = 0.0
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
                # f still falls where the step ends, or a zero holds it: it has fallen all the way
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
        count[0] += 1.0
        if sweep == 0:
            first = largest
        if largest <= share * first:
            break
    return largest
