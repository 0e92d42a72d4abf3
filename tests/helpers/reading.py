"""Reads a whole file as commands do that read it piece by piece."""

from __future__ import annotations

from collections.abc import Iterator

from svmtool.data.dataset import Dataset
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table


def blocks(path: str, chunk: int = table.CHUNK_BYTES) -> Iterator[Dataset]:
    """Yield Datasets of about `chunk` bytes of text each."""
    with open_source(path) as source:
        yield from table.tables(source, chunk)
