"""The objectives of objectives/ for partitioned rows.

`distributed(SquaredHinge)` is a SquaredHinge: what follows from vectors of the feature space is the code that runs in
memory.  Only what is a sum over rows is asked of the blocks; vectors of length n (y, z, u, c ..) are None here.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from svmtool.data import rows
from svmtool.data.blocks import Rows
from svmtool.data.replicated import RepeatedRows
from svmtool.distributed.collective import Collective
from svmtool.distributed.line_search import search
from svmtool.objectives.base import Objective
from svmtool.objectives.row_losses import Losses
from svmtool.objectives.task import Task

SAMPLE_VALUES = 1 << 22  # non-zeros of a sample of the rows, which comes to the driver, at most


class DistributedRows(Rows):
    """Rows that ranks hold; passes over them leave vectors of length n where the rows are."""

    distributed = True

    def __init__(self, ranks: Collective, n: int, plain: int, nnz: int, bias: float, gram_entries: float):
        self.ranks, self.n, self.nnz, self.bias = ranks, n, nnz, bias
        self.d, self.gram_entries = plain + (bias >= 0), gram_entries

    def margins(self, w: np.ndarray, y: None, z: None) -> None:
        """The margins along w, for the line search and the step."""
        self.ranks.defer("line", w.copy())

    def transpose_product(self, u: None) -> np.ndarray:
        """sum_i u_i x_i for the present slopes u, length d."""
        return self.ranks.sum("slopes_product")

    def curvature_product(self, c: None, v: np.ndarray) -> np.ndarray:
        """sum_i c_i (x_i.v) x_i for the present curvatures c, length d."""
        return self.ranks.sum("curvature_product", v)

    def diagonal(self, c: None) -> np.ndarray:
        """sum_i c_i x_ij^2 for the present curvatures c, length d."""
        return self.ranks.sum("diagonal")

    def serve_several(self) -> None:
        """One problem after the other is solved here."""


class KeptDualPoint:
    """A dual point that the blocks keep: the last one of which the objective was asked for."""


class DistributedTask(Task):
    """A task whose rows are distributed.  `n` of them take part, with costs out of `costs`; y, cost, target: None, or
    what says no more than solvers examine."""

    __slots__ = ("_made", "ranks")

    def __init__(self, ranks: Collective, some: DistributedRows, costs: np.ndarray, free_bias: bool, **more: Any):
        super().__init__(some, None, costs, free_bias, **more)
        self.ranks, self._made = ranks, None

    @property
    def weights(self) -> np.ndarray | None:
        """Where the objective is that was made last; None before its first step."""
        return None if self._made is None or not self._made._ready else self._made.w

    def objective(self, kind: type[Losses], **more: Any) -> Any:
        self._made = distributed(kind)(self.ranks, self.rows, self.free_bias, kind, more)
        return self._made

    def one_sided_answer(self, margin: float | None = None) -> np.ndarray | None:
        if not self.free_bias or self.rows.n == 0:
            return None
        low, high = np.max(self.ranks.gather("ends", margin), axis=0) * (1.0, -1.0)
        return self.answer_between(float(low), float(high))


@functools.cache
def distributed(kind: type[Objective]) -> type:
    """The class of objectives of this kind whose rows are distributed."""
    return type("DistributedReduction" + kind.__name__, (DistributedObjective, kind), {})


class DistributedObjective(Objective):
    """What all kinds share; it comes before the kind in the order of classes."""

    def __init__(
        self, ranks: Collective, some: DistributedRows, free_bias: bool, kind: type[Objective], more: dict[str, Any]
    ):  # fmt: skip
        Losses.__init__(self, some, None, None, free_bias)
        more = {name: None if name == "target" else value for name, value in more.items()}
        self.ranks, self._kind, self._more, self._sent = ranks, kind, more, {}
        for name, value in {"p": 1.0, "sigma": 1.0, "primal": np.inf, "_multiple": 1.0, **more}.items():
            setattr(self, name, value)
        ranks.defer("objective", kind, more)

    def _prepare(self) -> None:
        self.w = np.zeros(self.d)
        self.y = self.z = self.dz = self.u = self.c = None
        self._ready = True

    def _settle(self) -> None:
        """Tell the blocks of numbers that the solver has set."""
        if self._sent.get("sigma") != self.sigma:  # type: ignore[attr-defined]
            self._sent["sigma"] = self.sigma  # type: ignore[attr-defined]
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
        self._settle()
        return self.ranks.sum("sums").tolist()

    def loss_and_slope(self) -> tuple[float, np.ndarray]:
        self._settle()
        if not self.free_bias:
            sums, g = self.ranks.sum("state")
            return self._take(sums.tolist()), g
        sums, self._sides, self.by_side = self.ranks.sum("state_by_side")
        return self._take(sums.tolist()), self.by_side.sum(axis=0)

    def sides(self) -> list[float]:
        return self._sides.tolist()

    def line_search(self, p: np.ndarray) -> float:
        if not self.straight:
            return super().line_search(p)
        self.rows.margins(p, None, None)
        self._settle()
        inner = self.regular(p)
        return search(functools.partial(self.ranks.sum, "breakpoints"), float(self.w @ inner), float(p @ inner))

    def gradient_at_zero(self) -> float:
        g = self.ranks.sum("gradient_at_zero")
        return float(np.sqrt(g @ g))

    def sample(self, group: int, seed: int) -> Any:
        """See SquaredHinge; of rows so many that a sample would be large, fewer."""
        parts = self.ranks.gather("draw", max(group, self.rows.nnz // SAMPLE_VALUES), seed)
        indptr = np.zeros(1, np.int64)
        for part in parts:
            indptr = np.concatenate((indptr, part[0][1:] + indptr[-1]))
        indices, values = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        y, cost, target = (
            None if parts[0][k] is None else np.concatenate([part[k] for part in parts], axis=1) for k in (3, 4, 5)
        )
        some: Rows = rows.from_csr(indptr, indices, values, self.rows.plain, self.rows.bias, self.d)
        if len(y) > 1:
            some = RepeatedRows(some, len(y))
        more = dict(self._more)
        if target is not None and "target" in more:
            more["target"] = target.ravel()
        return self._kind(some, y.ravel(), cost.ravel(), free_bias=self.free_bias, **more)

    def no_dual_point(self) -> Any:
        return None

    def dual_point(self) -> Any:
        self.ranks.defer("keep_dual_point", self._multiple)  # type: ignore[attr-defined]
        return KeptDualPoint()

    def gradient_on_pieces(self) -> np.ndarray:
        self._settle()
        return self.ranks.sum("losses", "gradient_on_pieces") + self.regular(self.w)


def _summed(name: str) -> Any:
    def method(self: DistributedObjective, *arguments: Any) -> Any:
        self._settle()
        return self.ranks.sum("losses", name, *arguments)

    return method


def _sent(name: str) -> Any:
    def method(self: DistributedObjective, *arguments: Any) -> None:
        self.ranks.defer("losses", name, *arguments)

    return method


# methods of the losses, by what their answers are: sums over the rows, ...
SUMMED = (
    "along", "gram", "part_of_hessian", "multiplied_sums", "value_at_zero", "e_loss", "cost_gram", "cost_diagonal",
    "cost_product", "bend", "bent", "step_rows", "sizes", "edge", "fitting_sums",
)  # fmt: skip
# ... or nothing, for they change what is held for each row
SENT = (
    "begin", "multiply", "add_point", "forget_points", "go_to_mean", "go_back", "start_multipliers",
    "fill_multipliers", "accept",
)  # fmt: skip
for _name in SUMMED:
    setattr(DistributedObjective, _name, _summed(_name))
for _name in SENT:
    setattr(DistributedObjective, _name, _sent(_name))
