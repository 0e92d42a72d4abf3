"""FOSVM, as printed.    min_{w,rho}  1/2 ||w||^2 - rho    s.t.  w'Phi(x_i) >= rho,  i = 1 .. N          (2), (3)
Paper: T. Le, D. Phung, K. Nguyen, S. Venkatesh, Fast One-Class Support Vector Machine for Novelty Detection, PAKDD
2015.

-s 80: Algorithm 2 (FOSVM1), -s 81: Algorithm 3 (FOSVM2); with -t, -g, -d or -r Phi is that of a kernel.  Letters: A,
the rows of the active constraints; (w_n, rho_n), the hard one-class SVM on them, w_n = sum_{j in A} alpha_j Phi(x_j);
o, the least w_n'Phi(x_i) - rho_n outside A, and i_{n+1} its row; theta, the tolerance (-e); m, the rows of a sample.
The model's boundary, which the paper has at rho: HardOneClass in training/reductions/one_class.py and
kernels/problems.py.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from svmtool import limits
from svmtool.certify.one_class import hard_gap
from svmtool.kernels.problems import HardOneClass
from svmtool.kernels.results import KernelResult
from svmtool.kernels.row_scores import KernelValues
from svmtool.kernels.rows import exact_sum
from svmtool.limits import EndedError
from svmtool.linalg.minimum_norm_point import MinimumNormPoint
from svmtool.objectives.task import Task
from svmtool.papers.running import Matrix, Point, Tolerance, matrix, run
from svmtool.registry.row import About
from svmtool.solvers.shared.base import OPTIMAL, PRECISION, RULE, Monitor, Plan, Result, Status
from svmtool.tolerances import DUAL_RTOL, ROUNDOFF_GAP

DEFAULT_M, EPSILON = 59, 0.05  # Section 4: one of m = 59 rows is among the furthest 5% with probability 95%
NOT_SEMIDEFINITE = Status("indefinite", False, "the precomputed kernel is not positive semidefinite")

METHODS = {"paper": "Algorithm 2 of the paper (FOSVM1)", "sampling": "Algorithm 3 of the paper (FOSVM2)"}
_DIFFERS = (
    "the paper names no method for the problem on A: it is solved exactly, from the last solution, by block principal "
    "pivoting and Cholesky factors",
    "theta, in (0, 1), has no value in the text: the default is 0.1",
    "rho that is round-off counts as 0: then w = 0 is the solution and the run ends; if the row that joined does not "
    "change the solution, round-off ends the run",
    "the model's boundary is the largest that all training rows reach, at least (1 - theta) rho; the paper's is rho, "
    "below which rows within theta are outside: --boundary rho",
)
_ROUND = "the problem on A, O(s^3 + |A|^2) for each pivoting step at s support vectors; then w'Phi(x_i) of {}, without "
_ROUND += "a kernel by one product with w, else by s kernel values for each row"
_FAST = "the same cutting planes to the gap of theta; of a large A an eighth of its number joins in each round; with a "
_FAST += "kernel its values are cached in single precision, and beyond 64 rows of A decomposition takes over"
ABOUT = {
    80: About(
        "Algorithm 2 (FOSVM1): A = {1, 2}; in each iteration the hard one-class SVM on A, Eq. 3, then the row outside "
        "A with the least w'Phi(x) joins A, until o >= -theta rho",
        _DIFFERS,
        _ROUND.format("all N rows"),
        _FAST,
    ),
    81: About(
        "Algorithm 3 (FOSVM2): A = {1, 2}; in each iteration the hard one-class SVM on A, Eq. 3, then of m rows drawn "
        "from outside A that with the least w'Phi(x) joins A, until o >= -theta rho",
        (
            *_DIFFERS[:3],
            "the model's boundary is (1 - theta) rho, or, if larger, the largest that all training rows reach; the "
            "paper's is rho: --boundary rho",
            "if at most m rows are outside A the sample holds them all",
        ),
        _ROUND.format("m rows"),
        _FAST + "; samples have 3000 rows",
    ),
}


class Plane(Point):
    """(w_n, rho_n) and the letters of the module; w: with a kernel alpha.

    A i8, alpha f8: its rows and their coefficients.  B i8: the rows examined, None: all.  z: w'Phi(x_i) of these.
    """

    A: np.ndarray
    alpha: np.ndarray
    rho: float
    n: int
    o: float
    i: int
    B: np.ndarray | None
    z: np.ndarray


class Linear:
    """Rows X, (N, d), with Phi(x) = x."""

    def __init__(self, X: Matrix):
        self.X, self.n = X, X.shape[0]
        self.size = float((X.multiply(X) if not isinstance(X, np.ndarray) else X * X).sum()) / self.n

    def inner(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Phi(x_i)'Phi(x_j), f8 (some, others)."""
        found = self.X[some] @ self.X[others].T
        return found if isinstance(found, np.ndarray) else found.toarray()

    def weights(self, A: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """w, f8[d]."""
        return self.X[A].T @ alpha

    def scores(self, A: np.ndarray, alpha: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        """w'Phi(x_i) of the rows B, None: of all."""
        return (self.X if B is None else self.X[B]) @ self.weights(A, alpha)


class Sampling:
    """B = Sampling(A^c, m) of Algorithm 3."""

    def __init__(self, m: int, n: int, seed: int):
        self.m, self.n, self._random = m, n, np.random.default_rng(seed)

    def draw(self, A: np.ndarray) -> np.ndarray:
        """m rows outside A, i8, ascending: the first of m + |A| drawn from all that are not in A."""
        drawn = self._random.choice(self.n, self.m + len(A), replace=False)
        return np.sort(drawn[~np.isin(drawn, A)][: self.m])

    def status(self, n: int) -> Status:
        """The rule holds for the last sample, of iteration n: what that says of all rows."""
        text = f"not certified: none of {self.m} sampled rows lies beyond theta; if a share eps of all rows did, "
        text += f"the sample would miss them with probability at most exp(-{self.m} eps) "
        text += f"({np.exp(-self.m * EPSILON):.2g} for eps = {EPSILON:.1%}); rounds: {n}"
        return Status("sample", True, text, own=True)


class WithKernel(KernelValues):
    """Rows with the Phi of a kernel; w is known by alpha."""

    def __init__(self, problem: HardOneClass):
        super().__init__(problem)
        self.n, self.size = problem.n, problem.size

    def weights(self, A: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """alpha, which stands for w."""
        return alpha

    def scores(self, A: np.ndarray, alpha: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        """w'Phi(x_i) of the rows B, None: of all."""
        if B is not None:
            used = alpha > 0.0
            return alpha[used] @ self.inner(A[used], B)
        coef = np.zeros(self.n)
        coef[A] = alpha
        return exact_sum(self.problem, coef)


def algorithm_2(rows: Linear | WithKernel, theta: float) -> Generator[Plane, None, Status]:
    """Yield A, alpha, w, rho, o and i of each iteration of Algorithm 2, after the start: A = {1, 2}, w = Phi(x_1)."""
    return _rounds(rows, theta, None)


def algorithm_3(rows: Linear | WithKernel, theta: float, m: int, seed: int) -> Generator[Plane, None, Status]:
    """Yield the variables of Algorithm 3, as algorithm_2, and B, the rows drawn."""
    return _rounds(rows, theta, Sampling(m, rows.n, seed))


def _rounds(rows: Linear | WithKernel, theta: float, sampling: Sampling | None) -> Generator[Plane, None, Status]:
    ocsvm, A, n = MinimumNormPoint(), np.arange(min(2, rows.n)), 0
    K = rows.inner(A, A)
    ocsvm.join(K)
    yield _point(rows, A, ocsvm.alpha, float(K[0, 0]), 0.0, n=n)
    while True:
        limits.check()
        changed = ocsvm.solve()  # (w_n, rho_n) = OCSVM({x_i : i in A})
        alpha, rho, n = ocsvm.alpha, ocsvm.rho, n + 1
        if sampling is None or rows.n - len(A) <= sampling.m:
            B, z = None, rows.scores(A, alpha)
            outside = z.copy()
            outside[A] = np.inf
            i = int(np.argmin(outside))  # i_{n+1} = argmin over A^c of w_n'Phi(x_i) - rho_n
            o = float(outside[i]) - rho
        else:
            B = sampling.draw(A)  # B = Sampling(A^c, m)
            z = rows.scores(A, alpha, B)
            i, o = int(B[np.argmin(z)]), float(np.min(z)) - rho
        yield _point(rows, A, alpha, rho, min(rho + o, float(np.min(ocsvm.z))), n=n, o=o, i=i, B=B, z=z)
        size = float(np.max(ocsvm.K.diagonal()))
        if rho < -ROUNDOFF_GAP * rows.size:
            return NOT_SEMIDEFINITE
        if o >= -theta * rho or rho <= DUAL_RTOL * size:  # o is infinite if no row is outside A
            return RULE if B is None else sampling.status(n)
        if n > 1 and not changed:
            return OPTIMAL if hard_gap(rho + o, rho, rows.size) <= ROUNDOFF_GAP else PRECISION
        A = np.append(A, i)
        ocsvm.join(rows.inner(A[-1:], A))


def _point(
    rows: Linear | WithKernel, A: np.ndarray, alpha: np.ndarray, rho: float, least: float, **letters: object
) -> Plane:
    """The iterate; its record has the objective of the multiple of w whose plane all rows examined reach.

    -rho / 2, the objective of (w, rho) itself, is a bound of the least one.  least: the least w'Phi(x) examined.
    """
    ahead = max(least, 0.0)
    value = 0.0 - 0.5 * ahead * (ahead / rho) if rho > 0.0 else 0.0
    return Plane(
        rows.weights(A, alpha), value, -0.5 * rho, {"active": len(A)}, hard_gap(least, rho, rows.size),
        A=A, alpha=alpha, rho=rho, **letters,
    )  # fmt: skip


def plan(problem: Task | HardOneClass, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 80: there is one method."""
    return Plan("paper")


def plan_sampling(problem: Task | HardOneClass, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 81: there is one method."""
    return Plan("sampling")


def solve(
    problem: Task | HardOneClass, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str
) -> Result | KernelResult:
    """Solve from A = {1, 2}; `start` is not used.  Without a kernel Result.w is w and (1 - theta) rho."""
    if not problem.n:
        monitor.step(0.0, 0.0, 0.0, active=0)
        return Result(np.zeros(problem.rows.d + 1), OPTIMAL, 0, monitor.history, np.zeros(0))
    linear = isinstance(problem, Task)
    rows = Linear(matrix(problem.rows)) if linear else WithKernel(problem)
    if method == "paper":
        steps = algorithm_2(rows, rule.eps)
    else:
        steps = algorithm_3(rows, rule.eps, problem.options.sample or DEFAULT_M, seed)
    point, status = run(steps, monitor)
    alpha, boundary, count = np.zeros(rows.n), (1.0 - rule.eps) * point.rho, monitor.iterations - 1
    alpha[point.A] = point.alpha
    if linear:
        return Result(np.append(point.w, boundary), status, count, monitor.history, alpha)
    z = _all_scores(rows, point)
    gap = hard_gap(float(np.min(z)), point.rho, rows.size)
    return KernelResult(alpha, boundary, 0.0, 0.5 * point.rho, gap, count, status, z)


def _all_scores(rows: WithKernel, point: Plane) -> np.ndarray:
    """w'Phi(x_i) of all rows, f8[N]; of a run that a limit ended, rho for the rows not examined."""
    if point.n and point.B is None:
        return point.z
    try:
        limits.check()
        return rows.scores(point.A, point.alpha)
    except EndedError:
        return np.full(rows.n, point.rho)
