"""The state and the row log of a newly trained model, to which adaptable.py can add rows later."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from svmtool import interrupts
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.dataset import Dataset
from svmtool.data.labels import first_appearance, whole_labels
from svmtool.errors import SvmtoolError
from svmtool.formats import adaptable
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import RowLog, hashes_of, settle_left
from svmtool.formats.adaptable.state import State, content_of, signature
from svmtool.formats.models import linear
from svmtool.params import Settings
from svmtool.solvers.shared.base import Result
from svmtool.training.adapting.adaptable import locked, may_be_replaced, used_rows


class NewState:
    """State and row log of a newly trained model; created before training, which may free the rows.

    The model is locked until `close`.
    """

    def __init__(self, settings: Settings, table: Dataset, r: np.ndarray, model_path: str):
        """table: the rows of positive weight, r f8[n] their weights."""
        self.settings, self.path, self.features = settings, model_path, table.n_features
        self.hashes = hashes_of(table, whole_labels(table.labels), r)
        self._lock = locked(model_path)

    def write(self, done: Any) -> None:
        """Write log, state and model of a Training."""
        s, sums, path = self.settings.problem, done.sums, self.path + adaptable.ROWS
        if sums is None and len(self.hashes):
            raise SvmtoolError(
                f"{self.path} is not written: the run ended before the sums over its rows, which its state "
                "contains, were computed"
            )
        if sums is None:
            sums = ClassStatistics([label for label, _ in s.class_weights], self.features)
        settle_left(path, adaptable_state.log_number(self.path))
        with contextlib.closing(RowLog.create(path)) as log:
            log.append(self._entries(done.results))
            log.flush()
            text, before = b"".join(linear.text_of(done.model)), signature(content_of(self.path))
            state = State(s.solver, s.C, s.bias, s.class_weights, sums, text, before, log.number, log.entries)
            with interrupts.Uninterrupted():
                adaptable_state.write(self.path, state)
                log.settle()
                linear.write_text(self.path, [text])

    def _entries(self, results: list[Result]) -> np.ndarray:
        if self.settings.row.optimal or not results:
            return self.hashes
        from svmtool.training.adapting.falsvm import entries

        assert results[0].taken is not None
        return entries(self.hashes, results[0].taken)

    def close(self) -> None:
        self._lock.close()


def new_state(
    settings: Settings, table: Dataset, row_weights: np.ndarray | None, model_path: str, console: Any
) -> NewState | None:
    """The NewState of a training; None, with a warning or the solver's message, where a state is impossible."""
    _, used, r = used_rows(table, row_weights)
    if not settings.row.optimal:
        from svmtool.training.adapting.falsvm import MOST_LABELS

        if len(first_appearance(used.labels)[0]) > MOST_LABELS:
            return None
    if model_path != "-" and may_be_replaced(model_path):
        return NewState(settings, used, r, model_path)
    console.warn(f"WARNING: {model_path} is not a regular file and has no state beside it: rows cannot be added later")
    return None
