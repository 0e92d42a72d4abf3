"""Adaptable FALSVM models: Algorithm 2 decides which new rows are added, and rows can be removed.

A new row is added to the sums if the model misclassifies it; otherwise it is skipped and only its hash is kept, so that
it can be removed later without effect.  A skipped row is not examined again, even if other rows are removed.  Rows are
examined in the order of the file, --passes times.

The sums contain the rows added but count all rows seen; a label exists while rows with it do.  More than two labels
would need a matrix of added rows for each label, and a new label the skipped rows: such models keep no state.
"""

from __future__ import annotations

import numpy as np

from svmtool import registry
from svmtool.data.dataset import Dataset
from svmtool.data.labels import first_appearance
from svmtool.errors import SvmtoolError
from svmtool.formats.adaptable.row_log import hashes_of
from svmtool.objectives.normal_equations import equations_of
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Monitor, Rule
from svmtool.training.adapting.adaptable import ADDED, MAX_LABELS, Adaptable, entries


class FastAdaptable(Adaptable):
    """See Adaptable; the certificate covers the rows added."""

    counted = "Rows seen"

    def check(self, table: Dataset) -> None:
        super().check(table)
        known = list(dict.fromkeys([*self.state.sums.labels, *first_appearance(table.labels)[0]]))
        if len(known) > MAX_LABELS:
            raise SvmtoolError(
                f"label {known[MAX_LABELS]} is a third label, after {known[0]} and {known[1]}: it would need the rows "
                "that were skipped: train again, or use -s 71"
            )

    def add(self, table: Dataset) -> str:
        table = table.in_use()
        hashes, taken = hashes_of(table), self._taken(table)
        self._change_sums(table, table.factors * taken, 1.0)
        self.log_at_target().append(entries(hashes, taken))
        return f"{np.count_nonzero(taken)} of {len(table)} rows, the others are classified correctly"

    def _taken(self, table: Dataset) -> np.ndarray:
        """How often each row is added, i8[n]; with --method paper P and w get them."""
        self.check(table)
        if not len(table):
            return np.zeros(0, np.int64)
        state = self.state
        rows, place, factor = self._arriving(table)
        cost = state.C * factor[place] * table.factors
        signs, options = np.where(place == 0, 1.0, -1.0), self.settings.run.options
        used, taken = np.flatnonzero(cost > 0.0), np.zeros(len(table), np.int64)
        task = Task(rows, signs, cost, options=options).only(used)
        form = self._form()
        if form is None:
            [task.equations] = equations_of(state.sums, state.C, state.bias, factor)
            taken[used] = registry.entry(self.settings.row)(task, Monitor(), Rule()).taken
        else:
            taken[used] = form.visit(task)
        return taken

    def remove(self, path: str, table: Dataset) -> str:
        """See Adaptable.  Of identical rows the newest is removed first, so that removing undoes adding exactly."""
        hashes = self._hashes_held(path, table)
        whole, table = table, table.in_use()
        assert self.log is not None
        different, first, count = np.unique(hashes, return_index=True, return_counts=True)
        out = times_added(*self.log.history(np.concatenate((different, different ^ ADDED))), count)
        gone = np.zeros(len(table), np.int64)
        gone[first] = out
        self._change_from(path, whole, table.factors * gone, -1.0)
        log = self.log_at_target()
        log.append(entries(hashes, gone), removed=True)
        if log.balance() == self.state.sums.n:  # no row that was added is left
            self.state.sums.clear()
            self.form = None
        return f"{len(table)} rows, {np.sum(np.minimum(count, out))} of them in the model"


def times_added(which: np.ndarray, removed: np.ndarray, count: np.ndarray) -> np.ndarray:
    """How often the newest count_k (i8[n]) rows of each kind k were added, i8[n], from the log entries in order.

    which: k for a row of kind k, n + k if the newest such row was added; removed: whether the entry was revoked.
    """
    n = len(count)
    rows: list[list[int]] = [[] for _ in range(n)]
    for k, gone in zip(which.tolist(), removed.tolist(), strict=True):
        if k >= n:
            if not gone:
                rows[k - n][-1] += 1
        elif gone:
            rows[k].pop()
        else:
            rows[k].append(0)
    return np.array([sum(times[-c:]) for times, c in zip(rows, count.tolist(), strict=True)], np.int64)
