"""svm-train --certify-labels: smaller and smaller gaps, until enough labels of a test set are certain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled.loops.text.text_loops import SOME_LABELLED
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight import table as svmlight
from svmtool.limits import StopFlag
from svmtool.models.certain import bounds_of, lengths, percent, share_line, why_none, within
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.solvers.shared.base import LATE, POOR
from svmtool.tolerances import DUAL_RTOL
from svmtool.training.inputs import on_known
from svmtool.training.outcome import Training
from svmtool.training.reductions.base import Reduction

SMALLER = 1e-2  # the gap of a run as a share of that of the run before: radii become a tenth


class Wanted:
    """The rows of a test set, of which a share is to have certain labels.

    n_features, used: the features of training, and those that a model of this run has, None for all.
    SvmtoolError for a file that cannot be read or has no rows.
    """

    def __init__(self, path: str, share: float, n_features: int, settings: Settings, used: np.ndarray | None):
        rows = svmlight.read(path, form=SOME_LABELLED)
        if not len(rows):
            raise SvmtoolError(f"--certify-labels: {path} holds no rows")
        self.path, self.share, self.count = path, share, len(rows)
        self._sizes = lengths(rows, n_features, settings.problem.bias)
        self._rows = rows if used is None else on_known(rows, used)

    def certain(self, model: LinearModel) -> int:
        """How many labels are certain."""
        f = model.decision_values(self._rows)
        return int(np.count_nonzero(within(f, self._sizes, bounds_of(model), model.word, model.nr_class)))


def until_certain(
    problems: Reduction, done: Training, wanted: Wanted, stop: StopFlag, fit: Callable[[np.ndarray], Training]
) -> Training:
    """Repeat a training with smaller gaps, from its weights, until enough labels are certain or the gap falls no more.

    done: the first training; fit: another one of the problems from a start.  SvmtoolError where a gap bounds no labels.
    """
    if why := why_none(done.model):
        raise SvmtoolError(f"--certify-labels: {why}")
    while (count := wanted.certain(done.model)) < wanted.share * wanted.count:
        gap, status = done.certificate.gap, done.status
        limited = status is None or not (status.converged or status in (LATE, POOR))
        if limited or stop.ended() or not gap > DUAL_RTOL:
            break
        problems.settings = problems.settings.replace(gap=max(SMALLER * gap, DUAL_RTOL))
        again = fit(problems.as_start(problems.weights(done.results)))
        if not again.certificate.gap < gap:
            break
        done = again
    done.summary += share_line(wanted.count, count)
    if count < wanted.share * wanted.count:
        few = f"{percent(wanted.count, count)} of the labels of {wanted.path} are certain, not {100 * wanted.share:g}%"
        ended = stop.ended() or (done.status is not None and done.status.early)
        why = "a limit or Ctrl-C ended the run" if ended else "no smaller gap was reached"
        done.uncertain = f"--certify-labels: {few}: {why}"
    return done
