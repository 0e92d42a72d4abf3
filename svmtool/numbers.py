"""Parse and print numbers exactly as C does: printf's %g and %.17g, strtod, atof and atoi."""

from __future__ import annotations

import functools
import math

from svmtool.integers import parse_integer
from svmtool.progress import doing

TYPE_CHECKING = False  # svm-predict starts without `typing` and `re`, see ARCHITECTURE.md
if TYPE_CHECKING:  # options are parsed without numpy
    import re
    from collections.abc import Iterator

    import numpy as np

_PLAIN = frozenset(b"0123456789+-.eE")
_SPACE = b" \t\n\r\v\f"
WHOLE = 8  # as a number of digits: the fewest, but at least 8, from which the same double is read
PRINTED_BYTES = 1 << 18  # bytes of rows printed at a time


@functools.cache
def number_syntax() -> re.Pattern[bytes]:
    """The syntax of strtod without leading white space.  "0x" without digits is the number 0 followed by an x."""
    import re

    return re.compile(
        rb"[+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
        rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
        rb"|inf(?:inity)?|nan(?:\([0-9a-z_]*\))?)",
        re.I,
    )


def number_length(text: bytes) -> int:
    """Length of the number that `text` starts with, as strtod reads it; 0 for none."""
    if _PLAIN.issuperset(text):
        try:
            float(text)
            return len(text)
        except ValueError:
            pass
    found = number_syntax().match(text)
    return found.end() if found else 0


def integer_length(text: bytes) -> int:
    """Length of the integer that `text` starts with, as strtol reads it; 0 for none."""
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    rest = digits.lstrip(b"0123456789")
    return len(text) - len(rest) if len(rest) < len(digits) else 0


def format_numbers(values: np.ndarray, digits: int) -> bytes:
    """Print values f8[n] as C's %.{digits}g, one on each line; digits is 6 or 17."""
    return format_rows(values.reshape(-1, 1), digits)


def format_rows(values: np.ndarray, digits: int, closed: bool = False) -> bytes:
    """Print each row of values f8[n, k], k > 0, on a line, with blanks between numbers and, if `closed`, at the end."""
    import numpy as np

    if digits not in (6, 17):
        raise ValueError(f"numbers are printed with 6 or 17 digits, not {digits}")
    front = np.ascontiguousarray(values.T, np.float64)
    no_pairs = np.zeros(len(values) + 1, np.int64), np.empty(0, np.int32), np.empty(0)
    return b"".join(text for _, text in _pieces(front, *no_pairs, 17, digits, closed))


def rows_text(
    front: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, digits: int
) -> Iterator[bytes]:
    """The text of CSR rows, a piece at a time.

    front : f8 (k, rows), C order: the numbers before each row's pairs, printed as C's %.17g
    indices : i4, from 0 on (-1 becomes 0)
    digits : of the values, 17 or WHOLE; both keep every bit
    """
    with doing("row", len(indptr) - 1) as part:
        for part.done, text in _pieces(front, indptr, indices, values, digits, 17, True):
            yield text


def _pieces(
    front: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, digits: int, front_digits: int,
    closed: bool,
) -> Iterator[tuple[int, bytes]]:  # fmt: skip
    """`rows_text` with another number of digits for the numbers in front, and how many rows are printed.

    closed: whether a blank ends each row.
    """
    from svmtool.compiled.buffers import Buffer
    from svmtool.compiled.loops.text.number_loops import DONE, UNDECIDED, support_text

    columns = len(front)
    out, state = Buffer("u1", PRINTED_BYTES), Buffer("i8", 3)
    call = support_text.bind(out, front, indptr, indices, values, state)
    status = None
    while status != DONE:
        status = call(columns, front_digits, digits, closed)
        s, item, p = state.items
        yield s, bytes(out.items[:p])
        state.items[2] = 0
        if status == UNDECIDED:
            if item < columns:
                yield s, format_one(float(front[item, s]), front_digits).encode()
            else:
                k = int(indptr[s]) + item - columns
                yield s, b"%d:%s" % (indices[k] + 1, format_one(float(values[k]), digits).encode())
            state.items[1] = item + 1


def format_one(x: float, digits: int) -> str:
    """Print x as C's %.{digits}g, a negative nan as `-nan`; digits may be WHOLE."""
    if x != x:
        return "-nan" if math.copysign(1.0, x) < 0 else "nan"
    if digits == WHOLE:
        digits = next(n for n in range(WHOLE, 18) if float(f"{x:.{n}g}") == x)
    return f"{x:.{digits}g}"


def parse_number(text: bytes | str) -> float:
    """Parse all of `text` as C's strtod: hexadecimal numbers, inf, nan and leading white space are accepted.

    Raises ValueError if anything follows the number.
    """
    raw = (text.encode() if isinstance(text, str) else text).lstrip(_SPACE)
    if not raw or number_length(raw) != len(raw):
        raise ValueError(f"not a number: {text!r}")
    return _value(raw)


def parse_prefix(text: bytes | str) -> float:
    """Parse the number that `text` starts with as C's atof; 0.0 if there is none."""
    raw = (text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text).lstrip(_SPACE)
    length = number_length(raw)
    return _value(raw[:length]) if length else 0.0


def parse_int_prefix(text: bytes | str) -> int:
    """Parse the integer that `text` starts with as C's atoi, wrapped to 32 bits as by glibc; 0 if there is none."""
    raw = (text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text).lstrip(_SPACE)
    length = integer_length(raw)
    value = parse_integer(raw[:length]) if length else 0
    value = max(-(2**63), min(2**63 - 1, value))  # strtol
    return (value + 2**31) % 2**32 - 2**31


def _value(text: bytes) -> float:
    lower = text.lower()
    if b"0x" in lower[:3]:
        try:
            return float.fromhex(lower.decode())
        except OverflowError:
            return float("-inf") if lower.startswith(b"-") else float("inf")
    return float(lower.split(b"(")[0])


def distinct(x: np.ndarray) -> np.ndarray:
    """The different values of an array, ascending: np.unique alone imports numpy.ma, which takes 6 ms."""
    import numpy as np

    return np.unique(x, return_counts=True)[0]
