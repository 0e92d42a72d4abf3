"""Facts about a file of rows, as pairs of a name and a text."""

from __future__ import annotations

import os

import numpy as np

from svmtool.compiled.loops.text.text_loops import SETS, SOME_LABELLED
from svmtool.data.dataset import Dataset
from svmtool.data.label_sets import SetClasses
from svmtool.errors import DataError, named
from svmtool.formats.models.text import load
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.additions import NO_QUERY
from svmtool.inspection.facts import SHOWN, Fact


def holds_rows(path: str) -> bool:
    """Whether a file begins as rows do: a model's first word begins with a letter."""
    if not os.path.isfile(path):  # a pipe can be read only once
        return False
    with load(path) as text:
        text.skip_blanks()
        word = text.token()
    return word == b"nan" or word[:1] in tuple(b"%c" % c for c in b"#+-.0123456789")


def facts_of_rows(path: str) -> list[Fact]:
    """Numbers of rows, features, labels and queries; DataError for the first malformed line."""
    try:
        rows = svmlight.read(path, 0, SOME_LABELLED)
    except DataError as e:
        try:
            rows = svmlight.read(path, 0, SETS)
        except DataError:
            raise e from None
    size = len(rows) * rows.n_features
    with named(path):
        found = [
            ("rows", str(len(rows))),
            ("features", str(rows.n_features)),
            ("values", f"{len(rows.values)}" + (f", {100 * len(rows.values) / size:.3g} % of all" if size else "")),
            ("labels", _labels(rows)),
        ]
    return [*found, ("queries", _queries(rows.groups))]


def _labels(rows: Dataset) -> str:
    """The rows of each label, most rows first; a range where labels are no whole numbers."""
    there = rows.labels[~np.isnan(rows.labels)]
    bare = len(rows) - len(there)
    end = f"; {bare} rows without" if bare else ""
    if rows.sets is not None:
        classes = SetClasses(rows.sets)
        labels, counts = np.array(classes.labels, np.float64), classes.counts
        end = f"; {len(rows.sets.labels) / max(len(rows), 1):.3g} a row"
    elif np.all(there == np.trunc(there)):
        labels, counts = np.unique(there, return_counts=True)
    else:
        return f"numbers from {there.min():g} to {there.max():g}{end}"
    first = np.argsort(-counts, kind="stable")[:SHOWN]
    shown = ", ".join(f"{counts[k]} of {labels[k]:.17g}" for k in first.tolist())
    more = len(labels) - len(first)
    return (f"{len(labels)}: {shown}" if shown else "none") + (f" and {more} more" if more else "") + end


def _queries(groups: np.ndarray | None) -> str:
    """The number of different qid, and of the rows that have none."""
    if groups is None:
        return "none"
    there = groups[groups != NO_QUERY]
    counts = np.unique(there, return_counts=True)[1]
    bare = len(groups) - len(there)
    end = f"; {bare} rows without" if bare else ": -v N --groups keeps each in one fold"
    return f"{len(counts)}, of {counts.min()} to {counts.max()} rows each{end}"
