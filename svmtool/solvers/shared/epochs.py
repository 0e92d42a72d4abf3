"""The driver of dual coordinate descent: runs epochs until a rule holds or another method is cheaper.

The solvers decide differently, each in a subclass of `Epochs`:

newton.RuleEpochs             L2-SVM-MFN, modified Huber: -e is a rule about single rows or the
                              gradient; the primal is computed when a rule may hold and, where there is a target gap, at
                              the expected number of epochs; every evaluation is a record
alm_epochs.HingeEpochs        SVM-ALM: the gap decides, and its fall says when to compute the primal and when to go
                              over to Newton steps; only the last evaluation is a record of the history
alm_classes.ClassEpochs       Crammer-Singer: as the former, by the gap that an epoch estimates itself
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from svmtool.coordinate.hinge import MAX_EPOCHS
from svmtool.solvers.shared.base import Monitor, Status

RATE_EVALUATIONS = 2  # evaluations over which the fall of the gap is measured where it is even
SWITCH = Status("switch", False, "another method is expected to be cheaper")  # of `evaluate`; not of a run


class Epochs(ABC):
    """The decisions of a solver between epochs of coordinate descent; `run` calls the methods in the order below.

    descent: a DualCoordinateDescent or another with its methods `run` and `unshrink` and attributes `count`, `visits`
    and `complete` (False: rows must be unshrunk before the rule holds for all).  spent: cost of the epochs so far.
    """

    def __init__(self, descent: Any, monitor: Monitor):
        self.descent, self.monitor, self.spent = descent, monitor, 0.0

    def begin(self) -> Status | None:
        """Return why the run ends before the next epoch, if it does."""
        return None

    def batch(self) -> tuple[Any, ...]:
        """Return the arguments of the descent's `run`: of several epochs where there is nothing to decide between."""
        return ()

    @abstractmethod
    def measure(self) -> None:
        """Measure the epoch that has just been run."""

    def switches(self) -> bool:
        """Return whether another method takes over here, without an evaluation."""
        return False

    @abstractmethod
    def unshrinks(self) -> bool:
        """Return whether the rule holds for the rows visited, so that the shrunk ones must be visited, too."""

    def due(self) -> bool:
        """Return whether the primal is to be computed after this epoch."""
        return True

    @abstractmethod
    def evaluate(self) -> Status | None:
        """Compute the primal; return why the run ends, SWITCH, or None to continue."""

    def value(self) -> float | None:
        """Return the primal at the descent's w for a record between evaluations; None: they come often enough."""
        return self.descent.primal_value()

    def _note(self) -> None:
        """Report the epochs so far where no record has been made for long; changes nothing that decides."""
        value = self.value()
        if value is not None:
            self.monitor.note(value, self.descent.dual_value(), epochs=self.descent.count)

    def run(self, max_visits: float = float("inf"), max_epochs: int = MAX_EPOCHS) -> Status | None:
        """Run epochs; return why they ended the run, None if another method takes over from the dual point.

        max_visits: visits to each row on average.
        """
        descent = self.descent
        while descent.visits < max_visits and descent.count < max_epochs:
            status = self.begin()
            if status is not None:
                return status
            self.spent += descent.run(*self.batch())
            self.measure()
            if self.monitor.due():
                self._note()
            if self.switches():
                return None
            if not descent.complete and self.unshrinks():
                descent.unshrink()
                continue
            if not self.due():
                continue
            status = self.evaluate()
            if status is not None:
                return None if status is SWITCH else status
        return None
