"""One optimisation problem of a linear model, independent of labels, files and options; the results of all solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.params import NO_OPTIONS, Options

if TYPE_CHECKING:
    from typing import Any

    from svmtool.objectives.normal_equations import NormalEquations
    from svmtool.objectives.row_losses import Losses


class Task:
    """min over w of  1/2 w'Rw + sum_i C_i loss(target_i - y_i x_i.w),   R = I, or I with 0 for a free bias.

    rows      n rows of d features, the bias feature last where there is one
    y         signs +-1, f8[n]
    cost      C_i > 0, f8[n]
    target    f8[n]; None: 1 for every row
    p         the power of the hinge, for solvers of several powers
    nu        nu of a one-class problem
    options   options of the solver
    equations: its normal equations, if the solver's registry row asks for them (`sums_below`)
    """

    __slots__ = ("rows", "y", "cost", "free_bias", "target", "p", "nu", "options", "equations")

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False,
        target: np.ndarray | None = None, p: float = 2.0, nu: float = 0.5, options: Options = NO_OPTIONS,
        equations: NormalEquations | None = None,
    ):  # fmt: skip
        self.rows, self.y, self.cost, self.free_bias, self.target = rows, y, cost, free_bias, target
        self.p, self.nu, self.options = p, nu, options
        self.equations = equations

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    def objective(self, kind: type[Losses], **more: Any) -> Any:
        """The objective of this class over the task's rows."""
        return kind(self.rows, self.y, self.cost, free_bias=self.free_bias, **more)

    def only(self, chosen: np.ndarray) -> Task:
        """The same task on the rows `chosen` (i8); all other rows have cost 0."""
        target = None if self.target is None else self.target[chosen]
        rows, y, cost = self.rows.take(chosen), self.y[chosen], self.cost[chosen]
        return Task(rows, y, cost, self.free_bias, target, self.p, self.nu, self.options, self.equations)

    def bias_only_solution(self, margin: float | None = None) -> np.ndarray | None:
        """Zero weights and a free bias that brings every row to its target, or to `margin`; None where there is none.

        It exists if all rows have one sign, or if one bias meets all targets.  A hinge's f is 0 there, so that a
        relative gap is undefined.  The logistic loss has no target; `margin` is where it is 0 up to round-off.
        """
        if not self.free_bias or self.rows.n == 0:
            return None
        target = self.target if margin is None else margin
        ends = self.y if target is None else self.y * target  # y = 1: the least bias; y = -1: the largest
        low = float(np.max(ends, where=self.y > 0.0, initial=-np.inf))
        high = float(np.min(ends, where=self.y < 0.0, initial=np.inf))
        return self.bias_only_between(low, high)

    def bias_only_between(self, low: float, high: float) -> np.ndarray | None:
        """Zero weights and the bias in [low, high] nearest to 0; None where low > high."""
        if low > high:
            return None
        w = np.zeros(self.rows.d)
        w[-1] = min(max(0.0, low), high) / self.rows.bias
        return w


class SolverResult:
    """Result of a solver: `Result` of a linear model and `KernelResult` add the solution.

    alpha          dual point, f8; None where the method has none
    status         why the run ended, a Status
    iterations     their number
    history        records of the run, one dict an iteration (see Monitor)
    certified_gap  gap found by the independent certifier, once it has run
    asked_gap      of a paper's algorithm: the gap that certified_gap is compared with, if it is not the usual one
    printed        whether it is that of a paper's algorithm as printed
    """

    certified_gap, asked_gap, printed = 0.0, None, False

    def __init__(self, alpha: np.ndarray | None, status: Any, iterations: int, history: list[dict[str, Any]]):
        self.alpha, self.status, self.iterations, self.history = alpha, status, iterations, history
