"""Loops of prediction: decision values from rows or directly from text, votes, labels and probabilities.

Sums are in the order of the file, without contraction: decision values have the same bits as LIBLINEAR's predict.
"""

import math

from svmtool.compiled import _library, helper, loop
from svmtool.compiled.loops.text.text_loops import (
    BLANK,
    LINE_END,
    TAB,
    UNUSUAL,
    label_at,
    number,
    pair_at,
)

if _library is None:
    from numpy import uint64

    from svmtool.compiled.loops.text.power_table import load8

FOUR_ZEROS = int.from_bytes(b"0 0 0 0 ", "little")  # models of many classes consist of such mostly
MIN_PROBABILITY = 1e-7  # smallest probability of a pair of classes


@helper
def add_row(out, base, W, at, columns, value):
    """out[base + k] += W[at + k] value for all columns; unsigned indices allow vectorisation."""
    first, second = uint64(base), uint64(at)
    for k in range(uint64(columns)):
        out[first + k] += W[second + k] * value


@helper
def add_feature(out, base, starts, labels, W, j, columns, value):
    """out[base + k] += W[j, k] value for all columns, or those of feature j in labels[starts[j]:starts[j + 1]]."""
    at, stop = j * columns, (j + 1) * columns
    if len(starts) > 0:
        at, stop = starts[j], starts[j + 1]
    if stop - at == columns:
        add_row(out, base, W, at, columns, value)
        return
    for t in range(uint64(at), uint64(stop)):
        out[uint64(base + labels[t])] += W[t] * value


@loop("i8(i8[], i4[], f8[], i8)")
def sparse_fault(starts, labels, W, columns):
    """Return the first feature whose weights are no finite numbers of ascending columns; -1 for none.

    starts[0] is 0 and starts[-1] the number of weights.
    """
    for j in range(len(starts) - 1):
        if starts[j] < 0 or starts[j + 1] < starts[j] or starts[j + 1] > len(labels):
            return j
        previous = -1
        for t in range(starts[j], starts[j + 1]):
            if labels[t] <= previous or labels[t] >= columns or not math.isfinite(W[t]):
                return j
            previous = labels[t]
    return -1


@loop("void(i8[], i4|i8[], f8|f4[], i8[], i4[], f8[], f8[], i8, i8, f8, f8, i8, i8)")
def decide(indptr, indices, values, starts, labels, W, out, columns, n_features, bias, rho, first, last):
    """out[i, :] = x_i W + bias W[n_features] - rho for rows first <= i < last.

    W is (n_features [+ 1], columns), or its values other than zero, see `add_feature`; out (rows, columns).  Indices
    ascend; those beyond the model are skipped.  bias < 0: no bias.
    """
    if columns == 1 and len(starts) == 0:
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
            add_feature(out, base, starts, labels, W, j, columns, values[k])
        if bias >= 0:
            add_feature(out, base, starts, labels, W, n_features, columns, bias)
        for c in range(columns):
            out[base + c] -= rho


@loop("void(f8[], i8[], i8, i8, i8)")
def choose(decisions, out, columns, by_sign, n):
    """out[i] = index of the predicted class in the model's order.

    by_sign: the first class if the first column is above 0, else the second (also for NaN and 0).
    Otherwise the first largest column; a NaN never replaces an earlier column.
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


@loop("void(f8[], f8[], i8[], i8[], i8)")
def count_hits(labels, names, places, counts, n):
    """Count the rows with a label, with one of the labels `names`, and with the predicted one, names[places[i]].

    counts: gets these numbers added.  A label nan is none.
    """
    for i in range(n):
        label = labels[i]
        counts[0] += label == label
        known = label == names[places[i]]
        counts[2] += known
        for k in range(len(names)):
            if known:
                break
            known = label == names[k]
        counts[1] += known


@loop("void(f8[], f8[], i8, i8, i8)")
def logistic(decisions, out, columns, classes, n):
    """Probabilities (n, classes) from decision values (n, columns).

    Two classes: 1 / (1 + exp(-d)) and 1 minus that.  Otherwise each class's value divided by their sum.
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


@loop("i8(u1[], i8, i8)")
def count_tokens(text, start, stop):
    """How many tokens text[start:stop] has; blanks and control characters are between them."""
    found = 1 if start < stop and text[start] > BLANK else 0
    for position in range(start, stop - 1, 128):  # in strips of 128, whose counts fit into bytes
        n = min(128, stop - 1 - position)
        these, following = text[position : position + n], text[position + 1 : position + 1 + n]
        begun = 0
        for i in range(n):
            begun += (these[i] <= BLANK) & (following[i] > BLANK)
        found += begun
    return found


@loop("i8(u1[], f8[], i8[], i8)")
def parse_reals(text, out, state, stop):
    """Read blank-separated numbers from text[state[0]:stop] into out[state[1]:], until it is full.

    Returns 0 when `out` is full, 1 at the start of a token for slower code (or that is not a number), 2 at the end of
    the text.  The text must be followed by 32 bytes.  `out` is initially 0 and zeros (except -0) are not written, so
    that untouched pages take no memory.
    """
    p, k = state[0], state[1]
    status = 0
    while k < out.size:
        while p < stop and (text[p] == 32 or 9 <= text[p] <= 13):
            p += 1
        if p + 8 <= stop and k + 4 <= out.size and load8(text, p) == FOUR_ZEROS:
            p += 8
            k += 4
            continue
        if p >= stop:
            status = 2
            break
        value, q, fine = number(text, p)
        if not fine or q > stop or not (q == stop or text[q] == 32 or 9 <= text[q] <= 13):
            status = 1
            break
        if value != 0.0 or math.copysign(1.0, value) < 0.0:
            out[k] = value
        k += 1
        p = q
    state[0], state[1] = p, k
    return status


