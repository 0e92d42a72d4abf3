"""Reads LIBSVM text through Spark: local paths, file:, hdfs:, s3a:, globs, folders, .gz and .bz2.

Executors parse their partitions with the reader of formats/.  The error of a malformed line names file, line and token;
file and line are looked up only then.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.distributed import adapter
from svmtool.distributed.session import Session, spark_errors
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.svmlight.table import CHUNK_BYTES, RawTable, joined, parse_bytes


class Text:
    """The lines of `path`, in the order of its files: a file, a folder, a pattern, or several separated by commas.

    few: make as few splits as possible, for training, which reads all partitions at the same time.
    splits: RDD of the lines as bytes, in Spark's splits.  partitions: number of partitions for training, at most the
    number of tasks that run at the same time.
    """

    always_shuffled = False  # even with a task for each split

    def __init__(self, session: Session, path: str, few: bool = False):
        if path == "-":
            raise SvmtoolError("can't open input file -: with --spark the data must be a file that executors can read")
        if path.endswith(".xz"):
            raise SvmtoolError(f"can't open input file {path}: Spark reads .gz and .bz2, not .xz")
        self._context, self.name = session.context, path
        with spark_errors():
            adapter.line_ends(self._context, "\n")  # as without Spark; Spark's default also ends lines at \r
            patterns = in_order(self._context, path)
            self.splits = self._context.textFile(patterns, session.slots, use_unicode=False)
            found = self.splits.getNumPartitions()
            if few and found > session.slots:
                size = sum(length for _, _, length in adapter.splits(self.splits))
                with adapter.least_split(self._context, -(-size // session.slots)):
                    self.splits = self._context.textFile(patterns, 1, use_unicode=False)
                    found = self.splits.getNumPartitions()  # this call makes the splits
            if not found:
                self.splits, found = self._context.parallelize([], 1), 1
        self.partitions = min(found, session.slots)

    @property
    def is_shuffled(self) -> bool:
        """Whether `rows` shuffles the text."""
        return self.always_shuffled or self.splits.getNumPartitions() > self.partitions

    def rows(self) -> Any:
        """An RDD of pieces of text for a barrier stage, with `partitions` partitions; `table_of` parses the pieces.

        A barrier stage accepts no coalesced RDD, so more splits than partitions are merged by a shuffle.
        """
        text = self.splits.mapPartitionsWithIndex(_pieces)
        if self.is_shuffled:
            text = text.partitionBy(self.partitions, partial(_part_of, self._cuts()))
        return text

    def _cuts(self) -> list[int]:
        """The first split of each partition but the first; partitions are consecutive splits, of about equal size."""
        sizes = np.cumsum([0, *self._sizes()])
        wanted = sizes[-1] * np.arange(1, self.partitions) / self.partitions
        cuts = np.searchsorted(sizes, wanted)
        least = np.arange(1, self.partitions)  # each partition gets a split
        return np.clip(cuts, least, len(sizes) - 1 - least[::-1]).tolist()

    def _sizes(self) -> list[int]:
        """Sizes of the splits, in any unit."""
        return [length for _, _, length in adapter.splits(self.splits)]

    def weights(self) -> np.ndarray | None:
        """Weights of all rows, f8[n], if the input contains them."""
        return None

    def fault(self, partition: int, error: DataError) -> DataError:
        """The error of a line of one partition, with the file and the line number in that file."""
        splits = [partition]
        if self.is_shuffled:
            every, part = range(self.splits.getNumPartitions()), partial(_part_of, self._cuts())
            splits = [k for k in every if part((k, 0)) == partition]
        return self.fault_in(splits, error, {})

    def fault_in(self, splits: list[int], error: DataError, counts: dict[int, int]) -> DataError:
        """As `fault`, for a line of consecutive splits; counts: numbers of lines that are known already, by split."""
        places = [(name, start) for name, start, _ in adapter.splits(self.splits)]
        starts = {name: start for name, start in sorted(places[k] for k in splits)}
        ahead = {place: k for k, place in enumerate(places) if place[1] < starts.get(place[0], 0)}
        unknown = sorted({*ahead.values(), *splits[:-1]} - counts.keys())
        if unknown:
            counts = {**counts, **dict(zip(unknown, self._context.runJob(self.splits, _count, unknown), strict=True))}
        line, at = error.line, 0
        while at < len(splits) - 1 and line > counts[splits[at]]:
            line -= counts[splits[at]]
            at += 1
        name, start = places[splits[at]]
        line += sum(counts[k] for (other, begins), k in ahead.items() if other == name and begins < start)
        return DataError(line, name.removeprefix("file:"), error.token, error.reason)


def _part_of(cuts: list[int], key: tuple[int, int]) -> int:
    """The partition of a piece; key: index of its split, index of the piece."""
    return bisect_right(cuts, key[0])


def _pieces(split: int, lines: Iterable[bytes]) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield the text of a split in pieces of about CHUNK_BYTES bytes, with keys (split, piece)."""
    piece, chunk, size = 0, [], 0
    for line in lines:
        chunk.append(line)
        size += len(line) + 1
        if size >= CHUNK_BYTES:
            yield (split, piece), b"\n".join([*chunk, b""])
            piece, chunk, size = piece + 1, [], 0
    if chunk:
        yield (split, piece), b"\n".join([*chunk, b""])


