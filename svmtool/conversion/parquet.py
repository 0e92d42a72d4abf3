"""Reads and writes Parquet files through pyarrow, or through pandas with its own engine."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from svmtool.conversion.table import Column, Table, absent, is_missing, refuse_repeated_names
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped
from svmtool.formats.output import replacing

PARQUET_NEEDED = "Parquet needs pyarrow, or pandas with fastparquet: pip install pyarrow"
MAX_PARQUET_CELLS = 500_000_000  # of a file that is written, all at once


def read(path: str, text: Collection[str] = ()) -> Table:
    """Read all columns; `text`: names of those that are strings even if they hold numbers.

    Raises SvmtoolError for columns that are neither numbers, truth values nor strings, and where no package that reads
    Parquet is installed.
    """
    try:
        names, columns = _by_pyarrow(path)
    except ImportError:
        names, columns = _by_pandas(path)
    names = [name.strip() or f"column {k + 1}" for k, name in enumerate(names)]  # as in CSV
    refuse_repeated_names(path, names)
    gaps: dict[int, tuple[int, str]] = {}
    found: list[Column] = []
    for k, (name, values) in enumerate(zip(names, columns, strict=True)):
        if values.dtype.kind in "iufb" and name not in text:
            column: Column = values.astype(np.float64)
        else:
            cells = values.tolist() if values.dtype.kind in "iufbO" else list(values)  # dates stay dates
            column = _of_objects(path, name, cells, name in text)
        found.append(column)
        at = np.flatnonzero(absent(column))
        if len(at):
            cell = values[at[0]]
            gaps[k] = int(at[0]), cell if isinstance(cell, str) else "null" if cell is None else str(cell)
    if not found or not len(found[0]):
        raise SvmtoolError(f"{path} holds no rows")
    return Table(path, names, found, lambda row: f"row {row + 1}", gaps)


def _of_objects(path: str, name: str, cells: list[Any], text: bool) -> Column:
    """A column whose cells are strings, numbers or None; numbers alone are numbers, unless `text`."""
    wrong = next((cell for cell in cells if cell is not None and not isinstance(cell, (str, bool, int, float))), None)
    if wrong is not None:
        kind = type(wrong).__name__
        raise SvmtoolError(f"{path}: column {clipped(name)!r} holds values of type {kind}: use numbers or text")
    if not text and not any(isinstance(cell, str) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    return [None if cell is None or is_missing(str(cell)) else str(cell).strip() for cell in cells]


def _by_pyarrow(path: str) -> tuple[list[str], list[np.ndarray]]:
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path)
        return list(table.column_names), list(map(_cells, table.columns))
    except FileNotFoundError:
        raise SvmtoolError(f"can't open input file {path}") from None
    except (ArrowException, OSError, ValueError) as e:  # ValueError: also names and strings that are not UTF-8
        raise SvmtoolError(f"can't read {path} as Parquet: {' '.join(str(e).split())[:300]}") from None


def _cells(column: Any) -> np.ndarray:
    """A column of pyarrow; cells as they are where there are nulls, which would make numbers of integers."""
    if not column.null_count and not str(column.type).startswith("dict"):
        return column.to_numpy()
    cells = column.to_pylist()
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found


def _by_pandas(path: str) -> tuple[list[str], list[np.ndarray]]:
    try:
        import pandas
    except ImportError:
        raise SvmtoolError(PARQUET_NEEDED) from None
    try:
        frame = pandas.read_parquet(path)
    except ImportError:
        raise SvmtoolError(PARQUET_NEEDED) from None
    except FileNotFoundError:
        raise SvmtoolError(f"can't open input file {path}") from None
    except Exception as e:  # the engine's own types
        raise SvmtoolError(f"can't read {path} as Parquet: {' '.join(str(e).split())}") from None
    return list(map(str, frame.columns)), [frame[name].to_numpy() for name in frame.columns]


def write(path: str, names: list[str], label: str | None, rows: Dataset, labels: np.ndarray | list[str | None]) -> None:
    """Write rows as a table: the features in columns `names`, the label in the last column; None: without labels."""
    width = len(names)
    if len(rows) * width > MAX_PARQUET_CELLS:
        raise SvmtoolError(
            f"{path} would have {len(rows)} rows of {width} columns, most of them zero: choose .npz, which is sparse"
        )
    X = np.zeros((width, len(rows)))
    X[rows.indices, np.repeat(np.arange(len(rows)), np.diff(rows.indptr))] = rows.values
    columns: dict[str, Any] = dict(zip(names, X, strict=True))
    if label is not None:
        columns[label] = labels
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        pass
    else:
        with replacing(path) as file:
            parquet.write_table(pyarrow.table(columns), file)
        return
    try:
        import pandas

        frame = pandas.DataFrame(columns)
        with replacing(path) as file:
            frame.to_parquet(file, index=False)
    except ImportError:
        raise SvmtoolError(PARQUET_NEEDED) from None
