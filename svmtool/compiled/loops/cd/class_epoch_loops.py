"""Dual coordinate descent for the Crammer-Singer loss: one epoch over the rows, each with its active classes.

See class_loops.py for the layout of arrays with a number for each class.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.cd.dcd_loops import shuffled, without
from svmtool.compiled.loops.rows.class_loops import FOUR, ONE, THREE, TWO, ZERO, add_row, onto_simplex, scores_of_row
from svmtool.compiled.loops.rows.row_loops import index_at


@helper(fast=True)
def scores_of_classes(indices, values, W, out, classes, at, size, start, stop, bias, wide):
    """out[s] = w_m.x of one row for m = classes[at + s], s < size; may write up to three entries more."""
    last = np.uint64(len(W)) - wide
    for s in range(ZERO, size, FOUR):
        m0 = np.uint64(classes[at + s])
        m1 = np.uint64(classes[at + min(s + ONE, size - ONE)])
        m2 = np.uint64(classes[at + min(s + TWO, size - ONE)])
        m3 = np.uint64(classes[at + min(s + THREE, size - ONE)])
        s0 = s1 = s2 = s3 = 0.0
        if bias >= 0.0:
            s0, s1, s2, s3 = bias * W[last + m0], bias * W[last + m1], bias * W[last + m2], bias * W[last + m3]
        for e in range(start, stop):
            v = values[e]
            j = index_at(indices, e, start) * wide
            s0 += v * W[j + m0]
            s1 += v * W[j + m1]
            s2 += v * W[j + m2]
            s3 += v * W[j + m3]
        out[s] = s0
        out[s + ONE] = s1
        out[s + TWO] = s2
        out[s + THREE] = s3


@helper(fast=True)
def add_classes(indices, values, W, u, classes, at, size, start, stop, bias, wide):
    """w_m += x u[s] for one row x and m = classes[at + s], s < size."""
    last = np.uint64(len(W)) - wide
    for s in range(ZERO, size):
        change = u[s]
        if change == 0.0:
            continue
        m = np.uint64(classes[at + s])
        if bias >= 0.0:
            W[last + m] += bias * change
        for e in range(start, stop):
            W[index_at(indices, e, start) * wide + m] += values[e] * change


@helper(fast=True)
def without_low(scratch, P, classes, at, size, smallest):
    """Shrink the classes with p_m = 0 and G_m (scratch) below `smallest`; returns how many are left."""
    s = ZERO
    while s < size:
        m = classes[at + s]
        if scratch[s] < smallest and P[at + np.uint64(m)] == 0.0:
            size -= ONE
            scratch[s] = scratch[size]
            classes[at + s] = classes[at + size]
            classes[at + size] = m
        else:
            s += ONE
    return size


@helper(fast=True)
def move_row(
    indices, values, W, P, scratch, classes, at, size, own, cost, square_norm, largest, start, stop, bias, wide, few
):  # fmt: skip
    """Minimise over the active classes of one row, see class_epoch; returns the change of C (1 - p_y), y = own.

    scratch: G of the active classes, whose maximum is `largest`.
    """
    rate = 1.0 / max(cost * square_norm, 1e-100)
    for s in range(ZERO, size):
        scratch[s] = P[at + np.uint64(classes[at + s])] + rate * (scratch[s] - largest)
    onto_simplex(scratch, ZERO, size)
    if not few:
        for m in range(wide, TWO * wide):
            scratch[m] = 0.0
    of_own = 0.0
    for s in range(ZERO, size):
        m = np.uint64(classes[at + s])
        p = scratch[s]
        change = cost * (P[at + m] - p)
        if m == own:
            of_own = change
        P[at + m] = p
        scratch[s] = change
        if not few:
            scratch[wide + m] = change
    if few:
        add_classes(indices, values, W, scratch, classes, at, size, start, stop, bias, wide)
    else:
        add_row(indices, values, W, scratch, wide, start, stop, bias, wide)
    return of_own


@loop(
    "void(u8[], u4|u8[], f8|f4|i1|u1[], u8[], f8[], f8[], f8[], f8[], f8[], u4[], u4[], u8[], u8[], f8[], u8[], f8, "
    "u8, u8, u8)",
    fast=True,
)
def class_epoch(
    indptr, indices, values, number, cost, square_norms, P, W, scratch, classes, sizes, active, chunks, limits, state,
    bias, chunk, k, wide,
):  # fmt: skip
    """One epoch of dual coordinate descent; each row's variables are minimised exactly over its active classes.

    a_i = C_i (e_y - p_i) with p_i in the simplex; W = sum x_i a_i' is updated.  For one row the dual is quadratic with
    curvature |x_i|^2 in every direction: the new p_i is the projection of p_i + G / (C_i |x_i|^2) on the simplex,
    G_m = w_m.x_i + [m != y_i].  The violation of a row is max G - min {G_m: p_m > 0}.  A class with p_m = 0 is shrunk
    when its G is below that minimum, and a row when one class is left.  limits[0] receives the largest violation,
    limits[1] the sum of C_i (max G - p_i.G), both at the time of the visit; at the optimum, over all rows and classes,
    this sum is the duality gap.  limits[2] = sum C_i (1 - p_iy) is updated.
    classes[i wide : i wide + sizes[i]]: active classes of row i.  active, chunks, state: as in dcd_loops.dcd_epoch,
    but state[2] is the number of active classes of all rows.  scratch: f8[2 wide].
    """
    rows = state[0]
    violation = gap = 0.0
    gone = np.uint64(len(number))
    shrunk = remaining = ZERO
    n_chunks = (rows + chunk - ONE) // chunk
    state[1] = shuffled(chunks, n_chunks, state[1])
    for c in range(n_chunks):
        drawn = chunks[c]
        for r in range(drawn * chunk, min(rows, (drawn + ONE) * chunk)):
            i = active[r]
            start = indptr[i]
            stop = indptr[i + ONE]
            at = i * wide
            size = np.uint64(sizes[i])
            few = FOUR * size <= wide  # four adjacent classes take as long as a single one
            if few:
                scores_of_classes(indices, values, W, scratch, classes, at, size, start, stop, bias, wide)
            else:
                scores_of_row(indices, values, W, scratch, wide, start, stop, bias, wide)
                for s in range(ZERO, size):
                    scratch[s] = scratch[wide + np.uint64(classes[at + s])]
            largest = -np.inf
            smallest = lowest = np.inf
            mean = 0.0
            for s in range(ZERO, size):
                m = np.uint64(classes[at + s])
                g = scratch[s] + (0.0 if m == number[i] else 1.0)
                scratch[s] = g
                p = P[at + m]
                largest = max(largest, g)
                lowest = min(lowest, g)
                smallest = min(smallest, g if p > 0.0 else np.inf)
                mean += p * g
            if lowest < smallest:
                size = without_low(scratch, P, classes, at, size, smallest)
            sizes[i] = size
            if size <= ONE:
                active[r] = gone
                shrunk += ONE
                continue
            remaining += size
            violation = max(violation, largest - smallest)
            gap += cost[i] * (largest - mean)
            if largest - smallest > 1e-12:
                limits[2] += move_row(
                    indices, values, W, P, scratch, classes, at, size, number[i], cost[i], square_norms[i], largest,
                    start, stop, bias, wide, few,
                )  # fmt: skip
    limits[0], limits[1] = violation, gap
    state[0] = without(active, rows, gone) if shrunk > ZERO else rows
    state[2] = remaining
