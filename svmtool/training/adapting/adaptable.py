"""Adaptable models: state and row log, when they are trained and when rows are added or removed.

The cost of a change depends on the rows added or removed and on the number of features, not on the rows in the model.
"""

from __future__ import annotations

import contextlib
import os
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from svmtool import __version__, interrupts
from svmtool.certify.linear import Certificate, certify_sums, worst
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.csr import CsrRows
from svmtool.data.dataset import Dataset
from svmtool.data.labels import cost_factors, first_appearance, weightings, whole_labels
from svmtool.errors import ModelError, SvmtoolError
from svmtool.formats import adaptable
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import ModelLock, RowLog, hashes_of, recover_log
from svmtool.formats.adaptable.state import State, content_of, signature
from svmtool.formats.models import linear
from svmtool.formats.models.text import ModelText
from svmtool.formats.output import refuse_other_kinds
from svmtool.models.linear import CLASSES_NOTE, SIGMOID_NOTE, LinearModel
from svmtool.objectives.normal_equations import NormalEquations, equations_of
from svmtool.papers.running import matrix
from svmtool.params import Settings
from svmtool.registry.row import ADAPTABLE_FEATURES
from svmtool.solvers.shared.base import INTERRUPTED
from svmtool.tolerances import EPS
from svmtool.training.adapting import paper_form
from svmtool.training.inputs import refuse_overflow
from svmtool.training.notices import of_sums

INVERSE_GOLDEN_RATIO = 0.6180339887498949
PROBE_DIRECTIONS = 3  # random directions in which rounding is taken to have moved the matrix
MAX_LABELS = 2  # of adaptable models of FALSVM, see falsvm.py
ADDED = np.uint64(0x9E3779B97F4A7C14)  # distinguishes the log entry of a row added by FALSVM from that of a row seen


