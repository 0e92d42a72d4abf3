"""What a solver decides before its first step.

A solver module has METHODS, a dict from the name of each method to one line that describes it, and `plan`, which
chooses one of them from the problem alone: sizes, layout, loss, bias and options.  A plan has no side effects and
costs little beside a pass over the rows.  Decisions by costs measured during the run stay in the run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmtool.solvers.shared.base import OPTIMAL, Monitor, Result

# Texts of the method that `bias_alone` is
BIAS = "the bias alone, which brings every row to its target"
BIAS_WHY = "a free bias, and targets that one value of it meets"


class Plan(NamedTuple):
    """The method that a solver chooses for a problem.

    method  a key of the solver's METHODS
    why     the facts that decided, in words, for --explain and the solver log
    """

    method: str
    why: str = ""


def bias_alone(monitor: Monitor, w: np.ndarray, alpha: np.ndarray | None = None) -> Result:
    """Return w, whose free bias alone makes every loss 0 (Task.one_sided_answer): no gap is relative to f = 0."""
    monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
    return Result(w, OPTIMAL, monitor.iterations, monitor.history, alpha)
