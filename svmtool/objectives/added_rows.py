"""Least squares over rows that are added one after another: the minimiser and the inverse of the normal equations.

Each row on the wrong side of the present w is added, in closed form.  Problem and paper: solvers/falsvm.py.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss.falsvm_loops import falsvm_rows
from svmtool.linalg.systems import PART_ROWS
from svmtool.objectives.normal_equations import NormalEquations
from svmtool.objectives.task import Task


class AddedRows:
    """The minimiser w (f8[d]) over the rows added so far, and P = (I + 2 sum c x x')^-1, f8[d, d].

    order: of the visits to rows, i8[n].  taken: how often each row was added, i8[n].  cost: multiplications of a row
    that is added.  equations: those to begin with; None: no row.
    """

    def __init__(self, task: Task, equations: NormalEquations | None):
        rows, d = task.rows.as_csr(), task.rows.d
        self.w, self._P = np.zeros(d), np.eye(d)
        if equations is not None:
            self.w, self._P = equations.minimiser(), equations.matrix.factor().inverse()
        self._Z = np.zeros((PART_ROWS, d))  # vectors of the rows that P does not have yet
        self._change, self._state = np.empty((d, d)), np.array([0, 0, np.any(self.w)])
        self.order, self.taken = np.arange(rows.n), np.zeros(rows.n, np.int64)
        self.cost = d * (rows.nnz / max(rows.n, 1) + len(self._Z))
        self._visit = falsvm_rows.bind(
            *rows.csr_arrays, self.order, task.y, task.cost, self.taken, self.w, self._P, self._Z, self._state
        )
        self._sizes = rows.bias, d

    @property
    def count(self) -> int:
        """Rows added so far."""
        return int(self._state[1])

    def visit(self, first: int, last: int) -> int:
        """Visit the rows order[first:last], as far as P can do without change; return the next place to visit."""
        at = self._visit(*self._sizes, first, last)
        if self._state[0] == len(self._Z):
            self._P -= np.matmul(self._Z.T, self._Z, out=self._change)
            self._state[0] = 0
        return at
