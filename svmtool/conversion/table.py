"""A table with named columns of numbers or strings, as CSV and Parquet files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from svmtool.errors import SvmtoolError, clipped

Column = np.ndarray | list[str]  # f8[n], or n strings
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-nan", "#n/a"})  # cells without a value, lower case


class Table:
    """Columns of one length.

    path     the file, for messages
    names    a name for each column
    columns  see Column
    place    text that locates a row for the user: `line 7`, `row 6`
    index    of the column with a name
    """

    def __init__(self, path: str, names: list[str], columns: list[Column], place: Callable[[int], str]):
        self.path, self.names, self.columns, self.place = path, names, columns, place
        self.index = {name: k for k, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def missing(path: str, place: str, column: str, cell: str) -> SvmtoolError:
    """The error for a cell without a value."""
    seen = f"{clipped(cell)!r}" if cell.strip() else "the cell is empty"
    return SvmtoolError(
        f"{path}: {place}, column {clipped(column)!r}: the value is missing ({seen}): fill it in or remove the row"
    )


def refuse_nonfinite(path: str, values: np.ndarray, column: str, place: Callable[[int], str]) -> None:
    """SvmtoolError for the first nan or infinity of f8[n]."""
    if not np.all(np.isfinite(values)):
        bad = np.flatnonzero(~np.isfinite(values))
        x = values[bad[0]]
        if np.isnan(x):
            raise missing(path, place(int(bad[0])), column, "nan")
        raise SvmtoolError(f"{path}: {place(int(bad[0]))}, column {clipped(column)!r}: {x:g} is not finite")


def refuse_repeated_names(path: str, names: Iterable[str]) -> None:
    """SvmtoolError where two columns have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SvmtoolError(f"{path}: two columns have the name {clipped(name)!r}: rename one")
        seen.add(name)
