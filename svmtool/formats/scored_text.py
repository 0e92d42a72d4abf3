"""Computes decision values of LIBSVM text in one pass; rows are scored while reading and not stored.

Threads score blocks of lines; results do not depend on the blocks.  Memory holds one group of blocks, for any size of
the file.  Needs no numpy, whose import takes longer than scoring a file of a few megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.decision_loops import score_lines
from svmtool.compiled.loops.text.text_loops import PADDING
from svmtool.errors import DataError
from svmtool.formats.source import Source, partial_line_error
from svmtool.models.linear import ONE_CLASS_WORD, LinearModel

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import Any

BLOCK = 1 << 18  # bytes of text that a thread scores at a time; fits the second-level cache
AHEAD = 1 << 14  # bytes read after a block to find the end of its last line
GROUP = 64  # blocks of a file whose results are in memory at the same time
ROW_BYTES = 64  # initial estimate of the length of a row's text
STREAM = 1 << 23  # bytes of a stream in memory


class Scored:
    """n rows in file order: labels f8[n] and decisions f8[n * columns], in Buffers of larger capacity.

    largest: the largest index of their features.
    """

    def __init__(self, capacity: int, columns: int):
        self.n = self.largest = 0
        self.labels, self.decisions = Buffer("f8", capacity), Buffer("f8", capacity * columns)
        self.error: DataError | None = None

    def resized(self, n: int, capacity: int, columns: int) -> Scored:
        """A copy of the first n rows with the given capacity."""
        copy = Scored(capacity, columns)
        copy.labels.items[:n] = self.labels.items[:n]
        copy.decisions.items[: n * columns] = self.decisions.items[: n * columns]
        return copy


def scored_blocks(source: Source, model: LinearModel) -> Iterator[Scored]:
    """Score every line of an open source.

    Raises DataError for the first malformed line, after yielding all earlier blocks.
    """
    groups = _groups_of_file(source, model) if source.size is not None else _groups_of_stream(source, model)
    lines = 0
    for group in groups:
        for block in group:
            if block.error is not None:
                e = block.error
                raise DataError(lines + e.line, e.file, e.token, e.reason)
            lines += block.n
            yield block
        group.clear()  # frees its memory before the next group is scored


def _groups_of_file(source: Source, model: LinearModel) -> Iterator[list[Scored]]:
    """Groups of blocks of a regular file; each thread reads its blocks into its own buffer."""
    size = source.size or 0
    total = -(-size // BLOCK)
    buffers: dict[int, Buffer] = {}
    for first in range(0, total, GROUP):
        group = [Scored(0, 0)] * min(GROUP, total - first)

        def work(b: int, first: int = first, group: list[Scored] = group) -> None:
            me = threading.get_ident()
            text, start, stop, fault = _lines_of_block(source, first + b, size, buffers.get(me))
            buffers[me] = text
            group[b] = _score(text, start, stop, model, source.name)
            if fault and group[b].error is None:
                group[b].error = DataError(group[b].n + 1, source.name, "", fault)

        threads.run_blocks(work, len(group))
        yield group


def _lines_of_block(source: Source, b: int, size: int, text: Buffer | None) -> tuple[Buffer, int, int, str]:
    """Text, start and stop of the lines that begin in block b of the file, and the error of a last line that is left
    out (else empty); text: a buffer to use if it is large enough."""
    origin = max(0, b * BLOCK - 1)  # with the byte before the block, which may end a line
    border = min((b + 1) * BLOCK, size)
    ahead = AHEAD
    while True:
        end = min(border + ahead, size)
        held = end - origin
        if text is None or text.size < held + 1 + PADDING:
            text = Buffer("u1", BLOCK + ahead + 2 + PADDING)
        source.read_at(text.items[:held], origin)
        start = 0 if b == 0 else text.memory.find(b"\n", 0, held) + 1
        if b and (start > border - origin or (start == 0 and end >= border)):
            return text, 0, 0, ""  # no line begins here
        stop = text.memory.find(b"\n", border - 1 - origin, held) + 1
        if stop:
            return text, start, stop, ""
        last = text.memory.rfind(b"\n", start, held) + 1 or start
        if fault := partial_line_error(text, last, held):
            return text, start, last, fault
        if end == size:
            text.items[held] = 10  # the last line has no newline
            return text, start, held + 1, ""
        ahead *= 4


def _groups_of_stream(source: Source, model: LinearModel) -> Iterator[list[Scored]]:
    """Groups of blocks of a pipe or a compressed file, read sequentially."""
    capacity = STREAM
    text = Buffer("u1", capacity + PADDING + 1)
    held = 0
    ended = False
    while not ended:
        n = source.read_into(text.items[held:capacity])
        ended = held + n < capacity
        held += n
        if ended and held and text.items[held - 1] != 10:
            text.items[held] = 10
            held += 1
        whole = text.memory.rfind(b"\n", 0, held) + 1
        cuts = [0]
        while cuts[-1] < whole:
            cuts.append(text.memory.find(b"\n", min(cuts[-1] + BLOCK, whole) - 1, whole) + 1)
        group = [Scored(0, 0)] * (len(cuts) - 1)

        def work(b: int, text: Buffer = text, cuts: list[int] = cuts, group: list[Scored] = group) -> None:
            group[b] = _score(text, cuts[b], cuts[b + 1], model, source.name)

        threads.run_blocks(work, len(group))
        yield group
        begun = text  # the incomplete last line
        if (held - whole) * 2 > capacity:  # it fills more than half the buffer
            if fault := partial_line_error(text, whole, held):
                broken = Scored(0, 0)
                broken.error = DataError(1, source.name, "", fault)
                yield [broken]
            capacity *= 2
            text = Buffer("u1", capacity + PADDING + 1)
        text.items[: held - whole] = begun.items[whole:held]
        held -= whole


def _score(text: Buffer, start: int, stop: int, model: LinearModel, name: str) -> Scored:
    """Score the lines of text[start:stop]; errors count lines from the block's first."""
    columns = model.columns
    scored = Scored(1 + (stop - start) // ROW_BYTES, columns)
    state = Buffer("i8", 3)  # position, row, largest index
    state.items[0] = start
    rho = model.rho if model.word == ONE_CLASS_WORD and model.rho is not None else 0.0  # other models ignore it
    while status := score_lines(
        text, model.W, scored.labels, scored.decisions, state, columns, model.n_features, model.bias, rho, stop
    ):
        at, row, largest = state.items
        if status == 2:
            scored = scored.resized(row, 4 * row + BLOCK // ROW_BYTES, columns)
            continue
        from svmtool.formats.svmlight.slow_line import parse_line

        line = bytes(text.items[at : text.memory.find(b"\n", at, stop)])
        try:
            label, indices, values = parse_line(line, row + 1, name)
        except DataError as e:
            scored.error = e
            return scored
        scored.labels.items[row] = label
        _decide_row(scored.decisions.items, row, indices, values, model, rho)
        state.items[0], state.items[1] = at + len(line) + 1, row + 1
        state.items[2] = max(largest, indices[-1] if indices else 0)
    n = state.items[1]
    if 2 * n < scored.labels.size:  # many blocks are in memory: keep only what is needed
        scored = scored.resized(n, n, columns)
    scored.n, scored.largest = n, state.items[2]
    return scored


def _decide_row(out: Any, row: int, indices: list[int], values: list[float], model: LinearModel, rho: float):
    """The sums of score_lines for a row that only slow_line can parse."""
    W, columns = model.W.items, model.columns
    for c in range(columns):
        total = 0.0
        for index, value in zip(indices, values, strict=True):
            if index <= model.n_features:
                total += W[(index - 1) * columns + c] * value
        if model.bias >= 0:
            total += W[model.n_features * columns + c] * model.bias
        out[row * columns + c] = total - rho
