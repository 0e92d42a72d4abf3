"""-s 21 for partitioned rows: the one-class SVM as a hinge problem with a free bias and an additional row.

    P(w, rho) = 1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - k rho,   k = nu sum_i c_i

With b = -rho the losses are hinges with targets 0, and -k rho = k max(0, T + b) - k T for rho <= T: the hinge of one
row of label -1 without features, with cost k and target T.  The augmented Lagrangian of -s 31 solves this problem; T is
increased if rho reaches it.  Values, bounds and gaps are those of objectives/one_class.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import registry
from svmtool.certify.linear import Certificate
from svmtool.certify.rounding import Products
from svmtool.data.csr import CsrRows
from svmtool.data.row_storage import Rows
from svmtool.distributed.collective import Collective
from svmtool.distributed.objective import DistributedTask
from svmtool.distributed.reductions import DistributedReduction
from svmtool.limits import StopFlag, until
from svmtool.models.linear import LinearModel
from svmtool.objectives.one_class import below, gap_of, lowest_on, scale_of_sums
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.training.reductions.one_class import OneClass

# Measured to a gap of 1e-4 at nu = 0.5, 0.1 and 0.02, in two partitions of up to 5000 rows of a9a, australian, madelon,
# splice, mushrooms, w8a, cod-rna, kdd99, magic04, dorothea, arcene, farm-ads, imdb.tfidf and polarity2.bigram, all
# certified.  Passes relative to the values below, mean and worst: GAP_SHARE 0.25, 0.9: 1.05, 2.2; 0.92, 1.00.
# T_START 1.1, 8: 0.94, 1.25; 1.02, 2.3.  T_GROWTH 2, 64 and RHO_BINS 64, 4096: 1.00, 1.00.
# MIN_BINNED_ROWS 64: 1.00, 1.02.
SOLVER = 31  # -s, with the hinge loss
GAP_SHARE = 0.5  # the solver's target relative to the requested gap: its rho differs from the certifier's
T_START, T_GROWTH = 2.0, 8.0  # T starts at this multiple of the mean x.w at equal multipliers and grows by this factor
RHO_BINS, MIN_BINNED_ROWS = 512, 4096  # bins of the search for rho, and the number of rows below which they are sorted


class OneClassRows:
    """Rows of label +1 and target 0; with k > 0 rank 0 has one more row of label -1, cost k and target T."""

    def __init__(self, k: float = 0.0, target: float = 1.0):
        self.k, self.target = k, target

    def terms(self, data: Rows, labels: np.ndarray, weights: np.ndarray | float, rank: int) -> tuple:
        n, more = data.n, int(rank == 0 and self.k > 0.0)
        if more:
            csr = data.as_csr()
            data = CsrRows(np.append(csr.indptr, csr.indptr[-1]), csr.indices, csr.values, csr.n_features, csr.bias)
        cost = np.append(weights * np.ones(n), [self.k] * more)
        return data, np.append(np.ones(n), [-1.0] * more), cost, np.append(np.zeros(n), [self.target] * more)

    @staticmethod
    def certifier(rows: Rows, y: np.ndarray, cost: np.ndarray, target: np.ndarray) -> OneClassBlockCertifier:
        return OneClassBlockCertifier(rows, int(np.count_nonzero(y > 0.0)), cost)


class OneClassBlockCertifier:
    """Sums over the first n rows of one block, which are data; vectors w have length d and w[-1] = 0."""

    def __init__(self, rows: Rows, n: int, cost: np.ndarray):
        self.rows, self.n, self.cost = rows, n, cost[:n]
        self.candidate: np.ndarray | None = None  # a dual point

    @property
    def _a(self) -> np.ndarray:
        return np.zeros(self.n) if self.candidate is None else np.clip(self.candidate[: self.n], 0.0, self.cost)

    def _margins(self, w: np.ndarray) -> np.ndarray:
        z = np.empty(self.rows.n)
        self.rows.margins(w, np.ones(self.rows.n), z)
        return z[: self.n]

    def sums(self) -> np.ndarray:
        """The sums of a, c and c |x|^2."""
        squares = self.rows.without_bias().square_norms()[: self.n]
        return np.array([float(np.sum(self._a)), float(np.sum(self.cost)), float(self.cost @ squares)])

    def product(self, p: float, q: float) -> np.ndarray:
        """sum_i (p a_i + q c_i) x_i, length d."""
        whole = np.zeros(self.rows.n)
        whole[: self.n] = p * self._a + q * self.cost
        v = self.rows.transpose_product(whole)
        v[-1] = 0.0
        return v

    def loss(self, w: np.ndarray, rho: float) -> float:
        """sum_i c_i max(0, rho - x_i.w)."""
        return float(self.cost @ np.maximum(rho - self._margins(w), 0.0))

    def violation_ends(self, v: np.ndarray) -> tuple[float, float]:
        """max x_i.v over a_i > 0 and max -x_i.v over a_i < c_i, of this block."""
        z, a = self._margins(v), self._a
        return (
            float(np.max(z, where=a > 0.0, initial=-np.inf)),
            float(np.max(-z, where=a < self.cost, initial=-np.inf)),
        )

    def lowest_on(self, w: np.ndarray, rho: float) -> float:
        """`lowest_on` of this block's rows."""
        z, rest, apart = Products(self.rows).margins(w, np.ones(self.rows.n))
        return lowest_on((z + rest)[: self.n], apart[: self.n], rho)

    def start_search(self, w: np.ndarray) -> tuple[float, float]:
        """Start the search for rho over all rows; returns max -x_i.w and max x_i.w of this block."""
        self._in_search = self._margins(w), self.cost
        z = self._in_search[0]
        return float(np.max(-z, initial=-np.inf)), float(np.max(z, initial=-np.inf))

    def bins(self, low: float, step: float) -> np.ndarray:
        """Sums of c and c x.w and the number of rows in each bin of the search, f8[3, BINS]."""
        z, cost = self._in_search
        self._bin = np.clip((z - low) / step, 0, RHO_BINS - 1).astype(np.int64)
        return np.array([np.bincount(self._bin, by, RHO_BINS) for by in (cost, cost * z, np.ones(len(z)))])

    def narrow(self, k: int) -> None:
        """Restrict the search to bin k."""
        self._in_search = tuple(part[self._bin == k] for part in self._in_search)

    def in_search(self) -> tuple[np.ndarray, np.ndarray]:
        """x_i.w and c_i of the rows in the search, of this block."""
        return self._in_search


