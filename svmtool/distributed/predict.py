"""Scores text where it is stored: each input partition becomes one part file of each output directory, in input order.

A folder is written under another name beside its own by Spark's committer, which takes each part from one attempt of
its task alone, and gets its name once all folders are whole.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

from svmtool.distributed import adapter
from svmtool.distributed.frame import Frame, Lines, source_of
from svmtool.distributed.reading import Text
from svmtool.distributed.session import Session, reason, spark_errors
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import Source

PREDICTION, HEADER = "prediction", "labels"
COLUMNS = ((PREDICTION, "probability"), ("rawPrediction",))  # that frames get, by output folder
LINES_AT_ONCE = 1000  # that are made one text
POLL_SECONDS = 0.1  # between two readings of the progress

# scorer(source, part) -> texts of whole lines, one (or None) for each output folder; at its end what it has counted
Scorer = Callable[[Source, int], Generator[tuple[bytes | None, ...], None, Any]]


class Part(NamedTuple):
    """What is known of a partition that is done: its lines, what the scorer counted, or what is wrong with a line."""

    lines: int
    tally: Any
    fault: DataError | None  # its line is counted from the partition's first


def score(
    session: Session, path: str, targets: list[str], scorer: Scorer, watch: Callable[[int, int], None]
) -> list[Any]:
    """Write the texts that `scorer` makes of the lines of `path` to new folders; returns its tallies, part by part.

    path: file, folder or pattern, as Spark's readers take it.  watch(done, all) is called as parts are finished.
    The scorer is sent to the executors; a part's source may be read once.
    Raises DataError for a bad line, after which no folder is there, nor after any other exception;
    SvmtoolError where a folder is there already or Spark fails.
    """
    context = session.context
    with spark_errors(), contextlib.ExitStack() as stack:
        folders = [stack.enter_context(_Folder(context, target)) for target in targets]
        text = source_of(session, path, labelled=False)
        gathered = context.accumulator({}, _Gathered())
        if isinstance(text, Frame):
            rows, part = text.frame.rdd, functools.partial(_score_rows, scorer, gathered, text.place)
            columns = [_extended(text.frame.schema, names, path) for names in COLUMNS[: len(folders)]]
        else:
            rows, part, columns = text.splits, functools.partial(_score_part, scorer, gathered), []
        texts = rows.mapPartitionsWithIndex(part)
        if len(targets) > 1:
            from pyspark import StorageLevel

            texts = texts.persist(StorageLevel.DISK_ONLY)
            stack.callback(texts.unpersist)
        for k, folder in enumerate(folders):
            if columns:
                from pyspark.sql import SparkSession

                found = texts.map(functools.partial(_row, k))
                frame = SparkSession.builder.getOrCreate().createDataFrame(found, columns[k], verifySchema=False)
                job = functools.partial(frame.write.parquet, folder.scratch)
            else:
                job = functools.partial(texts.flatMap(functools.partial(_column, k)).saveAsTextFile, folder.scratch)
            _run(context, job, gathered, text, watch)
            _refuse_bad_line(text, gathered.value)
        _give_names(folders)
        return [part.tally for _, part in sorted(gathered.value.items())]


def _extended(schema: Any, names: tuple[str, ...], path: str) -> Any:
    """A frame's schema with columns more: the first number of a line by the first name, the rest by the second."""
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    for name in names:
        if name in schema.names:
            raise SvmtoolError(f"{path}: it has a column {name} already, and --spark adds one of that name")
    kinds = [ArrayType(DoubleType()) if name != PREDICTION else DoubleType() for name in names]
    return StructType([*schema.fields, *(StructField(*pair) for pair in zip(names, kinds, strict=True))])


