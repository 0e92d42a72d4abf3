"""Pass of FALSVM over the rows; see solvers/falsvm.py."""

import numpy as np

from svmtool.compiled import loop
from svmtool.compiled.loops.rows.row_loops import ONE, product_of_row


@loop("u8(u8[], u4|u8[], f8|f4[], u8[], f8[], f8[], u8[], f8[], f8[], f8[], u8[], f8, u8, u8, u8)", fast=True)
def falsvm_rows(indptr, indices, values, order, y, cost, taken, w, P, Z, state, bias, d, lo, hi):
    """Add the rows among order[lo] .. order[hi-1] that w misclassifies; returns the position where it stopped.

    (I + 2 sum c x x')^-1 of the rows added so far is P - Z'Z, P symmetric (d x d), Z with state[0] rows; stops before a
    row to add when Z is full.  state[1]: rows added in total; taken: how often each; state[2]: whether w is not 0.
    bias < 0: no bias feature; else its weight is the last.
    """
    capacity = np.uint64(len(Z)) // d
    last = d - ONE
    for r in range(lo, hi):
        i = order[r]
        start = indptr[i]
        stop = indptr[i + ONE]
        product = product_of_row(indices, values, w, start, stop, bias)
        if state[2] > 0 and y[i] * product >= 0.0:
            continue
        rank = state[0]
        if rank == capacity:
            return r
        # q = (P - Z'Z) x, a = 2 c x.q
        q = Z[rank * d : (rank + ONE) * d]
        for j in range(d):
            q[j] = 0.0
        for k in range(start, stop):
            v = values[k]
            row = np.uint64(indices[k]) * d
            for j in range(d):
                q[j] += v * P[row + j]
        if bias >= 0.0:
            for j in range(d):
                q[j] += bias * P[last * d + j]
        for b in range(rank):
            z = Z[b * d : (b + ONE) * d]
            t = product_of_row(indices, values, z, start, stop, bias)
            for j in range(d):
                q[j] -= t * z[j]
        a = product_of_row(indices, values, q, start, stop, bias) * 2.0 * cost[i]
        step = 2.0 * cost[i] / (1.0 + a) * (y[i] - product)
        root = np.sqrt(2.0 * cost[i] / (1.0 + a))
        for j in range(d):
            w[j] += step * q[j]
            q[j] *= root
        state[0] = rank + ONE
        state[1] += ONE
        taken[i] += ONE
        if a > 0.0:
            state[2] = ONE
    return hi
