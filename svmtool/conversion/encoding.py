"""Turns a table into labelled rows: the label column, integer labels for strings, one-hot columns."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from svmtool.conversion.delimited import described
from svmtool.conversion.table import Table, refuse_repeated_names
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped
from svmtool.formats.names import Names

LABEL_NAMES = ("label", "target", "y", "class")  # a column of such a name holds the labels, in any case of letters
SMALLEST = 2.2250738585072014e-308  # readers of LIBSVM's format refuse smaller numbers


def label_column(table: Table, wanted: str | None, say: Callable[[str], None]) -> int:
    """Index of the label column: the wanted one (name or number), else one of LABEL_NAMES, else the last."""
    if wanted is not None:
        return _chosen(table, wanted)
    named = [k for k, name in enumerate(table.names) if name.lower() in LABEL_NAMES]
    found = named[0] if named else len(table.names) - 1
    why = "by its name" if named else "the last"
    say(f"label column: {described([table.names[found]])} ({why}; --label chooses another)")
    return found


def fitted(
    table: Table, label: int | None, one_hot: bool, drop: Collection[str], say: Callable[[str], None]
) -> tuple[Dataset, Names]:
    """Rows of a table, and their names; label: the label column, None: all labels are 0.

    Strings in the label column become 1, 2, 3 .. in alphabetical order; other columns of strings become one feature for
    each value if `one_hot` is set, and raise SvmtoolError otherwise.
    """
    classes: dict[int, str] = {}
    labels: np.ndarray = np.zeros(len(table))
    if label is not None:
        column = table.columns[label]
        if isinstance(column, list):
            classes = {k + 1: value for k, value in enumerate(sorted(set(column)))}
            labels = _codes(column, {value: float(k) for k, value in classes.items()})
            say(f"labels: {described([f'{k} = {value}' for k, value in classes.items()], 6)}")
        else:
            labels = column
    left_out = {_chosen(table, name) for name in drop}
    one_hots: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    for k, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        if k == label or k in left_out:
            continue
        if isinstance(column, list):
            if not one_hot:
                raise SvmtoolError(
                    f"{table.path}: column {clipped(name)!r} holds text ({clipped(column[0])!r} in {table.place(0)}): "
                    f"--one-hot makes a feature of each value, --drop {clipped(name)!r} leaves the column out"
                )
            one_hots[name] = tuple(sorted(set(column)))
            made = [f"{name}={value}" for value in one_hots[name]]
            say(f"column {described([name])}: {len(made)} features, {described(made)}")
            names += made
        else:
            names.append(name)
    if len(set(names)) < len(names):
        raise SvmtoolError(f"{table.path}: a column has the name of a feature COLUMN=VALUE: rename it")
    found = Names(tuple(names), classes, None if label is None else table.names[label], one_hots)
    return _rows(table, labels, found), found


def applied(table: Table, names: Names, say: Callable[[str], None]) -> Dataset:
    """Rows of a table in the columns and with the labels of another conversion's names.

    Columns are found by name in any order; those of strings must have been read as such.  Without the label column
    all labels are 0.  Raises SvmtoolError for a missing column, and for a label or value that the names do not have.
    """
    labels = np.zeros(len(table))
    place = table.index.get(names.label) if names.label is not None else None
    if place is None:
        say("all labels are 0" if names.label is None else f"no column {described([names.label])}: all labels are 0")
    else:
        column = table.columns[place]
        if names.classes:
            known = {value: float(k) for k, value in names.classes.items()}
            _refuse_unknown(table, column, known, names.label or "", "label")
            labels = _codes(column, known)
        elif isinstance(column, list):
            raise SvmtoolError(f"{table.path}: column {names.label!r} is text, but was numeric in the training data")
        else:
            labels = column
    for name, values in names.one_hot.items():
        _refuse_unknown(table, table.columns[_known(table, name)], values, name, "value")
    known_columns = {*names.features, *names.one_hot, names.label}
    unused = [name for name in table.names if name not in known_columns]
    if unused:
        say(f"columns ignored, because the names file lacks them: {described(unused)}")
    return _rows(table, labels, names)


def _refuse_unknown(table: Table, column: list[str], known: Collection[str], name: str, what: str) -> None:
    unknown = set(column) - set(known)
    if unknown:
        row = next(i for i, value in enumerate(column) if value in unknown)
        raise SvmtoolError(
            f"{table.path}: {table.place(row)}, column {clipped(name)!r}: the {what} {clipped(column[row])!r} "
            f"is unknown; known are {described(sorted(known))}"
        )


def _chosen(table: Table, wanted: str) -> int:
    """The column that the user names, or numbers from 1 on."""
    if wanted not in table.index and wanted.isdecimal() and 1 <= int(wanted) <= len(table.names):
        return int(wanted) - 1
    return _known(table, wanted)


def _known(table: Table, name: str) -> int:
    if name not in table.index:
        raise SvmtoolError(f"{table.path} has no column {clipped(name)!r}: it has {described(table.names)}")
    return table.index[name]


def _codes(column: list[str], numbers: dict[str, float]) -> np.ndarray:
    return np.array([numbers[value] for value in column])


def _rows(table: Table, labels: np.ndarray, names: Names) -> Dataset:
    """The features of `names` as sparse rows; zeros are left out.

    Two passes over the columns: the first counts the values of each row, the second puts them there.
    """
    refuse_repeated_names("the names", names.features)
    places = {name: j for j, name in enumerate(names.features)}
    value_names = {f"{column}={value}": column for column, values in names.one_hot.items() for value in values}
    of_values = {column: _features_of(column, values, places) for column, values in names.one_hot.items()}
    columns: dict[int, np.ndarray | int] = {}  # column of the table -> its feature, or the feature of each row
    for j, name in enumerate(names.features):
        source = name if name in table.index else value_names.get(name, name)
        k, column = _known(table, source), table.columns[_known(table, source)]
        if source != name:
            columns[k] = columns[k] if k in columns else _codes(column, of_values[source])
        elif isinstance(column, list):
            raise SvmtoolError(f"{table.path}: column {clipped(name)!r} is text, but was numeric in the training data")
        else:
            columns[k] = j
    counts = np.zeros(len(table) + 1, np.int64)
    for k, features in columns.items():
        counts[1:] += 1 if isinstance(features, np.ndarray) else table.columns[k] != 0.0
    indptr = np.cumsum(counts)
    indices, values, free = np.empty(indptr[-1], np.int32), np.empty(indptr[-1]), indptr[:-1].copy()
    for k, features in columns.items():
        if isinstance(features, np.ndarray):
            rows, numbers = np.arange(len(table)), 1.0
        else:
            rows = np.flatnonzero(table.columns[k])
            numbers = table.columns[k][rows]
            _refuse_subnormal(table, k, rows, numbers)
        at = free[rows]
        indices[at], values[at] = features, numbers
        free[rows] += 1
    if of_values:  # they may lie between others
        order = np.lexsort((indices, np.repeat(np.arange(len(table)), counts[1:])))
        indices, values = indices[order], values[order]
    return Dataset(labels, indptr, indices, values, len(names.features))


def _features_of(column: str, values: Collection[str], places: dict[str, int]) -> dict[str, float]:
    """The feature of each value of a one-hot column."""
    lacking = next((f"{column}={value}" for value in values if f"{column}={value}" not in places), None)
    if lacking is not None:
        raise SvmtoolError(f"the names lack the feature {clipped(lacking)!r}, a value of a one-hot column")
    return {value: places[f"{column}={value}"] for value in values}


def _refuse_subnormal(table: Table, k: int, rows: np.ndarray, numbers: np.ndarray) -> None:
    small = np.abs(numbers) < SMALLEST
    if np.any(small):
        where = f"{table.place(int(rows[np.argmax(small)]))}, column {clipped(table.names[k])!r}"
        raise SvmtoolError(f"{table.path}: {where}: the value is too close to 0")
