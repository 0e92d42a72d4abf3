"""Scores text on the executors: each input partition becomes one part file of each output folder, in input order.

Spark's committer writes a folder under a temporary name and takes each part from a single attempt of its task.  Once
all folders are complete they are renamed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

from svmtool.distributed import adapter
from svmtool.distributed.frame import Frame, lines_of, source_of
from svmtool.distributed.reading import Text
from svmtool.distributed.session import Session, reason, spark_errors
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import Source, of_pieces

PREDICTION_COLUMN, LABELS_WORD = "prediction", "labels"
COLUMNS = ((PREDICTION_COLUMN, "probability"), ("rawPrediction",))  # added to frames, by output folder
BATCH_LINES = 1000  # lines joined to one text
SCORES_POLL_SECONDS = 0.1  # between two checks of the progress

# scorer(source, part) yields texts of whole lines, one (or None) for each output folder, and returns its tally
Scorer = Callable[[Source, int], Generator[tuple[bytes | None, ...], None, Any]]


class PartResult(NamedTuple):
    """Result of a partition: its number of lines and the scorer's tally, or the error of a line."""

    lines: int
    tally: Any
    fault: DataError | None  # with the line number within the partition


def score(
    session: Session, path: str, targets: list[str], scorer: Scorer, watch: Callable[[int, int], None]
) -> list[Any]:
    """Score the lines of `path` and write the texts to new folders `targets`; returns the tallies in part order.

    path: file, folder or pattern, as for Spark's readers.  scorer: sent to the executors; it may read its source once.
    watch(done, all) is called as parts are finished.  Raises DataError for a malformed line, and SvmtoolError if a
    folder exists already or Spark fails.  After an exception no folder is left.
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
            parts = gathered.value
            if (first := _first_fault(parts)) is not None:
                counts = {j: part.lines for j, part in parts.items() if part.fault is None}
                raise text.fault_in([first], parts[first].fault, counts)
        try:
            for folder in folders:
                folder.publish()
        except BaseException:  # all folders or none
            for folder in folders:
                folder.unpublish()
            raise
        return [part.tally for _, part in sorted(gathered.value.items())]


def _extended(schema: Any, names: tuple[str, ...], path: str) -> Any:
    """A frame's schema with added columns: `prediction` is a number, the others are arrays of numbers."""
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    for name in names:
        if name in schema.names:
            raise SvmtoolError(f"{path}: the column {name} exists already, and --spark would add it")
    kinds = [ArrayType(DoubleType()) if name != PREDICTION_COLUMN else DoubleType() for name in names]
    return StructType([*schema.fields, *(StructField(*pair) for pair in zip(names, kinds, strict=True))])


def _score_rows(
    scorer: Scorer, gathered: Any, place: tuple[int | None, int], part: int, rows: Iterable[Any]
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """In an executor: yield the rows of one partition of a frame, each with its line for each output folder."""
    rows, again = itertools.tee(rows)
    for texts in _score_part(scorer, gathered, part, lines_of(*place, again, predicted=True)):
        lines = [[] if text is None else text.decode().splitlines() for text in texts]
        if lines[0] and lines[0][0].startswith(LABELS_WORD):
            del lines[0][0]
        for found in zip(*(some for text, some in zip(texts, lines, strict=True) if text is not None), strict=True):
            yield next(rows), found


def _row(k: int, scored: tuple[Any, tuple[str, ...]]) -> tuple[Any, ...]:
    """A row extended by the numbers of its line for folder k."""
    row, lines = scored
    numbers = [float(word) for word in lines[k].split()]
    return (*row, numbers[0], numbers[1:]) if k == 0 else (*row, numbers)


class _Gathered:
    """Accumulator of {partition: PartResult}; a partition that was computed twice counts once."""

    def zero(self, value: dict[int, PartResult]) -> dict[int, PartResult]:
        return {}

    def addInPlace(self, value: dict[int, PartResult], more: dict[int, PartResult]) -> dict[int, PartResult]:  # noqa: N802, pyspark's name
        value.update(more)
        return value


def _score_part(scorer: Scorer, gathered: Any, part: int, lines: Iterable[bytes]) -> Iterator[tuple[bytes | None, ...]]:
    """In an executor: yield the texts of one partition, and send its PartResult to the driver."""
    count, tally, fault = 0, None, None

    def pieces() -> Iterator[bytes]:
        nonlocal count
        left = iter(lines)
        while some := list(itertools.islice(left, BATCH_LINES)):
            count += len(some)
            yield b"\n".join([*some, b""])

    try:
        tally = yield from scorer(of_pieces("", pieces()), part)
    except DataError as e:
        fault = e
    gathered.add({part: PartResult(count, tally, fault)})


def _column(k: int, texts: tuple[bytes | None, ...]) -> list[bytes]:
    """The text for folder k without its last line end, which Spark's writer adds."""
    text = texts[k]
    return [] if text is None else [text[:-1]]


def _run(context: Any, job: Callable[[], None], gathered: Any, text: Text, watch: Callable[[int, int], None]) -> None:
    """Run a Spark job in a thread, so that Ctrl-C or a malformed line can cancel it."""
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
            thread.join(SCORES_POLL_SECONDS)
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


def _first_fault(parts: dict[int, PartResult]) -> int | None:
    return min((k for k, part in parts.copy().items() if part.fault is not None), default=None)


class _Folder:
    """An output folder, written at `scratch` until `publish` renames it; the end of a `with` removes `scratch`."""

    def __init__(self, context: Any, target: str):
        if not target:
            raise SvmtoolError("can't open output directory '': a directory needs a name")
        self._name = target
        try:
            path, self._system = adapter.hadoop_path(context, target)
            self._target = self._system.makeQualified(path)
            taken = self._system.exists(self._target)
        except Exception as e:  # from Java: an invalid name or file system
            raise SvmtoolError(f"can't open output directory {target}: {reason(e)}") from e
        if taken:
            raise SvmtoolError(f"can't open output directory {target}: it exists already")
        hidden = f".{self._target.getName()}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        self._scratch, _ = adapter.hadoop_path(context, f"{self._target.getParent()}/{hidden}")
        self.scratch, self._named = self._scratch.toString(), False

    def publish(self) -> None:
        if self._system.exists(self._target):
            why = "it was created by another process"
        else:
            try:
                self._named = self._system.rename(self._scratch, self._target)
                why = "the temporary folder cannot be renamed"
            except Exception as e:  # from Java
                why = reason(e)
        if not self._named:
            raise SvmtoolError(f"can't write {self._name}: {why}; nothing was written")

    def unpublish(self) -> None:
        """Remove the renamed folder."""
        if self._named and not self._system.delete(self._target, True):
            raise SvmtoolError(f"can't remove {self._name}: it was written, but another output was not")

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *exception: Any) -> None:
        with contextlib.suppress(Exception):  # keeps the first error
            self._system.delete(self._scratch, True)
