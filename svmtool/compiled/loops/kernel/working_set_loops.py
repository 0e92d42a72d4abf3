"""A working set of a kernel machine's dual, solved pair by pair with second-order selection.

    min over a of  1/2 a'Qa + chi'a,  Q_st = y_s y_t K_st,  0 <= a <= upper,  y'a fixed

Fan, Chen and Lin, Working Set Selection Using Second Order Information, JMLR 6 (2005) 1889-1918, WSS 2.

If the sum of each sign is fixed, the variables with y = +1 come first, up to `cut`, and pairs are taken from the sign
with the larger violation; otherwise cut = l.  Both parts are padded to multiples of LANES with fixed variables, so that
extremes are found by lane, which is vectorised, and then among the lanes.
"""

from numpy import uint64

from svmtool.compiled import helper, loop

LANES = uint64(64)  # variables that a search for the most violating one compares at a time
QUARTER = uint64(16)
N0 = uint64(0)
EXCLUDED = 1e300  # takes a variable out of a search
NOT_STORED = uint64(2**63)  # place of a row that is not in memory
MIN_CURVATURE = 1e-12  # replaces a curvature that is not positive
STEPS_EACH = 100  # steps for each variable, at most, of one call: it is short enough to be interrupted
# Violation to which steps go: a share of eps, which leaves room for round-off; without eps, or within a working set, a
# share of that among all variables
EPS_SHARE, VIOLATION_SHARE = 0.9, 0.1


@helper
def bar(t, y, a, upper, rising, falling):
    """Set rising[t] to 0 or -EXCLUDED and falling[t] to 0 or EXCLUDED: whether y_t a_t can increase, and decrease."""
    grow = a[t] < upper[t] if y[t] > 0 else a[t] > 0.0
    shrink = a[t] > 0.0 if y[t] > 0 else a[t] < upper[t]
    rising[t] = 0.0 if grow else -EXCLUDED
    falling[t] = 0.0 if shrink else EXCLUDED


@helper(fast=True)
def step_and_search(F, K, at_i, at_j, d, rising, falling, high, low, begin, end):
    """F_t -= d (K_it - K_jt); high and low (by lane): the largest F + rising, the smallest F + falling."""
    for lane in range(LANES):
        high[lane] = -EXCLUDED
        low[lane] = EXCLUDED
    for b in range(begin, end, LANES):
        for lane in range(LANES):
            t = b + lane
            v = F[t] - d * (K[at_i + t] - K[at_j + t])
            F[t] = v
            r = v + rising[t]
            s = v + falling[t]
            high[lane] = r if r > high[lane] else high[lane]
            low[lane] = s if s < low[lane] else low[lane]


@helper
def larger(a, b):
    return b if b > a else a


@helper
def largest(by_lane, sign):
    """The largest number times `sign`, in four chains, because a comparison waits for the one before it."""
    a = b = c = d = sign * by_lane[0]
    for lane in range(QUARTER):
        a = larger(a, sign * by_lane[lane])
        b = larger(b, sign * by_lane[lane + QUARTER])
        c = larger(c, sign * by_lane[lane + QUARTER + QUARTER])
        d = larger(d, sign * by_lane[lane + LANES - QUARTER])
    return larger(larger(a, b), larger(c, d))


@helper
def lane_of_largest(by_lane):
    """The first lane with the largest number; 0 if there is none."""
    most = largest(by_lane, 1.0)
    for lane in range(LANES):
        if by_lane[lane] == most:
            return lane
    return N0


@helper(fast=True)
def gains_of_partners(F, K, at_i, diagonal, falling, own, m, gain, best, begin, end):
    """gain_t = b^2 / (K_ii + K_tt - 2 K_it) with b = m - F_t where b > 0, else 0; best: the largest, by lane."""
    real = gain.dtype.type  # the precision of K
    for lane in range(LANES):
        best[lane] = real(-1.0)
    two = real(2.0)
    for b in range(begin, end, LANES):
        for lane in range(LANES):
            t = b + lane
            step = real(max(m - (F[t] + falling[t]), 0.0))
            curve = max(own + diagonal[t] - two * K[at_i + t], real(MIN_CURVATURE))
            g = step * step / curve
            gain[t] = g
            best[lane] = g if g > best[lane] else best[lane]


