"""Dual coordinate descent over sparse rows: the "inexpensive method" of the MFN paper's Section 4.1.

    max over 0 <= alpha_i <= U_i of  sum_i t_i alpha_i - 1/2 |sum_i alpha_i y_i x_i|^2 - 1/2 sum_i D_i alpha_i^2

Squared hinge: D_i = 1 / (2 C_i), no upper bound; hinge: D_i = 0, U_i = C_i.  The fastest method on text, where d
exceeds n (Hsieh et al., ICML 2008).  The dual point has length n and is therefore kept here; solvers use w and scalars.
"""

from __future__ import annotations

import sys

import numpy as np

from svmtool.compiled.loops.cd import dcd_loops
from svmtool.compiled.loops.cd.dcd_loops import FIRST_STATE
from svmtool.coordinate.face_steps import FIRST_STEPS, face_steps
from svmtool.data.replicated import stored_rows
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import CHUNK_NONZEROS, ROW_VISIT_NS, VISIT_NS
from svmtool.tolerances import GRAM_BELOW

# Neighbouring rows visited together, from MIN_CHUNK_ROWS to MAX_CHUNK_ROWS: long chunks are fetched faster, but a finer
# order converges faster.  A chunk has about CHUNK_NONZEROS, or MIN_CHUNK_ROWS if all rows have at most CACHED_NONZEROS.
MAX_CHUNK_ROWS, MIN_CHUNK_ROWS = 16, 4
CACHED_NONZEROS = 1 << 16
# Non-zeros of a chunk of rows on disk: their values take the 64 KB that the system reads at once.  Longer chunks are
# read no faster, and rows of one class are often stored together, where long chunks take three times the epochs.
DISK_CHUNK_NONZEROS = 1 << 13
MAX_EPOCHS = 100000  # LIBLINEAR's cap: most of them visit few rows
# Visits to each row before the first turn of conjugate gradients over the free variables, and in a turn.  On 19
# problems of ten wide sets (text, counts, bigrams, one-hot; -s 1 and 3, C 1 and 100) turns from 32 on do not affect
# problems that end before; on the others -e's rule held after 0.28 to 1.4 times the visits, and a gap of 1e-3 after 0.2
# to 1.4 times; with turns from 8 or 16 on, problems that end after 20 to 30 visits took 1.1 to 2.4 times as many.
FACE_FIRST_VISITS, FACE_TURN_VISITS = 32.0, 16.0
# Visits to each non-zero that take half as long as reading it from text (3 to 34 on fifteen sets, 15 in the middle),
# and visits to non-zeros that take as long as the program's start.
READING_VISITS, STARTUP_VISITS = 8.0, 5e7
MEMORY_CHECK_CHUNKS = 32  # chunks of rows on disk between two memory checks


def random_state(n: int, seed: int) -> np.ndarray:
    """Return the initial state of an epoch: number of rows to visit, random number state, and space for two counts."""
    return np.array([n, FIRST_STATE ^ (seed * 2654435761 % 2**63), 0, 0], np.uint64)


