"""Breakpoints of the slope of a sum of losses along a line z + t dz, for piecewise linear slopes.

slack_i = target_i - z_i + beta_i / sigma; the loss of row i has the slope -scale C_i slack_i dz_i while
0 < slack_i - t dz_i < width, and a constant slope outside: its breakpoints are where its slack enters and leaves this
interval.  target and beta have length n, or length 1 for the same value in all rows.
"""

from svmtool.compiled import loop


@loop("i8(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8)")
def gather_breakpoints(z, dz, target, beta, cost, at, bend, start, scale, width, inverse, low, high):
    """at, bend (2 n numbers): the breakpoints with low <= t < high, and the increase of the curvature there.

    inverse: 1 / sigma.  start = slope at low and curvature below it.  Returns the number of breakpoints.
    """
    count = 0
    slope = curvature = 0.0
    same_aim = len(target) == 1
    same_beta = len(beta) == 1
    for i in range(len(z)):
        aim = target[0] if same_aim else target[i]
        slack = aim - z[i] + (beta[0] if same_beta else beta[i]) * inverse
        weight = scale * cost[i] * dz[i]
        slope -= weight * min(max(slack - low * dz[i], 0.0), width)
        weight *= dz[i]
        if weight > 0.0:
            zero = slack / dz[i]
            end = (slack - width) / dz[i]
            enters = min(zero, end)
            leaves = max(zero, end)
            if enters < low <= leaves:
                curvature += weight
            if low <= enters < high:
                at[count] = enters
                bend[count] = weight
                count += 1
            if low <= leaves < high:
                at[count] = leaves
                bend[count] = -weight
                count += 1
    start[0], start[1] = slope, curvature
    return count


@loop("void(f8[], f8[], f8[], f8, f8, i8)")
def sum_breakpoints(at, bend, sums, low, step, bins):
    """sums (f8[2 bins]): for each bin [low + k step, low + (k + 1) step) the sums of bend and of bend (at - low)."""
    for k in range(2 * bins):
        sums[k] = 0.0
    for i in range(len(at)):
        offset = at[i] - low
        if 0.0 <= offset < step * bins:
            k = min(int(offset / step), bins - 1)
            sums[2 * k] += bend[i]
            sums[2 * k + 1] += bend[i] * offset
