"""The logistic loss C_i log(1 + exp(-z_i)) of rows, z_i = y_i x_i.w the margin.

exp and log1p are polynomials, accurate to round-off: loops that call library functions are not vectorised.
"""

from numpy import uint64

from svmtool.compiled import _library, helper, loop
from svmtool.compiled.loops.cd.dcd_loops import shuffled
from svmtool.compiled.loops.rows.row_loops import add_multiple, product_of_row

if _library is None:
    from svmtool.compiled.loops.kernel.kernel_loops import exponential

# Lower bound of a row's curvature, relative to its slope / (1 + |margin|).  The loss of a badly misclassified row is
# almost linear: its curvature underflows, and a step over such rows alone would be unbounded.  With the bound a step
# changes a margin by at most 1000 times its size.  Rows with a margin above -9 keep their curvature.
MIN_CURVATURE_RATIO = 1e-3
SQRT2_MINUS_1 = 0.41421356237309503  # sqrt(2) - 1


@helper(fast=True)
def log_of_one_plus(s):
    """log(1 + s) for 0 <= s <= 1: 2 artanh(t), t = s / (2 + s), after dividing 1 + s > sqrt(2) by 2."""
    large = s > SQRT2_MINUS_1
    t = (s - 1.0) / (s + 3.0) if large else s / (s + 2.0)
    q = t * t
    p = 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return 2.0 * t * p + (0.6931471805599453 if large else 0.0)


@loop("f8(f8[], f8[], f8[], f8[], f8[], u8, u8)", fast=True)
def logistic_state(z, cost, y, u, c, lo, hi):
    """Loss, slope and curvature of rows lo .. hi-1; returns sum_i C_i log(1 + exp(-z_i)).

    u_i = d loss_i / d(x_i.w) = -C_i y_i s_i;  c_i = C_i s_i (1 - s_i);  s_i = 1 / (1 + exp(z_i)).
    c_i is at least C_i s_i MIN_CURVATURE_RATIO / (1 + |z_i|).
    """
    loss = 0.0
    for i in range(lo, hi):
        e = exponential(-abs(z[i]))
        inverse = 1.0 / (1.0 + e)
        s = inverse if z[i] < 0.0 else e * inverse
        loss += cost[i] * (max(-z[i], 0.0) + log_of_one_plus(e))
        u[i] = -cost[i] * y[i] * s
        rest = e * inverse if z[i] < 0.0 else inverse  # 1 - s, without cancellation
        c[i] = cost[i] * s * max(rest, MIN_CURVATURE_RATIO / (1.0 + abs(z[i])))
    return loss


@loop("void(f8[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def logistic_line_search(z, dz, cost, out, at, lo, hi):
    """out[0], out[1] = slope and curvature at `at` of sum_i C_i log(1 + exp(-z_i - at dz_i))."""
    slope = curvature = 0.0
    for i in range(lo, hi):
        margin = z[i] + at * dz[i]
        e = exponential(-abs(margin))
        inverse = 1.0 / (1.0 + e)
        t = cost[i] * dz[i] * inverse
        slope -= t if margin < 0.0 else t * e
        curvature += t * dz[i] * e * inverse
    out[0], out[1] = slope, curvature


@helper(fast=True)
def share(t):
    """1 / (1 + exp(-t))"""
    e = exponential(-abs(t))
    return (1.0 if t > 0.0 else e) / (1.0 + e)


@helper(fast=True)
def softplus(t):
    """log(1 + exp(t))"""
    return max(t, 0.0) + log_of_one_plus(exponential(-abs(t)))


@helper(fast=True)
def best_logit(t, z, s, strength):
    """The root of  h(v) = v + z + strength (1 / (1 + exp(-v)) - s),  s = 1 / (1 + exp(-t)).

    h' >= 1, and h changes its sign between t and -z: bracketed Newton steps from t, until |h| <= 0.01 |h(t)|, which
    suffices within an epoch.
    """
    low = min(t, -z)
    high = max(t, -z)
    tolerance = 0.01 * abs(t + z)
    v = t
    now = s
    h = t + z
    for _ in range(50):
        new = v - h / (1.0 + strength * now * (1.0 - now))
        if not (low < new and new < high):
            new = 0.5 * (low + high)
        v = new
        now = share(v)
        h = v + z + strength * (now - s)
        if abs(h) <= tolerance:
            break
        if h > 0.0:
            high = v
        else:
            low = v
    return v


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], f8[], f8[], u8[], u8[], f8[], f8, u8, u8, u8)", fast=True)
def logistic_epoch(indptr, indices, values, y, cost, squares, t, w, chunks, state, found, bias, chunk, first, last):
    """Chunks first .. last - 1 of an epoch of dual coordinate descent, alpha_i = C_i / (1 + exp(-t_i)); see
    dcd_loops.py.

    Paper: Yu, Huang and Lin (2011).  An epoch begins with first = 0.  w (f8[d], the bias's weight last where bias >= 0)
    = sum alpha_i y_i x_i is updated.  state[0]: random state.  found: the largest |t_i + y_i x_i.w|, the dual's
    derivative, and the sum over rows of loss, conjugate and alpha_i y_i x_i.w, which for a fixed w is the gap.
    """
    rows = uint64(len(y))
    one = uint64(1)
    if first == uint64(0):
        state[0] = shuffled(chunks, (rows + chunk - one) // chunk, state[0])
        found[:2] = 0.0
    largest = found[0]
    gap = found[1]
    for c in range(first, last):
        drawn = chunks[c]
        for i in range(drawn * chunk, min(rows, (drawn + one) * chunk)):
            z = y[i] * product_of_row(indices, values, w, indptr[i], indptr[i + one], bias)
            h = t[i] + z
            s = share(t[i])
            largest = max(largest, abs(h))
            gap += cost[i] * (softplus(-z) - softplus(t[i]) + s * h)
            if h == 0.0:
                continue
            t[i] = best_logit(t[i], z, s, cost[i] * squares[i])
            step = cost[i] * (share(t[i]) - s) * y[i]
            add_multiple(indices, values, w, step, indptr[i], indptr[i + one], bias)
    found[0], found[1] = largest, gap
