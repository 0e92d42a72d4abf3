"""LIBSVM text by Spark's own readers: local paths, file:, hdfs:, s3a:, globs, folders, .gz and .bz2.

Each partition's lines are parsed by the reader of formats/ where they are.  A malformed line is refused with its file,
its number there and the token, as in formats/: which file and line it is, is looked up once there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from svmtool.compiled import text_loops
from svmtool.compiled.buffers import Buffer
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.svmlight import CHUNK, RawTable, Table, joined, parse_text
from svmtool.spark.session import Session, told


class Text:
    """The lines of `path`, in the order of its files, cut into `partitions`: as many as tasks run at a time, or fewer
    where the text is in fewer splits."""

    def __init__(self, session: Session, path: str):
        if path == "-":
            raise SvmtoolError("can't open input file -: with --spark rows must lie where executors can read them")
        if path.endswith(".xz"):
            raise SvmtoolError(f"can't open input file {path}: Spark reads .gz and .bz2, not .xz")
        self.path, self._context = path, session.context
        with told():
            # a line ends where it does without Spark, and not at \r too
            self._context._jsc.hadoopConfiguration().set("textinputformat.record.delimiter", "\n")
            self._splits = self._context.textFile(in_order(self._context, path), session.slots, use_unicode=False)
            found = self._splits.getNumPartitions()
            if not found:
                self._splits, found = self._context.parallelize([], 1), 1
        self.partitions = min(found, session.slots)

    def lines(self, partitions: int) -> Any:
        """An RDD of the lines as bytes, in so many partitions."""
        return self._splits.coalesce(partitions)

    def fault(self, partitions: int, partition: int, error: DataError) -> DataError:
        """The error of a line of one of so many partitions, with the file and the line's number in it."""
        parents = list(self.lines(partitions)._jrdd.rdd().partitions()[partition].parentsIndices())
        counts = self._context.runJob(self._splits, _count)
        left = error.line
        for at in parents:
            if left <= counts[at]:
                break
            left -= counts[at]
        places = [_place(split) for split in self._splits._jrdd.rdd().partitions()]
        name, start = places[at]
        before = sum(c for c, (other, begins) in zip(counts, places, strict=True) if other == name and begins < start)
        return DataError(before + left, name.removeprefix("file:"), error.token, error.reason)


def in_order(context: Any, path: str) -> str:
    """The same input as patterns: Spark sorts the files that match a pattern, but not those of a folder."""
    patterns = []
    for name in re.split(r",(?![^{]*\})", path):  # as Spark's readers do
        place = context._jvm.org.apache.hadoop.fs.Path(name)
        found = place.getFileSystem(context._jsc.hadoopConfiguration()).globStatus(place) or ()
        if not any(status.isDirectory() for status in found):
            patterns.append(name)
            continue
        for status in found:
            literal = re.sub(r"([\\*?\[\]{}])", r"\\\1", status.getPath().toString())
            patterns.append(literal + "/*" if status.isDirectory() else literal)
    return ",".join(patterns)


def _count(lines: Iterable[bytes]) -> list[int]:
    return [sum(1 for _ in lines)]


def _place(split: Any) -> tuple[str, int]:
    """File and first byte of a split of the text."""
    file = split.inputSplit().value()
    return file.getPath().toString(), file.getStart()


def parse(lines: Iterable[bytes], name: str = "") -> Table:
    """The rows of these lines (without line ends); DataError numbers them from 1 on."""
    return joined(list(_parts(lines, name)))


def _parts(lines: Iterable[bytes], name: str) -> Iterator[RawTable]:
    first = 0
    for chunk in _chunks(lines):
        text = b"\n".join(chunk) + b"\n"
        buffer = Buffer("u1", len(text) + text_loops.PADDING)
        buffer.items[: len(text)] = text
        yield parse_text(buffer, len(text), name, first_line=first)
        first += len(chunk)


def _chunks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lists of lines of about CHUNK bytes together."""
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line) + 1
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
