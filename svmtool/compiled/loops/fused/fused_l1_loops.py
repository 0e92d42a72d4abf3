"""Losses with |w|_1 on a small problem in one compiled call, because calls from Python would cost more than its steps.

The same steps as solvers/l1/proximal_newton.py with a matrix, built from the same helpers; tests compare them.  The
data are stored densely by columns, so that all loops run over consecutive numbers.
"""

import math

import numpy as np

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.loss.hinge_loops import hinge2_state
from svmtool.compiled.loops.loss.l1_loops import (
    gram_epochs,
    l1_face_step,
    l1_logistic_dual,
    l1_model_slopes,
    l1_slopes_dual,
    l1_step,
    violation_at,
)
from svmtool.compiled.loops.loss.logistic_loops import logistic_state, logistic_widen
from svmtool.compiled.loops.rows.row_loops import ONE, dot
from svmtool.compiled.loops.rows.solve_loops import cholesky_in_place
from svmtool.tolerances import NEWTON_RTOL, OPTIMAL_GAP, SUFFICIENT_DECREASE

L1_FIELDS = 6  # of a record: f, bound, largest violation, non-zero weights, epochs, step
SHORT_STEP = 0.5  # a shorter step means that its model is valid only near w
KEEP_MATRIX_SHARE = 0.25  # logistic loss: a step that reduces the violation to this share keeps its matrix for the next
MATRIX_TOLERANCE = 0.03  # tolerance of the model's solution, as share of the largest violation
MIN_TOLERANCE = 1e-13  # least tolerance of it, as share of the largest slope
MODEL_EPOCHS = 20  # epochs of coordinate descent on the model between two factorised systems
MAX_FACES = 50  # most such systems
RIDGE_SHARE = 1e-10  # relative increase of their diagonals: dependent columns make them singular
CHUNK_ROWS = 256  # rows whose products are summed together, to stay in cache
CURVATURE_RTOL = 0.1  # logistic loss: relative change of a row's curvature that the matrix may ignore
# the same as share of the mean curvature, until a step decreases f by less than the share ROUGH_DECREASE
ROUGH_SHARE, ROUGH_DECREASE = 0.1, 0.01
NEWTON_STALL_STEPS = 3  # round-off: ends after this many steps that decrease neither f nor, sufficiently, the gap


@helper(fast=True)
def non_zeros(v):
    count = 0
    for j in range(len(v)):
        count += 1 if v[j] != 0.0 else 0
    return count


@helper(fast=True)
def lay_out_columns(indptr, indices, values, bias, X):
    """X (d x n, row-major) = the columns of the data, the bias feature last where bias >= 0."""
    rows = np.uint64(len(indptr)) - ONE
    for k in range(len(X)):
        X[k] = 0.0
    for i in range(rows):
        for k in range(indptr[i], indptr[i + ONE]):
            X[np.uint64(indices[k]) * rows + i] = values[k]
    if bias >= 0.0:
        for k in range(np.uint64(len(X)) - rows, np.uint64(len(X))):
            X[k] = bias


@helper(fast=True)
def column_margins(X, y, w, z):
    """z_i = y_i x_i.w"""
    n = len(y)
    for i in range(n):
        z[i] = 0.0
    for j in range(len(w)):
        if w[j] != 0.0:
            x = X[j * n : (j + 1) * n]
            for i in range(n):
                z[i] += w[j] * x[i]
    for i in range(n):
        z[i] *= y[i]


@helper(fast=True)
def add_products(X, change, chunk, gram):
    """gram (d x d, symmetric) += sum_i change_i x_i x_i'.  Scratch: chunk (d + 1 times CHUNK_ROWS)."""
    n = len(change)
    d = len(X) // n
    scaled = chunk[d * CHUNK_ROWS :]
    for lo in range(0, n, CHUNK_ROWS):
        hi = min(lo + CHUNK_ROWS, n)
        m = 0
        for j in range(d):  # gather the rows that changed
            m = j * CHUNK_ROWS
            for i in range(lo, hi):
                chunk[m] = X[j * n + i]
                m += 1 if change[i] != 0.0 else 0
            m -= j * CHUNK_ROWS
        if m == 0:
            continue
        at = 0
        for i in range(lo, hi):
            scaled[at] = change[i]
            at += 1 if change[i] != 0.0 else 0
        for j in range(d):
            a = chunk[j * CHUNK_ROWS : j * CHUNK_ROWS + m]
            for k in range(j + 1):
                b = chunk[k * CHUNK_ROWS : k * CHUNK_ROWS + m]
                total = 0.0
                for i in range(m):
                    total += scaled[i] * a[i] * b[i]
                gram[j * d + k] += total
    for j in range(d):
        for k in range(j):
            gram[k * d + j] = gram[j * d + k]


