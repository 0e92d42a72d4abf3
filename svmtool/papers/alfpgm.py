"""ALFPGM with pWSS, as printed.
                          min_a  f(a) = 1/2 a'Qa - e'a,   y'a = 0,   0 <= a_i <= C_i,   Q_ij = y_i y_j K(x_i, x_j)   (1)
Paper: M. Aregbesola, I. Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022).

-s 60: decomposition (Algorithm 1), its sets by pWSS (Section 3), its subproblems by Algorithm 2.  Letters: B is the
working set of l = 2p variables, lam the multiplier of y'a = 0, mu the scaling parameter, q_t = -y_t f'(a)_t.  Kernel
rows are stored in double precision, as many as -m allows, at least those of B; the least recently used ones make way
(Section 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel import alfpgm_loops as loops
from svmtool.compiled.loops.kernel.kernel_row_loops import add_stored
from svmtool.kernels.decomposition import level
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.results import KernelResult
from svmtool.kernels.rows import KernelRows, exact_sum
from svmtool.kernels.tiles import tiles_of
from svmtool.papers.running import Point, Tolerance, run
from svmtool.registry.row import About
from svmtool.solvers.shared.base import PRECISION, RULE, Monitor, Plan, Status
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import FIRST_CHECK_STEPS, MIB

MU, PAIRS = 0.1, 50  # the paper's mu; the least p of those it finds best, 50 to 100
POWER_STEPS = 10  # "a few power iterations"
SET_SHARE = 0.25  # share of the violation within a set that is a subproblem's tolerance where it is below eps
MAX_STEPS = 100_000  # gradient steps of a subproblem, which only round-off or an indefinite matrix needs
CALL_PRODUCTS = 1 << 25  # products of a compiled call: some hundredths of a second between checks of the limits

METHODS = {"paper": "working sets by pWSS, solved by augmented Lagrangian and fast projected gradient"}
ABOUT = {
    60: About(
        "Algorithm 1 with sets of p pairs (--pairs, default 50: the text finds 50 to 100 best) by pWSS (Eqs. 14, 15; "
        "MinMaxLimiter, minAlphaCheck), subproblems (3) by Algorithm 2 (Eqs. 7 to 11, 16), mu = 0.1; a least recently "
        "used cache of kernel rows",
        (
            "the text gives no end of Algorithm 1: it ends where max q over I_up exceeds min q over I_low by at most "
            "-e, over all variables; |y'a| is at most -e there, as |g| is after each set",
            "where the variables that MinMaxLimiter leaves in meet this and all variables do not, all return, with "
            "counts of 0",
            "a variable leaves where a visit changes it by less than --delta-alpha, or leaves it at 0 or C at its "
            "visit --min-alpha-opt or a later one, or at its visit --max-alpha-opt; with both infinite none leaves",
            "a subproblem's eps is at most a quarter of the violation within its set, because a set that meets eps at "
            "its start would stay as it is for ever",
            "(16) prints m mu for the l mu of l variables; the power method, whose number of steps the text does not "
            "give, has 10, and lambda_1 is at least the largest diagonal entry of Q_BB",
            "tau of (15), for which the text has no value, is 1e-12",
            "the model is the last iterate, whose rho is the mean of -q over free variables; its certificate has the "
            "dual value of a point with y'a = 0: the free variable of the smallest K_ii takes the sum, which is at "
            "most -e, the next ones if there is too little room",
            f"a subproblem has at most {MAX_STEPS:,} gradient steps, and a run ends as not converged where neither "
            "value nor gap improve any more: the text has no limits",
        ),
        "2p kernel rows of n values each, those in the cache free; p searches among I_low; gradient steps of 4 p^2 "
        "products each",
        "SMO steps among all variables or within sets of at most 3072, in single precision where that is enough, or a "
        "direct solution",
    ),
}


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` largest finite values, largest first, equal ones in their order."""
    if count < len(values):
        places = np.flatnonzero(values >= max(np.partition(values, -count)[-count], -np.finfo(float).max))
    else:
        places = np.flatnonzero(values > -np.inf)
    return places[np.argsort(-values[places], kind="stable")[:count]]


