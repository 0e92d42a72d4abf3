"""Dual coordinate descent for the squared hinge (Hsieh et al., ICML 2008, Algorithms 1 and 3).

min_alpha>=0  1/2 |sum_i alpha_i y_i x_i|^2 + sum_i alpha_i^2 / (4 C_i) - sum_i alpha_i
"""

import numpy as np

from svmtool.compiled import loop

ONE = np.uint64(1)


@loop("void(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], f8[], u8[], f8)", fast=True)
def dcd_pass(indptr, indices, values, y, diagonal, square_norms, alpha, w, order, limits, state, bias):
    """One pass over the rows order[:state[0]] in random order, with shrinking.

    diagonal_i = 1 / (2 C_i); square_norms_i = |x_i|^2 with the bias feature; w (d, plus the bias's
    weight where bias >= 0) = sum alpha_i y_i x_i is kept up to date.  limits[0] is the shrinking
    threshold on the projected gradient; limits[1], limits[2] receive its largest and smallest value
    in this pass.  state[0] = rows not shrunk (in: all to be visited, out: those left), state[1] = random state;
    state[2] = 0: keep the order given, 1: draw a new one.
    """
    active = state[0]
    random = state[1]
    largest = -np.inf
    smallest = np.inf
    threshold = limits[0]
    draw = state[2] != 0
    at_bias = np.uint64(len(w) - 1)
    s = np.uint64(0)
    while s < active:
        j = s
        if draw:
            random ^= random << np.uint64(13)  # xorshift64: the rows still to come in random order
            random ^= random >> np.uint64(7)
            random ^= random << np.uint64(17)
            j = s + (random >> ONE) % (active - s)
        i = order[j]
        order[j] = order[s]
        order[s] = i
        start = indptr[i]
        stop = indptr[i + ONE]
        total = 0.0
        for k in range(start, stop):
            total += values[k] * w[indices[k]]
        if bias >= 0.0:
            total += bias * w[at_bias]
        gradient = y[i] * total - 1.0 + alpha[i] * diagonal[i]
        projected = gradient
        if alpha[i] == 0.0:
            if gradient > threshold:  # shrink: this row will stay at zero
                active -= ONE
                order[s] = order[active]
                order[active] = i
                continue
            if gradient > 0.0:
                projected = 0.0
        if projected > largest:
            largest = projected
        if projected < smallest:
            smallest = projected
        if abs(projected) > 1e-12:
            old = alpha[i]
            alpha[i] = max(old - gradient / (square_norms[i] + diagonal[i]), 0.0)
            t = (alpha[i] - old) * y[i]
            for k in range(start, stop):
                w[indices[k]] += t * values[k]
            if bias >= 0.0:
                w[at_bias] += t * bias
        s += ONE
    limits[1] = largest
    limits[2] = smallest
    state[0] = active
    state[1] = random
