"""Exact ALM on a small problem in one compiled call, because calls from Python would cost more than its steps.

The same steps as solvers/alm.py and solvers/alm_rounds.py with objectives/augmented.py and coordinate/hinge.py, built
from the same helpers.
"""

import numpy as np

from svmtool.compiled import loop
from svmtool.compiled.loops.cd.dcd_loops import EVALUATION_SHARE, REMAINING_SHARE, dcd_epochs, range_of
from svmtool.compiled.loops.fused.fused_newton_loops import add_step, direction, gradient, margins, record
from svmtool.compiled.loops.loss.hinge_loops import NEGLIGIBLE_SIGMA, power_search, power_state
from svmtool.compiled.loops.rows.row_loops import ONE, csr_gram, csr_hinge, dot
from svmtool.tolerances import ALM_IDLE_ROUNDS, ALM_STALL_RTOL, ALM_STALL_STEPS, OPTIMAL_GAP, RULE_MIN_GAP

ALM_FIELDS = 6  # of a record: best f, best bound, |gradient|, rows with a multiplier, step, 1 for an epoch


@loop(
    "i8(u8[], u4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], "
    "f8, f8, f8, f8, f8, f8, f8, u8, i8, i8, i8)",
    fast=True,
)
def fused_hinge(
    indptr, indices, values, y, cost, target, w, alpha, work, order, state, history,
    gap, range_tol, sigma, sigma_warm, sigma_max, growth, inner, chunk, epochs, worth, max_records,
):  # fmt: skip
    """See solvers/alm.py; p = 1, no bias feature.  w and alpha receive the best weights and dual point.

    The n terms are the m rows of data, once or twice in succession.
    work: 6 n + 2 d d + 3 d + 17 numbers; order: m + m / chunk + 1; state: as of dcd_epoch.  history[-FIELDS] receives
    the number of records.  Returns a code: 0 max_records, 1 optimal, 2 gap, 3 the rule (projected-gradient range <=
    `range_tol` in an epoch over all rows, and a gap of RULE_MIN_GAP), 4 round-off.
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
    beta = work[5 * n : 6 * n]
    norms = u  # coordinate descent ends before slopes are needed
    at = 6 * n
    gram = work[at : at + d * d]
    factor = work[at + d * d : at + 2 * d * d]
    at += 2 * d * d
    g = work[at : at + d]
    p = work[at + d : at + 2 * d]
    v = work[at + 2 * d : at + 3 * d]
    at += 3 * d
    sums = work[at : at + 8]
    out = work[at + 8 : at + 12]
    limits = work[at + 12 : at + 17]
    active = order[:stored]
    chunks = order[stored:]

    f_best = 0.0
    for i in range(n):
        f_best += cost[i] * max(target[i], 0.0)
        c[i] = 0.0
        beta[i] = 0.0
    bound_best = 0.0
    for j in range(d):
        v[j] = w[j]  # current point; w keeps the best
    for j in range(d * d):
        gram[j] = 0.0
    records = count = 0
    code = -1

    if epochs > 0:  # as HingeEpochs in solvers/alm_epochs.py
        for i in range(stored):
            norms[i] = 0.0
            for k in range(indptr[i], indptr[i + ONE]):
                norms[i] += values[k] * values[k]
            active[i] = i
        for i in range(rows):
            alpha[i] = 0.0
        limits[0] = np.inf
        limits[1] = -np.inf
        visits = 0.0
        patience = 1.0
        promising = -1.0
        rel_gap, rel_gap_1, rel_gap_2 = 1.0, 1.0, 1.0  # gap at the last three evaluations
        visits_at, visits_at_1, visits_at_2 = 0.0, 0.0, 0.0  # visits to each row until then
        target_gap = gap if gap >= 0.0 else RULE_MIN_GAP
        while code < 0:
            visits += state[0] / stored
            dcd_epochs(
                indptr, indices, values, y, target, c, cost, norms, alpha, v, active, chunks, limits, state,
                -1.0, chunk, 1, -1.0, none,
            )  # fmt: skip
            count += 1
            pg_range = range_of(limits)
            within_tol = pg_range <= range_tol
            if within_tol and state[0] < stored and count < max_records:
                for i in range(stored):
                    active[i] = i
                state[0] = stored
                limits[0] = np.inf
                limits[1] = -np.inf
                continue
            early = visits - visits_at < max(patience, EVALUATION_SHARE * visits) and pg_range > promising
            if (early or (count < epochs and pg_range > 0.0)) and not within_tol and count < max_records:
                continue
            if count >= max_records:  # limit reached: the best multiple of the current point
                margins(indptr, indices, values, y, v, dz)
                for i in range(rows):
                    z[i] = 0.0
                t = min(power_search(z, dz, target, cost, beta, out, 0.0, dot(v, v), 1.0, NEGLIGIBLE_SIGMA, 1.0), 1.0)
                for j in range(d):
                    v[j] *= t
                for i in range(rows):
                    alpha[i] *= t
            f = 0.5 * dot(v, v)
            bound = dot(target, alpha) - f
            f += csr_hinge(indptr, indices, values, v, y, target, cost, 0.0, none, stored)
            rel_gap_2, rel_gap_1, rel_gap = rel_gap_1, rel_gap, max(max(f - bound, 0.0) / max(f, 1e-300), 1e-300)
            visits_at_2, visits_at_1, visits_at = visits_at_1, visits_at, visits
            ahead = 0.0
            if rel_gap > target_gap:
                fall = np.log(rel_gap_2 / rel_gap)
                ahead = (visits_at - visits_at_2) * np.log(rel_gap / target_gap) / fall if fall > 0.0 else np.inf
            patience = min(max(1.0, REMAINING_SHARE * ahead), max(1.0, visits))
            promising = pg_range * min(target_gap / rel_gap, 1.0)
            if rel_gap <= gap:
                code = 2
            elif within_tol and rel_gap <= RULE_MIN_GAP:
                code = 3
            elif count >= max_records:
                code = 0
            elif within_tol:
                break
            elif not visits + ahead <= worth:
                break
        if code >= 0:
            support = 0.0
            for i in range(n):
                support += 1.0 if alpha[i] > 0.0 else 0.0
            for j in range(d):
                w[j] = v[j]
            record(history, records, ALM_FIELDS, f, bound, 0.0, support, 1.0)
            history[ALM_FIELDS - 1] = count
            history[len(history) - ALM_FIELDS] = 1
            return code
        for i in range(n):
            beta[i] = alpha[i] / cost[i]
        sigma = sigma_warm
        bound_best = bound

    margins(indptr, indices, values, y, v, z)
    stalled = idle = 0
    smallest = lowest = np.inf
    t = 0.0
    first = True
    for j in range(d):
        w[j] = 0.0
    while True:
        power_state(z, target, cost, y, beta, u, c, change, sums, 1.0, sigma, 1.0, none, rows)
        square = gradient(indptr, indices, values, u, v, g)
        shrink = 1.0 if sums[2] >= square else max(sums[2], 0.0) / square
        bound = shrink * (sums[2] - 0.5 * shrink * square)
        square = 0.5 * dot(v, v)
        phi = square + sums[0]
        if square + sums[1] < f_best:
            f_best = square + sums[1]
            for j in range(d):
                w[j] = v[j]
        if bound > bound_best:
            bound_best = bound
            for i in range(n):
                alpha[i] = -u[i] * y[i]
        norm = dot(g, g) ** 0.5
        record(history, records, ALM_FIELDS, f_best, bound_best, norm, sums[5], t)
        history[records * ALM_FIELDS + ALM_FIELDS - 1] = 0.0
        records += 1
        rel_gap = max(f_best - bound_best, 0.0) / f_best if f_best > 0.0 else 0.0
        if rel_gap <= gap:
            code = 2
            break
        if rel_gap <= OPTIMAL_GAP:
            code = 1
            break
        better = rel_gap < 0.999 * smallest
        stalled = 0 if better or (not first and phi < lowest - ALM_STALL_RTOL * abs(phi)) else stalled + 1
        idle = 0 if better else (idle + 1 if first else idle)
        smallest = min(rel_gap, smallest)
        lowest = phi if first else min(phi, lowest)
        if stalled >= ALM_STALL_STEPS or idle >= ALM_IDLE_ROUNDS:
            code = 4
            break
        if records > max_records:
            code = 0
            break
        for i in range(stored, rows):
            change[i - stored] += change[i]
        csr_gram(indptr, indices, values, change, gram, np.uint64(d), none, stored)
        first = norm * norm <= inner * inner * sums[3] / sigma
        if first:  # end of a round: the next one's first step keeps rows on their pieces, see gradient_on_pieces
            sigma = min(sigma * growth, sigma_max)
            for i in range(n):
                beta[i] = -u[i] * y[i] / cost[i]
                change[i] = sigma * y[i] * c[i] * (z[i] - target[i])
                change[i] += u[i]
            gradient(indptr, indices, values, change, v, g)
        for j in range(d * d):
            factor[j] = sigma * gram[j]
        for j in range(d):
            factor[j * d + j] += 1.0
        if direction(factor, g, p):
            code = 4
            break
        margins(indptr, indices, values, y, p, dz)
        t = power_search(z, dz, target, cost, beta, out, dot(v, p), dot(p, p), 1.0, sigma, 1.0)
        add_step(t, p, v, dz, z)
    history[len(history) - ALM_FIELDS] = records
    return code
