"""Cross-validation (-v) with kernels: LIBSVM's folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, TimeShares
from svmtool.models.kernel import KernelModel
from svmtool.params import Settings
from svmtool.progress import counted
from svmtool.solvers.shared.base import Status
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import trainer
from svmtool.training.validation.folds import GlibcRand, drawn_folds, fold_rows, groups_of


class KernelFolds:
    """The folds of a training set with a kernel, as LIBSVM draws them; see cross_validation.Folds.

    rand: continues a sequence of random numbers; None: a new one.  say: receives LIBSVM's text of each training.
    """

    def __init__(
        self, data: KernelSet, settings: Settings, wanted: int, rand: GlibcRand | None = None,
        say: Callable[[str], object] | None = None,
    ):  # fmt: skip
        self.data, self.table, self._say = data, data.table, say
        self._rand = GlibcRand(settings.run.seed) if rand is None else rand
        self._classifies, n = settings.row.kind == "classification", len(data)
        groups = groups_of(data.table, settings)
        self.order, self.starts = drawn_folds(data.labels, wanted, self._classifies, self._rand, groups)
        self.count = len(self.starts) - 1
        instead = "Will use # folds = # data instead (i.e., leave-one-out cross validation)"
        self.warnings = [f"WARNING: # folds ({wanted}) > # data ({n}). {instead}"] if wanted > n else []
        self.open_ends: tuple[Status, ...] = ()

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: None = None,
        keep: Callable[[np.ndarray, Any, np.ndarray], object] | None = None, calibrated: bool = False,
    ) -> tuple[np.ndarray, bool]:  # fmt: skip
        """See cross_validation.Folds; models have probabilities with -b 1, and nothing is a warm start."""
        predictions, ends, shares = np.empty(len(self.data)), [], TimeShares(stop, self.count, 1)
        train = trainer(settings)
        for k in counted("fold", range(self.count)):
            inside, outside = fold_rows(self.order, self.starts, k)
            within = Fitting(settings, None, shares.next())
            done = train(self.data.take(inside), within, self._rand if self._classifies else None)
            if stop.set:
                raise KeyboardInterrupt  # a part of a cross-validation has no result
            if done.lacking:
                raise SvmtoolError(f"ERROR: -v with -b 1: {done.lacking}")
            ends.append(done.status)
            if self._say is not None:
                self._say(done.text)
            self.warnings += [text for text in done.warnings if text not in self.warnings]
            decisions = done.model.decision_values(self.data.take(outside).table)
            predictions[outside] = answers(done.model, decisions)
            if keep is not None:
                keep(outside, done.model, decisions)
        self.open_ends = tuple(status for status in ends if status is not None and not status.converged)
        return predictions, False


def answers(model: KernelModel, decisions: np.ndarray) -> np.ndarray:
    """Labels or values f8[n] from decision values; with -b 1 the most probable class."""
    if model.labels is None or len(model.labels) < 2 or model.probA is None:
        return model.labels_from(decisions)
    return np.array(model.labels, dtype=np.float64)[np.argmax(model.probabilities(decisions), axis=1)]