def _score_rows(
    scorer: Scorer, gathered: Any, place: tuple[int | None, int], part: int, rows: Iterable[Any]
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """In an executor: the rows of one partition of a frame, each with its line for each output folder."""
    rows, again = itertools.tee(rows)
    for texts in _score_part(scorer, gathered, part, Lines(*place)(again)):
        lines = [[] if text is None else text.decode().splitlines() for text in texts]
        if lines[0] and lines[0][0].startswith(HEADER):
            del lines[0][0]
        for found in zip(*(some for text, some in zip(texts, lines, strict=True) if text is not None), strict=True):
            yield next(rows), found


def _row(k: int, scored: tuple[Any, tuple[str, ...]]) -> tuple[Any, ...]:
    """A row with what its line for folder k says."""
    row, lines = scored
    numbers = [float(word) for word in lines[k].split()]
    return (*row, numbers[0], numbers[1:]) if k == 0 else (*row, numbers)


class _Gathered:
    """An accumulator's way of joining {partition: Part}; one that was computed twice counts once."""

    def zero(self, value: dict[int, Part]) -> dict[int, Part]:
        return {}

    def addInPlace(self, value: dict[int, Part], more: dict[int, Part]) -> dict[int, Part]:  # noqa: N802, pyspark's name
        value.update(more)
        return value


class _Lines(io.RawIOBase):
    """Lines without their ends as the bytes of a file; `count`: how many have been taken."""

    def __init__(self, lines: Iterable[bytes]):
        self._lines, self._rest, self.count = iter(lines), memoryview(b""), 0

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            some = list(itertools.islice(self._lines, LINES_AT_ONCE))
            self.count += len(some)
            self._rest = memoryview(b"\n".join([*some, b""]))
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _score_part(scorer: Scorer, gathered: Any, part: int, lines: Iterable[bytes]) -> Iterator[tuple[bytes | None, ...]]:
    """In an executor: the texts of one partition, and its Part for the driver."""
    text = _Lines(lines)
    tally = fault = None
    try:
        tally = yield from scorer(Source("", -1, None, text, own=False), part)
    except DataError as e:
        fault = e
    gathered.add({part: Part(text.count, tally, fault)})


def _column(k: int, texts: tuple[bytes | None, ...]) -> list[bytes]:
    """The text for folder k without its last line end, which Spark's writer puts there."""
    text = texts[k]
    return [] if text is None else [text[:-1]]


def _run(context: Any, job: Callable[[], None], gathered: Any, text: Text, watch: Callable[[int, int], None]) -> None:
    """Run a job of Spark's in a thread, so that Ctrl-C and a bad line can end it before it is done."""
    failures: list[BaseException] = []
    n = text.splits.getNumPartitions()

    def work() -> None:
        try:
            job()
        except BaseException as e:  # raised below
            failures.append(e)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    cancelled = False
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            known = gathered.value
            watch(len(known), n)
            first = _first_fault(known)
            if not cancelled and first is not None and known.keys() >= set(range(first)):
                cancelled = True
                context.cancelAllJobs()
    except BaseException:
        context.cancelAllJobs()
        thread.join()
        raise
    if failures and _first_fault(gathered.value) is None:
        raise failures[0]


def _first_fault(parts: dict[int, Part]) -> int | None:
    return min((k for k, part in parts.copy().items() if part.fault is not None), default=None)


def _refuse_bad_line(text: Text, parts: dict[int, Part]) -> None:
    """DataError for the first bad line, by its file and its place there."""
    k = _first_fault(parts)
    if k is not None:
        counts = {j: part.lines for j, part in parts.items() if part.fault is None}
        raise text.fault_in([k], parts[k].fault, counts)


def _give_names(folders: list[_Folder]) -> None:
    """All of them or none."""
    try:
        for folder in folders:
            folder.give_name()
    except BaseException:
        for folder in folders:
            folder.take_name_back()
        raise


class _Folder:
    """A folder to be, `scratch` until it gets its name; removed at the end of a `with` that did not give it one."""

    def __init__(self, context: Any, target: str):
        if not target:
            raise SvmtoolError("can't open output directory '': a directory needs a name")
        self._name = target
        try:
            path, self._system = adapter.hadoop_path(context, target)
            self._target = self._system.makeQualified(path)
            taken = self._system.exists(self._target)
        except Exception as e:  # of Java's: a name or a file system that is none
            raise SvmtoolError(f"can't open output directory {target}: {reason(e)}") from e
        if taken:
            raise SvmtoolError(f"can't open output directory {target}: it is there already")
        hidden = f".{self._target.getName()}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        self._scratch, _ = adapter.hadoop_path(context, f"{self._target.getParent()}/{hidden}")
        self.scratch, self._named = self._scratch.toString(), False

    def give_name(self) -> None:
        if self._system.exists(self._target):
            why = "it appeared meanwhile"
        else:
            try:
                self._named = self._system.rename(self._scratch, self._target)
                why = "it cannot be renamed to"
            except Exception as e:  # of Java's
                why = reason(e)
        if not self._named:
            raise SvmtoolError(f"can't write {self._name}: {why}, and so nothing is written")

    def take_name_back(self) -> None:
        """Remove what has got its name."""
        if self._named and not self._system.delete(self._target, True):
            raise SvmtoolError(f"can't remove {self._name}: it is written, but what goes with it is not")

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *exception: Any) -> None:
        with contextlib.suppress(Exception):  # the first error is the one to tell
            self._system.delete(self._scratch, True)
