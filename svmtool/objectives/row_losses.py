"""A sum of losses over rows: margins at a point, active rows, and the Gram matrix of the active rows."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from svmtool.compiled.loops.loss import hinge_loops as loops
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import KernelCache, mirror
from svmtool.tolerances import VALUES_AT_ONCE


class Losses(ABC):
    """A sum of losses over rows with labels y (+-1, f8[n]) and costs C_i > 0 (f8[n]), without its regulariser.

    w: the current point; z_i = y_i x_i.w the margins.  Subclasses define `_classify`, which computes slopes
    u_i = d loss_i / d(x_i.w) and curvatures c_i at z.  After it, active: number of rows with curvature; changed: number
    of rows that moved to another piece of their loss since the last call.
    """

    def __init__(self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False):
        self.rows, self.y, self.cost, self.free_bias = rows, y, cost, free_bias
        self.n, self.d = rows.n, rows.d
        self.changed = self.active = 0
        self.bound = 0.0
        self._gram: np.ndarray | None = None
        self._kernel: KernelCache | None = None
        self._pending: np.ndarray | None = None  # changes of curvature not yet in the Gram matrix
        self._ready = False

    def _prepare(self) -> None:
        """Allocate the vectors of length n, when first needed."""
        self.w = np.zeros(self.d)
        self.z, self.dz, self.u = np.zeros(self.n), np.empty(self.n), np.zeros(self.n)
        self.c, self._change = np.zeros(self.n), np.zeros(self.n)  # curvature of each row, and its last change
        self._out = np.zeros(2)
        self._add = loops.add_scaled.bind(self.z, self.dz)
        self._ready = True

    @abstractmethod
    def _classify(self) -> float:
        """Compute slopes and curvatures of all rows at the current margins; returns the sum of losses."""

    def sides(self) -> tuple[float, float]:
        """The sum of the multipliers |u_i| of the rows with y = 1, and of those with y = -1."""
        total, signed = float(np.sum(self.u)), float(self.y @ self.u)
        return -0.5 * (total + signed), 0.5 * (total - signed)

    def balanced(self, up: float, down: float) -> np.ndarray:
        """The slopes u (f8[n]), multiplied by `up` on rows with y = 1 and by `down` on the others."""
        return self.u * np.where(self.y > 0.0, up, down)

    def set_point(self, w: np.ndarray) -> None:
        if not self._ready:
            self._prepare()
        self.w[:] = w
        if w.any():
            self.rows.margins(self.w, self.y, self.z)
        else:
            self.z[:] = 0.0

    def no_dual_point(self) -> np.ndarray:
        """The dual point of value 0."""
        return np.zeros(self.n)

    def _note_change(self, changed: float, active: float) -> None:
        """Store how many rows changed and how many are active, and the changes for the next `gram`."""
        self.changed, self.active = int(changed), int(active)
        if self._gram is not None and self.changed:
            self._pending = self._change.copy() if self._pending is None else self._pending + self._change

    def gram(self) -> np.ndarray:
        """sum_i c_i x_i x_i' (d x d, upper triangle); read-only.

        Rows whose activity changed since the last call are added or removed.  If more rows changed than are active, the
        matrix is formed again.
        """
        if self._gram is not None and self._pending is not None:
            if int(np.count_nonzero(self._pending)) >= self.active:
                self._gram = None
        gram, self._gram = self._gram, None  # an interrupted update leaves no matrix behind
        if gram is None and self.rows.several and self.n and np.all(self.c == self.c[0]):  # as at w = 0
            gram = self.c[0] * self.rows.gram
        elif gram is None:
            gram = np.zeros((self.d, self.d))
            self.rows.add_gram(self.c, gram)
        elif self._pending is not None:
            self.rows.add_gram(self._pending, gram)
        self._gram, self._pending = gram, None
        return gram

    def dual_matrix(self, used: np.ndarray, r: np.ndarray, diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows `used` (i8), possibly reordered, and a new matrix Q + D over them, lower triangle.

        Q_ij = r_i r_j x_i.x_j, D_ii = diagonal_i; r, diagonal: f8[n].
        """
        if self._kernel is None:
            self._kernel = KernelCache(self.rows)
        used, Q = self._kernel.block(used)
        Q *= r[used]
        Q *= r[used, None]
        Q.flat[:: len(used) + 1] += diagonal[used]
        return used, Q

    def part_of_hessian(self, chosen: np.ndarray) -> np.ndarray:
        """sum_i c_i x_i x_i' for the features `chosen` (i8, ascending, the bias feature last where there is one)."""
        rows, plain = self.rows, chosen[: len(chosen) - (self.rows.bias >= 0)]
        H, used, step = np.zeros((len(chosen), len(chosen))), np.arange(self.n), self.n
        if rows.nnz * len(plain) > VALUES_AT_ONCE * self.d:  # some rows at a time, and only those with curvature
            used, step = np.flatnonzero(self.c), max(1, VALUES_AT_ONCE * self.n // rows.nnz)
        for some in np.split(used, range(step, len(used), step)):
            part = rows if len(some) == self.n else rows.take(some)
            part.columns(plain).add_gram(self.c[some], H)
        return mirror(H)

    def step(self, t: float, p: np.ndarray) -> None:
        """w += t p, and the margins; p is the vector last given to `line_search`."""
        self.w += t * p
        self._add(t, 0, self.n)
