"""What the results of all solvers have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any


class SolverResult:
    """Result of a solver: `Result` of a linear model and `KernelResult` add the solution.

    alpha          dual point, f8; None where the method has none
    status         why the run ended, a Status
    iterations     their number
    history        records of the run, one dict an iteration (see Monitor)
    certified_gap  gap found by the independent certifier, once it has run
    """

    certified_gap = 0.0

    def __init__(self, alpha: np.ndarray | None, status: Any, iterations: int, history: list[dict[str, Any]]):
        self.alpha, self.status, self.iterations, self.history = alpha, status, iterations, history
