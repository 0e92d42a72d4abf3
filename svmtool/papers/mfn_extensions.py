"""L2-SVM-MFN with other losses and for ordinal regression, as printed: Sections 6 and 7 of the paper of mfn.py.

    -s 41   modified Huber loss (21): L_h(xi) = 0, xi^2/2 below 2, 2 (xi - 1)
    -s 42   hinge (24) as the limit of L_h: stages tau_j = 2^-j, j = 0, 1, ..
    -s 43   ordinal regression (25) with the squared hinge or, by --loss, either of these

The steps and letters are those of mfn.py, with these numbers in the loss L of mfn_steps.py:
    Huber           lambda = 1 / C       s = 1         kappa = 2
    hinge, tau_j    lambda = 2 tau / C   s = 1 + tau   kappa = 2 tau:   L(zeta) / (2 tau) = tau/2 L_h(xi / tau + 1)
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from scipy.sparse.linalg import LinearOperator

from svmtool.data.replicated import OrdinalRows
from svmtool.objectives.task import Task
from svmtool.papers.mfn import DIFFERS, ITERATION, LAMBDA, How, Iterate, Problem, appendix_a, begin, l2_svm_mfn, solved
from svmtool.papers.mfn_steps import Pieces
from svmtool.papers.running import Matrix, Tolerance, matrix
from svmtool.registry.printed import ORDINAL_LOSSES
from svmtool.registry.row import FAST_ALM, About
from svmtool.solvers.shared.base import PRECISION, Monitor, Plan, Result, Status

FINE = 1e-6  # epsilon of (13) in the stages of the hinge
STAGES = 53  # down to tau = 2^-52: slacks of size 1 have no smaller digit
SMOOTH = Status("tau", True, "the smoothing of the hinge is within -e", own=True)

METHODS = {
    "squared hinge": "L2-SVM-MFN (Appendix A) for ordinal regression (Section 7)",
    "modified Huber": "L2-SVM-MFN (Appendix A) with the modified Huber loss (21) to (23)",
    "hinge": "L2-SVM-MFN (Appendix A) with the hinge as the limit of the modified Huber loss (Section 6)",
}
HUBER = "the paper leaves the line search to the reader: here (16) to (18) count rows in I_2 with their constant slope"
HINGE = (
    "the loss of a stage is tau/2 L_h(xi/tau + 1): without the factor, which print lacks, the limit is not the hinge",
    f"what the paper leaves open: each stage ends by step 5 with epsilon = {FINE:g}, and tol is 1e-8 tau in xi; "
    "heuristics are for the first stage; the last one is the first with tau/8 sum C_i <= -e f(beta) (default 1e-4), "
    "the sum over the rows with |xi_i| < tau, a bound of the duality gap at a stage's minimiser; a run that gets to "
    "tau = 2^-52 ends there, as not converged",
)
SHIFTED = ITERATION + ", one product with the rows in I_2"
ABOUT = {
    41: About(
        "Appendix A with the modified Huber loss (21): least squares shifted by q, (22) and (23), in place of (6), and "
        "a line search with kinks where rows change between I_0, I_1 and I_2",
        (*DIFFERS, HUBER),
        SHIFTED,
        "Newton steps on factorised matrices, coordinate descent or CG, chosen by the data, to --gap",
    ),
    42: About(
        "the hinge as the limit of the modified Huber loss (Section 6): stages tau_j = 2^-j, each solved as by -s 41 "
        "and seeded by the last",
        (*DIFFERS, HUBER, *HINGE),
        SHIFTED,
        "no smoothing: " + FAST_ALM,
    ),
    43: About(
        "Appendix A for ordinal regression (Section 7): (25), (26), with a kink of the line search for each row and "
        "threshold; --loss huber and hinge as -s 41 and 42",
        (
            *DIFFERS,
            LAMBDA + " (the squared hinge)",
            "the kinks are where y_i meets b_s + 1 or b_s - 1 on the ray: print takes b_s as fixed, but it moves too",
            "-i MODEL: Eq. 8 scales w and all thresholds by one gamma",
            "--loss huber and hinge: " + HUBER,
            *("--loss hinge: " + text for text in HINGE),
        ),
        ITERATION + ", each for all p - 1 thresholds at once",
        "Newton steps on factorised matrices or by CG, chosen by the data, to --gap; the squared hinge alone",
    ),
}  # fmt: skip


def continuation(P: Problem, eps: float, how: How) -> Generator[Iterate, None, Status]:
    """Yield the start and beta of each iteration of each stage: the outline at the end of Section 6."""
    beta = np.zeros(0)
    for j in range(STAGES):
        tau = 2.0**-j
        f = Pieces(2.0 * tau * P.f.lam, 1.0 + tau, 2.0 * tau)
        beta, ini = (beta, 1) if j else (yield from begin(P, f, FINE, how))
        beta, status = yield from appendix_a(P, f, beta, ini, FINE, how)
        xi = 1.0 - P.t * (P.X @ beta)
        objective = 0.5 * float(beta @ beta) + float(P.C @ P.loss.value(xi))
        if 0.125 * tau * float(np.sum(P.C[np.abs(xi) < tau])) <= eps * objective:
            return SMOOTH
        if status is PRECISION:
            break
    return PRECISION


class Pairs(LinearOperator):
    """X of ordinal regression: row s m + i is (x_i, -e_s), whose product with beta = (w, b) is y_i(w) - b_s.

    x: rows of data; i, s: the row and threshold of each pair, i8; p1: the number of thresholds, p - 1.
    """

    def __init__(self, x: Matrix, i: np.ndarray, s: np.ndarray, p1: int):
        super().__init__(np.dtype(float), (len(i), x.shape[1] + p1))
        self.x, self.i, self.s, self.p1 = x, i, s, p1

    def _matvec(self, beta: np.ndarray) -> np.ndarray:
        n = self.x.shape[1]
        return (self.x @ beta[:n])[self.i] - beta[n:][self.s]

    def _rmatvec(self, u: np.ndarray) -> np.ndarray:
        of_rows = np.bincount(self.i, u, self.x.shape[0])
        return np.append(self.x.T @ of_rows, -np.bincount(self.s, u, self.p1))

    def __getitem__(self, chosen: np.ndarray) -> Pairs:
        """The pairs `chosen` (i8), with those rows of data that they have."""
        rows, i = np.unique(self.i[chosen], return_inverse=True)
        return Pairs(self.x[rows], i.reshape(-1), self.s[chosen], self.p1)


def plan_huber(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 41: there is one method."""
    return Plan("modified Huber")


def plan_hinge(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 42: there is one method."""
    return Plan("hinge")


def plan_ordinal(task: Task, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan of -s 43: one method for each --loss."""
    return Plan(ORDINAL_LOSSES[task.options.loss])


def solve(task: Task, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    rows = task.rows
    if isinstance(rows, OrdinalRows):
        s, i = np.divmod(np.arange(rows.n), max(rows.base.n, 1))
        X: Matrix = Pairs(matrix(rows.base), i, s, rows.k)
    else:
        X = matrix(rows)
    steps = continuation if method == "hinge" else l2_svm_mfn
    return solved(Problem(X, task.y, task.cost, method), steps, task, monitor, rule, start, seed)
