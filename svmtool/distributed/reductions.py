"""The reductions of training/reductions for partitioned rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.certify.linear import Certificate, worst
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.labels import Classes
from svmtool.distributed.block import Tube, TwoClasses
from svmtool.distributed.certifier import certify
from svmtool.distributed.collective import Collective, LostError
from svmtool.distributed.objective import DistributedRows, DistributedTask, KeptDualPoint
from svmtool.limits import StopFlag, TimeShares
from svmtool.objectives import losses
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED, Result, Rule
from svmtool.training.inputs import refuse_range
from svmtool.training.reductions.base import Reduction
from svmtool.training.reductions.one_vs_rest import OneVsRest
from svmtool.training.reductions.regression import Regression

# Solver numbers whose dual method visits single rows, and the method that solves the same problem by sums over rows
OVER_SUMS = {1: "-s 2", 3: "-s 31 --loss-power 1", 7: "-s 0", 12: "-s 11", 13: "-s 31 --loss-power 1, for a tube"}
OVER_SUMS[21] = "-s 31 --loss-power 1, with a row for rho"
GAP_PER_EPS, MAX_GAP = 1e-2, 1e-2  # their runs end at the certified gap min(GAP_PER_EPS * -e, MAX_GAP)


class DistributedReduction(Reduction):
    """Base of the reductions of distributed rows; holds sizes of the rows instead of the rows.

    After a loss of ranks all start again with their rows, and the current problem is resumed from the best weights,
    which the driver holds.
    """

    def __init__(self, ranks: Collective, settings: Settings, labels: np.ndarray | None = None):
        """labels: of all rows in use, in the order that determines the order of classes; None: read from the ranks."""
        self.ranks, self.settings, self.solver, self._ordered = ranks, settings, settings.row, labels
        self.loss = losses.of(self.solver.loss, settings.problem.loss_power)
        self.row_weights = None
        ranks.surviving(self._read_facts)

    def _read_facts(self) -> None:
        s, facts = self.settings.problem, self.ranks.gather("facts")
        n, nnz = (sum(part[key] for part in facts) for key in ("n", "nnz"))
        self.n_features = max((part["features"] for part in facts), default=0)
        largest = max([1.0, self.bias, *(part["largest"] for part in facts)])
        self._largest = max((part["label"] for part in facts), default=0.0)
        labels = self._largest_label(np.array([self._largest]))
        shares = self.solver.kind == "one-class"
        refuse_range(n, s.C, s.class_weights, self.ranks.weights, largest, labels, shares)
        self._read_labels(np.zeros(0))
        self.rows = DistributedRows(self.ranks, n, self.n_features, nnz, self.bias, self._set_layout())

    @property
    def bias(self) -> float:
        """The bias feature of the rows on the ranks."""
        return self.settings.problem.bias

    def solution_at(self, w: np.ndarray) -> np.ndarray:
        """The solution, copied, for weights w of the current task."""
        return w.copy()

    def decisions(self, W: np.ndarray) -> np.ndarray:
        """Weights whose products with rows are the decision values of these solutions."""
        return W

    def _set_layout(self) -> float:
        """Have the ranks choose the layout of their rows; returns their largest `gram_entries`."""
        return max(self.ranks.gather("set_layout", self.n_features, self.bias), default=1.0)

    def surviving(self, request: Callable[[], Any]) -> Any:
        """Collective.surviving, for requests that need the layout to be set."""
        return self.ranks.surviving(request, self._restart)

    def _restart(self) -> None:
        while True:
            with contextlib.suppress(LostError):
                self.ranks.restart()
                self._set_layout()
                return

    def _begin(self, spec: Any, costs: np.ndarray, **more: Any) -> DistributedTask:
        """Start a problem on the ranks; returns its task."""
        n, r = sum(self.ranks.gather("begin", spec)), self.rows
        nnz = r.nnz * n // max(r.n, 1)
        rows = DistributedRows(self.ranks, n, r.n_features, nnz, r.bias, r.gram_entries)
        weights = self.ranks.weights
        if weights is not None and n:  # solvers need only the size of costs
            costs = costs * float(np.mean(weights[weights > 0.0]))
        free_bias = more.pop("free_bias", not self.settings.problem.regularize_bias)
        self._task = DistributedTask(rows, costs, free_bias, **more)
        return self._task

    def _rule_of(self, k: int, eps: float) -> Rule:
        """See Reduction.  Rules on dual variables need single rows; a certified gap replaces them."""
        if self.solver.number in OVER_SUMS or self._l1:
            return Rule(gap=min(GAP_PER_EPS * eps, MAX_GAP))
        return super()._rule_of(k, eps)

    @property
    def _l1(self) -> bool:
        return self.solver.regulariser == "|w|_1"

    @property
    def method_line(self) -> str:
        """A line for the user if another solver number's method is used, else empty."""
        n = self.solver.number
        if n not in OVER_SUMS:
            return ""
        ends = "" if self.eps is None else f", to a certified gap of {self.rule(0).gap:g}"
        return f"Spark: -s {n} by the primal method of {OVER_SUMS[n]}{ends}\n"

    def fit(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None,
        verified: bool = False,
    ) -> list[Result]:  # fmt: skip
        """See Reduction; all results are certified."""
        return self.fit_and_certify(start, report, stop)[0]

    def fit_and_certify(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ) -> tuple[list[Result], Certificate]:
        """See Reduction; each problem is solved and certified before the next is started."""
        stop = self.surviving(lambda: self._prepared(stop))
        shares, solved = TimeShares(stop, self.count, 1), []
        if self.lines is not None:
            self.lines.begin(self.count)
        for k in range(self.count):
            solved.append(self._solved(k, start, report, shares.next()))
            if self.lines is not None:
                self.lines.end_turn(k, solved[-1][0])
        return [result for result, _ in solved], worst([certificate for _, certificate in solved])

    def _solved(
        self, k: int, start: np.ndarray | None, report: Callable[..., None] | None, stop: StopFlag
    ) -> tuple[Result, Certificate]:
        """The result of problem k and its certificate; resumes after losses of ranks."""
        best: Result | None = None

        def keep(**record: Any) -> None:
            nonlocal best
            w = self._task.weights
            if w is not None and (best is None or record["objective"] < best.history[-1]["objective"]):
                best = Result(self.solution_at(w), INTERRUPTED, record["iteration"] + 1, [record])
            if report is not None:
                report(**record)

        before = None
        while True:
            try:
                before = self._solve(k, start, keep, stop, before)
                return before, self.certify(k, before)
            except LostError:
                before = best if before is None else before
                self._restart()

    def _untouched(self, k: int, w: np.ndarray | None, stop: StopFlag) -> None:
        """Return None: the ranks must start the problem in any case."""

    def certify(self, k: int, result: Result) -> Certificate:
        """The certificate of a result of problem k, the current one of the ranks."""
        if not self.rows.n:
            return Certificate(0.0, 0.0, 0.0)
        free_bias = not self.settings.problem.regularize_bias
        return certify(self.ranks, self.loss, result.w, free_bias, isinstance(result.alpha, KeptDualPoint), self._l1)


