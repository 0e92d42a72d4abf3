"""The text of a model file: loaded whole, its header read word by word.  Needs no numpy."""

from __future__ import annotations

import re

from svmtool.compiled.buffers import Buffer
from svmtool.errors import ModelError, clipped
from svmtool.formats.numbers import NUMBER, parse_number
from svmtool.formats.source import open_source
from svmtool.integers import parse_integer

LONGEST_WORD = 80  # what the references' scanf takes at once
PADDING = 32  # bytes behind the text: the compiled parser looks ahead

NO_CLASSES = "the model has no classes (it was trained on an empty file) and cannot predict"
OVERFLOWN = "the training left the range of numbers and no model is written: scale the features (svm-scale), or choose "
OVERFLOWN += "a smaller -c"

KERNEL_WORDS = (b"svm_type", b"kernel_type", b"degree", b"gamma", b"coef0", b"total_sv")  # LIBSVM's alone

_BLANKS = re.compile(rb"[ \t\n\v\f\r]*")
_WORD = re.compile(rb"[^ \t\n\v\f\r]{1,%d}" % LONGEST_WORD)
TOKEN = re.compile(rb"[^ \t\n\v\f\r]+")
_INTEGER = re.compile(rb"[+-]?[0-9]+")


class Scanner:
    """Takes words and numbers off the front of the text, as C's scanf does.

    failure: the reference's sentence where what is wanted is not there; ModelErrors begin with it.
    """

    def __init__(self, text: bytearray, stop: int, failure: str):
        self.text, self.stop, self.failure, self.at = text, stop, failure, 0

    def _take(self, pattern: re.Pattern[bytes], wanted: str) -> str:
        blanks = _BLANKS.match(self.text, self.at, self.stop)
        start = blanks.end() if blanks else self.at
        found = pattern.match(self.text, start, self.stop)
        if not found:
            token = TOKEN.match(self.text, start, self.stop)
            seen = repr(token[0][:40].decode("latin-1")) if token else "the end of the file"
            raise ModelError(f"{self.failure}: {wanted} expected, found {seen}")
        self.at = found.end()
        return found[0].decode("latin-1")

    def word(self, wanted: str) -> str:
        return self._take(_WORD, wanted)

    def integer(self, wanted: str) -> int:
        text = self._take(_INTEGER, wanted)
        value = parse_integer(text)
        if not -(2**31) <= value < 2**31:
            raise ModelError(f"ERROR: {wanted}: {clipped(text)} does not fit into 32 bits")
        return value

    def real(self, wanted: str) -> float:
        return parse_number(self._take(NUMBER, wanted))

    def threshold(self, wanted: str) -> float:
        """A real that decisions are compared with: with nan each would be the same, and mean nothing."""
        value = self.real(wanted)
        if value != value:
            line = 1 + self.text.count(b"\n", 0, self.at)
            raise ModelError(f"{self.failure}: line {line}: {wanted} is nan, not a number")
        return value


def is_kernel_model(text: Buffer, length: int) -> bool:
    """Whether the text of a model file begins with one of LIBSVM's words."""
    return bytes(text.items[: min(length, LONGEST_WORD)]).split(maxsplit=1)[:1] in [[word] for word in KERNEL_WORDS]


def load(path: str) -> tuple[Buffer, int]:
    """The whole text of a model file (`-`: standard input; compressed files too), and its length."""
    with open_source(path, "can't open model file") as source:
        room = 1 + (source.size or 0xFFFF)  # one more byte: the last read shows the end
        text = Buffer("u1", room + PADDING)
        held = source.read_into(text.items[:room])
        while held == room:
            if text.memory.find(b"\0", 0, held) >= 0:  # a stream of them has no end, or a very far one
                raise ModelError(f"can't open model file {path}: it is no text: there are NUL bytes in it")
            longer = Buffer("u1", 2 * room + PADDING)
            longer.items[:held] = text.items[:held]
            text, room = longer, 2 * room
            held += source.read_into(text.items[held:room])
        return text, held
