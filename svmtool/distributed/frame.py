"""Data frames and Parquet files as input, a column of labels and one of vectors as MLlib's; data frames scored.

For training each row is converted to a line of LIBSVM text in its task, with digits that give the same f8 again; Text
does the rest.  Entry k of a vector is feature k + 1.  Rows are in the frame's order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.distributed.reading import Text, _count, in_order, matches
from svmtool.distributed.session import Session, spark_errors
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.models import of_text
from svmtool.formats.models.text import ModelText

LABEL, FEATURES = "label", "features"
SCORED_ROWS = 1000  # rows that are scored together


class Frame(Text):
    """The rows of a DataFrame; see Text.

    label, features, weights: names of columns; features holds MLlib vectors or arrays of numbers, the others numbers.
    name: the frame's name in messages.  labelled: whether labels are required; if not, missing ones are 0.
    """

    always_shuffled = True  # a frame may be a coalesced RDD, which a barrier stage does not accept

    def __init__(
        self, session: Session, frame: Any, label: str = LABEL, features: str = FEATURES, weights: str | None = None,
        name: str = "the data frame", labelled: bool = True,
    ):  # fmt: skip
        self._context, self.frame, self.name, self._weights = session.context, frame, name, weights
        types = {field.name: field.dataType for field in frame.schema.fields}
        numbers = [label] * (labelled or label in types) + ([weights] if weights else [])
        for column in [features, *numbers]:
            if column not in types:
                raise SvmtoolError(f"{name}: no column {column}; the columns are {', '.join(types) or 'none'}")
        for column in numbers:
            if not _is_number(types[column]):
                raise SvmtoolError(f"{name}: column {column} must hold numbers, not {types[column].simpleString()}")
        check_features(types[features], features, name)
        self.place = frame.columns.index(label) if label in types else None, frame.columns.index(features)
        self.splits = frame.rdd.mapPartitions(functools.partial(lines_of, *self.place))
        found = self.splits.getNumPartitions()
        if not found:
            self.splits, found = self._context.parallelize([], 1), 1
        self.partitions = min(found, session.slots)

    def weights(self) -> np.ndarray | None:
        """Weights of all rows, f8[n]; None without such a column."""
        if self._weights is None:
            return None
        with spark_errors():
            cells = self.frame.select(self._weights).rdd
            found = cells.map(lambda row: None if row[0] is None else float(row[0])).collect()
        for row, value in enumerate(found, 1):
            if value is None or not np.isfinite(value):
                raise DataError(row, self.name, str(value), f"column {self._weights} must hold finite numbers")
        return np.array(found, np.float64)

    def _sizes(self) -> list[int]:
        return [1] * self.splits.getNumPartitions()

    def fault_in(self, splits: list[int], error: DataError, counts: dict[int, int]) -> DataError:
        """See Text.fault_in; the line is the row's number in the frame."""
        ahead = range(splits[0])
        known = self._context.runJob(self.splits, _count, list(ahead)) if ahead else []
        return DataError(error.line + sum(known), self.name, error.token, error.reason)


def lines_of(label: int | None, features: int, rows: Iterable[Any], predicted: bool = False) -> Iterator[bytes]:
    """Yield the lines of rows; label, features: indices of the columns.

    label: None: all labels are 0.  predicted: a label that is missing becomes `nan`, with which a row has none.
    A missing label or vector becomes `null`, which the parser rejects.
    """
    for row in rows:
        y, vector = 0 if label is None else row[label], row[features]
        if predicted and (label is None or y is None):
            y = math.nan
        if y is None or vector is None:
            yield b"null" if y is None else b"%r null" % y
            continue
        indices, values = entries_of(vector)
        pairs = zip((indices + 1).tolist(), values.tolist(), strict=True)
        yield " ".join([str(y), *(f"{k}:{value!r}" for k, value in pairs)]).encode()


def entries_of(vector: Any) -> tuple[np.ndarray, np.ndarray]:
    """Indices, from 0 on, and values of the entries of an MLlib vector or of an array of numbers."""
    if hasattr(vector, "indices"):
        return vector.indices, vector.values
    whole = vector.toArray() if hasattr(vector, "toArray") else np.array(vector, np.float64)
    indices = np.flatnonzero(whole)
    return indices, whole[indices]


def source_of(
    session: Session, path: str, few: bool = False, weights: str | None = None, labelled: bool = True
) -> Text:
    """The rows of `path`: Parquet if it ends in .parquet or is a folder of such files, else text.

    weights: name of a column, for Parquet.
    """
    folder = path.rstrip("/")
    with spark_errors():
        parquet = folder.endswith(".parquet") or (
            path not in ("", "-") and matches(session.context, f"{folder}/*.parquet")
        )
    if not parquet:
        return Text(session, path, few)
    from pyspark.sql import SparkSession

    with spark_errors():
        patterns = in_order(session.context, path)
        frame = SparkSession.builder.getOrCreate().read.parquet(*patterns.split(","))
        return Frame(session, frame, weights=weights, name=path, labelled=labelled)


def check_features(kind: Any, column: str, name: str) -> None:
    """Raise SvmtoolError for a column type that holds neither vectors nor arrays of numbers."""
    if kind.typeName() != "vectorudt" and not (kind.typeName() == "array" and _is_number(kind.elementType)):
        raise SvmtoolError(f"{name}: column {column} must hold vectors, not {kind.simpleString()}")


def _is_number(kind: Any) -> bool:
    from pyspark.sql.types import NumericType

    return isinstance(kind, NumericType)


class FrameScorer:
    """Scores rows in an executor: yields each with its prediction and the other columns requested.

    model: a broadcast of the model's text.  features: index of the column.  raw, probabilities: whether to add decision
    values and probabilities.  vectors: whether these are MLlib's vectors, else lists.
    """

    def __init__(self, model: Any, features: int, raw: bool, probabilities: bool, vectors: bool):
        self.model, self.features, self.raw, self.vectors = model, features, raw, vectors
        self.probabilities = probabilities

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        threads.set_count(1)  # other tasks have the other cores
        model = of_text(ModelText.of(self.model.value, "<model>"))
        rows = iter(rows)
        while some := list(itertools.islice(rows, SCORED_ROWS)):
            decisions = model.decision_values(dataset_of([row[self.features] for row in some]))
            columns = [model.labels_from(decisions).tolist()]
            if self.raw:
                columns.append(self._numbers(decisions))
            if self.probabilities:
                columns.append(self._numbers(model.probabilities(decisions)))
            for row, *added in zip(some, *columns, strict=True):
                yield (*row, *added)

    def _numbers(self, table: np.ndarray) -> list[Any]:
        """The rows of a table as column values."""
        if not self.vectors:
            return table.tolist()
        from pyspark.ml.linalg import Vectors

        return [Vectors.dense(row) for row in table]


def dataset_of(vectors: list[Any]) -> Dataset:
    """Rows without labels; ValueError for a missing vector and for values that are not finite."""
    if any(vector is None for vector in vectors):
        raise ValueError("a row has no features: the column holds null")
    entries = [entries_of(vector) for vector in vectors]
    indptr = np.cumsum([0, *(len(values) for _, values in entries)], dtype=np.int64)
    indices = np.concatenate([found for found, _ in entries]).astype(np.int32)
    values = np.concatenate([found for _, found in entries]).astype(np.float64)
    if not np.all(np.isfinite(values)):
        raise ValueError("a row has features that are not finite numbers")
    n_features = int(indices.max()) + 1 if len(indices) else 0
    return Dataset(np.zeros(len(vectors)), indptr, indices, values, n_features)
