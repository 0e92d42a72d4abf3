"""Reads a whole file as commands do that read it piece by piece; rows as Python's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from svmtool.data.dataset import Dataset
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table


def blocks(path: str, chunk: int = table.CHUNK_BYTES) -> Iterator[Dataset]:
    """Yield Datasets of about `chunk` bytes of text each."""
    with open_source(path) as source:
        yield from map(table.RawTable.table, table.raw_tables(source, chunk))


def rows_in(data: Dataset) -> list[tuple[float, dict[int, float]]]:
    """Each row as (label, {index from 1: value})."""
    rows = []
    for k in range(len(data)):
        part = slice(data.indptr[k], data.indptr[k + 1])
        indices = (data.indices[part].astype("i8") + 1).tolist()
        rows.append((float(data.labels[k]), dict(zip(indices, data.values[part].tolist(), strict=True))))
    return rows
