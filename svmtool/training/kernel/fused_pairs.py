"""Solves small pairs of classes in one compiled call, because solving each alone would cost more than its steps.

The kernel values of a class with the following classes are computed once, in double precision, and used for one pair
after the other; the blocks within classes are kept.  The gradients for certificates are sums over these values, from
the results alone.  For a sample of rows, or all if they are few, they are computed again by the code of svm-predict,
and the largest difference enters the gaps, as in certify/kernel.py.  If that would increase a gap by much, all decision
values are computed so: to certify pairs one by one took 1.3 to 2.9 times as long (13 sets, 3 to 26 classes).
Pairs that training/kernel/verify.py does not accept, and those that a limit on steps has left open, are solved alone.
--max-iter counts checks of all variables, as for a single pair; pairs that it ends keep their verified results.
"""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from svmtool.certify.kernel import MAX_WIDENING, MIN_LATE_ROWS, SEED, best_constant, certificate_of
from svmtool.certify.linear import Certificate
from svmtool.compiled.loops.kernel import class_pair_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.row_storage import draw_rows
from svmtool.kernels import interior
from svmtool.kernels.direct import START_VALUES
from svmtool.kernels.problems import KernelProblem, relative
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.kernels.tiles import Double, Tiles, tiles_of
from svmtool.models.kernel import KernelModel
from svmtool.numbers import distinct
from svmtool.params import Settings, tolerance
from svmtool.solvers.shared.base import GAP, ITERATIONS, OPTIMAL, RULE
from svmtool.tolerances import CONFIRMED_GAP, MANY_VALUES, MIB, ROUNDOFF_GAP, SLOW_MIN_GAP, VALUE_RTOL, VALUES_AT_ONCE
from svmtool.training.kernel import verify
from svmtool.training.kernel.dataset import ClassPairs
from svmtool.training.kernel.fit import Fitting, Solved, packed

MAX_PAIR_ROWS = 512  # of a pair; on 16 sets of 3 to 77 classes ten were faster, up to 6 times, six about equal
# If a single pair also uses kernel values in double precision: with 2048 in all cases two such sets took 0.4 and 0.6 of
# the time, three others 1.1 to 1.7 times as long.
MAX_DOUBLE_ROWS = 2048
METHOD = "pairs of classes, many in one compiled call"
MEMORY_SHARE = 0.5  # share of -m for the blocks within classes