@helper(fast=True)
def note_curvatures(c, held, change, share):
    """change = c - held where it exceeds CURVATURE_RTOL c and `share` times the mean of c, else 0; held += change."""
    total = 0.0
    for i in range(len(c)):
        total += c[i]
    slight = share * total / len(c)
    for i in range(len(c)):
        t = c[i] - held[i]
        change[i] = t if abs(t) > CURVATURE_RTOL * max(c[i], held[i]) + slight else 0.0
        held[i] += change[i]


@helper(fast=True)
def face_step(gram, v, slope, penalty, part, numbers):
    """Step of v to the model's minimum over the non-zero weights, cut where the first becomes zero.

    slope: the gradient at v of the model's smooth part.  Scratch: part (d x d), numbers (5 d).
    """
    d = len(v)
    face = numbers[4 * d : 5 * d]
    m = 0
    for j in range(d):
        if v[j] != 0.0:
            face[m] = j
            m += 1
    old = numbers[:m]
    minus_gradient = numbers[d : d + m]
    weight = numbers[2 * d : 2 * d + m]
    q = numbers[3 * d : 3 * d + m]
    for a in range(m):
        j = int(face[a])
        old[a] = v[j]
        weight[a] = penalty[j]
        minus_gradient[a] = -slope[j] - (penalty[j] if v[j] > 0.0 else -penalty[j])
        for b in range(m):
            part[a * m + b] = gram[j * d + int(face[b])]
        part[a * m + a] *= 1.0 + RIDGE_SHARE
    if cholesky_in_place(part, minus_gradient, q, m):
        return
    curvature = 0.0
    for a in range(m):
        j = int(face[a])
        product = RIDGE_SHARE * gram[j * d + j] * q[a]
        for b in range(m):
            product += gram[j * d + int(face[b])] * q[b]
        curvature += product * q[a]
    l1_face_step(old, q, weight, -dot(minus_gradient, q), curvature)
    for a in range(m):
        v[int(face[a])] = old[a]


@helper(fast=True)
def solve_model(gram, g, w, penalty, v, slope, part, numbers, count, tolerance):
    """v = the minimiser of the model; see step_of_matrix in solvers/l1/model.py."""
    d = len(w)
    for j in range(d):
        v[j] = w[j]
        slope[j] = g[j]
    for _ in range(MAX_FACES):
        if gram_epochs(gram, v, slope, penalty, count, MODEL_EPOCHS, tolerance) <= tolerance:
            break
        before = d + 1
        now = non_zeros(v)
        while now < before:
            before = now
            face_step(gram, v, slope, penalty, part, numbers)
            now = non_zeros(v)
            for j in range(d):
                slope[j] = g[j]
            for j in range(d):
                step = v[j] - w[j]
                if step != 0.0:
                    for k in range(d):
                        slope[k] += step * gram[j * d + k]


