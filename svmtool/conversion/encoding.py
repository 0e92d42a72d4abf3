"""Turns a table into labelled rows: the label column, integer labels for strings, one-hot columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from svmtool.conversion import gaps
from svmtool.conversion.delimited import described
from svmtool.conversion.gaps import Rules
from svmtool.conversion.header import LABEL_NAMES, is_number
from svmtool.conversion.table import Table, refuse_repeated_names, refuse_unfit
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped
from svmtool.formats.names import Names

UNSEEN, MISSING = -1, -2  # stand for the feature of a value that the names lack, and of none


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
    table: Table, label: int | None, one_hot: bool, drop: Collection[str], say: Callable[[str], None], rules: Rules
) -> tuple[Dataset, Names]:
    """Rows of a table, nan where a value is missing, and their names; label: the label column, None: without labels.

    Strings in the label column become 1, 2, 3 .. in alphabetical order; other columns of strings become one feature for
    each value if `one_hot` is set, and raise SvmtoolError otherwise.
    """
    rule = rules.of(Names()).missing
    left_out = {_chosen(table, name) for name in drop}
    used = [k for k in range(len(table.names)) if k != label and k not in left_out]
    bad = gaps.gaps(table, used, rule, say, label) & (rule == "drop")
    table = table if (rows := gaps.left(table.path, bad)) is None else table.take(rows)
    classes: dict[int, str] = {}
    labels: np.ndarray = np.full(len(table), np.nan)
    if label is not None:
        column = table.columns[label]
        if isinstance(column, list):
            classes = {k + 1: value for k, value in enumerate(sorted(_values(column)))}
            labels = np.array([float(code) for code in _codes(column, {value: k for k, value in classes.items()})])
            say(f"labels: {described([f'{k} = {value}' for k, value in classes.items()], 6)}")
        else:
            labels = _numbers(table, label)
    one_hots: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    for k in used:
        name, column = table.names[k], table.columns[k]
        if isinstance(column, list):
            if not one_hot:
                row = _first_text(column)
                raise SvmtoolError(
                    f"{table.path}: column {clipped(name)!r} holds text ({clipped(column[row])!r} in "
                    f"{table.place(row)}): --one-hot makes a feature of each value, "
                    f"--drop {clipped(name)!r} leaves the column out"
                )
            one_hots[name] = tuple(sorted(_values(column)))
            made = [f"{name}={value}" for value in one_hots[name]]
            say(f"column {described([name])}: {len(made)} features, {described(made)}")
            names += made
        else:
            names.append(name)
    if len(set(names)) < len(names):
        raise SvmtoolError(f"{table.path}: a column has the name of a feature COLUMN=VALUE: rename it")
    found = Names(tuple(names), classes, None if label is None else table.names[label], one_hots)
    return _rows(table, labels, found), found


def applied(table: Table, names: Names, say: Callable[[str], None], rules: Rules) -> Dataset:
    """Rows of a table in the columns and with the labels of another conversion's names, nan where a value is missing.

    Columns are found by name in any order; those of strings must have been read as such.  Rows have no label where the
    label column is absent or the cell empty.  Raises SvmtoolError for a missing column, and by the rules for missing
    values and for those that the names do not have.
    """
    rules = rules.of(names)
    place = table.index.get(names.label) if names.label is not None else None
    if place is None:
        say(("" if names.label is None else f"no column {described([names.label])}: ") + "the rows have no labels")
    source = _sources(table, names)
    used = sorted({k for k in source.values() if k != place} | {_known(table, name) for name in names.one_hot})
    bad = gaps.gaps(table, used, rules.missing, say) & (rules.missing == "drop")
    known = {table.index[name]: values for name, values in names.one_hot.items()}
    if place is not None and names.classes:
        known[place] = tuple(names.classes.values())
    cells = [_unknown(table, k, values, "label" if k == place else "value", rules) for k, values in known.items()]
    unseen = np.concatenate([*cells, gaps.NO_ROWS])
    done = "none" if rules.unseen == "zero" else rules.unseen
    bad |= gaps.told("unseen", unseen, len(table), done, say) & (rules.unseen == "drop")
    table = table if (rows := gaps.left(table.path, bad)) is None else table.take(rows)
    if place is None:
        labels = np.full(len(table), np.nan)
    elif names.classes:
        numbers = {value: k for k, value in names.classes.items()}
        codes = _codes(table.columns[place], numbers)
        labels = np.where(np.isin(codes, list(numbers.values())), codes, np.nan)
    else:
        labels = _numbers(table, place)
    known_columns = {*names.features, *names.one_hot, names.label}
    unused = [name for name in table.names if name not in known_columns]
    if unused:
        say(f"columns ignored, because the names file lacks them: {described(unused)}")
    return _rows(table, labels, names)


def _unknown(table: Table, k: int, known: Collection[str], what: str, rules: Rules) -> np.ndarray:
    """The rows whose string is none of the known ones; SvmtoolError for one if the rule is error."""
    column, among = table.columns[k], set(known)
    unknown = np.array([row for row, cell in enumerate(column) if cell is not None and cell not in among], np.int64)
    if len(unknown) and rules.unseen == "error":
        row = int(unknown[0])
        taken = "leaves the row without a label" if what == "label" else "takes it as no value"
        raise SvmtoolError(
            f"{table.path}: {table.where(row, k)}: the {what} {clipped(column[row])!r} "
            f"is unknown; known are {described(sorted(known))}: --unseen zero {taken}, --unseen drop leaves the row out"
        )
    return unknown


def _values(column: list[str | None]) -> set[str]:
    return {cell for cell in column if cell is not None}


def _first_text(column: list[str | None]) -> int:
    """The first row whose cell is no number; the first with a value if all are numbers."""
    given = [row for row, cell in enumerate(column) if cell is not None]
    return next((row for row in given if not is_number(column[row] or "")), given[0] if given else 0)


def _numbers(table: Table, k: int) -> np.ndarray:
    """A column of numbers; SvmtoolError for text, and for numbers that no reader takes."""
    column, name = table.columns[k], clipped(table.names[k])
    if isinstance(column, list):
        row = _first_text(column)
        seen = f"column {name!r} is text ({clipped(column[row] or '')!r} in {table.place(row)})"
        raise SvmtoolError(f"{table.path}: {seen}, but was numeric in the training data")
    refuse_unfit(table.path, column, lambda row: table.where(row, k))
    return column


def _chosen(table: Table, wanted: str) -> int:
    """The column that the user names, or numbers from 1 on."""
    if wanted not in table.index and wanted.isdecimal() and 1 <= int(wanted) <= len(table.names):
        return int(wanted) - 1
    return _known(table, wanted)


def _known(table: Table, name: str) -> int:
    if name not in table.index:
        raise SvmtoolError(f"{table.path} has no column {clipped(name)!r}: it has {described(table.names)}")
    return table.index[name]


def _codes(column: list[str | None], numbers: dict[str, int]) -> np.ndarray:
    """The number of each string; UNSEEN for others, MISSING for None."""
    return np.array([MISSING if value is None else numbers.get(value, UNSEEN) for value in column], np.int64)


def _sources(table: Table, names: Names) -> dict[int, int]:
    """The column of the table that holds each feature."""
    value_names = {f"{column}={value}": column for column, values in names.one_hot.items() for value in values}
    found = {}
    for j, name in enumerate(names.features):
        found[j] = _known(table, name if name in table.index else value_names.get(name, name))
    return found


def _rows(table: Table, labels: np.ndarray, names: Names) -> Dataset:
    """The features of `names` as sparse rows; zeros are left out.

    Two passes over the columns: the first counts the values of each row, the second puts them there.
    """
    refuse_repeated_names("the names", names.features)
    places = {name: j for j, name in enumerate(names.features)}
    of_values = {table.index[c]: _features_of(c, values, places) for c, values in names.one_hot.items()}
    columns = {k: j for j, k in _sources(table, names).items()}
    codes = {k: _codes(table.columns[k], features) for k, features in of_values.items() if k in columns}

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray | int, np.ndarray | float]]:
        """Rows, and the feature and value that each has there."""
        for k, j in columns.items():
            if k in codes:
                rows = np.flatnonzero(codes[k] >= 0)
                yield rows, codes[k][rows], 1.0
                rows = np.flatnonzero(codes[k] == MISSING)
                for feature in of_values[k].values() if len(rows) else ():
                    yield rows, feature, np.nan
            else:
                column = _numbers(table, k)
                rows = np.flatnonzero(column)
                yield rows, j, column[rows]

    counts = np.zeros(len(table) + 1, np.int64)
    for rows, _, _ in parts():
        counts[rows + 1] += 1
    indptr = np.cumsum(counts)
    indices, values, free = np.empty(indptr[-1], np.int32), np.empty(indptr[-1]), indptr[:-1].copy()
    for rows, features, numbers in parts():
        at = free[rows]
        indices[at], values[at] = features, numbers
        free[rows] += 1
    if of_values:  # they may lie between others
        order = np.lexsort((indices, np.repeat(np.arange(len(table)), counts[1:])))
        indices, values = indices[order], values[order]
    return Dataset(labels, indptr, indices, values, len(names.features))


def _features_of(column: str, values: Collection[str], places: dict[str, int]) -> dict[str, int]:
    """The feature of each value of a one-hot column."""
    lacking = next((f"{column}={value}" for value in values if f"{column}={value}" not in places), None)
    if lacking is not None:
        raise SvmtoolError(f"the names lack the feature {clipped(lacking)!r}, a value of a one-hot column")
    return {value: places[f"{column}={value}"] for value in values}
