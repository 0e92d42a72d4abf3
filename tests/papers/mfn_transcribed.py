"""L2-SVM-MFN, transcribed from the paper row by row in plain loops: an independent second version for test_mfn.py.

Keerthi and DeCoste, JMLR 6 (2005): Appendix A, Sections 4.1, 4.3, 4.4, 6 and 7.  Slips of print are corrected: step 8
keeps the crude run's solution, and the last interval of the line search has no end.
"""

from __future__ import annotations

import numpy as np


def cgls(X, t, lam, beta, eps, cgitermax):
    """Steps 3 and 4 of Appendix A: beta-bar, and whether (13) holds."""
    if len(t) == 0:
        return 0.0 * beta, True
    z = t - X @ beta
    r = X.T @ z - lam * beta
    p = r.copy()
    phi1 = phi2 = r @ r
    cgiter, optimality = 0, False
    while True:
        cgiter += 1
        q = X @ p
        phi3 = q @ q
        gamma = phi1 / (phi3 + lam * phi2)
        beta = beta + gamma * p
        z = z - gamma * q
        phi4 = z @ z
        r = -lam * beta + X.T @ z
        old, phi1 = phi1, r @ r
        if phi1 <= eps**2 * phi4:
            optimality = True
        if optimality or cgiter >= cgitermax:
            return beta, optimality
        p = r + phi1 / old * p
        phi2 = p @ p


def guess(X, t, lam, w):
    """(gamma w, b_0) of (8), (9): X has the bias feature last; I all rows, then I(beta_0)."""
    rows = list(range(len(t)))
    for _ in range(2):
        u = X[:, :-1] @ w
        p11, p22, p12 = lam * w @ w + sum(u[i] ** 2 for i in rows), lam + len(rows), sum(u[i] for i in rows)
        q1, q2 = sum(t[i] * u[i] for i in rows), sum(t[i] for i in rows)
        d = p11 * p22 - p12**2
        beta = np.append((p22 * q1 - p12 * q2) / d * w, (p11 * q2 - p12 * q1) / d)
        rows = [i for i in range(len(t)) if t[i] * (X[i] @ beta) < 1]
    return beta


def newton(X, t, lam, beta, ini=0, final=1e-6, h1=True, h2=True, tau=None, cap=np.inf):
    """beta of each iteration for lam/2 |beta|^2 + sum_i l(xi_i), l with the slope xi between 0 and `cap`.

    That is Appendix A for the squared hinge, (21) for a cap of 2.  With tau the loss is that of xi/tau + 1, times
    tau/2.  The stage is scaled so that rows of I_1 give 1/2 d_i^2, as in (22): then (13) has its printed meaning.
    """
    m = len(t)
    a, unit = (1.0, 1.0) if tau is None else (1.0 + tau, tau)  # a - t y = xi, or tau xi~
    cap, lam = cap * unit, lam if tau is None else 2.0 * tau * lam
    y = X @ beta
    crude, found = ini == 0 and h2, []

    def slope(delta):  # phi'(delta), written out: (16) to (18)
        value = lam * (beta + delta * (bar - beta)) @ (bar - beta)
        for i in range(m):
            v = a - t[i] * (y[i] + delta * (y_bar[i] - y[i]))
            value -= min(max(v, 0.0), cap) * t[i] * (y_bar[i] - y[i])
        return value

    def piece(v):
        return 0 if v <= 0 else 1 if v < cap else 2

    for k in range(50):
        v = a - t * y
        I1, I2 = [i for i in range(m) if piece(v[i]) == 1], [i for i in range(m) if piece(v[i]) == 2]
        q = cap / lam * (X[I2].T @ t[I2]) if I2 else 0.0 * beta
        most = 10 if ini == 0 and k == 0 and h1 else 5000
        bar, optimality = cgls(X[I1], a * t[I1] - X[I1] @ q, lam, beta - q, 1e-2 if crude else final, most)
        bar = bar + q
        y_bar = X @ bar
        ends, tol = ((-np.inf, 0.0), (0.0, cap), (cap, np.inf)), 1e-8 * unit
        stays = all(ends[piece(v[i])][0] - tol <= a - t[i] * y_bar[i] <= ends[piece(v[i])][1] + tol for i in range(m))
        if optimality and stays:
            beta, y = bar, y_bar
            found.append(beta)
            if not crude:
                return found
            crude = False
            continue
        kinks = []  # (15)
        for i in range(m):
            g = t[i] * (y_bar[i] - y[i])
            kinks += [(v[i] - level) / g for level in (0.0, cap) if g != 0 and 0 < (v[i] - level) / g < np.inf]
        low = 0.0
        for high in sorted(kinks):
            if slope(high) >= 0:
                break
            low = high
        else:
            high = low + 1.0
        at_low, at_high = slope(low), slope(high)
        delta = low - at_low * (high - low) / (at_high - at_low)
        beta, y = beta + delta * (bar - beta), y + delta * (y_bar - y)
        found.append(beta)
    return found


def hinge(X, t, C, e):
    """beta of each iteration of each stage tau_j = 2^-j."""
    beta, found = np.zeros(X.shape[1]), []
    for j in range(53):
        tau = 2.0**-j
        found += newton(X, t, 1.0 / C, beta, min(j, 1), tau=tau, cap=2.0)
        beta = found[-1]
        xi = [1 - t[i] * (X[i] @ beta) for i in range(len(t))]
        f = beta @ beta / 2 + C * sum(max(0.0, x) for x in xi)
        if tau / 8 * C * sum(abs(x) < tau for x in xi) <= e * f:
            break
    return found
