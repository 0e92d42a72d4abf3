"""Folds of a cross-validation: the random draws of LIBLINEAR and LIBSVM, bit for bit.

Both shuffle with the C library's rand() without a seed, so that every run draws the same folds.  --seed gives other
draws by the same method.

All functions return `(order, starts)`: fold k holds the rows order[starts[k]:starts[k+1]].
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.compiled.loops.rows.rand_loops import rand_seed, rand_shuffle
from svmtool.data.dataset import Dataset
from svmtool.data.labels import Classes
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, in_turn, with_time_shares
from svmtool.params import Settings
from svmtool.progress import doing
from svmtool.solvers.shared.base import Status

FOLDS = 5  # of -C, -b 1 and --thresholds cv
TOO_MANY = "Will use # folds = # data instead (i.e., leave-one-out cross validation)"


Drawn = tuple[np.ndarray, np.ndarray]  # the order of the rows, and where each fold starts in it


class GlibcRand:
    """glibc's rand() after srand(seed); None: the sequence without srand, which is that of seed 1."""

    def __init__(self, seed: int | None = None):
        self.state = np.zeros(32, dtype=np.int64)
        rand_seed(self.state, 1 if seed is None else int(seed) & 0xFFFFFFFF)

    def shuffle(self, order: np.ndarray, start: int = 0, stop: int | None = None) -> None:
        """Shuffle order[start:stop] (i8, contiguous) in place."""
        rand_shuffle(self.state, order, start, order.size if stop is None else stop)


def liblinear_folds(n_rows: int, n_folds: int, rand: GlibcRand | None = None) -> Drawn:
    """LIBLINEAR's folds, which ignore labels.

    Returns order (i8[n_rows]) and starts (i8[folds + 1]).  With more folds than rows each fold is one row.
    """
    folds, order = min(n_folds, n_rows), np.arange(n_rows, dtype=np.int64)
    (rand or GlibcRand()).shuffle(order)
    return order, np.arange(folds + 1, dtype=np.int64) * n_rows // folds