@loop("i8(u1[], i8[], i4[], f8[], f8[], f8[], i8[], i8, i8, f8, f8, i8, i8)")
def score_lines(text, starts, places, W, labels, decisions, state, columns, n_features, bias, rho, stop, form):
    """Labels and decision values of the lines of text[state[0]:stop], whole lines, into the rows from state[1] on.

    Rows are not stored; the sums are those of `decide`, whose labels are `places` here.  state (position, row, largest
    index) is updated line by line.  Returns 0 at the end of the text, 1 at the start of a line that is not of the
    ordinary form (see text_loops).  `labels` has space for each line.  form: see LABELLED of text_loops.
    """
    p, row, largest = state[0], state[1], state[2]
    alone = columns == 1 and len(starts) == 0
    while p < stop:
        state[0], state[1], state[2] = p, row, largest
        while text[p] == BLANK or text[p] == TAB:
            p += 1
        labels[row], p, fine = label_at(text, p, form)
        if not fine:
            return 1
        base = row * columns
        total = 0.0
        for k in range(columns):
            decisions[base + k] = 0.0
        previous = 0
        while True:
            index, value, p, found = pair_at(text, p)
            if found == LINE_END:
                break
            if found == UNUSUAL or index <= previous:
                return 1
            previous = index
            if index <= n_features:
                if alone:
                    total += W[index - 1] * value
                else:
                    add_feature(decisions, base, starts, places, W, index - 1, columns, value)
        if alone:
            decisions[base] = total
        if bias >= 0:
            add_feature(decisions, base, starts, places, W, n_features, columns, bias)
        for k in range(columns):
            decisions[base + k] -= rho
        if previous > largest:
            largest = previous
        p += 1
        row += 1
    state[0], state[1], state[2] = p, row, largest
    return 0


@loop("void(f8[], i8[], i8[], i8, i8)")
def vote(decisions, votes, out, classes, n):
    """out[i] = the class with most votes of pairs; the first of several.

    A value above 0 is a vote for the pair's first class, any other (also 0 and NaN) for the second.  votes: scratch,
    `classes` numbers.
    """
    pair = 0
    for r in range(n):
        for c in range(classes):
            votes[c] = 0
        for i in range(classes):
            for j in range(i + 1, classes):
                votes[i if decisions[pair] > 0.0 else j] += 1
                pair += 1
        best = 0
        for c in range(1, classes):
            if votes[c] > votes[best]:
                best = c
        out[r] = best


@helper
def pair_probability(f, A, B):
    """1 / (1 + exp(A f + B)) without overflow, between MIN_PROBABILITY and 1 - MIN_PROBABILITY."""
    t = f * A + B
    p = math.exp(-t) / (1.0 + math.exp(-t)) if t >= 0.0 else 1.0 / (1.0 + math.exp(t))
    p = p if p > MIN_PROBABILITY else MIN_PROBABILITY  # also for NaN
    return p if p < 1.0 - MIN_PROBABILITY else 1.0 - MIN_PROBABILITY


@loop("i8(f8[], f8[], f8[], f8[], f8[], i8, i8)")
def couple(decisions, A, B, out, scratch, classes, n):
    """Probabilities (n, classes) of rows from decision values (n, pairs); returns how many rows did not converge.

    Two classes: the pair's probability.  More: the p that minimises the sum over pairs of (r_ji p_i - r_ij p_j)^2, r_ij
    the probability of i among i and j, by sweeps over Qp = (p'Qp) 1 with LIBSVM's tolerance.
    scratch: classes * (2 classes + 1) numbers.
    Paper: Wu, Lin and Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling, Journal of
    Machine Learning Research 5 (2004) 975-1005, Algorithm 2.
    """
    tolerance = 0.005 / classes
    pairs = len(A)
    missed = 0
    for row in range(n):
        p = out[row * classes : (row + 1) * classes]
        if classes == 2:
            p[0] = pair_probability(decisions[row], A[0], B[0])
            p[1] = 1.0 - p[0]
            continue
        r, Q, Qp = scratch[: classes * classes], scratch[classes * classes : -classes], scratch[-classes:]
        pair = 0
        for i in range(classes):
            p[i] = 1.0 / classes
            for j in range(i + 1, classes):
                r[i * classes + j] = pair_probability(decisions[row * pairs + pair], A[pair], B[pair])
                r[j * classes + i] = 1.0 - r[i * classes + j]
                pair += 1
        for t in range(classes):
            Q[t * classes + t] = 0.0
            for j in range(classes):
                if j != t:
                    Q[t * classes + t] += r[j * classes + t] * r[j * classes + t]
                    Q[t * classes + j] = -r[j * classes + t] * r[t * classes + j]
        converged = False
        for _ in range(max(100, classes)):
            pQp = 0.0
            for t in range(classes):
                Qp[t] = 0.0
                for j in range(classes):
                    Qp[t] += Q[t * classes + j] * p[j]
                pQp += p[t] * Qp[t]
            error = 0.0
            for t in range(classes):
                error = max(error, abs(Qp[t] - pQp))
            if error < tolerance:
                converged = True
                break
            for t in range(classes):
                step = (pQp - Qp[t]) / Q[t * classes + t]
                p[t] += step
                pQp = (pQp + step * (step * Q[t * classes + t] + 2.0 * Qp[t])) / (1.0 + step) / (1.0 + step)
                for j in range(classes):
                    Qp[j] = (Qp[j] + step * Q[t * classes + j]) / (1.0 + step)
                    p[j] /= 1.0 + step
        missed += not converged
    return missed
