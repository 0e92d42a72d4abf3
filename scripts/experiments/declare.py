"""Declaration of experiments: data, tools, cells, and evaluation of their results.

A study (one file of studies/ for each paper) holds the cells and conclusions of its experiments, claims.csv what the
paper claims.  Cells are run by runner.py, each in a process of its own; `conclude` turns the results into a `Finding`,
which report.py prints.  Nothing here imports numpy.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

NAMES = {  # of sets that are not all of the papers' sets of that name, or have two of their classes
    "covtype.binary.scale01.part": "covtype (92,962 rows)",
    "connect-4": "connect-4 (win or not)",
    "shuttle.scale": "shuttle (class 1 or not)",
    "poker": "poker (25,010 rows, class 0 or not)",
}


@dataclasses.dataclass(frozen=True)
class Data:
    """A data set by name and its preparation: two classes, as they are, or else the largest against the others.

    rows        number of rows, drawn with a fixed seed; None: all
    features    number of the most frequent features; None: all
    test        share of rows held out where the set has no file of test rows (name + ".t")
    bias        whether every row gets a last feature of 1: a regularised bias
    unit        whether features are divided by their largest absolute value
    normal      the label of the normal class, which becomes 1; the others become -1, are left out of the training rows
                and thinned at random to a tenth of it in the test rows
    """

    name: str
    rows: int | None = None
    features: int | None = None
    test: float = 0.2
    bias: bool = False
    unit: bool = False
    normal: float | None = None

    def __str__(self) -> str:
        more = [] if self.rows is None else [f"{self.rows:,} rows"]
        more += [] if self.features is None else [f"{self.features} features"]
        return ", ".join([NAMES.get(self.name, self.name), *more])


def linear_set(name: str, bias: bool = True, **more: Any) -> Data:
    """A set for linear tools: features up to 1 in size, except text, whose rows have length 1."""
    return Data(name, bias=bias, unit=not name.startswith("imdb"), **more)


class Tool(NamedTuple):
    """A module of tools/, one of its methods, settings and steps, and what certify.py is to compute; free: its bias is,
    so that its rows have no feature for it."""

    tool: str
    method: str
    settings: dict[str, Any] = {}
    steps: tuple[Any, ...] = (None,)
    objective: str = ""
    free: bool = False


class Case(NamedTuple):
    """A set with its own settings and steps, in place of those of all."""

    data: Data
    settings: dict[str, Any] = {}
    steps: Sequence[Any] | None = None


@dataclasses.dataclass(frozen=True)
class Cell:
    """One tool, method and problem: run in a process with limits, whose result is stored.

    label          of the tool in tables
    objective      what certify.py is to compute, e.g. "hinge"; "" for none
    settings       C and whatever else the method takes (JSON values only)
    steps          arguments of `fit`, in turn, e.g. tolerances; before the first a few rows are run unmeasured
    vary           meaning of a step: "": the tool's own; "rows": a number of rows, of one random order; else the
                   setting of that name, say C, and the tool gets the setting "tolerance" as its step
    folds          folds of a cross-validation at each step, whose accuracy is "validated"; 0: none
    seconds        time limit of all its fits together, but the unmeasured one
    megabytes      memory limit
    """

    label: str
    tool: str
    method: str
    data: Data
    objective: str = ""
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    steps: tuple[Any, ...] = (None,)
    vary: str = ""
    folds: int = 0
    seconds: float = 20.0
    megabytes: int = 6000

    def order(self) -> dict[str, Any]:
        """All parameters as JSON values."""
        return dataclasses.asdict(self)

    def key(self, version: str) -> str:
        """Name of its result in the cache, for one version of its tool."""
        text = json.dumps([self.order(), version], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return f"{self.tool} {self.method} on {self.data}"


def grid(
    tools: dict[str, Tool], cases: Iterable[Data | Case], settings: dict | None = None, steps: Sequence | None = None,
    **more: Any,
) -> list[Cell]:  # fmt: skip
    """The cells of all tools on all sets; settings: of all; steps: in place of the tools' own."""
    found = []
    for data, own, its in (c if isinstance(c, Case) else Case(c) for c in cases):
        for name, t in tools.items():
            rows, asked = dataclasses.replace(data, bias=data.bias and not t.free), tuple(its or steps or t.steps)
            given = {**(settings or {}), **own, **t.settings}
            found.append(Cell(name, t.tool, t.method, rows, t.objective, given, asked, **more))
    return found


