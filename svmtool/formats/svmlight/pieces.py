"""Splits text that is read in blocks into pieces of complete lines, and limits the length of a line."""

from __future__ import annotations

from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text import text_loops
from svmtool.tolerances import MB

NEWLINE = b"\n"
LONGEST_LINE = 1 << 28  # bytes; a small compressed file may contain gigabytes without a newline
NUL = "the line contains a NUL byte: this is not a text file"
NO_MARKS = [0, 0, -1, 0]  # count_marks of an empty text


def partial_line_error(text: Buffer, start: int, stop: int, longest: int = LONGEST_LINE) -> str:
    """Why text[start:stop] cannot be the beginning of a line; empty if it can."""
    if text.memory.find(b"\0", start, stop) >= 0:
        return NUL
    return too_long(longest) if stop - start > longest else ""


def too_long(longest: int) -> str:
    return f"the line is longer than {longest / MB:.0f} MB"


class Piece:
    """Complete lines: start and end of their text, and the ranges of their rows and pairs."""

    __slots__ = ("start", "stop", "rows", "pairs")

    def __init__(self, start: int, stop: int, rows: tuple[int, int], pairs: tuple[int, int]):
        self.start, self.stop, self.rows, self.pairs = start, stop, rows, pairs


def count_marks(text: Buffer, start: int, stop: int) -> list[int]:
    """text_loops.count_marks of text[start:stop]."""
    facts = Buffer("i8", 4)
    text_loops.count_marks(text, facts, start, stop)
    return facts.items.tolist()


def cut_into_pieces(facts: list[list[int]], block: int, size: int, unfinished: bool) -> tuple[list[Piece], int, int]:
    """Cut `size` bytes into pieces of complete lines, given count_marks of each block.

    Cuts are after the first newline of a block.  unfinished: the last line has no newline.
    Returns the pieces and the numbers of rows and pairs.
    """
    cuts = [(0, 0, 0)]
    rows = pairs = 0
    for b, (lines, colons, head, head_colons) in enumerate(facts):
        if b and head >= 0:
            cuts.append((b * block + head + 1, rows + 1, pairs + head_colons))
        rows, pairs = rows + lines, pairs + colons
    rows += unfinished
    cuts.append((size, rows, pairs))
    found = [
        Piece(a[0], z[0], (a[1], z[1]), (a[2], z[2])) for a, z in zip(cuts[:-1], cuts[1:], strict=True) if a[0] < z[0]
    ]
    return found, rows, pairs
