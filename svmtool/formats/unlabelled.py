"""Rows without labels: text whose lines are completed by the label 0 while it is read."""

from __future__ import annotations

from svmtool.formats.source import Source

LABEL = b"0 "
READ = 1 << 20  # bytes


class Unlabelled(Source):
    """A source of the same lines with a label before each; an empty line is a row without features."""

    __slots__ = ("_source", "_ready", "_begins")

    def __init__(self, source: Source):
        super().__init__(source.name, -1, None, own=False)
        self._source, self._ready = source, b""
        self._begins = True  # whether the next byte begins a line

    def read_into(self, buffer) -> int:
        """See Source.read_into."""
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and (self._ready or self._read()):
            n = min(len(self._ready), len(view) - done)
            view[done : done + n] = self._ready[:n]
            self._ready = self._ready[n:]
            done += n
        return done

    def _read(self) -> bool:
        """Read and complete the next lines; False at the end."""
        block = bytearray(READ)
        text = bytes(block[: self._source.read_into(block)])
        if not text:
            return False
        last = text.endswith(b"\n")
        inside = text[:-1] if last else text
        self._ready = (LABEL if self._begins else b"") + inside.replace(b"\n", b"\n" + LABEL) + (b"\n" if last else b"")
        self._begins = last
        return True
