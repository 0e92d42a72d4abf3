"""LLS-SVM, ALSVM and FALSVM, as printed.    min_w  1/2 |w|^2 + C sum_i xi_i^2,   y_i w'x_i = 1 - xi_i            (2)
Paper: T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015.

-s 70: LLS-SVM, Section III;  -s 71: ALSVM, Algorithm 1;  -s 72: FALSVM, Algorithm 2;  both: Eqs. 4 to 10 of Section IV.
Letters: x_i is a column of A, with the constant 1 appended;  nu = 1/(2C);  G = A A' + nu I;  P = G^-1;  a = x'Px.
Here X is A', (n, d).  Rows may differ in C_i: C is the largest, and row i, with its y_i, is multiplied by
sqrt(C_i / C), which gives its square the factor C_i.  Equations 4 to 10 hold for such rows as they stand.
training/adapting/ adds rows to a model and removes them by `add` and `remove`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_solve
from scipy.linalg.blas import dger

from svmtool import limits
from svmtool.compiled.loops.rows.rand_loops import rand_seed, rand_shuffle
from svmtool.errors import SvmtoolError
from svmtool.objectives.task import Task
from svmtool.papers.running import Matrix, Point, Tolerance, blocks, cholesky, matrix, run
from svmtool.registry.row import ADAPTABLE_FEATURES, About
from svmtool.solvers.shared.base import PRECISION, Monitor, Plan, Result, Status
from svmtool.tolerances import EPS, MB

LEAST = 16.0 * EPS  # of 1 - a in Eqs. 8 and 9, times 1 + |x|^2 / nu: P began as I / nu and keeps its round-off
RECORDS = 20  # of a pass over the rows: each computes the objective of all of them
SOLVED = Status("solved", True, "the system is solved", own=True)
ADDED = Status("added", True, "all rows are added", own=True)
PASSES = Status("passes", True, "all passes over the rows are made (--passes); the model is not optimal for all rows")

METHODS = {
    "system": "LLS-SVM: the system G w = A y, by one Cholesky factorisation",
    "algorithm 1": "ALSVM, Algorithm 1: all rows are added, one after another, by Eqs. 4 to 6",
    "algorithm 2": "FALSVM, Algorithm 2: rows that w misclassifies are added by Eqs. 4 to 6",
}
_WEIGHTED = "rows with their own C_i, which print does not have, are multiplied by sqrt(C_i / C) with the largest C"
_SIGN = "w changes by +P'x (y - w'x), as Eq. 6 has it; the minus sign in the algorithm is a slip"
_REMOVED = "a row with 1 - x'Px <= 3.6e-15 (1 + |x|^2 / nu), which is round-off (Eq. 8), is not removed"
_POSITIVE = "it ends, not converged, where rounding has made x'Px negative"
_SHARED = "with several classes those with the same G share one P beside the model"
_ANEW = "where -c, -B or the class weights of its rows change, P is computed anew from sums over the rows, in O(d^3)"
ABOUT = {
    70: About(
        "Section III: the system G w = A y, G = A A' + nu I",
        (_WEIGHTED, "the system is solved by a Cholesky factorisation; print does not say how"),
        "there is one step: n d^2 for G, d^3 / 3 for its factor, for each class where there are three or more",
        "one step over sums that all classes share, refined; conjugate gradients with many features",
    ),
    71: About(
        "Algorithm 1: all rows are added one after another (Eqs. 4-6); --add and --remove: Eqs. 4-6 and 8-10",
        (_SIGN, _WEIGHTED, _SHARED, _POSITIVE, _REMOVED, _ANEW),
        "one row: d^2 for P, the same number of operations to add and to remove one",
        "sums over the rows and one factorisation, d^3 / 3 after each change of the rows",
    ),
    72: About(
        "Algorithm 2: in random order, rows with y w'x < 0 are added (Eqs. 4-6); --remove: Eqs. 8-10",
        (
            _SIGN, _WEIGHTED, "while w = 0, which has no wrong side, each row is added; print adds the first row",
            "--passes N: N passes, each in its own random order, where print has one",
            "rows that come by --add are visited in the order of the file or stream", _POSITIVE, _REMOVED, _ANEW,
        ),
        "one row: d to test it, d^2 for P where it is added",
        "the same algorithm, by compiled loops that change P for many rows at once",
    ),
}  # fmt: skip


class DigitsError(SvmtoolError):
    """Rounding leaves too few digits."""


class Added(Point):
    """An iterate after rows were added."""

    P: np.ndarray
    taken: np.ndarray | None  # how often FALSVM added each row, i8[n]


def row(X: Matrix, k: int) -> tuple[np.ndarray | slice, np.ndarray]:
    """Return j and x: the places and the values of the entries of row k."""
    if isinstance(X, np.ndarray):
        return slice(None), X[k]
    here = slice(X.indptr[k], X.indptr[k + 1])
    return X.indices[here], X.data[here]


def add(
    P: np.ndarray, w: np.ndarray, j: np.ndarray | slice, x: np.ndarray, y: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return P, changed in place, and w after the row with the entries x at j and the label y is added.

    P: f8[d, d] in Fortran order.  w: f8[d]; or f8[d, k], and y f8[k], for several problems with the same G.
    DigitsError where P is not positive definite any more.
    """
    Px = P[:, j] @ x
    a = float(x @ Px[j])
    if not a >= 0.0:
        raise DigitsError(f"x'Px = {a:.2g}, which is not positive: rounding has left P without digits")
    P = dger(-1.0 / (1.0 + a), Px, Px, a=P, overwrite_a=True)  # (4)
    Px = Px / (1.0 + a)  # (5): now P'x
    return P, w + np.multiply.outer(Px, y - x @ w[j])  # (6)


