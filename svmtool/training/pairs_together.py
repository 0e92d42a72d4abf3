"""Pairs of classes of few rows, many in one compiled call: where a problem takes microseconds, its own flow through
Python (training/kernel_fit.py) takes a hundred times as long.

The kernel values of a class with the classes behind it are computed once, in double precision, and used for one pair
after the other; the blocks within classes stay.  The judge's gradients are sums over such values, from the answers
alone; of a sample of rows, or all if they are few, they are computed a second time by the code of svm-predict, and the
largest difference goes to the gaps, as in problem/certify_kernel.py.  What the laws of training/kernel_laws.py do not
accept, and what a limit on steps has left open, is solved again in its own flow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from svmtool.compiled import class_pair_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.kernel_settings import KernelSettings
from svmtool.problem.certify import Certificate
from svmtool.problem.certify_kernel import WIDER, certificate_of
from svmtool.problem.kernel_problem import KernelProblem, KernelResult, Norms, Points
from svmtool.problem.kernel_rows import MEGABYTE
from svmtool.problem.kernel_tiles import Double, apart, tiles_of
from svmtool.problem.kernel_zero import ROUNDING
from svmtool.problem.rows import DenseRows
from svmtool.solvers.base import CONFIRMED, GAP, RULE
from svmtool.training import pairs_apart
from svmtool.training.kernel_fit import Fitting, Solved
from svmtool.training.kernel_laws import PRINTED, STATIONARY, judged

CLASSES = 3  # at least
MOST_ROWS = 512  # of a pair; of 16 sets of 3 to 77 classes ten took less time so, by up to 6 times, six about as much
MOST_DOUBLE = 2048  # where its own flow computes kernel values in double precision too: with up to 2048 in all cases
# two such sets took 0.4 and 0.6 of the time, three others 1.1 to 1.7 times as long
STRIP = 1 << 20  # kernel values between a class and some others that are held at a time: 8 MB
SHARE = 0.5  # of -m that the blocks within classes may take
CALL = 1 << 24  # steps times variables after which a call ends: some hundredths of a second


def solve(
    points: Points, ends: np.ndarray, costs: list[float], fitting: Fitting, labels: list[str],
    problem: Callable[[Points, int], KernelProblem],
) -> list[Solved | None]:  # fmt: skip
    """One problem for each pair of classes, in the order of `combinations`; None where it has to be solved otherwise.

    points: class after class, that of number c from ends[c] to ends[c + 1]; costs: of a row of each class; labels: of
    the pairs, for records; problem(points, k): pair k's.
    """
    count, s = len(ends) - 1, fitting.settings
    found: list[Solved | None] = [None] * (count * (count - 1) // 2)
    if count < CLASSES or not suitable(s):
        return found
    batch = Batch(points, ends, costs, fitting, labels, problem)
    if not any(batch.partners):
        return found
    batch.run()
    with np.errstate(all="ignore"):  # what is not finite is not lawful
        apart = pairs_apart.apart(batch)
        for k in batch.done:
            found[k] = batch.solved(k, apart)
    return found


def suitable(s: KernelSettings) -> bool:
    """Whether these are the problems and the rules that the compiled loop knows."""
    own = {name: value for name, value in s.for_solver.items() if name in ("paper_form", "pairs")}
    return s.row.loss != "least squares" and s.max_iter is None and not any(own.values())


class Batch:
    """The pairs of one training set that are solved together.

    partners: of each class the classes behind it with which it makes a pair of few rows; done: the pairs, by their
    place in the order of `combinations`.  a, F f8 (count - 1, n): as the coefficients of a KernelModel, but alpha and
    -y (Qa + p); out f8 (pairs, FIELDS): see the loop.
    """

    def __init__(
        self, points: Points, ends: np.ndarray, costs: list[float], fitting: Fitting, labels: list[str],
        problem: Callable[[Points, int], KernelProblem],
    ):  # fmt: skip
        self.points, self.ends, self.costs, self.problem = points, ends, costs, problem
        self.fitting, self.labels, self.s = fitting, labels, fitting.settings
        s = self.s
        self.count, self.sizes = len(ends) - 1, np.diff(ends)
        self.pairs = list(combinations(range(self.count), 2))
        self.place = {pair: k for k, pair in enumerate(self.pairs)}
        self.norms = None if points.rows is None else points.rows.square_norms()
        self.nu = s.nu if s.svm_type == "nu_svc" else 0.0
        self.partners = self._partners()
        self.done: list[int] = []
        self._problems: dict[int, KernelProblem] = {}
        self.largest = np.zeros(self.count)  # |K(x, x)| of a class
        if any(self.partners):
            self.a, self.F = np.zeros((self.count - 1, points.n)), np.zeros((self.count - 1, points.n))
            self.out = np.zeros((len(self.pairs), loops.FIELDS))

    def _partners(self) -> list[list[int]]:
        """Pairs of few rows, whose classes' own blocks fit into their share of -m: those of the smallest."""
        order = np.argsort(self.sizes, kind="stable")
        fit = np.cumsum(8.0 * self.sizes[order].astype(float) ** 2) <= SHARE * self.s.cache_mb * MEGABYTE
        few = np.zeros(self.count, bool)
        few[order[fit]] = True
        total, most = self.sizes[:, None] + self.sizes, MOST_ROWS
        if np.sort(self.sizes)[-2:].sum() > MOST_ROWS:
            tiles = tiles_of(self.points.rows, self.points.kernel, self.points.matrix)
            most = MOST_DOUBLE if isinstance(tiles, Double) else MOST_ROWS
        return [
            [j for j in range(i + 1, self.count) if few[i] and few[j] and total[i, j] <= most]
            for i in range(self.count)
        ]

    def run(self) -> None:
        """Solve them, until the run's end at most."""
        stop, lock = self.fitting.stop, threading.Lock()
        own: dict[int, np.ndarray] = {}
        parts: dict[int, Points] = {}
        used = sorted({c for i, some in enumerate(self.partners) for c in (i, *some) if some})

        def block(b: int) -> None:
            c = used[b]
            parts[c] = self.points.take(np.arange(self.ends[c], self.ends[c + 1]))
            own[c] = self._kernel(parts[c], [c], c)
            self.largest[c] = np.abs(np.diag(own[c])).max()

        def row(i: int) -> None:
            for some in self._groups(i):
                if stop.ended():
                    return
                finished = self._strip(i, some, parts[i], own)
                with lock:
                    self.done += finished
                    self._report(finished)

        run_blocks(block, len(used))
        run_blocks(row, self.count)
        self.done.sort()

    def _report(self, finished: list[int]) -> None:
        """The solver's record of each pair."""
        if self.fitting.report is None:
            return
        seconds = time.perf_counter() - self.fitting.started
        for k in finished:
            _, rounds, value, gap, relative, violation, _, _ = self.out[k].tolist()
            self.fitting.report(
                seconds=seconds, iteration=int(rounds), objective=gap - value, bound=-value, gap=relative,
                violation=violation, label=self.labels[k],
            )  # fmt: skip

    def _groups(self, i: int) -> list[list[int]]:
        """The partners of class i, as many together as a strip holds."""
        groups: list[list[int]] = []
        width = 0
        for j in self.partners[i]:
            if not groups or self.sizes[i] * (width + self.sizes[j]) > STRIP:
                groups.append([])
                width = 0
            groups[-1].append(j)
            width += self.sizes[j]
        return groups

    def _kernel(self, part: Points, classes: list[int], i: int) -> np.ndarray:
        """K f8 (rows of class i, rows of `classes`)."""
        ends, points = self.ends, self.points
        columns = np.concatenate([np.arange(ends[c], ends[c + 1]) for c in classes])
        if points.rows is None:
            return np.ascontiguousarray(points.matrix[ends[i] : ends[i + 1], columns])
        others = part.rows if classes == [i] else points.rows.take(columns)
        if isinstance(others, DenseRows):
            with np.errstate(all="ignore"):
                K = np.ascontiguousarray(part.rows.X @ others.X.T)
        else:
            K, (n, m) = np.empty((part.n, others.n)), (part.n, others.n)
            loops.products_of_rows(
                part.rows.indptr, part.rows.indices, part.rows.values, others.indptr, others.indices, others.values,
                np.zeros(part.rows.plain), K, 0, n, 0, m, m,
            )  # fmt: skip
        norms = self.norms[ends[i] : ends[i + 1]], self.norms[columns]
        points.kernel.finish(K, *norms, apart(part.rows, others))
        return K

    def _strip(self, i: int, some: list[int], part: Points, own: dict[int, np.ndarray]) -> list[int]:
        """The pairs of class i, whose rows are `part`, with the classes `some`, until the run's end at most.

        own: the classes' own blocks.  Returns the pairs that are done.
        """
        stop, n = self.fitting.stop, int(self.sizes[i])
        sizes = self.sizes[some].astype(np.int64)
        cross = self._kernel(part, some, i)
        others = np.concatenate([own[j].ravel() for j in some])
        columns, starts = np.cumsum(sizes) - sizes, np.cumsum(sizes**2) - sizes**2
        at = [self.place[i, j] for j in some]
        limits = np.array([self._limits(i, j) for j in some])
        width, side = int(np.sum(sizes)), n + int(sizes.max()) + 2 * int(loops.LANES)
        a, a_others = np.zeros((len(some), n)), np.zeros(width)
        F, F_others = np.zeros((len(some), n)), np.zeros(width)
        out = np.zeros((len(some), loops.FIELDS))
        call = loops.class_pairs.bind(
            own[i], cross, others, sizes, columns, starts, limits, a, a_others, F, F_others, out,
            np.empty(side * side + 8 * side + 6 * int(loops.LANES)), np.empty(side, np.int64), np.empty(1, np.int64),
        )  # fmt: skip
        gap = -1.0 if self.s.target is None else self.s.target
        p, done = (0.0 if self.nu else -1.0), 0
        while done < len(some) and not stop.ended():
            done = call(n, width, p, self.nu, self.s.tolerance, gap, done, CALL)
        mine = slice(self.ends[i], self.ends[i + 1])
        for q, j in enumerate(some[:done]):
            theirs, there = slice(self.ends[j], self.ends[j + 1]), slice(columns[q], columns[q] + sizes[q])
            self.a[j - 1, mine], self.F[j - 1, mine] = a[q], F[q]
            self.a[i, theirs], self.F[i, theirs] = a_others[there], F_others[there]
        self.out[at[:done]] = out[:done]
        return at[:done]

    def _limits(self, i: int, j: int) -> tuple[float, float, float, float]:
        """Costs of a row of either class, the floor of gaps, and the primal value that law 1 allows."""
        if self.nu:
            problem = self._problem(self.place[i, j])
            bound = float(problem.upper[0])
            return bound, bound, problem.floor, problem.floor
        zero = 2.0 * min(float(self.sizes[i]) * self.costs[i], float(self.sizes[j]) * self.costs[j])  # P(w = 0)
        return self.costs[i], self.costs[j], 0.0, (1.0 + ROUNDING) * zero

    def _problem(self, k: int) -> KernelProblem:
        """Pair k without its rows: their number and their norms are all that an answer asks for."""
        if k not in self._problems:
            self._problems[k] = self._problem_of(k)
        return self._problems[k]

    def _problem_of(self, k: int) -> KernelProblem:
        (i, j), ends = self.pairs[k], self.ends
        if self.points.rows is None:
            return self.problem(self.points.take(np.r_[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]), k)
        norms = np.concatenate((self.norms[ends[i] : ends[i + 1]], self.norms[ends[j] : ends[j + 1]]))
        return self.problem(Points(self.points.kernel, Norms(norms), None), k)

    def solved(self, k: int, apart: tuple[float, str]) -> Solved | None:
        """Pair k as its own flow would leave it; None where the laws do not let it pass."""
        i, j = self.pairs[k]
        why, rounds, value, gap, relative, violation, rho, r = self.out[k].tolist()
        if why == loops.OPEN:
            return None
        mine, theirs = slice(self.ends[i], self.ends[i + 1]), slice(self.ends[j], self.ends[j + 1])
        alpha = np.concatenate((self.a[j - 1, mine], self.a[i, theirs]))
        gradient = np.concatenate((-self.F[j - 1, mine], self.F[i, theirs]))
        problem = self._problem(k)
        del self._problems[k]
        if problem.shrunk < 1.0:
            rho, r = problem.without_losses(gradient)
            word = certificate_of(problem, alpha, gradient, rho, r)
            gap, violation = word.primal - word.dual, word.violation
        status = GAP if why == loops.GAP else RULE
        result = KernelResult(alpha, rho + 0.0, r + 0.0, value, relative, int(rounds), status, gradient)
        result.primal = gap - value
        answer = problem.answer(result)
        error = apart[0] * float(np.sum(alpha)) * max(self.largest[i], self.largest[j])
        wider = error * float(np.sum(problem.losses))
        without = self.nu > 0.0 and gap - value > 0.0  # no better than w = 0
        if wider <= ROUNDING * abs(gap - value) and not without:
            word = Certificate(gap - value + wider, -value, violation + error)
            word.gap = problem.relative(word.primal, word.dual)
            word.sampled = f"{apart[1]}: within {error:.1g}" if apart[1] else ""
        else:  # the value of the model itself is wanted, not a bound of it, or better constants
            answer, word = judged(self.problem(self.points.take(np.r_[mine, theirs]), k), result)
            if (result.rho, result.r) != (rho, r) and not word.gap <= CONFIRMED:
                return None
        primal, dual = word.primal, word.dual
        word.primal, word.dual = answer.worth(primal), answer.worth(dual)
        most = self._limits(i, j)[3]
        allowed = gap + max(WIDER * gap, ROUNDING * abs(primal))
        if not (primal <= most and word.gap < np.inf and primal - dual <= allowed):
            return None
        if status is GAP and not word.gap <= PRINTED * self.s.target:
            return None
        if not self.points.kernel.positive and relative <= STATIONARY and dual > most:
            return None
        result.certified_gap = word.gap
        return Solved(answer, result, word)
