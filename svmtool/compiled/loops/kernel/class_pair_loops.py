"""Many small one-vs-one problems in one compiled call, each by steps in pairs of dual variables.

Steps as in working_set_loops.py, problem and notation as in kernels/decomposition.py, all in double precision.  A
problem takes microseconds; calls from Python would cost a hundred times more.
"""

from numpy import inf, uint64

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.kernel.working_set_loops import (
    EPS_SHARE,
    LANES,
    N0,
    NOT_STORED,
    STEPS_EACH,
    VIOLATION_SHARE,
    pair_descent,
)
from svmtool.tolerances import SUM_ROUNDOFF

# of a pair: status, rounds, 1/2 a'Qa + p'a, P - D, relative gap, KKT violation, rho, r, steps times variables
PAIR_FIELDS = 9
# status of a pair: not solved (steps or round-off); violation; gap; round limit
UNSOLVED, BY_RULE, BY_GAP, BY_LIMIT = range(4)
MAX_ROUNDS = 60  # most rounds, each of which examines all variables


@helper
def whole_lanes(n):
    """The smallest multiple of LANES >= n."""
    return n + (LANES - n % LANES) % LANES


@helper
def base_of(n, total):
    """First place of class j: with fixed sums (total > 0) each class fills whole lanes."""
    return whole_lanes(n) if total > 0.0 else n


@helper
def lay_row(t, own, cross, others, n, width, column, at, m, base, K, place, l):  # noqa: E741
    """Write row t of the pair's matrix, from class i's block `own` (n x n), `cross`, and j's block in `others`."""
    to = t * l
    place[t] = to
    for s in range(l):
        K[to + s] = 0.0
    if t < n:
        for s in range(n):
            K[to + s] = own[t * n + s]
        for s in range(m):
            K[to + base + s] = cross[t * width + column + s]
    else:
        u = t - base
        for s in range(n):
            K[to + s] = cross[s * width + column + u]
        for s in range(m):
            K[to + base + s] = others[at + u * m + s]


@helper
def slopes(a, y, F, p, own, cross, others, n, width, column, at, m, base, K, place, l):  # noqa: E741
    """F = -y (Qa + p), with the rows of the matrix that this needs."""
    for t in range(l):
        F[t] = -y[t] * p
    for s in range(base + m):
        if a[s] > 0.0:
            if place[s] == NOT_STORED:
                lay_row(s, own, cross, others, n, width, column, at, m, base, K, place, l)
            c = a[s] * y[s]
            for t in range(l):
                F[t] -= c * K[s * l + t]


@helper
def copy_point(a, to, l):  # noqa: E741
    for t in range(l):
        to[t] = a[t]


@helper
def level_of(F, a, y, upper, begin, end, out):
    """The violation among variables begin .. end-1; out[0] = the level of F of the free ones (decomposition._level)."""
    high, low = -inf, inf
    total = free = 0.0
    for t in range(begin, end):
        above, below = a[t] > 0.0, a[t] < upper[t]
        grows, shrinks = (below, above) if y[t] > 0.0 else (above, below)
        if grows:
            high = max(high, F[t])
        if shrinks:
            low = min(low, F[t])
        if grows and shrinks:
            total += F[t]
            free += 1.0
    if free > 0.0:
        out[0] = total / free
    elif high == -inf or low == inf:
        out[0] = low if low < inf else (high if high > -inf else 0.0)
    else:
        out[0] = 0.5 * (high + low)
    return max(high - low, 0.0)


@helper
def nearest(F, y, upper, begin, end):
    """The smallest -y F = Qa + p of the rows begin .. end-1 of one sign: the rows nearest to the other class."""
    least = inf
    for t in range(begin, end):
        if upper[t] > 0.0:
            least = min(least, -y[t] * F[t])
    return least


@helper
def certify(F, a, y, upper, used, p, floor, out, at):
    """out[at + 2 ..] = value, P - D, relative gap and KKT violation at out[at + 6 ..], as in certify/kernel.py."""
    rho, r = out[at + 6], out[at + 7]
    value = gap = worst = 0.0
    for t in range(used):
        if upper[t] <= 0.0:
            continue
        gradient = -y[t] * F[t]
        value += a[t] * (gradient + p)
        s = gradient - (r + y[t] * rho)
        gap += a[t] * s if s > 0.0 else (a[t] - upper[t]) * s
        worst = max(worst, max(-s, 0.0) if a[t] <= 0.0 else (max(s, 0.0) if a[t] >= upper[t] else abs(s)))
    value *= 0.5
    primal = gap - value
    dual = -value
    difference = max(primal - dual, 0.0)
    if difference == 0.0:
        relative = 0.0
    elif floor > 0.0:
        relative = difference / max(-primal, floor)
    else:
        relative = difference / abs(primal) if primal * dual > 0.0 or (dual == 0.0 and primal > 0.0) else inf
    out[at + 2] = value
    out[at + 3] = gap
    out[at + 4] = relative
    out[at + 5] = worst


