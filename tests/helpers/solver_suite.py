"""Helpers for tests of solvers: registry rows, their methods, problems, and solving.

The tests of a row follow from the row.  A solver with several methods (METHODS in its module) is tested with each one
that applies to a problem, through `Reduction.solver_method`.  A row whose loss has a free power is tested with each of
POWERS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import reference
from optima import Problem
from reference import rows_in, table_of
from sampling import in_turn

from svmtool import registry
from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.replicated import base_rows
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.solvers.shared.interior_steps import possible
from svmtool.training.reductions.base import Reduction
from svmtool.training.reductions.one_vs_rest import OneVsRest

GAP = 1e-11

MFN, ALM = "svmtool.solvers.mfn", "svmtool.solvers.alm"


# method -> whether it applies to a task; others apply everywhere
NEEDS: dict[str, Callable[[Task], bool]] = {
    "sums": lambda task: task.equations is not None,
    "stream": lambda task: task.equations is not None,
    "bias": lambda task: task.bias_only_solution() is not None,
    "epochs": lambda task: DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias),
    "dual": lambda task: base_rows(task.rows).have_kernel and not task.free_bias,
    "interior": possible,
}
# module -> method -> powers of the hinge that it serves, where it does not serve all
SOME_POWERS: dict[str, dict[str, tuple[float, ...]]] = {
    ALM: {"epochs": (1.0, 2.0), "epochs-dual": (1.0, 2.0)},
}
POWERS = (1.0, 1.5, 2.0)


def methods_of(row: registry.Solver) -> list[str]:
    """The methods of a row's solver for two-class problems."""
    return [method for method in registry.methods(row) if method != "bias"]


def applies(method: str, task: Task) -> bool:
    """Whether a solver can begin with this method."""
    return NEEDS.get(method.partition("-")[0], lambda task: True)(task)


def serves(row: registry.Solver, method: str, task: Task) -> bool:
    """Whether this row's solver can solve a task with this method."""
    if not isinstance(task, Task):  # of all classes at once
        return method != "zero"
    return applies(method, task) and task.p in SOME_POWERS.get(row.module, {}).get(method, (task.p,))


def force(problems: Reduction, method: str) -> None:
    """Make the solver begin with this method if it applies; otherwise it uses its plan."""
    problems.prepare()
    known, task = registry.methods(problems.method), problems.task(0)
    at_bias = "bias" in known and applies("bias", task)
    used = method in known and serves(problems.method, method, task) and not at_bias
    problems.solver_method = method if used else None


class Case(NamedTuple):
    """A row of the registry, the power of its loss, and the method it begins with (empty: the solver's plan)."""

    row: registry.Solver
    power: float
    path: str = ""

    @property
    def id(self) -> str:
        power = f"-p{self.power:g}" if self.row.loss == "Lp hinge" else ""
        return f"{self.row.name}{power}{'-' if self.path else ''}{self.path}"

    @property
    def hinge(self) -> bool:
        return self.row.loss == "hinge" or (self.row.loss == "Lp hinge" and self.power == 1.0)


def each_power(row: registry.Solver) -> list[Case]:
    return [Case(row, power) for power in (POWERS if row.loss == "Lp hinge" else (2.0,))]


def each_path(case: Case) -> list[Case]:
    module = case.row.module
    served, power = SOME_POWERS.get(module, {}), 1.0 if case.hinge else case.power
    paths = [path for path in methods_of(case.row) if power in served.get(path, POWERS)]
    return [case._replace(path=path) for path in paths] or [case]


