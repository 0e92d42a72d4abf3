"""Small pairs of classes of a training set, solved many at a time: their kernel values and results.

The kernel values of a class with the following classes are computed once, in double precision, and used for one pair
after the other; the blocks within classes are kept.  fused_pairs.py solves the pairs.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.compiled.loops.kernel import class_pair_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.row_storage import draw_rows
from svmtool.kernels.problems import KernelProblem, Norms, Points
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.kernels.tiles import Double, Tiles, tiles_of
from svmtool.models.kernel import KernelModel
from svmtool.numbers import distinct
from svmtool.tolerances import MIB
from svmtool.training.kernel.dataset import ClassPairs
from svmtool.training.kernel.fit import Fitting, Solved, packed
from svmtool.training.kernel.verify import certified

MAX_PAIR_ROWS = 512  # of a pair; on 16 sets of 3 to 77 classes ten were faster, up to 6 times, six about equal
# If a single pair also uses kernel values in double precision: with 2048 in all cases two such sets took 0.4 and 0.6 of
# the time, three others 1.1 to 1.7 times as long.
MAX_DOUBLE_ROWS = 2048
STRIP_VALUES = 1 << 20  # kernel values between a class and some others computed at a time: 8 MB
METHOD = "pairs of classes, many in one compiled call"
MEMORY_SHARE = 0.5  # share of -m for the blocks within classes
CHECKED_VALUES = 1 << 20  # kernel values and decision values that are computed a second time, ...
MIN_CHECKED_ROWS = 64  # ... but of at least this many rows
# Costs of certifying, in multiplications.  On 13 sets (3 to 26 classes, 10 to 617 features, 180 to 1,500 rows) one took
# 0.15 to 0.52 ns; `exact` is chosen on all, and certifying pairs alone took 1.3 to 2.9 times as long.
VALUE_COST = 10.0  # of a kernel value besides those of its features
PAIR_COST = float(1 << 19)  # of one pair besides its kernel values
CHECK_SEED = 1


class Batch(ABC):
    """The pairs of one training set that are solved together.

    partners  for each class the following classes with which it has a pair of few rows
    done      pairs solved, by their place in the order of `combinations`
    a, F      f8 (count - 1, n): alpha and -y (Qa + p), arranged as the coefficients of a KernelModel
    out       f8 (pairs, FIELDS): see the loop
    """

    def __init__(self, pairs: ClassPairs, fitting: Fitting):
        self.points, self.ends, self.costs, self.problem = pairs.points, pairs.ends, pairs.class_costs, pairs.problem
        self.fitting, self.labels, self.s = fitting, pairs.labels, fitting.settings
        s = self.s
        self.count, self.sizes, self.pairs = len(self.ends) - 1, np.diff(self.ends), pairs.pairs
        self.place = {pair: k for k, pair in enumerate(self.pairs)}
        self.norms: Any = None if self.points.rows is None else self.points.rows.square_norms()
        self.nu = s.problem.nu if s.row.word == "nu_svc" else 0.0
        self.partners = self._partners()
        self.done: list[int] = []
        self.largest = np.zeros(self.count)  # |K(x, x)| of a class
        if any(self.partners):
            shape = self.count - 1, self.points.n
            self.a, self.F = np.zeros(shape), np.zeros(shape)
            self.tiles = tiles_of(self.points.rows, self.points.kernel, self.points.matrix, np.float64)
            self.out = np.zeros((len(self.pairs), loops.PAIR_FIELDS))

    def _partners(self) -> list[list[int]]:
        """Pairs of few rows whose classes' blocks fit into the share of -m, smallest classes first."""
        order = np.argsort(self.sizes, kind="stable")
        fit = np.cumsum(8.0 * self.sizes[order].astype(float) ** 2) <= MEMORY_SHARE * self.s.run.cache_mb * MIB
        few = np.zeros(self.count, bool)
        few[order[fit]] = True
        total = self.sizes[:, None] + self.sizes
        return [
            [j for j in range(i + 1, self.count) if few[i] and few[j] and total[i, j] <= self.max_rows]
            for i in range(self.count)
        ]

    @cached_property
    def max_rows(self) -> int:
        """Rows of a pair up to which it is solved together with others."""
        if self.fitting.together is not None:
            return self.fitting.together
        if np.sort(self.sizes)[-2:].sum() > MAX_PAIR_ROWS:
            tiles = tiles_of(self.points.rows, self.points.kernel, self.points.matrix)
            return MAX_DOUBLE_ROWS if isinstance(tiles, Double) else MAX_PAIR_ROWS
        return MAX_PAIR_ROWS

    @property
    def why(self) -> str:
        """Why these pairs are solved together, for --explain and the solver log."""
        return f"at most {self.max_rows} rows, and -m has space for their kernel values"

    def run(self) -> None:
        """Solve the pairs until the run ends."""
        stop, lock = self.fitting.stop, threading.Lock()
        own: dict[int, np.ndarray] = {}
        parts: dict[int, Tiles] = {}
        used = sorted({c for i, some in enumerate(self.partners) for c in (i, *some) if some})

        def block(b: int) -> None:
            c = used[b]
            parts[c] = self.tiles.take(np.arange(self.ends[c], self.ends[c + 1]))
            own[c] = values_between(parts[c], parts[c])
            self.largest[c] = np.abs(np.diag(own[c])).max()

        def row(i: int) -> None:
            for some in packed(self.partners[i], lambda j: float(self.sizes[i] * self.sizes[j]), STRIP_VALUES):
                if stop.ended():
                    return
                finished = self._strip(i, some, parts[i], own)
                with lock:
                    self.done += finished
                    self._report(finished)

        run_blocks(block, len(used), short=True)
        run_blocks(row, self.count, short=True)
        self.done.sort()

    def _report(self, finished: list[int]) -> None:
        """Report one record for each finished pair."""
        if self.fitting.report is None:
            return
        seconds = time.perf_counter() - self.fitting.started
        for k in finished:
            _, rounds, value, gap, relative, violation, _, _ = self.out[k].tolist()
            self.fitting.report(
                seconds=seconds, iteration=int(rounds), objective=gap - value, bound=-value, gap=relative,
                violation=violation, label=self.labels[k], method=METHOD, why=self.why,
            )  # fmt: skip

    def _kernel(self, targets: Tiles, classes: list[int]) -> np.ndarray:
        """K f8 (targets, rows of `classes`)."""
        columns = np.concatenate([np.arange(self.ends[c], self.ends[c + 1]) for c in classes])
        return values_between(targets, self.tiles.take(columns))

    @abstractmethod
    def _strip(self, i: int, some: list[int], part: Tiles, own: dict[int, np.ndarray]) -> list[int]:
        """Solve the pairs of class i, whose rows are `part`, with the classes `some`, until the run ends.

        own: the blocks within classes.  Returns the pairs solved.
        """

    @abstractmethod
    def solved(self, k: int) -> Solved | None:
        """The verified result of pair k; None if it must be solved alone."""

    def _problem(self, k: int) -> Any:
        """Pair k without its rows: a decision function needs only their number and norms."""
        if self.points.rows is None:
            return self._whole(k)
        norms = Norms(self.norms[np.r_[self._rows_of(k)]])
        return self.problem(Points(self.points.kernel, norms, None), k)

    def _whole(self, k: int) -> Any:
        """Pair k with its rows."""
        return self.problem(self.points.take(np.r_[self._rows_of(k)]), k)

    def _alpha_of(self, k: int) -> np.ndarray:
        """alpha of pair k, f8[rows]."""
        (i, j), (mine, theirs) = self.pairs[k], self._rows_of(k)
        return np.concatenate((self.a[j - 1, mine], self.a[i, theirs]))

    def _gradient_of(self, k: int, F: np.ndarray) -> np.ndarray:
        """The gradient of pair k's programme, f8[rows], from F f8 (count - 1, n), arranged like self.F."""
        (i, j), (mine, theirs) = self.pairs[k], self._rows_of(k)
        return np.concatenate((-F[j - 1, mine], F[i, theirs]))

    def certified(self, k: int, problem: KernelProblem, result: KernelResult) -> tuple[DecisionFunction, Certificate]:
        """verify.certified for pair k, with its rows or without, from decision values of all pairs if that is fast."""
        if self._exact is None:
            return certified(self._whole(k), result)
        return certified(problem, result, exact=self._gradient_of(k, self._exact))

    @cached_property
    def _exact(self) -> np.ndarray | None:
        return exact(self)

    @cached_property
    def difference(self) -> tuple[float, str]:
        """The largest difference to svm-predict's decision values, relative to `_sizes`; a statement about a sample."""
        n = self.points.n
        if self.points.rows is None or not self.done:
            return 0.0, ""
        scores = _Scores(self)
        sampled = np.arange(n) if scores.at_once >= n else draw_rows(n, n // scores.at_once, CHECK_SEED)
        known = np.zeros(len(self.pairs), bool)
        known[self.done] = True
        size, worst = self._sizes(), 0.0
        for mine, ks, F in scores.of_classes(sampled):
            apart = np.abs(F - self.F[:, mine]).max(axis=1)
            some = known[ks] & (apart > 0.0)
            worst = max(worst, float(np.max(apart[some] / size[ks[some]], initial=0.0)))
        if np.isnan(worst):
            worst = np.inf
        return worst, f"decision values of {len(sampled)} of {n} rows computed again" if len(sampled) < n else ""

    def _sizes(self) -> np.ndarray:
        """Upper bounds of the sum of the sizes of the terms of a pair's decision values, f8[pairs]."""
        totals = np.add.reduceat(np.abs(self.a), self.ends[:-1], axis=1)  # of class c against the other of its column
        sizes = [(totals[j - 1, i] + totals[i, j]) * max(self.largest[i], self.largest[j]) for i, j in self.pairs]
        return np.array(sizes)

    def _rows_of(self, k: int) -> tuple[slice, slice]:
        """The rows of either class of pair k."""
        (i, j), ends = self.pairs[k], self.ends
        return slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])


