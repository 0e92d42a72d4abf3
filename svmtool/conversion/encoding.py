"""Turns a table into labelled rows: the label column, integer labels for strings, one-hot columns."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from svmtool.conversion.delimited import described
from svmtool.conversion.table import Column, Table
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
    say(f"label column: {table.names[found]} ({why}; --label chooses another)")
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
            say(f"column {name}: {len(one_hots[name])} features, {described([f'{name}={v}' for v in one_hots[name]])}")
            names += [f"{name}={value}" for value in one_hots[name]]
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
    place = table.names.index(names.label) if names.label in table.names else None
    if place is None:
        say(f"no column {names.label}: all labels are 0" if names.label is not None else "all labels are 0")
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
    if wanted not in table.names and wanted.isdecimal() and 1 <= int(wanted) <= len(table.names):
        return int(wanted) - 1
    return _known(table, wanted)


def _known(table: Table, name: str) -> int:
    if name not in table.names:
        raise SvmtoolError(f"{table.path} has no column {clipped(name)!r}: it has {described(table.names)}")
    return table.names.index(name)


def _codes(column: list[str], numbers: dict[str, float]) -> np.ndarray:
    return np.array([numbers[value] for value in column])


def _rows(table: Table, labels: np.ndarray, names: Names) -> Dataset:
    """The features of `names` as sparse rows; zeros are left out."""
    values_of = {f"{column}={value}": (column, value) for column, values in names.one_hot.items() for value in values}
    places = {name: k for k, name in enumerate(names.features)}
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rows, features, values
    done: set[str] = set()
    for j, name in enumerate(names.features):
        if name in values_of and name not in table.names:
            source = values_of[name][0]
            if source in done:
                continue
            done.add(source)
            cells = table.columns[_known(table, source)]
            features = np.array([places[f"{source}={cell}"] for cell in cells])
            parts.append((np.arange(len(cells)), features, np.ones(len(cells))))
            continue
        column: Column = table.columns[_known(table, name)]
        if isinstance(column, list):
            raise SvmtoolError(f"{table.path}: column {clipped(name)!r} is text, but was numeric in the training data")
        rows = np.flatnonzero(column)
        if np.any(np.abs(column[rows]) < SMALLEST):
            row = int(rows[np.argmax(np.abs(column[rows]) < SMALLEST)])
            raise SvmtoolError(
                f"{table.path}: {table.place(row)}, column {clipped(name)!r}: the value is too close to 0"
            )
        parts.append((rows, np.full(len(rows), j), column[rows]))
    i, j_all, v = (
        np.concatenate(p) if parts else np.zeros(0) for p in (zip(*parts, strict=True) if parts else [[]] * 3)
    )
    order = np.lexsort((j_all, i))
    indptr = np.zeros(len(table) + 1, np.int64)
    np.cumsum(np.bincount(i.astype(np.int64), minlength=len(table)), out=indptr[1:])
    return Dataset(labels, indptr, j_all[order].astype(np.int32), v[order].astype(float), len(names.features))
