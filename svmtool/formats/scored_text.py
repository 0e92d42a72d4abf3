"""LIBSVM text to labels and decision values in one pass: rows are scored as they are read and not kept.

Blocks of lines go to threads; what a row's sum is does not depend on them.
Memory holds a wave of blocks, whatever the size of the file.  Works without
numpy, whose import would cost more than scoring a file of a few megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.decision_loops import score_lines
from svmtool.compiled.loops.text.text_loops import PADDING
from svmtool.errors import DataError
from svmtool.formats.models.linear import StoredModel
from svmtool.formats.source import Source
from svmtool.formats.svmlight.pieces import refusal_of_line
from svmtool.models.words import ONE_CLASS_WORD

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import Any

BLOCK = 1 << 18  # bytes of text a thread works on at a time; fits the second-level cache
AHEAD = 1 << 14  # read beyond a block, where its last line ends
WAVE = 64  # blocks of a file whose results are in memory together
ROOM_EACH = 64  # bytes of text for which there is space for a row at first
STREAM = 1 << 23  # bytes of a stream that are in memory together


class Scored:
    """n rows in the order of the file: labels f8[n], decisions f8[n * columns] row by row (and room behind them)."""

    __slots__ = ("n", "labels", "decisions", "error")

    def __init__(self, room: int, columns: int):
        self.n = 0
        self.labels, self.decisions = Buffer("f8", room), Buffer("f8", room * columns)
        self.error: DataError | None = None

    def resized(self, n: int, room: int, columns: int) -> Scored:
        """A copy of the first n rows with space for `room`."""
        copy = Scored(room, columns)
        copy.labels.items[:n] = self.labels.items[:n]
        copy.decisions.items[: n * columns] = self.decisions.items[: n * columns]
        return copy


def scored_blocks(source: Source, model: StoredModel) -> Iterator[Scored]:
    """Score every line of an open source.

    Raises DataError for the first malformed line, after all rows in earlier blocks were handed out.
    """
    waves = _waves_of_file(source, model) if source.size is not None else _waves_of_stream(source, model)
    lines = 0
    for wave in waves:
        for block in wave:
            if block.error is not None:
                e = block.error
                raise DataError(lines + e.line, e.file, e.token, e.reason)
            lines += block.n
            yield block
        wave.clear()  # its memory is free before the next one is scored


def _waves_of_file(source: Source, model: StoredModel) -> Iterator[list[Scored]]:
    """A regular file: each thread reads its own blocks, into a buffer of its own."""
    size = source.size or 0
    total = -(-size // BLOCK)
    buffers: dict[int, Buffer] = {}
    for first in range(0, total, WAVE):
        wave = [Scored(0, 0)] * min(WAVE, total - first)

        def work(b: int, first: int = first, wave: list[Scored] = wave) -> None:
            me = threading.get_ident()
            text, start, stop, fault = _lines_of_block(source, first + b, size, buffers.get(me))
            buffers[me] = text
            wave[b] = _score(text, start, stop, model, source.name)
            if fault and wave[b].error is None:
                wave[b].error = DataError(wave[b].n + 1, source.name, "", fault)

        threads.run_blocks(work, len(wave))
        yield wave


def _lines_of_block(source: Source, b: int, size: int, text: Buffer | None) -> tuple[Buffer, int, int, str]:
    """Text, start and stop of the lines that begin in block b of the file, and what is wrong with a last one that is
    left out (else empty); an old buffer is used if it is enough."""
    origin = max(0, b * BLOCK - 1)  # with the byte before the block: it may end a line
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
        if fault := refusal_of_line(text, last, held):
            return text, start, last, fault
        if end == size:
            text.items[held] = 10  # the last line lacks its newline
            return text, start, held + 1, ""
        ahead *= 4


def _waves_of_stream(source: Source, model: StoredModel) -> Iterator[list[Scored]]:
    """A pipe or a compressed file: read in sequence, a wave at a time."""
    room = STREAM
    text = Buffer("u1", room + PADDING + 1)
    held = 0
    ended = False
    while not ended:
        n = source.read_into(text.items[held:room])
        ended = held + n < room
        held += n
        if ended and held and text.items[held - 1] != 10:
            text.items[held] = 10
            held += 1
        whole = text.memory.rfind(b"\n", 0, held) + 1
        cuts = [0]
        while cuts[-1] < whole:
            cuts.append(text.memory.find(b"\n", min(cuts[-1] + BLOCK, whole) - 1, whole) + 1)
        wave = [Scored(0, 0)] * (len(cuts) - 1)

        def work(b: int, text: Buffer = text, cuts: list[int] = cuts, wave: list[Scored] = wave) -> None:
            wave[b] = _score(text, cuts[b], cuts[b + 1], model, source.name)

        threads.run_blocks(work, len(wave))
        yield wave
        begun = text  # the last line, of which the rest is not there yet
        if (held - whole) * 2 > room:  # it is longer than a wave
            if fault := refusal_of_line(text, whole, held):
                broken = Scored(0, 0)
                broken.error = DataError(1, source.name, "", fault)
                yield [broken]
            room *= 2
            text = Buffer("u1", room + PADDING + 1)
        text.items[: held - whole] = begun.items[whole:held]
        held -= whole


def _score(text: Buffer, start: int, stop: int, model: StoredModel, name: str) -> Scored:
    """Score the lines of text[start:stop].  An error's line is counted from the block's first."""
    columns = model.columns
    scored = Scored(1 + (stop - start) // ROOM_EACH, columns)
    state = Buffer("i8", 2)
    state.items[0] = start
    rho = model.rho if model.word == ONE_CLASS_WORD and model.rho is not None else 0.0  # others carry it in vain
    while status := score_lines(
        text, model.W, scored.labels, scored.decisions, state, columns, model.n_features, model.bias, rho, stop
    ):
        at, row = state.items
        if status == 2:
            scored = scored.resized(row, 4 * row + BLOCK // ROOM_EACH, columns)
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
    n = state.items[1]
    if 2 * n < scored.labels.size:  # many blocks wait together: keep no more than is needed
        scored = scored.resized(n, n, columns)
    scored.n = n
    return scored


def _decide_row(out: Any, row: int, indices: list[int], values: list[float], model: StoredModel, rho: float):
    """The same sums as score_lines, for a row that only odd_line can read."""
    W, columns = model.W.items, model.columns
    for c in range(columns):
        total = 0.0
        for index, value in zip(indices, values, strict=True):
            if index <= model.n_features:
                total += W[(index - 1) * columns + c] * value
        if model.bias >= 0:
            total += W[model.n_features * columns + c] * model.bias
        out[row * columns + c] = total - rho
