"""Newton's method on a small problem in one compiled call: calls from Python would cost more than its steps.

The same steps as solvers/mfn.py with objectives/squared_hinge.py, and as solvers/logistic.py with a factorised Hessian
each, built from the same helpers; tests compare them.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.loss.hinge_loops import hinge2_line_search, hinge2_state, next_line_search_step
from svmtool.compiled.loops.loss.logistic_loops import LINE_SEARCH_RTOL, logistic_line_search, logistic_state
from svmtool.compiled.loops.rows.row_loops import ONE, csr_gram, dot, row_dot
from svmtool.compiled.loops.rows.solve_loops import cholesky_in_place
from svmtool.tolerances import NEWTON_RTOL, OPTIMAL_GAP

NEWTON_FIELDS = 5  # of a record: f, bound, |gradient|, active rows, step


@helper(fast=True)
def margins(indptr, indices, values, y, w, z):
    """z_i = y_i x_i.w; the terms are the rows of data, once or twice in succession."""
    rows = np.uint64(len(indptr)) - ONE
    terms = np.uint64(len(y))
    for i in range(rows):
        product = row_dot(indices, values, w, indptr[i], indptr[i + ONE])
        z[i] = y[i] * product
        if terms > rows:
            z[i + rows] = y[i + rows] * product


@helper(fast=True)
def add_rows(indptr, indices, values, u, g):
    """g += sum_i u_i x_i, terms as above."""
    rows = np.uint64(len(indptr)) - ONE
    terms = np.uint64(len(u))
    for i in range(rows):
        weight = u[i] + u[i + rows] if terms > rows else u[i]
        if weight != 0.0:
            for k in range(indptr[i], indptr[i + ONE]):
                g[indices[k]] += weight * values[k]


@helper(fast=True)
def gradient(indptr, indices, values, u, w, g):
    """g = w + sum_i u_i x_i, terms as above; returns |sum_i u_i x_i|^2."""
    for j in range(len(w)):
        g[j] = 0.0
    add_rows(indptr, indices, values, u, g)
    square = dot(g, g)
    for j in range(len(w)):
        g[j] += w[j]
    return square


@helper(fast=True)
def record(history, k, fields, f, bound, norm, active, t):
    """Write the first five fields of record k."""
    at = k * fields
    history[at] = f
    history[at + 1] = bound
    history[at + 2] = norm
    history[at + 3] = active
    history[at + 4] = t


@helper(fast=True)
def direction(matrix, g, p):
    """p = -matrix^-1 g, overwriting the matrix (d x d, upper triangle); returns 0 if it is positive definite."""
    code = cholesky_in_place(matrix, g, p, len(g))
    for j in range(len(p)):
        p[j] = -p[j]
    return code


@helper(fast=True)
def add_step(t, p, w, dz, z):
    """w += t p, and the margins."""
    for j in range(len(w)):
        w[j] += t * p[j]
    for i in range(len(z)):
        z[i] += t * dz[i]


@helper(fast=True)
def step_along(z, dz, target, cost, out, a, b, logistic, rows):
    """The minimiser along the search direction, approximate for the logistic loss; out: scratch, f8[4]."""
    bracket = out[2:]
    bracket[0] = 0.0
    bracket[1] = np.inf
    rtol = LINE_SEARCH_RTOL if logistic else 0.0
    t = 1.0
    for _ in range(100):
        if logistic:
            logistic_line_search(z, dz, cost, out, t, np.uint64(0), rows)
        else:
            hinge2_line_search(z, dz, target, cost, out, t, np.uint64(0), rows)
        new = next_line_search_step(t, out[0] + a + t * b, out[1] + b, bracket)
        if abs(new - t) <= rtol * t:
            break
        t = new
    return t


@helper(fast=True)
def largest_dot(indptr, indices, values, g, rows):
    """The largest |x_i.g|."""
    largest = 0.0
    for i in range(rows):
        largest = max(largest, abs(row_dot(indices, values, g, indptr[i], indptr[i + ONE])))
    return largest


@loop("i8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8, i8, i8)", fast=True)
def fused_newton(
    indptr, indices, values, y, target, cost, w, work, history, gap, gradient_tol, steepest, at_start, rule_gap,
    max_records, logistic,
):  # fmt: skip
    """See Objective.fused_newton; history[-FIELDS] receives the number of records.

    The squared hinge with its target, or the logistic loss.  The n terms are the rows of data, once or twice in
    succession.  work: 5 n + 2 d d + 2 d + 7 numbers.
    """
    n = len(y)
    d = len(w)
    rows = np.uint64(n)
    stored = np.uint64(len(indptr)) - ONE
    none = np.uint64(0)
    z = work[:n]
    dz = work[n : 2 * n]
    u = work[2 * n : 3 * n]
    c = work[3 * n : 4 * n]
    change = work[4 * n : 5 * n]
    at = 5 * n
    gram = work[at : at + d * d]
    factor = work[at + d * d : at + 2 * d * d]
    at += 2 * d * d
    g = work[at : at + d]
    p = work[at + d : at + 2 * d]
    counts = work[at + 2 * d : at + 2 * d + 3]
    out = work[at + 2 * d + 3 : at + 2 * d + 7]
    for j in range(d * d):
        gram[j] = 0.0
    for i in range(n):
        c[i] = 0.0
    margins(indptr, indices, values, y, w, z)
    previous = np.inf
    exact = False
    stalled = 0
    t = 0.0
    code = records = 0
    least = min(OPTIMAL_GAP, gap) if logistic and gap >= 0.0 else OPTIMAL_GAP  # others end by an exact step
    while True:
        if logistic:
            loss = logistic_state(z, cost, y, u, c, none, rows)
        else:
            loss = hinge2_state(z, target, cost, y, u, c, change, counts, none, rows)
        square = gradient(indptr, indices, values, u, w, g)
        f = 0.5 * dot(w, w) + loss
        steep = dot(g, g)
        norm = steep**0.5
        bound = f - 0.5 * steep
        if not logistic:
            quadratic = square + 2.0 * loss
            share = max(counts[2], 0.0) / quadratic**0.5 if quadratic > 0.0 else 0.0  # counts[2]^2 would overflow first
            bound = max(0.5 * share * share, bound)
        record(history, records, NEWTON_FIELDS, f, bound, norm, n if logistic else counts[1], t)
        records += 1
        if f - bound <= gap * f:
            code = 2
            break
        if f - bound <= (at_start if records == 1 else rule_gap) * f:
            if norm <= gradient_tol or (steepest >= 0.0 and largest_dot(indptr, indices, values, g, rows) <= steepest):
                code = 3
                break
        if norm == 0.0 or f - bound <= least * f or (exact and counts[0] == 0.0):
            code = 1
            break
        stalled = stalled + 1 if previous - f <= NEWTON_RTOL * abs(f) else 0
        if stalled >= 3:
            code = 4
            break
        if records > max_records - 1:
            break
        previous = f
        if not logistic:
            for i in range(stored, rows):
                change[i - stored] += change[i]
            csr_gram(indptr, indices, values, change, gram, np.uint64(d), none, stored)
        for j in range(d * d):
            factor[j] = gram[j]
        for j in range(d):
            factor[j * d + j] += 1.0
        if logistic:  # all curvatures are new, and `gram` stays 0
            csr_gram(indptr, indices, values, c, factor, np.uint64(d), none, stored)
        if direction(factor, g, p):
            code = 4
            break
        margins(indptr, indices, values, y, p, dz)
        t = step_along(z, dz, target, cost, out, dot(w, p), dot(p, p), logistic, rows)
        add_step(t, p, w, dz, z)
        exact = not logistic and abs(t - 1.0) <= 1e-9
    history[len(history) - NEWTON_FIELDS] = records
    return code