def best_rho(ranks: Collective, w: np.ndarray, k: float) -> tuple[float, float]:
    """The k-th smallest x_i.w, where row i counts c_i times, and the sum of the k smallest; 0 < k < sum c."""
    low, high = (np.max(ranks.gather("certifier", "start_search", w), axis=0) * (-1.0, 1.0)).tolist()
    before = total = 0.0
    while True:
        step = (high - low) / RHO_BINS
        if step > 0.0:
            cost, sums, count = ranks.sum("certifier", "bins", low, step)
            reached = before + np.cumsum(cost)
            chosen = min(int(np.searchsorted(reached, k * (1.0 - 1e-12))), RHO_BINS - 1)
            before += float(cost[:chosen].sum())
            total += float(sums[:chosen].sum())
            ranks.defer("certifier", "narrow", chosen)
            low, high = low + chosen * step, low + (chosen + 1) * step
        if step <= 1e-15 * max(abs(low), abs(high)) or count[chosen] <= MIN_BINNED_ROWS:
            break
    z, cost = (np.concatenate(parts) for parts in zip(*ranks.gather("certifier", "in_search"), strict=True))
    order = np.argsort(z)
    filled = before + np.cumsum(cost[order])
    last = min(int(np.searchsorted(filled, k * (1.0 - 1e-12))), len(z) - 1)
    some = order[:last]
    rho = float(z[order[last]])
    held = before + float(cost[some].sum())
    return rho, total + float(cost[some] @ z[some]) + (k - held) * rho


class Shifted(Monitor):
    """Monitor of a run whose objective is P + shift; scale: see gap_of."""

    shift = scale = 0.0

    def step(
        self, objective: float, bound: float, gap: float | None = None, weights: np.ndarray | None = None, **fields: Any
    ) -> base.Status | None:  # fmt: skip
        primal, dual = objective - self.shift, bound - self.shift
        return super().step(primal, dual, gap_of(primal, dual, self.scale), weights, **fields)