@helper
def step_pair(i, j, d, y, a, upper, rising, falling):
    """a_i += y_i d, a_j -= y_j d, with d reduced to the bounds, which are reached exactly; returns d."""
    slack_i = upper[i] - a[i] if y[i] > 0 else a[i]
    slack_j = a[j] if y[j] > 0 else upper[j] - a[j]
    d = min(d, min(slack_i, slack_j))
    a[i] += y[i] * d
    a[j] -= y[j] * d
    if d == slack_i:
        a[i] = upper[i] if y[i] > 0 else 0.0
    if d == slack_j:
        a[j] = 0.0 if y[j] > 0 else upper[j]
    bar(i, y, a, upper, rising, falling)
    bar(j, y, a, upper, rising, falling)
    return d


@loop(
    "i8(f4|f8[], f4|f8[], f4|f8[], f4|f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], u8[], i8[],u8, u8, f8, i8)"
)
def pair_descent(
    K, diagonal, gain, best, y, a, upper, F, rising, falling, high, low, place, wanted, l, cut, tolerance,  # noqa: E741
    max_steps,
):  # fmt: skip
    """Steps in pairs until max F - min F <= tolerance for both signs, or `max_steps` steps; returns their number.

    K, diagonal, gain and best are all f4 or all f8.  K: row t of l values begins at place[t], or is NOT_STORED; if that
    is needed, wanted[0] = t and the steps end, else wanted[0] = -1.  diagonal [l]: K_tt.
    y, a (updated), upper f8[l]; F = -y (Q a + chi), updated; l and cut multiples of LANES.
    gain [l], best [LANES], high, low f8[2 LANES]: scratch; rising, falling f8[l]: 0 for variables that can
    increase, and decrease, else -EXCLUDED and EXCLUDED.
    """
    for t in range(l):
        bar(t, y, a, upper, rising, falling)
    high_below, low_below = high[LANES:], low[LANES:]
    wanted[0] = -1
    at_i = N0
    at_j = N0
    steps = 0
    i = N0
    j = N0
    d = 0.0
    while True:
        begin, end = N0, cut
        step_and_search(F, K, at_i, at_j, d, rising, falling, high, low, begin, end)
        column = lane_of_largest(high)
        m = high[column]
        violation = m + largest(low, -1.0)
        if cut < l:
            step_and_search(F, K, at_i, at_j, d, rising, falling, high_below, low_below, cut, l)
            other = lane_of_largest(high_below)
            if high_below[other] + largest(low_below, -1.0) > violation:
                begin, end = cut, l
                column = other
                m = high_below[other]
                violation = m + largest(low_below, -1.0)
        if not violation > tolerance or steps >= max_steps:
            return steps
        i = begin + column
        while i < end and F[i] + rising[i] != m:
            i += LANES
        if i >= end:  # no candidate has the value m: sums are no numbers any more
            return steps
        at_i = place[i]
        if at_i == NOT_STORED:
            wanted[0] = i
            return steps
        gains_of_partners(F, K, at_i, diagonal, falling, diagonal[i], m, gain, best, begin, end)
        column = lane_of_largest(best)
        if not best[column] > 0.0:
            return steps
        j = begin + column
        while j < end and gain[j] != best[column]:
            j += LANES
        if j >= end:
            return steps
        at_j = place[j]
        if at_j == NOT_STORED:
            wanted[0] = j
            return steps
        curve = max(float(diagonal[i]) + float(diagonal[j]) - 2.0 * float(K[at_i + j]), MIN_CURVATURE)
        d = step_pair(i, j, (m - F[j]) / curve, y, a, upper, rising, falling)
        steps += 1
