"""PDHG for LP-SVM (hinge loss with an L1 norm) as a saddle-point problem, over some of its rows and columns.

    min over w, b  max over 0 <= a_i <= C_i of  |w|_1 + sum_i a_i (target_i - y_i (x_i.w + b))

Proximal steps in w and in a in turns, each with a length of its own for each variable (T. Pock and A. Chambolle, ICCV
2011, Lemma 2): tau_j = 1 / (s sum_i |x_ij|), sigma_i = 1 / (s sum_j |x_ij|).  Halpern's averages of reflected steps
with where the round began, and new rounds from where these have led, make them a method for linear programs
(H. Lu and J. Yang, Restarted Halpern PDHG for Linear Programming, 2024; D. Applegate et al., Practical large-scale
linear programming using primal-dual hybrid gradient, NeurIPS 2021: the weight between the two sides).
Under a free bias sum_i a_i y_i is 0, so that the rows may be centred: entries of one sign have one direction much
longer than the others, which a centre takes away, and s, the matrix's norm with these lengths, is that much smaller.
Rows well beyond their targets have a_i = 0, those well short of them C_i; columns with |sum_i a_i y_i x_ij| < 1 have
w_j = 0: they are left out until a check of all rows and columns finds that they are needed.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.loss import pdhg_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.weighted_columns import Columns
from svmtool.objectives.l1.hinge import L1Columns
from svmtool.objectives.opposite_duplicates import cancelling, standard_normal
from svmtool.objectives.task import Task

ROOM = 0.2  # rows so far from their targets stay out, ...
NEARLY = 0.8  # ... and columns with such sums and no weight; ...
FEWEST = 1000  # ... except so many of either that are nearest to being chosen
FEWER = 0.8  # rows and columns are chosen again where at most so many are left of either, or where one is missing
SHORT_ROW = 1e-2  # least sum of a row, beside the mean, that its step length is made of
POWER_STEPS, POWER_CLOSE, MARGIN = 50, 1e-3, 1.05  # of the power iteration, as in objectives/smoothed.py
ROUND = 0.36  # a round takes at most so much of all steps so far
CANCELS = 1e9  # up to such sums of a_i |x_ij| what cancels does so up to 1e-7
STILL = 1e-12  # moves up to which the weight between the two sides is left as it is


class L1Saddle:
    """Steps from w (f8[d]) for a task with sparse rows; a starts where equal rows of both signs cancel.

    After look(): answer (f8[d], the best multiple of w) and primal, f there; alpha (f8[n], feasible) and bound <= min
    f, its value; excess, by how much the largest sum over a column is above 1.
    """

    def __init__(self, task: Task, w: np.ndarray):
        assert isinstance(task.rows, CsrRows)
        self.task, self.rows, self.n = task, task.rows, task.rows.n
        self.whole = L1Columns(task)
        self.cancelled = cancelling(task.rows, task.y, task.cost)
        entry = max(float(np.abs(task.rows.values).max(initial=0.0)), task.rows.bias)
        if float(np.sum(self.cancelled)) * entry > CANCELS:
            self.cancelled[:] = 0.0
        self.w, self.a = w.copy(), self.cancelled.copy()
        self.balance = 1.0  # between the two sides: steps in w are divided by it, steps in a multiplied
        self.steps = 0
        self._choose(np.arange(self.n), np.arange(self.rows.plain))

    @property
    def columns(self) -> int:
        """How many are in."""
        return len(self._columns)

    def _choose(self, some: np.ndarray, columns: np.ndarray) -> None:
        """The rows and columns (i8, ascending) that steps are taken over; the others stay as they are."""
        task, rows = self.task, self.rows
        self._rows, self._columns = some, columns
        everything = len(some) == self.n and len(columns) == rows.plain
        part = rows if everything else rows.take(some).columns(columns)
        by_column = Columns(part)
        matrix = by_column.starts, by_column.row_numbers, by_column.values, *part.csr_arrays
        sizes = CsrRows(part.indptr, part.indices, np.abs(part.values), len(columns))
        ones, of_rows = np.ones(len(some)), np.empty(len(some))
        of_columns = sizes.transpose_product(ones)
        sizes.margins(np.ones(len(columns)), ones, of_rows)
        if rows.bias > 0.0 and not task.free_bias:  # one column more
            of_rows += 1.0
        filled = of_columns > 0.0
        self._tau = 1.0 / np.where(filled, of_columns, float(np.mean(of_columns[filled])) if np.any(filled) else 1.0)
        least = max(SHORT_ROW * float(np.mean(of_rows)), 1e-300) if np.any(filled) else 1.0
        self._sigma = 1.0 / np.maximum(of_rows, least)
        self._centre, total = np.zeros(len(columns)), float(np.sum(self._sigma))
        plain = CsrRows(*part.csr_arrays, len(columns))
        if task.free_bias:
            self._centre = plain.transpose_product(self._sigma) / total
        norm = self._norm(plain) if task.free_bias or rows.bias <= 0.0 else 1.0
        self._tau /= norm
        self._sigma /= norm
        # the column of ones is at right angles to all that are centred; one that is not counts in `of_rows`
        self._shift_step = (norm / total if task.free_bias else 1.0 / len(some)) if rows.bias > 0.0 else 0.0
        outside = self.a * task.y
        outside[some] = 0.0
        self._outside = float(np.sum(outside))
        fixed = rows.transpose_product(outside)[columns]
        self._given = (*matrix, task.y[some], self.whole.target[some], task.cost[some], fixed, self._centre)
        self._begin()

    def _norm(self, part: CsrRows) -> float:
        """Of the centred matrix with these step lengths, or a little more; at most 1, as the lengths make it."""
        root_tau, v, largest = np.sqrt(self._tau), standard_normal(part.d), 0.0
        ones, u = np.ones(part.n), np.empty(part.n)
        for _ in range(POWER_STEPS):
            size = float(np.sqrt(v @ v))
            if size == 0.0 or limits.is_ended():
                break
            v *= root_tau / size
            part.margins(v, ones, u)
            u -= self._centre @ v
            u *= self._sigma
            v = root_tau * (part.transpose_product(u) - float(np.sum(u)) * self._centre)
            found = float(np.sqrt(np.sqrt(v @ v)))
            if found <= largest * (1.0 + POWER_CLOSE):
                break
            largest = found
        return min(1.0, MARGIN * max(largest, 1e-3))

    def _begin(self) -> None:
        """A round starts from w and a."""
        rows, free = self.rows, self.task.free_bias
        self._w0, self._a0 = self.w[self._columns], self.a[self._rows]
        shift = rows.shift(self.w) + float(self._centre @ self._w0)
        self._done, self._longest = 0, max(2, int(ROUND * self.steps))
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

    def run(self, most: int) -> None:
        """Steps, about `most` of them, in as many rounds as it takes."""
        last = self.steps + most
        while self.steps < last:
            done = self._call(self._done, min(self._longest, self._done + last - self.steps))
            self.steps += done - self._done
            self._done = done
            self._take()
            if self._state[8] or done >= self._longest:
                self._weigh()
                self._begin()

    def _take(self) -> None:
        """w and a from the last proximal steps."""
        self.w[self._columns], self.a[self._rows] = self._near
        if self.rows.bias > 0.0:
            self.w[-1] = (self._state[2] - float(self._centre @ self._near[0])) / self.rows.bias

    def _weigh(self) -> None:
        """The balance, half of the way to where both sides have moved as far in this round, by their step lengths."""
        near_w, near_a = self._near
        in_w = float(np.sum(np.square(near_w - self._w0) / self._tau))
        if self._shift_step > 0.0:
            in_w += (self._state[2] - self._state[0]) ** 2 / self._shift_step
        in_a = float(np.sum(np.square(near_a - self._a0) / self._sigma))
        if min(in_w, in_a) > STILL * STILL:
            self.balance = float(np.sqrt(self.balance * np.sqrt(in_a / in_w)))

    def evaluate(self) -> None:
        """answer, primal, alpha, bound and excess."""
        self.slack = self.whole.slack(self.w)
        times = self.whole.best_multiple(self.w, self.slack)
        self.answer = times * self.w
        self.primal = self.whole.primal(self.answer)
        self.pull, largest, self.alpha = self.whole.feasible(self.a, self.cancelled)
        self.excess = largest - 1.0
        self.bound = float(self.whole.target @ self.alpha)

    def choose(self) -> None:
        """Other rows and columns, where the last evaluate() asks for them."""
        a, w, slack, size = self.a, self.w[: self.rows.plain], self.slack, np.abs(self.pull[: self.rows.plain])
        full = a >= self.task.cost
        far = max(ROOM, float(np.sort(np.abs(slack))[:FEWEST][-1]))
        some = ((a > 0.0) | (slack >= -far)) & ~(full & (slack > far))
        columns = (w != 0.0) | (size >= min(NEARLY, -float(np.sort(-size)[:FEWEST][-1])))
        row_out, column_out = np.ones(self.n, bool), np.ones(self.rows.plain, bool)
        row_out[self._rows], column_out[self._columns] = False, False
        missing = np.any(row_out & np.where(full, slack < 0.0, slack > 0.0)) or np.any(column_out & (size > 1.0))
        less = np.count_nonzero(some) <= FEWER * len(self._rows)
        if missing or less or np.count_nonzero(columns) <= FEWER * len(self._columns):
            self._choose(np.flatnonzero(some), np.flatnonzero(columns))