class DistributedOneClass(DistributedReduction, OneClass):
    """The problem of a one-class SVM; its solutions are w followed by rho."""

    bias = 1.0  # its weight is -rho

    def task(self, k: int) -> DistributedTask:
        """See Reduction; the additional row is left out."""
        return self._begin(OneClassRows(), np.ones(1), free_bias=True)

    def start_from(self, model: LinearModel) -> np.ndarray:
        return np.delete(super().start_from(model), self.rows.n_features, axis=0)  # of the bias feature

    @staticmethod
    def _negated(w: np.ndarray) -> np.ndarray:
        """Convert (w, rho) to (w, bias), or back."""
        w = w.copy()
        w[-1] *= -1.0
        return w

    decisions = solution_at = _negated

    def _solve(
        self, k: int, start: np.ndarray | None, report: Callable[..., None] | None, stop: StopFlag,
        before: Result | None = None,
    ) -> Result:  # fmt: skip
        self.task(k)
        _, total, squares = self.ranks.sum("certifier", "sums").tolist()
        self.fills = fills = self.settings.problem.nu * total
        d = self.rows.d
        if not self.rows.n or fills <= 0.0 or fills >= total * (1.0 - 1e-12):
            w, rho = np.zeros(d), -np.inf if self.rows.n else math.copysign(math.nan, -1.0)
            if self.rows.n and fills > 0.0:
                w, rho = self.ranks.sum("certifier", "product", 0.0, 1.0), np.inf
            w[-1] = rho
            monitor = self._monitor(report, stop)
            value = -0.5 * float(w[:-1] @ w[:-1])
            monitor.step(value, value, gap_of(value, value, 0.0), violation=0.0, active=0)
            result = Result(w, base.OPTIMAL, 1, monitor.history)
            self._look(result)
            return result
        mean = self.ranks.sum("certifier", "product", 0.0, fills / total)
        T = T_START * float(mean @ mean) / fills
        if not T > 0.0:
            T = math.sqrt(squares / total) or 1.0
        gap = self.settings.target if self.eps is None else self.rule(0).gap
        monitor = Shifted(GAP_SHARE * (gap or 0.0), self.settings.stopping.max_iter, sink=report, stop=stop)
        monitor.uses(registry.find(SOLVER))
        monitor.scale = scale_of_sums(squares, total, fills)
        w = self._start_of(k, start)
        if before is not None:
            monitor.history, monitor.iterations, w = before.history, before.history[-1]["iteration"] + 1, before.w
        w = self._negated(w) if w is not None and np.all(np.isfinite(w)) else None
        while True:
            monitor.shift = fills * T
            costs, target = np.array([fills, 1.0]), np.full(1, T)
            task = self._begin(OneClassRows(fills, T), costs, free_bias=True, target=target, p=1.0)
            with until(monitor.ended):
                result = registry.entry(registry.find(SOLVER))(task, monitor, Rule(), w, 1)
            w = result.w
            if -w[-1] < T * (1.0 - 1e-9) or monitor.ended():
                break
            T *= T_GROWTH
        w = w.copy()
        w[-1] = 0.0
        w[-1], smallest = best_rho(self.ranks, w, fills)
        square, lead = float(w[:-1] @ w[:-1]), max(smallest, 0.0)
        result.w = w = w * (lead / square if square > 0.0 else 1.0)  # the best multiple
        if np.any(w[:-1]):
            rho, v = float(w[-1]), np.append(w[:-1], 0.0)
            w[-1] = below(rho, min(self.ranks.gather("certifier", "lowest_on", v, rho)))
        self._look(result)
        return result

    def certify(self, k: int, result: Result) -> Certificate:
        """Compute the values of OneClassCertifier."""
        ranks, fills, w, rho = self.ranks, self.fills, result.w.copy(), float(result.w[-1])
        w[-1] = 0.0
        if not self.rows.n:
            return Certificate(0.0, 0.0, 0.0)
        if result.alpha is not None:
            ranks.defer("certify_kept")
        held, total, squares = ranks.sum("certifier", "sums").tolist()
        p, q = 1.0, 0.0
        if held > fills:
            p = fills / held
        elif held < fills:
            p = (total - fills) / (total - held)
            q = 1.0 - p
        v = ranks.sum("certifier", "product", p, q)
        linear = ranks.sum("certifier", "loss", w, rho) - fills * rho if np.isfinite(rho) else -float(w @ v)
        highest, lowest = np.max(ranks.gather("certifier", "violation_ends", v), axis=0).tolist()
        violation = max(highest + lowest, 0.0) if np.isfinite(highest + lowest) else 0.0
        whole = Certificate(0.5 * float(w @ w) + linear, 0.0 - 0.5 * float(v @ v), violation)
        whole.gap = gap_of(whole.primal, whole.dual, scale_of_sums(squares, total, fills))
        return whole
