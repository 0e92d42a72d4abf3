"""`-s auto`: selects a solver for a training set and gives the reason.

The choice depends only on the shape of the data, the kind of its labels and the options given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from svmtool import registry
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.numbers import distinct
from svmtool.params import Settings
from svmtool.tolerances import GRAM_BELOW

MAX_CLASS_VALUES = 200  # integer labels with more distinct values than this are a regression

# kind of labels -> solvers in order of preference, for few and for many features
CANDIDATES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "two": ((2, 1, 0, 3, 31, 5, 6), (1, 2, 0, 3, 31, 5, 6)),
    "many": ((2, 1, 0, 3, 4, 31, 5, 6), (1, 2, 0, 3, 4, 31, 5, 6)),
    "real": ((11, 12, 13), (12, 11, 13)),
    "one": ((21, 1, 2), (21, 1, 2)),
}
LABELS_TEXT = {"two": "two labels", "many": "{values} labels", "real": "real-valued labels", "one": "one label"}


class Facts(NamedTuple):
    """What the choice depends on: shape of the data, kind of labels (two, many, real, one) and their number."""

    rows: int
    features: int
    nonzeros: int
    labels: str
    values: int


def facts_of(table: Dataset) -> Facts:
    labels = table.labels
    values = len(distinct(labels))
    if np.any(np.trunc(labels) != labels) or values > MAX_CLASS_VALUES:
        kind = "real"
    else:
        kind = {0: "two", 1: "one", 2: "two"}.get(values, "many")
    return Facts(len(labels), table.n_features, len(table.values), kind, values)


def choose(facts: Facts, given: tuple[str, ...] = ()) -> tuple[registry.Solver, str]:
    """The solver and the reason; SvmtoolError where no solver for such labels supports all options `given`."""
    wide = facts.features > GRAM_BELOW  # a Newton step factorises no Gram matrix
    fitting = [registry.find(number) for number in CANDIDATES[facts.labels][wide]]
    what = LABELS_TEXT[facts.labels].format(values=facts.values)
    for k, row in enumerate(fitting):
        if registry.supported_options(row).issuperset(given):
            shape = f"{facts.rows} rows, {facts.features} features, {facts.nonzeros} non-zeros"
            side = "coordinate descent over rows is cheap" if wide else "Newton steps are cheap"
            asked = " and it supports " + " ".join(dict.fromkeys(given)) if k else ""
            return row, f"{what}; {shape}: {side}{asked}"
    options = " ".join(dict.fromkeys(given))
    raise SvmtoolError(
        f"ERROR: -s auto: none of -s {registry.in_words(fitting)}, for {what}, supports {options}: choose -s"
    )


def select(settings: Settings, given: Sequence[str], table: Dataset) -> tuple[Settings, str]:
    """Settings with the solver that `-s auto` selects, and a line for the user; given: as of `choose`."""
    wanted = [option for option in given if option != "-s"]
    row, reason = choose(facts_of(table), tuple(wanted))
    chosen = settings.replace(solver=row.number)
    return chosen if "-B" in given else chosen.with_default_bias(), f"-s auto: -s {row.number} ({row.name}): {reason}\n"