def remove(
    P: np.ndarray, w: np.ndarray, j: np.ndarray | slice, x: np.ndarray, y: float | np.ndarray, nu: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return P, changed in place, and w after a row is removed; see `add`.  DigitsError where 1 - a is round-off."""
    Px = P[:, j] @ x
    a = float(x @ Px[j])
    if not 1.0 - a > LEAST * (1.0 + float(x @ x) / nu):
        raise DigitsError(f"Eq. 8 divides by 1 - x'Px = {1.0 - a:.2g}, of which rounding leaves too few digits")
    P = dger(1.0 / (1.0 - a), Px, Px, a=P, overwrite_a=True)  # (8)
    Px = Px / (1.0 - a)  # (9): now P'x
    return P, w + np.multiply.outer(Px, x @ w[j] - y)  # (10)


def scale(C: np.ndarray) -> tuple[float, np.ndarray]:
    """Return nu = 1/(2C) and sqrt(C_i / C) of each row, f8[n]."""
    largest = float(C.max()) if len(C) else 1.0
    return 0.5 / largest, np.sqrt(C / largest)


def objective(X: Matrix, y: np.ndarray, C: np.ndarray, w: np.ndarray) -> float:
    """The function of (2)."""
    xi = 1.0 - y * (X @ w)
    return 0.5 * float(w @ w) + float(C @ (xi * xi))


def system(X: Matrix, y: np.ndarray, C: np.ndarray) -> Generator[Point, None, Status]:
    """Yield w = 0, then the solution w of G w = A y; C: f8[n]."""
    d = X.shape[1]
    nu, root = scale(C)
    w = np.zeros(d)
    yield Point(w, objective(X, y, C, w))
    G, Ay = np.zeros((d, d), order="F"), np.zeros(d)
    G.flat[:: d + 1] = nu
    for some in blocks(X):
        if isinstance(X, np.ndarray):
            A = X[some] * root[some, None]
            G += A.T @ A
        else:
            A = X[some].multiply(root[some, None]).tocsr()
            AA = (A.T @ A).tocoo()
            G[AA.row, AA.col] += AA.data
        Ay += A.T @ (root[some] * y[some])
    try:
        w = cho_solve((cholesky(G), True), Ay, check_finite=False)
    except LinAlgError:
        return PRECISION
    yield Point(w, objective(X, y, C, w))
    return SOLVED


def algorithm_1(X: Matrix, y: np.ndarray, C: np.ndarray, every: int = 1) -> Generator[Added, None, Status]:
    """Yield w and P after each `every` rows of Algorithm 1, after the start; C: f8[n]."""
    n, d = X.shape
    nu, root = scale(C)
    P, w = np.asfortranarray(np.eye(d) / nu), np.zeros(d)  # the empty set: the first row is added as the others are
    yield Added(w, objective(X, y, C, w), record={"active": 0}, P=P, taken=None)
    for k in range(n) if d else ():  # without features no row changes w
        j, x = row(X, k)
        try:
            P, w = add(P, w, j, root[k] * x, root[k] * y[k])
        except DigitsError:
            return PRECISION
        added = k + 1
        if added % every == 0 or added == n or limits.is_ended():
            yield Added(w, objective(X, y, C, w), record={"active": added}, number=added, P=P, taken=None)
    return ADDED


def algorithm_2(
    X: Matrix, y: np.ndarray, C: np.ndarray, orders: Iterable[np.ndarray], every: int = 1,
    begun: tuple[np.ndarray, np.ndarray] | None = None,
) -> Generator[Added, None, Status]:  # fmt: skip
    """Yield w, P and how often each row was added, after each `every` rows of Algorithm 2, after the start.

    C: f8[n].  orders: of the rows, i8[n], in each pass.  begun: P and w of rows added earlier, in the same scale.
    """
    n, d = X.shape
    nu, root = scale(C)
    P, w = (np.asfortranarray(np.eye(d) / nu), np.zeros(d)) if begun is None else begun
    taken = np.zeros(n, np.int64)
    yield Added(w, objective(X, y, C, w), record={"active": 0}, P=P, taken=taken)
    for number, order in enumerate(orders):
        for at, k in enumerate(order.tolist() if d else (), 1):
            j, x = row(X, k)
            if y[k] * (x @ w[j]) < 0.0 or not np.any(w):
                try:
                    P, w = add(P, w, j, root[k] * x, root[k] * y[k])
                except DigitsError:
                    return PRECISION
                taken[k] += 1
            if at % every == 0 or at == n or limits.is_ended():
                record = {"active": int(taken.sum())}
                yield Added(w, objective(X, y, C, w), record=record, number=number * n + at, P=P, taken=taken)
    return PASSES


def shuffled(n: int, passes: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the order of the rows in each pass, i8[n], as --method fast draws it."""
    random, order = np.zeros(32, np.int64), np.arange(n)
    rand_seed(random, seed)
    for _ in range(passes):
        rand_shuffle(random, order, 0, n)
        yield order


def plan(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 70; those of -s 71 and 72 follow."""
    return Plan("system")


def plan_alsvm(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    return Plan("algorithm 1")


def plan_falsvm(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    return Plan("algorithm 2")


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve by one of METHODS; neither `rule` nor `start` has a part in it.

    SvmtoolError for more features than the memory, or an adaptable model, has room for.
    """
    X, y, C = matrix(task.rows), task.y, task.cost
    (n, d), every = X.shape, max(1, -(-task.rows.n // RECORDS))
    if method == "system":
        if 2 * 8 * d * d > limits.memory():
            size = f"G and its sums of {d} x {d} numbers, {16.0 * d * d / MB:.0f} MB,"
            raise SvmtoolError(f"{size} are beyond the memory: use --method fast")
        last, status = run(system(X, y, C), monitor)
        return Result(last.w, status, monitor.iterations - 1, monitor.history)
    if d > ADAPTABLE_FEATURES:
        raise SvmtoolError(f"the algorithm keeps a matrix of features x features: {d} are too many (use -s 70)")
    if method == "algorithm 1":
        steps = algorithm_1(X, y, C, every)
    else:
        steps = algorithm_2(X, y, C, shuffled(n, task.options.passes, seed), every)
    point, status = run(steps, monitor)
    result = Result(point.w, status, monitor.iterations - 1, monitor.history)
    result.inverse, result.taken = None if status is PRECISION else scale(C)[0] * point.P, point.taken
    return result