def pwss(rows: KernelRows, q: np.ndarray, up: np.ndarray, low: np.ndarray, p: int, check: float) -> np.ndarray:
    """Return the working set B of at most p pairs i, j, i8: (14) and (15) again and again, no variable twice.

    up, low: masks of the candidates in I_up and I_low.  check: minAlphaCheck, of the entries not taken yet.
    """
    taken, pairs, found = np.zeros(len(q), np.uint8), np.empty(2 * p, np.int64), 0
    check = int(min(check, len(q)))
    partners = np.flatnonzero(low) if check == len(q) else largest(np.where(low, -q, -np.inf), check + 2 * p)
    while found < p:
        i = largest(np.where(up & (taken == 0), q, -np.inf), p - found)  # (14): in this order, but those taken as j
        places = rows.hold(i) * rows.n
        found += loops.second_order_pairs(
            rows.store, places, q, rows.diagonal, i, partners, taken, pairs[2 * found :], rows.n, check
        )
        if not np.all(taken[i]) or not len(i):  # an i without a j: no other has one
            break
    return pairs[: 2 * found]


class Iterate(Point):
    """Also a, q, lam, the last set B, and `left`: which variables are candidates."""

    a: np.ndarray
    q: np.ndarray


class MinMaxLimiter:
    """Section 3.2: which variables are candidates (`left`).  visits: how often each has been in a set."""

    def __init__(self, n: int, delta: float, least: float, most: float):
        self.n, self.delta, self.least, self.most = n, delta, least, most
        self.all_return()

    def all_return(self) -> None:
        self.visits, self.left = np.zeros(self.n, np.int64), np.ones(self.n, bool)

    def visit(self, B: np.ndarray, step: np.ndarray, bound: np.ndarray) -> None:
        """Take out variables of B after a visit that changed them by `step`; bound: those at 0 or C."""
        self.visits[B] += 1
        still = np.abs(step) < self.delta if min(self.least, self.most) < math.inf else np.zeros(len(B), bool)
        self.left[B] = ~(still | bound & (self.visits[B] >= self.least) | (self.visits[B] >= self.most))


def lipschitz(Q: np.ndarray, y: np.ndarray) -> float:
    """L of (16): lambda_1 by power iterations, from a start that symmetric rows do not make orthogonal, and l mu."""
    v, size = y * np.linspace(1.0, 2.0, len(y)), 0.0
    for _ in range(POWER_STEPS):
        v = Q @ (v / max(float(np.linalg.norm(v)), 1e-300))
        size = float(np.linalg.norm(v))
    return max(size, float(np.max(np.diag(Q)))) + MU * len(y)


