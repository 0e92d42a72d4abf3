"""The rows of one partition and the state of a run on them, held by a rank.  Independent of Spark.

A block executes calls in order.  A call is the name of a method and its arguments, scalars and vectors of length d.
Losses are objectives of objectives/ over the block's rows; their w stays 0, so that they contain no regulariser.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.dataset import Dataset
from svmtool.data.dense import DenseRows, from_csr
from svmtool.data.labels import first_appearance
from svmtool.data.replicated import RepeatedRows
from svmtool.data.row_storage import Rows
from svmtool.distributed.certifier import BlockCertifier
from svmtool.distributed.line_search import Breakpoints
from svmtool.errors import SvmtoolError
from svmtool.objectives.base import Objective

MAX_DIFFERENT_LABELS = 10000  # different labels of a classification


class TwoClasses:
    """Rows of one label (+1) against all others (-1), with C_i of both signs and the target of all rows (None: 1)."""

    certifier = BlockCertifier

    def __init__(self, label: int, positive: float, negative: float, target: float | None = None):
        self.label, self.positive, self.negative, self.target = label, positive, negative, target

    def terms(self, data: Rows, labels: np.ndarray, weights: np.ndarray | float, rank: int) -> tuple:
        """Rows, signs y, costs and targets (f8[n] or None), without rows of cost 0; weights > 0 multiply C."""
        own = np.trunc(labels) == self.label
        cost = weights * np.where(own, self.positive, self.negative)
        if min(self.positive, self.negative) <= 0.0:
            used = np.flatnonzero(cost > 0.0)
            data, own, cost = data.take(used), own[used], cost[used]
        target = None if self.target is None else np.full(data.n, self.target)
        return data, np.where(own, 1.0, -1.0), cost, target


class Tube:
    """Each row twice, as the two sides of a tube label +- eps; see training/reductions/regression.py."""

    certifier = BlockCertifier

    def __init__(self, C: float, eps: float):
        self.C, self.eps = C, eps

    def terms(self, data: Rows, labels: np.ndarray, weights: np.ndarray | float, rank: int) -> tuple:
        targets = np.concatenate((labels - self.eps, -labels - self.eps))
        signs = np.repeat((1.0, -1.0), data.n)
        return RepeatedRows(data, 2), signs, np.tile(weights * np.full(data.n, self.C), 2), targets


class Block:
    """The rows of one partition.  Results of methods are summed over the blocks unless marked "of this block".

    table: consumed.  dense_below: up to this many features rows may be dense; see from_csr.  rank: the partition.
    """

    def __init__(self, table: Dataset, dense_below: int, rank: int = 0):
        self._all_labels, self._dense_below, self._rank = np.asarray(table.labels, np.float64), dense_below, rank
        self._labels = self._all_labels  # of the rows in use
        self._used: np.ndarray | None = None  # the rows in use; None: all
        self._all_weights: np.ndarray | None = None  # of all rows; None: all 1
        self._facts = {
            "n": len(table),
            "nnz": len(table.values),
            "features": table.n_features,
            "largest": max(float(table.values.max(initial=0.0)), -float(table.values.min(initial=0.0))),
            "label": float(np.abs(self._all_labels).max(initial=0.0)),
        }
        self._fold: np.ndarray | None = None  # of each row, in a cross-validation
        self._held_out = -1  # the fold whose rows are not in use
        # n_features is right unless another block has more, and then the layout is made again
        self._whole = from_csr(table.indptr, table.indices, table.values, table.n_features, -1.0, dense_below)
        self._active_rows = self._whole
        self._o: Any = None
        self._dual_point: np.ndarray | None = None
        self._breakpoints: Breakpoints | None = None  # along the current direction

    def run(self, calls: list[tuple[str, tuple]]) -> Any:
        """Execute the calls in order; returns the result of the last one."""
        result = None
        for name, arguments in calls:
            result = getattr(self, name)(*arguments)
        return result

    # Rows

    def facts(self) -> dict[str, Any]:
        """n and about nnz of the rows in use; features, max |value| and max |label| of all rows; of this block."""
        n, whole = len(self._labels), self._facts
        return {**whole, "n": n, "nnz": whole["nnz"] * n // max(whole["n"], 1)}

    def labels(self) -> np.ndarray:
        """Labels of all rows, of this block."""
        return self._all_labels

    def largest_square(self, bias: float) -> float:
        """max |x_i|^2 with the bias feature, of this block."""
        norms = self._whole.without_bias().square_norms()
        return float(np.max(norms, initial=0.0)) + (bias * bias if bias >= 0.0 and len(norms) else 0.0)

    def set_folds(self, fold: np.ndarray, starts: np.ndarray) -> None:
        """Set folds: fold i4[n] of each row of all ranks; starts: the index of each rank's first row, then n."""
        self._fold = fold[starts[self._rank] : starts[self._rank + 1]]

    def hold_out(self, k: int) -> None:
        """Leave out the rows of fold k from now on."""
        self._held_out = k
        self._select_rows()

    def set_weights(self, weights: np.ndarray, starts: np.ndarray) -> None:
        """Set weights f8[n], which multiply C, for all rows of all ranks; starts: see `set_folds`."""
        self._all_weights = weights[starts[self._rank] : starts[self._rank + 1]]
        self._select_rows()

    def _select_rows(self) -> None:
        """Find the rows in use: neither held out nor of weight 0."""
        used = np.ones(len(self._all_labels), bool) if self._held_out < 0 else self._fold != self._held_out
        if self._all_weights is not None:
            used &= self._all_weights > 0.0
        self._used = np.flatnonzero(used)
        self._labels = self._all_labels[used]

    @property
    def _weights(self) -> np.ndarray | None:
        """Weights of the rows in use."""
        return None if self._all_weights is None else self._all_weights[self._used]

    def scores(self, W: np.ndarray) -> np.ndarray:
        """x.w of the rows held out for each column w of W, f8[m, columns], of this block."""
        outside = self._whole.take(np.flatnonzero(self._fold == self._held_out))
        found = np.empty((W.shape[1], outside.n))
        for w, scores in zip(np.ascontiguousarray(W.T), found, strict=True):
            outside.margins(w, np.ones(outside.n), scores)
        return np.ascontiguousarray(found.T)

    def classes(self) -> tuple[list[float], list[int]]:
        """The different labels in order of appearance, and the number of rows of each; of this block."""
        found, first, counts = np.unique(self._labels, return_index=True, return_counts=True)
        if len(found) > MAX_DIFFERENT_LABELS:
            raise SvmtoolError(f"more than {MAX_DIFFERENT_LABELS} different labels: is this a regression (-s 11)?")
        order = np.argsort(first)
        return found[order].tolist(), counts[order].tolist()

    def set_layout(self, n_features: int, bias: float) -> float:
        """Store the rows with `n_features` features in the faster layout; returns its `gram_entries`, of this block."""
        laid = self._whole.without_bias()
        if isinstance(laid, DenseRows) and n_features == laid.n_features:
            self._whole = DenseRows(laid.X, bias)
        else:
            csr: Rows = laid.as_csr()
            self._whole = from_csr(*csr.csr_arrays, n_features, bias, self._dense_below)
        self._active_rows = self._whole if self._used is None else self._whole.take(self._used)
        return self._active_rows.gram_entries

    # The current problem

    def begin(self, spec: Any) -> int:
        """Start a problem; returns its number of rows."""
        self._o = self._dual_point = None
        self.rows, self.y, self.cost, self.target = spec.terms(
            self._active_rows, self._labels, 1.0 if self._all_weights is None else self._weights, self._rank
        )
        self._certifier = spec.certifier(self.rows, self.y, self.cost, self.target)
        return self.rows.n

    def class_statistics(self, own: list[int]) -> ClassStatistics:
        """The ClassStatistics of the rows in use, of this block."""
        sums = ClassStatistics(own)
        labels, number, _ = first_appearance(self._labels)
        sums.update(self._active_rows, labels, number, self._weights)
        return sums

    def bias_range(self, margin: float | None) -> list[float]:
        """The largest bias that a row with y = 1 needs, minus the smallest for y = -1; of this block."""
        aim = self.target if margin is None else np.full(self.rows.n, margin)
        ends = self.y if aim is None else self.y * aim
        positive = self.y > 0.0
        return [
            float(np.max(ends, where=positive, initial=-np.inf)),
            -float(np.min(ends, where=~positive, initial=np.inf)),
        ]

    # The objective of the current problem

    def objective(self, kind: type[Objective], more: dict[str, Any]) -> None:
        """Create the losses of this kind, at w = 0."""
        self._made_of = kind, more
        self._o = self._new(kind, more)

    def _new(self, kind: type[Objective], more: dict[str, Any]) -> Any:
        if self.target is not None and "target" in more:
            more = {**more, "target": self.target}
        o = kind(self.rows, self.y, self.cost, **more)
        o.set_point(np.zeros(o.d))
        return o

    def gradient_at_zero(self) -> np.ndarray:
        """The sum of the rows' gradients at w = 0; the current point is kept."""
        fresh = self._new(*self._made_of)
        fresh.sums()
        return self.rows.transpose_product(fresh.u)

    def set(self, name: str, value: Any) -> None:
        """Set a parameter of the losses."""
        setattr(self._o, name, value)

    def set_point(self, w: np.ndarray) -> None:
        self._o.z[:] = 0.0
        if np.any(w):
            self.rows.margins(w, self.y, self._o.z)

    def line(self, p: np.ndarray) -> None:
        """Compute the margins of direction p."""
        self._breakpoints = None
        self.rows.margins(p, self.y, self._o.dz)

    def step(self, t: float) -> None:
        self._o.step(t, np.zeros(self._o.d))

    def breakpoints(self, low: float, high: float) -> np.ndarray:
        """Breakpoints.sums between low and high; the breakpoints are cached for the current direction."""
        found, o = self._breakpoints, self._o
        if found is None or not found.low <= low < high <= found.high:
            found = self._breakpoints = Breakpoints(o.z, o.dz, o.cost, o.breakpoint_terms(), low, high)
        return found.sums(low, high)

    def sums(self) -> np.ndarray:
        sums = self._o.sums()
        self._o._set_sums(sums)  # updates of the Gram matrix need the changes
        return np.array(sums)

    def product(self, name: str, of: str, *arguments: np.ndarray) -> np.ndarray:
        """Call a method of the rows with the slopes (of: u) or curvatures (c) of the losses."""
        return getattr(self.rows, name)(getattr(self._o, of), *arguments)

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """`sums`, and sum_i u_i x_i."""
        return self.sums(), self.rows.transpose_product(self._o.u)

    def state_by_side(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`sums`, `sides`, and sum_i u_i x_i over the rows with y = 1 and over the others, f8[2, d]."""
        return self.sums(), np.array(self._o.sides()), self.rows.sums_by_side(self._o.u, self.y)

    def losses(self, name: str, *arguments: Any) -> Any:
        """Call a method of the losses; lists and tuples become arrays, so that results can be summed."""
        result = getattr(self._o, name)(*arguments)
        return np.array(result) if isinstance(result, (list, tuple)) else result

    def keep_dual_point(self, multiple: float) -> None:
        """Keep the current slopes as a dual point for the certifier."""
        self._o._multiple = multiple
        self._dual_point = self._o.dual_point()

    # The certificate

    def certifier(self, name: str, *arguments: Any) -> Any:
        return getattr(self._certifier, name)(*arguments)

    def certify_kept(self) -> None:
        self._certifier.candidate = self._dual_point
