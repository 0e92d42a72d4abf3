"""SVM-ALM, as printed.    min_{w,b}  obj(w, b) = 1/2 w'w + C sum_i ( 1 - (w'x_i + b) y_i )_+^p              (4)
Paper: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
Classifications, ICML 2014.

-s 30: Algorithm 2 (inexact), -s 31: Algorithm 1 (exact).  With e_i = y_i - (w'x_i + b) the loss is
C sum_i (y_i e_i)_+^p (5), and e is a variable of its own, with multipliers lambda and a penalty mu of the constraints
r = 0:
    AL = 1/2 w'w + C sum_i (y_i e_i)_+^p + lambda'r + mu/2 |r|^2,   r = X w + 1 b - y + e                        (7)

Letters: the paper's, but X is (n, d), a row for an example; C_i = C where rows have no weights.  `one` is the paper's
1, the column of b: 1, or 0 where the bias is a feature or there is none (-B).  a = X w + 1 b.  lam: lambda.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr

from svmtool import limits
from svmtool.certify.points import balanced
from svmtool.objectives.task import Task
from svmtool.papers import running
from svmtool.papers.running import Matrix, Point, Tolerance
from svmtool.registry.row import FAST_ALM, About
from svmtool.solvers.shared.base import RULE, Monitor, Plan, Result, Status

MAX_MU = 1e5  # the paper's upper limit
MAX_ITERATIONS = 100  # the paper's
MU_SHARE = 0.1  # mu(1) / C: see DIFFERS
HALVINGS = np.finfo(float).nmant + 1  # of an interval, after which it is as short as the rounding of its end
LSQR_TOLERANCE = float(np.finfo(float).eps)

CHANGE = Status("change", True, "the objective changes by less than --objective-change", own=True)
METHODS = {
    "inexact": "Algorithm 2 (inexact SVM-ALM): e-step, one gradient step, multipliers",
    "exact": "Algorithm 1 (exact SVM-ALM): e-step, least squares by LSQR, multipliers",
}

DIFFERS = (
    "mu(1), which print does not give, is C/10 (the mean C_i over 10), at most 1e5, or the number of --mu, and stays "
    "there unless --mu names a rule: of 120 runs of "
    "100 iterations (15 sets of at most 2000 rows, both algorithms, C = 1 and 100, p = 1 and 2) 86 came within 1 % of "
    "the optimum; with mu(1) = C 73, growing by Eq. 29 at most 70, by a constant factor at most 65",
    "w starts at 0, where print has 1: from 1 Algorithm 2 ended more than 50 times above the optimum on 4 of these "
    "sets (p = 1, C = 1), from 0 on one; from 1 features without values keep a weight",
    "--mu merit: Eq. 29 has 1/2 w'w, the regulariser of Eq. 4, where print has |w|_2; its mu(k+1) needs w(k+1), which "
    "needs mu(k+1), so that its value is that of the next iteration",
    "--mu geometric: mu grows by a constant factor, from mu(1) to the paper's limit of 1e5 after 100 iterations; print "
    "gives no factor",
    "the binary search of Eq. 11 halves 0 .. y_i t_i to full precision",
    "print has two stopping rules, the change of the objective (Section 4) and the gradient by w alone (Algorithms 1 "
    "and 2): either ends a run; for p = 1 the gradient is the subgradient to which rows on the margin contribute 0",
    "where rows or classes have weights, C_i takes the place of C",
)
MULTIPLIERS = "then the multipliers (Eq. 9)"
ABOUT = {
    30: About(
        f"Algorithm 2 (inexact SVM-ALM): e (Eqs. 11 to 13), one gradient step (Eq. 16) of the best length (Eq. 18), "
        f"{MULTIPLIERS}",
        DIFFERS,
        "three products with the rows, and one for the gradient of the stopping rule",
        FAST_ALM,
    ),
    31: About(
        f"Algorithm 1 (exact SVM-ALM): e (Eqs. 11 to 13), w and b by LSQR (Eq. 15), {MULTIPLIERS}",
        (
            *DIFFERS,
            "LSQR starts at the last w and b; its tolerances, which print does not give, are the machine epsilon, its "
            "limit of steps is 2 (d + 1)",
        ),
        "two products with the rows in each step of LSQR, and four besides",
        FAST_ALM,
    ),
}


class Iterate(Point):
    """w(k) with b(k), e(k), lambda(k), the mu(k) that gave them, and |d obj / d w|; before the first no e."""

    e: np.ndarray
    lam: np.ndarray
    b: float
    mu: float
    gradient: float


# Step 2 of an algorithm: (X, z, mu, w, b, a, one) -> w, b
Step = Callable[[Matrix, np.ndarray, float, np.ndarray, float, np.ndarray, float], tuple[np.ndarray, float]]


def e_step(t: np.ndarray, y: np.ndarray, p: float, gamma: np.ndarray) -> np.ndarray:
    """Return the minimiser e of gamma (y e)_+^p + 1/2 (e - t)^2, f8[n]: Eq. 10."""
    s = y * t
    if p == 1.0:
        v = np.maximum(s - gamma, 0.0)  # (12)
    elif p == 2.0:
        v = s / (1.0 + 2.0 * gamma)  # (13)
    else:
        v = binary_search(np.maximum(s, 0.0), p, gamma)
    return y * np.where(s > 0.0, v, s)


def binary_search(s: np.ndarray, p: float, gamma: np.ndarray) -> np.ndarray:
    """Return the v of [0, s] with p gamma v^(p-1) + v - s = 0, which is increasing in v, f8[n]: Eq. 11, v = y e."""
    low, width = np.zeros_like(s), s.copy()
    for _ in range(HALVINGS):
        limits.check()
        width *= 0.5
        middle = low + width
        low = np.where(p * gamma * middle ** (p - 1.0) + middle < s, middle, low)
    return low


def gradient_step(
    X: Matrix, z: np.ndarray, mu: float, w: np.ndarray, b: float, a: np.ndarray, one: float
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return w and b after one gradient step on G of Eq. 14, of the best length s."""
    w_g, b_g = X.T @ (a - z) + w / mu, one * float(np.sum(a - z))  # (16)
    square, product = float(w_g @ w_g), X @ w_g + one * b_g
    curvature = float(product @ product) + square / mu
    s = (square + b_g * b_g) / curvature if curvature > 0.0 else 0.0  # (18)
    return w - s * w_g, b - s * b_g