def plan(
    tools: dict[str, Tool], full: Sequence[Data | Case], quick: Sequence[Data | Case], settings: dict | None = None,
    steps: Sequence | None = None, seconds: tuple[float, float] = (12.0, 3.0), **more: Any,
) -> tuple[list[Cell], list[Cell]]:  # fmt: skip
    """The cells of a full run and of a quick one, with the seconds of a cell of both."""
    return tuple(grid(tools, cases, settings, steps, seconds=s, **more)
                 for cases, s in zip((full, quick), seconds, strict=True))  # fmt: skip


@dataclasses.dataclass
class Outcome:
    """The result of a cell.

    steps   a dict for each step that ended: "step", "seconds" (of training alone), "rows", "objective",
            "accuracy" (of the test rows), "validated" with folds, and what the tool adds; with a kernel "support"
            (vectors), and with an objective "training_error" (share of rows); with training rows of one class
            "rejected" (share of them) and "valid" and "auc", areas under the ROC curve of two halves of the test rows;
            of a paper's algorithm "trace": pairs of seconds and objective, of the iterates that improve on all before
            and of the last
    ended   "done", "over time", "out of memory", "failed", "absent" (the tool or the set is not there) or "left out"
            (the time of the experiment was used up)
    words   the end of a failed cell's output
    cut     the step of a paper's algorithm that the time limit ended, at its last iterate: `ended` is "over time"
    """

    cell: Cell
    steps: list[dict[str, Any]]
    ended: str
    words: str = ""
    cut: dict[str, Any] | None = None

    @property
    def last(self) -> dict[str, Any] | None:
        """The last step that ended."""
        return self.steps[-1] if self.steps else None

    @property
    def weights(self) -> list[dict[str, Any]]:
        """All steps that gave weights: those that ended, and the one that was cut."""
        return self.steps if self.cut is None else [*self.steps, self.cut]

    @property
    def seconds(self) -> float:
        """Seconds of its last step; inf if it did not end."""
        return self.fact("seconds", float("inf"))

    def fact(self, name: str, other: float = float("nan")) -> float:
        """A fact of its last step; nan if it did not end."""
        return self.last.get(name, other) if self.ended == "done" and self.last else other

    def points(self, y: str, x: str = "step") -> list[tuple[float, float]]:
        """(x, y) of its steps for a curve, without steps that have no x or y."""
        return [(s[x], s[y]) for s in self.steps if x in s and y in s]


class Dataset(NamedTuple):
    """Rows of cells (numbers or words) under column heads."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[Any]]


@dataclasses.dataclass
class Finding:
    """The result of an experiment.

    measured   the measured figures that decide on the claim, as text
    holds      "yes", "no", "partly" or "not measured": of the paper's algorithm as printed
    why        what limits the paper's algorithm, or why the claim fails
    """

    measured: str
    holds: str
    tables: list[Dataset] = dataclasses.field(default_factory=list)
    why: str = ""


class Experiment(NamedTuple):
    """A table or figure of a paper.

    name      as in `make experiments ONLY=name`
    source    paper, table or figure
    claim     the paper's claim, as text
    printed   the figures that the paper prints
    plan      the cells of a full run, and a few small ones that take seconds
    conclude  outcomes, in the order of the cells -> Finding
    budget    seconds for all its cells in a full run: those that have not begun by then are left out
    """

    name: str
    source: str
    claim: str
    printed: str
    plan: tuple[list[Cell], list[Cell]]
    conclude: Callable[[list[Outcome]], Finding]
    budget: float = 60.0

    def cells(self, quick: bool) -> list[Cell]:
        return self.plan[quick]
