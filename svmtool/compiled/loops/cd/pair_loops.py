"""Pairwise dual coordinate descent for the linear one-class SVM (Chou, Lin and Lin, SDM 2020, supplement, Algorithm 7).

min over 0 <= alpha_i <= U_i, sum_i alpha_i = k  of  1/2 |sum_i alpha_i x_i|^2
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE, dot, row_dot


@helper(fast=True)
def choose_smallest(chosen, z, sign, count, wanted):
    """Reorder chosen[:count] so that the `wanted` with the smallest sign * z come first."""
    left = 0
    right = np.int64(count) - 1
    place = np.int64(wanted) - 1
    while left < right:
        pivot = sign * z[chosen[(left + right) // 2]]
        i = left
        j = right
        while i <= j:
            while sign * z[chosen[i]] < pivot:
                i += 1
            while pivot < sign * z[chosen[j]]:
                j -= 1
            if i <= j:
                other = chosen[i]
                chosen[i] = chosen[j]
                chosen[j] = other
                i += 1
                j -= 1
        if place <= j:
            right = j
        elif place >= i:
            left = i
        else:
            return


@helper(fast=True)
def choose_worst(chosen, z, sign, count, wanted):
    """`choose_smallest`, then the smallest half of these first, and so on: approximately sorted at little cost."""
    while wanted >= 1:
        choose_smallest(chosen, z, sign, count, wanted)
        count = wanted
        wanted = wanted // 2


@helper(fast=True)
def step_pair(indptr, indices, values, upper, square_norms, alpha, w, scratch, i, j):
    """Minimise over alpha_i and alpha_j with their sum fixed, updating w.  scratch: d zeros, restored."""
    i_start, i_stop = indptr[i], indptr[i + ONE]
    j_start, j_stop = indptr[j], indptr[j + ONE]
    difference = row_dot(indices, values, w, j_start, j_stop) - row_dot(indices, values, w, i_start, i_stop)
    if difference > 0.0:
        slack = min(upper[i] - alpha[i], alpha[j])
    else:
        slack = min(alpha[i], upper[j] - alpha[j])
    if slack <= 0.0 or difference == 0.0:
        return
    for k in range(i_start, i_stop):
        scratch[indices[k]] = values[k]
    inner = row_dot(indices, values, scratch, j_start, j_stop)
    for k in range(i_start, i_stop):
        scratch[indices[k]] = 0.0
    norms = square_norms[i] + square_norms[j]
    curvature = max(norms - 2.0 * inner, 1e-15 * norms)
    step = abs(difference) / curvature
    grows, shrinks = (i, j) if difference > 0.0 else (j, i)
    if step < slack:
        alpha[grows] += step
        alpha[shrinks] -= step
    else:  # exactly to the bound
        step = slack
        at_top = upper[grows] - alpha[grows] <= alpha[shrinks]
        at_zero = alpha[shrinks] <= upper[grows] - alpha[grows]
        alpha[grows] = upper[grows] if at_top else alpha[grows] + step
        alpha[shrinks] = 0.0 if at_zero else alpha[shrinks] - step
    t = step if difference > 0.0 else -step
    for k in range(i_start, i_stop):
        w[indices[k]] += t * values[k]
    for k in range(j_start, j_stop):
        w[indices[k]] -= t * values[k]


@helper(fast=True)
def difference_at(rho, upper, alpha, z, active, rows):
    """Primal minus dual value at w = sum alpha_i x_i and rho, summed over the active rows."""
    total = 0.0
    for s in range(rows):
        i = active[s]
        short = rho - z[i]
        total += max(short, 0.0) * (upper[i] - alpha[i]) + max(-short, 0.0) * alpha[i]
    return total


@loop("i8(u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], u8[], f8[], f8, f8, f8, u8)")
def pair_rounds(
    indptr, indices, values, upper, square_norms, alpha, w, z, scratch, active, up, down, state, range_tol, gap, scale,
    max_rounds,
):  # fmt: skip
    """At most `max_rounds` rounds on the rows active[:state[0]], until the tolerances are met.

    state[1] != 0: the scores z are up to date.  Each round shrinks rows at a bound and moves pairs of the rows that
    most violate optimality upwards (`up`) and downwards (`down`; both scratch, n).  w = sum alpha_i x_i is updated;
    scratch: d zeros.  Returns 1 if the violation is <= range_tol and the relative gap <= gap (relative to at least
    `scale`), both over the active rows, else 0.  state[2 .. 6] receive low = min {z_i: alpha_i < U_i}; high = max {z_i:
    alpha_i > 0}, violation = high - low; the primal value at the best multiple of w; |w|^2; and the number of rounds is
    added.
    """
    for r in range(max_rounds + ONE):
        rows = np.uint64(state[0])
        low, high = np.inf, -np.inf
        free, total = 0.0, 0.0
        known = state[1] != 0.0
        for s in range(rows):
            i = active[s]
            if not known:
                z[i] = row_dot(indices, values, w, indptr[i], indptr[i + ONE])
            if alpha[i] < upper[i]:
                low = min(low, z[i])
            if alpha[i] > 0.0:
                high = max(high, z[i])
                if alpha[i] < upper[i]:
                    free += 1.0
                    total += z[i]
        state[1] = 1.0
        violation = high - low if low < np.inf and high > -np.inf else 0.0
        rho = total / free if free > 0.0 else 0.5 * (low + high)
        square = dot(w, w)
        difference = difference_at(rho, upper, alpha, z, active, rows) if violation > 0.0 else 0.0
        lead = max(square - difference, 0.0)  # the best multiple of w has the primal value -gain
        # not `fast`: reordered products of squares could overflow
        gain = 0.5 * lead * (lead / square) if square > 0.0 else 0.0
        state[2], state[3], state[4], state[5] = low, high, -gain, square
        if violation <= range_tol and 0.5 * square - gain <= gap * max(gain, scale):
            return 1
        if r == max_rounds:
            return 0
        kept = np.uint64(0)
        ups = np.uint64(0)
        downs = np.uint64(0)
        for s in range(rows):
            i = active[s]
            can_grow = alpha[i] < upper[i]
            can_shrink = alpha[i] > 0.0
            if (not can_grow and z[i] < low) or (not can_shrink and z[i] > high):
                continue
            active[kept] = i
            kept += ONE
            if can_grow and z[i] < high:
                up[ups] = i
                ups += ONE
            if can_shrink and z[i] > low:
                down[downs] = i
                downs += ONE
        state[0] = kept
        pairs = min(max(kept // np.uint64(10), ONE), min(ups, downs))
        choose_worst(up, z, 1.0, ups, pairs)
        choose_worst(down, z, -1.0, downs, pairs)
        for s in range(pairs):
            if up[s] != down[s]:
                step_pair(indptr, indices, values, upper, square_norms, alpha, w, scratch, up[s], down[s])
        state[1] = 0.0
        state[6] += 1.0
    return 0
