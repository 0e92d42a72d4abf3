"""Line search for a sum of smoothed hinges: the zero of its increasing, piecewise linear slope."""

from svmtool.compiled import loop

MAX_ROOT_STEPS = 300  # most steps; bisection in every third step ends earlier
ROOT_RTOL = 2.0**-51  # relative tolerance: two units in the last place


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8, f8)", fast=True)
def smoothed_root(decisions, along, y, cost, centre, mu, slope, curve, start, low, high):
    """The t from low to high at which  slope + t curve - sum_i y_i C_i u_i(t) along_i  crosses zero; high if
    it is negative there.

    u_i(t) = centre_i + (1 - y_i (decisions_i + t along_i)) / mu, clipped to [0, 1].  along: length n, or 1 for the same
    value in all rows.  Newton steps from `start`, exact within a piece; bisection if they leave the bracket or do not
    halve it in three steps.
    """
    same = len(along) == 1
    inverse = 1.0 / mu
    t = start if low < start <= high else 0.5 * (low + high)
    wide = high - low
    for k in range(MAX_ROOT_STEPS):
        value = slope + t * curve
        bend = curve
        for i in range(len(y)):
            pull = y[i] * (along[0] if same else along[i])
            u = centre[i] + (1.0 - y[i] * decisions[i] - t * pull) * inverse
            value -= cost[i] * pull * min(max(u, 0.0), 1.0)
            bend += cost[i] * pull * pull * inverse if 0.0 < u < 1.0 else 0.0
        if value == 0.0:
            return t
        if value < 0.0:
            low = t
        else:
            high = t
        new = t - value / bend if bend > 0.0 else 0.5 * (low + high)
        if abs(new - t) <= ROOT_RTOL * abs(t):
            return t
        if k % 3 == 2:
            if high - low > 0.5 * wide:
                new = 0.5 * (low + high)
            wide = high - low
        if not low < new < high:
            new = 0.5 * (low + high)
            if not low < new < high:
                return high
        t = new
    return high
