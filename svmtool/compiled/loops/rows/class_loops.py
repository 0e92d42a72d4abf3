"""Rows with a number for each of k classes: products with a weight matrix, and the Crammer-Singer loss.

Arrays with k numbers for each row or feature are padded to `wide` numbers, a multiple of four, so that loops over
classes are vectorised by four.  The last row of weights is that of the bias where bias >= 0.  Rows are as of row_dot.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import FOUR, ONE, THREE, TWO, ZERO, index_at


@helper(fast=True)
def scores_of_row(indices, values, W, out, at, start, stop, bias, wide):
    """out[at : at + wide] = W'x of one row."""
    last = np.uint64(len(W)) - wide
    for m in range(ZERO, wide, FOUR):
        s0 = s1 = s2 = s3 = 0.0
        if bias >= 0.0:
            j = last + m
            s0, s1, s2, s3 = bias * W[j], bias * W[j + ONE], bias * W[j + TWO], bias * W[j + THREE]
        for e in range(start, stop):
            v = values[e]
            j = index_at(indices, e, start) * wide + m
            s0 += v * W[j]
            s1 += v * W[j + ONE]
            s2 += v * W[j + TWO]
            s3 += v * W[j + THREE]
        j = at + m
        out[j] = s0
        out[j + ONE] = s1
        out[j + TWO] = s2
        out[j + THREE] = s3


@helper(fast=True)
def add_row(indices, values, W, u, at, start, stop, bias, wide):
    """W += x u' for one row x and u[at : at + wide]."""
    last = np.uint64(len(W)) - wide
    for m in range(ZERO, wide, FOUR):
        j = at + m
        u0, u1, u2, u3 = u[j], u[j + ONE], u[j + TWO], u[j + THREE]
        if u0 == 0.0 and u1 == 0.0 and u2 == 0.0 and u3 == 0.0:
            continue
        if bias >= 0.0:
            j = last + m
            W[j] += bias * u0
            W[j + ONE] += bias * u1
            W[j + TWO] += bias * u2
            W[j + THREE] += bias * u3
        for e in range(start, stop):
            v = values[e]
            j = index_at(indices, e, start) * wide + m
            W[j] += v * u0
            W[j + ONE] += v * u1
            W[j + TWO] += v * u2
            W[j + THREE] += v * u3


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], f8[], f8[], f8, u8, u8, u8)", fast=True)
def class_scores(indptr, indices, values, W, S, bias, wide, lo, hi):
    """S_i = W'x_i for rows lo .. hi-1."""
    for i in range(lo, hi):
        scores_of_row(indices, values, W, S, i * wide, indptr[i], indptr[i + ONE], bias, wide)


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], f8[], f8[], f8, u8, u8, u8)", fast=True)
def class_transpose_product(indptr, indices, values, U, G, bias, wide, lo, hi):
    """G += sum_i x_i U_i' over rows lo .. hi-1."""
    for i in range(lo, hi):
        add_row(indices, values, G, U, i * wide, indptr[i], indptr[i + ONE], bias, wide)


@helper(fast=True)
def onto_simplex(v, at, k):
    """Project v[at : at + k] on the simplex; returns the number of non-zero entries.

    p = max(0, v - theta) with theta such that the sum is 1 (Michelot, 1986).  Entries at least 1 below the largest are
    zero.  The sum is accurate if the largest entry is small.
    """
    largest = v[at]
    for m in range(at + ONE, at + k):
        largest = max(largest, v[m])
    theta = -1.0
    count = k + ONE
    while True:
        total = 0.0
        kept = ZERO
        for m in range(at, at + k):
            if v[m] - largest > theta:
                total += v[m] - largest
                kept += ONE
        if kept >= count:  # increases only by round-off
            break
        count = kept
        if count <= ONE:  # none: the entries are nan
            break
        theta = (total - 1.0) / np.float64(kept)
    for m in range(at, at + k):
        v[m] = max(v[m] - largest - theta, 0.0)
    return count


