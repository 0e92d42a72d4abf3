"""NESVM, as printed.    min_w  F(w) = R(w) + C sum_i l(y_i X_i w)                                              (3)
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010.

-s 50: C-SVM (45 to 48), -s 51: LP-SVM (49 to 52), -s 52: LS-SVM (53 to 56); papers/nesvm_kernel.py has kernels.
Letters: X is (n, p), a row X_i an example; u_i is the dual variable of the smoothed loss (v_i in LP-SVM), mu the smooth
parameter, L the Lipschitz constant L_mu; w, y, z and the guess solution w* as in Algorithm 1.  The labels are `signs`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from svmtool.objectives.task import Task
from svmtool.papers.running import Matrix, Point, Tolerance, matrix, run
from svmtool.params import Options
from svmtool.registry.row import FAST_ALM, About
from svmtool.solvers.shared.base import ITERATIONS, PRECISION, RULE, Monitor, Plan, Result, Status
from svmtool.tolerances import EPS

MU = 5.0  # the paper's first mu
SMOOTHING_SHARE = 1e-2  # of F(0): the largest error by the smoothing (11), (29) at the default mu*
MAX_ITERATIONS = 10_000  # print has no limit; unscaled rows would take millions
ROUNDING = 16.0 * EPS  # relative changes of F_mu up to which the last digits of its sum decide

ENDS = (
    "Algorithm 1's stopping rule compares the last two iterates (print increments k before it names them); a run also "
    "ends, as not converged, where rounding hides the change of F_mu or after 10,000 iterations (--max-iter), a limit "
    "that print has not",
)
SMOOTHED = (
    "(10) prints the threshold 1 - mu of y_i X_i w; it is 1 - mu |X_i|_inf, by (6)",
    "w* is the w0 of each run of Algorithm 1: Theorem 3 needs w* = w0, and another w* undoes the warm start",
    "print gives no mu*: it is that at which the bounds (11) and (29) of the error by smoothing sum to 1e-2 F(0), "
    "unless --mu-end gives it",
    "the stages are those of (44), and the first with mu <= mu* is the last: Algorithm 2 divides by t + 1 before it "
    "increments t, so that mu^0 comes twice, and ends before the stage of the mu that ends it",
    "the certificate's dual point comes from C times the mean of all u with the weights of (34); no step uses it",
    "each row has its own cost: C n max_i ... is n max_i C_i ... in L_mu",
)
ALGORITHM_2 = (
    "Algorithm 2 (homotopy, Eq. 44) over Algorithm 1 (Eqs. 33 to 35) for {}; with --no-homotopy Algorithm 1 at mu = "
    "--mu (default 5)"
)
PRODUCTS = "two products with the rows"
ABOUT = {
    50: About(
        ALGORITHM_2.format("C-SVM (Eqs. 6, 45 to 48)"), (*ENDS, *SMOOTHED), PRODUCTS, "no smoothing: " + FAST_ALM,
    ),
    51: About(
        ALGORITHM_2.format("LP-SVM (Eqs. 6, 24, 49 to 52)"),
        (*ENDS, *SMOOTHED, "nu is mu: print has another first value, which it does not give",
         "weights are small where |w|_1 alone would make them 0, because it is smoothed"),
        PRODUCTS,
        "Newton steps on the smoothed loss and norm, restarted PDHG, or interior-point steps, to a certified gap",
    ),
    52: About(
        "Algorithm 1 (Eqs. 33 to 35) for LS-SVM (Eqs. 53 to 56)",
        ("w* is w0, which Theorem 3 needs", *ENDS,
         "(56) has lost the sum over the rows and is no Lipschitz constant: L = 1 + 2 n max_i C_i |X_i|^2, with the "
         "bound n max_i of (21)",
         "nothing is smoothed, so that each stage of Algorithm 2 would repeat the first",
         "the certificate's dual point comes from 2 C (1 - y_i X_i w), averaged with the weights of (34)"),
        PRODUCTS, "an exact solution of the normal equations, or conjugate gradients, to a certified gap",
    ),
}  # fmt: skip


class State(NamedTuple):
    """Step 1 at one w: F_mu, F without smoothing, the dual variables u of the losses, and the gradient of R_mu."""

    F_mu: float
    F: float
    u: np.ndarray
    slope: np.ndarray


class CSvm:
    """F_mu of C-SVM.  X (n, p) with the column of the bias, signs and C f8[n]; free: whether the bias is not in R."""

    def __init__(self, X: Matrix, signs: np.ndarray, C: np.ndarray, free: bool):
        self.X, self.XT, self.signs, self.C = X, X.T, signs, C
        self.inner = np.ones(X.shape[1])  # 0 for a free bias (37)
        if free:
            self.inner[-1] = 0.0
        squares = (X * X).sum(axis=1)
        self.size = _largest(X)  # |X_i|_inf
        self.curve = len(signs) * float(np.max(C * self._curves(squares), initial=0.0))
        self.weighted, self.weights = np.zeros(len(signs)), 0.0  # sums over all iterations: see `dual`

    def _curves(self, squares: np.ndarray) -> np.ndarray:
        """|X_i'X_i|_2 / |X_i|_inf of each row, where |X_i'X_i|_2 = |X_i|^2."""
        return np.divide(squares, self.size, out=np.zeros(len(squares)), where=self.size > 0.0)

    def lipschitz(self, mu: float) -> float:
        """L_mu (48)."""
        return 1.0 + self.curve / mu

    def error(self) -> float:
        """The largest F - F_mu for mu = 1: the sum of the bounds (11)."""
        return 0.5 * float(self.C @ self.size)

    def at(self, w: np.ndarray, mu: float) -> State:
        """Step 1 of Algorithm 1."""
        Xw = self.X @ w
        R_mu, R, slope = self.regulariser(w, Xw, mu)
        xi = 1.0 - self.signs * Xw
        loss_mu, loss, u = self.losses(xi, mu)
        return State(R_mu + float(self.C @ loss_mu), R + float(self.C @ loss), u, slope)

    def losses(self, xi: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The smoothed loss (5), the loss and u (6) of each row."""
        band = mu * self.size
        u = np.clip(np.divide(xi, band, out=(xi > 0.0).astype(float), where=band > 0.0), 0.0, 1.0)  # (6)
        return u * xi - 0.5 * band * u * u, np.maximum(xi, 0.0), u

    def regulariser(self, w: np.ndarray, Xw: np.ndarray, mu: float) -> tuple[float, float, np.ndarray]:
        """R_mu, R and the gradient of R_mu."""
        slope = self.inner * w
        R = 0.5 * float(slope @ slope)  # (45)
        return R, R, slope

    def gradient(self, at: State) -> np.ndarray:
        """Step 2 of Algorithm 1: grad F_mu (47), (51), (55)."""
        return at.slope - self.XT @ (self.signs * self.C * at.u)

    def average(self, weight: float, u: np.ndarray) -> None:
        """Add u to the mean of `dual`."""
        self.weighted, self.weights = self.weighted + weight * u, self.weights + weight

    def dual(self) -> np.ndarray:
        """C times the mean of all u with the weights of (34), f8[n]: a dual point, which no step uses."""
        return self.C * self.weighted / max(self.weights, 0.5)


