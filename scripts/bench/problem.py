"""Problems that all peers solve, and the objective value of any peer's model."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from svmtool.auditing import readers
from svmtool.auditing.fitting import fitted
from svmtool.auditing.value import objective
from svmtool.cli.arguments import linear
from svmtool.data.dataset import Dataset

CLASSES, NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7), (11, 12, 13)  # LIBLINEAR's -s
KERNEL_CLASSES, KERNEL_NUMBERS = (0,), (3,)  # LIBSVM's -s, with the RBF kernel
LINEAR, KERNEL = CLASSES + NUMBERS, KERNEL_CLASSES + KERNEL_NUMBERS
KERNEL_WORDS = {0: "c-svc", 3: "epsilon-svr"}
COSTS = (0.01, 1.0, 100.0)


class Problem(NamedTuple):
    """-s and -c, of LIBLINEAR, or with a kernel of LIBSVM: RBF, gamma 1/features; no bias is added to linear ones."""

    solver: int
    C: float
    kernel: bool = False

    @property
    def name(self) -> str:
        """As --solvers has it."""
        return f"{self.solver}{'k' if self.kernel else ''}"

    @property
    def keywords(self) -> dict[str, Any]:
        """As svmtool.fit takes it."""
        kernel = {"solver": KERNEL_WORDS[self.solver], "kernel": "rbf"} if self.kernel else {"solver": self.solver}
        return {"C": self.C, **kernel}

    @property
    def options(self) -> list[str]:
        return ["-s", str(self.solver), *(["-t", "2"] if self.kernel else []), "-c", f"{self.C:g}"]


def problems(classes: int | None, costs: tuple[float, ...] = COSTS, only: Container[str] = ()) -> list[Problem]:
    """The problems for a number of classes, or None: for targets that are numbers; only: names of those to keep."""
    plain, curved = (NUMBERS, KERNEL_NUMBERS) if classes is None else (CLASSES, KERNEL_CLASSES)
    kinds = [(solver, False) for solver in plain] + [(solver, True) for solver in curved]
    found = [Problem(solver, C, kernel) for solver, kernel in kinds for C in costs]
    return [problem for problem in found if not only or problem.name in only]


def value(problem: Problem, model: Any, rows: Dataset) -> float:
    """The objective of a model: a file, an estimator or an object of LIBLINEAR's or LIBSVM's modules."""
    settings = linear.parse([*problem.options, "-q", "rows"]).settings
    stated = readers.read(model, (len(rows), float(len(rows))), rows.n_features)
    return objective(settings, fitted(stated.model, settings, rows, None), rows)
