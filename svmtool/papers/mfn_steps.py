"""CGLS (Section 4.3) and the exact line search (Section 4.4) of L2-SVM-MFN, for each loss of the paper of mfn.py.

    f(beta) = lambda/2 |beta|^2 + sum_i c_i L(zeta_i),   zeta_i = s - t_i y_i

L is 0 on I_0 (zeta <= 0), zeta^2/2 on I_1 (zeta < kappa) and kappa zeta - kappa^2/2 on I_2 (zeta >= kappa).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from svmtool import limits
from svmtool.papers.running import Matrix

TOL = 1e-8  # tol of step 5


class Pieces(NamedTuple):
    """f by lambda, s and kappa."""

    lam: float
    s: float = 1.0
    kappa: float = math.inf

    def value(self, beta: np.ndarray, zeta: np.ndarray, c: np.ndarray) -> float:
        """f(beta): (2), (19)."""
        L = np.clip(zeta, 0.0, self.kappa)
        return 0.5 * self.lam * float(beta @ beta) + float(c @ (L * zeta - 0.5 * L * L))

    def pieces(self, zeta: np.ndarray) -> np.ndarray:
        """k of the index set I_k of each row."""
        return (zeta > 0.0).astype(int) + (zeta >= self.kappa)

    def repeat(self, zeta: np.ndarray, zeta_bar: np.ndarray) -> bool:
        """(b) and (c) of step 5: within tol no row has left its index set."""
        ends, k = np.array([-math.inf, 0.0, self.kappa, math.inf]), self.pieces(zeta)
        tol = TOL * min(1.0, 0.5 * self.kappa)
        return bool(np.all((ends[k] - tol <= zeta_bar) & (zeta_bar <= ends[k + 1] + tol)))

    def dual(self, zeta: np.ndarray, c: np.ndarray) -> np.ndarray:
        """alpha_i = -t_i d_i / lambda of Section 4.7, for all three losses."""
        return c * np.clip(zeta, 0.0, self.kappa) / self.lam


def cgls(
    X: Matrix, t: np.ndarray, c: np.ndarray, lam: float, beta: np.ndarray, eps: float, cgitermax: int
) -> tuple[np.ndarray, np.ndarray, bool, int]:
    """Minimise lam/2 |beta|^2 + 1/2 sum_i c_i (x_i.beta - t_i)^2 (11) from beta: steps 3 and 4 of Appendix A.

    Returns beta-bar, its residuals z, whether (13) holds, and the steps taken.
    """
    if not len(t):
        return np.zeros_like(beta), t, True, 0
    z = t - X @ beta
    r = X.T @ (c * z) - lam * beta
    p = r
    phi1 = phi2 = float(r @ r)
    optimality, cgiter = phi1 == 0.0, 0
    while not optimality and cgiter < cgitermax and phi1 < math.inf:
        limits.check()
        cgiter += 1
        q = X @ p
        phi3 = float(q @ (c * q))
        curve = phi3 + lam * phi2
        if not curve > 0.0:  # squares below the least number
            break
        gamma = phi1 / curve
        beta = beta + gamma * p
        z = z - gamma * q
        phi4 = float(z @ (c * z))
        r = X.T @ (c * z) - lam * beta
        old, phi1 = phi1, float(r @ r)
        optimality = phi1 <= eps * eps * phi4  # (13)
        p = r + (phi1 / old) * p
        phi2 = float(p @ p)
    return beta, z, optimality, cgiter


def line_search(
    f: Pieces, c: np.ndarray, beta: np.ndarray, bar: np.ndarray, zeta: np.ndarray, zeta_bar: np.ndarray
) -> float:
    """delta*, the minimiser of f on the ray from beta to bar: step 6 of Appendix A, (14) to (18)."""
    g, ray, piece = zeta - zeta_bar, bar - beta, f.pieces(zeta)  # g_i = t_i (ybar_i - y_i)
    left, right = -c * zeta * g, -c * zeta_bar * g  # what a row in I_1 adds to the slope at delta = 0 and at 1
    flat = -c * (f.kappa if f.kappa < math.inf else 0.0) * g  # what a row in I_2 adds to both
    ls = f.lam * float(beta @ ray) + float(np.sum(left[piece == 1])) + float(np.sum(flat[piece == 2]))  # (16)
    rs = f.lam * float(bar @ ray) + float(np.sum(right[piece == 1])) + float(np.sum(flat[piece == 2]))  # (17)
    zero = np.flatnonzero(np.where(piece > 0, g > 0.0, g < 0.0))  # (15): Delta_1 leaves I, Delta_2 enters
    cap = np.flatnonzero(np.where(piece == 2, g > 0.0, (g < 0.0) & (f.kappa < math.inf)))
    delta = np.concatenate((zeta[zero] / g[zero], (zeta[cap] - f.kappa) / g[cap]))
    order, s, u = np.argsort(delta, kind="stable"), -np.sign(g[zero]), np.sign(g[cap])
    changes = np.concatenate((s * left[zero], u * (left - flat)[cap]))[order]  # (18)
    l = np.cumsum(np.append(ls, changes))  # noqa: E741  the paper's letter
    r = np.cumsum(np.append(rs, np.concatenate((s * right[zero], u * (right - flat)[cap]))[order]))
    delslope = np.append(l[:-1] + delta[order] * (r - l)[:-1], math.inf)
    j = int(np.argmax(delslope >= 0.0))
    return float(-l[j] / (r[j] - l[j])) if r[j] > l[j] else 1.0
