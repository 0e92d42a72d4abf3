"""Cross-validation (-v) with kernels: LIBSVM's folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import trainer
from svmtool.training.validation.cross_validation import TOO_MANY, Folds, Keep
from svmtool.training.validation.folds import GlibcRand


class KernelFolds(Folds):
    """The folds of a training set with a kernel, as LIBSVM draws them.

    rand: continues a sequence of random numbers; None: a new one.  say: receives LIBSVM's text of each training.
    """

    too_many = f"WARNING: # folds ({{}}) > # data ({{}}). {TOO_MANY}"

    def __init__(
        self, data: KernelSet, settings: Settings, wanted: int, rand: GlibcRand | None = None,
        say: Callable[[str], object] = lambda text: None,
    ):  # fmt: skip
        self.data, self._say, self._rand = data, say, rand or GlibcRand(settings.run.seed)
        self._classifies = settings.row.kind == "classification"
        super().__init__(data.table, settings.replace(stratified=self._classifies), wanted, self._rand)

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: list | None = None, keep: Keep | None = None,
        *_: Any, **__: Any,
    ) -> tuple[np.ndarray, bool]:  # fmt: skip
        """See Folds; models have probabilities with -b 1, and nothing is a warm start."""
        fit, rand, known = trainer(settings), self._rand if self._classifies else None, set(self.warnings)

        def train(k: int, inside: np.ndarray, outside: np.ndarray, share: StopFlag) -> tuple[Any, Any, list[str]]:
            done = fit(self.data.take(inside), Fitting(settings, None, share), rand)
            if stop.set:
                raise KeyboardInterrupt
            if done.lacking:
                raise SvmtoolError(f"ERROR: -v with -b 1: {done.lacking}")
            self._say(done.text)
            new = [text for text in dict.fromkeys(done.warnings) if text not in known]
            known.update(new)
            return done.model, done.status, new

        return self._each(train, stop, keep, 1), False

    def answers(self, model: Any, decisions: np.ndarray) -> np.ndarray:
        """See Folds; with -b 1 the most probable class."""
        if model.labels is None or len(model.labels) < 2 or model.probA is None:
            return model.labels_from(decisions)
        return np.array(model.labels, dtype=np.float64)[np.argmax(model.probabilities(decisions), axis=1)]
