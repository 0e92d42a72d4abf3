"""Decision values of pairs of classes to labels and probabilities, as LIBSVM computes them."""

import math

from svmtool.compiled import helper, loop

LEAST = 1e-7  # smallest probability of a pair


@loop("void(f8[], i8[], i8[], i8, i8)")
def vote(decisions, votes, out, classes, n):
    """out[i] = the class with most votes of pairs; the first of several.

    A value above 0 is a vote for the pair's first class, any other (also 0 and NaN) for the second.  votes: scratch,
    `classes` numbers.
    """
    pair = 0
    for r in range(n):
        for c in range(classes):
            votes[c] = 0
        for i in range(classes):
            for j in range(i + 1, classes):
                votes[i if decisions[pair] > 0.0 else j] += 1
                pair += 1
        best = 0
        for c in range(1, classes):
            if votes[c] > votes[best]:
                best = c
        out[r] = best


@helper
def pair_probability(f, A, B):
    """1 / (1 + exp(A f + B)) without overflow, between LEAST and 1 - LEAST."""
    t = f * A + B
    p = math.exp(-t) / (1.0 + math.exp(-t)) if t >= 0.0 else 1.0 / (1.0 + math.exp(t))
    p = p if p > LEAST else LEAST  # also for NaN
    return p if p < 1.0 - LEAST else 1.0 - LEAST


@loop("i8(f8[], f8[], f8[], f8[], f8[], i8, i8)")
def couple(decisions, A, B, out, scratch, classes, n):
    """Probabilities (n, classes) of rows from decision values (n, pairs); returns how many rows did not converge.

    Two classes: the pair's probability.  More: the p that minimises the sum over pairs of (r_ji p_i - r_ij p_j)^2, r_ij
    the probability of i among i and j, by sweeps over Qp = (p'Qp) 1 with LIBSVM's tolerance.
    scratch: classes * (2 classes + 1) numbers.
    Paper: Wu, Lin and Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling, Journal of
    Machine Learning Research 5 (2004) 975-1005, Algorithm 2.
    """
    tolerance = 0.005 / classes
    pairs = len(A)
    missed = 0
    for row in range(n):
        p = out[row * classes : (row + 1) * classes]
        if classes == 2:
            p[0] = pair_probability(decisions[row], A[0], B[0])
            p[1] = 1.0 - p[0]
            continue
        r, Q, Qp = scratch[: classes * classes], scratch[classes * classes : -classes], scratch[-classes:]
        pair = 0
        for i in range(classes):
            p[i] = 1.0 / classes
            for j in range(i + 1, classes):
                r[i * classes + j] = pair_probability(decisions[row * pairs + pair], A[pair], B[pair])
                r[j * classes + i] = 1.0 - r[i * classes + j]
                pair += 1
        for t in range(classes):
            Q[t * classes + t] = 0.0
            for j in range(classes):
                if j != t:
                    Q[t * classes + t] += r[j * classes + t] * r[j * classes + t]
                    Q[t * classes + j] = -r[j * classes + t] * r[t * classes + j]
        converged = False
        for _ in range(max(100, classes)):
            pQp = 0.0
            for t in range(classes):
                Qp[t] = 0.0
                for j in range(classes):
                    Qp[t] += Q[t * classes + j] * p[j]
                pQp += p[t] * Qp[t]
            error = 0.0
            for t in range(classes):
                error = max(error, abs(Qp[t] - pQp))
            if error < tolerance:
                converged = True
                break
            for t in range(classes):
                step = (pQp - Qp[t]) / Q[t * classes + t]
                p[t] += step
                pQp = (pQp + step * (step * Q[t * classes + t] + 2.0 * Qp[t])) / (1.0 + step) / (1.0 + step)
                for j in range(classes):
                    Qp[j] = (Qp[j] + step * Q[t * classes + j]) / (1.0 + step)
                    p[j] /= 1.0 + step
        missed += not converged
    return missed
