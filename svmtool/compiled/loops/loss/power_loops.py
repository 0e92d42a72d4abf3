"""Powers of the hinge, l(xi) = max(0, xi)^p with 1 <= p <= 2, and their augmented Lagrangian, for each row.

xi_i = target_i - z_i is the slack of row i, z_i = y_i x_i.w its margin; beta_i the multiplier for each unit of
cost.  With t = xi + beta / sigma the e-step (ALM paper, Eqs. 10-13) and its new multiplier are

    v  = argmin over v of  max(0, v)^p + sigma/2 (v - t)^2,      b = sigma (t - v) = p max(0, v)^(p-1)

so that b is the slope, in xi, of the smoothed loss  min_v l(v) + sigma/2 (v - t)^2.  For p = 1 that is
b = clip(sigma t, 0, 1); an upper bound `cap` other than 1 gives Huber's loss.
"""

import numpy as np

from svmtool.compiled import helper, loop

ROUNDS = 60  # most Newton steps for one row; usually a few


@helper(fast=True)
def multiplier(t, p, sigma):
    """b for one row with t > 0 and 1 < p < 2.

    s = v^(p-1) solves s^r + (p / sigma) s = t, r = 1 / (p - 1) > 1: increasing and convex, so that Newton
    steps from above converge monotonically without a bracket (the paper bisects Eq. 11 instead).
    """
    gamma = p / sigma
    r = 1.0 / (p - 1.0)
    s = min(t / gamma, t ** (p - 1.0))
    for _ in range(ROUNDS):
        power = s ** (r - 1.0)
        new = s - (power * s + gamma * s - t) / (r * power + gamma)
        if not new < s * (1.0 - 1e-15):
            break
        s = new
    return p * s


@helper(fast=True)
def curvature(b, p, sigma):
    """db/dt = sigma K / (1 + K) where b > 0 and 1 < p < 2, K = p (p - 1) v^(p-2) / sigma."""
    s = b / p  # v^(p-1)
    inverse = sigma * s ** ((2.0 - p) / (p - 1.0)) / (p * (p - 1.0))  # 1 / K
    return sigma / (1.0 + inverse)


@loop("void(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, u8, u8)", fast=True)
def power_state(z, target, cost, y, beta, u, c, change, sums, p, sigma, cap, lo, hi):
    """Slopes, curvatures and sums of rows lo .. hi-1.

    u_i = -C_i b_i y_i; c_i = C_i for p = 1 where 0 < b_i < cap (else 0; the factor sigma is left out), C_i db_i/dt
    for p > 1; change_i = new c_i - old c_i.  sums = sum C (smoothed loss), sum C l(xi), sum C target b,
    sum C (b - beta)^2, sum C b^q / p^(q-1) with q = p / (p - 1) (0 for p = 1), rows with b > 0, rows whose c changed
    (p = 1: or whose b changed from one bound to the other), rows with c > 0.
    """
    smooth = 0.0
    loss = 0.0
    linear = 0.0
    moved = 0.0
    conjugate = 0.0
    support = 0.0
    changed = 0.0
    active = 0.0
    if p == 1.0:
        for i in range(lo, hi):
            xi = target[i] - z[i]
            raw = beta[i] + sigma * xi
            b = min(max(raw, 0.0), cap)
            step = b - beta[i]
            now = cost[i] if b > 0.0 and raw < cap else 0.0
            smooth += cost[i] * (b * xi - 0.5 * step * step / sigma)
            loss += cost[i] * cap * max(xi, 0.0)
            linear += cost[i] * target[i] * b
            moved += cost[i] * step * step
            support += 1.0 if b > 0.0 else 0.0
            changed += 1.0 if now != c[i] or (b > 0.0) != (u[i] != 0.0) else 0.0  # or from one bound to the other
            u[i] = -cost[i] * b * y[i]
            active += 1.0 if now != 0.0 else 0.0
            change[i] = now - c[i]
            c[i] = now
    elif p == 2.0:
        slope = 2.0 * sigma / (sigma + 2.0)
        for i in range(lo, hi):
            xi = target[i] - z[i]
            b = slope * max(xi + beta[i] / sigma, 0.0)
            step = b - beta[i]
            now = cost[i] * slope if b > 0.0 else 0.0
            smooth += cost[i] * (0.25 * b * b + 0.5 * (b * b - beta[i] * beta[i]) / sigma)
            loss += cost[i] * max(xi, 0.0) * max(xi, 0.0)
            linear += cost[i] * target[i] * b
            moved += cost[i] * step * step
            conjugate += 0.5 * cost[i] * b * b
            support += 1.0 if b > 0.0 else 0.0
            u[i] = -cost[i] * b * y[i]
            active += 1.0 if now != 0.0 else 0.0
            changed += 1.0 if now != c[i] else 0.0
            change[i] = now - c[i]
            c[i] = now
    else:
        for i in range(lo, hi):
            xi = target[i] - z[i]
            t = xi + beta[i] / sigma
            b = 0.0
            now = 0.0
            if t > 0.0:
                b = multiplier(t, p, sigma)
                now = cost[i] * curvature(b, p, sigma)
                v = t - b / sigma
                smooth += cost[i] * b * v / p
                conjugate += cost[i] * b * v
                support += 1.0
            step = b - beta[i]
            smooth += cost[i] * 0.5 * (b * b - beta[i] * beta[i]) / sigma
            if xi > 0.0:
                loss += cost[i] * xi**p
            linear += cost[i] * target[i] * b
            moved += cost[i] * step * step
            u[i] = -cost[i] * b * y[i]
            active += 1.0 if now != 0.0 else 0.0
            changed += 1.0 if now != c[i] else 0.0
            change[i] = now - c[i]
            c[i] = now
    sums[0] = smooth
    sums[1] = loss
    sums[2] = linear
    sums[3] = moved
    sums[4] = conjugate
    sums[5] = support
    sums[6] = changed
    sums[7] = active


