"""Three algorithms written from the papers' text alone, in numpy, line by line.

T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: Section III, Algorithms 1
and 2, Eqs. 8 to 10.  The sign of w in both algorithms is that of Eq. 6: w = w + R (y_k - w'x_k).
K. Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015: Algorithm 2.

Each yields its variables after every iteration.  The columns of A, x_k, have the constant 1 appended.
"""

from __future__ import annotations

import numpy as np


def lls_svm(A, y, C):
    nu = 1 / (2 * C)
    G = A @ A.T + nu * np.eye(len(A))
    return np.linalg.solve(G, A @ y)


def alsvm(A, y, C):
    """Algorithm 1."""
    nu, N = 1 / (2 * C), A.shape[1]
    x1 = A[:, 0]
    a = 1 / (1 + x1 @ x1 / nu)
    P = np.eye(len(A)) / nu - a * np.outer(x1, x1) / nu**2
    w = y[0] * P @ x1
    yield P, w
    for k in range(1, N):
        xk = A[:, k]
        Q = P @ xk
        a = xk @ Q
        P = P - 1 / (1 + a) * np.outer(Q, Q)
        R = 1 / (1 + a) * Q
        w = w + R * (y[k] - w @ xk)
        yield P, w


def falsvm(A, y, C, order):
    """Algorithm 2; order: of the random set.  Yields whether the row was added, too."""
    nu = 1 / (2 * C)
    x1 = A[:, order[0]]
    a = 1 / (1 + x1 @ x1 / nu)
    P = np.eye(len(A)) / nu - a * np.outer(x1, x1) / nu**2
    w = y[order[0]] * P @ x1
    yield P, w, True
    for k in order[1:]:
        xk = A[:, k]
        wrong = y[k] * (w @ xk) < 0
        if wrong:
            Q = P @ xk
            a = xk @ Q
            P = P - 1 / (1 + a) * np.outer(Q, Q)
            R = 1 / (1 + a) * Q
            w = w + R * (y[k] - w @ xk)
        yield P, w, wrong


def removal(P, w, x, y):
    """Eqs. 8 to 10."""
    a = x @ P @ x
    P_new = P + 1 / (1 - a) * np.outer(P @ x, P @ x)
    Px_new = 1 / (1 - a) * (P @ x)
    return P_new, w + Px_new * (-y + w @ x)


def sgd_lssvm(K, y, C, t):
    """Algorithm 2 with K of the mapping without its constant; yields alpha and g."""
    N, nu = len(y), 1 / (2 * C)
    K = K + 1
    alpha, g = np.zeros(N), -np.ones(N)
    while True:
        B = np.argsort(-np.abs(g), kind="stable")[:t]
        gg = sum(g[i] ** 2 for i in B)
        a = np.array([sum(g[j] * y[j] * K[j, i] for j in B) for i in range(N)])
        gyx_norm = sum(g[i] * y[i] * a[i] for i in B)
        theta = gg / (nu * gg + gyx_norm)
        for i in B:
            alpha[i] = alpha[i] - theta * g[i]
        for i in B:
            g[i] = (1 - nu * theta) * g[i]
        for i in range(N):
            g[i] = g[i] - theta * y[i] * a[i]
        yield alpha.copy(), g.copy()
