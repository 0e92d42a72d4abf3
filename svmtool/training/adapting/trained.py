"""The state of an adaptable model from its training: the files beside the model, to which rows can be added later."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from svmtool import interrupts
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.dataset import Dataset
from svmtool.data.labels import cost_factors, first_appearance, weightings
from svmtool.errors import SvmtoolError
from svmtool.formats import adaptable
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import RowLog, hashes_of, recover_log
from svmtool.formats.adaptable.state import State, content_of, signature
from svmtool.formats.models import linear
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED
from svmtool.training.adapting import paper_form
from svmtool.training.adapting.adaptable import MAX_LABELS, entries, locked, may_be_replaced


class TrainingState:
    """What is kept of a training for the files beside its model.

    hashes: of the rows of positive weight; results: of the training, one for each problem.
    """

    def __init__(self, settings: Settings, hashes: np.ndarray, sums: ClassStatistics, results: list[Any]):
        self.problem, self.hashes, self.sums = settings.problem, hashes, sums
        self.taken = results[0].taken if results else None  # how often FALSVM added each row, else None
        self.form = _trained_form(settings, sums, results) if settings.row.printed else None

    def write(self, path: str, model: LinearModel) -> None:
        """Write log, state and model; the caller holds the lock."""
        s, log_path, hashes = self.problem, path + adaptable.ROWS_SUFFIX, self.hashes
        recover_log(log_path, adaptable_state.log_number(path))
        with contextlib.closing(RowLog.create(log_path)) as log:
            log.append(hashes if self.taken is None else entries(hashes, self.taken))
            log.flush()
            text, before = b"".join(linear.text_of(model)), signature(content_of(path))
            state = State(s.solver, s.C, s.bias, s.class_weights, self.sums, text, before, log.number, log.entries)
            if self.form is not None:
                state.inverses, state.w = self.form.inverses, self.form.W
            with interrupts.Uninterrupted():
                adaptable_state.write(path, state)
                log.commit()
                linear.write_text(path, [text])


def state_of(settings: Settings, table: Dataset, done: Any) -> TrainingState | None:
    """The TrainingState of a Training on a table; None where a model without rows added later is all that there is."""
    table = table.in_use()
    if done.sums is None or not _is_adaptable(settings, table):
        return None
    return TrainingState(settings, hashes_of(table), done.sums, done.results)


def _trained_form(settings: Settings, sums: ClassStatistics, results: list[Any]) -> paper_form.PaperForm:
    """P and w of a training, as far as its results have them, else from the sums."""
    s, labels = settings.problem, list(sums.labels)
    factor, _ = cost_factors(labels, s.class_weights)
    before, keys = None, weightings(labels, factor)
    if len(keys) == len(results) > 0:
        inverses = {key: r.inverse for key, r in zip(keys, results, strict=True) if r.inverse is not None}
        before = paper_form.PaperForm(labels, inverses, np.stack([r.w for r in results], axis=1), s.C, s.bias)
    return paper_form.form_of(sums, s.C, s.bias, factor, before)


def _is_adaptable(settings: Settings, table: Dataset) -> bool:
    return settings.row.optimal or len(first_appearance(table.labels)[0]) <= MAX_LABELS


def save(path: str, model: LinearModel) -> bool:
    """Write a model, with the state of its training if it has one; returns whether all was written."""
    if model.state is None or not may_be_replaced(path):
        linear.write(path, model)
        return model.state is None
    with contextlib.closing(locked(path)):
        model.state.write(path, model)
    return True


class NewState:
    """State and row log of a new model, locked until `close`; created before training, which may free the rows."""

    def __init__(self, settings: Settings, table: Dataset, model_path: str):
        """table: the rows of positive weight."""
        self.settings, self.path, self.features = settings, model_path, table.n_features
        self.hashes = hashes_of(table)
        self._lock = locked(model_path)

    def write(self, done: Any) -> None:
        """Write log, state and model of a Training."""
        s, sums = self.settings.problem, done.sums
        if sums is None and len(self.hashes):
            if done.status is INTERRUPTED:
                raise KeyboardInterrupt  # nothing is written, as after Ctrl-C before the training
            raise SvmtoolError(
                f"{self.path} is not written: the run ended before its state, which is of all rows, was computed"
            )
        if sums is None:
            sums = ClassStatistics([label for label, _ in s.class_weights], self.features)
        TrainingState(self.settings, self.hashes, sums, done.results).write(self.path, done.model)

    def close(self) -> None:
        """Unlock the model."""
        self._lock.close()


def new_state(settings: Settings, table: Dataset, model_path: str, console: Any) -> NewState | None:
    """The NewState of a training; None, with a warning or the solver's message, where a state is impossible."""
    used = table.in_use()
    if not _is_adaptable(settings, used):
        return None
    if model_path != "-" and may_be_replaced(model_path):
        return NewState(settings, used, model_path)
    console.warn(f"WARNING: {model_path} is not a regular file and has no state beside it: rows cannot be added later")
    return None