class Adaptable:
    """A model to which rows can be added and from which they can be removed: its State and RowLog, and their files.

    source: path of the model to change, None for an empty model; target: path of the changed model; given: options on
    the command line.
    """

    counted = "Rows in the model"  # meaning of the count of the sums

    def __init__(self, settings: Settings, source: str | None, target: str, console: Any, given: Sequence[str] = ()):
        self.settings, self.given, self.console = settings, given, console
        if not may_be_replaced(target):
            name = target or "''"
            raise SvmtoolError(f"can't save model to file {name}: its state needs a regular file beside it")
        in_place = source is not None and os.path.realpath(source) == os.path.realpath(target)
        self.target = source if source is not None and in_place else target
        self.log: RowLog | None = None
        self._copy, self._locks = not in_place, []
        with contextlib.ExitStack() as stack:  # closes the files if an error occurs
            stack.callback(self.close)
            self._locks.append(locked(self.target))
            if source is None:
                p = settings.problem
                sums = ClassStatistics([label for label, _ in p.class_weights])
                self.state, self.form = State(p.solver, p.C, p.bias, p.class_weights, sums), None
            else:
                self._open(source)
            stack.pop_all()

    def _open(self, source: str) -> None:
        if self._copy and os.path.exists(source + adaptable.STATE):  # otherwise its absence is reported
            self._locks.append(locked(source))
        self.state = adaptable_state.read(source)
        self.form = paper_form.read(self.state)
        self.log = RowLog.open(source + adaptable.ROWS_SUFFIX, self.state.log, self.state.entries)
        self._check_model(source)
        self._check_settings()

    def _check_model(self, source: str) -> None:
        """Check that the state belongs to the model beside it, or rewrite a model older than its state."""
        content, state = content_of(source), self.state
        if content == state.model:
            return
        if signature(content) != state.before:
            if content is None:
                raise ModelError(f"can't open model file {source}")
            raise ModelError(f"{source}{adaptable.STATE} does not belong to {source}: train again")
        linear.parse(ModelText.of(state.model, source + adaptable.STATE))
        self.console.warn(f"{source} is older than its state: an earlier run was interrupted; the model is rewritten")
        linear.write_text(source, [state.model])

    def _check_settings(self) -> None:
        """Take --method, -c, -B and -w from the state unless given.

        SvmtoolError for other class weights: they need the rows.
        """
        s, state = self.settings.problem, self.state
        if s.solver != state.solver:
            raise SvmtoolError(f"the model was trained by -s {state.solver}, not -s {s.solver}")
        if s.class_weights and s.class_weights != state.class_weights:
            raise SvmtoolError("-w differs from the class weights of the model: train again")
        if "--method" not in self.given:
            self.settings = self.settings.replace(method="fast" if self.form is None else "paper")
        state.C = s.C if "-c" in self.given else state.C
        state.bias = s.bias if "-B" in self.given else state.bias

    def remove(self, path: str, table: Dataset) -> str:
        """Remove rows; returns a text with their number.  SvmtoolError, with nothing changed, if one is missing."""
        hashes = self._hashes_held(path, table)
        self._change_from(path, table, table.in_use().factors, -1.0)
        self.log_at_target().append(hashes, removed=True)
        return f"{len(hashes)} rows"

    def _hashes_held(self, path: str, table: Dataset) -> np.ndarray:
        """The hashes of rows that are to be removed."""
        assert self.log is not None, "the command line asks for a model"
        hashes = hashes_of(table.in_use())
        missing = self.log.first_missing(hashes)
        if missing is not None:
            raise SvmtoolError(
                f"{path}: line {line_of(table, missing)}: the model does not contain this row"
                + (" that many times" if np.any(hashes[:missing] == hashes[missing]) else "")
                + ": none is removed"
            )
        return hashes

    def _change_from(self, path: str, table: Dataset, r: np.ndarray, sign: float) -> None:
        """`_change` by rows of a file; SvmtoolError, with the line, where rounding leaves too few digits."""
        try:
            self._change(table.in_use(), r, sign)
        except paper_form.RowError as e:
            raise SvmtoolError(f"{path}: line {line_of(table, e.place)}: {e}") from None

    def add(self, table: Dataset) -> str:
        """Add rows; returns a text with their number."""
        table = table.in_use()
        hashes = hashes_of(table)
        self._change(table, table.factors, 1.0)
        self.log_at_target().append(hashes)
        return f"{len(table)} rows"

    def log_at_target(self) -> RowLog:
        """The log to write to; creates it at the target with the first rows."""
        path = self.target + adaptable.ROWS_SUFFIX
        if self._copy:
            recover_log(path, adaptable_state.log_number(self.target))
            self.log, self._copy = self.log.copied(path) if self.log else RowLog.create(path), False
            for lock in self._locks[1:]:  # of the source model, which stays unchanged
                lock.close()
        assert self.log is not None
        return self.log

    def check(self, table: Dataset) -> None:
        """Raise SvmtoolError if these rows cannot be added."""
        state = self.state
        limit = ADAPTABLE_FEATURES - (state.bias >= 0)
        if table.n_features > limit:
            raise SvmtoolError(f"{table.n_features} features are too many for an adaptable model (at most {limit})")
        held = float(np.sqrt(state.sums.past.max(initial=0.0)))  # -c and -B may be larger than when these rows came
        refuse_overflow(table, state.C, state.class_weights, largest=max(state.bias, held))
        whole_labels(table.labels)

    def check_file(self, path: str, table: Dataset) -> None:
        """`check`, with the line number of the first row that cannot be added."""
        fault = self.first_fault(table.in_use())
        if fault is not None:
            raise SvmtoolError(f"{path}: line {line_of(table, fault[0])}: {fault[1]}")

    def first_fault(self, table: Dataset) -> tuple[int, SvmtoolError] | None:
        """Index of the first row that cannot be added, and the error; None if all can.  Raises one of no single row."""

        def fault(n: int) -> SvmtoolError | None:
            try:
                self.check(beginning(table, n))
            except SvmtoolError as e:
                return e
            return None

        found = fault(len(table))
        if found is None:
            return None
        if len(table) == 0 or fault(0):
            raise found
        first = bisect_left(range(1, len(table)), True, key=lambda n: fault(n) is not None)
        return first, fault(first + 1) or found

    def _change(self, table: Dataset, r: np.ndarray, sign: float) -> None:
        """Add rows with the weights r (sign 1) or remove them (-1)."""
        self.check(table)
        rows, place, factor = self._arriving(table)
        form = self._form()
        if form is not None:
            try:
                form.change(matrix(rows), place, r, sign, factor)
            except paper_form.RowError:
                self.form = None
                raise
        self._change_sums(table, r, sign)

    def _change_sums(self, table: Dataset, r: np.ndarray, sign: float) -> None:
        rows = CsrRows(table.indptr, table.indices, table.values, table.n_features)
        labels, number, _ = first_appearance(table.labels)
        self.state.sums.update(rows, labels, number, r, sign)

    def _arriving(self, table: Dataset) -> tuple[CsrRows, np.ndarray, np.ndarray]:
        """The rows of a table as problems see them, the place of each label, and the labels' factors.

        The sums get their features and labels.
        """
        sums = self.state.sums
        labels, number, _ = first_appearance(table.labels)
        sums.reserve(table.n_features, labels)
        factor, _ = cost_factors(sums.labels, self.state.class_weights)
        place = np.array([sums.labels.index(label) for label in labels], np.int64)[number]
        return CsrRows(table.indptr, table.indices, table.values, sums.m, self.state.bias), place, factor

    def _form(self) -> paper_form.PaperForm | None:
        """P and w of the present rows; None with --method fast."""
        state = self.state
        if not self.settings.row.printed:
            return None
        factor, _ = cost_factors(state.sums.labels, state.class_weights)
        self.form = paper_form.form_of(state.sums, state.C, state.bias, factor, self.form)
        return self.form

    def solve(self) -> tuple[LinearModel, Certificate]:
        """Solve for the current rows; returns the model and its certificate."""
        state = self.state
        sums, bias = state.sums, state.bias
        labels = [1, -1] if sums.labels == [-1, 1] else sums.labels  # LIBLINEAR puts 1 before -1
        factor, _ = cost_factors(sums.labels, state.class_weights)
        problems = equations_of(sums, state.C, bias, factor) if sums.n else []
        form = self._form()
        given = [None] * len(problems) if form is None else form.solutions(factor)
        solved = [solution(problem, sums, known) for problem, known in zip(problems, given, strict=False)]
        W = np.stack([w for w, _, _ in solved], axis=1) if solved else np.zeros((sums.m + (bias >= 0), 0))
        if labels != sums.labels:
            W = -W
        certificate = worst([c for _, c, _ in solved])
        row = self.settings.row
        asked = "".join(f" -w{label} {f:.17g}" for label, f in state.class_weights)
        notes = (
            f"# svmtool {__version__}: -s {row.number} ({row.name}) --method {row.method} -c {state.C:.17g} "
            f"-B {bias:.17g}{asked}",
            f"# {certificate.line()}",
            f"# {self.counted}: {sums.n}, by {'updates' if row.printed else 'sums'} over rows added and removed",
        )
        error = max((error for _, _, error in solved), default=0.0)
        self.console.warn(*(notice.line for notice in of_sums(row, certificate, error)))
        model = LinearModel(row.word, tuple(labels), sums.m, bias, W, notes=(*notes, *self._names()))
        try:
            _ = model.class_names
        except ModelError:  # of other labels
            model.notes = notes
            self.console.warn("WARNING: the model's names of classes are dropped: it has other labels now")
        return model, certificate

    def _names(self) -> list[str]:
        """The note that names the classes of the model so far, if there is one."""
        head = CLASSES_NOTE.encode()
        return [line.decode() for line in self.state.model.splitlines() if line.startswith(head)]

    def solve_and_write(self) -> None:
        """Solve for the current rows, and write the files."""
        model, certificate = self.solve()
        state, calibrated = self.state, SIGMOID_NOTE.encode() in self.state.model
        state.inverses, state.w = (None, None) if (form := self._form()) is None else (form.inverses, form.W)
        write_files(self.target, model, state, self.log_at_target())
        if calibrated:
            self.console.warn(
                f"WARNING: {self.target} no longer has probabilities (-b 1), which need all rows: train again"
            )
        self.console.solver(f"{self.counted} = {self.state.sums.n}\n{certificate.line()}\n")

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
        for lock in self._locks:
            lock.close()