def in_order(context: Any, path: str) -> str:
    """Convert `path` to patterns: Spark sorts the files that match a pattern, but not those of a folder.

    The name of an existing file or folder is taken literally.  Otherwise `path` is split at commas, and names that do
    not exist are patterns, as for Spark's readers.  Folders are read recursively.
    """
    names = re.split(r",(?![^{]*\})", path)
    if len(names) > 1:
        with contextlib.suppress(adapter.java_error()):  # the parts are checked below
            if _named(context, path) is not None:
                names = [path]
    return ",".join(pattern for name in names for pattern in _patterns(context, name))


def _patterns(context: Any, name: str) -> list[str]:
    if not name:
        raise SvmtoolError("can't open input file '': the name is empty")
    named = _named(context, name)
    if named is None:
        found = matches(context, name)
        if found and not any(status.isDirectory() for status in found):
            return [name]
    elif named.isFile() and _hidden(named):
        raise SvmtoolError(f"can't open input file {name}: Spark ignores files whose names begin with _ or .")
    else:
        found = [named]
    patterns = [pattern for status in found for pattern in _files(context, status)]
    if not patterns:
        absent = named is None and _literal(name) == name
        raise SvmtoolError(f"can't open input file {name}" + ("" if absent else ": no file matches"))
    return patterns


def _files(context: Any, status: Any) -> list[str]:
    """Patterns for a file, or for all files in a folder."""
    literal = _literal(status.getPath().toString())
    if not status.isDirectory():
        return [literal]
    inside = matches(context, literal + "/*")
    if any(other.isDirectory() for other in inside):
        return [pattern for other in inside for pattern in _files(context, other)]
    return [literal + "/*"] if inside else []


def _named(context: Any, name: str) -> Any:
    """The status of the file or folder with exactly this name, None if there is none."""
    place, system = adapter.hadoop_path(context, name)
    return system.getFileStatus(place) if system.exists(place) else None


def matches(context: Any, pattern: str) -> list[Any]:
    """The statuses of files and folders that match a pattern, sorted, without those that Spark ignores."""
    place, system = adapter.hadoop_path(context, pattern)
    return [status for status in system.globStatus(place) or () if not _hidden(status)]


def _hidden(status: Any) -> bool:
    return status.getPath().getName().startswith(("_", "."))


def _literal(name: str) -> str:
    """A pattern that matches only this name."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", name).replace(",", r"{\,}")


def _count(lines: Iterable[bytes]) -> list[int]:
    return [sum(1 for _ in lines)]


def table_of(pieces: Iterable[tuple[tuple[int, int], bytes]], ordered: bool = True) -> Dataset:
    """The rows of a partition; DataError counts its lines from 1.

    ordered: pieces arrive in the order of their keys, so that reading stops at the first malformed one.
    """
    found: dict[tuple[int, int], tuple[int, RawTable | DataError]] = {}
    for key, text in pieces:
        try:
            found[key] = text.count(b"\n"), parse_bytes(text, "")
        except DataError as e:
            found[key] = e.line, e
            if ordered:
                break
    ahead, parts = 0, []
    for _, (lines, part) in sorted(found.items(), key=itemgetter(0)):
        if isinstance(part, DataError):
            raise DataError(ahead + part.line, part.file, part.token, part.reason)
        ahead += lines
        parts.append(part)
    return joined(parts)