@loop("void(f8[], u8[], f8[], f8[], f8[], f8[], f8[], f8, u8, u8, u8, u8)", fast=True)
def class_state(S, number, cost, beta, U, share, sums, sigma, k, wide, lo, hi):
    """The smoothed loss of rows lo .. hi-1 at scores S.

    g_m = S_m + [m != y];  p = the point of the simplex nearest to beta + sigma g;  U = C (p - e_y), the slopes;
    share_m = 1 / |F| on the face F = {m: p_m > 0} if it is not a vertex, else 0.
    sums = sum C (p.g - S_y - |p - beta|^2 / (2 sigma)), sum C (max g - S_y), sum C (1 - p_y), sum C |p - beta|^2,
    non-zeros of U, rows whose face changed, rows not at a vertex.
    """
    smooth = loss = linear = moved = support = changed = active = 0.0
    for i in range(lo, hi):
        at = i * wide
        y = at + number[i]
        largest = S[y]
        for m in range(at, at + k):
            largest = max(largest, S[m] + (0.0 if m == y else 1.0))
        for m in range(at, at + k):  # minus the largest: entries that stay positive are then small and accurate
            U[m] = beta[m] + sigma * (S[m] + (0.0 if m == y else 1.0) - largest)
        count = onto_simplex(U, at, k)
        part = 1.0 / np.float64(count) if count > ONE else 0.0
        value = way = 0.0
        other = False
        for m in range(at, at + k):
            p = U[m]
            g = S[m] + (0.0 if m == y else 1.0)
            value += p * (g - S[y])
            way += (p - beta[m]) * (p - beta[m])
            now = part if p > 0.0 else 0.0
            other |= now != share[m]
            share[m] = now
            u = p - (1.0 if m == y else 0.0)
            support += 1.0 if u != 0.0 else 0.0
            U[m] = cost[i] * u
        linear -= U[y]
        smooth += cost[i] * (value - 0.5 * way / sigma)
        loss += cost[i] * (largest - S[y])
        moved += cost[i] * way
        changed += 1.0 if other else 0.0
        active += 1.0 if count > ONE else 0.0
    sums[0], sums[1], sums[2], sums[3] = smooth, loss, linear, moved
    sums[4], sums[5], sums[6] = support, changed, active


@loop("void(f8[], f8[], u8[], f8[], f8[], f8[], f8, f8, u8, u8, u8, u8)", fast=True)
def class_line_search(S, dS, number, cost, beta, out, t, sigma, k, wide, lo, hi):
    """out[0], out[1] = slope and curvature of the smoothed loss of rows lo .. hi-1 along S + t dS.

    out[2 : 2 + k] is scratch.
    """
    slope = curvature = 0.0
    for i in range(lo, hi):
        at = i * wide
        y = at + number[i]
        largest = -np.inf
        where = ZERO
        for m in range(ZERO, k):
            v = beta[at + m] + sigma * (S[at + m] + t * dS[at + m] + (0.0 if at + m == y else 1.0))
            out[TWO + m] = v
            if v > largest:
                largest = v
                where = m
        near = ZERO
        for m in range(ZERO, k):
            near += ONE if out[TWO + m] > largest - 1.0 else ZERO
        if near <= ONE:
            slope += cost[i] * (dS[at + where] - dS[y])
            continue
        count = onto_simplex(out, TWO, k)
        first = total = squares = 0.0
        for m in range(ZERO, k):
            p = out[TWO + m]
            v = dS[at + m]
            first += p * v
            if p > 0.0:
                total += v
                squares += v * v
        slope += cost[i] * (first - dS[y])
        if count > ONE:
            curvature += cost[i] * (squares - total * total / np.float64(count))
    out[0] = slope
    out[1] = sigma * max(curvature, 0.0)


@loop("void(f8[], f8[], f8[], u8, u8, u8, u8)", fast=True)
def class_curvature(T, share, cost, k, wide, lo, hi):
    """T_i = C_i P T_i, P the projector on differences within the face of row i."""
    for i in range(lo, hi):
        at = i * wide
        mean = 0.0
        for m in range(at, at + k):
            mean += share[m] * T[m]
        for m in range(at, at + k):
            T[m] = cost[i] * (T[m] - mean) if share[m] > 0.0 else 0.0


@loop("i8(f8[], f8[], f8[], f8[], u8, u8, u8, u8)", fast=True)
def class_pair_change(share, seen, cost, out, m, other, wide, n):
    """out_i = C_i times the change since `seen` of 1 / |F_i| for faces with both classes; returns how many are not 0.

    This is the decrease of the curvature of row i between the two classes.
    """
    found = 0
    for i in range(n):
        a, b = i * wide + m, i * wide + other
        new = share[a] if share[b] > 0.0 else 0.0
        old = seen[a] if seen[b] > 0.0 else 0.0
        out[i] = cost[i] * (new - old)
        found += 1 if new != old else 0
    return found