def algorithm_2(
    Q: np.ndarray, s: np.ndarray, y: np.ndarray, C: np.ndarray, a: np.ndarray, G: float, lam: float, eps: float
) -> tuple[np.ndarray, float]:
    """Return a_B and lam with max(nu, |g|) <= eps, from those given: problem (3), whose f' is Q a + chi = s at a."""
    l, chi, L = len(a), s - Q @ a, lipschitz(Q, y)  # noqa: E741
    a, s, state = a.copy(), s.copy(), np.array([lam, 1.0, 0.0, 0.0, 0.0])
    v, s_v, steps, calls = a.copy(), s.copy(), 0, max(1, CALL_PRODUCTS // (l * l))
    step = loops.augmented_lagrangian.bind(Q, chi, y, C, a, s, v, s_v, np.empty(l), np.empty(l), state)
    while not state[loops.DONE] and steps < MAX_STEPS:
        limits.check()
        steps += step(l, G, MU, L, eps, min(calls, MAX_STEPS - steps))
    return a, float(state[loops.LAM])


def candidates(y: np.ndarray, C: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Masks of I_up and I_low."""
    above, below = a > 0.0, a < C
    return np.where(y > 0.0, below, above), np.where(y > 0.0, above, below)


def violation_of(q: np.ndarray, up: np.ndarray, low: np.ndarray) -> float:
    """The largest q over I_up less the smallest over I_low; -inf if one is empty."""
    return float(np.max(q, where=up, initial=-np.inf) - np.min(q, where=low, initial=np.inf))


def rho_of(q: np.ndarray, up: np.ndarray, low: np.ndarray) -> float:
    """LIBSVM's rho: the mean of -q over free variables, or the middle of what the bounds allow."""
    high, least = np.max(q, where=up, initial=-np.inf), np.min(q, where=low, initial=np.inf)
    return 0.0 - level(q[up & low], float(high), float(least))


def measures(y: np.ndarray, C: np.ndarray, a: np.ndarray, q: np.ndarray, rho: float) -> tuple[float, float]:
    """The gap at a, but for the part of y'a, and the primal objective, whose losses are max(0, y_t (q_t + rho))."""
    s = y * (q + rho)
    gap = float(np.sum(np.where(s < 0.0, -a * s, (C - a) * s)))
    return gap, 0.5 * float(a @ (1.0 - y * q)) + float(C @ np.maximum(s, 0.0))


def algorithm_1(
    rows: KernelRows, y: np.ndarray, C: np.ndarray, a: np.ndarray, q: np.ndarray, eps: float, p: int,
    limiter: MinMaxLimiter, check: float,
) -> Generator[Iterate, None, Status]:  # fmt: skip
    """Yield a, q, lam, B and the limiter's `left` after each set, first at the start; the arrays a and q change."""
    lam, B, progress = 0.0, np.empty(0, np.int64), Progress(FIRST_CHECK_STEPS)
    while True:
        up, low = candidates(y, C, a)
        violation, rho = violation_of(q, up, low), rho_of(q, up, low)
        gap, primal = measures(y, C, a, q, rho)
        record = {"violation": max(violation, 0.0), "active": int(np.count_nonzero(limiter.left))}
        yield Iterate(a, primal, record=record, a=a, q=q, lam=lam, B=B, left=limiter.left)
        if violation <= eps:
            return RULE
        if not violation < math.inf or progress.stalls(gap, primal - gap):
            return PRECISION
        if violation_of(q, up & limiter.left, low & limiter.left) <= eps:
            limiter.all_return()
        B = pwss(rows, q, up & limiter.left, low & limiter.left, p, check)
        slots = rows.hold(B)
        K = rows.store.reshape(rows.capacity, rows.n)[np.ix_(slots, B)]
        within = violation_of(q[B], up[B], low[B])
        new, lam = algorithm_2(
            y[B, None] * K * y[B], -y[B] * q[B], y[B], C[B], a[B], float(y @ a - y[B] @ a[B]), lam,
            min(eps, SET_SHARE * within),
        )  # fmt: skip
        step = new - a[B]
        a[B] = new
        add_stored(rows.store, slots, -y[B] * step, q, rows.n, 0, rows.n)  # q = y - sum_t a_t y_t K_t
        limiter.visit(B, step, (new <= 0.0) | (new >= C[B]))


def plan(problem: KernelProblem, rule: Tolerance, start: np.ndarray | None = None) -> Plan:
    """Return the plan: there is one method."""
    return Plan("paper")


def solve(
    problem: KernelProblem, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve from the feasible alpha `start` (zeros if None); the result's dual_point has y'a = 0 but for round-off."""
    y, C, o, n = problem.y, problem.upper, problem.options, problem.n
    a = np.zeros(n) if start is None else start.copy()
    p = min(o.pairs or PAIRS, max(n // 2, 1))
    cache_mb = max(problem.cache_mb, 2 * p * n * 8 / MIB)  # at least the rows of a working set
    rows = KernelRows(tiles_of(problem.rows, problem.kernel, problem.matrix, np.float64), cache_mb)
    q = y - exact_sum(problem, y * a)
    limiter = MinMaxLimiter(n, o.delta_alpha, o.min_alpha_opt, o.max_alpha_opt)
    steps = algorithm_1(rows, y, C, a, q, rule.eps, p, limiter, o.min_alpha_check or math.inf)
    point, status = run(steps, monitor)
    a, q = point.a, point.q
    rho = rho_of(q, *candidates(y, C, a))
    feasible = balanced(a, y, C, rows.diagonal)
    with limits.until(None):  # a limit has ended the run, perhaps, and these are few rows
        q_there = q - exact_sum(problem, y * (feasible - a))
    primal, value = measures(y, C, a, q, rho)[1], -0.5 * float(feasible @ (1.0 + y * q_there))
    gap, count = problem.relative(primal, -value), monitor.iterations - 1
    result = KernelResult(a, rho, 0.0, -0.5 * float(a @ (1.0 + y * q)), gap, count, status, -y * q)
    result.dual_point = KernelResult(feasible, rho, 0.0, value, gap, count, status, -y * q_there)
    return result


def balanced(a: np.ndarray, y: np.ndarray, C: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return a with y'a = 0 but for round-off: free variables take the sum, those of small K_ii first, then others."""
    total = float(y @ a)
    room = np.where(y * total > 0.0, a, C - a)
    order = np.lexsort((diagonal, (a <= 0.0) | (a >= C)))
    before = np.cumsum(room[order]) - room[order]
    found = a.copy()
    found[order] -= np.sign(total) * y[order] * np.clip(abs(total) - before, 0.0, room[order])
    return found
