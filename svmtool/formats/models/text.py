"""Reads the text of a model file in windows and its header word by word.  Needs no numpy."""

from __future__ import annotations

from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.decision_loops import count_tokens, parse_reals
from svmtool.compiled.loops.text.text_loops import PADDING, count_marks
from svmtool.errors import ModelError, clipped
from svmtool.formats.source import MAX_LINE, Source, open_source
from svmtool.integers import parse_integer
from svmtool.limits import memory
from svmtool.numbers import integer_length, number_length, parse_number
from svmtool.tolerances import MB, MIB

TYPE_CHECKING = False  # svm-predict starts without `typing` and `re`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_WORD_BYTES = 80  # characters that LIBLINEAR's and LIBSVM's scanf read at most
ZIP = b"PK\x03\x04"
WINDOW_BYTES = 1 << 22  # bytes read at a time
PART_BYTES = 1 << 18  # of them that a thread parses at a time
STEP_BYTES = 256  # bytes searched at a time for the end of blanks or of a token
MAX_TOKEN_BYTES = MIB  # bytes; numbers may have thousands of digits
MAX_CLASSES = 1 << 22  # their labels are read one by one, and a small compressed file may claim 2^31
MAX_NOTES_BYTES = 1 << 24  # bytes after the model that are searched for notes: sigmoids of 100,000 classes fit
KERNEL_WORDS = (b"svm_type", b"kernel_type", b"degree", b"gamma", b"coef0", b"total_sv")  # only in LIBSVM's models


class NotText(ModelError):
    """A file whose beginning cannot be the text of a model; the message is complete."""


class ModelText:
    """A window into the text of a model file that moves forward as the text is read.

    buffer: memory of the window, with PADDING bytes after it.  at, stop: beginning and end of the window in it.  ended:
    whether the text ends there too.
    """

    def __init__(self, path: str, source: Source | None, size: int):
        self.path, self.source = path, source
        self.buffer = Buffer("u1", size + PADDING)
        self.at = self.stop = 0
        self.ended = source is None
        self.packed = False  # whether it is no text but a zip, see sparse.py
        self._lines = self._dropped = 0  # newlines and bytes before the buffer

    @classmethod
    def of(cls, data: bytes, path: str) -> ModelText:
        """The text of a model in memory; path: its name in messages."""
        text = cls(path, None, len(data))
        text.buffer.items[: len(data)] = data
        text.stop = len(data)
        text.packed = text.begins_with(ZIP)
        return text

    def __enter__(self) -> ModelText:
        return self

    def __exit__(self, *_: object) -> None:
        if self.source is not None:
            self.source.close()

    def more(self, longest: int = MAX_TOKEN_BYTES) -> bool:
        """Extend the window by more text and drop the bytes before it; False at the end of the text.

        longest: limit of the window in bytes.  Raises NotText if it is exceeded, or for NUL bytes in a stream, which
        may be endless.
        """
        if self.ended:
            return False
        held = self.stop - self.at
        if held > longest:
            raise self.not_text(f"a word or line is longer than {longest / MB:.0f} MB")
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
        if self._dropped == 0:
            self.packed = self.begins_with(ZIP)
        self.buffer.items[self.stop : self.stop + PADDING] = bytes(PADDING)
        if self.source.size is None and not self.packed and self.buffer.memory.find(b"\0", held, self.stop) >= 0:
            raise self.not_text("it contains NUL bytes")
        return True

    def not_text(self, why: str) -> NotText:
        return NotText(f"can't open model file {self.path}: not a text file: {why}")

    def line(self) -> int:
        """Line number of the window's beginning."""
        return 1 + self._lines + self._newlines()

    def _newlines(self) -> int:
        facts = Buffer("i8", 4)
        count_marks(self.buffer, facts, 0, self.at)
        return facts.items[0]

    def bytes_left(self) -> int | None:
        """Bytes from the window's beginning to the end of the text; None if unknown."""
        if self.ended:
            return self.stop - self.at
        return None if self.source.size is None else self.source.size - self._dropped - self.at

    def begins_with(self, mark: bytes) -> bool:
        """Whether the window begins with these bytes."""
        return bytes(self.buffer.items[self.at : min(self.at + len(mark), self.stop)]) == mark

    def skip_blanks(self) -> None:
        """Move the window to the next token; it is empty at the end of the text."""
        begun = self._dropped + self.at
        while True:
            step = self._bytes_from(self.at)
            blanks = len(step) - len(step.lstrip())
            self.at += blanks
            if self._dropped + self.at - begun > MAX_LINE:
                raise self.not_text("it contains only blanks")
            if blanks < len(step) or (self.at == self.stop and not self.more()):
                return

    def token(self) -> bytes:
        """The token at the window's beginning, after extending the window to hold all of it; empty at the end."""
        length = 0
        while True:
            step = self._bytes_from(self.at + length)
            more = len((b"." + step).split(None, 1)[0]) - 1  # with the dot, split drops no blanks before the token
            length += more
            if more < len(step) or (self.at + length == self.stop and not self.more()):
                return bytes(self.buffer.items[self.at : self.at + length])

    def _bytes_from(self, start: int) -> bytes:
        """The next bytes of the window, at most STEP_BYTES."""
        return bytes(self.buffer.items[start : min(start + STEP_BYTES, self.stop)])

    def whole(self) -> int:
        """End of the last complete token in the window with its following blank; `at` for none."""
        if self.ended:
            return self.stop
        end = self.at
        for blank in (b" ", b"\n", b"\r", b"\t"):
            end = max(end, 1 + self.buffer.memory.rfind(blank, end, self.stop))
        return end

    def all(self) -> bytes:
        """The whole text, which is consumed; call it before anything is read."""
        while self.more(longest=memory()):
            pass
        return bytes(self.buffer.items[self.at : self.stop])

    def notes(self) -> tuple[str, ...]:
        """The lines after the model, which start with `#`, within the next MAX_NOTES_BYTES bytes.

        ModelError where a number follows the model: it has more of them than its header says.  Other text is ignored,
        as in LIBLINEAR and LIBSVM.
        """
        while self.stop - self.at < MAX_NOTES_BYTES and self.more(MAX_NOTES_BYTES):
            pass
        lines = bytes(self.buffer.items[self.at : min(self.stop, self.at + MAX_NOTES_BYTES)]).split(b"\n")
        for k, line in enumerate(lines):
            token = b"" if line.startswith(b"#") else line.lstrip()[:MAX_WORD_BYTES].partition(b" ")[0].strip()
            if is_number(token):
                raise ModelError(
                    f"ERROR: line {self.line() + k}: {shown(token)} follows the model, which has more numbers than its "
                    "header says"
                )
            if token:
                break
        return tuple(line.rstrip(b"\r").decode("utf-8", "replace") for line in lines if line.startswith(b"#"))


