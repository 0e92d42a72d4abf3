"""Squared hinge by orthogonal factorisations, for data on which Gram matrices are too inaccurate.

    min over w of  f(w) = 1/2 w'Rw + sum_i C_i max(0, t_i - x_i.w)^2,   rows multiplied by the signs of their labels

or the same without max.  On the active rows this is a least-squares problem.  Its normal equations square the
condition number, and the dual point alpha_i = 2 C_i (t_i - x_i.w) loses all digits where x_i.w is a sum of large terms.
An orthogonal factorisation does neither: residuals are as precise as t_i.  Newton steps identify the active rows,
except rows whose loss is below round-off.  The signs of their multipliers decide those: the active-set method of Lawson
and Hanson (Solving Least Squares Problems, 1974, chapter 23) on the dual, whose value increases at each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from svmtool import limits
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import SLOPE_ROUNDINGS, least_squares
from svmtool.objectives.duality import balanced
from svmtool.tolerances import NEWTON_RTOL

if TYPE_CHECKING:
    from typing import Any

    from svmtool.objectives.task import Task

MAX_FACTORISATIONS = 100  # limit of factorisations, for Newton steps and for active sets each
MAX_WORK = 1 << 29  # (rows + features) features^2 up to which a factorisation takes at most a second
MAX_FACTOR_NUMBERS = 1 << 22  # (rows + features) features up to which it is tried: 40 bytes each


def possible(rows: Rows) -> bool:
    """Whether a factorisation of a copy of the rows is cheap enough."""
    return rows.in_memory and (rows.n + rows.d) * rows.d * max(rows.d, MAX_WORK // MAX_FACTOR_NUMBERS) <= MAX_WORK


def all_rows(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """The w that minimises 1/2 w'Rw + sum_i C_i (t_i - x_i.w)^2, and its multipliers; errors as of least_squares."""
    X = task.rows.dense_of(np.arange(task.rows.n)) * task.y[:, None]
    t = np.broadcast_to(1.0 if task.target is None else task.target, task.rows.n)
    return minimiser(X, t, np.sqrt(2.0 * task.cost), task.free_bias)


def minimiser(X: np.ndarray, t: np.ndarray, root: np.ndarray, free_bias: bool) -> tuple[np.ndarray, np.ndarray]:
    """`all_rows` for a dense X; root_i^2 = 2 C_i."""
    limits.check()
    penalties = np.eye(X.shape[1] - free_bias, X.shape[1])
    b = np.concatenate([root * t, np.zeros(len(penalties))])
    w, r = least_squares(np.vstack([root[:, None] * X, penalties]), b)
    return w, root * r[: len(root)]


class Orthogonal:
    """Finds the minimiser; changes the point of `objective`, which also keeps the dual points."""

    def __init__(self, objective: Any):
        o = self._objective = objective
        self._X = o.rows.dense_of(np.arange(o.n)) * o.y[:, None]
        self._t = np.broadcast_to(o.target, o.n)
        self._root, self._size = np.sqrt(2.0 * o.cost), np.abs(self._X)

    def refine(self, gap: float) -> None:
        """Improve the point to this gap by Newton steps, then active-set steps on the dual, or until neither does.

        Ends at the best w, also when it raises an error of least_squares or limits.check.
        """
        o = self._objective
        least, best = o.gradient()[0], o.w.copy()
        try:
            for walk in (self._steps, self._ascent):
                for _ in walk():
                    f = o.gradient()[0]
                    if f < least:
                        least, best = f, o.w.copy()
                    if least - max(o.bound, o.face_bound) <= gap * least:
                        return
                o.set_point(best)
        finally:
            o.set_point(best)

    def _steps(self) -> Iterator[None]:
        """Newton steps with exact line search."""
        o, stalled = self._objective, 0
        least = o.value()
        for _ in range(MAX_FACTORISATIONS):
            w, _ = self._minimiser(o.z < self._t)
            step = w - o.w
            o.step(o.line_search(step), step)
            yield
            f = o.value()
            stalled = 0 if least - f > NEWTON_RTOL * abs(f) else stalled + 1
            least = min(least, f)
            if stalled >= 2:
                break

    def _ascent(self) -> Iterator[None]:
        """Active-set steps on the dual, from the best dual point."""
        o, eps = self._objective, np.finfo(float).eps
        alpha = np.zeros(o.n) if o.face_alpha is None else o.face_alpha.copy()
        used = alpha > 0.0
        for _ in range(MAX_FACTORISATIONS):
            w, new = self._minimiser(used)
            falling = used & (new <= 0.0)
            if np.any(falling):  # step until a multiplier reaches zero; it leaves the set
                reach = alpha[falling] / (alpha[falling] - new[falling])
                alpha += float(reach.min()) * (new - alpha)
                used[np.flatnonzero(falling)[reach <= reach.min()]] = False
                alpha[~used] = 0.0
                continue
            alpha = new
            o.set_point(w)
            yield
            slack = self._t - self._X @ w - SLOPE_ROUNDINGS * eps * (self._size @ np.abs(w) + np.abs(self._t))
            slack[used] = 0.0
            if not np.any(slack > 0.0):
                break
            used[np.argmax(slack)] = True

    def _minimiser(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The minimiser over the rows `used` (bool[n]) and its multipliers, 0 for other rows."""
        alpha = np.zeros(len(used))
        w, alpha[used] = minimiser(self._X[used], self._t[used], self._root[used], self._objective.free_bias)
        self._keep(np.maximum(alpha, 0.0))
        return w, alpha

    def _keep(self, alpha: np.ndarray) -> None:
        """Keep a dual point; with a free bias it is balanced first, since round-off leaves it slightly unbalanced."""
        o = self._objective
        if o.free_bias:
            alpha = balanced(alpha, o.y)
        v = alpha @ self._X
        if o.free_bias:
            v[-1] = 0.0
        o.keep_dual_point(alpha, v)
