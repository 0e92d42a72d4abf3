"""Endless text: every reader rejects it early; errors in data give the line number."""

from __future__ import annotations

import gzip
import io
import os

import pytest

from svmtool.errors import DataError, SvmtoolError
from svmtool.formats import scored_text, source
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table
from svmtool.formats.svmlight.table import Buffer
from svmtool.models.linear import LinearModel

GOOD = b"1 1:1\n-1 2:1\n"
SMALL = 1 << 12
NUL = "the line contains a NUL byte: this is not a text file"


class Endless(io.RawIOBase):
    """A source of good lines followed by one byte repeated endlessly; counts the bytes read."""

    def __init__(self, byte: bytes):
        self.byte, self.read_so_far = byte, 0

    def readinto(self, buffer) -> int:
        start = GOOD[self.read_so_far : self.read_so_far + len(buffer)]
        buffer[:] = start + self.byte * (len(buffer) - len(start))
        self.read_so_far += len(buffer)
        assert self.read_so_far < 1 << 22, "read on and on"
        return len(buffer)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sets small blocks and a small limit of a line."""
    monkeypatch.setattr(table, "BLOCK_BYTES", SMALL)
    monkeypatch.setattr(scored_text, "SCORED_BYTES", SMALL)
    monkeypatch.setattr(table, "MAX_LINE", 1 << 16)
    for function in (source.partial_line_error, source.LineReader.__init__):
        monkeypatch.setattr(function, "__defaults__", (1 << 16,))
    monkeypatch.setattr(table.raw_tables, "__defaults__", (SMALL, None, 1, 1 << 16))


def stored() -> LinearModel:
    return LinearModel("L2R_L2LOSS_SVC", (1, -1), 2, -1.0, Buffer("f8", 2))


READERS = {
    "whole": lambda source: table.read_raw(source),
    "scored": lambda source: list(scored_text.scored_blocks(source, stored())),
}


def refusal(reader: str, source) -> str:
    with pytest.raises(DataError) as caught:
        READERS[reader](source)
    return str(caught.value)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("byte", "words"), [(b"\0", NUL), (b" ", "longer than"), (b"7", "longer than")])
def test_a_stream_without_an_end(reader, byte, words, tmp_path):
    (tmp_path / "d.gz").write_bytes(gzip.compress(b""))
    with open_source(str(tmp_path / "d.gz")) as source:
        source._stream.close()
        source._stream = Endless(byte)
        said = refusal(reader, source)
    assert "line 3" in said and words in said


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("before", "after"), [(b"", b""), (GOOD, b"\n" + GOOD * 1000), (GOOD * 1000, b"")])
def test_a_file_with_holes(reader, before, after, tmp_path):
    """Of any size: a sparse file takes neither time nor disk."""
    with open(tmp_path / "d", "wb") as file:
        file.write(before)
        file.truncate(10**9 if not after else 1 << 22)
        file.seek(0, 2)
        file.write(after)
    with open_source(str(tmp_path / "d")) as source:
        said = refusal(reader, source)
    assert f"line {before.count(10) + 1}:" in said and NUL in said


def test_a_file_that_becomes_shorter_is_an_error(tmp_path):
    path = tmp_path / "d"
    path.write_bytes(b"1 1:1\n" * 100_000)
    for read in (table.raw_tables, lambda source: scored_text.scored_blocks(source, stored())):
        with open_source(str(path)) as opened:
            pieces = read(opened)
            next(pieces)
            os.truncate(path, opened.taken)
            with pytest.raises(SvmtoolError, match="d became shorter while it was read$"):
                list(pieces)
        path.write_bytes(b"1 1:1\n" * 100_000)
