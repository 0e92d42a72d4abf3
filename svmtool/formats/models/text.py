"""The text of a model file: read in windows, its header word by word.  Needs no numpy."""

from __future__ import annotations

import re

from svmtool.compiled.buffers import Buffer
from svmtool.errors import ModelError, clipped
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight.pieces import LONGEST_LINE
from svmtool.integers import parse_integer
from svmtool.numbers import NUMBER, parse_number

LONGEST_WORD = 80  # what the references' scanf takes at once
PADDING = 32  # bytes behind the text: the compiled parser looks ahead
WINDOW = 1 << 22  # bytes read at a time
LONGEST_TOKEN = 1 << 20  # bytes; numbers of thousands of digits are taken
MOST_CLASSES = 1 << 22  # whose labels are read one by one: a packed file of some kilobytes may claim 2^31
NOTES = 1 << 24  # bytes behind the model in which notes are searched for: the sigmoids of 100,000 classes fit


KERNEL_WORDS = (b"svm_type", b"kernel_type", b"degree", b"gamma", b"coef0", b"total_sv")  # LIBSVM's alone

_BLANKS = re.compile(rb"[ \t\n\v\f\r]*")
_WORD = re.compile(rb"[^ \t\n\v\f\r]{1,%d}" % LONGEST_WORD)
TOKEN = re.compile(rb"[^ \t\n\v\f\r]+")
_INTEGER = re.compile(rb"[+-]?[0-9]+")


class NoText(ModelError):
    """What cannot be the text of a model, however it goes on; the message is complete."""


class ModelText:
    """A window into the text of a model file, which moves on as the text is taken off its front.

    buffer: holds it, with PADDING bytes behind the window; at, stop: where the window begins and ends in it;
    ended: the text ends there too.
    """

    def __init__(self, path: str, source: Source | None, size: int):
        self.path, self.source = path, source
        self.buffer = Buffer("u1", size + PADDING)
        self.at = self.stop = 0
        self.ended = source is None
        self._lines = self._dropped = 0  # newlines, bytes before the buffer

    @classmethod
    def of(cls, data: bytes, path: str) -> ModelText:
        """The text of a model that something else than its file keeps; path: how it is called."""
        text = cls(path, None, len(data))
        text.buffer.items[: len(data)] = data
        text.stop = len(data)
        return text

    def __enter__(self) -> ModelText:
        return self

    def __exit__(self, *_: object) -> None:
        if self.source is not None:
            self.source.close()

    def more(self, longest: int = LONGEST_TOKEN) -> bool:
        """Read on, and drop what lies before the window; False at the end of the text.

        longest: bytes that what stands there unfinished may have.  NoText where it has more, or where a stream
        holds NULs, which may go on without end.
        """
        if self.ended:
            return False
        held = self.stop - self.at
        if held > longest:
            raise self.no_text(f"a word or line is longer than {longest / 1e6:.0f} MB")
        kept = bytes(self.buffer.items[self.at : self.stop])
        self._lines += self._newlines()
        self._dropped += self.at
        size = self.buffer.size - PADDING
        if 2 * held > size:
            size *= 2
            self.buffer = Buffer("u1", size + PADDING)
        self.buffer.items[:held] = kept
        self.at, self.stop = 0, held + self.source.read_into(self.buffer.items[held:size])
        self.ended = self.stop < size
        self.buffer.items[self.stop : self.stop + PADDING] = bytes(PADDING)
        if self.source.size is None and self.buffer.memory.find(b"\0", held, self.stop) >= 0:
            raise self.no_text("there are NUL bytes in it")
        return True

    def no_text(self, why: str) -> NoText:
        return NoText(f"can't open model file {self.path}: it is no text: {why}")

    def line(self) -> int:
        """The number of the line at which the window begins."""
        return 1 + self._lines + self._newlines()

    def _newlines(self) -> int:
        return bytes(self.buffer.items[: self.at]).count(b"\n")

    def left(self) -> int | None:
        """Bytes from the window's beginning to the end of the text, None where that is not known."""
        if self.ended:
            return self.stop - self.at
        return None if self.source.size is None else self.source.size - self._dropped - self.at

    def skip_blanks(self) -> None:
        """Let the window begin with a token, or be empty at the end of the text."""
        begun = self._dropped + self.at
        while True:
            blanks = _BLANKS.match(self.buffer.memory, self.at, self.stop)
            self.at = blanks.end() if blanks else self.at
            if self._dropped + self.at - begun > LONGEST_LINE:
                raise self.no_text("there are only blanks in it")
            if self.at < self.stop or not self.more():
                return

    def token_end(self) -> int:
        """The end of the token with which the window begins, wholly in the window then."""
        while (found := TOKEN.match(self.buffer.memory, self.at, self.stop)) and found.end() == self.stop:
            if not self.more():
                break
        return found.end() if found else self.at

    def whole(self) -> int:
        """Where the last token that is wholly in the window ends, with the blank behind it; `at` for none."""
        if self.ended:
            return self.stop
        return max(self.at, *(1 + self.buffer.memory.rfind(b, self.at, self.stop) for b in (b" ", b"\n", b"\r", b"\t")))

    def all(self) -> bytes:
        """The whole text, before anything has been taken; it is used up then."""
        while self.more(longest=1 << 62):
            pass
        return bytes(self.buffer.items[self.at : self.stop])

    def notes(self) -> tuple[str, ...]:
        """What stands behind the model in lines that start with `#`, in the next NOTES bytes."""
        while self.stop - self.at < NOTES and self.more(NOTES):
            pass
        lines = bytes(self.buffer.items[self.at : min(self.stop, self.at + NOTES)]).split(b"\n")
        return tuple(line.rstrip(b"\r").decode("utf-8", "replace") for line in lines if line.startswith(b"#"))