class Batch(ABC):
    """The pairs of one training set that are solved together.

    partners    for each class the following classes with which it has a pair of few rows
    done        pairs solved, by their place in the order of `combinations`
    a, F        f8 (count - 1, n): alpha and -y (Qa + p), arranged as the coefficients of a KernelModel
    out         f8 (pairs, FIELDS): see the loop
    max_primal  f8[pairs]: the largest primal value, rule 1 of verify.py
    """

    def __init__(self, pairs: ClassPairs, fitting: Fitting):
        self.of, self.points, self.ends, self.pairs = pairs, pairs.points, pairs.ends, pairs.pairs
        self.fitting, self.s = fitting, fitting.settings
        self.count, self.sizes = len(self.ends) - 1, np.diff(self.ends)
        self.place = {pair: k for k, pair in enumerate(self.pairs)}
        self.norms: Any = None if self.points.rows is None else self.points.rows.square_norms()
        self.nu = self.s.problem.nu if self.s.row.word == "nu_svc" else 0.0
        self.partners = self._partners()
        self.done: list[int] = []

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
        self.a, self.F = np.zeros((2, self.count - 1, self.points.n))
        self.out, self.max_primal = np.zeros((len(self.pairs), loops.PAIR_FIELDS)), np.zeros(len(self.pairs))
        self.largest = np.zeros(self.count)  # |K(x, x)| of a class
        self.tiles = tiles_of(self.points.rows, self.points.kernel, self.points.matrix, np.float64)
        own: dict[int, np.ndarray] = {}
        parts: dict[int, Tiles] = {}
        used = sorted({c for i, some in enumerate(self.partners) for c in (i, *some) if some})

        def block(b: int) -> None:
            c = used[b]
            parts[c] = self.tiles.take(self.of.members(c))
            own[c] = parts[c].all_values(parts[c])
            self.largest[c] = np.abs(np.diag(own[c])).max()

        def row(i: int) -> None:
            for some in packed(self.partners[i], lambda j: float(self.sizes[i] * self.sizes[j]), VALUES_AT_ONCE):
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
                violation=violation, label=self.of.labels[k], method=METHOD, why=self.why,
            )  # fmt: skip

    def _kernel(self, targets: Tiles, classes: list[int]) -> np.ndarray:
        """K f8 (targets, rows of `classes`)."""
        return self.tiles.take(np.concatenate([self.of.members(c) for c in classes])).all_values(targets)

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
        return self.of.problem(self.points.without_features(self.of.rows(k), self.norms), k)

    def _store(self, k: int, n: int, alpha: np.ndarray, F: np.ndarray, out: Any) -> None:
        """Keep what the steps of pair k give; n: rows of its first class, which come first."""
        (i, j), (mine, theirs) = self.pairs[k], self._rows_of(k)
        self.a[j - 1, mine], self.a[i, theirs] = alpha[:n], alpha[n:]
        self.F[j - 1, mine], self.F[i, theirs] = F[:n], F[n:]
        self.out[k] = out

    def _alpha_of(self, k: int) -> np.ndarray:
        """alpha of pair k, f8[rows]."""
        (i, j), (mine, theirs) = self.pairs[k], self._rows_of(k)
        return np.concatenate((self.a[j - 1, mine], self.a[i, theirs]))

    def _gradient_of(self, k: int, F: np.ndarray) -> np.ndarray:
        """The gradient of pair k's programme, f8[rows], from F f8 (count - 1, n), arranged like self.F."""
        (i, j), (mine, theirs) = self.pairs[k], self._rows_of(k)
        return np.concatenate((-F[j - 1, mine], F[i, theirs]))

    def certified(self, k: int, problem: KernelProblem, result: KernelResult) -> tuple[DecisionFunction, Certificate]:
        """verify.certified for pair k, from decision values of all pairs."""
        return verify.certified(problem, result, exact=self._gradient_of(k, self._exact))

    @cached_property
    def _exact(self) -> np.ndarray:
        """F from the decision values of svm-predict."""
        if self.points.rows is None:
            return self.F
        scores, found = _Scores(self), np.empty_like(self.F)
        for first in range(0, self.points.n, scores.at_once):
            for mine, _, F in scores.of_classes(np.arange(first, min(first + scores.at_once, self.points.n))):
                found[:, mine] = F
        return found

    @cached_property
    def difference(self) -> tuple[float, str]:
        """The largest difference to svm-predict's decision values, relative to `_sizes`; a statement about a sample."""
        n = self.points.n
        if self.points.rows is None or not self.done:
            return 0.0, ""
        scores = _Scores(self)
        sampled = np.arange(n) if scores.at_once >= n else draw_rows(n, n // scores.at_once, SEED)
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

    def _error(self, k: int, alpha: np.ndarray) -> tuple[float, str]:
        """The largest difference of a decision value of pair k, and the statement about a sample."""
        (i, j), (apart, sample) = self.pairs[k], self.difference
        error = apart * float(np.sum(np.abs(alpha))) * max(self.largest[i], self.largest[j])
        return error, sample and f"{sample}: within {error:.1g}"

    def _sizes(self) -> np.ndarray:
        """Upper bounds of the sum of the sizes of the terms of a pair's decision values, f8[pairs]."""
        totals = np.add.reduceat(np.abs(self.a), self.ends[:-1], axis=1)  # of class c against the other of its column
        sizes = [(totals[j - 1, i] + totals[i, j]) * max(self.largest[i], self.largest[j]) for i, j in self.pairs]
        return np.array(sizes)

    def _rows_of(self, k: int) -> tuple[slice, slice]:
        """The rows of either class of pair k."""
        (i, j), ends = self.pairs[k], self.ends
        return slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])


