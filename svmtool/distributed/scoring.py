"""Scores the rows of a data frame in the executors; the columns are those of svmtool/spark.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.distributed.frame import entries_of
from svmtool.formats.models import any_model
from svmtool.formats.models.text import ModelText

BATCH = 1000  # rows that are scored together


class FrameScorer:
    """Yields the rows of a partition, each with its prediction and the other columns requested.

    model: a broadcast of the model's text.  features: index of the column.  raw, probabilities: whether to add decision
    values and probabilities.  vectors: whether these are MLlib's vectors, else lists.
    """

    def __init__(self, model: Any, features: int, raw: bool, probabilities: bool, vectors: bool):
        self.model, self.features, self.raw, self.vectors = model, features, raw, vectors
        self.probabilities = probabilities

    def __call__(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        threads.set_count(1)  # other tasks have the other cores
        model = any_model.of_text(ModelText.of(self.model.value, "<model>"))
        rows = iter(rows)
        while some := list(itertools.islice(rows, BATCH)):
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