class LpSvm(CSvm):
    """F_mu of LP-SVM."""

    def lipschitz(self, mu: float) -> float:
        """L_mu (52), nu = mu."""
        return 1.0 / mu + self.curve / mu

    def error(self) -> float:
        """See CSvm; with the bounds (29) of |w|_1."""
        return super().error() + 0.5 * float(np.sum(self.inner))

    def regulariser(self, w: np.ndarray, Xw: np.ndarray, mu: float) -> tuple[float, float, np.ndarray]:
        inside = self.inner * w
        u = np.clip(inside / mu, -1.0, 1.0)  # (24)
        R_mu = float(inside @ u) - 0.5 * mu * float(u @ u)  # (23)
        return R_mu, float(np.sum(np.abs(inside))), u  # (30)


class LsSvm(CSvm):
    """F of LS-SVM, which has no mu."""

    def _curves(self, squares: np.ndarray) -> np.ndarray:
        return 2.0 * squares

    def lipschitz(self, mu: float) -> float:
        """L (56), with the sum over the rows."""
        return 1.0 + self.curve

    def error(self) -> float:
        """See CSvm; nothing is smoothed."""
        return 0.0

    def losses(self, xi: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The loss (54), twice, and its slope."""
        square = xi * xi
        return square, square, 2.0 * xi


class Iterate(Point):
    """A Point with u, F_mu, and from the first iteration on y, z and L of Algorithm 1."""

    u: np.ndarray


def _largest(X: Matrix) -> np.ndarray:
    """|X_i|_inf, f8[n]."""
    if isinstance(X, np.ndarray):
        return np.maximum(X.max(axis=1, initial=0.0), -X.min(axis=1, initial=0.0))
    return abs(X).max(axis=1).toarray().ravel() if X.shape[1] else np.zeros(X.shape[0])


def algorithm_1(svm: CSvm, w: np.ndarray, mu: float, eps: float) -> Generator[Iterate, None, tuple[np.ndarray, Status]]:
    """Yield each iterate after w = w0 = w*; return the last w and why it is the last."""
    start, gradients, L = w, np.zeros(len(w)), svm.lipschitz(mu)
    at, k = svm.at(w, mu), 0
    while True:
        g = svm.gradient(at)
        gradients = gradients + (k + 1) / 2 * g
        svm.average((k + 1) / 2, at.u)
        y = w - g / L  # (33)
        z = start - gradients / L  # (34)
        w = 2 / (k + 3) * z + (k + 1) / (k + 3) * y  # (35)
        before, at, k = at, svm.at(w, mu), k + 1
        yield Iterate(w, at.F, record={"mu": mu}, y=y, z=z, u=at.u, F_mu=at.F_mu, L=L)
        change = abs(at.F_mu - before.F_mu)
        if change < eps:
            return w, RULE
        if not change > ROUNDING * abs(at.F_mu) or not at.F_mu < np.inf:
            return w, PRECISION


def algorithm_2(svm: CSvm, w: np.ndarray, mu: float, end: float, eps: float) -> Generator[Iterate, None, Status]:
    """Yield w0 and each iterate of each stage of the homotopy; mu: mu^0, end: mu*."""
    at, t = svm.at(w, mu), 0
    yield Iterate(w, at.F, record={"mu": mu}, u=at.u, F_mu=at.F_mu)
    while True:
        now = mu / (t + 1)  # (44)
        w, status = yield from algorithm_1(svm, w, now, eps)
        if status is not RULE or now <= end:
            return status
        t += 1


def steps(svm: CSvm, w: np.ndarray, eps: float, options: Options) -> Generator[Iterate, None, Status]:
    """Algorithm 2; with --no-homotopy, or where nothing is smoothed, it has one stage, because mu* is mu^0."""
    mu, end, error = options.mu if isinstance(options.mu, float) else MU, options.mu_end, svm.error()
    if not (options.homotopy and error > 0.0):
        end = mu
    elif end is None:
        end = SMOOTHING_SHARE * float(np.sum(svm.C)) / error
    return algorithm_2(svm, w, mu, end, eps)


MODELS = {"c-svm": CSvm, "lp-svm": LpSvm, "ls-svm": LsSvm}
BOTH = "NESVM: Algorithm 2, with --no-homotopy Algorithm 1"
METHODS = {"c-svm": BOTH, "lp-svm": BOTH, "ls-svm": "NESVM: Algorithm 1"}


def _plan(model: str) -> Callable[..., Plan]:
    """Return the planning function of the row whose one method is `model`."""
    return lambda task, rule, start=None: Plan(model)


plan, plan_lp, plan_ls = map(_plan, MODELS)


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve the model `method` from `start` (zeros if None)."""
    w0 = np.zeros(task.rows.d) if start is None else start
    with np.errstate(all="ignore"):  # the caller finds results that are not finite
        svm = MODELS[method](matrix(task.rows), task.y, task.cost, task.free_bias)
        last, status = run(steps(svm, w0, rule.eps, task.options), monitor, MAX_ITERATIONS, ITERATIONS)
    return Result(last.w, status, monitor.iterations - 1, monitor.history, svm.dual())
