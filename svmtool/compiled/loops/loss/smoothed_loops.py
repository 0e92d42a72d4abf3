"""The zero of the slope of a smoothed hinge's sum along a line: the slope is increasing and piecewise linear."""

from svmtool.compiled import loop

MOST = 300  # steps: halvings alone, one in three, end before
CLOSE = 2.0**-51  # of a number's size: two units of its last place


@loop("f8(f8[], f8[], f8[], f8[], f8[], f8, f8, f8, f8, f8, f8)", fast=True)
def smoothed_root(decisions, along, y, cost, centre, mu, slope, curve, start, low, high):
    """The t from low to high at which  slope + t curve - sum_i y_i C_i u_i(t) along_i  crosses zero; high where
    it is below.

    u_i(t) = centre_i + (1 - y_i (decisions_i + t along_i)) / mu, held within 0 and 1.  along: length n, or 1 where it
    is the same for all rows.  By Newton's steps from `start`, each of which ends exactly where it stays on its piece;
    where they leave the bracket, or do not halve it in three steps, by halving.
    """
    same = len(along) == 1
    inverse = 1.0 / mu
    t = start if low < start <= high else 0.5 * (low + high)
    wide = high - low
    for k in range(MOST):
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
        if abs(new - t) <= CLOSE * abs(t):
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