class DistributedOneVsRest(DistributedReduction, OneVsRest):
    """Classification: one problem for each class, solved one after the other."""

    def __init__(self, ranks: Collective, settings: Settings, labels: np.ndarray | None = None):
        super().__init__(ranks, settings, labels)
        self._equations = []
        self.count = self.classes.problems if self.rows.n else 0

    def _read_labels(self, labels: np.ndarray) -> None:
        """Read the labels of the blocks, in order of appearance, and the number of rows of each."""
        parts = [] if self._ordered is not None else self.ranks.gather("classes")
        if self._ordered is not None:
            self.classes = Classes(self._ordered)
        else:
            self.classes = Classes(np.array([label for part, _ in parts for label in part]))
            self.classes.counts = np.zeros(len(self.classes.labels), np.int64)
            np.add.at(self.classes.counts, self.classes.number, [n for _, counts in parts for n in counts])
        self.factor, self.missing = self.classes.weights(self.settings.problem.class_weights)

    def _summed(self, r: Any) -> ClassStatistics:
        own = [label for label, _ in self.settings.problem.class_weights]
        whole = ClassStatistics(own)
        whole.reserve(self.n_features, self.classes.labels)  # in this order, which no block needs to have
        for part in self.ranks.gather("class_statistics", own):
            whole.join(part)
        return whole

    def task(self, k: int) -> DistributedTask:
        s, two = self.settings.problem, len(self.classes.labels) == 2
        costs = s.C * np.array([self.factor[k], self.factor[1 - k] if two else 1.0])
        target = 0.0 if self.loss.target == 0.0 else None
        spec = TwoClasses(self.classes.labels[k], *costs.tolist(), target)  # type: ignore[call-arg]
        return self._begin(
            spec, costs[costs > 0.0], target=None if target is None else np.full(1, target), p=self.loss.power,
            options=self.settings.run.options,
            equations=self._equations[k] if self._equations else None,
        )  # fmt: skip


class DistributedRegression(DistributedReduction, Regression):
    """Regression: each row twice, as the two sides of the tube."""

    def _read_labels(self, labels: np.ndarray) -> None:
        """No effect: the blocks hold the labels."""

    def finish(self, result: Result) -> None:
        """No effect: the blocks hold the dual point."""

    def task(self, k: int) -> DistributedTask:
        C, targets = self.settings.problem.C, np.array([self._largest])
        return self._begin(Tube(C, self.settings.problem.p), np.array([C]), target=targets, p=self.loss.power)