@helper
def first_value(t, cost, total):
    """a of row t of a class at the first point."""
    return min(max(total - cost * float(t), 0.0), cost)


@helper
def begin_pair(
    own, cross, others, n, width, column, at, m, base, total, costs, y, upper, a, diagonal, K, place, l,  # noqa: E741
):  # fmt: skip
    """Signs, bounds, the first point with the sums `total`, and the diagonal of a pair's matrix.

    Its rows are laid if they fill one block of lanes: that takes less time than the returns of pair_descent for them.
    """
    for t in range(l):
        y[t] = 1.0 if t < base else -1.0
        upper[t] = a[t] = 0.0
        diagonal[t] = 1.0
        K[t] = 0.0  # the first step has length 0 along row 0, which is not computed yet
        place[t] = NOT_STORED
    for t in range(n):
        upper[t] = costs[0]
        a[t] = first_value(t, costs[0], total)
        diagonal[t] = own[t * n + t]
    for t in range(m):
        upper[base + t] = costs[1]
        a[base + t] = first_value(t, costs[1], total)
        diagonal[base + t] = others[at + t * m + t]
    if l == LANES:
        for t in range(base + m):
            lay_row(t, own, cross, others, n, width, column, at, m, base, K, place, l)


@helper
def examine(F, a, y, upper, cut, used, p, reached, floor, level, out, at):
    """The largest violation; out[at + 6 ..] = rho and r, `certify` the rest.

    reached: whether an a can reach its bound; else rho and r are those of the nearest rows.
    """
    violation = level_of(F, a, y, upper, N0, cut, level)
    rho, r = 0.0 - level[0], 0.0
    if cut < used:
        plus = -level[0]
        violation = max(violation, level_of(F, a, y, upper, cut, used, level))
        rho, r = 0.5 * (plus - level[0]), 0.5 * (plus + level[0])
        if not reached:
            plus, minus = nearest(F, y, upper, N0, cut), nearest(F, y, upper, cut, used)
            rho, r = 0.5 * (plus - minus), 0.5 * (plus + minus) - SUM_ROUNDOFF * (abs(plus) + abs(minus))
    out[at + 6] = rho
    out[at + 7] = r
    certify(F, a, y, upper, used, p, floor, out, at)
    return violation


@helper
def solve_pair(
    own, cross, others, n, width, column, at, m, limits, p, total, reached, eps, gap, polished_gap, polish, max_rounds,
    work, K, place, wanted, out, to,
):  # fmt: skip
    """Solve one pair, see class_pairs; returns steps times variables.  a, F and y remain in `work`."""
    floor = limits[2]
    base = base_of(n, total)
    l = whole_lanes(base + m)  # noqa: E741
    cut = base + m if total == 0.0 else base
    a, F, y, upper = work[:l], work[l : 2 * l], work[2 * l : 3 * l], work[3 * l : 4 * l]
    rising, falling = work[4 * l : 5 * l], work[5 * l : 6 * l]
    diagonal, gain, nearest_a = work[6 * l : 7 * l], work[7 * l : 8 * l], work[8 * l : 9 * l]
    best = work[9 * l : 9 * l + LANES]
    high, low = work[9 * l + LANES : 9 * l + 3 * LANES], work[9 * l + 3 * LANES : 9 * l + 5 * LANES]
    level = work[9 * l + 5 * LANES : 9 * l + 6 * LANES]
    begin_pair(own, cross, others, n, width, column, at, m, base, total, limits, y, upper, a, diagonal, K, place, l)
    taken = rounds = 0
    max_steps = int(min(float(STEPS_EACH * int(l)), limits[3] / float(l)))
    why = UNSOLVED
    least = smallest = inf  # violation; relative gap since the rule of -e holds, at nearest_a
    ruled = ended = False
    while True:
        slopes(a, y, F, p, own, cross, others, n, width, column, at, m, base, K, place, l)
        violation = examine(F, a, y, upper, cut, base + m, p, reached, floor, level, out, to)
        if ended:
            break
        if out[to + 4] <= gap:
            why = BY_GAP
        elif violation <= eps:
            if out[to + 4] <= polished_gap:
                why = BY_RULE
            elif not ruled:
                ruled = True
                max_steps = min(STEPS_EACH * int(l), 2 * taken + int(polish / l))
        if why == UNSOLVED and rounds >= max_rounds:
            why = BY_LIMIT
        ended = why != UNSOLVED or rounds >= MAX_ROUNDS or taken >= max_steps or not violation < least
        if ruled:
            if not out[to + 4] >= smallest:
                smallest = out[to + 4]
                copy_point(a, nearest_a, l)
            if ended:
                why = BY_RULE
                if out[to + 4] > smallest:  # the values of the nearest point
                    copy_point(nearest_a, a, l)
                    continue
        if ended:
            break
        least = violation
        tolerance = EPS_SHARE * eps if violation > eps > 0.0 else VIOLATION_SHARE * violation
        rounds += 1
        while True:
            taken += pair_descent(
                K, diagonal, gain, best, y, a, upper, F, rising, falling, high, low, place, wanted, l,
                l if total == 0.0 else cut, tolerance, max_steps - taken,
            )  # fmt: skip
            if wanted[0] < 0:
                break
            lay_row(uint64(wanted[0]), own, cross, others, n, width, column, at, m, base, K, place, l)
    out[to], out[to + 1], out[to + 8] = why, rounds, taken * int(l)
    return (taken + 1) * int(l)