def stratified_folds(labels: np.ndarray, n_folds: int, rand: GlibcRand | None = None) -> Drawn:
    """LIBSVM's folds for classification: each class is shuffled and distributed evenly.

    Labels f8[n]; with as many folds as rows this is leave-one-out, drawn as by `liblinear_folds`.
    """
    if n_folds >= len(labels):
        return liblinear_folds(len(labels), n_folds, rand)
    classes, rand = Classes(labels), rand or GlibcRand()
    order, fold = np.argsort(classes.number, kind="stable"), []
    for size, end in zip(classes.counts.tolist(), np.cumsum(classes.counts).tolist(), strict=True):
        rand.shuffle(order, end - size, end)
        fold.append(np.repeat(np.arange(n_folds), np.diff(np.arange(n_folds + 1) * size // n_folds)))
    places, starts = _in_folds(np.concatenate(fold), n_folds)
    return order[places], starts


def group_folds(groups: np.ndarray, n_folds: int, rand: GlibcRand | None = None) -> Drawn:
    """Folds that do not divide groups i8[n]: in a drawn order, each goes to the fold that has the fewest rows.

    Returns order and starts, see `liblinear_folds`.  SvmtoolError for fewer groups than folds.
    """
    known, number, counts = np.unique(groups, return_inverse=True, return_counts=True)
    folds = min(n_folds, len(groups))
    if len(known) < folds:
        raise SvmtoolError(
            f"cross-validation by groups: {n_folds} folds need as many groups, here there are {len(known)}"
        )
    drawn, _ = liblinear_folds(len(known), folds, rand)
    sizes = [(0, k) for k in range(folds)]
    fold = np.empty(len(known), np.int64)
    for group in drawn.tolist():
        size, fold[group] = heapq.heappop(sizes)
        heapq.heappush(sizes, (size + int(counts[group]), int(fold[group])))
    return _in_folds(fold[number.reshape(-1)], folds)


def _in_folds(fold: np.ndarray, count: int) -> Drawn:
    """The rows of each fold, in their order, from the fold of each row."""
    return np.argsort(fold, kind="stable"), np.concatenate(([0], np.cumsum(np.bincount(fold, minlength=count))))


def drawn_folds(
    labels: np.ndarray, n_folds: int, stratified: bool, rand: GlibcRand, groups: np.ndarray | None = None
) -> Drawn:
    """Folds of each kind; SvmtoolError for fewer than two rows, or if one of the folds would contain all."""
    if len(labels) < 2:
        raise SvmtoolError(f"cross-validation needs at least two rows of data, here there are {len(labels)}")
    if n_folds < 2:
        raise SvmtoolError("n-fold cross validation: n must >= 2")
    if groups is not None:
        return group_folds(groups, n_folds, rand)
    if not stratified:
        return liblinear_folds(len(labels), n_folds, rand)
    order, starts = stratified_folds(labels, n_folds, rand)
    if np.any(np.diff(starts) == len(labels)):
        raise SvmtoolError(
            f"cross-validation: no class has {len(starts) - 1} rows or more, and one of {len(starts) - 1} folds would "
            f"hold all rows: use -v {len(labels)}, which leaves out one row at a time"
        )
    return order, starts


def fold_rows(order: np.ndarray, starts: np.ndarray, k: int, ascending: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, held-out rows) of fold k, both in the drawn order, as the reference tools take them.

    ascending: in the order of the data instead, which is the order of reading from disk.
    """
    begin, end = int(starts[k]), int(starts[k + 1])
    inside, outside = np.concatenate([order[:begin], order[end:]]), order[begin:end]
    return (np.sort(inside), np.sort(outside)) if ascending else (inside, outside)


# What takes the rows of a fold (i8), its model, and the decision values of these rows, from the thread that has
# trained the model
Keep = Callable[[np.ndarray, Any, np.ndarray], object]


class AnyFolds(ABC):
    """The folds of a data set, drawn once.  Rows of a fold are copied while it is used, to limit memory.

    settings: of the models, unless `evaluate` is given others; count: number of folds; warnings: messages for the user
    so far, in order; open_ends: the statuses of the folds of the last `evaluate` that did not converge; part: what
    progress calls one.  Raises SvmtoolError for fewer than two rows.  rand: continues a sequence of random numbers;
    None: a new one.
    """

    open_ends: tuple[Status, ...] = ()
    part = "fold"
    too_many = f"WARNING: # folds > # data. {TOO_MANY}"

    def __init__(self, table: Dataset, settings: Settings, wanted: int, rand: GlibcRand | None = None):
        self.table, self.settings, run = table, settings, settings.run
        groups = table.groups if run.grouped else None  # every row has one, see Reading
        self.order, self.starts = drawn_folds(table.labels, wanted, run.stratified, rand or GlibcRand(run.seed), groups)
        self.count = len(self.starts) - 1
        self.warnings = [self.too_many.format(wanted, len(table))] if len(table) < wanted else []

    @abstractmethod
    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: list | None = None, keep: Keep | None = None,
        calibrated: bool = False, verified: bool = True,
    ) -> tuple[Any, bool]:  # fmt: skip
        """Train every fold and predict its held-out rows.

        Returns the predictions f8[n], each by the model that has not seen the row, and whether any weight vector
        changed.  warm: a weight matrix (or None) for each fold, replaced by the new one.  keep: see Keep.
        calibrated: the model has probabilities, with sigmoids fitted to the fold's training rows where needed.
        verified: see Reduction.fit.  Raises KeyboardInterrupt once `stop` is set.  After the time limit the models
        trained so far predict.
        """

    def _each(self, train: Callable[..., Any], stop: StopFlag, keep: Keep | None, beside: int) -> np.ndarray:
        """The predictions of all folds, trained `beside` each other.

        train(k, training rows, rows held out, stop) gives a fold's model, its status and warnings; without a model
        its share of the time has ended it, and it is called again.
        """
        predictions, on_disk = np.empty(len(self.table)), self.table.mapped is not None
        found: list[Any] = [None] * self.count

        def one(k: int, share: StopFlag) -> bool:
            if stop.set:
                raise KeyboardInterrupt
            inside, outside = fold_rows(self.order, self.starts, k, on_disk)
            model, *found[k] = train(k, inside, outside, share)
            if model is None:
                return True
            decisions = self.decisions(model, outside)
            predictions[outside] = self.answers(model, decisions)
            if keep is not None:
                keep(outside, model, decisions)
            part.step()
            return False

        with doing(self.part, self.count) as part:
            run = threads.run_blocks if beside > 1 else in_turn
            with_time_shares(one, self.count, stop, beside, run)
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends = tuple(status for status, _ in found if status is not None and not status.converged)
        self.warnings += [text for _, of_fold in found for text in of_fold]
        return predictions

    def decisions(self, model: Any, rows: np.ndarray) -> np.ndarray:
        """Decision values f8 (rows, columns) of rows held out, i8, by their fold's model, which was trained last."""
        return model.decision_values(self.table.take(rows))

    def answers(self, model: Any, decisions: np.ndarray) -> np.ndarray:
        """Labels or values f8[n] by a fold's model, from decision values."""
        return model.labels_from(decisions)