def least_squares(
    X: Matrix, z: np.ndarray, mu: float, w: np.ndarray, b: float, a: np.ndarray, one: float
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return the minimisers w and b of G, |A (w, b) - (z, 0)|^2 with A = (X, 1; mu^(-1/2) I, 0), by LSQR."""
    n, d = X.shape
    root = math.sqrt(1.0 / mu)

    def product(v: np.ndarray) -> np.ndarray:
        limits.check()
        return np.concatenate((X @ v[:d] + one * v[d], root * v[:d]))

    def transposed(u: np.ndarray) -> np.ndarray:
        return np.append(X.T @ u[:n] + root * u[n:], one * np.sum(u[:n]))

    A = LinearOperator((n + d, d + 1), product, transposed, dtype=float)
    right = np.concatenate((z, np.zeros(d)))
    x = lsqr(A, right, atol=LSQR_TOLERANCE, btol=LSQR_TOLERANCE, conlim=0.0, x0=np.append(w, b))[0]  # (15)
    return x[:d], float(x[d])


def next_mu(rule: str, mu: float, first: float, merit: float, rest: float, square: float) -> float:
    """Return mu(k+1) by the rule of --mu, `merit` or `geometric`; another one leaves mu as it is.

    merit: the merit function of Lemma 3 before the iteration; after it, rest + mu square / 2 with square = |r|^2.
    """
    if rule == "merit":
        largest = (merit - rest) / (0.5 * square) if square > 0.0 else math.inf  # (29)
    elif rule == "geometric":
        largest = mu * (MAX_MU / first) ** (1.0 / MAX_ITERATIONS)
    else:
        return mu
    return min(max(mu, largest), max(mu, MAX_MU))


def svm_alm(
    step: Step, X: Matrix, y: np.ndarray, C: np.ndarray, p: float, mu: float, rule: str, eps: float, change: float,
    w: np.ndarray, b: float = 0.0, one: float = 1.0,
) -> Generator[Iterate, None, Status]:  # fmt: skip
    """Yield the iterates of Algorithm 1 (step: least_squares) or 2 (gradient_step) from w and b, after the start.

    C: f8[n].  mu: mu(1); rule: see next_mu.  eps, change: the stopping rules.  See Iterate.
    """

    def point(w: np.ndarray, b: float, a: np.ndarray, **letters: np.ndarray) -> Iterate:
        violation = 1.0 - y * a
        objective = 0.5 * float(w @ w) + float(C @ np.maximum(violation, 0.0) ** p)  # (4)
        slope = p * C * np.where(violation > 0.0, np.abs(violation) ** (p - 1.0), 0.0)
        gradient = float(np.linalg.norm(w - X.T @ (y * slope)))
        return Iterate(w, objective, record={"gradient": gradient, "mu": mu}, gradient=gradient, mu=mu, b=b, **letters)

    first, merit, lam = mu, -math.inf, np.zeros(len(y))
    a = X @ w + one * b
    last = point(w, b, a, lam=lam)
    yield last
    while True:
        e = e_step(y - a - lam / mu, y, p, C / mu)  # step 1
        z = y - e - lam / mu
        w, b = step(X, z, mu, w, b, a, one)  # step 2
        a = X @ w + one * b
        r = a - y + e
        lam = lam + mu * r  # step 3 (9)
        now = point(w, b, a, e=e, lam=lam)
        yield now
        if now.gradient <= eps:
            return RULE
        if abs(now.objective - last.objective) < change:
            return CHANGE
        last, square = now, float(r @ r)
        rest = 0.5 * float(w @ w) + float(C @ np.maximum(y * e, 0.0) ** p)
        mu = next_mu(rule, mu, first, merit, rest, square)
        merit = rest + 0.5 * mu * square


def plan(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 30: there is one method."""
    return Plan("inexact")


def plan_exact(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 31: there is one method."""
    return Plan("exact")


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from weights `start` (None: zeros) with the multipliers 0; the seed is not used."""
    free, options, bias = task.free_bias, task.options, task.rows.bias
    X = running.matrix(task.rows, bias=not free)
    x = np.zeros(task.rows.d) if start is None else start
    w, b, one = (x[:-1], bias * float(x[-1]), 1.0) if free else (x, 0.0, 0.0)
    mu, update = options.mu, ""
    if not isinstance(mu, float):
        mu, update = min(MU_SHARE * float(np.mean(task.cost)) if task.n else 1.0, MAX_MU), mu or ""
    step = least_squares if method == "exact" else gradient_step
    with np.errstate(all="ignore"):  # what is not finite is found by the checks of every result
        steps = svm_alm(
            step, X, task.y, task.cost, task.p, mu, update, rule.eps, options.objective_change, w, b, one
        )  # fmt: skip
        last, status = running.run(steps, monitor, MAX_ITERATIONS)
    x = np.append(last.w, last.b / bias) if free else last.w
    alpha = np.clip(-task.y * last.lam, 0.0, task.cost if task.p == 1.0 else np.inf)
    alpha = balanced(alpha, task.y) if free else alpha
    return Result(x, status, monitor.iterations - 1, monitor.history, alpha)
