"""Powers of the hinge, l(xi) = max(0, xi)^p with 1 <= p <= 2, row by row.

xi_i = target_i - z_i is the slack of row i, z_i = y_i x_i.w its margin.  hinge2_...: C_i l(xi_i) for p = 2; target has
length n, or length 1 for the same value in all rows, which saves memory traffic.

power_...: their augmented Lagrangian for p < 2, beta_i the multiplier for each unit of cost.  With
t = xi + beta / sigma the e-step (ALM paper, Eqs. 10-13) and its new multiplier are

    v  = argmin over v of  max(0, v)^p + sigma/2 (v - t)^2,      b = sigma (t - v) = p max(0, v)^(p-1)

so that b is the slope, in xi, of the smoothed loss  min_v l(v) + sigma/2 (v - t)^2.  For p = 1 that is
b = clip(sigma t, 0, 1); an upper bound `cap` other than 1 gives Huber's loss.
"""

from svmtool.compiled import helper, loop

MAX_ROW_STEPS = 60  # most Newton steps for one row; usually a few


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8, u8)", fast=True)
def hinge2_state(z, target, cost, y, u, c, change, counts, lo, hi):
    """Loss, slope and curvature of rows lo .. hi-1; returns sum_i C_i max(0, target_i - z_i)^2.

    u_i = d loss_i / d(x_i.w) = -alpha_i y_i with alpha_i = 2 C_i max(0, target_i - z_i);
    c_i = 2 C_i on active rows, else 0;  change_i = new c_i - old c_i.
    counts = rows whose activity changed, active rows, sum_i target_i alpha_i.
    """
    loss = changed = active = total = 0.0
    shared = len(target) == 1
    for i in range(lo, hi):
        aim = target[0] if shared else target[i]
        slack = max(aim - z[i], 0.0)
        now = 2.0 * cost[i] if slack > 0.0 else 0.0
        alpha = now * slack
        total += aim * alpha
        loss += alpha * slack
        u[i] = -alpha * y[i]
        active += 1.0 if now != 0.0 else 0.0
        changed += 1.0 if now != c[i] else 0.0
        change[i] = now - c[i]
        c[i] = now
    counts[0], counts[1], counts[2] = changed, active, total
    return 0.5 * loss


