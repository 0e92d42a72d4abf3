"""Dual coordinate descent for the hinge and its square (Hsieh et al., ICML 2008, Algorithms 1 and 3).

min over 0 <= alpha_i <= U_i of  1/2 |sum_i alpha_i y_i x_i|^2 + 1/2 sum_i D_i alpha_i^2 - sum_i t_i alpha_i

Twice as many variables as rows are the two sides of a tube (training/reductions/regression.py): i with sign +1 and i +
rows with
-1 belong to row i.  No sum of the two is better than one of them alone, so that a row is visited once for both (Ho and
Lin, Large-scale Linear Support Vector Regression, JMLR 13 (2012), Algorithm 4).
"""

import numpy as np

from svmtool.compiled import helper, loop

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
ROOM = 0.3  # tubes: rows leave beyond this share of the thresholds, which the first rows of a pass make too wide


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


@helper(fast=True)
def product(indices, values, w, start, stop):
    """x.w of one short row, in two sums: neither waits for the other, which is what takes the time."""
    total = other = 0.0
    k = start
    while k + ONE < stop:
        total += values[k] * w[indices[k]]
        other += values[k + ONE] * w[indices[k + ONE]]
        k += TWO
    if k < stop:
        total += values[k] * w[indices[k]]
    return total + other


@helper
def without(active, rows, gone):
    """Take the entries `gone` out of active[:rows]; returns how many are left."""
    at = np.uint64(0)
    for s in range(rows):
        if active[s] != gone:
            active[at] = active[s]
            at += ONE
    return at


@helper
def begin(n_chunks, chunks, limits, state):
    """A new pass: its order, and nothing found so far."""
    state[1] = shuffled(chunks, n_chunks, state[1])
    state[2] = ZERO
    limits[2] = -np.inf
    limits[3] = np.inf
    limits[4] = 0.0


@helper(fast=True)
def visit_rows(
    indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, first, last,
):  # fmt: skip
    """The places first .. last - 1 of one pass over the active variables, with shrinking; a pass is over when `last`
    has come to its number of chunks, each of which has a place in a random order.

    target is t, diagonal D, upper U; square_norms_i = |x_i|^2 with the bias feature; w (d, plus the bias's
    weight where bias >= 0) = sum alpha_i y_i x_i is kept up to date.  active[:state[0]] are the rows to
    be visited, ascending; those that leave are taken out and state[0] lowered.  `chunk` of them
    that follow each other are visited in turn: neighbours in memory come faster than rows drawn one by
    one.  chunks is scratch (one entry a chunk), state[1] the random state; during a pass state[2] is how many leave.
    limits[0], limits[1] are the shrinking thresholds on the gradient at the lower and the upper end; limits[2],
    limits[3] receive the projected gradient's largest and smallest value in this pass."""
    rows = state[0]
    n_chunks = (rows + chunk - ONE) // chunk
    if first == ZERO:
        begin(n_chunks, chunks, limits, state)
    largest = limits[2]
    smallest = limits[3]
    above, below = limits[0], limits[1]
    at_bias = np.uint64(len(w) - 1)
    gone = np.uint64(len(y))  # marks a row that leaves
    left = state[2]
    for c in range(first, min(last, n_chunks)):
        drawn = chunks[c]
        for s in range(drawn * chunk, min(rows, (drawn + ONE) * chunk)):
            i = active[s]
            start = indptr[i]
            stop = indptr[i + ONE]
            total = 0.0
            for k in range(start, stop):
                total += values[k] * w[indices[k]]
            if bias >= 0.0:
                total += bias * w[at_bias]
            gradient = y[i] * total - target[i] + alpha[i] * diagonal[i]
            projected = gradient
            if alpha[i] == 0.0:
                if gradient > above:  # shrink: this row will stay at zero
                    active[s] = gone
                    left += ONE
                    continue
                if gradient > 0.0:
                    projected = 0.0
            elif alpha[i] >= upper[i]:
                if gradient < below:  # and this one at its upper end
                    active[s] = gone
                    left += ONE
                    continue
                if gradient < 0.0:
                    projected = 0.0
            if projected > largest:
                largest = projected
            if projected < smallest:
                smallest = projected
            if abs(projected) > 1e-12:
                old = alpha[i]
                alpha[i] = min(max(old - gradient / max(square_norms[i] + diagonal[i], 1e-300), 0.0), upper[i])
                t = (alpha[i] - old) * y[i]
                for k in range(start, stop):
                    w[indices[k]] += t * values[k]
                if bias >= 0.0:
                    w[at_bias] += t * bias
    limits[2] = largest
    limits[3] = smallest
    state[2] = left
    if last >= n_chunks and left > ZERO:
        state[0] = without(active, rows, gone)