@loop("void(f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, u8, u8)", fast=True)
def power_line_search(z, dz, target, cost, beta, out, at, p, sigma, cap, lo, hi):
    """out[0], out[1] = slope and curvature, at z + at dz, of the sum over rows lo .. hi-1 of the smoothed losses."""
    slope = 0.0
    bend = 0.0
    if p == 1.0:
        for i in range(lo, hi):
            raw = beta[i] + sigma * (target[i] - z[i] - at * dz[i])
            b = min(max(raw, 0.0), cap)
            weighted = cost[i] * dz[i]
            slope -= weighted * b
            bend += weighted * dz[i] if b > 0.0 and raw < cap else 0.0
        bend *= sigma
    elif p == 2.0:
        for i in range(lo, hi):
            t = target[i] - z[i] - at * dz[i] + beta[i] / sigma
            weighted = cost[i] * dz[i] if t > 0.0 else 0.0
            slope -= weighted * t
            bend += weighted * dz[i]
        slope *= 2.0 * sigma / (sigma + 2.0)
        bend *= 2.0 * sigma / (sigma + 2.0)
    else:
        for i in range(lo, hi):
            t = target[i] - z[i] - at * dz[i] + beta[i] / sigma
            if t > 0.0:
                b = multiplier(t, p, sigma)
                weighted = cost[i] * dz[i]
                slope -= weighted * b
                bend += weighted * dz[i] * curvature(b, p, sigma)
    out[0] = slope
    out[1] = bend


@helper(fast=True)
def next_line_search_step(t, slope, curvature, bracket):
    """The next iterate of Objective.line_search after t; t itself when it has converged.

    bracket: its lower and upper end, updated.
    """
    bracket[1 if slope > 0.0 else 0] = t
    low = bracket[0]
    high = bracket[1]
    if not curvature > 0.0 or (high < np.inf and high - low <= 1e-15 * high):
        return t
    new = t - slope / curvature
    near = 1e-14 * abs(t)
    if not ((low < new and new < high) or abs(new - t) <= near):  # t is an end of the bracket: new = t at the zero
        new = 0.5 * (low + high) if high < np.inf else 2.0 * t
    return t if abs(new - t) <= near else new


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8)", fast=True)
def power_search(z, dz, target, cost, beta, out, a, b, p, sigma, cap):
    """The minimiser along z + t dz of the smoothed losses and a quadratic of slope a + t b, as Objective.line_search.

    out: scratch, f8[4].
    """
    bracket = out[2:]
    bracket[0] = 0.0
    bracket[1] = np.inf
    t = 1.0
    for _ in range(100):
        power_line_search(z, dz, target, cost, beta, out, t, p, sigma, cap, np.uint64(0), np.uint64(len(z)))
        new = next_line_search_step(t, out[0] + a + t * b, out[1] + b, bracket)
        if new == t:
            break
        t = new
    return t
