"""Method of multipliers on the dual of the squared hinge with |w|_1: coordinate descent and Newton steps on

    phi(a) = sum_i (a_i^2 / (4 C_i) - a_i) + sigma / 2 sum_j S(u_j)^2,    a >= 0,    u = sum_i a_i y_i x_i + w / sigma

with S(u) = sign(u) max(0, |u| - 1).  sigma S(u) are the weights at a; see objectives/l1/dual.py.
"""

import math

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.loss.l1_loops import threshold
from svmtool.compiled.loops.rows.row_loops import FOUR, ONE, THREE, TWO, add_multiple

MIN_CURVATURE_SHARE = 0.25  # least curvature of a coordinate step, relative to |x_i|^2: weights may become non-zero
MAX_DIRECTION_HALVINGS = 14  # most halvings of a Newton step


@helper(fast=True)
def row_beyond(indices, values, u, lo, hi, bias):
    """x_i.S(u); the last entry of u is that of the bias feature."""
    total = 0.0
    for k in range(lo, hi):
        total += values[k] * threshold(u[indices[k]], 1.0)
    if bias > 0.0:
        total += bias * threshold(u[len(u) - 1], 1.0)
    return total


@loop("void(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], f8, f8)", fast=True)
def l1_dual_epoch(indptr, indices, values, y, cost, squares, a, u, order, sigma, bias):
    """One epoch over the rows in this order: minimise approximately over each a_i, updating u; squares_i = |x_i|^2."""
    for r in range(np.uint64(len(order))):
        i = order[r]
        lo = indptr[i]
        hi = indptr[i + ONE]
        product = used = 0.0
        for k in range(lo, hi):
            s = threshold(u[indices[k]], 1.0)
            if s != 0.0:
                product += values[k] * s
                used += values[k] * values[k]
        if bias > 0.0:
            s = threshold(u[len(u) - 1], 1.0)
            product += bias * s
            used += bias * bias if s != 0.0 else 0.0
        own = 0.5 / cost[i]
        slope = a[i] * own - 1.0 + sigma * y[i] * product
        step = max(-slope / (own + sigma * max(used, MIN_CURVATURE_SHARE * squares[i])), -a[i])
        if step == 0.0:
            continue
        add_multiple(indices, values, u, step * y[i], lo, hi, bias)
        after = (a[i] + step) * own - 1.0 + sigma * y[i] * row_beyond(indices, values, u, lo, hi, bias)
        if after * step > 0.5 * abs(slope * step):  # too far: back to the zero of the interpolated slope
            back = -step * abs(after) / (abs(after) + abs(slope))
            add_multiple(indices, values, u, back * y[i], lo, hi, bias)
            step += back
        a[i] += step