def chunk_of(rows: Rows) -> int:
    """Return how many neighbouring rows an epoch visits together."""
    if rows.mapped is not None:
        return max(MAX_CHUNK_ROWS, DISK_CHUNK_NONZEROS * rows.n // max(rows.nnz, 1))
    if rows.nnz <= CACHED_NONZEROS:
        return MIN_CHUNK_ROWS
    return min(max(CHUNK_NONZEROS * rows.n // rows.nnz, MIN_CHUNK_ROWS), MAX_CHUNK_ROWS)


class DualCoordinateDescent:
    """Dual coordinate descent from `alpha` (f8[n], kept up to date here; None: zeros), a regularised bias or none.

    face_first: visits to each row before the first turn of conjugate gradients over the free variables.
    target: t, f8[n]; None: 1 for all.  With 2 n variables for n rows these are the sides of a tube: dcd_loops.py.

    `w` (length d) = sum alpha_i y_i x_i is kept up to date.
    """

    @staticmethod
    def possible(rows: Rows, cost: np.ndarray, free_bias: bool, dense: bool = False) -> bool:
        """Return whether the dual of a problem on these rows is one of this form, and single rows can be visited.

        dense: also where they are dense; of a tube only with more features than a factorised matrix has.
        """
        stored = stored_rows(rows)
        dense = dense and stored.has_sparse_form and (stored is rows or rows.d > GRAM_BELOW)
        visited = stored.offers_coordinate_descent or dense
        return visited and not free_bias and bool((cost > 0).all())

    def __init__(
        self, rows: Rows, y: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, seed: int,
        alpha: np.ndarray | None = None, target: np.ndarray | None = None, face_first: float = FACE_FIRST_VISITS,
    ):  # fmt: skip
        data = stored_rows(rows)
        self.data, self.arrays, self.rows, self.y = data, data.row_arrays, rows, y
        self.n, self.bias = rows.n, rows.bias
        self.count, self.visits = 0, 0.0  # epochs so far, and visits to each row, on average
        self.row_length = rows.nnz / max(self.n, 1)
        self.diagonal, self.upper = diagonal, upper
        self._has_diagonal = bool(np.any(diagonal))
        self.target = np.ones(self.n) if target is None else target
        self.alpha = np.zeros(self.n) if alpha is None else alpha
        self.w = np.zeros(rows.d) if alpha is None else rows.transpose_product(alpha * y)
        self.square_norms = data.squares
        self.chunk = chunk_of(data)
        self.active, self._chunks = np.arange(data.n), np.empty(data.n // self.chunk + 1, np.int64)
        self.limits = np.array([np.inf, -np.inf, 0.0, 0.0, 0.0])
        self._first = 0.0  # limits[4] after the first epoch
        self.state = random_state(data.n, seed)
        self._face_steps = FIRST_STEPS
        self._turn_at = face_first if data.mapped is None else np.inf  # visits at which conjugate gradients come next,
        self._turned, self._wait = 0.0, FACE_TURN_VISITS  # were last, and visits between; see _face_turn
        self._dual = self._passed = self._gained = 0.0
        epoch = dcd_loops.dcd_epochs if data.mapped is None else dcd_loops.dcd_epoch
        self._epoch = epoch.bind(
            *self.arrays, y, self.target, diagonal, upper, self.square_norms,
            self.alpha, self.w, self.active, self._chunks, self.limits, self.state,
        )  # fmt: skip

    @classmethod
    def of_power(
        cls, rows: Rows, y: np.ndarray, cost: np.ndarray, p: float, seed: int, target: np.ndarray | None = None
    ) -> DualCoordinateDescent:
        """Return the descent of the hinge (p = 1) or of its square (p = 2), from zeros."""
        diagonal, upper = (np.zeros(rows.n), cost) if p == 1.0 else (0.5 / cost, np.full(rows.n, np.inf))
        return cls(rows, y, diagonal, upper, seed, target=target)

    @property
    def unit(self) -> float:
        """Scale of the dual's gradients: the mean |t_i|."""
        return float(np.mean(np.abs(self.target))) if self.n else 1.0

    @property
    def free(self) -> int:
        """Number of variables between their bounds."""
        return int(np.count_nonzero((self.alpha > 0.0) & (self.alpha < self.upper)))

    @property
    def active_share(self) -> float:
        """Share of the rows that the next epoch will visit."""
        return float(self.state[0]) / self.data.n if self.n else 1.0

    @property
    def complete(self) -> bool:
        """Whether no row is shrunk: the next epoch visits all."""
        return int(self.state[0]) == self.data.n

    @property
    def pg_range(self) -> float:
        """Range of the projected gradients of the last epoch, zero included."""
        largest, smallest = self.limits[2:4].tolist()
        return max(largest - smallest, abs(largest), abs(smallest)) if largest >= smallest else 0.0

    @property
    def gradient_sum(self) -> float:
        """Sum of the absolute projected gradients of the last epoch, relative to the first epoch; for tubes only."""
        return float(self.limits[4]) / self._first if self._first > 0.0 else 0.0

    def run(self, max_epochs: int = 1, range_tol: float = -1.0, max_visits: float = np.inf) -> float:
        """Run one epoch over the rows that are not shrunk; shrink those that their gradient clearly holds at a bound.

        At most `max_epochs`, until `pg_range` is at most `range_tol` or `visits` at least `max_visits`.  Returns the
        approximate cost.
        """
        spent = self._face_turn() if self.visits >= self._turn_at else 0.0
        visits = max(min(max_visits, self._turn_at) - self.visits, 0.0)
        max_rows = int(min(visits * self.data.n, sys.maxsize)) + 1
        max_epochs = max_epochs if self.count else 1
        if self.data.mapped is not None:
            count = rows = 0
            while count < max_epochs and rows < max_rows and not (count and self.pg_range <= range_tol):
                count, rows = count + 1, rows + self._run_on_disk()
        else:
            self.state[3] = 0
            count = self._epoch(self.bias, self.chunk, max_epochs, range_tol, max_rows)
            rows = int(self.state[3])
        self.visits += rows / self.data.n if self.n else 1.0
        if not self.count:
            self._first = float(self.limits[4])
        self.count += count
        return spent + rows * (self.row_length * VISIT_NS + ROW_VISIT_NS)

    def _run_on_disk(self) -> int:
        """Run one epoch over mapped rows; return how many it visited."""
        # after shrinking, a chunk of the remaining rows spans no more pages
        rows = int(self.state[0])
        chunk = max(-(-self.chunk * rows // max(self.data.n, 1)), 1)
        for first, last in self.data.pieces(0, max(-(-rows // chunk), 1), MEMORY_CHECK_CHUNKS):
            self._epoch(self.bias, chunk, first, last)
        return rows

    def _face_turn(self) -> float:
        """Run conjugate gradients over the free variables; return the approximate cost.

        The interval between two turns grows if the epochs around the last one raised the dual by more per visit.
        """
        before, nnz = self.dual_value(), max(self.data.nnz, 1)
        since = self.visits - self._turned
        passed = (before - self._dual) / since if since > 0.0 else 0.0
        if self._turned > 0.0:
            gained_more = self._gained > 0.5 * (self._passed + passed)
            self._wait = max(0.5 * self._wait, FACE_TURN_VISITS) if gained_more else 2.0 * self._wait
        visited, self._face_steps = face_steps(self, FACE_TURN_VISITS * nnz, self._face_steps)
        work = visited / nnz
        self._dual, self._passed = self.dual_value(), passed
        self._gained = (self._dual - before) / work if work > 0.0 else 0.0
        self.visits += work
        self._turned = self.visits
        self._turn_at = self.visits + self._wait
        return work * self.n * self.row_length * VISIT_NS

    def unshrink(self) -> None:
        """Make all rows active again."""
        self.active[:] = np.arange(self.data.n)
        self.state[0] = self.data.n
        self.limits[:2] = np.inf, -np.inf

    def resume(self, alpha: np.ndarray) -> None:
        """Continue from another dual point."""
        self.alpha[:] = alpha
        if self.n > self.data.n:  # at most one side of a tube is above zero, which raises the dual value
            sides = self.alpha.reshape(2, -1)
            sides -= sides.min(axis=0)
        self.w[:] = self.rows.transpose_product(self.alpha * self.y)
        self.unshrink()

    def dual_value(self) -> float:
        """Return the dual's value at alpha."""
        own = float(self.diagonal @ np.square(self.alpha)) if self._has_diagonal else 0.0
        return float(self.target @ self.alpha) - 0.5 * (float(self.w @ self.w) + own)

    def primal_value(self) -> float:
        """Return f at w: a row's loss is the largest a_i (t_i - y_i x_i.w) - 1/2 D_i a_i^2, 0 <= a_i <= U_i."""
        slack = np.empty(self.n)
        self.rows.margins(self.w, self.y, slack)
        np.subtract(self.target, slack, out=slack)
        with np.errstate(divide="ignore", invalid="ignore"):  # without D_i any slack goes to a bound
            a = np.where(slack > 0.0, np.clip(slack / self.diagonal, 0.0, self.upper), 0.0)
        return 0.5 * float(self.w @ self.w) + float(a @ slack) - 0.5 * float(self.diagonal @ np.square(a))