Known = tuple[np.ndarray, np.ndarray]  # w and (I + 2 C S)^-1 of a problem, from a PaperForm


def solution(
    problem: NormalEquations, sums: ClassStatistics, known: Known | None = None
) -> tuple[np.ndarray, Certificate, float]:
    """The minimiser, or the known w, its certificate, computed from the sums by certify/linear.py, and `_rounding`."""
    w = problem.minimiser() if known is None else known[0]
    q = np.zeros(problem.d)  # entry (i, j) of the problem's matrix is a sum that reached q_i q_j at most in size
    q[: sums.m] = np.sqrt(sums.past)
    certificate = certify_sums(w, problem.matrix.S, problem.b, problem.V, problem.C, q)
    return w, certificate, _rounding(problem, w, q, known)


def _rounding(problem: NormalEquations, w: np.ndarray, q: np.ndarray, known: Known | None) -> float:
    """Estimate how far round-off in the sums may have moved w, relative to its size; q: see `solution`.

    Each entry of the matrix is assumed to be off by EPS times the largest size of its sum, with a random sign.
    """
    size = float(np.sqrt(w @ w))
    if size == 0.0:
        return 0.0
    k = np.arange(1, PROBE_DIRECTIONS * problem.d + 1).reshape(PROBE_DIRECTIONS, problem.d)
    # pseudo-random signs without numpy.random, whose import takes 20 ms
    signs = np.where(k * INVERSE_GOLDEN_RATIO % 1.0 < 0.5, -1.0, 1.0)
    solve = problem.matrix.factor().solve if known is None else known[1].__matmul__
    moved = max(float(np.linalg.norm(solve(s * q))) for s in signs)
    return 2.0 * problem.C * EPS * moved * float(np.linalg.norm(q * w)) / size


