"""Slow and obvious answers to hold the fast ones against: optima by general-purpose solvers, loops in plain numpy.

    f(w) = 1/2 w'Rw + sum_i C_i max(0, 1 - y_i a_i.w)^2     a_i = (x_i, bias)

R is the identity; for a free bias its last entry is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from svmtool.formats.svmlight import Table


class Problem(NamedTuple):
    """A two-class problem in dense numbers: X f8[n, d] without the bias feature, y +-1, cost C_i >= 0."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    bias: float = -1.0
    free: bool = False

    @property
    def A(self) -> np.ndarray:
        """X with the bias feature."""
        if self.bias < 0:
            return self.X
        return np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def R(self) -> np.ndarray:
        """The diagonal of the regulariser."""
        R = np.ones(self.A.shape[1])
        if self.free:
            R[-1] = 0.0
        return R

    def value(self, w: np.ndarray) -> float:
        slack = np.maximum(1.0 - self.y * (self.A @ w), 0.0)
        return 0.5 * float(w @ (self.R * w)) + float(self.cost @ slack**2)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        slack = np.maximum(1.0 - self.y * (self.A @ w), 0.0)
        return self.R * w - 2.0 * self.A.T @ (self.cost * self.y * slack)

    def dual_value(self, a: np.ndarray) -> float:
        """D(a) of a regularised or absent bias: no larger than the optimum for any a >= 0 (cost > 0 everywhere)."""
        v = self.A.T @ (a * self.y)
        return float(np.sum(a)) - 0.5 * float(v @ v) - float(np.sum(a * a / (4.0 * self.cost)))


def hinge2_minimiser(p: Problem) -> np.ndarray:
    """The minimiser of f: quasi-Newton to the right active rows, then their normal equations."""
    A, used = p.A, p.cost > 0
    w = scipy.optimize.minimize(
        p.value, np.zeros(A.shape[1]), jac=p.gradient, method="L-BFGS-B", options={"maxiter": 20000, "gtol": 1e-12}
    ).x
    for _ in range(100):
        active = used & (p.y * (A @ w) < 1.0)
        H = np.diag(p.R) + 2.0 * A[active].T @ (p.cost[active, None] * A[active])
        target = 2.0 * A[active].T @ (p.cost[active] * p.y[active])
        w_bar = np.linalg.lstsq(H, target, rcond=None)[0]
        if np.array_equal(active, used & (p.y * (A @ w_bar) < 1.0)):
            w = w_bar
            break
        step = w_bar - w
        slope = [float(p.gradient(w + t * step) @ step) for t in (0.0, 1.0)]
        t = 1.0
        if slope[0] < 0.0 < slope[1]:
            t = scipy.optimize.brentq(lambda t, w=w, s=step: float(p.gradient(w + t * s) @ s), 0.0, 1.0)
        w = w + t * step
    scale = np.linalg.norm(p.gradient(np.zeros_like(w)))
    assert np.linalg.norm(p.gradient(w)) <= 1e-9 * scale + 1e-300, "the oracle itself failed"
    return w


def hinge2_dual(p: Problem) -> np.ndarray:
    """The dual's maximiser by non-negative least squares; regularised or absent bias, cost > 0.

    1/2 a'Ka - 1'a over a >= 0, K = L L', is 1/2 |L'a - L^-1 1|^2 and a constant.
    """
    Z = p.A * p.y[:, None]
    L = np.linalg.cholesky(Z @ Z.T + np.diag(0.5 / p.cost))
    return scipy.optimize.nnls(L.T, scipy.linalg.solve_triangular(L, np.ones(len(Z)), lower=True), maxiter=10000)[0]


# What a registry row's `loss` stands for: value of w, and minimiser.
ORACLES = {"squared hinge": (Problem.value, hinge2_minimiser)}


def liblinear_rule(p: Problem, w: np.ndarray, eps: float) -> bool:
    """LIBLINEAR's test for -s 2, from w alone: |grad f(w)| <= eps' |grad f(0)|."""
    positive = int(np.count_nonzero(p.y > 0))
    share = max(1, min(positive, len(p.y) - positive)) / len(p.y)
    start = np.linalg.norm(p.gradient(np.zeros(p.A.shape[1])))
    return bool(np.linalg.norm(p.gradient(w)) <= eps * share * start * (1 + 1e-9) + 1e-300)


def projected_gradients(p: Problem, a: np.ndarray) -> np.ndarray:
    """Of the dual of -s 1 at a >= 0, with w = sum a_i y_i x_i."""
    w = p.A.T @ (a * p.y)
    g = p.y * (p.A @ w) - 1.0 + a / (2.0 * p.cost)
    return np.where(a > 0, g, np.minimum(g, 0.0))


