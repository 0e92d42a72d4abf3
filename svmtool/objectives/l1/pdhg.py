"""PDHG for LP-SVM (hinge loss with an L1 norm) as a saddle-point problem on selected rows and columns.

    min over w, b  max over 0 <= a_i <= C_i of  |w|_1 + sum_i a_i (target_i - y_i (x_i.w + b))

Alternating proximal steps in w and a, with a step size for each variable (T. Pock and A. Chambolle, ICCV 2011, Lemma
2): tau_j = 1 / (s sum_i |x_ij|), sigma_i = 1 / (s sum_j |x_ij|).  Reflected steps are averaged with the start of the
round (Halpern), and the method restarts from the result (H. Lu and J. Yang, Restarted Halpern PDHG for Linear
Programming, 2024).  The primal weight balances steps in w and a (D. Applegate et al., Practical large-scale linear
programming using primal-dual hybrid gradient, NeurIPS 2021).  With a free bias sum_i a_i y_i = 0, so that rows can be
centred.  If most entries have one sign, centring removes the dominant singular value, and s, the norm of the scaled
matrix, is much smaller.  Rows far beyond their targets have a_i = 0, rows far below them a_i = C_i; columns with |sum_i
a_i y_i x_ij| < 1 have w_j = 0.  These are left out until a check of all rows and columns finds one that is needed.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.loss import pdhg_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.columns import Columns
from svmtool.objectives.duality import standard_normal
from svmtool.objectives.l1.hinge import L1Columns
from svmtool.objectives.task import Task
from svmtool.tolerances import SUM_RTOL

MAX_DISTANCE = 0.2  # rows further than this from their targets are left out
MIN_COLUMN_SUM = 0.8  # columns of zero weight with |sum_i a_i x_ij| below this are left out
MIN_REDUCED_SIZE = 1000  # rows and columns of which none are left out
REDUCED_SHARE = 0.8  # they are chosen again if at most this share of either would remain, or if one is missing
MIN_ROW_SUM = 1e-2  # lower bound of a row's sum in its step size, relative to the mean
PDHG_POWER_STEPS, PDHG_POWER_RTOL = 50, 1e-3  # of the power iteration, which gives a lower bound
POWER_MARGIN = 1.05  # factor that makes it an upper bound
ROUND_SHARE = 0.36  # longest round, as share of all steps so far


class L1Pdhg:
    """Steps from w (f8[d]) and a = 0 for a task.

    min_size: rows and columns of which none are left out; nnz: non-zeros of those in use.

    After evaluate(): answer (f8[d], the best multiple of w); primal, f there; alpha (f8[n], feasible); bound <= min f,
    its dual value; excess: the largest |sum over a column| minus 1.
    """

    def __init__(self, task: Task, w: np.ndarray, min_size: int = MIN_REDUCED_SIZE):
        self.task, self.n, self.min_size = task, task.rows.n, min_size
        self.rows: CsrRows = task.rows.as_csr()
        self.whole = L1Columns(task)
        self.w, self.a = w.copy(), np.zeros(self.n)
        self.balance = 1.0  # primal weight: step sizes in w are divided by it, those in a multiplied
        self.steps = 0
        self._choose(np.arange(self.n), np.arange(self.rows.n_features))

    @property
    def columns(self) -> int:
        """Number of columns in use."""
        return len(self._columns)

    def _choose(self, chosen: np.ndarray, columns: np.ndarray) -> None:
        """Set the rows and columns (i8, ascending) that steps change; the others are fixed."""
        task, rows = self.task, self.rows
        self._rows, self._columns = chosen, columns
        everything = len(chosen) == self.n and len(columns) == rows.n_features
        part = rows if everything else rows.take(chosen).columns(columns)
        by_column = Columns(part.without_bias())
        matrix = by_column.starts, by_column.row_numbers, by_column.values, *part.csr_arrays
        sizes = CsrRows(part.indptr, part.indices, np.abs(part.values), len(columns))
        ones, of_rows = np.ones(len(chosen)), np.empty(len(chosen))
        of_columns = sizes.transpose_product(ones)
        sizes.margins(np.ones(len(columns)), ones, of_rows)
        if rows.bias > 0.0 and not task.free_bias:  # the bias column
            of_rows += 1.0
        filled = of_columns > 0.0
        self._tau = 1.0 / np.where(filled, of_columns, float(np.mean(of_columns[filled])) if np.any(filled) else 1.0)
        least = max(MIN_ROW_SUM * float(np.mean(of_rows)), 1e-300) if np.any(filled) else 1.0
        self._sigma = 1.0 / np.maximum(of_rows, least)
        self._centre, total = np.zeros(len(columns)), float(np.sum(self._sigma))
        plain, self.nnz = CsrRows(*part.csr_arrays, len(columns)), part.nnz
        if task.free_bias:
            self._centre = plain.transpose_product(self._sigma) / total
        norm = self._norm(plain) if task.free_bias or rows.bias <= 0.0 else 1.0
        self._tau /= norm
        self._sigma /= norm
        # the column of ones is orthogonal to centred columns; without centring it is counted in `of_rows`
        self._shift_step = 0.0
        if rows.bias > 0.0:
            self._shift_step = norm / total if task.free_bias else 1.0 / len(chosen)
        outside = self.a * task.y
        outside[chosen] = 0.0
        self._outside = float(np.sum(outside))
        fixed = rows.transpose_product(outside)[columns]
        self._given = (*matrix, task.y[chosen], self.whole.target[chosen], task.cost[chosen], fixed, self._centre)
        self._begin()

    def _norm(self, part: CsrRows) -> float:
        """Upper estimate of the norm of the centred and scaled matrix; at most 1 by the choice of step sizes."""
        root_tau, v, largest = np.sqrt(self._tau), standard_normal(part.d), 0.0
        ones, u = np.ones(part.n), np.empty(part.n)
        for _ in range(PDHG_POWER_STEPS):
            size = float(np.sqrt(v @ v))
            if size == 0.0 or limits.is_ended():
                break
            v *= root_tau / size
            part.margins(v, ones, u)
            u -= self._centre @ v
            u *= self._sigma
            v = root_tau * (part.transpose_product(u) - float(np.sum(u)) * self._centre)
            found = float(np.sqrt(np.sqrt(v @ v)))
            if found <= largest * (1.0 + PDHG_POWER_RTOL):
                break
            largest = found
        return min(1.0, POWER_MARGIN * max(largest, 1e-3))

    def _begin(self) -> None:
        """Start a round at w and a."""
        rows, free = self.rows, self.task.free_bias
        self._w0, self._a0 = self.w[self._columns], self.a[self._rows]
        shift = rows.shift(self.w) + float(self._centre @ self._w0)
        self._done, self._longest = 0, max(2, int(ROUND_SHARE * self.steps))
        penalty = 0.0 if free or rows.bias <= 0.0 else 1.0 / rows.bias
        step = self._shift_step / self.balance
        self._state = np.array([shift, shift, shift, step, penalty, self._outside, 0.0, 0.0, 0.0])
        moving = self._w0.copy(), self._a0.copy()
        self._near = np.empty_like(self._w0), np.empty_like(self._a0)
        lengths = self._tau / self.balance, self._sigma * self.balance
        scratch = np.empty_like(self._w0), np.empty_like(self._a0)
        self._call = pdhg_loops.pdhg_steps.bind(
            *self._given, *lengths, self._w0, self._a0, *moving, *self._near, *scratch, self._state
        )

    def run(self, max_steps: int) -> None:
        """Take about `max_steps` steps, in rounds."""
        last = self.steps + max_steps
        while self.steps < last:
            done = self._call(self._done, min(self._longest, self._done + last - self.steps))
            self.steps += done - self._done
            self._done = done
            self._set_iterate()
            if self._state[8] or done >= self._longest:
                self._weigh()
                self._begin()

    def _set_iterate(self) -> None:
        """Set w and a from the last proximal steps."""
        self.w[self._columns], self.a[self._rows] = self._near
        if self.rows.bias > 0.0:
            self.w[-1] = (self._state[2] - float(self._centre @ self._near[0])) / self.rows.bias

    def _weigh(self) -> None:
        """Move the primal weight halfway (in logarithms) to the value at which w and a move equally far in a round."""
        near_w, near_a = self._near
        in_w = float(np.sum(np.square(near_w - self._w0) / self._tau))
        if self._shift_step > 0.0:
            in_w += (self._state[2] - self._state[0]) ** 2 / self._shift_step
        in_a = float(np.sum(np.square(near_a - self._a0) / self._sigma))
        if min(in_w, in_a) > SUM_RTOL * SUM_RTOL:
            self.balance = float(np.sqrt(self.balance * np.sqrt(in_a / in_w)))

    def evaluate(self) -> None:
        """Compute answer, primal, alpha, bound and excess."""
        self.slack = self.whole.slack(self.w)
        self.answer = self.whole.best_multiple(self.w, self.slack) * self.w
        self.primal = self.whole.primal(self.answer)
        self.column_sums, largest, self.alpha = self.whole.feasible(self.a)
        self.excess = largest - 1.0
        self.bound = float(self.whole.target @ self.alpha)

    def choose(self) -> None:
        """Choose rows and columns again if the last evaluate() shows that this is needed."""
        a, slack, m = self.a, self.slack, self.rows.n_features
        w, size = self.w[:m], np.abs(self.column_sums[:m])
        full = a >= self.task.cost
        distance = max(MAX_DISTANCE, float(np.sort(np.abs(slack))[: self.min_size][-1]))
        some = ((a > 0.0) | (slack >= -distance)) & ~(full & (slack > distance))
        columns = (w != 0.0) | (size >= min(MIN_COLUMN_SUM, -float(np.sort(-size)[: self.min_size][-1])))
        row_out, column_out = np.ones(self.n, bool), np.ones(m, bool)
        row_out[self._rows], column_out[self._columns] = False, False
        missing = np.any(row_out & np.where(full, slack < 0.0, slack > 0.0)) or np.any(column_out & (size > 1.0))
        less = np.count_nonzero(some) <= REDUCED_SHARE * len(self._rows)
        if missing or less or np.count_nonzero(columns) <= REDUCED_SHARE * len(self._columns):
            self._choose(np.flatnonzero(some), np.flatnonzero(columns))