@loop(
    "i8(f8[], f8[], f8[], u8[], u8[], u8[], u8[], u8[], f8[], f8[], f8[], f8[], f8[], u8[], i8[],"
    "u8, u8, f8, f8, f8, f8, f8, f8, i8, i8, i8)"
)
def class_pairs(
    own, cross, blocks, sizes, columns, starts, places, begins, limits, alpha, gradient, out, work, lines, wanted,
    n, width, p, nu, eps, gap, polished_gap, polish, max_rounds, first, max_work,
):  # fmt: skip
    """Solve the problems of class i (n rows, y = +1) with each of some other classes (y = -1), from `first` on:

        min over a of  1/2 a'Qa + p sum(a),  0 <= a <= cost;   y'a = 0, or with nu > 0 either sign's sum s

    with s = max(nu (n + m) / 2, 1), until the largest violation is <= eps (eps = 0: never), the relative gap is <=
    `gap` (gap < 0: never), or for max_rounds.  If the gap is above `polished_gap` when the violation is <= eps, the run
    continues for at most as many steps again and `polish` / l, and the point of the smallest gap is the solution.  With
    nu (n + m) / 2 < 1 no a reaches its bound: then rho and r are those of the nearest rows, as in
    KernelProblem.without_losses.  own (n, n): K of class i; cross (n, width): K between i and the others, side by side.
    Other class q has m = sizes[q] rows from columns[q] on, and its K (m, m) at blocks[starts[q]].  Its pair is number
    k = places[q]: limits[5 k ..] begins with the costs of a row of i and of q, the least value that gaps are relative
    to (0: the primal value), and the limit of steps times variables; from begins[q] on, alpha and gradient receive the
    solution and Qa + p, computed from a at the end; and out (pairs, FIELDS) the results.  Returns how many problems are
    done, after about `max_work` steps times variables.
    work: 9 l + 6 LANES + l l numbers; lines: l, with l = n + m + 2 LANES of the largest; wanted: 1.
    """
    spent = 0
    for q in range(uint64(first), len(sizes)):
        if spent > max_work:
            return q
        m = sizes[q]
        k = places[q]
        total = max(0.5 * nu * float(n + m), 1.0) if nu > 0.0 else 0.0
        side = n + m + LANES + LANES
        K = work[9 * side + 6 * LANES :]
        spent += solve_pair(
            own, cross, blocks, n, width, columns[q], starts[q], m, limits[5 * k : 5 * k + 5], p, total,
            not 0.5 * nu * float(n + m) < total, eps, gap, polished_gap, polish, max_rounds, work,
            K, lines, wanted, out, k * PAIR_FIELDS,
        )  # fmt: skip
        base = base_of(n, total)
        l = whole_lanes(base + m)  # noqa: E741
        to = begins[q]
        for t in range(n):
            alpha[to + t] = work[t]
            gradient[to + t] = -work[l + t]
        for t in range(m):
            alpha[to + n + t] = work[base + t]
            gradient[to + n + t] = work[l + base + t]
    return len(sizes)
