"""Conjugate gradients on the Hessian of a sum of losses in one call, for few rows."""

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.rows.row_loops import ONE, dot, row_dot


@helper(fast=True)
def hessian_product(indptr, indices, values, rows, weight, bias, ridge, v, out):
    """out = R v + sum over `rows` of weight_i x_i (x_i.v); x_i ends with the bias feature where bias >= 0."""
    d = len(v)
    total = 0.0
    shift = bias * v[d - 1] if bias >= 0.0 else 0.0
    for j in range(d):
        out[j] = v[j]
    out[d - 1] *= ridge
    for k in range(len(rows)):
        i = rows[k]
        t = weight[k] * (row_dot(indices, values, v, indptr[i], indptr[i + ONE]) + shift)
        total += t
        for at in range(indptr[i], indptr[i + ONE]):
            out[indices[at]] += t * values[at]
    if bias >= 0.0:
        out[d - 1] += bias * total


@loop("i8(u8[], u4[], f8[], u8[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, i8)", fast=True)
def csr_conjugate_gradient(
    indptr, indices, values, rows, weight, near, g, p, work, squares, bias, ridge, tolerance, most
):
    """p with (R + sum over `rows` of weight_i x_i x_i') p = g, as linalg.conjugate_gradient from p = 0.

    ridge: the last entry of R; near: diagonal preconditioner; work: 3 d numbers, kept between calls; squares: square of
    the residual in the preconditioner's norm, and the value at which to end (initially < 0).  If `most` products do not
    suffice, the next call continues.  Returns the number of products; done if squares[0] <= squares[1].
    """
    d = len(g)
    r = work[:d]
    q = work[d : 2 * d]
    Hq = work[2 * d : 3 * d]
    rho = squares[0]
    if squares[1] < 0.0:
        rho = 0.0
        for j in range(d):
            p[j] = 0.0
            r[j] = g[j]
            q[j] = g[j] / near[j]
            rho += g[j] * q[j]
        squares[0] = rho
        squares[1] = tolerance * tolerance * rho
    for k in range(most):
        if rho <= squares[1]:
            return k
        hessian_product(indptr, indices, values, rows, weight, bias, ridge, q, Hq)
        step = rho / dot(q, Hq)
        old = rho
        rho = 0.0
        for j in range(d):
            p[j] += step * q[j]
            r[j] -= step * Hq[j]
            rho += r[j] * r[j] / near[j]
        squares[0] = rho
        share = rho / old
        for j in range(d):
            q[j] = r[j] / near[j] + share * q[j]
    return most
