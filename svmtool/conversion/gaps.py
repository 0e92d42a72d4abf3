"""What stands for missing values, and for values that the training data do not have: --missing and --unseen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmtool.conversion.table import SMALLEST, Table, absent, missing
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped
from svmtool.formats.names import Names

DONE = {
    "mean": "the means of the training data stand for them",
    "zero": "they are 0",
    "drop": "these rows are left out",
    "none": "they count as no value",
}
CHOOSE = "--missing mean or --missing zero fills it in, --missing drop leaves the row out"
CHOOSE_LABEL = "--missing drop leaves the row out"
NO_MEANS = "the names hold no means of the columns, which --missing mean needs: convert the training data again with it"
NO_ROWS = np.zeros(0, np.int64)


class Rules(NamedTuple):
    """What is done with missing values: mean, zero, drop or error, empty: as the training data were filled, else error;
    and with values that the training data lack: zero, drop or error.
    """

    missing: str = ""
    unseen: str = "error"

    def of(self, names: Names) -> Rules:
        """The rules for rows with these names."""
        return self._replace(missing=self.missing or names.missing or "error")


def gaps(table: Table, used: list[int], rule: str, say: Callable[[str], None], label: int | None = None) -> np.ndarray:
    """Which rows have a missing value in the columns `used`, or no label; says how many and what is done.

    label: the column of labels if each row needs one; nothing can stand for it.  Rule error: SvmtoolError.
    """
    needed = [] if label is None else [label]
    refused = {"drop": [], "error": [*used, *needed]}.get(rule, needed)
    if found := [(table.missing[k][0], k) for k in refused if k in table.missing]:
        row, k = min(found)
        remedy = CHOOSE_LABEL if k == label else CHOOSE
        raise missing(table.path, table.where(row, k), table.missing[k][1], remedy)
    cells = [np.flatnonzero(absent(table.columns[k])) for k in [*used, *needed] if k in table.missing]
    return told("missing", np.concatenate([*cells, NO_ROWS]), len(table), rule, say)


def told(what: str, cells: np.ndarray, rows: int, rule: str, say: Callable[[str], None]) -> np.ndarray:
    """Which of some rows (bool[rows]) have cells, given the row of each cell; says how many and what is done."""
    found = np.zeros(rows, bool)
    found[cells] = True
    if len(cells):
        say(f"{what} values: {len(cells)} in {int(found.sum())} of {rows} rows: {DONE[rule]}")
    return found


def left(path: str, dropped: np.ndarray) -> np.ndarray | None:
    """The rows that stay (i8) if others (bool[n]) are left out, None for all; SvmtoolError for none."""
    if len(dropped) and dropped.all():
        raise SvmtoolError(f"{path}: no row is left: a value is missing or unknown in each")
    return np.flatnonzero(~dropped) if dropped.any() else None


def means(rows: Dataset) -> tuple[float, ...]:
    """The mean of each feature over the rows where it is not missing (nan), itself nan where there are none.

    Sums are exact before they are rounded: they depend neither on the order of rows nor on how a file holds them.
    """
    keys = rows.indices.astype(np.uint16) if rows.n_features <= 1 << 16 else rows.indices  # 16 bits sort in linear time
    values = rows.values[np.argsort(keys, kind="stable")]
    stops = np.cumsum(np.bincount(rows.indices, minlength=rows.n_features)).tolist()
    return tuple(_mean(values[a:z], len(rows)) for a, z in zip([0, *stops], stops, strict=False))


def _mean(values: np.ndarray, rows: int) -> float:
    """The mean of `values` and zeros, `rows` in all; nan is left out."""
    present = values[values == values]
    rows -= len(values) - len(present)
    if not rows:
        return math.nan
    try:
        mean = math.fsum(present.tolist()) / rows
    except OverflowError:
        mean = math.fsum((present / rows).tolist())
    return mean if abs(mean) >= SMALLEST else 0.0


def filled(path: str, rows: Dataset, names: Names, rule: str) -> Dataset:
    """Rows in which the mean of its feature, or 0, stands for nan."""
    gap = np.isnan(rows.values)
    if not gap.any():
        return rows
    values, features = rows.values.copy(), rows.indices[gap]
    if rule == "mean" and not names.means:
        raise SvmtoolError(f"{path}: {NO_MEANS}")
    values[gap] = [_mean_of(path, names, j) for j in features.tolist()] if rule == "mean" else 0.0
    kept = ~gap | (values != 0.0)
    indptr = np.append(0, np.cumsum(kept))[rows.indptr]
    return Dataset(rows.labels, indptr, rows.indices[kept], values[kept], rows.n_features)


def _mean_of(path: str, names: Names, j: int) -> float:
    mean = names.means[j] if j < len(names.means) else math.nan
    if mean != mean:
        raise SvmtoolError(f"{path}: {clipped(names.feature(j))!r} has no value in the training data, and so no mean")
    return mean