def beginning(table: Dataset, n: int) -> Dataset:
    """The first n rows, with the features that occur in them."""
    found = table.take(np.arange(n))
    found.n_features = int(found.indices.max(initial=-1)) + 1
    return found


def line_of(table: Dataset, i: int) -> int:
    """The line of the i-th row of positive weight."""
    used = table.used()
    return 1 + (i if used is None else int(used[i]))


def locked(path: str) -> ModelLock:
    """The lock of a model; SvmtoolError if one of the files beside it cannot be created."""
    lock = ModelLock(path)
    try:
        for suffix in adaptable.STATE_FILES:
            refuse_other_kinds(path + suffix)
    except OSError as e:
        lock.close()
        raise SvmtoolError(f"can't save the model's state to {e.filename}: {e.strerror}") from None
    return lock


def may_be_replaced(path: str) -> bool:
    """Whether a model can be written to this path as a regular file."""
    return os.path.isfile(path) or (path != "" and not os.path.exists(path))


def entries(hashes: np.ndarray, added: np.ndarray) -> np.ndarray:
    """The log entries of rows, u8: for each its hash, then one entry for each time it was added (i8[n])."""
    records = np.repeat(hashes, 1 + added)
    more = np.ones(len(records), bool)
    more[np.cumsum(1 + added) - 1 - added] = False
    records[more] ^= ADDED
    return records