@loop("i8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8, i8, f8, f8, i8)", fast=True)
def fused_l1(indptr, indices, values, y, cost, w, work, out, bias, logistic, gap, rule_gap, max_records):
    """See L1Objective.fused_newton; out: the dual point (n) and the records, whose number is out[-FIELDS]."""
    n = len(y)
    d = len(w)
    rows = np.uint64(n)
    none = np.uint64(0)
    alpha = out[:n]
    history = out[n:]
    z = work[:n]
    dz = work[n : 2 * n]
    u = work[2 * n : 3 * n]
    c = work[3 * n : 4 * n]
    change = work[4 * n : 5 * n]
    held = work[5 * n : 6 * n]
    at = 6 * n
    X = work[at : at + d * n]
    at += d * n
    chunk = work[at : at + (d + 1) * CHUNK_ROWS]
    at += (d + 1) * CHUNK_ROWS
    gram = work[at : at + d * d]
    part = work[at + d * d : at + 2 * d * d]
    at += 2 * d * d
    g = work[at : at + d]
    p = work[at + d : at + 2 * d]
    v = work[at + 2 * d : at + 3 * d]
    slope = work[at + 3 * d : at + 4 * d]
    penalty = work[at + 4 * d : at + 5 * d]
    numbers = work[at + 5 * d : at + 10 * d]
    at += 10 * d
    counts = work[at : at + 3]
    line_search = work[at + 3 : at + 5]
    count = work[at + 5 : at + 6]
    target = work[at + 6 : at + 7]
    target[0] = 1.0
    for j in range(d * d):
        gram[j] = 0.0
    for j in range(d):
        penalty[j] = 1.0
    for i in range(n):
        c[i] = 0.0
        held[i] = 0.0
    lay_out_columns(indptr, indices, values, bias, X)
    column_margins(X, y, w, z)
    previous = apart = np.inf
    best = -np.inf
    last = np.inf  # violation when the model's matrix was last used
    stalled = 0
    short = widened = False
    t = 0.0
    code = records = 0
    while True:
        if logistic:
            loss = logistic_state(z, cost, y, u, c, none, rows)
        else:
            loss = hinge2_state(z, target, cost, y, u, c, change, counts, none, rows)
        f = loss
        steepest = largest = 0.0
        for j in range(d):
            g[j] = dot(X[j * n : (j + 1) * n], u)
            f += abs(w[j])
            steepest = max(steepest, abs(g[j]))
            largest = max(largest, violation_at(w[j], g[j], 1.0))
        s = 1.0 / steepest if steepest > 0.0 else np.inf
        if logistic:
            s = min(s, 1.0)
            bound = l1_logistic_dual(z, cost, s, rows) if s > 0.0 else 0.0
        else:
            s = min(s, 0.5 * counts[2] / loss) if loss > 0.0 else 0.0
            bound = s * (counts[2] - s * loss)
        if bound > best:
            best = bound
            for i in range(n):
                alpha[i] = -s * u[i] * y[i]
        at = records * L1_FIELDS
        history[at] = f
        history[at + 1] = best
        history[at + 2] = largest
        history[at + 3] = non_zeros(w)
        history[at + 4] = count[0] if records > 0 else 0.0
        history[at + 5] = t
        records += 1
        if f - best <= gap * f:
            code = 2
            break
        if f - best <= OPTIMAL_GAP * f or largest == 0.0:
            code = 1
            break
        if f - best <= rule_gap * f:
            code = 3
            break
        stalled = stalled + 1 if previous - f <= NEWTON_RTOL * abs(f) and f - best > SUFFICIENT_DECREASE * apart else 0
        apart = f - best
        if stalled >= NEWTON_STALL_STEPS:
            code = 4
            break
        if records > max_records - 1:
            break
        share = ROUGH_SHARE if previous - f > ROUGH_DECREASE * f else 0.0
        previous = f
        count[0] = 0.0
        widened = short and not widened
        if logistic == 0 or largest > KEEP_MATRIX_SHARE * last or records == 1:
            if logistic:
                if widened:
                    logistic_widen(z, cost, c)
                note_curvatures(c, held, change, share)
            add_products(X, change, chunk, gram)
        last = largest
        scaled = 0.0
        smallest = np.inf
        for j in range(d):
            if gram[j * d + j] > 0.0:
                size = math.sqrt(gram[j * d + j])
                scaled = max(scaled, violation_at(w[j], g[j], 1.0) / size)
                smallest = min(smallest, size)
        inner = min(largest, scaled * smallest) if smallest < np.inf else largest
        inner = max(MATRIX_TOLERANCE * inner, MIN_TOLERANCE * steepest)
        solve_model(gram, g, w, penalty, v, slope, part, numbers, count, inner)
        for j in range(d):
            p[j] = v[j] - w[j]
        column_margins(X, y, p, dz)
        t = l1_step(z, dz, target, cost, w, p, penalty, g, line_search, logistic)
        short = t < SHORT_STEP
        if not short:
            l1_model_slopes(u, y, cost, held if logistic else c, dz, logistic)
            steepest = 0.0
            for j in range(d):
                steepest = max(steepest, abs(dot(X[j * n : (j + 1) * n], u)))
            s = 1.0 / steepest if steepest > 0.0 else np.inf
            if logistic:
                s = min(s, 1.0)
                bound = l1_slopes_dual(u, y, cost, s, rows)
            else:
                linear = conjugate = 0.0
                for i in range(n):
                    linear -= u[i] * y[i]
                    conjugate += 0.25 * u[i] * u[i] / cost[i]
                s = min(s, 0.5 * linear / conjugate) if conjugate > 0.0 else 0.0
                bound = s * (linear - s * conjugate)
            if bound > best:
                best = bound
                for i in range(n):
                    alpha[i] = -s * u[i] * y[i]
        for j in range(d):
            new = w[j] + t * p[j]
            w[j] = new if abs(new) > 1e-15 * abs(w[j]) else 0.0
        for i in range(n):
            z[i] += t * dz[i]
    history[len(history) - L1_FIELDS] = records
    return code