@helper(fast=True)
def visit_tubes(
    indptr, indices, values, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, first, last,
):  # fmt: skip
    """`visit_rows` for tubes: target and alpha have two entries a row, upper and lower side; square_norms one.

    The thresholds count ROOM times.  diagonal and upper are alike on both sides, of which at most one is above zero
    at first and ever after.  limits[4] receives the sum of the projected gradients' sizes in this pass."""
    rows = state[0]
    n_chunks = (rows + chunk - ONE) // chunk
    if first == ZERO:
        begin(n_chunks, chunks, limits, state)
    largest = limits[2]
    smallest = limits[3]
    size = limits[4]
    above, below = ROOM * limits[0], ROOM * limits[1]
    at_bias = np.uint64(len(w) - 1)
    of_data = np.uint64(len(indptr)) - ONE
    gone = of_data  # marks a row that leaves
    left = state[2]
    for c in range(first, min(last, n_chunks)):
        drawn = chunks[c]
        for s in range(drawn * chunk, min(rows, (drawn + ONE) * chunk)):
            i = active[s]
            start = indptr[i]
            stop = indptr[i + ONE]
            total = product(indices, values, w, start, stop)
            if bias >= 0.0:
                total += bias * w[at_bias]
            old = alpha[i] - alpha[i + of_data]
            total += diagonal[i] * old
            over = total - target[i]  # the slope in alpha_i - alpha'_i above zero, ...
            under = total + target[i + of_data]  # ... which is the larger one, and below
            if old == 0.0:
                if over > above and under < -above:  # shrink: this row will stay within its tube
                    active[s] = gone
                    left += ONE
                    continue
                projected = min(over, -under, 0.0)
            else:
                projected = over if old > 0.0 else -under
                if abs(old) >= upper[i]:
                    if projected < below:  # and this one outside of it
                        active[s] = gone
                        left += ONE
                        continue
                    projected = max(projected, 0.0)
            size += abs(projected)
            if projected > largest:
                largest = projected
            if projected < smallest:
                smallest = projected
            if abs(projected) > 1e-12:
                bend = max(square_norms[i] + diagonal[i], 1e-300)
                up = min(max(old - over / bend, 0.0), upper[i])
                down = min(max(under / bend - old, 0.0), upper[i])
                alpha[i] = up
                alpha[i + of_data] = down
                t = up - down - old
                for k in range(start, stop):
                    w[indices[k]] += t * values[k]
                if bias >= 0.0:
                    w[at_bias] += t * bias
    limits[2] = largest
    limits[3] = smallest
    limits[4] = size
    state[2] = left
    if last >= n_chunks and left > ZERO:
        state[0] = without(active, rows, gone)


@loop(
    "void(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], u8[], f8, u8, u8, u8)",
    fast=True,
)
def dcd_pass(
    indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, first, last,
):  # fmt: skip
    """`visit_rows`."""
    visit_rows(
        indptr, indices, values, y, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state,
        bias, chunk, first, last,
    )  # fmt: skip


@loop("void(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], u8[], f8, u8, u8, u8)", fast=True)
def tube_pass(
    indptr, indices, values, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
    chunk, first, last,
):  # fmt: skip
    """`visit_tubes`."""
    visit_tubes(
        indptr, indices, values, target, diagonal, upper, square_norms, alpha, w, active, chunks, limits, state, bias,
        chunk, first, last,
    )  # fmt: skip
