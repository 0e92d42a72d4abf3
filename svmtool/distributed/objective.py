"""The objectives of objectives/ for partitioned rows.

`distributed(SquaredHinge)` is a subclass of SquaredHinge: computations with vectors of length d use the same code as in
memory.  Sums over rows are computed by the blocks; vectors of length n (y, z, u, c ..) are None here.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.distributed.collective import Collective
from svmtool.distributed.line_search import search
from svmtool.objectives.base import Objective
from svmtool.objectives.row_losses import Losses
from svmtool.objectives.task import Task


class DistributedRows(Rows):
    """Rows held by the ranks, with the vectors of length n that belong to them."""

    in_memory = row_vectors = False

    def __init__(self, ranks: Collective, n: int, n_features: int, nnz: int, bias: float, gram_entries: float):
        self.ranks, self.n, self.nnz, self.bias = ranks, n, nnz, bias
        self.d, self.gram_entries = n_features + (bias >= 0), gram_entries

    def margins(self, w: np.ndarray, y: Any, z: Any) -> None:
        """Have the ranks compute the margins of direction w, for the line search and the step."""
        self.ranks.defer("line", w.copy())

    def transpose_product(self, u: Any) -> np.ndarray:
        """sum_i u_i x_i for the current slopes u, length d."""
        return self.ranks.sum("product", "transpose_product", "u")

    def curvature_product(self, c: Any, v: np.ndarray) -> np.ndarray:
        """sum_i c_i (x_i.v) x_i for the current curvatures c, length d."""
        return self.ranks.sum("product", "curvature_product", "c", v)

    def diagonal(self, c: Any) -> np.ndarray:
        """sum_i c_i x_ij^2 for the current curvatures c, length d."""
        return self.ranks.sum("product", "diagonal", "c")

    def serve_several(self) -> None:
        """No effect: problems are solved one after the other."""


class KeptDualPoint:
    """Stands for the last dual point of the objective, which the blocks keep."""


class DistributedTask(Task):
    """A task whose rows are distributed.

    costs: the different costs of its rows; y is None, cost and target hold only values that solvers check.
    """

    __slots__ = ("_made",)

    rows: DistributedRows

    def __init__(self, some: DistributedRows, costs: np.ndarray, free_bias: bool, **more: Any):
        super().__init__(some, None, costs, free_bias, **more)
        self._made = None

    @property
    def weights(self) -> np.ndarray | None:
        """The current point of the last objective; None before its first step."""
        return None if self._made is None or not self._made._ready else self._made.w

    def objective(self, kind: type[Losses], **more: Any) -> Any:
        self._made = distributed(kind)(self.rows, self.free_bias, kind, more)
        return self._made

    def bias_only_solution(self, margin: float | None = None) -> np.ndarray | None:
        if not self.free_bias or self.rows.n == 0:
            return None
        low, high = np.max(self.rows.ranks.gather("bias_range", margin), axis=0) * (1.0, -1.0)
        return self.bias_only_between(float(low), float(high))


@functools.cache
def distributed(kind: type[Objective]) -> type:
    """The subclass of this objective for distributed rows."""
    return type("Distributed" + kind.__name__, (DistributedObjective, kind), {})


class DistributedObjective(Objective):
    """Mixin that replaces sums over rows; it precedes the objective in the method resolution order."""

    def __init__(self, some: DistributedRows, free_bias: bool, kind: type[Objective], more: dict[str, Any]):
        Losses.__init__(self, some, None, None, free_bias)
        more = {name: None if name == "target" else value for name, value in more.items()}
        self.ranks, self._kind, self._more, self._sigma_sent = some.ranks, kind, more, None
        for name, value in {"p": 1.0, "sigma": 1.0, "primal": np.inf, "_multiple": 1.0, **more}.items():
            setattr(self, name, value)
        self.ranks.defer("objective", kind, more)

    def _prepare(self) -> None:
        self.w = np.zeros(self.d)
        self.y = self.z = self.dz = self.u = self.c = None
        self._ready = True

    def _send_parameters(self) -> None:
        """Send parameters that the solver has changed to the blocks."""
        if self._sigma_sent != self.sigma:  # type: ignore[attr-defined]
            self._sigma_sent = self.sigma  # type: ignore[attr-defined]
            self.ranks.defer("set", "sigma", self.sigma)  # type: ignore[attr-defined]

    def set_point(self, w: np.ndarray) -> None:
        if not self._ready:
            self._prepare()
        self.w[:] = w
        self.ranks.defer("set_point", self.w.copy())

    def step(self, t: float, p: np.ndarray) -> None:
        self.w += t * p
        self.ranks.defer("step", t)

    def sums(self) -> list[float]:
        self._send_parameters()
        return self.ranks.sum("sums").tolist()

    def loss_and_slope(self) -> tuple[float, np.ndarray]:
        self._send_parameters()
        if not self.free_bias:
            sums, g = self.ranks.sum("state")
            return self._set_sums(sums.tolist()), g
        sums, self._sides, self.by_side = self.ranks.sum("state_by_side")
        return self._set_sums(sums.tolist()), self.by_side.sum(axis=0)

    def sides(self) -> tuple[float, float]:
        first, second = self._sides.tolist()
        return first, second

    def line_search(self, p: np.ndarray) -> float:
        if not self.piecewise_quadratic:
            return super().line_search(p)
        self.rows.margins(p, None, None)
        self._send_parameters()
        inner = self.regular(p)
        return search(functools.partial(self.ranks.sum, "breakpoints"), float(self.w @ inner), float(p @ inner))

    def gradient_at_zero(self) -> float:
        g = self.ranks.sum("gradient_at_zero")
        return float(np.sqrt(g @ g))

    def no_dual_point(self) -> Any:
        return None

    def dual_point(self) -> Any:
        self.ranks.defer("keep_dual_point", self._multiple)  # type: ignore[attr-defined]
        return KeptDualPoint()

    def gradient_on_pieces(self) -> np.ndarray:
        self._send_parameters()
        return self.ranks.sum("losses", "gradient_on_pieces") + self.regular(self.w)


def _summed(name: str) -> Any:
    def method(self: DistributedObjective, *arguments: Any) -> Any:
        self._send_parameters()
        return self.ranks.sum("losses", name, *arguments)

    return method


def _sent(name: str) -> Any:
    def method(self: DistributedObjective, *arguments: Any) -> None:
        self.ranks.defer("losses", name, *arguments)

    return method


# methods of the losses whose results are summed over the blocks
SUMMED = (
    "along", "gram", "part_of_hessian", "multiplied_sums", "value_at_zero", "edge", "fitting_sums",
)  # fmt: skip
# methods without a result, which change the state of the rows
SENT = ("start_multipliers", "accept")
for _name in SUMMED:
    setattr(DistributedObjective, _name, _summed(_name))
for _name in SENT:
    setattr(DistributedObjective, _name, _sent(_name))