def csr_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices, values of the non-zeros of X, as the reader gives them."""
    rows, columns = np.nonzero(X)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(X))))).astype(np.int64)
    return indptr, columns.astype(np.int32), np.ascontiguousarray(X[rows, columns], dtype=np.float64)


def table_of(X: np.ndarray, labels: np.ndarray) -> Table:
    """A Table of dense rows; zeros are left out."""
    indptr, indices, values = csr_of(X)
    return Table(np.asarray(labels, dtype=np.float64), indptr, indices, values, X.shape[1])


def text_of(X: np.ndarray, labels: np.ndarray) -> str:
    """The same as the text of a data file."""
    lines = []
    for row, label in zip(X, labels, strict=True):
        lines.append(" ".join([f"{label:g}", *(f"{j + 1}:{row[j]:.17g}" for j in np.flatnonzero(row))]))
    return "\n".join(lines) + "\n"


def random_rows(rng: np.random.Generator, n: int, d: int, density: float = 0.6) -> np.ndarray:
    """Rows with zeros, among them an empty row and an empty column where there is room for one."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    if n > 3:
        X[n // 2] = 0.0
    if d > 2:
        X[:, d // 2] = 0.0
    return X


def random_problem(seed: int, n: int, d: int, C: float = 1.0, bias: float = -1.0, free: bool = False) -> Problem:
    """Noisy halves with unequal costs."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    y = np.where(X @ rng.normal(size=d) + 0.7 * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Problem(X, y, C * rng.choice([0.5, 1.0, 3.0], n), bias, free)


# Twins of the compiled loops: same arguments where that is readable, same results.


def splitmix(seed: int, k: int) -> int:
    """The k-th number (from 1 on) of the generator splitmix64, without its lowest bit."""
    mask = (1 << 64) - 1
    z = (seed + k * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return (z ^ (z >> 31)) >> 1


def xorshift(state: int) -> int:
    mask = (1 << 64) - 1
    state ^= (state << 13) & mask
    state ^= state >> 7
    return state ^ ((state << 17) & mask)


def hinge2_state(z, cost, y, c):
    """loss, u, new c, change of c, and (changed rows, active rows, sum of alpha)."""
    slack = np.maximum(1.0 - z, 0.0)
    now = np.where(slack > 0, 2.0 * cost, 0.0)
    counts = [np.count_nonzero(now != c), np.count_nonzero(now), float(now @ slack)]
    return float(cost @ slack**2), -now * slack * y, now, now - c, counts


def hinge2_ray(z, dz, cost, t):
    """First and second derivative of sum C max(0, 1 - z - t dz)^2 at t."""
    slack = np.maximum(1.0 - z - t * dz, 0.0)
    return -2.0 * float((cost * dz) @ slack), 2.0 * float((cost * dz * dz) @ (slack > 0))


def ray_minimiser(p: Problem, w: np.ndarray, step: np.ndarray) -> float:
    """The t > 0 at which the slope of f along w + t step vanishes, by bisection."""
    high = 1.0
    while p.gradient(w + high * step) @ step < 0:
        high *= 2.0
    return scipy.optimize.brentq(lambda t: float(p.gradient(w + t * step) @ step), 0.0, high, xtol=1e-15, rtol=1e-14)


def dcd_pass(A, y, cost, alpha, w, active, threshold, random, chunk):
    """One pass of dual coordinate descent over the rows `active` of A, by chunks; changes alpha and w.

    Returns largest and smallest projected gradient, rows left, random state.
    """
    largest, smallest, gone = -np.inf, np.inf, set()
    chunks = [active[k : k + chunk] for k in range(0, len(active), chunk)]
    for c in range(len(chunks)):
        random = xorshift(random)
        other = c + (random >> 1) % (len(chunks) - c)
        chunks[c], chunks[other] = chunks[other], chunks[c]
        for i in chunks[c]:
            g = y[i] * float(A[i] @ w) - 1.0 + alpha[i] / (2.0 * cost[i])
            if alpha[i] == 0 and g > threshold:
                gone.add(i)
                continue
            projected = min(g, 0.0) if alpha[i] == 0 else g
            largest, smallest = max(largest, projected), min(smallest, projected)
            if abs(projected) > 1e-12:
                new = max(alpha[i] - g / (float(A[i] @ A[i]) + 0.5 / cost[i]), 0.0)
                w += (new - alpha[i]) * y[i] * A[i]
                alpha[i] = new
    return largest, smallest, [i for i in active if i not in gone], random
