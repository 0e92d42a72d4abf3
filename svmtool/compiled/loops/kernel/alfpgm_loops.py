"""The loops of the ALFPGM paper: pairs of a working set by second order, and the problem (3) over it (Algorithm 2).

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022); papers/alfpgm.py has the rest of the algorithm, and the letters.
"""

from svmtool.compiled import helper, loop
from svmtool.compiled.loops.kernel.working_set_loops import MIN_CURVATURE

LAM, T, NU, G_OF, DONE = range(5)  # places in `state` of augmented_lagrangian


@loop("i8(f8[], i8[], f8[], f8[], i8[], i8[], u1[], i8[], i8, i8)")
def second_order_pairs(K, place, q, diagonal, up, low, taken, pairs, n, check):
    """For each i of `up` that is not taken find j by (15) and take both; return the number of pairs.

    K, place: the kernel row of up[k] begins at K[place[k]].  low: the candidates for j, of which each search examines
    the first `check` that are not taken.  pairs: i and j in turn.  Ends at the first i without a j.
    """
    found = 0
    for k in range(len(up)):
        i = up[k]
        if taken[i]:
            continue
        most, j, seen = 0.0, -1, 0
        for t in low:
            if taken[t]:
                continue
            b = q[i] - q[t]
            if b > 0.0:
                curve = diagonal[i] + diagonal[t] - 2.0 * K[place[k] + t]
                gain = b * b / (curve if curve > 0.0 else MIN_CURVATURE)
                if gain > most:
                    most, j = gain, t
            seen += 1
            if seen >= check:
                break
        if j < 0:
            return found
        taken[i] = 1
        taken[j] = 1
        pairs[2 * found] = i
        pairs[2 * found + 1] = j
        found += 1
    return found


@helper(fast=True)
def dot(Q, begin, x, l):  # noqa: E741  # the paper's letter
    total = 0.0
    for j in range(l):
        total += Q[begin + j] * x[j]
    return total


@loop("i8(f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], i8, f8, f8, f8, f8, i8)")
def augmented_lagrangian(Q, chi, y, C, a, s, v, s_v, new, s_new, state, l, G, mu, L, eps, max_steps):  # noqa: E741
    """Algorithm 2 on problem (3), at most `max_steps` fast projected gradient steps a call; return their number.

    Q: l by l.  s, s_v, s_new: Q x + chi at the points a, v and new, each l long.  state: lambda, t, nu, g, and 1 at the
    end.  A call goes on where the last one ended; the first begins with v = a, s_v = s and t = 1.
    """
    lam, t = state[LAM], state[T]
    g_v = G
    for i in range(l):
        g_v += y[i] * v[i]
    for step in range(max_steps):
        g = G
        for i in range(l):  # a+ = P_box(v - grad L_mu(v) / L)
            new[i] = min(max(v[i] - (s_v[i] - y[i] * (lam - mu * g_v)) / L, 0.0), C[i])
            g += y[i] * new[i]
        nu = 0.0
        for i in range(l):
            s_new[i] = dot(Q, i * l, new, l) + chi[i]
            slope = s_new[i] - y[i] * (lam - mu * g)
            if new[i] <= 0.0:  # (11)
                slope = max(-slope, 0.0)
            elif new[i] >= C[i]:
                slope = max(slope, 0.0)
            nu = max(nu, abs(slope))  # (10)
        after = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
        beta = (t - 1.0) / after
        t = after
        if nu < eps:  # (8) is solved
            lam -= mu * g  # (9)
            t = 1.0
            beta = 0.0
        g_v = G
        for i in range(l):
            v[i] = new[i] + beta * (new[i] - a[i])
            s_v[i] = s_new[i] + beta * (s_new[i] - s[i])
            a[i] = new[i]
            s[i] = s_new[i]
            g_v += y[i] * v[i]
        state[LAM], state[T], state[NU], state[G_OF] = lam, t, nu, g
        if nu < eps and abs(g) <= eps:
            state[DONE] = 1.0
            return step + 1
    return max_steps