def write_files(path: str, model: LinearModel, state: State, log: RowLog) -> None:
    """Write log, state and model.  If the run ends between the last two, the model can be rewritten from the state."""
    state.before, state.model = signature(content_of(path)), b"".join(linear.text_of(model))
    log.flush()
    state.log, state.entries = log.number, log.entries
    with interrupts.Uninterrupted():
        adaptable_state.write(path, state)
        log.commit()
        linear.write_text(path, [state.model])


class TrainingState:
    """What is kept of a training for the files beside its model; made before it, which may free the rows.

    log: the entries of the row log.  state: set by `take`.
    """

    state: State | None = None

    def __init__(self, settings: Settings, table: Dataset):
        """table: the rows of positive weight."""
        self.settings, self.log, self.features = settings, hashes_of(table), table.n_features

    def take(self, done: Any) -> bool:
        """Take what is kept of a Training; returns whether it has reached the sums of all rows."""
        s, sums, results = self.settings.problem, done.sums, done.results
        if sums is None and not len(self.log):
            sums = ClassStatistics([label for label, _ in s.class_weights], self.features)
        if sums is None:
            return False
        self.state = State(s.solver, s.C, s.bias, s.class_weights, sums)
        if results and results[0].taken is not None:  # FALSVM's
            self.log = entries(self.log, results[0].taken)
        if self.settings.row.printed:
            form = _trained_form(self.settings, sums, results)
            self.state.inverses, self.state.w = form.inverses, form.W
        return True

    def write(self, path: str, model: LinearModel) -> None:
        """Write log, state and model; the caller holds the lock."""
        assert self.state is not None
        log_path = path + adaptable.ROWS_SUFFIX
        recover_log(log_path, adaptable_state.log_number(path))
        with contextlib.closing(RowLog.create(log_path)) as log:
            log.append(self.log)
            write_files(path, model, self.state, log)


def state_of(settings: Settings, table: Dataset) -> TrainingState | None:
    """The TrainingState of a training that begins; None where a state is impossible: falsvm.py says when."""
    table = table.in_use()
    able = settings.row.optimal or len(first_appearance(table.labels)[0]) <= MAX_LABELS
    return TrainingState(settings, table) if able else None


def _trained_form(settings: Settings, sums: ClassStatistics, results: list[Any]) -> paper_form.PaperForm:
    """P and w of a training, as far as its results have them, else from the sums."""
    s, labels = settings.problem, list(sums.labels)
    factor, _ = cost_factors(labels, s.class_weights)
    before, keys = None, weightings(labels, factor)
    if len(keys) == len(results) > 0:
        inverses = {key: r.inverse for key, r in zip(keys, results, strict=True) if r.inverse is not None}
        before = paper_form.PaperForm(labels, inverses, np.stack([r.w for r in results], axis=1), s.C, s.bias)
    return paper_form.form_of(sums, s.C, s.bias, factor, before)


def save(path: str, model: LinearModel) -> bool:
    """Write a model, with the state of its training if it has one; returns whether all was written."""
    if model.state is None or not may_be_replaced(path):
        linear.write(path, model)
        return model.state is None
    with contextlib.closing(locked(path)):
        model.state.write(path, model)
    return True


def state_beside(settings: Settings, table: Dataset, path: str, console: Any) -> TrainingState | None:
    """`state_of` for a model's path; None, with a warning, where a state cannot stand beside it."""
    found = state_of(settings, table)
    if found is None or (path != "-" and may_be_replaced(path)):
        return found
    console.warn(f"WARNING: {path} is not a regular file and has no state beside it: rows cannot be added later")
    return None


def write_new(state: TrainingState, path: str, done: Any) -> None:
    """Write log, state and model of a command's Training; the caller holds the lock."""
    if state.take(done):
        state.write(path, done.model)
    elif done.status is INTERRUPTED:
        raise KeyboardInterrupt  # nothing is written, as after Ctrl-C before the training
    else:
        raise SvmtoolError(f"{path} is not written: the run ended before its state, which is of all rows, was computed")