def is_number(token: bytes) -> bool:
    """Whether a token is a number, finite or not."""
    try:
        float(token)
    except ValueError:
        return False
    return True


def shown(token: bytes) -> str:
    """A token in messages."""
    return repr(token[:40].decode("latin-1"))


class Scanner:
    """Reads words and numbers from the text as C's scanf does.

    failure: beginning of the ModelErrors for missing words, as in LIBLINEAR or LIBSVM.
    """

    def __init__(self, text: ModelText, failure: str):
        self.text, self.failure = text, failure

    def _read_token(self, length_of: Callable[[bytes], int], wanted: str) -> str:
        """Consume the part of the next token that `length_of` accepts; ModelError if it returns 0."""
        text = self.text
        text.skip_blanks()
        token = text.token()
        length = length_of(token)
        if length == 0:
            seen = shown(token) if token else "the end of the file"
            raise ModelError(f"{self.failure}: {wanted} expected, found {seen}")
        text.at += length
        return token[:length].decode("latin-1")

    def word(self, wanted: str) -> str:
        return self._read_token(lambda token: min(len(token), MAX_WORD_BYTES), wanted)

    def integer(self, wanted: str) -> int:
        text = self._read_token(integer_length, wanted)
        value = parse_integer(text)
        if not -(2**31) <= value < 2**31:
            raise ModelError(f"ERROR: {wanted}: {clipped(text)} does not fit into 32 bits")
        return value

    def integers(self, wanted: str, count: int) -> tuple[int, ...]:
        """Read `count` integers, one for each class."""
        self._require(f"numbers after {wanted}", count)
        if count > MAX_CLASSES:
            raise ModelError(f"ERROR: {wanted}: {count} classes exceed the limit of {MAX_CLASSES}")
        return tuple(self.integer(wanted) for _ in range(count))

    def real(self, wanted: str, allowed: tuple[str, ...] = ()) -> float:
        """Read a finite number; allowed: `inf` and `nan` where the format has them."""
        token = self._read_token(number_length, wanted)
        value = parse_number(token)
        if str(abs(value)) not in allowed:
            self._refuse_infinite(value, wanted, token)
        return value

    def _refuse_infinite(self, value: float, wanted: str, token: str) -> None:
        if value - value != 0:
            line = self.text.line()
            raise ModelError(f"{self.failure}: line {line}: {wanted} is {clipped(token)}, which is not finite")

    def reals(self, wanted: str, count: int) -> Buffer:
        """Read `count` finite numbers by the compiled parser, whose numbers are; memory is touched only for numbers
        that exist and are not 0."""
        self._require(wanted, count)
        text, numbers, state = self.text, Buffer("f8", count), Buffer("i8", 2)
        while count:
            state.items[1] += self._read_beside(numbers, state.items[1])
            state.items[0] = text.at
            status = parse_reals(text.buffer, numbers, state, text.whole())
            text.at, k = state.items
            if status == 0:
                break
            if status == 2 and text.more():
                continue
            token = text.token()  # the compiled parser cannot read it
            try:
                numbers.items[k] = parse_number(token)
            except ValueError:
                seen = shown(token) if token else "the end of the file"
                raise ModelError(f"{self.failure}: {count} {wanted} expected, number {k + 1} is {seen}") from None
            self._refuse_infinite(numbers.items[k], f"number {k + 1} of {count} {wanted}", token.decode("latin-1"))
            text.at, state.items[1] = text.at + len(token), k + 1
        return numbers

    def _read_beside(self, numbers: Buffer, first: int) -> int:
        """Read the window's numbers on all threads into numbers[first:]; returns how many.

        0, and nothing is consumed, where the window is short or holds anything else.
        """
        text, stop = self.text, self.text.whole()
        n_parts = (stop - text.at) // PART_BYTES
        if threads.beside(n_parts) < 2:
            return 0
        cuts = [text.at + (stop - text.at) * k // n_parts for k in range(n_parts)] + [stop]
        for k in range(1, n_parts):
            cuts[k] = max(cuts[k - 1], text.buffer.memory.find(b" ", cuts[k], stop))  # of parts without blanks one is
        counts, good = [0] * n_parts, [False] * n_parts

        def _count(k: int) -> None:
            counts[k] = count_tokens(text.buffer, cuts[k], cuts[k + 1])

        def _parse(k: int) -> None:
            end = first + sum(counts[: k + 1])
            state = Buffer("i8", 2)
            state.items[0], state.items[1] = cuts[k], end - counts[k]
            good[k] = end <= numbers.size and parse_reals(text.buffer, numbers, state, cuts[k + 1]) != 1
            good[k] = good[k] and state.items[1] == end

        threads.run_blocks(_count, n_parts)
        threads.run_blocks(_parse, n_parts)
        if not all(good):
            return 0
        text.at = stop
        return sum(counts)

    def _require(self, wanted: str, count: int) -> None:
        """Raise ModelError if the file is too short for `count` numbers, before memory is allocated for them."""
        left = self.text.bytes_left()
        if left is not None and 2 * count - 1 > left:
            raise ModelError(f"{self.failure}: {count} {wanted} expected, the file is too short")


def write_text(path: str, pieces: Iterable[bytes]) -> None:
    """Write the pieces of a model's text atomically."""
    from svmtool.formats.output import replacing

    with replacing(path, "can't save model to file") as file:
        for piece in pieces:
            file.write(piece)


def notes_text(notes: Iterable[str]) -> bytes:
    """The lines of notes after a model; ValueError for a note that is not one line that starts with `#`."""
    for note in notes:
        if not note.startswith("#") or "\n" in note:
            raise ValueError(f"a note must be one line that starts with '#', not {note!r}")
    return "".join(note + "\n" for note in notes).encode()


def is_kernel_model(text: ModelText) -> bool:
    """Whether the unread text of a model begins with one of LIBSVM's words."""
    first = bytes(text.buffer.items[: min(text.stop, MAX_WORD_BYTES)]).split(maxsplit=1)[:1]
    return first in [[w] for w in KERNEL_WORDS]


def load(path: str) -> ModelText:
    """Open the text of a model file (`-`: standard input; may be compressed) and read its first window."""
    source = open_source(path, "can't open model file")
    try:
        # one byte more than the file, so that reading finds its end
        text = ModelText(path, source, WINDOW_BYTES if source.size is None else min(source.size + 1, WINDOW_BYTES))
        text.more()
    except BaseException:
        source.close()
        raise
    return text
