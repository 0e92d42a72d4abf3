"""A decomposition method: its point, the decision values on all rows, optimality, and the choice of working sets.

    min over a of  1/2 a'Qa + p'a,  Q_st = y_s y_t K(x_s, x_t),  0 <= a <= upper,  y'a fixed

With f = sum_t a_t y_t K(x_t, .) and F = -y (Qa + p) = -y p - f, a is optimal if max F over variables whose y a may grow
is at most min F over those whose y a may shrink.  The nu types fix the sum of each sign, and require this for each sign
separately.  Working sets are solved by steps of pairs (SMO, sequential minimal optimisation): each moves two variables
so that y'a stays; see pair_descent.py.  The variables that may rise and fall are LIBSVM's I_up and I_low.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.results import KernelResult
from svmtool.kernels.rows import exact_sum, rounding_of, rows_of
from svmtool.limits import EndedError

SET_SIZE = 2048  # variables of a working set: their block of the kernel matrix takes 16 MB
FIRST_SET_SIZE = SET_SIZE // 8  # of the first set; sets double up to their full size, which easy problems never need


class Decomposition:
    """A point a, its decision values f on all rows, and quantities derived from them.

    start: feasible point to begin at, f8[m]; None: problem.start.
    exact: whether f was computed in double precision.  Later changes use kernel values in single precision, until
    `use_double`, except for the linear kernel.
    """

    def __init__(self, problem: KernelProblem, cache_mb: float, start: np.ndarray | None = None):
        self.problem, self.a = problem, (problem.start if start is None else start).copy()
        self.rows, self.cache_mb = rows_of(problem, cache_mb), cache_mb
        self.signs = [problem.y > 0, problem.y < 0] if problem.two_sums else [np.ones(len(self.a), bool)]
        self.known = np.zeros(self.rows.n), np.zeros(self.rows.n)  # coefficients, and f in double precision for them
        self.stepped = 0.0
        self.sizes = np.abs(self.rows.diagonal)
        self.size = float(self.sizes.max(initial=0.0)) ** 0.5
        self.refresh()

    def refresh(self) -> None:
        """Compute f in double precision, from the change of a since the last time."""
        p = self.problem
        coef = np.bincount(p.row, p.y * self.a, self.rows.n)
        self.f = self.known[1] + exact_sum(p, coef - self.known[0])
        self.known = coef, self.f.copy()
        self.exact, self.drift = True, 0.0

    def error(self) -> float:
        """An estimate of the largest error of f; independent round-off errors add up as squares."""
        return self.rows.rounding * self.size * self.drift**0.5

    def error_of_steps(self) -> float:
        """An estimate of the largest error of F within the steps that led to the present point."""
        return rounding_of(self.rows.tiles) * self.size * self.stepped**0.5

    @property
    def single(self) -> bool:
        """Whether steps use kernel values in single precision."""
        return self.rows.tiles.dtype is np.float32

    def use_double(self) -> None:
        """From now on use kernel values in double precision."""
        self.rows = rows_of(self.problem, self.cache_mb, np.float64)
        self.refresh()

    def certify(self) -> tuple[float, float, float]:
        """Return the largest violation, rho and r.

        Sets F and three masks: whether y a may grow (`rising`), may shrink (`falling`), or both (`free`).
        """
        p, a = self.problem, self.a
        self.F = -p.y * p.p - self.f[p.row]
        above, below = a > 0.0, a < p.upper
        up = p.y > 0
        self.rising, self.falling = np.where(up, below, above), np.where(up, above, below)
        self.free = above & below
        violation, levels = 0.0, []
        for side in self.signs:
            high = float(self.F.max(where=self.rising & side, initial=-np.inf))
            low = float(self.F.min(where=self.falling & side, initial=np.inf))
            violation = max(violation, high - low)
            levels.append(level(self.F[self.free & side], high, low))
        if not self.problem.two_sums:
            return violation, 0.0 - levels[0], 0.0  # not -0
        plus, minus = -levels[0], levels[1]  # multipliers of the sums over y = +1 and y = -1
        return violation, 0.0 + (plus - minus) / 2, 0.0 + (plus + minus) / 2

    def value_and_gap(self, rho: float, r: float) -> tuple[float, float]:
        """Return 1/2 a'Qa + p'a and an upper bound of its distance from the minimum."""
        p = self.problem
        gradient = -p.y * self.F
        s = gradient - (r + p.y * rho)
        gap = float(np.where(s > 0, self.a * s, (self.a - p.upper) * s).sum())
        return 0.5 * float(self.a @ (gradient + p.p)), gap

    def value(self) -> float:
        """Return 1/2 a'Qa + p'a for the present f."""
        p = self.problem
        return float(self.a @ (0.5 * p.y * self.f[p.row] + p.p))

    def change(self, chosen: np.ndarray, new: np.ndarray) -> bool:
        """Set a[chosen] = new and update f; return whether anything changed.

        EndedError leaves `a` unchanged, but not f.
        """
        p = self.problem
        before = self.a[chosen]
        step = new - before
        moved = np.flatnonzero(step)
        if not len(moved) or not np.all(np.isfinite(new)):
            return False
        self.a[chosen] = new
        rows, at = np.unique(p.row[chosen[moved]], return_inverse=True)
        c = np.bincount(at, (p.y[chosen] * step)[moved], len(rows))
        free = (new > 0.0) & (new < p.upper[chosen])  # those at a bound mostly stay there
        try:
            self.rows.add(rows, c, self.f, np.bincount(at, free[moved], len(rows)) > 0)
        except EndedError:
            self.a[chosen] = before
            raise
        self._moved(float((c * c) @ self.sizes[rows]))
        return True

    def follow(self, new: np.ndarray, F: np.ndarray) -> bool:
        """Set a = new, with the F of its steps; return whether anything changed."""
        if not self.rows.own_suffice:
            return self.change(np.arange(len(new)), new)
        p, step = self.problem, new - self.a
        if not step.any() or not np.isfinite(new).all():
            return False
        self.a = new
        self.f[p.row] = -p.y * p.p - F
        c = np.bincount(p.row, p.y * step, self.rows.n)
        self._moved(float((c * c) @ self.sizes))
        return True

    def _moved(self, drift: float) -> None:
        """Account for the round-off of a change."""
        if self.exact or not self.rows.own_suffice:
            self.stepped = 0.0
        self.exact = False
        self.drift += drift
        self.stepped += drift

    def go_to(self, a: np.ndarray) -> None:
        """Set another feasible point and compute f in double precision."""
        before, self.a = self.a, a
        try:
            self.refresh()
        except EndedError:
            self.a = before
            raise

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Return to the point that `kept` holds."""
        self.a, self.f, self.known, self.exact, self.drift = kept
        self.certify()

    @property
    def kept(self) -> tuple[Any, ...]:
        """The present point, for `restore` after `go_to`."""
        return self.a, self.f, self.known, self.exact, self.drift

    def result(self, value: float, gap: float, rho: float, r: float, iterations: int, status: Any) -> KernelResult:
        gradient = -self.problem.y * self.F
        found = self.problem.relative(gap - value, -value)
        return KernelResult(self.a, rho, r, value, found, iterations, status, gradient)


def level(free: np.ndarray, high: float, low: float) -> float:
    """The mean F of free variables; without any, the middle of the interval that the bounds allow."""
    if len(free):
        return float(free.mean())
    if high == -np.inf:
        return low if low < np.inf else 0.0
    return high if low == np.inf else 0.5 * (high + low)


class ViolatingSets:
    """Sets of about SET_SIZE variables: the newest half of the last set and the most violating variables."""

    def __init__(self) -> None:
        self.size = FIRST_SET_SIZE
        self.newest = np.empty(0, np.int64)
        self.rounds = 0

    def choose(self, state: Decomposition) -> np.ndarray:
        """The next set, i8."""
        self.rounds += 1
        if self.rounds > 1:
            self.size = min(2 * self.size, SET_SIZE)
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


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` largest finite values, largest first."""
    places = (-values).argpartition(count)[:count] if count < len(values) else np.arange(len(values))
    places = places[values[places] > -np.inf]
    return places[(-values[places]).argsort(kind="stable")]
