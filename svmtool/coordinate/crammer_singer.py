"""Dual coordinate descent for the Crammer-Singer problem, with face steps as in hinge.py.

Keerthi, Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class Linear SVMs,
KDD 2008: one row's k dual variables are minimised exactly, row after row in random order; classes without a multiplier
whose gradients hold them at zero are shrunk, and rows with one class left.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.cd.class_epoch_loops import class_epoch
from svmtool.coordinate.hinge import chunk_of, random_state
from svmtool.objectives.class_rows import CLASS_NONZEROS, CLASS_SPEEDUP, ClassRows, ClassTask

# Nanoseconds of a non-zero and class in an epoch: 0.7 to 2 on eight shapes of 400 to 5000 rows, 100 to 20000 features
# and 3 to 77 classes
CLASS_VISIT_NS = 0.8


class CrammerSingerDescent:
    """Coordinate descent from alpha = 0.  `alpha` (`wide` numbers a row) and `w` (flat W) are computed when read.

    unit: scale of the dual's gradients.
    """

    unit = 1.0

    def __init__(self, task: ClassTask, rows: ClassRows, seed: int):
        self.row_length = rows.base.nnz / max(task.rows.n, 1) * rows.wide
        base, self.n, self.cost, self.number = rows.base, task.rows.n, task.cost, task.number
        self.rows, self.count, self.visits = rows, 0, 0.0
        self.complete = True  # whether the last epoch began with all rows, though it may have shrunk some
        self._W, self._P = np.zeros(base.d * rows.wide), np.zeros(rows.n)
        self._P[np.arange(self.n) * rows.wide + self.number] = 1.0
        self.active = np.arange(self.n)
        self.limits = np.array([0.0, np.inf, 0.0])
        self._inner = 1.0  # violation without the shrunk classes and rows at which all are unshrunk
        self.state = random_state(self.n, seed)
        self._sizes, self._chunk = np.empty(self.n, np.uint32), chunk_of(base)
        classes = np.tile(np.arange(rows.wide, dtype=np.uint32), self.n)
        self._epoch = class_epoch.bind(
            *rows.arrays, self.number, self.cost, rows.square_norms(), self._P, self._W,
            np.zeros(2 * rows.wide), classes, self._sizes, self.active, np.empty(self.n // self._chunk + 1, np.int64),
            self.limits, self.state,
        )  # fmt: skip
        self.unshrink()

    @property
    def w(self) -> np.ndarray:
        return self.rows.narrowed(self._W)

    @property
    def alpha(self) -> np.ndarray:
        a = -self._P.reshape(self.n, -1)
        a[np.arange(self.n), self.number] += 1.0
        return (a * self.cost[:, None]).reshape(-1)

    @property
    def active_share(self) -> float:
        """Share of the rows' classes that the next epoch will visit."""
        return float(self.state[2]) / (self.n * self.rows.k) if self.n else 1.0

    @property
    def pg_range(self) -> float:
        """The largest violation during the last epoch."""
        return float(self.limits[0])

    def run(self, *_: float) -> float:
        """Run one epoch over the classes and rows that are not shrunk; return its approximate cost."""
        self.count += 1
        self.visits += self.active_share
        rows, classes = float(self.state[0]), float(self.state[2])
        self.complete = int(classes) == self.n * self.rows.k
        alike = min(rows * self.rows.wide, CLASS_SPEEDUP * classes) / self.rows.wide  # complete rows
        cost = CLASS_VISIT_NS * (alike * self.row_length + CLASS_NONZEROS * classes)
        self._epoch(self.rows.bias, self._chunk, self.rows.k, self.rows.wide)
        pg_range = self.pg_range
        if pg_range <= self._inner:  # some rows may have been shrunk too early
            self._inner = 0.5 * min(self._inner, pg_range)
            self.unshrink()
        return cost

    def primal_value(self) -> float:
        """The value at w, as epochs estimate it."""
        met, linear = self.limits[1:].tolist()
        return met + linear - 0.5 * float(self._W @ self._W)

    def resume(self, alpha: np.ndarray) -> None:
        """Continue from another dual point, `wide` numbers a row."""
        p = -alpha.reshape(self.n, -1) / self.cost[:, None]
        p[np.arange(self.n), self.number] += 1.0
        self._P[:] = p.reshape(-1)
        self._W[:] = self.rows.widened(self.rows.transpose_product(self.alpha))
        own = np.arange(self.n) * self.rows.wide + self.number
        self.limits[2] = float(self.cost @ (1.0 - self._P[own]))
        self.unshrink()

    def unshrink(self) -> None:
        """Make all classes of all rows active again."""
        self.active[:], self._sizes[:] = np.arange(self.n), self.rows.k
        self.state[0], self.state[2] = self.n, self.n * self.rows.k

    def dual_value(self) -> float:
        """The dual's value."""
        own = self._P[np.arange(self.n) * self.rows.wide + self.number]
        return float(self.cost @ (1.0 - own)) - 0.5 * float(self._W @ self._W)