@loop("void(f8[], f8[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def hinge2_line_search(z, dz, target, cost, out, at, lo, hi):
    """out[0], out[1] = slope and curvature at `at` of sum_i C_i max(0, target_i - z_i - at dz_i)^2."""
    slope = curvature = 0.0
    shared = len(target) == 1
    for i in range(lo, hi):
        aim = target[0] if shared else target[i]
        slack = aim - z[i] - at * dz[i]
        t = 2.0 * cost[i] * dz[i] if slack > 0.0 else 0.0
        slope -= t * slack
        curvature += t * dz[i]
    out[0], out[1] = slope, curvature


@loop("void(f8[], f8[], f8, u8, u8)", fast=True)
def add_scaled(z, dz, step, lo, hi):
    """z += step dz."""
    for i in range(lo, hi):
        z[i] += step * dz[i]


@helper(fast=True)
def multiplier(t, p, sigma):
    """b for one row with t > 0 and 1 < p < 2.

    s = v^(p-1) solves s^r + (p / sigma) s = t, r = 1 / (p - 1) > 1: increasing and convex, so that Newton
    steps from above converge monotonically without a bracket (the paper bisects Eq. 11 instead).
    """
    gamma = p / sigma
    r = 1.0 / (p - 1.0)
    s = min(t / gamma, t ** (p - 1.0))
    for _ in range(MAX_ROW_STEPS):
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


@helper(fast=True)
def smoothed(xi, beta, p, sigma, cap):
    """Of one row with slack xi: b, db/dxi (p = 1: without the factor sigma), smoothed loss, l(xi) and b^q / p^(q-1).

    q = p / (p - 1); the last is 0 for p = 1.
    """
    if p == 1.0:
        raw = beta + sigma * xi
        b = min(max(raw, 0.0), cap)
        step = b - beta
        inside = 1.0 if b > 0.0 and raw < cap else 0.0
        return b, inside, b * xi - 0.5 * step * step / sigma, cap * max(xi, 0.0), 0.0
    t = xi + beta / sigma
    b = slope = v = loss = 0.0
    if t > 0.0:
        b = multiplier(t, p, sigma)
        slope = curvature(b, p, sigma)
        v = t - b / sigma
    if xi > 0.0:
        loss = xi**p
    return b, slope, b * v / p + 0.5 * (b * b - beta * beta) / sigma, loss, b * v


@helper(fast=True)
def state_of_rows(z, target, cost, y, beta, u, c, change, sums, p, sigma, cap, lo, hi):
    """Slopes, curvatures and sums of rows lo .. hi-1.

    u_i = -C_i b_i y_i; c_i = C_i for p = 1 where 0 < b_i < cap (else 0; the factor sigma is left out), C_i db_i/dt
    for p > 1; change_i = new c_i - old c_i.  sums = sum C (smoothed loss), sum C l(xi), sum C target b,
    sum C (b - beta)^2, sum C b^q / p^(q-1) with q = p / (p - 1) (0 for p = 1), rows with b > 0, rows whose c changed
    (p = 1: or whose b changed from one bound to the other), rows with c > 0.
    """
    smooth = loss = linear = moved = conjugate = support = changed = active = 0.0
    for i in range(lo, hi):
        b, slope, value, exact, dual = smoothed(target[i] - z[i], beta[i], p, sigma, cap)
        now = cost[i] * slope
        smooth += cost[i] * value
        loss += cost[i] * exact
        linear += cost[i] * target[i] * b
        moved += cost[i] * (b - beta[i]) * (b - beta[i])
        conjugate += cost[i] * dual
        support += 1.0 if b > 0.0 else 0.0
        changed += 1.0 if now != c[i] or (p == 1.0 and (b > 0.0) != (u[i] != 0.0)) else 0.0
        u[i] = -cost[i] * b * y[i]
        active += 1.0 if now != 0.0 else 0.0
        change[i] = now - c[i]
        c[i] = now
    sums[0], sums[1], sums[2], sums[3] = smooth, loss, linear, moved
    sums[4], sums[5], sums[6], sums[7] = conjugate, support, changed, active


@loop("void(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, u8, u8)", fast=True)
def power_state(z, target, cost, y, beta, u, c, change, sums, p, sigma, cap, lo, hi):
    """`state_of_rows`, compiled for p = 1 as well."""
    if p == 1.0:
        state_of_rows(z, target, cost, y, beta, u, c, change, sums, 1.0, sigma, cap, lo, hi)
    else:
        state_of_rows(z, target, cost, y, beta, u, c, change, sums, p, sigma, cap, lo, hi)


@helper(fast=True)
def slope_of_rows(z, dz, target, cost, beta, out, at, p, sigma, cap, lo, hi):
    """out[0], out[1] = slope and curvature, at z + at dz, of the sum over rows lo .. hi-1 of the smoothed losses."""
    slope = bend = 0.0
    for i in range(lo, hi):
        b, rise, _, _, _ = smoothed(target[i] - z[i] - at * dz[i], beta[i], p, sigma, cap)
        slope -= cost[i] * dz[i] * b
        bend += cost[i] * dz[i] * dz[i] * rise
    out[0] = slope
    out[1] = bend * sigma if p == 1.0 else bend


@loop("void(f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, u8, u8)", fast=True)
def power_line_search(z, dz, target, cost, beta, out, at, p, sigma, cap, lo, hi):
    """`slope_of_rows`, compiled for p = 1 as well."""
    if p == 1.0:
        slope_of_rows(z, dz, target, cost, beta, out, at, 1.0, sigma, cap, lo, hi)
    else:
        slope_of_rows(z, dz, target, cost, beta, out, at, p, sigma, cap, lo, hi)
