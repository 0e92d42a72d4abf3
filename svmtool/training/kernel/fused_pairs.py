"""Solves small pairs of classes in one compiled call, because solving each alone would cost more than its steps.

The kernel values of a class with the following classes are computed once, in double precision, and used for one pair
after the other; the blocks within classes are kept.  All pairs are certified together (certify/pairs.py), with the
decision values of svm-predict's code.  If these are many, only those of a sample of rows are computed, and the largest
difference to the gradients, which are sums over the kernel values from the results alone, enters the gaps, as in
certify/kernel.py; all are computed if that would increase a gap by much: to certify pairs one by one took 1.3 to 2.9
times as long (13 sets, 3 to 26 classes).
Pairs that are worse than w = 0, with a gap above SLOW_MIN_GAP, are verified as single ones, and may get better
constants.  Pairs that are not accepted, and those that a limit on steps has left open, are solved alone: directly
(kernels/direct.py) where steps have cost as much as that does, which is also their limit here.
--max-iter counts checks of all variables, as for a single pair; pairs that it ends keep their verified results.
"""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from svmtool.certify import pairs as certifier
from svmtool.certify.kernel import MAX_WIDENING, MIN_LATE_ROWS, SEED
from svmtool.compiled.loops.kernel import class_pair_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.row_storage import draw_rows
from svmtool.kernels import direct
from svmtool.kernels.least_squares import direct_solution
from svmtool.kernels.problems import Points, floor_of, relative
from svmtool.kernels.results import KernelResult
from svmtool.kernels.tiles import Double, Tiles, tiles_of
from svmtool.params import Settings, tolerance
from svmtool.solvers.shared.base import INDEFINITE, ITERATIONS
from svmtool.tolerances import (
    CONFIRMED_GAP,
    MANY_VALUES,
    MIB,
    MIN_POSITIVE,
    ROUNDOFF_GAP,
    SLOW_MIN_GAP,
    VALUE_RTOL,
    VALUES_AT_ONCE,
)
from svmtool.training.kernel import verify
from svmtool.training.kernel.dataset import ClassPairs
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.solutions import AT_OPTIMUM, OPEN, PROVEN, Solutions, Solved

MAX_PAIR_ROWS = 512  # of a pair; on 16 sets of 3 to 77 classes ten were faster, up to 6 times, six about equal
# If a single pair also uses kernel values in double precision: with 2048 in all cases two such sets took 0.4 and 0.6 of
# the time, three others 1.1 to 1.7 times as long.
MAX_DOUBLE_ROWS = 2048
METHOD = "pairs of classes, many in one compiled call"
MEMORY_SHARE = 0.5  # share of -m for the blocks within classes