class Scanner:
    """Takes words and numbers off the front of the text, as C's scanf does.

    failure: the reference's sentence where what is wanted is not there; ModelErrors begin with it.
    """

    def __init__(self, text: ModelText, failure: str):
        self.text, self.failure = text, failure

    def _take(self, pattern: re.Pattern[bytes], wanted: str) -> str:
        text = self.text
        text.skip_blanks()
        end = text.token_end()
        found = pattern.match(text.buffer.memory, text.at, end)
        if not found:
            token = bytes(text.buffer.items[text.at : min(end, text.at + 40)])
            seen = repr(token.decode("latin-1")) if token else "the end of the file"
            raise ModelError(f"{self.failure}: {wanted} expected, found {seen}")
        text.at = found.end()
        return found[0].decode("latin-1")

    def word(self, wanted: str) -> str:
        return self._take(_WORD, wanted)

    def integer(self, wanted: str) -> int:
        text = self._take(_INTEGER, wanted)
        value = parse_integer(text)
        if not -(2**31) <= value < 2**31:
            raise ModelError(f"ERROR: {wanted}: {clipped(text)} does not fit into 32 bits")
        return value

    def integers(self, wanted: str, count: int) -> tuple[int, ...]:
        """So many of them, one a class."""
        self._require(f"numbers behind {wanted}", count)
        if count > MOST_CLASSES:
            raise ModelError(f"ERROR: {wanted}: {count} classes are more than the {MOST_CLASSES} that are taken here")
        return tuple(self.integer(wanted) for _ in range(count))

    def real(self, wanted: str) -> float:
        return parse_number(self._take(NUMBER, wanted))

    def reals(self, wanted: str, count: int) -> Buffer:
        """So many of them, by the compiled parser: memory is taken for those that are there and are not 0."""
        from svmtool.compiled.loops.text.decision_loops import parse_reals

        self._require(wanted, count)
        text, numbers, state = self.text, Buffer("f8", count), Buffer("i8", 2)
        while count:
            state.items[0] = text.at
            status = parse_reals(text.buffer, numbers, state, text.whole())
            text.at, k = state.items
            if status == 0:
                break
            if status == 2 and text.more():
                continue
            token = bytes(text.buffer.items[text.at : text.token_end()])  # the compiled parser leaves this one to us
            try:
                numbers.items[k] = parse_number(token)
            except ValueError:
                seen = repr(token[:40].decode("latin-1")) if token else "the end of the file"
                raise ModelError(f"{self.failure}: {count} {wanted} expected, number {k + 1} is {seen}") from None
            text.at, state.items[1] = text.at + len(token), k + 1
        return numbers

    def _require(self, wanted: str, count: int) -> None:
        """ModelError where the file is too short for so many numbers, before memory is taken for them."""
        left = self.text.left()
        if left is not None and 2 * count - 1 > left:
            raise ModelError(f"{self.failure}: {count} {wanted} expected, the file is too short for them")

    def threshold(self, wanted: str) -> float:
        """A real that decisions are compared with: with nan each would be the same, and mean nothing."""
        value = self.real(wanted)
        if value != value:
            raise ModelError(f"{self.failure}: line {self.text.line()}: {wanted} is nan, not a number")
        return value


def is_kernel_model(text: ModelText) -> bool:
    """Whether the text of a model file, of which nothing has been taken, begins with one of LIBSVM's words."""
    return bytes(text.buffer.items[: min(text.stop, LONGEST_WORD)]).split(maxsplit=1)[:1] in [[w] for w in KERNEL_WORDS]


def load(path: str) -> ModelText:
    """The text of a model file (`-`: standard input; compressed files too), its first window read."""
    source = open_source(path, "can't open model file")
    try:
        # One byte more than the file has: the read shows its end.
        text = ModelText(path, source, WINDOW if source.size is None else min(source.size + 1, WINDOW))
        text.more()
    except BaseException:
        source.close()
        raise
    return text
