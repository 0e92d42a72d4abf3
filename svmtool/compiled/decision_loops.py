"""Loops of prediction: decision values, labels, probabilities, sums of errors, and the text of a model's weights.

Sums run in the order of the file, without contraction: the last bit of a
decision value is the one that LIBLINEAR's predict computes.
"""

import math

from svmtool.compiled import loop
from svmtool.compiled.text_loops import number


@loop("void(i8[], i4[], f8[], f8[], f8[], i8, i8, f8, f8, i8, i8)")
def decide(indptr, indices, values, W, out, columns, n_features, bias, rho, first, last):
    """out[i, :] = x_i W + bias W[n_features] - rho for rows first <= i < last.

    W is (n_features [+ 1], columns) row by row, out (rows, columns).  Indices
    ascend; those the model does not know are left out.  bias < 0: none.
    """
    if columns == 1:
        for i in range(first, last):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j >= n_features:
                    break
                total += W[j] * values[k]
            if bias >= 0:
                total += W[n_features] * bias
            out[i] = total - rho
        return
    for i in range(first, last):
        base = i * columns
        for c in range(columns):
            out[base + c] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j >= n_features:
                break
            v = values[k]
            at = j * columns
            for c in range(columns):
                out[base + c] += W[at + c] * v
        if bias >= 0:
            at = n_features * columns
            for c in range(columns):
                out[base + c] += W[at + c] * bias
        for c in range(columns):
            out[base + c] -= rho


@loop("void(f8[], i8[], i8, i8, i8)")
def choose(decisions, out, columns, by_sign, n):
    """out[i] = place of the winning class in the model's order.

    by_sign: the first class where the first column is above 0, else the second (NaN and 0 too).
    Otherwise the first largest column; a NaN never wins over what stands before it.
    """
    for i in range(n):
        base = i * columns
        if by_sign:
            out[i] = 0 if decisions[base] > 0 else 1
        else:
            best = 0
            for c in range(1, columns):
                if decisions[base + c] > decisions[base + best]:
                    best = c
            out[i] = best


@loop("void(f8[], f8[], i8, i8, i8)")
def logistic(decisions, out, columns, classes, n):
    """Probabilities (n, classes) from decision values (n, columns).

    Two classes: 1 / (1 + exp(-d)) and what is left.  Otherwise each class's value over their sum.
    """
    for i in range(n):
        if classes == 2:
            p = 1.0 / (1.0 + math.exp(-decisions[i * columns]))
            out[2 * i] = p
            out[2 * i + 1] = 1.0 - p
        else:
            total = 0.0
            for c in range(classes):
                p = 1.0 / (1.0 + math.exp(-decisions[i * columns + c]))
                out[i * classes + c] = p
                total += p
            for c in range(classes):
                out[i * classes + c] /= total


@loop("void(f8[], f8[], f8[], i8)")
def add_errors(labels, predictions, sums, n):
    """Add n rows to sums: squared error, sums of p, y, p^2, y^2, p y, and absolute error, row after row."""
    for i in range(n):
        p = predictions[i]
        y = labels[i]
        sums[0] += (p - y) * (p - y)
        sums[1] += p
        sums[2] += y
        sums[3] += p * p
        sums[4] += y * y
        sums[5] += p * y
        sums[6] += abs(p - y)


@loop("i8(u1[], u1[], i8)")
def break_lines(text, out, columns):
    """Copy text, with a line end after every `columns`-th blank; the number of bytes written is returned."""
    written = 0
    left = columns
    for k in range(text.size):
        c = text[k]
        out[written] = c
        written += 1
        if c == 32:
            left -= 1
            if left == 0:
                out[written] = 10
                written += 1
                left = columns
    return written


@loop("i8(u1[], f8[], i8[], i8)")
def parse_reals(text, out, state, stop):
    """Read blank-separated numbers from text[state[0]:stop] into out[state[1]:], until it is full.

    Returns 0 when `out` is full, 1 at the start of a token that only slower code
    understands (or that is no number), 2 where the text ends first.  32 bytes must lie behind the text.
    """
    p, k = state[0], state[1]
    status = 0
    while k < out.size:
        while p < stop and (text[p] == 32 or 9 <= text[p] <= 13):
            p += 1
        if p >= stop:
            status = 2
            break
        value, q, fine = number(text, p)
        if not fine or q > stop or not (q == stop or text[q] == 32 or 9 <= text[q] <= 13):
            status = 1
            break
        out[k] = value
        k += 1
        p = q
    state[0], state[1] = p, k
    return status
