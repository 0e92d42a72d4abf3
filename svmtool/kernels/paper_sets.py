"""--paper-form: the working sets and the subproblem of the paper; see solvers/alfpgm.py.

Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, J. Computer and
Communications 10 (2022): pWSS with MinMaxLimiter and minAlphaCheck, and Algorithm 2.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel.working_set_loops import MIN_CURVATURE
from svmtool.kernels.decomposition import Decomposition, largest

PENALTY = 0.1  # the paper's penalty
EIGENVALUE_STEPS, EIGENVALUE_MARGIN = 10, 1.1  # power iteration: steps, and a factor for the error of its eigenvalue
MAX_MULTIPLIER_STEPS, MAX_GRADIENT_STEPS = 200, 2000  # of a subproblem, and of each multiplier step


class PairSets:
    """pWSS: `pairs` pairs by second order, no variable twice; the paper's MinMaxLimiter and minAlphaCheck.

    i = argmax F over rising variables, j = argmax over falling ones with F_j < F_i of (F_i - F_j)^2 / (K_ii + K_jj -
    2 K_ij), its equations (14) and (15).  A variable leaves the search if it changes by less than `delta_alpha` between
    visits, if it is at a bound after `min_opt` visits, or if it has been chosen `max_opt` times.  All return when the
    remaining ones are optimal.  j is searched for among the `check` smallest F.
    """

    def __init__(self, pairs: int, delta_alpha: float, min_opt: float, max_opt: float, check: int | None):
        self.pairs, self.check = pairs, check
        self.delta_alpha, self.min_opt, self.max_opt = delta_alpha, min_opt, max_opt
        self.visits: np.ndarray | None = None

    def choose(self, state: Decomposition) -> np.ndarray:
        """The next set, i8; empty if nothing violates optimality."""
        if self.visits is None:
            self._readmit(len(state.F))
        else:
            self._limit(state)
        found = self._pairs(state)
        if not found:
            self._readmit(len(state.F))
            found = self._pairs(state)
        self.chosen = np.array(found, np.int64)
        self.before = state.a[self.chosen]
        self.visits[self.chosen] += 1
        return self.chosen

    def _readmit(self, m: int) -> None:
        self.visits, self.open = np.zeros(m, np.int64), np.ones(m, bool)
        self.chosen = np.empty(0, np.int64)
        self.before = np.empty(0)

    def _limit(self, state: Decomposition) -> None:
        """MinMaxLimiter, for the variables of the last set."""
        a, visits = state.a[self.chosen], self.visits[self.chosen]
        still = np.abs(a - self.before) < self.delta_alpha
        at_bound = ~state.free[self.chosen] & (visits >= self.min_opt)
        self.open[self.chosen[still | at_bound | (visits >= self.max_opt)]] = False

    def _pairs(self, state: Decomposition) -> list[int]:
        found: list[int] = []
        row, quota = state.problem.row, self.pairs // len(state.signs) or 1
        for side in state.signs:
            up = largest(np.where(state.rising & side & self.open, state.F, -np.inf), 2 * quota)
            low = np.flatnonzero(state.falling & side & self.open)
            low = low[largest(-state.F[low], self.check or len(low))]
            if not len(up) or not len(low):
                continue
            K = state.rows.values(row[up], row[low])
            curve = state.rows.diagonal[row[up]][:, None] + state.rows.diagonal[row[low]] - 2.0 * K
            curve[curve <= 0.0] = MIN_CURVATURE
            taken: set[int] = set()
            remaining = state.F[low].copy()
            for k, i in enumerate(up):
                if len(taken) >= 2 * quota or int(i) in taken:
                    continue
                b = state.F[i] - remaining
                j = int(np.argmax(np.where(b > 0.0, b, 0.0) ** 2 / curve[k]))
                if not b[j] > 0.0:
                    break
                taken |= {int(i), int(low[j])}
                remaining[(low == i) | (low == low[j])] = np.inf
            found += sorted(taken)
        return found


def augmented_lagrangian(state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
    """Algorithm 2: the subproblem (3) by augmented Lagrangian and fast projected gradient, the paper's letters.

    g(a) = E a - E a_before with a row of E for each fixed sum; L_mu = 1/2 a'Qa + chi'a - lam'g + mu/2 |g|^2  (7).
    Returns new values f8 with max(nu, |g|) <= tolerance (10), (11), then corrected to the fixed sums.
    """
    p = state.problem
    y, upper, before = p.y[chosen], p.upper[chosen], state.a[chosen]
    K = state.rows.values(p.row[chosen], p.row[chosen]).astype(np.float64)
    Q = y[:, None] * (0.5 * (K + K.T)) * y
    chi = -y * state.F[chosen] - Q @ before
    E = np.stack([np.where(system[chosen], y if len(state.signs) == 1 else 1.0, 0.0) for system in state.signs])
    fixed = E @ before
    L = EIGENVALUE_MARGIN * _largest_eigenvalue(Q) + PENALTY * len(chosen)  # (16)
    a, used = before.copy(), E * ((before > 0) & (before < upper))
    lam = (used @ (Q @ a + chi)) / np.maximum(np.sum(used * used, axis=1), 1.0)  # slopes of these are 0 on average
    for _ in range(MAX_MULTIPLIER_STEPS):
        v, t = a.copy(), 1.0
        for _ in range(MAX_GRADIENT_STEPS):
            limits.check()
            step = np.clip(v - (Q @ v + chi - E.T @ (lam - PENALTY * (E @ v - fixed))) / L, 0.0, upper)
            slope = Q @ step + chi - E.T @ (lam - PENALTY * (E @ step - fixed))
            if float(np.sum((step - v) * (a - step))) > 0.0:  # momentum uphill is reset
                t = 1.0
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            v = step + (t - 1.0) / after * (step - a)
            a, t = step, after
            nu = np.where(a >= upper, np.maximum(slope, 0.0), np.abs(slope))
            nu[a <= 0.0] = np.maximum(-slope[a <= 0.0], 0.0)
            if nu.max(initial=0.0) < 0.5 * tolerance:
                break
        g = E @ a - fixed
        lam -= PENALTY * g  # (9)
        if np.abs(g).max(initial=0.0) <= tolerance:
            break
    for constraint, total in zip(E, fixed, strict=True):
        a = _with_sum(a, upper, constraint, total)
    return a


def _largest_eigenvalue(Q: np.ndarray) -> float:
    v = np.ones(len(Q))
    size = 0.0
    for _ in range(EIGENVALUE_STEPS):
        v = Q @ v
        size = float(np.linalg.norm(v))
        if size == 0.0:
            break
        v /= size
    return max(size, float(np.diag(Q).max(initial=0.0)), 1e-12)


def _with_sum(a: np.ndarray, upper: np.ndarray, e: np.ndarray, total: float) -> np.ndarray:
    """The point of the box with e'a = total nearest to a: clip(a + s e), s by bisection between its ends."""
    reach = float(np.max(upper, initial=0.0)) + float(np.max(np.abs(a), initial=0.0)) + 1.0
    low, high = -reach, reach
    for _ in range(200):
        s = 0.5 * (low + high)
        if float(e @ np.clip(a + s * e, 0.0, upper)) < total:
            low = s
        else:
            high = s
        if not low < 0.5 * (low + high) < high:
            break
    new = np.clip(a + high * e, 0.0, upper)
    rest = total - float(e @ new)  # the round-off goes to a variable that can take it
    free = np.flatnonzero((e != 0.0) & (new + e * rest >= 0.0) & (new + e * rest <= upper))
    if len(free):
        new[free[0]] += e[free[0]] * rest
    return new
