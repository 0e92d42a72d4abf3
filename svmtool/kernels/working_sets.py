"""Selection of the variables that a decomposition method works on next."""

from __future__ import annotations

import numpy as np

from svmtool.kernels.decomposition import Decomposition

CROWDED, EARLY = 0.75, 30  # sets grow if more than this share of their size is free, but not in the first rounds, when
# many variables are free that will not stay so
LARGEST = 3072  # variables to which sets grow: their block of the kernel matrix then takes 36 MB
FIRST = 256  # variables of the first set; sets double up to their full size, which easy problems never need
TINY = 1e-12  # replaces a curvature that is not positive


class ViolatingSets:
    """Sets of about `full` variables: the newest half of the last set and the most violating variables.

    most: the size that `full` may grow to.
    """

    def __init__(self, full: int, most: int = LARGEST):
        self.size, self.full, self.most = min(FIRST, full), full, most
        self.newest = np.empty(0, np.int64)
        self.rounds = 0

    def choose(self, state: Decomposition) -> np.ndarray:
        """The next set, i8."""
        self.rounds += 1
        if self.rounds > EARLY and CROWDED * self.full < np.count_nonzero(state.free) and self.full < self.most:
            self.full = min(2 * self.full, self.most)
        if self.rounds > 1:
            self.size = min(2 * self.size, self.full)
        if self.size >= len(state.F):
            return np.arange(len(state.F))
        kept = self.newest[: self.size // 2]
        open_ = np.ones(len(state.F), bool)
        open_[kept] = False
        quota = max(1, (self.size - len(kept)) // (2 * len(state.signs)))
        chosen = []
        for side in state.signs:
            high = largest(np.where(state.rising & side & open_, state.F, -np.inf), quota)
            open_[high] = False
            low = largest(np.where(state.falling & side & open_, -state.F, -np.inf), quota)
            open_[low] = False
            chosen += [high, low]
        order = np.concatenate([np.arange(len(c)) for c in chosen])
        self.newest = np.concatenate(chosen)[np.argsort(order, kind="stable")]
        return np.concatenate([self.newest, kept])


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
        settled = ~state.free[self.chosen] & (visits >= self.min_opt)
        self.open[self.chosen[still | settled | (visits >= self.max_opt)]] = False

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
            curve[curve <= 0.0] = TINY
            taken: set[int] = set()
            left = state.F[low].copy()
            for k, i in enumerate(up):
                if len(taken) >= 2 * quota or int(i) in taken:
                    continue
                b = state.F[i] - left
                j = int(np.argmax(np.where(b > 0.0, b, 0.0) ** 2 / curve[k]))
                if not b[j] > 0.0:
                    break
                taken |= {int(i), int(low[j])}
                left[(low == i) | (low == low[j])] = np.inf
            found += sorted(taken)
        return found


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` largest finite values, largest first."""
    places = np.argpartition(-values, count)[:count] if count < len(values) else np.arange(len(values))
    places = places[values[places] > -np.inf]
    return places[np.argsort(-values[places], kind="stable")]