@helper(fast=True)
def smooth_value(cost, a, u, sigma):
    """phi(a)."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * (0.25 * a[i] / cost[i] - 1.0)
    square = 0.0
    for j in range(len(u)):
        s = threshold(u[j], 1.0)
        square += s * s
    return total + 0.5 * sigma * square


@helper(fast=True)
def gather_face(
    indptr, indices, values, y, cost, a, u, face_starts, face_columns, face_values, vectors, out, sigma, bias
):  # fmt: skip
    """Gather the rows of the face a_i > 0 with their features of non-zero weight; returns the number of rows.

    vectors: n numbers each for the rows' places, the direction, the residual, the same divided by the diagonal, and the
    diagonal.  out[0..2]: see l1_dual_newton.
    """
    n = np.uint64(len(a))
    m = np.uint64(len(u))
    largest = 0.0
    rows = np.uint64(0)
    at = np.uint64(0)
    face_starts[0] = at
    for i in range(n):
        product = row_beyond(indices, values, u, indptr[i], indptr[i + ONE], bias)
        slope = a[i] * 0.5 / cost[i] - 1.0 + sigma * y[i] * product
        if not a[i] > 0.0:
            largest = max(largest, -slope)
            continue
        largest = max(largest, abs(slope))
        squares = 0.0
        for k in range(indptr[i], indptr[i + ONE]):
            if threshold(u[indices[k]], 1.0) != 0.0:
                face_columns[at] = indices[k]
                face_values[at] = y[i] * values[k]
                squares += values[k] * values[k]
                at += ONE
        if bias > 0.0 and threshold(u[m - ONE], 1.0) != 0.0:
            face_columns[at] = np.uint32(m - ONE)
            face_values[at] = y[i] * bias
            squares += bias * bias
            at += ONE
        diagonal = 0.5 / cost[i] + sigma * squares
        vectors[rows] = np.float64(i)
        vectors[n + rows] = 0.0
        vectors[TWO * n + rows] = -slope
        vectors[THREE * n + rows] = -slope / diagonal
        vectors[FOUR * n + rows] = diagonal
        rows += ONE
        face_starts[rows] = at
    out[0] = largest
    out[1] = np.float64(rows)
    out[2] = np.float64(at)
    return rows


@helper(fast=True)
def face_direction(
    cost, face_starts, face_columns, face_values, places, direction, rest, p, diagonal, q, v, sigma, tolerance,
    max_steps,
):  # fmt: skip
    """Conjugate gradients with the system of the face, from `direction` 0; returns their number.  Scratch: q, v."""
    rows = np.uint64(len(rest))
    steps = first = size = 0.0
    for r in range(rows):
        first += rest[r] * rest[r]
        size += rest[r] * p[r]
    for _ in range(max_steps):
        for j in range(len(v)):
            v[j] = 0.0
        for r in range(rows):
            for k in range(face_starts[r], face_starts[r + ONE]):
                v[face_columns[k]] += p[r] * face_values[k]
        curvature = 0.0
        for r in range(rows):
            total = 0.0
            for k in range(face_starts[r], face_starts[r + ONE]):
                total += face_values[k] * v[face_columns[k]]
            q[r] = p[r] * 0.5 / cost[np.uint64(places[r])] + sigma * total
            curvature += p[r] * q[r]
        if not curvature > 0.0:
            break
        length = size / curvature
        square = new = 0.0
        for r in range(rows):
            direction[r] += length * p[r]
            rest[r] -= length * q[r]
            square += rest[r] * rest[r]
            new += rest[r] * rest[r] / diagonal[r]
        steps += 1.0
        if math.sqrt(square) <= tolerance * math.sqrt(first):
            break
        for r in range(rows):
            p[r] = rest[r] / diagonal[r] + new / size * p[r]
        size = new
    return steps


@helper
def copy_to(a, b):
    """a = b."""
    for j in range(len(a)):
        a[j] = b[j]


@loop("f8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], u8[], u4[], f8[], f8[], f8[], f8[], f8, f8, f8, i8)", fast=True)
def l1_dual_newton(
    indptr, indices, values, y, cost, a, u, face_starts, face_columns, face_values, vectors, old_u, out, sigma, bias,
    tolerance, max_steps,
):  # fmt: skip
    """A Newton step on the face a_i > 0, by at most `max_steps` conjugate gradients, halved until phi decreases.

    Multipliers that would become negative are set to zero.  Scratch: face_starts .. face_values (the rows of the face
    and their bias), vectors (6 n), old_u (as u).  out: the largest violation before the step (|slope|; for a_i = 0 only
    if negative), rows and non-zeros of the face, and conjugate gradient steps.  Returns the step length, 0 if phi did
    not decrease.
    """
    rows = gather_face(
        indptr, indices, values, y, cost, a, u, face_starts, face_columns, face_values, vectors, out, sigma, bias
    )  # fmt: skip
    out[3] = 0.0
    if rows == np.uint64(0):
        return 0.0
    n = np.uint64(len(a))
    places = vectors[:rows]
    direction = vectors[n : n + rows]
    p = vectors[THREE * n : THREE * n + rows]
    out[3] = face_direction(
        cost, face_starts, face_columns, face_values, places, direction, vectors[TWO * n : TWO * n + rows], p,
        vectors[FOUR * n : FOUR * n + rows], vectors[(FOUR + ONE) * n :], old_u, sigma, tolerance, max_steps,
    )  # fmt: skip
    value = smooth_value(cost, a, u, sigma)
    copy_to(old_u, u)
    for r in range(rows):
        p[r] = a[np.uint64(places[r])]
    t = 1.0
    for _ in range(MAX_DIRECTION_HALVINGS):
        copy_to(u, old_u)
        for r in range(rows):
            i = np.uint64(places[r])
            a[i] = max(p[r] + t * direction[r], 0.0)
            add_multiple(indices, values, u, (a[i] - p[r]) * y[i], indptr[i], indptr[i + ONE], bias)
        if smooth_value(cost, a, u, sigma) < value:
            return t
        t *= 0.5
    copy_to(u, old_u)
    for r in range(rows):
        a[np.uint64(places[r])] = p[r]
    return 0.0