# Regression and ordinal rows have separate suites; so has the hinge with |w|_1, a linear programme whose minimiser
# need not be unique (test_lp_svm.py), and FALSVM, which has no optimum (test_falsvm.py).
TWO_CLASS = [
    row
    for row in registry.SOLVERS
    if row.kind == "classification" and row.optimal and (row.loss, row.regulariser) != ("hinge", "|w|_1")
]
CASES = [case for row in TWO_CLASS for case in each_power(row)]
EVERYWHERE = [path for case in CASES for path in each_path(case)]
ALIKE: dict[tuple, list[Case]] = {}  # cases of one method and loss, which differ in their rows only
for case in EVERYWHERE:
    ALIKE.setdefault((case.row.module, case.hinge or (case.row.loss, case.power), case.path), []).append(case)
# With every commit a method runs for one of the rows that have it: the rows of a module take its methods in turn.
COMMON = [cases[methods_of(cases[0].row).index(path) % len(cases)] for (_, _, path), cases in ALIKE.items()]
every_path = pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=c.id, marks=() if c in COMMON else pytest.mark.exhaustive) for c in EVERYWHERE],
)
every_row = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
LAYOUTS = ("csr", "dense")


def layout_of(case: Case, turn: int, k: int = 0) -> str:
    """The layout of a case's problem number k: one by turn 0, the other one by turn 1."""
    return LAYOUTS[(EVERYWHERE.index(case) + k + turn) % 2]


def share(case: Case, turn: int, count: int, of: list[Case] = COMMON) -> list[int]:
    """The numbers below count that a case checks in a turn (see sampling.py), at least one of them by turn 0.

    The cases of a module share the numbers, so that each module checks all of them.  of: the suite's with every commit.
    """
    cases = [other for other in of if other.row.module == case.row.module]
    return in_turn(range(count), cases.index(case) if case in cases else 0, turn, min(count, len(cases)))


class Solved:
    """Solution of a problem with the loss of a case: w, result, certificate and settings."""

    def __init__(self, case: Case, p: Problem, layout: str = "csr", start=None, stop=None, report=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        self.p = p = posed(case, p)
        self.settings = Settings.of(
            solver=case.row.number, C=1.0, bias=p.bias, regularize_bias=not p.free,
            loss_power=case.power, **settings,
        )  # fmt: skip
        problems = OneVsRest(table_of(p.X, p.y, p.cost), self.settings)
        problems.rows = rows_in(layout, p.X[p.cost > 0], p.bias)
        force(problems, case.path)
        first = problems.classes.labels[0]
        start = None if start is None else first * np.asarray(start)[:, None]
        [self.result] = problems.fit(start, report, stop)
        self.certificate = problems.certify(0, self.result)
        self.w = first * self.result.w  # the first class of the data counts as +1 there
        self.f = self.p.value(self.w)

    @property
    def status(self):
        return self.result.status

    @property
    def radius(self) -> float:
        """Bound of the distance from w to the minimiser: f grows by at least half its square (bias regularised).

        With |w|_1 this does not hold; a hundred times the bound suffices for these problems.
        """
        if self.p.l1:
            return 100.0 * np.sqrt(GAP * self.f) + 1e-7
        return 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


def posed(case: Case, p: Problem) -> Problem:
    """The problem with the loss of the case."""
    return p._replace(loss=case.row.loss, power=case.power, l1=case.row.regulariser == "|w|_1")


def supported(case: Case, p: Problem) -> bool:
    return not p.free or "-R" in case.row.supported


TALL = {"n": 60, "d": 8}
WIDE = {"n": 20, "d": 45}
PROBLEMS = {
    "tall": reference.random_problem(1, **TALL),
    "tall-easy": reference.random_problem(2, **TALL, C=0.01),
    "tall-hard": reference.random_problem(3, **TALL, C=100.0),
    "tall-bias": reference.random_problem(4, **TALL, bias=1.0),
    "tall-free": reference.random_problem(5, **TALL, bias=1.0, free=True),
    "wide": reference.random_problem(6, **WIDE),
    "wide-hard-bias": reference.random_problem(7, **WIDE, C=100.0, bias=2.0),
    "wide-free": reference.random_problem(8, **WIDE, bias=1.0, free=True),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]
