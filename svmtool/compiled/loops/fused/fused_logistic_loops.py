"""Logistic regression on a small problem in one compiled call: calls from Python would cost more than its steps.

The same steps as solvers/logistic.py, each with a factorised Hessian, built from the same helpers.
"""

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.fused.fused_mfn_loops import (
    FIELDS,
    OPTIMAL_GAP,
    STALL_RTOL,
    direction,
    gradient,
    margins,
    record,
    take_step,
)
from svmtool.compiled.loops.loss.hinge_loops import next_line_search_step
from svmtool.compiled.loops.loss.logistic_loops import logistic_line_search, logistic_state
from svmtool.compiled.loops.rows.row_loops import ONE, csr_gram, dot, row_dot

LINE_SEARCH_PRECISION = 1e-2  # as in objectives/logistic.py


@helper(fast=True)
def line_search_step(z, dz, cost, out, a, b, rows):
    """The approximate minimiser along the search direction; out: scratch, f8[4]."""
    bracket = out[2:]
    bracket[0] = 0.0
    bracket[1] = np.inf
    t = 1.0
    for _ in range(100):
        logistic_line_search(z, dz, cost, out, t, np.uint64(0), rows)
        new = next_line_search_step(t, out[0] + a + t * b, out[1] + b, bracket)
        if abs(new - t) <= LINE_SEARCH_PRECISION * t:
            break
        t = new
    return t


@helper(fast=True)
def largest_product(indptr, indices, values, g, rows):
    """The largest |x_i.g|."""
    largest = 0.0
    for i in range(rows):
        largest = max(largest, abs(row_dot(indices, values, g, indptr[i], indptr[i + ONE])))
    return largest


@loop("i8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8, i8)", fast=True)
def fused_logistic(
    indptr, indices, values, y, cost, w, work, history, gap, enough, steepest, at_start, sure, most
):  # fmt: skip
    """See Logistic.fused_newton; history[-FIELDS] receives the number of records."""
    n = len(y)
    d = len(w)
    rows = np.uint64(n)
    none = np.uint64(0)
    z = work[:n]
    dz = work[n : 2 * n]
    u = work[2 * n : 3 * n]
    c = work[3 * n : 4 * n]
    at = 4 * n
    hessian = work[at : at + d * d]
    at += d * d
    g = work[at : at + d]
    p = work[at + d : at + 2 * d]
    out = work[at + 2 * d : at + 2 * d + 4]
    margins(indptr, indices, values, y, w, z)
    previous = np.inf
    flat = 0
    t = 0.0
    code = 0
    records = 0
    while True:
        loss = logistic_state(z, cost, y, u, c, none, rows)
        gradient(indptr, indices, values, u, w, g)
        f = 0.5 * dot(w, w) + loss
        square = dot(g, g)
        norm = square**0.5
        bound = f - 0.5 * square
        record(history, records, FIELDS, f, bound, norm, n, t)
        records += 1
        if f - bound <= gap * f:
            code = 2
            break
        if f - bound <= (at_start if records == 1 else sure) * f:
            if norm <= enough or (steepest >= 0.0 and largest_product(indptr, indices, values, g, rows) <= steepest):
                code = 3
                break
        if norm == 0.0 or f - bound <= OPTIMAL_GAP * f:
            code = 1
            break
        flat = flat + 1 if previous - f <= STALL_RTOL * abs(f) else 0
        if flat >= 3:
            code = 4
            break
        if records > most - 1:
            break
        previous = f
        for j in range(d * d):
            hessian[j] = 0.0
        for j in range(d):
            hessian[j * d + j] = 1.0
        csr_gram(indptr, indices, values, c, hessian, np.uint64(d), none, rows)
        if direction(hessian, g, p):
            code = 4
            break
        margins(indptr, indices, values, y, p, dz)
        t = line_search_step(z, dz, cost, out, dot(w, p), dot(p, p), rows)
        take_step(t, p, w, dz, z)
    history[len(history) - FIELDS] = records
    return code