def values_between(targets: Tiles, others: Tiles) -> np.ndarray:
    """K f8 (targets, others)."""
    K = np.empty((targets.n, others.n))
    others.fill(targets, 0, others.n, K)
    return K


def exact(batch: Batch, alone: float = PAIR_COST) -> np.ndarray | None:
    """Batch.F from the decision values of svm-predict; None if certifying the pairs one by one costs less.

    alone: multiplications that certifying one pair takes besides its kernel values.
    """
    n = batch.points.n
    if batch.points.rows is None:
        return batch.F
    scores, value = _Scores(batch), VALUE_COST + batch.points.rows.nnz / n
    rows = np.array([sum(batch.sizes[c] for c in batch.pairs[k]) for k in batch.done], float)
    if float(n) * scores.used * (batch.count - 1 + value) > float(np.sum(alone + rows**2 * value)):
        return None
    found = np.empty_like(batch.F)
    for first in range(0, n, scores.at_once):
        for mine, _, F in scores.of_classes(np.arange(first, min(first + scores.at_once, n))):
            found[:, mine] = F
    return found


class _Scores:
    """Decision values of all pairs by svm-predict's code.

    used: number of support vectors; at_once: rows of a block, which limits memory.
    """

    def __init__(self, batch: Batch):
        points, self.batch = batch.points, batch
        self.signs = np.ones((batch.count - 1, points.n))
        for c in range(batch.count):
            self.signs[:c, batch.ends[c] : batch.ends[c + 1]] = -1.0
        coef = self.signs * batch.a
        support = np.flatnonzero(np.any(coef != 0.0, axis=0))
        self.used, self.number = len(support), np.repeat(np.arange(batch.count), batch.sizes)
        self.at_once = max(MIN_CHECKED_ROWS, CHECKED_VALUES // max(self.used, len(batch.pairs)))
        vectors = points.rows.take(support).as_csr()
        self.scores = KernelModel(
            "c_svc", points.kernel, tuple(range(batch.count)), batch.count, np.zeros(len(batch.pairs)),
            np.ascontiguousarray(coef[:, support]),
            tuple(np.bincount(self.number[support], minlength=batch.count).tolist()),
            vectors.indptr, vectors.indices, vectors.values,
        ).scores  # fmt: skip

    def of_classes(self, sampled: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield for each class among the rows `sampled` (i8): these rows, its pairs, and Batch.F of both."""
        batch, p = self.batch, (0.0 if self.batch.nu else -1.0)
        rows = batch.points.rows.take(sampled).as_csr()
        decisions = np.empty((rows.n, len(batch.pairs)))
        self.scores.decide(rows, rows.n, decisions)
        for c in distinct(self.number[sampled]).tolist():
            at = np.flatnonzero(self.number[sampled] == c)
            ks = np.array([batch.place[min(c, d), max(c, d)] for d in range(batch.count) if d != c])
            yield sampled[at], ks, -decisions[np.ix_(at, ks)].T - p * self.signs[:, sampled[at]]
