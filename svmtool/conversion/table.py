"""A table with named columns of numbers or strings, as CSV and Parquet files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped

Column = np.ndarray | list[str | None]  # f8[n], nan where there is no value; or n strings, None where there is none
MISSING = frozenset({"", "?", "na", "n/a", "nan", "+nan", "-nan", "null", "none", "#n/a"})  # cells without a value
SMALLEST = 2.2250738585072014e-308  # readers of LIBSVM's format refuse smaller numbers


class Table:
    """Columns of one length.

    path     the file, for messages
    names    a name for each column
    columns  see Column
    place    text that locates a row for the user: `line 7`, `row 6`
    missing  of each column with missing values the first: its row and the cell's text
    note     a line for the user about how the file was read, or empty
    index    of the column with a name
    """

    def __init__(
        self, path: str, names: list[str], columns: list[Column], place: Callable[[int], str],
        missing: dict[int, tuple[int, str]] | None = None, note: str = "",
    ):  # fmt: skip
        self.path, self.names, self.columns, self.place = path, names, columns, place
        self.missing, self.note = missing or {}, note
        self.index = {name: k for k, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def where(self, row: int, k: int) -> str:
        """Row and column of a cell for the user."""
        return f"{self.place(row)}, column {clipped(self.names[k])!r}"

    def take(self, rows: np.ndarray) -> Table:
        """These rows; their places are those in the file."""
        columns = [c[rows] if isinstance(c, np.ndarray) else [c[i] for i in rows.tolist()] for c in self.columns]
        return Table(self.path, self.names, columns, lambda row: self.place(int(rows[row])))


def absent(column: Column) -> np.ndarray:
    """Which rows have no value in a column."""
    return np.isnan(column) if isinstance(column, np.ndarray) else np.array([cell is None for cell in column], bool)


def unlabelled(rows: Dataset) -> bool:
    """Whether no row has a label."""
    return len(rows) > 0 and bool(np.isnan(rows.labels).all())


def is_missing(cell: str) -> bool:
    """Whether a cell's text stands for no value."""
    return cell.strip().lower() in MISSING


def missing(path: str, where: str, cell: str, remedy: str) -> SvmtoolError:
    """The error for a cell without a value; where: its row and column."""
    seen = f"{clipped(cell)!r}" if cell.strip() else "the cell is empty"
    return SvmtoolError(f"{path}: {where}: the value is missing ({seen}): {remedy}")


def refuse_unfit(path: str, values: np.ndarray, where: Callable[[int], str]) -> None:
    """SvmtoolError for the first infinite value, or one that readers of the output refuse; nan is not looked at."""
    size = np.abs(values)
    bad = np.flatnonzero((size == np.inf) | ((size < SMALLEST) & (size > 0.0)))
    if len(bad):
        x = values[bad[0]]
        fault = f"{x:g} is not finite" if np.isinf(x) else "the value is too close to 0"
        raise SvmtoolError(f"{path}: {where(int(bad[0]))}: {fault}")


def refuse_repeated_names(path: str, names: Iterable[str]) -> None:
    """SvmtoolError where two columns have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SvmtoolError(f"{path}: two columns have the name {clipped(name)!r}: rename one")
        seen.add(name)
