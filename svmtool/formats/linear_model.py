"""LIBLINEAR's model files: read and written byte for byte as LIBLINEAR 2.50 does.

    solver_type WORD / nr_class K / label L1 ... / nr_feature N / bias B / [rho R] / w
    one line a feature, one more for the bias: every number `%.17g` and a blank

What only we know stands behind the weights, in lines that start with `#`; the
reference tools never read so far.

Refused here although LIBLINEAR goes on: what leaves its memory uninitialised
(a missing key, `label` before `nr_class`, a classifier without labels, one-class
without rho), a negative nr_feature, numbers beyond 32 bits, regression with other than 2 classes.
"""

from __future__ import annotations

import re

from svmtool.errors import ModelError, SvmtoolError

KEYS = ("solver_type", "nr_class", "nr_feature", "bias")
LONGEST_WORD = 80  # what the reference's scanf takes at once
WEIGHTS_A_CHUNK = 1 << 16
PADDING = b" " * 32  # the compiled parser looks a few bytes ahead

_BLANKS = re.compile(rb"[ \t\n\v\f\r]*")
_WORD = re.compile(rb"[^ \t\n\v\f\r]{1,%d}" % LONGEST_WORD)
_TOKEN = re.compile(rb"[^ \t\n\v\f\r]+")
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_REAL = re.compile(
    rb"[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
    rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:infinity|inf|nan))"
)

EARLY_END = "ERROR: fscanf failed to read the model"


class Header:
    """What stands before the weights; `end` is the position behind the word `w`."""

    __slots__ = ("word", "nr_class", "labels", "n_features", "bias", "rho", "end")

    def __init__(self) -> None:
        self.word: str | None = None
        self.nr_class: int | None = None
        self.labels: tuple[int, ...] | None = None
        self.n_features: int | None = None
        self.bias: float | None = None
        self.rho: float | None = None
        self.end = 0


class _Scanner:
    """Takes words and numbers off the front of the text, as C's scanf does."""

    def __init__(self, text: bytes):
        self.text, self.at = text, 0

    def _take(self, pattern: re.Pattern[bytes], wanted: str) -> str:
        blanks = _BLANKS.match(self.text, self.at)
        start = blanks.end() if blanks else self.at
        found = pattern.match(self.text, start)
        if not found:
            token = _TOKEN.match(self.text, start)
            seen = repr(token[0][:40].decode("latin-1")) if token else "the end of the file"
            raise ModelError(f"{EARLY_END}: {wanted} expected, found {seen}")
        self.at = found.end()
        return found[0].decode("latin-1")

    def word(self, wanted: str) -> str:
        return self._take(_WORD, wanted)

    def integer(self, wanted: str) -> int:
        value = int(self._take(_INTEGER, wanted))
        if not -(2**31) <= value < 2**31:
            raise ModelError(f"ERROR: {wanted}: {value} does not fit into 32 bits")
        return value

    def real(self, wanted: str) -> float:
        return _c_float(self._take(_REAL, wanted))


def _c_float(text: str) -> float:
    """Value of a whole C number (decimal, hexadecimal, inf, nan); ValueError where there is none."""
    if text.lower().lstrip("+-").startswith("0x"):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    if "_" in text:  # Python reads 1_000, C does not
        raise ValueError(text)
    return float(text)


def read_header(text: bytes) -> Header:
    """Read everything up to the word `w`; ModelError with LIBLINEAR's sentence for what it refuses."""
    from svmtool.model import ONE_CLASS_WORD, REGRESSION_WORDS, WORDS

    scan, header = _Scanner(text), Header()
    while True:
        key = scan.word("a keyword")
        if key == "solver_type":
            header.word = scan.word("a solver's name")
            if header.word not in WORDS:
                raise ModelError("unknown solver type.")
        elif key == "nr_class":
            header.nr_class = scan.integer(key)
        elif key == "nr_feature":
            header.n_features = scan.integer(key)
        elif key == "bias":
            header.bias = scan.real(key)
        elif key == "rho":
            header.rho = scan.real(key)
        elif key == "label":
            if header.nr_class is None:
                raise ModelError("ERROR: label stands before nr_class in the model")
            header.labels = tuple(scan.integer(key) for _ in range(header.nr_class))
        elif key == "w":
            break
        else:
            kernel = ": kernel models are not supported by this version" if key == "svm_type" else ""
            raise ModelError(f"unknown text in model file: [{key}]{kernel}")
    header.end = scan.at
    missing = [k for k, v in zip(KEYS, (header.word, header.nr_class, header.n_features, header.bias)) if v is None]
    if missing:
        raise ModelError(f"ERROR: the model lacks {', '.join(missing)}")
    if header.n_features < 0 or header.nr_class < 0:
        raise ModelError("ERROR: the model counts less than zero features or classes")
    if header.word in REGRESSION_WORDS or header.word == ONE_CLASS_WORD:
        if header.nr_class != 2:
            raise ModelError(f"ERROR: a model of {header.word} has nr_class 2, not {header.nr_class}")
        if header.word == ONE_CLASS_WORD and header.rho is None:
            raise ModelError("ERROR: the one-class model lacks rho")
        header.labels = None
    elif header.labels is None:
        raise ModelError(f"ERROR: the model of {header.word} lacks its labels")
    elif len(header.labels) != header.nr_class:
        raise ModelError(f"ERROR: {len(header.labels)} labels stand in the model for {header.nr_class} classes")
    return header