class _Scores:
    """Decision values of all pairs by svm-predict's code.  at_once: rows of a block, which limits memory."""

    def __init__(self, batch: Batch):
        points, self.batch = batch.points, batch
        self.signs = np.ones((batch.count - 1, points.n))
        for c in range(batch.count):
            self.signs[:c, batch.ends[c] : batch.ends[c + 1]] = -1.0
        coef = self.signs * batch.a
        support = np.flatnonzero(np.any(coef != 0.0, axis=0))
        self.number = np.repeat(np.arange(batch.count), batch.sizes)
        self.at_once = max(MIN_LATE_ROWS, VALUES_AT_ONCE // max(len(support), len(batch.pairs)))
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


AT_OPTIMUM = loops.BY_LIMIT + 1  # a reason to end besides those of the loops
ENDS = {loops.BY_RULE: RULE, loops.BY_GAP: GAP, loops.BY_LIMIT: ITERATIONS, AT_OPTIMUM: OPTIMAL}


def solve(pairs: ClassPairs, fitting: Fitting) -> list[Solved | None]:
    """The result of each pair of classes; None for those that must be solved alone."""
    found: list[Solved | None] = [None] * len(pairs.pairs)
    batch = batch_of(pairs, fitting)
    if batch is None:
        return found
    batch.run()
    with np.errstate(all="ignore"):  # verification finds values that are not finite
        for k in batch.done:
            found[k] = batch.solved(k)
    return found


def batch_of(pairs: ClassPairs, fitting: Fitting) -> Batch | None:
    """The pairs to be solved together; None if there are none."""
    s = fitting.settings
    if len(pairs.pairs) < 2 or not has_steps(pairs, s):
        return None
    kind = Squares if s.row.loss == "least squares" else Hinges
    batch: Batch = kind(pairs, fitting)
    return batch if any(batch.partners) else None


def has_steps(pairs: ClassPairs, s: Settings) -> bool:
    """Whether pairs can be solved here: not by a paper's steps, and with the same cost for all rows of a class."""
    return not s.row.printed and s.row.regulariser != "|w|_1" and pairs.data.table.weights is None


def steps(
    own: np.ndarray, cross: np.ndarray, others: np.ndarray, sizes: np.ndarray, bounds: np.ndarray, s: Settings,
    nu: float, beside: int, positive: bool,
) -> tuple[tuple[np.ndarray, ...], Callable[[int], int]]:  # fmt: skip
    """The steps of one class's pairs with others, with the arrays of their results: see the loop class_pairs.

    sizes: rows of the others, i8.  beside: pairs among which the start of the program is shared.  positive: whether
    the kernel is positive semidefinite.  Returns (a, a_others, F, F_others, out), and the function that goes on from a
    pair and returns the next one to solve.
    """
    n, width = cross.shape
    columns, starts = np.cumsum(sizes) - sizes, np.cumsum(sizes**2) - sizes**2
    side = n + int(sizes.max()) + 2 * int(loops.LANES)
    a, a_others = np.zeros((len(sizes), n)), np.zeros(width)
    F, F_others = np.zeros((len(sizes), n)), np.zeros(width)
    out = np.zeros((len(sizes), loops.PAIR_FIELDS))
    call = loops.class_pairs.bind(
        own, cross, others, sizes, columns, starts, bounds, a, a_others, F, F_others, out,
        np.empty(side * side + 9 * side + 6 * int(loops.LANES)), np.empty(side, np.int64), np.empty(1, np.int64),
    )  # fmt: skip
    gap = -1.0 if s.target is None else s.target
    max_rounds = sys.maxsize if s.stopping.max_iter is None else min(s.stopping.max_iter, sys.maxsize)
    # of an indefinite kernel the optimum may be worse than w = 0
    poor_gap, polished_gap = (CONFIRMED_GAP, SLOW_MIN_GAP) if positive else (np.inf, np.inf)
    p, polish = (0.0 if nu else -1.0), START_VALUES / beside

    def finish(first: int) -> int:
        return call(n, width, p, nu, tolerance(s), gap, poor_gap, polished_gap, polish, max_rounds, first, MANY_VALUES)

    return (a, a_others, F, F_others, out), finish


def limits_of(
    nu_problem: KernelProblem | None, counts: tuple[int, int], costs: tuple[float, float]
) -> tuple[float, float, float, float]:
    """Costs of a row of either class, the floor of gaps, and the largest primal value by rule 1 of verify.py.

    nu_problem: the problem of a nu-SVM; None: a C-SVM with counts and costs of rows of either class.
    """
    if nu_problem is not None:
        bound = float(nu_problem.upper[0])
        return bound, bound, nu_problem.floor, nu_problem.floor
    zero = 2.0 * min(counts[0] * costs[0], counts[1] * costs[1])  # P(w = 0)
    return *costs, 0.0, (1.0 + VALUE_RTOL) * zero


class Hinges(Batch):
    """Pairs with the hinge loss: C-SVMs and nu-SVMs."""

    def _strip(self, i: int, some: list[int], part: Tiles, own: dict[int, np.ndarray]) -> list[int]:
        stop = self.fitting.stop
        sizes = self.sizes[some].astype(np.int64)
        cross = self._kernel(part, some)
        others = np.concatenate([own[j].ravel() for j in some])
        at = [self.place[i, j] for j in some]
        nu_problems = [self._problem(k) if self.nu else None for k in at]
        bounds = np.array(
            [limits_of(p, self.of.counts[k], self.of.costs(k)) for p, k in zip(nu_problems, at, strict=True)]
        )
        self.max_primal[at] = bounds[:, 3]
        positive = self.points.kernel.positive
        arrays, finish = steps(own[i], cross, others, sizes, bounds, self.s, self.nu, len(self.pairs), positive)
        a, a_others, F, F_others, out = arrays
        done = 0
        while done < len(some) and not stop.ended():
            done = finish(done)
        ends = np.cumsum(sizes)
        for q, k in enumerate(at[:done]):
            there = slice(ends[q] - sizes[q], ends[q])
            alpha, values = np.concatenate((a[q], a_others[there])), np.concatenate((F[q], F_others[there]))
            self._store(k, len(own[i]), alpha, values, out[q])
        return at[:done]

    def solved(self, k: int) -> Solved | None:
        why, rounds, value, gap, relative, violation, rho, r = self.out[k].tolist()
        indefinite = self._indefinite(k)
        if why == loops.UNSOLVED and indefinite and violation <= tolerance(self.s):
            why = loops.BY_RULE
        if why == loops.UNSOLVED:
            return None
        alpha, gradient = self._alpha_of(k), self._gradient_of(k, self.F)
        problem = self._problem(k)
        if indefinite:
            result = KernelResult(alpha, rho + 0.0, r + 0.0, value, relative, int(rounds), ENDS[why], gradient)
            if not self.fitting.stop.ended():
                return self._kept(k, result)
            return self._uncertified(problem, result, Certificate(gap - value, -value, violation))
        replaced = False
        if problem.shrunk < 1.0:
            rho, r = problem.without_losses(gradient)
            certificate = certificate_of(problem, alpha, gradient, rho, r)
            gap, violation = certificate.primal - certificate.dual, certificate.violation
        elif gap - value > self.max_primal[k]:  # worse than w = 0
            _, *better = best_constant(problem, gradient)
            certificate = certificate_of(problem, alpha, gradient, *better)
            if certificate.primal < gap - value:
                (rho, r), replaced = better, True
                gap, violation, relative = certificate.primal - certificate.dual, certificate.violation, certificate.gap
        if replaced and why == loops.BY_RULE and not relative <= CONFIRMED_GAP:
            return None
        result = KernelResult(alpha, rho + 0.0, r + 0.0, value, relative, int(rounds), ENDS[why], gradient)
        result.replaced = replaced
        result.primal = gap - value
        found = self._verified(k, problem, result, gap, violation)
        if found is None and result.status is ITERATIONS:
            return self._kept(k, result)
        if found is not None:
            result.certified_gap = found.certificate.gap
        return found

    def _kept(self, k: int, result: KernelResult) -> Solved:
        """The verified result of pair k, without a second method."""
        whole = self.of.problem(self.points.take(self.of.rows(k)), k)
        return Solved(*verify.verify(whole, result, self.s.target, lambda: None))

    def _uncertified(self, problem: KernelProblem, result: KernelResult, certificate: Certificate) -> Solved:
        """The result of a pair that proves the kernel indefinite, with the values of its own steps.

        Used after a limit, when thousands of pairs may have to end.
        """
        verify.without_meaning(result, certificate)
        if problem.shrunk < 1.0:
            result.rho, result.r = problem.without_losses(result.gradient)
        result.primal = certificate.primal
        function = problem.decision_function(result)
        verify.scale(function, result, certificate)
        return Solved(function, result, certificate)

    def _indefinite(self, k: int) -> bool:
        """Whether pair k proves the kernel indefinite (verify.proven_indefinite): no other method does better."""
        _, _, value, _, relative, *_ = self.out[k].tolist()
        return not self.points.kernel.positive and relative <= verify.STATIONARY_RTOL and -value > self.max_primal[k]

    def _verified(
        self, k: int, problem: KernelProblem, result: KernelResult, gap: float, violation: float
    ) -> Solved | None:
        """The result of pair k with its certificate, None if it breaks a rule of verify.py."""
        value, max_primal = result.objective, self.max_primal[k]
        function = problem.decision_function(result)
        error, sample = self._error(k, result.alpha)
        wider = error * float(np.sum(problem.losses))
        without = self.nu > 0.0 and gap - value > 0.0  # no better than w = 0
        if wider <= VALUE_RTOL * abs(gap - value) and not without:
            certificate = Certificate(gap - value + wider, -value, violation + error)
            certificate.gap = problem.relative(certificate.primal, certificate.dual)
            certificate.sampled = sample
        else:  # the value of the model itself, not a bound of it, or better constants
            before = result.rho, result.r
            function, certificate = self.certified(k, problem, result)
            replaced = (result.rho, result.r) != before
            if replaced and result.status is not ITERATIONS and not certificate.gap <= CONFIRMED_GAP:
                return None
        primal, dual = certificate.primal, certificate.dual
        certificate.primal, certificate.dual = function.scaled(primal), function.scaled(dual)
        allowed = gap + max(MAX_WIDENING * gap, VALUE_RTOL * abs(primal))
        if not (primal <= max_primal and certificate.gap < np.inf and primal - dual <= allowed):
            return None
        if result.status is GAP and not certificate.gap <= verify.PRINTED_FACTOR * (self.s.target or 0.0):
            return None
        return Solved(function, result, certificate)


class Squares(Batch):
    """Pairs with the least-squares loss: one linear system each, over shared kernel values.

    A solution by a factor of the matrix (kernels/interior.py) counts as one iteration.
    """

    def _partners(self) -> list[list[int]]:
        """As Batch's, without classes of cost 0, whose rows are in no problem."""
        if self.s.stopping.max_iter is not None and self.s.stopping.max_iter < 1:
            return [[] for _ in range(self.count)]
        used = [cost > 0.0 for cost in self.of.class_costs]
        return [[j for j in some if used[i] and used[j]] for i, some in enumerate(super()._partners())]

    def _strip(self, i: int, some: list[int], part: Tiles, own: dict[int, np.ndarray]) -> list[int]:
        n, cross, column, done = int(self.sizes[i]), self._kernel(part, some), 0, []
        for j in some:
            if self.fitting.stop.ended():
                break
            m, k = int(self.sizes[j]), self.place[i, j]
            K = np.empty((n + m, n + m))
            K[:n, :n], K[n:, n:] = own[i], own[j]
            K[:n, n:] = cross[:, column : column + m]
            K[n:, :n] = K[:n, n:].T
            column += m
            with np.errstate(all="ignore"):  # pairs that are not finite are solved alone
                if self._solve(k, K, n):
                    done.append(k)
        return done

    def _solve(self, k: int, K: np.ndarray, n: int) -> bool:
        """Solve pair k, whose first n rows have y = +1; return whether there is a solution."""
        y, cost = (np.repeat(some, (n, len(K) - n)) for some in ((1.0, -1.0), self.of.costs(k)))
        shift = 0.0 if self.s.row.free_bias else 1.0
        c = interior.least_squares(K, y, cost, shift)
        if c is None:
            return False
        F, total = y - K @ c, float(np.sum(c))
        e = F - 0.5 * c / cost - shift * total
        bias = total if shift else float(cost @ e) / float(np.sum(cost))
        left = e if shift else e - bias
        dual, gap = 0.5 * float(c @ (y + e)), float(cost @ (left * left))
        violation, found = float(np.abs(left).max()), relative(dual + gap, dual)
        target = self.s.target
        if target is not None and found <= target:
            why = loops.BY_GAP
        elif violation <= tolerance(self.s):
            why = loops.BY_RULE
        else:
            why = AT_OPTIMUM if found <= ROUNDOFF_GAP else loops.UNSOLVED
        self._store(k, n, c * y, F, (why, 1.0, -dual, gap, found, violation, 0.0 - bias, 0.0))
        return True

    def _gradient_of(self, k: int, F: np.ndarray) -> np.ndarray:
        cost = np.repeat(self.of.costs(k), self.of.counts[k])
        return super()._gradient_of(k, F) + 0.5 * self._alpha_of(k) / cost

    def solved(self, k: int) -> Solved | None:
        why, rounds, value, _, found, _, rho, _ = self.out[k].tolist()
        if why == loops.UNSOLVED:
            return None
        problem = self._problem(k)
        alpha, gradient = self._alpha_of(k), self._gradient_of(k, self.F)
        result = KernelResult(alpha, rho, 0.0, value, found, int(rounds), ENDS[why], gradient)
        error, sample = self._error(k, alpha)
        certificate = certificate_of(problem, alpha, gradient, rho, 0.0, error)
        certificate.gap, result.primal = problem.relative(certificate.primal, certificate.dual), certificate.primal
        certificate.sampled = sample
        function = problem.decision_function(result)
        plain = certificate_of(problem, alpha, gradient, rho)
        wider = certificate.primal - certificate.dual - (plain.primal - plain.dual)
        if not wider <= VALUE_RTOL * abs(certificate.primal):
            function, certificate = self.certified(k, problem, result)  # the value of the model itself is needed
        if not (certificate.gap < np.inf and verify.acceptable(problem, result, certificate)):
            return None
        if verify.proven_indefinite(problem, certificate):
            return None
        asked = verify.PRINTED_FACTOR * (self.s.target or 0.0) if result.status is GAP else ROUNDOFF_GAP
        if not certificate.gap <= asked:
            return None
        result.certified_gap = certificate.gap
        return Solved(function, result, certificate)
