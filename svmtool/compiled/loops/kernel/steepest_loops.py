"""Steepest descent for least squares with a kernel, over cached rows of the kernel matrix in single precision.

    min over c of  1/2 c'(K + shift + D) c - y'c,   e = y - (K + shift + D) c its negative gradient

Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015, Algorithm 2, with c_i = y_i a_i
and e_i = -y_i g_i.
"""

from numpy import uint64

from svmtool.compiled import helper, loop

N0 = uint64(0)  # a Python integer would make indices floats


@helper
def pick_largest(e, chosen, t, n):
    """chosen[:t] = indices of the t <= n largest |e|, in any order."""
    low = N0
    for k in range(t):
        chosen[k] = k
        if abs(e[k]) < abs(e[chosen[low]]):
            low = k
    for i in range(t, n):
        if abs(e[i]) > abs(e[chosen[low]]):
            chosen[low] = i
            for k in range(t):
                if abs(e[chosen[k]]) < abs(e[chosen[low]]):
                    low = k


@loop("i8(f4[], i8[], i8[], f8[], f8[], f8[], u8[], f8[], u8, u8, f8, f8, i8, i8)", fast=True)
def steepest_steps(store, slot, used, D, e, c, chosen, pull, n, t, shift, eps, clock, max_steps):
    """Exact steps in the t largest |e|, until max |e| <= eps, a row is not in the store, or `max_steps` steps.

    Returns the number of steps, or -1 minus that if the curvature is not positive.
    store: rows of n kernel values; slot i8[n]: place of a row in it, -1 if absent; used i8: time of last use, set to
    `clock`; D, e, c f8[n], e and c updated; chosen u8[t]: rows of the next step; pull f8[n]: scratch.
    """
    steps = 0
    while True:
        pick_largest(e, chosen, t, n)
        largest = 0.0
        kept = True
        for k in range(t):
            largest = max(largest, abs(e[chosen[k]]))
            kept = kept and slot[chosen[k]] >= 0
        if not largest > eps or not kept or steps >= max_steps:
            return steps
        total = 0.0
        for k in range(t):
            total += e[chosen[k]]
        for j in range(n):
            pull[j] = shift * total
        for k in range(t):
            s = uint64(slot[chosen[k]])
            used[s] = clock
            factor = e[chosen[k]]
            for j in range(n):
                pull[j] += factor * store[s * n + j]
        square = curve = 0.0
        for k in range(t):
            i = chosen[k]
            square += e[i] * e[i]
            curve += e[i] * (pull[i] + D[i] * e[i])
        if not curve > 0.0:
            return -1 - steps
        theta = square / curve
        for k in range(t):
            i = chosen[k]
            c[i] += theta * e[i]
            pull[i] += D[i] * e[i]
        for j in range(n):
            e[j] -= theta * pull[j]
        steps += 1
