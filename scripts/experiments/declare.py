"""Declaration of experiments: data, cells, and evaluation of their results.

A study (one small file in studies/) holds one `Experiment`.  Its cells are run by runner.py, each in a process of its
own; `conclude` makes a `Finding` of what they gave, which report.py prints.  Nothing here imports numpy.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Data:
    """A data set by name and its preparation.

    rows        so many rows, drawn with a fixed seed; None: all
    features    so many of the features that most rows have; None: all
    classes     "two": as they are, if there are two, else the largest class against the others; "as they are"
    test        share of rows held out where the set has no file of test rows (name + ".t")
    bias        a last feature of 1 for every row: a bias that is regularised
    unit        features divided by their largest absolute value
    normal      the label of one class: labels are 1 for it and -1 for the others, which are left out of the training
                rows, and thinned at random to a tenth of it in the test rows
    """

    name: str
    rows: int | None = None
    features: int | None = None
    classes: str = "two"
    test: float = 0.2
    bias: bool = False
    unit: bool = False
    normal: float | None = None

    def __str__(self) -> str:
        more = [] if self.rows is None else [f"{self.rows:,} rows"]
        more += [] if self.features is None else [f"{self.features} features"]
        return ", ".join([self.name, *more])


@dataclasses.dataclass(frozen=True)
class Cell:
    """One tool, method and problem: run in a process with limits, whose result is stored.

    tool, method   a module of tools/ and one of its METHODS
    objective      what certify.py is to compute, e.g. "hinge"; "" for none
    settings       C and whatever else the method takes (JSON values only)
    steps          what `fit` is called with in turn, e.g. tolerances; the first is run twice, the first time unmeasured
    vary           what a step is: "": what the tool makes of it; "rows": a number of rows, of one random order; else
                   the setting of that name, say C, and the tool gets the setting "tolerance" as its step
    folds          so many folds more are trained at each step, for the accuracy on rows held out: "validated"
    seconds        its fits may take so long together
    megabytes      of memory that it may have
    run            number of the repetition, which is the seed as well
    """

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
    run: int = 1

    def order(self) -> dict[str, Any]:
        """All parameters as JSON values."""
        return dataclasses.asdict(self)

    def key(self, version: str) -> str:
        """Name of its result in the cache, for one version of its tool."""
        text = json.dumps([self.order(), version], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return f"{self.tool} {self.method} on {self.data}"


@dataclasses.dataclass
class Outcome:
    """The result of a cell.

    steps   a dict for each step that ended: "step", "seconds" (of training alone), "rows", "features", "objective",
            "accuracy" (of the test rows), "validated" with folds, and what the tool adds; with a kernel "support"
            (vectors), and beside an objective "training_error" (share of rows); where training rows are of one class
            "rejected" (share of them) and "valid" and "auc", areas under the ROC curve of two halves of the test rows
    ended   "done", "over time", "out of memory", "failed" or "absent" (the tool is not installed)
    words   the last of what a failed cell said
    """

    cell: Cell
    steps: list[dict[str, Any]]
    ended: str
    words: str = ""

    @property
    def last(self) -> dict[str, Any] | None:
        """The last step that ended."""
        return self.steps[-1] if self.steps else None


@dataclasses.dataclass
class Dataset:
    """Rows of cells (numbers or words) under column heads."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[Any]]


@dataclasses.dataclass
class Plot:
    """Curves: name -> points (x, y)."""

    title: str
    x: str
    y: str
    curves: dict[str, list[tuple[float, float]]]
    log_x: bool = True
    log_y: bool = True


@dataclasses.dataclass
class Finding:
    """The result of an experiment.

    measured   one sentence with the figures that the claim is measured by
    holds      "yes", "no", "partly" or "not measured"
    why        where a solver of ours loses, or the claim fails: what limits it
    """

    measured: str
    holds: str
    tables: list[Dataset] = dataclasses.field(default_factory=list)
    plots: list[Plot] = dataclasses.field(default_factory=list)
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    name      as in `make experiments ONLY=name`
    source    paper, table or figure
    claim     what the paper says, in a message
    printed   the figures that it prints
    cells     quick -> the cells; quick: a few small ones that take seconds
    conclude  outcomes, in the order of the cells -> what came of it
    """

    name: str
    source: str
    claim: str
    printed: str
    cells: Callable[[bool], list[Cell]]
    conclude: Callable[[list[Outcome]], Finding]