class Batch(ABC):
    """The pairs of one training set that are solved together.

    partners    for each class the following classes, i8, with which it has a pair of few rows
    limits      f8 (pairs, 5): see limits_of
    alpha, gradient  f8[rows of all pairs], see ClassPairs.starts: solutions, and Qa + p
    out         f8 (pairs, FIELDS): see the loop
    done        bool[pairs]: whether the steps of a pair have ended
    apart       f8[pairs]: the largest error of a gradient; sample: about the rows that it rests on, or empty
    """

    limits: np.ndarray
    linear: float  # p of a pair's programme
    what = ""  # the name of the share that LIBSVM prints

    def __init__(self, pairs: ClassPairs, fitting: Fitting):
        self.of, self.points, self.fitting, self.s = pairs, pairs.points, fitting, fitting.settings
        self.sizes, self.costs = np.diff(pairs.ends), pairs.class_costs[pairs.pairs]
        self.count = len(self.sizes)
        self.partners = self._partners()

    def _partners(self) -> list[np.ndarray]:
        """Pairs of few rows whose classes' blocks fit into the share of -m, smallest classes first."""
        order = np.argsort(self.sizes, kind="stable")
        fit = np.cumsum(8.0 * self.sizes[order].astype(float) ** 2) <= MEMORY_SHARE * self.s.run.cache_mb * MIB
        few = np.zeros(self.count, bool)
        few[order[fit]] = True
        together = (self.sizes[:, None] + self.sizes <= self.max_rows) & few & few[:, None]
        return [np.flatnonzero(some) for some in np.triu(together, 1)]

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
        self.alpha, self.gradient = np.zeros((2, self.of.starts[-1]))
        self.out, self.done = np.zeros((len(self.of.pairs), loops.PAIR_FIELDS)), np.zeros(len(self.of.pairs), bool)
        self.largest = np.zeros(self.count)  # |K(x, x)| of a class
        self.tiles = tiles_of(self.points.rows, self.points.kernel, self.points.matrix, np.float64)
        used = sorted({c for i, some in enumerate(self.partners) if len(some) for c in (i, *some.tolist())})
        ends = np.cumsum(self.sizes[used] ** 2)
        self.blocks, self.block_starts = np.empty(ends[-1]), np.zeros(self.count, np.int64)
        self.block_starts[used] = ends - self.sizes[used] ** 2
        parts: dict[int, Tiles] = {}

        def block(b: int) -> None:
            c = used[b]
            parts[c] = self.tiles.take(self.of.members(c))
            own = parts[c].all_values(parts[c])
            self.own(c)[:] = own
            self.largest[c] = np.abs(np.diag(own)).max()

        def row(i: int) -> None:
            values = np.cumsum(self.sizes[self.partners[i]]) * self.sizes[i] // VALUES_AT_ONCE
            for some in np.split(self.partners[i], np.flatnonzero(np.diff(values)) + 1):
                if stop.ended() or not len(some):
                    return
                chosen = np.zeros(self.count, bool)
                chosen[some] = True
                others = self.tiles.take(np.flatnonzero(np.repeat(chosen, self.sizes)))
                ks = self.of.place(i, some)[: self._strip(i, some, others.all_values(parts[i]))]
                with lock:
                    self.done[ks] = True
                    self._report(ks)

        run_blocks(block, len(used), short=True)
        run_blocks(row, self.count, short=True)

    def own(self, c: int) -> np.ndarray:
        """The block within class c."""
        n, start = self.sizes[c], self.block_starts[c]
        return self.blocks[start : start + n * n].reshape(n, n)

    def _report(self, finished: np.ndarray) -> None:
        """Report one record for each finished pair."""
        if self.fitting.report is None:
            return
        seconds = time.perf_counter() - self.fitting.started
        for k in finished.tolist():
            _, rounds, value, gap, relative, violation, *_ = self.out[k].tolist()
            self.fitting.report(
                seconds=seconds, iteration=int(rounds), objective=gap - value, bound=-value, gap=relative,
                violation=violation, label=self.of.label(k), method=METHOD, why=self.why,
            )  # fmt: skip

    @abstractmethod
    def _strip(self, i: int, some: np.ndarray, cross: np.ndarray) -> int:
        """Solve the pairs of class i with the classes `some`, until the run ends; return how many are solved.

        cross: kernel values between class i and the others, side by side.
        """

    def solved(self) -> Solutions:
        """The verified results; those of pairs that must be solved alone are missing."""
        starts = self.of.starts
        first = np.searchsorted(starts[:-1], np.arange(0, starts[-1], VALUES_AT_ONCE)).tolist()
        with np.errstate(all="ignore"):  # values that are not finite are not accepted
            self._recompute()
            found = Solutions(starts)
            found.alpha, found.gradient, found.apart = self.alpha, self.gradient, self.apart
            found.what, found.sample = self.what, self.sample
            for lo, hi in pairwise([*first, len(found)]):
                self._solved(lo, hi, found)
        return found

    def _recompute(self) -> None:
        """Compare the gradients with svm-predict's decision values, or replace them."""
        n = self.points.n
        self.apart, self.sample = np.zeros(len(self.of.pairs)), ""
        if self.points.rows is None:
            return
        y = np.repeat(np.tile((1.0, -1.0), len(self.of.pairs)), self.of.counts.ravel())
        scores = certifier.Scores(self.points, self.of.ends, self.of.by_column(y * self.alpha))
        own = self._own_terms() + self.linear
        ours = y * (self.gradient - own)
        found = ours.copy()

        def compute(chosen: np.ndarray) -> None:
            parts = np.split(chosen, np.searchsorted(chosen, self.of.ends[1:-1]))
            run_blocks(lambda c: scores.of_class(c, parts[c], self.of.begins, found), self.count, short=True)

        group = n // max(MIN_LATE_ROWS, VALUES_AT_ONCE * n // max(scores.values, 1))
        if scores.values > MANY_VALUES and group > 1:
            sampled = draw_rows(n, group, SEED)
            compute(sampled)
            size = np.add.reduceat(np.abs(self.alpha), self.of.starts[:-1]) * self.largest[self.of.pairs].max(axis=1)
            off = np.maximum.reduceat(np.abs(found - ours), self.of.starts[:-1])
            worst = float(np.max(np.where(self.done & ~(off == 0.0), off / size, 0.0)))
            self.apart = size * (np.inf if np.isnan(worst) else worst)
            _, _, value, gap, *_ = self.out.T
            known = self.done & (self.out[:, 0] != loops.UNSOLVED)
            if np.all((self._wider() <= VALUE_RTOL * np.abs(gap - value)) | ~known):
                self.sample = f"decision values of {len(sampled)} of {n} rows computed again"
                return
        compute(np.arange(n))
        self.apart, self.gradient = np.zeros(len(self.of.pairs)), y * found + own

    def _own_terms(self) -> np.ndarray | float:
        """What a row's own alpha adds to its gradient, f8[rows of all pairs]."""
        return 0.0

    @abstractmethod
    def _wider(self) -> np.ndarray:
        """At most what `apart` adds to the gap of each pair, f8[pairs]."""

    def _solved(self, lo: int, hi: int, into: Solutions) -> None:
        """`solved` of the pairs lo .. hi - 1."""
        starts = self.of.starts[lo : hi + 1]
        rows = slice(starts[0], starts[-1])
        why, rounds, value, claimed, gap, violation, rho, r, spent = self.out[lo:hi].T
        limits, nothing = self.limits[lo:hi], np.zeros(hi - lo)
        of = self._prepared(certifier.Pairs(
            self.of.counts[lo:hi], limits[:, :2], limits[:, :2], nothing, limits[:, 2], rho + 0.0, r + 0.0,
            self.apart[lo:hi], self.alpha[rows], self.gradient[rows],
        ))  # fmt: skip
        found = self._certificates(of)
        stationary = certifier.relative(found.primal, found.dual, nothing) <= verify.STATIONARY_RTOL
        indefinite = stationary & (found.dual > limits[:, 4]) & (not self.points.kernel.positive)
        why = np.where(indefinite & (why == loops.UNSOLVED) & (violation <= tolerance(self.s)), loops.BY_RULE, why)
        sound = ((found.primal <= limits[:, 4]) | (found.gap <= SLOW_MIN_GAP)) & (found.gap < np.inf)
        kept, single = self._accepted(of, found, why, claimed, sound, indefinite)
        known = (why != loops.UNSOLVED) & self.done[lo:hi]
        root, bounded, share = self._functions(of)
        into.coef[rows] = of.signs() * of.alpha * np.repeat(root, of.counts.sum(axis=1))
        columns = into.columns[lo:hi]
        for name, column in {
            **found._asdict(), "rho": of.rho, "r": of.r, "value": value, "claimed": gap, "root": root, "rounds": rounds,
            "why": why, "spent": spent, "bounded": bounded, "share": share,
            "told": self.what and of.upper[:, 0] == of.upper[:, 1],
        }.items():  # fmt: skip
            columns[name] = column
        alone = {k: into.result(k) for k in (lo + np.flatnonzero(single & known)).tolist()}
        meaningless = kept & indefinite
        columns["gap"][meaningless] = np.inf
        columns["why"][meaningless & (why != loops.BY_LIMIT)] = PROVEN
        columns["why"][~(kept & known)] = OPEN
        for k, result in alone.items():
            one = self._single(k, result)
            if one is not None:
                into[k] = one

    def _prepared(self, of: certifier.Pairs) -> certifier.Pairs:
        """With what else a kind of problem has."""
        return of

    @abstractmethod
    def _certificates(self, of: certifier.Pairs) -> certifier.Values:
        """The certificates, in values of the programme."""

    @abstractmethod
    def _accepted(
        self, of: certifier.Pairs, found: certifier.Values, why: np.ndarray, claimed: np.ndarray, sound: np.ndarray,
        indefinite: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Which results are accepted, and which of the others are to be verified as those of single problems.

        claimed: P - D according to the steps; sound: whether a pair is no worse than w = 0, or its gap is small;
        indefinite: whether it proves the kernel indefinite.
        """

    @abstractmethod
    def _functions(self, of: certifier.Pairs) -> tuple[np.ndarray, np.ndarray | int, np.ndarray | float]:
        """Of the decision functions, the factor of alpha, the coefficients at bounds, and the share to report."""

    def _single(self, k: int, result: KernelResult) -> Solved | None:
        """The result of pair k, verified as that of a single problem."""
        limited, problem = result.status is ITERATIONS, self.of.problem(self.points.take(self.of.rows(k)), k)
        found = Solved(*verify.verify(problem, result, self.s.target, lambda: None))
        result = found.result
        poor = result.replaced and not found.certificate.gap <= CONFIRMED_GAP
        good = result.status is INDEFINITE or (result.status.converged and not poor)
        return found if limited or good else None


def solve(pairs: ClassPairs, fitting: Fitting) -> Solutions:
    """The results of the pairs of classes; those that must be solved alone are missing."""
    batch = batch_of(pairs, fitting)
    if batch is None:
        return Solutions(pairs.starts)
    batch.run()
    return batch.solved()


def batch_of(pairs: ClassPairs, fitting: Fitting) -> Batch | None:
    """The pairs to be solved together; None if there are none."""
    s = fitting.settings
    if len(pairs.pairs) < 2 or not has_steps(pairs, s):
        return None
    kind = Squares if s.row.loss == "least squares" else Hinges
    batch: Batch = kind(pairs, fitting)
    return batch if any(len(some) for some in batch.partners) else None


def has_steps(pairs: ClassPairs, s: Settings) -> bool:
    """Whether pairs can be solved here: not by a paper's steps, and with the same cost for all rows of a class."""
    return not s.row.printed and s.row.regulariser != "|w|_1" and pairs.data.table.weights is None


def nu_of(s: Settings) -> float:
    """nu of a nu-SVM, else 0."""
    return s.problem.nu if s.row.word == "nu_svc" else 0.0


def steps(
    own: np.ndarray, cross: np.ndarray, blocks: np.ndarray, sizes: np.ndarray, starts: np.ndarray, places: np.ndarray,
    begins: np.ndarray, limits: np.ndarray, found: tuple[np.ndarray, np.ndarray, np.ndarray], s: Settings, beside: int,
    positive: bool,
) -> Callable[[int], int]:  # fmt: skip
    """The steps of one class's pairs with others: see the loop class_pairs.

    found: alpha, gradient and out.  beside: pairs among which the start of the program is shared.  positive: whether
    the kernel is positive semidefinite.  Returns the function that goes on from a pair, and returns the next one to
    solve.
    """
    n, width = cross.shape
    side = n + int(sizes.max()) + 2 * int(loops.LANES)
    call = loops.class_pairs.bind(
        own, cross, blocks, sizes, np.cumsum(sizes) - sizes, starts, places, begins, limits, *found,
        np.empty(side * side + 9 * side + 6 * int(loops.LANES)), np.empty(side, np.int64), np.empty(1, np.int64),
    )  # fmt: skip
    gap = -1.0 if s.target is None else s.target
    max_rounds = sys.maxsize if s.stopping.max_iter is None else min(s.stopping.max_iter, sys.maxsize)
    # of an indefinite kernel the optimum may be worse than w = 0
    polished_gap = SLOW_MIN_GAP if positive else np.inf
    nu, polish = nu_of(s), direct.START_VALUES / beside
    p = 0.0 if nu else -1.0

    def finish(first: int) -> int:
        return call(n, width, p, nu, tolerance(s), gap, polished_gap, polish, max_rounds, first, MANY_VALUES)

    return finish


def limits_of(
    points: Points, counts: np.ndarray, costs: np.ndarray, nu: float, diagonal: Callable[[int], np.ndarray]
) -> np.ndarray:
    """f8 (pairs, 5), of each pair, whose rows are of `points`: bounds of either class, the floor of gaps, for how many
    values of kernel rows steps may last (the direct solution's), and the largest primal value by rule 1 of verify.py.

    counts, costs (pairs, 2): rows of either class, and the cost of a row.  nu: of nu-SVMs; 0: C-SVMs.  diagonal: gives
    K(x, x) of the rows of a pair.
    """
    most = direct.pair_values(points, nu, counts.sum(axis=1))
    if nu > 0.0:
        sums = 0.5 * nu * counts.sum(axis=1)
        upper = np.where(sums < 1.0, 2.0, 1.0)
        floors = [floor_of(diagonal(k), 2.0 * max(total, 1.0)) for k, total in enumerate(sums.tolist())]
        return np.stack((upper, upper, floors, most, floors), axis=1)
    found = np.zeros((len(counts), 5))
    at_zero = 2.0 * (counts * costs).min(axis=1)  # P(w = 0)
    found[:, :2], found[:, 3], found[:, 4] = costs, most, (1.0 + VALUE_RTOL) * at_zero
    return found


class Hinges(Batch):
    """Pairs with the hinge loss: C-SVMs and nu-SVMs."""

    def run(self) -> None:
        self.nu, of = nu_of(self.s), self.of
        self.what = "C" if self.nu else "nu"
        self.linear = 0.0 if self.nu else -1.0
        diagonal = self.points.diagonal() if self.nu else np.zeros(0)
        self.limits = limits_of(self.points, of.counts, self.costs, self.nu, lambda k: diagonal[of.rows(k)])
        super().run()

    def _strip(self, i: int, some: np.ndarray, cross: np.ndarray) -> int:
        ks = self.of.place(i, some)
        finish = steps(
            self.own(i), cross, self.blocks, self.sizes[some], self.block_starts[some], ks, self.of.starts[ks],
            self.limits, (self.alpha, self.gradient, self.out), self.s, len(self.of.pairs), self.points.kernel.positive,
        )  # fmt: skip
        done = 0
        while done < len(some) and not self.fitting.stop.ended():
            done = finish(done)
        return done

    def _wider(self) -> np.ndarray:
        return self.apart * np.sum(self._losses(self.of.counts, self.limits[:, :2]) * self.of.counts, axis=1)

    def _losses(self, counts: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """As KernelProblem.losses, f8 (pairs, 2)."""
        shrunk = 0.5 * self.nu * counts.sum(axis=1)[:, None]
        return np.where(shrunk < 1.0, 1.0 / np.maximum(shrunk, MIN_POSITIVE), upper) if self.nu else upper

    def _prepared(self, of: certifier.Pairs) -> certifier.Pairs:
        if not self.nu:
            return of
        sums = 0.5 * self.nu * of.counts.sum(axis=1)
        constants = zip(of.nearest(), (of.rho, of.r), strict=True)
        rho, r = (np.where(sums < 1.0, nearest, free) for nearest, free in constants)
        return of._replace(losses=self._losses(of.counts, of.upper), total=np.maximum(sums, 1.0), rho=rho, r=r)

    def _certificates(self, of: certifier.Pairs) -> certifier.Values:
        return certifier.hinges(of, self.linear, self.points.kernel.positive)

    def _accepted(
        self, of: certifier.Pairs, found: certifier.Values, why: np.ndarray, claimed: np.ndarray, sound: np.ndarray,
        indefinite: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        if self.nu:  # a margin without meaning has a warning
            sound = sound & (found.primal < 0.0) & (of.r > 0.0) & (of.r < np.inf)
        allowed = claimed + np.maximum(MAX_WIDENING * claimed, VALUE_RTOL * np.abs(found.primal))
        reached = found.gap <= verify.PRINTED_FACTOR * (self.s.target or 0.0)
        close = (found.primal - found.dual <= allowed) | (found.gap <= ROUNDOFF_GAP)
        close &= reached | (why != loops.BY_GAP)
        kept = (sound & close) | (indefinite & (self.nu == 0.0))
        return kept, ~kept & (~sound | (why == loops.BY_LIMIT))

    def _functions(self, of: certifier.Pairs) -> tuple[np.ndarray, np.ndarray | int, np.ndarray | float]:
        full = (of.alpha >= of.of_rows(of.upper)) & (of.alpha != 0.0)
        bounded, rows = of.totals(full.astype(np.int64)), of.counts.sum(axis=1)
        if self.nu:
            root = 1.0 / of.r
            return root, bounded, root / np.minimum(0.5 * self.nu * rows, 1.0)
        return np.ones(len(rows)), bounded, of.totals(of.alpha) / (of.upper[:, 0] * rows)


class Squares(Batch):
    """Pairs with the least-squares loss: one linear system each, over shared kernel values.

    A solution by a factor of the matrix (kernels/least_squares.py) counts as one iteration.
    """

    linear = -1.0

    def _partners(self) -> list[np.ndarray]:
        """As Batch's, without classes of cost 0, whose rows are in no problem."""
        if self.s.stopping.max_iter is not None and self.s.stopping.max_iter < 1:
            return [np.zeros(0, np.int64)] * self.count
        used = self.of.class_costs > 0.0
        return [some[used[some] & used[i]] for i, some in enumerate(super()._partners())]

    def run(self) -> None:
        self.shift = 0.0 if self.s.row.free_bias else 1.0
        total, uneven = np.array(((1.0, 1.0), (1.0, -1.0))) @ (self.of.counts * self.costs).T
        zero = total if self.shift else total - uneven / total * uneven
        self.limits = np.column_stack((self.costs, np.zeros((len(zero), 2)), (1.0 + VALUE_RTOL) * zero))
        super().run()

    def _strip(self, i: int, some: np.ndarray, cross: np.ndarray) -> int:
        n, column = int(self.sizes[i]), 0
        for done, j in enumerate(some.tolist()):
            if self.fitting.stop.ended():
                return done
            m = int(self.sizes[j])
            K = np.empty((n + m, n + m))
            K[:n, :n], K[n:, n:] = self.own(i), self.own(j)
            K[:n, n:] = cross[:, column : column + m]
            K[n:, :n] = K[:n, n:].T
            column += m
            with np.errstate(all="ignore"):  # pairs that are not finite are solved alone
                self._solve(self.of.place(i, j), K, n)
        return len(some)

    def _solve(self, k: int, K: np.ndarray, n: int) -> None:
        """Solve pair k, whose first n rows have y = +1."""
        y, cost = (np.repeat(some, (n, len(K) - n)) for some in ((1.0, -1.0), self.of.costs(k)))
        c = direct_solution(K, y, cost, self.shift)
        if c is None:
            return
        F, total = y - K @ c, float(np.sum(c))
        e = F - 0.5 * c / cost - self.shift * total
        bias = total if self.shift else float(cost @ e) / float(np.sum(cost))
        left = e if self.shift else e - bias
        dual, gap = 0.5 * float(c @ (y + e)), float(cost @ (left * left))
        violation, found = float(np.abs(left).max()), relative(dual + gap, dual)
        target = self.s.target
        if target is not None and found <= target:
            why = loops.BY_GAP
        elif violation <= tolerance(self.s):
            why = loops.BY_RULE
        else:
            why = AT_OPTIMUM if found <= ROUNDOFF_GAP else loops.UNSOLVED
        rows = slice(*self.of.starts[k : k + 2])
        self.alpha[rows], self.gradient[rows] = c * y, 0.5 * c * y / cost - y * F
        self.out[k] = why, 1.0, -dual, gap, found, violation, 0.0 - bias, 0.0, 0.0

    def _own_terms(self) -> np.ndarray | float:
        return 0.5 * self.alpha / np.repeat(self.costs.ravel(), self.of.counts.ravel())

    def _functions(self, of: certifier.Pairs) -> tuple[np.ndarray, np.ndarray | int, np.ndarray | float]:
        return np.ones(len(of.rho)), 0, 0.0

    def _wider(self) -> np.ndarray:
        total, gap = np.sum(self.of.counts * self.costs, axis=1), self.out[:, 3]
        sums = np.add.reduceat(np.abs(self.alpha), self.of.starts[:-1])
        return self.apart * (2.0 * np.sqrt(gap * total) + self.apart * total + sums)

    def _certificates(self, of: certifier.Pairs) -> certifier.Values:
        return certifier.least_squares(of, self.shift)

    def _accepted(
        self, of: certifier.Pairs, found: certifier.Values, why: np.ndarray, claimed: np.ndarray, sound: np.ndarray,
        indefinite: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        asked = np.where(why == loops.BY_GAP, verify.PRINTED_FACTOR * (self.s.target or 0.0), ROUNDOFF_GAP)
        return sound & ~indefinite & (found.gap <= asked), np.zeros(len(why), bool)
