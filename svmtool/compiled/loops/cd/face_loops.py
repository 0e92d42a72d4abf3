"""Conjugate gradients over the free dual variables; see coordinate/face_steps.py.

Variable j has sign y_j and belongs to row j, or to row j - n if it is the lower side of a tube.  face[:m] are the free
variables.  vectors: their step, residual, direction and product, f8[4 m]; v: scratch, as long as w.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE, add_multiple, product_of_row


@helper(fast=True)
def add_rows(indptr, indices, values, y, face, factors, at, m, v, bias):
    """v += sum_j factors[at + j] y_j x_j over the face."""
    n = np.uint64(len(indptr)) - ONE
    for k in range(m):
        j = face[k]
        i = j - n if j >= n else j
        add_multiple(indices, values, v, y[j] * factors[at + k], indptr[i], indptr[i + ONE], bias)


@loop("void(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], f8[], f8[], f8[], f8)", fast=True)
def face_start(
    indptr, indices, values, y, target, diagonal, square_norms, alpha, w, face, vectors, v, state, bias
):  # fmt: skip
    """Initialise: zero step; residual and direction from the dual's gradient at alpha and w."""
    m = np.uint64(len(face))
    n = np.uint64(len(indptr)) - ONE
    rz = 0.0
    for k in range(m):
        j = face[k]
        i = j - n if j >= n else j
        product = product_of_row(indices, values, w, indptr[i], indptr[i + ONE], bias)
        residual = target[j] - y[j] * product - diagonal[j] * alpha[j]
        direction = residual / max(square_norms[i] + diagonal[j], 1e-300)
        vectors[k] = 0.0
        vectors[m + k] = residual
        vectors[m + m + k] = direction
        rz += residual * direction
    state[0] = rz
    state[1] = 0.0


@loop("i8(u8[], u4[], f8[], f8[], f8[], f8[], u8[], f8[], f8[], f8[], f8, i8, f8)", fast=True)
def face_conjugate(
    indptr, indices, values, y, diagonal, square_norms, face, vectors, v, state, bias, most, share
):  # fmt: skip
    """At most `most` conjugate gradient steps with diagonal preconditioner; returns their number.

    Ends when a step gains at most `share` of the best step's gain.  state: square of the residual, best gain.
    """
    m = np.uint64(len(face))
    n = np.uint64(len(indptr)) - ONE
    rz, best = state[0], state[1]
    made = 0
    while made < most and rz > 0.0:
        made += 1
        for k in range(np.uint64(len(v))):
            v[k] = 0.0
        add_rows(indptr, indices, values, y, face, vectors, m + m, m, v, bias)
        curvature = 0.0
        for k in range(m):
            j = face[k]
            i = j - n if j >= n else j
            direction = vectors[m + m + k]
            product = y[j] * product_of_row(indices, values, v, indptr[i], indptr[i + ONE], bias)
            product += diagonal[j] * direction
            vectors[m + m + m + k] = product
            curvature += direction * product
        if not curvature > 0.0:
            rz = 0.0
            break
        t = rz / curvature
        before = rz
        rz = 0.0
        for k in range(m):
            vectors[k] += t * vectors[m + m + k]
            residual = vectors[m + k] - t * vectors[m + m + m + k]
            vectors[m + k] = residual
            j = face[k]
            i = j - n if j >= n else j
            rz += residual * residual / max(square_norms[i] + diagonal[j], 1e-300)
        gain = 0.5 * t * before
        best = max(best, gain)
        for k in range(m):
            j = face[k]
            i = j - n if j >= n else j
            scaled = vectors[m + k] / max(square_norms[i] + diagonal[j], 1e-300)
            vectors[m + m + k] = scaled + rz / before * vectors[m + m + k]
        if gain <= share * best:
            rz = 0.0
    state[0] = rz
    state[1] = best
    return made


@loop("void(u8[], u4[], f8[], f8[], u8[], f8[], f8[], f8)", fast=True)
def face_combination(indptr, indices, values, y, face, factors, v, bias):
    """v = sum_j factors_j y_j x_j over the face."""
    for k in range(np.uint64(len(v))):
        v[k] = 0.0
    add_rows(indptr, indices, values, y, face, factors, np.uint64(0), np.uint64(len(face)), v, bias)
