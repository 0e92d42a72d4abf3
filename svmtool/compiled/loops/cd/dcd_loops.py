"""Dual coordinate descent for the hinge and its square (Hsieh et al., ICML 2008, Algorithms 1 and 3).

min over 0 <= alpha_i <= U_i of  1/2 |sum_i alpha_i y_i x_i|^2 + 1/2 sum_i D_i alpha_i^2 - sum_i t_i alpha_i

Twice as many variables as rows are the two sides of a tube (training/reductions/regression.py): variable i with sign +1
and variable i + rows with sign -1 belong to row i.  At the optimum one of them is zero, so that a row is visited once
for both (Ho and Lin, Large-scale Linear Support Vector Regression, JMLR 13 (2012), Algorithm 4).

face_...: products for conjugate gradients over some dual variables (coordinate/face_steps.py); for each of these its
row, sign and D_i.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE, ZERO, add_multiple, product_of_row

FIRST_STATE = 88172645463325252  # of the random numbers of `shuffled`
TUBE_THRESHOLD_FACTOR = 0.3  # tubes: factor of the shrinking thresholds, which the first rows of an epoch make too wide


@helper
def shuffled(chunks, count, random):
    """chunks = 0 .. count-1 in random order, by xorshift64; returns its next state."""
    for c in range(count):
        chunks[c] = c
    for c in range(count):
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        other = c + (random >> ONE) % (count - c)
        drawn = chunks[other]
        chunks[other] = chunks[c]
        chunks[c] = drawn
    return random


@helper
def without(active, rows, gone):
    """Remove the entries equal to `gone` from active[:rows]; returns how many remain."""
    at = np.uint64(0)
    for s in range(rows):
        if active[s] != gone:
            active[at] = active[s]
            at += ONE
    return at


@helper
def begin(n_chunks, chunks, limits, state):
    """Start an epoch: draw its order and reset `limits`."""
    state[1] = shuffled(chunks, n_chunks, state[1])
    state[2] = ZERO
    limits[2] = -np.inf
    limits[3] = np.inf
    limits[4] = 0.0


@helper
def finish(active, rows, gone, limits, state):
    """End an epoch: remove the shrunk rows, and set the thresholds of the next one."""
    if state[2] > ZERO:
        state[0] = without(active, rows, gone)
    limits[0] = limits[2] if limits[2] > 0.0 else np.inf
    limits[1] = limits[3] if limits[3] < 0.0 else -np.inf


@helper
def range_of(limits):
    """Range of the projected gradients of the last epoch, zero included."""
    largest, smallest = limits[2], limits[3]
    return max(largest - smallest, max(abs(largest), abs(smallest))) if largest >= smallest else 0.0


@helper(fast=True)
def visit(indices, values, y, target, diagonal, upper, square_norms, alpha, w, i, start, stop, above, below, bias):
    """Minimise over variable i; returns its projected gradient before, and whether it is shrunk instead."""
    old = alpha[i]
    gradient = y[i] * product_of_row(indices, values, w, start, stop, bias) - target[i] + old * diagonal[i]
    projected = gradient
    if old == 0.0:
        if gradient > above:
            return projected, True
        if gradient > 0.0:
            projected = 0.0
    elif old >= upper[i]:
        if gradient < below:
            return projected, True
        if gradient < 0.0:
            projected = 0.0
    if projected != 0.0:
        alpha[i] = min(max(old - gradient / max(square_norms[i] + diagonal[i], 1e-300), 0.0), upper[i])
        add_multiple(indices, values, w, (alpha[i] - old) * y[i], start, stop, bias)
    return projected, False


@helper(fast=True)
def visit_tube(
    indices, values, target, diagonal, upper, square_norms, alpha, w, i, stored, start, stop, above, below, bias
):  # fmt: skip
    """`visit` of both variables of row i, i and i + stored; at most one of them is above zero at all times."""
    old = alpha[i] - alpha[i + stored]
    total = product_of_row(indices, values, w, start, stop, bias) + diagonal[i] * old
    over = total - target[i]  # slope in alpha_i - alpha'_i above zero, ...
    under = total + target[i + stored]  # ... and below zero, which is smaller
    if old == 0.0:
        if over > above and under < -above:  # inside the tube
            return over, True
        projected = min(over, -under, 0.0)
    else:
        projected = over if old > 0.0 else -under
        if abs(old) >= upper[i]:
            if projected < below:  # outside the tube
                return projected, True
            projected = max(projected, 0.0)
    if projected != 0.0:
        curvature = max(square_norms[i] + diagonal[i], 1e-300)
        alpha[i] = min(max(old - over / curvature, 0.0), upper[i])
        alpha[i + stored] = min(max(under / curvature - old, 0.0), upper[i])
        add_multiple(indices, values, w, alpha[i] - alpha[i + stored] - old, start, stop, bias)
    return projected, False


@loop(
    "void(u8[], u4|u8[], f8|f4|i1|u1[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], u8[], f8, u8, u8, "
    "u8)",
    fast=True,
)
def dcd_epoch(
    indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, first, last,
):  # fmt: skip
    """Chunks first .. last - 1, in random order, of one epoch over the active variables, with shrinking.

    target is t, diagonal D, upper U; square_norms_i = |x_i|^2 with the bias feature; w (d, plus the bias's weight
    where bias >= 0) = sum alpha_i y_i x_i is updated.  Of tubes y, target, diagonal, upper and alpha have two entries
    for each row, upper and lower side, of which diagonal and upper are equal; square_norms has one.
    active[:state[0]] are the rows to visit, ascending; shrunk rows are removed at the end of the epoch and state[0] is
    reduced.  A chunk is `chunk` successive active rows, which is faster than single rows in random order.  chunks:
    scratch, one entry for each chunk; state[1]: random state; state[2]: rows shrunk so far in this epoch.  limits[0],
    limits[1]: shrinking thresholds on the gradient at the lower and upper bound, set at the end for the next epoch, of
    tubes multiplied by TUBE_THRESHOLD_FACTOR; limits[2], limits[3] receive the largest and smallest projected gradient
    of this epoch, limits[4] the sum of their sizes.
    """
    rows = state[0]
    n_chunks = (rows + chunk - ONE) // chunk
    if first == ZERO:
        begin(n_chunks, chunks, limits, state)
    stored = np.uint64(len(indptr)) - ONE  # marks a shrunk row
    tube = stored < len(y)
    largest, smallest, size = limits[2], limits[3], limits[4]
    factor = TUBE_THRESHOLD_FACTOR if tube else 1.0
    above, below = factor * limits[0], factor * limits[1]
    shrunk = state[2]
    for c in range(first, min(last, n_chunks)):
        drawn = chunks[c]
        for s in range(drawn * chunk, min(rows, (drawn + ONE) * chunk)):
            i = active[s]
            start, stop = indptr[i], indptr[i + ONE]
            if tube:
                projected, shrinks = visit_tube(
                    indices, values, target, diagonal, upper, square_norms, alpha, w, i, stored, start, stop, above,
                    below, bias,
                )  # fmt: skip
            else:
                projected, shrinks = visit(
                    indices, values, y, target, diagonal, upper, square_norms, alpha, w, i, start, stop, above, below,
                    bias,
                )  # fmt: skip
            if shrinks:
                active[s] = stored
                shrunk += ONE
                continue
            size += abs(projected)
            if projected > largest:
                largest = projected
            if projected < smallest:
                smallest = projected
    limits[2], limits[3], limits[4] = largest, smallest, size
    state[2] = shrunk
    if last >= n_chunks:
        finish(active, rows, stored, limits, state)


@loop(
    "i8(u8[], u4|u8[], f8|f4|i1|u1[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], u8[], f8, u8, i8, "
    "f8, u8)",
    fast=True,
)
def dcd_epochs(
    indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, max_epochs, range_tol, max_rows,
):  # fmt: skip
    """At most `max_epochs` times `dcd_epoch`; returns how many.

    Ends once the projected gradients' range is at most `range_tol`, or `max_rows` rows, state[3], are visited.
    """
    for count in range(max_epochs):
        state[3] += state[0]
        dcd_epoch(
            indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state,
            bias, chunk, ZERO, np.uint64(len(indptr)),
        )  # fmt: skip
        if range_of(limits) <= range_tol or state[3] >= max_rows:
            return count + 1
    return max_epochs


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], u8[], f8[], f8[], f8[], f8)", fast=True)
def face_combination(indptr, indices, values, rows, y, factors, v, bias):
    """v = sum_k factors_k y_k x_k over the face."""
    for j in range(np.uint64(len(v))):
        v[j] = 0.0
    for k in range(np.uint64(len(rows))):
        i = rows[k]
        add_multiple(indices, values, v, y[k] * factors[k], indptr[i], indptr[i + ONE], bias)


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], u8[], f8[], f8[], f8[], f8[], f8[], f8)", fast=True)
def face_product(indptr, indices, values, rows, y, diagonal, factors, v, product, bias):
    """product_k = y_k x_k.v + diagonal_k factors_k over the face, v = sum_k factors_k y_k x_k."""
    face_combination(indptr, indices, values, rows, y, factors, v, bias)
    for k in range(np.uint64(len(rows))):
        i = rows[k]
        of_row = product_of_row(indices, values, v, indptr[i], indptr[i + ONE], bias)
        product[k] = y[k] * of_row + diagonal[k] * factors[k]
