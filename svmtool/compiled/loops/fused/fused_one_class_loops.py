"""Fused solve of the one-class SVM on a small set: calls from Python would cost more than its steps.

The same steps as solvers/one_class.py with objectives/one_class.py, built from the same helpers; tests hold them equal.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.cd.pair_loops import best_rho_of, do_rounds
from svmtool.compiled.loops.fused.fused_mfn_loops import dot
from svmtool.compiled.loops.rows.row_loops import ONE, row_dot
from svmtool.compiled.loops.rows.solve_loops import factor_in_place, solve_factored

FIELDS = 5  # of a record: primal value, dual value, gap, violation, support vectors
ZERO = np.uint64(0)


@helper(fast=True)
def sum_of_rows(indptr, indices, values, alpha, w):
    """w = sum_i alpha_i x_i"""
    for j in range(len(w)):
        w[j] = 0.0
    for i in range(len(alpha)):
        if alpha[i] != 0.0:
            for e in range(indptr[i], indptr[i + ONE]):
                w[indices[e]] += alpha[i] * values[e]


@helper(fast=True)
def settle_face(indptr, indices, values, upper, alpha, w, z, scratch, used, face, most, dependent):
    """OneClassDescent.settle: returns 1 where anything was done, -1 where more than `most` rows or rounding forbid it.

    used: scratch of n; face: of 2 most^2 + 4 most.
    """
    m = 0
    for i in range(len(alpha)):
        if alpha[i] > 0.0 and alpha[i] < upper[i]:
            used[m] = i
            m += 1
    if m < 2:
        return 0
    if m > most:
        return -1
    Q = face[: m * m]
    factor = face[m * m : 2 * m * m]
    by_z = face[2 * m * m : 2 * m * m + m]
    by_one = face[2 * m * m + m : 2 * m * m + 2 * m]
    reached = face[2 * m * m + 2 * m : 2 * m * m + 3 * m]
    ones = face[2 * m * m + 3 * m : 2 * m * m + 4 * m]
    largest = 0.0
    for a in range(m):
        start = indptr[used[a]]
        stop = indptr[used[a] + ONE]
        for e in range(start, stop):
            scratch[indices[e]] = values[e]
        for b in range(a, m):
            Q[a * m + b] = row_dot(indices, values, scratch, indptr[used[b]], indptr[used[b] + ONE])
            Q[b * m + a] = Q[a * m + b]
        for e in range(start, stop):
            scratch[indices[e]] = 0.0
        Q[a * m + a] *= 1.0 + dependent
        largest = max(largest, Q[a * m + a])
        reached[a] = z[used[a]]
        ones[a] = 1.0
    if largest == 0.0:
        return 0
    left = m
    while left > 1:
        for a in range(left):
            for b in range(a, left):
                factor[a * left + b] = Q[a * m + b]
        if factor_in_place(factor, left):
            return -1
        solve_factored(factor, reached, by_z, left)
        solve_factored(factor, ones, by_one, left)
        sum_z = sum_one = 0.0
        for a in range(left):
            sum_z += by_z[a]
            sum_one += by_one[a]
        part = np.inf
        first = 0
        for a in range(left):
            i = used[a]
            step = by_one[a] * (sum_z / sum_one) - by_z[a]
            by_z[a] = step
            room = upper[i] - alpha[i] if step > 0.0 else alpha[i]
            if step != 0.0 and room / abs(step) < part:
                part = room / abs(step)
                first = a
        t = min(part, 1.0)
        for a in range(left):
            i = used[a]
            alpha[i] = min(max(alpha[i] + t * by_z[a], 0.0), upper[i])
        if t == 1.0:
            break
        i = used[first]
        alpha[i] = upper[i] if by_z[first] > 0.0 else 0.0
        for a in range(left):
            reached[a] += t * dot(Q[a * m : a * m + left], by_z[:left])
        left -= 1
        for a in range(first, left):
            used[a] = used[a + 1]
            reached[a] = reached[a + 1]
            for b in range(left + 1):
                Q[a * m + b] = Q[(a + 1) * m + b]
        for a in range(left):
            for b in range(first, left):
                Q[a * m + b] = Q[a * m + b + 1]
    sum_of_rows(indptr, indices, values, alpha, w)
    return 1


@loop(
    "i8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], f8[], "
    "f8, f8, f8, f8, f8, f8, i8, i8, i8)"
)  # fmt: skip
def small_pairs(
    indptr, indices, values, upper, alpha, w, out, work, rows, history, k, enough, gap, floor, exact, dependent,
    face_rows, some, most,
):  # fmt: skip
    """From the vertex of the first rows: rounds, `some` between two passes over all rows, at most about `most` in all.

    Returns why it ended: 0 what is left is for solvers/one_class.py to do, from alpha and w; 1 the gap is `exact`,
    2 it is <= `gap` and the violation <= `enough`.  Then w is the best multiple and out[0] the best rho; 0 < k < sum U.
    out[1], out[2] = rounds, records.  history: FIELDS numbers a record, as many as there is space for.
    work: 2 n + d + 8 + 2 face_rows^2 + 4 face_rows; rows: 3 n.
    """
    n = len(alpha)
    d = len(w)
    z = work[:n]
    square_norms = work[n : 2 * n]
    scratch = work[2 * n : 2 * n + d]
    state = work[2 * n + d : 2 * n + d + 8]
    face = work[2 * n + d + 8 :]
    active = rows[:n]
    up = rows[n : 2 * n]
    down = rows[2 * n : 3 * n]
    left = k
    total = size = 0.0
    for i in range(n):
        row = values[indptr[i] : indptr[i + ONE]]
        square_norms[i] = dot(row, row)
        size += upper[i] * square_norms[i]
        total += upper[i]
        alpha[i] = min(max(left, 0.0), upper[i])
        left -= upper[i]
    scale = floor * 0.5 * k * k * size / total
    for j in range(d):
        scratch[j] = 0.0
    sum_of_rows(indptr, indices, values, alpha, w)
    state[6] = 0.0
    slow = False
    code = 0
    records = 0
    while (records + 1) * FIELDS <= len(history):
        for i in range(n):
            active[i] = i
        state[0] = n
        state[1] = 0.0
        done = do_rounds(
            indptr, indices, values, upper, square_norms, alpha, w, z, scratch, active, up, down, state, enough, gap,
            scale, ZERO,
        )  # fmt: skip
        primal = state[4]
        dual = 0.0 - 0.5 * state[5]
        size = max(-primal, scale)
        difference = max(primal - dual, 0.0)
        relative = difference / size if size > 0.0 else 0.0 if difference == 0.0 else np.inf
        support = 0.0
        for i in range(n):
            support += 1.0 if alpha[i] != 0.0 else 0.0
        at = records * FIELDS
        history[at] = primal
        history[at + 1] = dual
        history[at + 2] = relative
        history[at + 3] = max(state[3] - state[2], 0.0)
        history[at + 4] = support
        records += 1
        if done == 1:
            code = 2
            break
        if relative <= exact:
            code = 1
            break
        if state[6] >= most:
            break
        if slow:
            slow = False
            settled = settle_face(
                indptr, indices, values, upper, alpha, w, z, scratch, up, face, face_rows, dependent
            )  # fmt: skip
            if settled < 0:
                break
            if settled > 0:
                continue
        slow = 0 == do_rounds(
            indptr, indices, values, upper, square_norms, alpha, w, z, scratch, active, up, down, state, enough, gap,
            scale, np.uint64(min(some, most - np.int64(state[6]))),
        )  # fmt: skip
    if code > 0:
        best_rho_of(z, upper, up, out, k, state[2], state[3])
        square = dot(w, w)
        t = max(out[1], 0.0) / square if square > 0.0 else 1.0
        out[0] *= t
        for j in range(d):
            w[j] *= t
    out[1] = state[6]
    out[2] = records
    return code