def weights_shape(header: Header) -> tuple[int, int]:
    """Rows and columns of the weights."""
    from svmtool.model import weight_columns, weight_rows

    return weight_rows(header.n_features, header.bias), weight_columns(header.word, header.nr_class)


def fill_weights(text, start: int, stop: int, slots, position) -> int:
    """Read numbers from text[start:stop] until `slots` is full; returns the position behind the last.

    `text` (u1, PADDING behind it), `slots` (f8) and `position` (i8[2]) are arrays for the compiled parser.
    """
    from svmtool.compiled.decision_loops import parse_reals

    position[0], position[1] = start, 0
    while True:
        status = parse_reals(text, slots, position, stop)
        if status == 0:
            return int(position[0])
        at, k = int(position[0]), int(position[1])
        end = at  # a token that the compiled parser leaves to us
        while end < stop and text[end] not in b" \t\n\v\f\r":
            end += 1
        token = bytes(text[at:end]).decode("latin-1")
        try:
            if status == 2:
                raise ValueError
            slots[k] = _c_float(token)
        except ValueError:
            seen = repr(token[:40]) if token else "the end of the file"
            raise ModelError(f"{EARLY_END}: {len(slots)} weights expected, number {k + 1} is {seen}") from None
        position[0], position[1] = end, k + 1


def check_room(header: Header, text: bytes) -> None:
    """Refuse, before memory is taken, a header that promises more weights than the file can hold."""
    rows, columns = weights_shape(header)
    if 2 * rows * columns - 1 > len(text) - header.end:
        raise ModelError(f"{EARLY_END}: {rows * columns} weights expected, the file is too short for them")


def notes_behind(text: bytes, at: int) -> tuple[str, ...]:
    """The lines that start with '#' behind the weights."""
    lines = text[at:].split(b"\n")
    return tuple(line.rstrip(b"\r").decode("utf-8", "replace") for line in lines if line.startswith(b"#"))


def load_bytes(path: str) -> bytes:
    """The whole text of a model file (`-`: standard input; compressed files too)."""
    from svmtool.formats.source import open_source

    try:
        with open_source(path) as source:
            return source.read()
    except SvmtoolError as e:
        raise refusal(path, str(e)) from None


def refusal(path: str, sentence: str) -> ModelError:
    """The reference's two lines: what is wrong, then which model."""
    last = f"can't open model file {path}"
    missing = f"can't open input file {path}"
    if sentence.startswith(missing):
        return ModelError(last + sentence[len(missing) :])
    return ModelError(f"{sentence}\n{last}")


def read(path: str):
    """Read a linear model; returns a model.LinearModel, or raises ModelError (LIBLINEAR's sentences)."""
    import numpy as np

    from svmtool.model import LinearModel

    text = load_bytes(path)
    try:
        header = read_header(text)
        check_room(header, text)
        W = np.empty(weights_shape(header))
        padded = np.frombuffer(text + PADDING, dtype=np.uint8)
        end = fill_weights(padded, header.end, len(text), W.reshape(-1), np.zeros(2, dtype=np.int64))
    except ModelError as e:
        raise refusal(path, str(e)) from None
    return LinearModel(
        header.word, header.labels, header.n_features, header.bias, W, header.rho, notes_behind(text, end)
    )


def header_text(model) -> str:
    """The lines of a model before its weights."""
    lines = [f"solver_type {model.word}", f"nr_class {model.nr_class}"]
    if model.labels is not None:
        lines.append(" ".join(["label", *map(str, model.labels)]))
    lines += [f"nr_feature {model.n_features}", f"bias {_g17(model.bias)}"]
    if model.rho is not None:
        lines.append(f"rho {_g17(model.rho)}")
    return "\n".join([*lines, "w", ""])


def _g17(x: float) -> str:
    return "%.17g" % x


def write(path: str, model) -> None:
    """Write a model.LinearModel: the old file stays whole until the new one is."""
    from svmtool.formats.output import replacing

    for note in model.notes:
        if not note.startswith("#") or "\n" in note:
            raise ValueError(f"a note behind the weights is one line that starts with '#', not {note!r}")
    with replacing(path) as file:
        file.write(header_text(model).encode())
        for piece in _weight_lines(model.W):
            file.write(piece)
        file.write("".join(note + "\n" for note in model.notes).encode())


def _weight_lines(W):
    """The text of the weights, a piece at a time."""
    import numpy as np

    from svmtool.compiled.decision_loops import break_lines
    from svmtool.formats.numbers import format_numbers

    rows, columns = W.shape
    if columns == 0:  # a model of no classes: the reference writes empty lines
        yield b"\n" * rows
        return
    step = max(1, WEIGHTS_A_CHUNK // columns)
    for first in range(0, rows, step):
        part = W[first : first + step]
        text = np.frombuffer(format_numbers(part.reshape(-1), 17, b" "), dtype=np.uint8)
        out = np.empty(text.size + len(part), dtype=np.uint8)
        yield out[: break_lines(text, out, columns)].tobytes()
