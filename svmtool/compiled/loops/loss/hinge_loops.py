"""The squared hinge C_i max(0, target_i - z_i)^2 row by row, z_i = y_i x_i.w the margin.

target has length n, or length 1 for the same value in all rows, which saves memory traffic.
"""

from svmtool.compiled import loop


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8, u8)", fast=True)
def hinge2_state(z, target, cost, y, u, c, change, counts, lo, hi):
    """Loss, slope and curvature of rows lo .. hi-1; returns sum_i C_i max(0, target_i - z_i)^2.

    u_i = d loss_i / d(x_i.w) = -alpha_i y_i with alpha_i = 2 C_i max(0, target_i - z_i);
    c_i = 2 C_i on active rows, else 0;  change_i = new c_i - old c_i.
    counts = rows whose activity changed, active rows, sum_i target_i alpha_i.
    """
    loss = 0.0
    changed = 0.0
    active = 0.0
    total = 0.0
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
    counts[0] = changed
    counts[1] = active
    counts[2] = total
    return 0.5 * loss


@loop("void(f8[], f8[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def hinge2_line_search(z, dz, target, cost, out, at, lo, hi):
    """out[0], out[1] = slope and curvature at `at` of sum_i C_i max(0, target_i - z_i - at dz_i)^2."""
    slope = 0.0
    curvature = 0.0
    shared = len(target) == 1
    for i in range(lo, hi):
        aim = target[0] if shared else target[i]
        slack = aim - z[i] - at * dz[i]
        t = 2.0 * cost[i] * dz[i] if slack > 0.0 else 0.0
        slope -= t * slack
        curvature += t * dz[i]
    out[0] = slope
    out[1] = curvature


@loop("void(f8[], f8[], f8, u8, u8)", fast=True)
def add_scaled(z, dz, step, lo, hi):
    """z += step dz."""
    for i in range(lo, hi):
        z[i] += step * dz[i]
