"""L2-SVM-MFN, as printed.      min_beta  f(beta) = lambda/2 |beta|^2 + 1/2 sum_i c_i max(0, 1 - t_i y_i)^2      (2)
Paper: S. S. Keerthi, D. DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs, Journal
of Machine Learning Research 6 (2005) 341-361: Sections 3 and 4 with the pseudocode of Appendix A.

-s 40.  CGLS and the line search are in mfn_steps.py; other losses (Section 6) and ordinal regression (Section 7) are in
mfn_extensions.py.  Letters: X is (m, n), its rows are x_i'; t_i = +-1; beta = (w, b), where b is the weight of the bias
feature if there is one; y_i = x_i.beta; C = max C_i and c_i = C_i / C.

The loss of mfn_steps.py is the squared hinge with s = 1, kappa = inf: I_1 = I(beta), and I_2 is empty.  Here lambda =
1 / (2 C): f / lambda is 1/2 |beta|^2 + sum_i C_i max(0, 1 - t_i y_i)^2, the objective of records and results.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from svmtool.data.row_storage import draw_rows
from svmtool.objectives import losses
from svmtool.objectives.task import Task
from svmtool.papers.mfn_steps import Pieces, cgls, line_search
from svmtool.papers.running import LIMIT, Matrix, Point, Tolerance, matrix, run
from svmtool.registry.row import About
from svmtool.solvers.shared.base import PRECISION, Monitor, Plan, Result, Status

CRUDE = 1e-2  # epsilon of heuristic 2's first run
FIRST_CG, MOST_CG, MOST_ROUNDS = 10, 5000, 50  # cgitermax of heuristic 1, cgitermax, itermax
GROUP = 10  # heuristic 3's subset: one row in ten
REPEAT = Status("active set", True, "the least squares solution meets -e and the active rows repeat", own=True)
NO_FALL = Status("no fall", True, "the objective no longer falls", own=True)

METHODS = {"paper": "L2-SVM-MFN (Appendix A)"}
DIFFERS = (
    "C_i of each row: lambda is that of C = max C_i, row i counts C_i / C times; a bias only with -B, of that value",
    "step 8 goes on from the solution of the crude run, as Section 4.6 says; the pseudocode drops it",
    "the line search may end behind the last kink, and CGLS before its first step if r = 0, or where squares "
    "underflow; the pseudocode has no end for the one and divides 0 by 0 in the other",
    "at 50 iterations (--max-iter), and where f rises, the pseudocode ends with an error: here the last point is the "
    "result, and its certified gap decides whether a warning comes",
    "-i MODEL: Eqs. 8 and 9 with all rows as I, then once more with I(beta_0) (footnote 4); values of C one after "
    "another (--grid, -C) start at the last beta, without heuristics, as in Section 4.1",
    f"heuristic 3, which Appendix A does not have, draws one row in {GROUP} (print gives no number); the run over all "
    "rows is seeded, as one for another C",
)
LAMBDA = "lambda is 1 / (2 C), where print has 1 / C: the losses of the objective here have no factor 1/2"
ITERATION = "two products with the active rows for each CGLS step, one product with all rows, a sort of the kinks"
ABOUT = {
    40: About(
        "Appendix A, with CGLS (Section 4.3), its rule (13), the exact line search (14)-(18), heuristics 1 and 2 as "
        "the final algorithm has them (--heuristics h1,h2), and the dual point of Section 4.7, with the residuals z of "
        "the last CGLS (footnote 7)",
        (*DIFFERS, LAMBDA),
        ITERATION,
        "Newton steps on factorised matrices, coordinate descent or preconditioned CG, chosen by the data, to --gap",
    ),
}


class Iterate(Point):
    """beta, its zeta, and the pieces f that it minimises."""

    beta: np.ndarray
    zeta: np.ndarray
    f: Pieces


class Problem:
    """Rows X, t, C_i and the name of the loss, whose objective in C_i is recorded; f: its pieces."""

    def __init__(self, X: Matrix, t: np.ndarray, C: np.ndarray, loss: str):
        self.X, self.t, self.C, self.loss = X, t, C, losses.of(loss, 1.0)
        largest = float(C.max(initial=0.0)) or 1.0
        self.c, lam = C / largest, 1.0 / largest
        self.f = Pieces(0.5 * lam if loss == "squared hinge" else lam, 1.0, self.loss.cap)

    def point(self, f: Pieces, beta: np.ndarray, y: np.ndarray, zeta: np.ndarray, **record: Any) -> Iterate:
        """The iterate beta, with y = X beta, its zeta and the pieces f."""
        objective = 0.5 * float(beta @ beta) + float(self.C @ self.loss.value(1.0 - self.t * y))
        if self.loss.hinge_power == 1.0:
            record["tau"] = 0.5 * f.kappa
        return Iterate(beta, objective, record=record, beta=beta, zeta=zeta, f=f)

    def take(self, rows: np.ndarray) -> Problem:
        """The same lambda on some rows."""
        part = copy.copy(self)
        part.X, part.t, part.C, part.c = self.X[rows], self.t[rows], self.C[rows], self.c[rows]
        return part


class How(NamedTuple):
    """A run's options: heuristics, itermax; guess: weights to start from, `seeded` if those of another C's solution;
    bias: the value of the bias feature, 0 where there is none; subset: the rows of heuristic 3.
    """

    heuristics: str
    itermax: int
    guess: np.ndarray | None = None
    seeded: bool = False
    bias: float = 0.0
    subset: np.ndarray | tuple = ()


def appendix_a(
    P: Problem, f: Pieces, beta: np.ndarray, ini: int, eps: float, how: How
) -> Generator[Iterate, None, tuple[np.ndarray, Status]]:
    """Yield beta of each iteration of Appendix A (after step 7 or 8), and return the last with why it ended."""
    X, t, c = P.X, P.t, P.c
    crude = ini == 0 and "h2" in how.heuristics and eps < CRUDE  # Need_Second_Round
    y = X @ beta
    F = f.value(beta, f.s - t * y, c)
    for k in range(how.itermax):
        zeta = f.s - t * y
        piece = f.pieces(zeta)
        one, two = np.flatnonzero(piece == 1), np.flatnonzero(piece == 2)
        X_I, q = X[one], np.zeros_like(beta)
        if len(two):
            q = f.kappa / f.lam * (X[two].T @ (c * t)[two])  # (23)
        most = FIRST_CG if ini == 0 and k == 0 and "h1" in how.heuristics else MOST_CG
        least_squares = X_I, f.s * t[one] - X_I @ q, c[one], f.lam, beta - q
        bar, z, optimality, cg = cgls(*least_squares, CRUDE if crude else eps, most)  # steps 3, 4: (6), (22)
        bar = bar + q
        y_bar = X @ bar
        zeta_bar = f.s - t * y_bar
        if optimality and f.repeat(zeta, zeta_bar):  # step 5
            beta, y, F = bar, y_bar, f.value(bar, zeta_bar, c)
            zeta_bar[one] = t[one] * z  # CGLS's own residuals: they have more digits
            yield P.point(f, beta, y, zeta_bar, active=len(one), cg=cg, step=1.0)
            if not crude:
                return beta, REPEAT
            crude = False  # step 8
            continue
        delta = line_search(f, c, beta, bar, zeta, zeta_bar)  # step 6
        new, y = beta + delta * (bar - beta), y + delta * (y_bar - y)  # step 7
        zeta = f.s - t * y
        F_previous, F = F, f.value(new, zeta, c)
        if not F <= F_previous:
            return beta, NO_FALL if math.isfinite(F) else PRECISION
        beta = new
        yield P.point(f, beta, y, zeta, active=len(one), cg=cg, step=delta)
    return beta, LIMIT


def scaled(P: Problem, guess: np.ndarray, bias: float) -> np.ndarray:
    """beta_0 = (gamma w, b_0) by (8) and (9), of the weights `guess`, of any scale; 0 where only the bias is not 0."""
    w, lam = guess / float(np.abs(guess).max(initial=0.0)), P.f.lam
    b = np.zeros_like(w)
    if bias > 0.0:
        w[-1], b[-1] = 0.0, 1.0
    products, beta = P.X @ w, np.zeros_like(w)
    for _ in range(2):
        c = np.where(P.t * (P.X @ beta) < 1.0, P.c, 0.0)  # of I: all rows, then I(beta_0)
        p11, p22 = lam * float(w @ w) + float(c @ products**2), lam + bias * bias * float(np.sum(c))
        p12, q1, q2 = bias * float(c @ products), float((c * P.t) @ products), bias * float(c @ P.t)
        d = p11 * p22 - p12 * p12
        if not d > 0.0:  # no weights but the bias
            break
        found = ((p22 * q1 - p12 * q2) / d) * w + ((p11 * q2 - p12 * q1) / d) * b  # (9)
        if not np.all(np.isfinite(found)):
            break
        beta = found
    return beta


def begin(P: Problem, f: Pieces, eps: float, how: How) -> Generator[Iterate, None, tuple[np.ndarray, int]]:
    """Step 1 of Appendix A: return beta and `ini`; yield the start, with heuristic 3 also the end of its first run."""
    beta = np.zeros(P.X.shape[1]) if how.guess is None else how.guess
    if not how.seeded and np.any(beta):
        beta = scaled(P, beta, how.bias)
    y = P.X @ beta
    yield P.point(f, beta, y, f.s - P.t * y)
    if "h3" not in how.heuristics or how.seeded or not len(how.subset):
        return beta, int(how.seeded)
    for point in appendix_a(P.take(how.subset), f, beta, 0, eps, how):
        beta = point.w
    y = P.X @ beta
    yield P.point(f, beta, y, f.s - P.t * y, subset=len(how.subset))
    return beta, 1


def l2_svm_mfn(P: Problem, eps: float, how: How) -> Generator[Iterate, None, Status]:
    """Yield the start and beta of each iteration."""
    start = yield from begin(P, P.f, eps, how)
    _, status = yield from appendix_a(P, P.f, *start, eps, how)
    return status


def plan(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan: there is one method."""
    return Plan("paper")


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    P = Problem(matrix(task.rows), task.y, task.cost, "squared hinge")
    return solved(P, l2_svm_mfn, task, monitor, rule, start, seed)


def solved(
    P: Problem, steps: Callable[[Problem, float, How], Generator[Iterate, None, Status]], task: Task, monitor: Monitor,
    rule: Tolerance, start: np.ndarray | None, seed: int,
) -> Result:  # fmt: skip
    """The result of `steps` for a task, with the dual point of Section 4.7."""
    itermax = MOST_ROUNDS if monitor.max_iter is None else monitor.max_iter
    bias, subset = max(task.rows.bias, 0.0), draw_rows(task.rows.n, GROUP, seed)
    how = How(task.options.heuristics, itermax, start, rule.seeded and start is not None, bias, subset)
    with np.errstate(all="ignore"):  # a value that is not finite ends the run
        point, status = run(steps(P, rule.eps, how), monitor)
        alpha = np.minimum(point.f.dual(point.zeta, P.c), P.loss.cap * P.C)
    return Result(point.w, status, monitor.iterations - 1, monitor.history, alpha)
