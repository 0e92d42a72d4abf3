"""Computes decision values of LIBSVM text in one pass; rows are scored while reading and not stored.

Threads score blocks of lines; results do not depend on the blocks.  Memory holds one group of results, for any size of
the file.  Needs no numpy, whose import takes longer than scoring a file of a few megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.decision_loops import decide, score_lines
from svmtool.compiled.loops.text.text_loops import SOME_LABELLED, count_marks
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import LineReader, Source
from svmtool.models.linear import ONE_CLASS_WORD, LinearModel, weight_arrays

TYPE_CHECKING = False  # typing is not imported at start
if TYPE_CHECKING:
    from typing import Any

    from svmtool.data.label_sets import LabelSets

SCORED_BYTES = 1 << 18  # bytes of text that a thread scores at a time; fits the second-level cache
LEAST_BYTES = 1 << 12  # of them where a row has many results
ROW_BYTES = 64  # initial estimate of the length of a row's text
GROUP_BLOCKS = 64  # blocks whose results are in memory at the same time, at most, ...
MAX_RESULTS = 1 << 21  # ... and decision values, but for the blocks that threads are scoring


class Scored:
    """n rows in file order: labels f8[n] and decisions f8[n * columns], in Buffers of this capacity or more.

    largest: the largest index of their features.  lines: of their text, which may have others than rows.
    names, sets: of the rows, see svmlight/additions.py; None where no row has one.
    certain: of --certified, bool[n]; else None.
    """

    sets: LabelSets | None = None
    certain: Any = None

    def __init__(self, capacity: int, columns: int):
        self.n = self.largest = self.lines = 0
        self.names: list[bytes] | None = None
        self.labels, self.decisions = Buffer("f8", capacity), Buffer("f8", capacity * columns)
        self.error: SvmtoolError | None = None


def scored_blocks(source: Source, model: LinearModel, form: int = SOME_LABELLED) -> Iterator[Scored]:
    """Score every line of an open source; form: of its labels, see text_loops.

    Raises DataError for the first malformed line, after yielding all earlier blocks.
    """
    piece = min(SCORED_BYTES, max(LEAST_BYTES, ROW_BYTES * MAX_RESULTS // (2 * max(1, model.columns))))
    reader, reading = LineReader(source, piece), threading.Lock()
    texts: dict[int, Buffer] = {}  # of each thread
    group: list[Scored]
    results = 0  # of the group

    def work(_: int) -> None:
        nonlocal results
        me = threading.get_ident()
        with reading:
            if reader.ended or results > MAX_RESULTS:
                return
            place = len(group)
            group.append(Scored(0, 0))
            try:
                texts[me], size, fault = reader.read(texts.get(me))
            except SvmtoolError as e:
                reader.ended, group[place].error = True, e
                return
        group[place] = scored = _score(texts[me], size, model, source.name, form)
        if fault:
            scored.error = DataError(1, source.name, "", fault)
        results += scored.n * model.columns

    # one block decides whether a stream is worth starting threads for
    lines, n_blocks = 0, 1 if source.size is None else min(GROUP_BLOCKS, -(-source.size // piece))
    while not reader.ended:
        group, results = [], 0
        threads.run_blocks(work, n_blocks)
        n_blocks = GROUP_BLOCKS
        for block in group:
            if isinstance(e := block.error, DataError):
                raise DataError(lines + e.line, e.file, e.token, e.reason)
            if e is not None:
                raise e
            lines += block.lines
            yield block


def _score(
    text: Buffer, stop: int, model: LinearModel, name: str, form: int, lines: list[int] | None = None
) -> Scored:  # fmt: skip
    """Score the lines of text[:stop]; errors count lines from the block's first.

    lines: of each row the number of its line in the block, where additions are taken away.
    """
    columns = model.columns
    facts, state = Buffer("i8", 4), Buffer("i8", 3)  # state: position, row, largest index
    count_marks(text, facts, 0, stop)
    scored = Scored(facts.items[0], columns)
    rho = model.rho if model.word == ONE_CLASS_WORD and model.rho is not None else 0.0  # other models ignore it
    starts, places, W = weight_arrays(model.W)
    while score_lines(
        text, starts, places, W, scored.labels, scored.decisions, state, columns, model.n_features, model.bias, rho,
        stop, form,
    ):  # fmt: skip
        at, row, largest = state.items
        from svmtool.formats.svmlight.slow_line import parse_line

        line = bytes(text.items[at : text.memory.find(b"\n", at, stop)])
        try:
            label, indices, values = parse_line(line, 1 + (row if lines is None else lines[row]), name, form=form)
        except DataError as e:
            rest = None if lines is not None else _without_additions(text, stop, model, name, form)
            return rest or _failed(e)
        scored.labels.items[row] = label
        _decide_row(scored, row, indices, values, model, rho)
        state.items[0], state.items[1] = at + len(line) + 1, row + 1
        state.items[2] = max(largest, indices[-1] if indices else 0)
    n = state.items[1]
    scored.n, scored.largest, scored.lines = n, state.items[2], n
    return scored


def _failed(e: DataError) -> Scored:
    """A block with an error."""
    found = Scored(0, 0)
    found.error = e
    return found


def _without_additions(text: Buffer, stop: int, model: LinearModel, name: str, form: int) -> Scored | None:
    """`_score` of lines with SVMlight's additions; None where there are none."""
    from svmtool.formats.svmlight import additions
    from svmtool.formats.svmlight.table import padded

    try:
        rows = additions.removed(bytes(text.memory[:stop]), name, form)
    except DataError as e:
        return _failed(e)
    if rows is None:
        return None
    scored = _score(padded(rows.text), len(rows.text), model, name, form, rows.lines)
    scored.lines, scored.names, scored.sets = rows.count, rows.names, rows.sets
    return scored


def _decide_row(
    scored: Scored, row: int, indices: list[int], values: list[float], model: LinearModel, rho: float
) -> None:  # fmt: skip
    """The sums of score_lines for a row that only slow_line can parse."""
    columns, n = model.columns, len(indices)
    ends, places, numbers, out = Buffer("i8", 2), Buffer("i4", n), Buffer("f8", n), Buffer("f8", columns)
    ends.items[1] = n
    for k, index in enumerate(indices):
        places.items[k], numbers.items[k] = index - 1, values[k]
    decide(ends, places, numbers, *weight_arrays(model.W), out, columns, model.n_features, model.bias, rho, 0, 1)
    scored.decisions.items[row * columns : (row + 1) * columns] = out.items[:columns]
