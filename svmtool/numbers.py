"""Parse and print numbers exactly as C does: printf's %g and %.17g, strtod, atof and atoi."""

from __future__ import annotations

import functools
import math

from svmtool.integers import parse_integer

TYPE_CHECKING = False  # svm-predict starts without `typing` and `re`, see ARCHITECTURE.md
if TYPE_CHECKING:  # options are parsed without numpy
    import re

    import numpy as np

_PLAIN = frozenset(b"0123456789+-.eE")
_SPACE = b" \t\n\r\v\f"
WHOLE = 8  # as a number of digits: the fewest, but at least 8, from which the same double is read
_STEP = 8192  # numbers printed by one call of the loop


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


def format_rows(values: np.ndarray, digits: int, between: bytes = b" ", end: bytes = b"\n") -> bytes:
    """Print each row of values f8[n, k], k > 0: `between` after each number but the last, which `end` follows."""
    import numpy as np

    from svmtool.compiled.loops.text import number_loops

    if digits not in (6, 17):
        raise ValueError(f"numbers are printed with 6 or 17 digits, not {digits}")
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)
    per_row = values.shape[1]
    step = max(1, _STEP // per_row) * per_row
    longest = 24 + max(len(between), len(end))
    out = np.empty(min(step, len(flat)) * longest + number_loops.FEATURE_SPACE, np.uint8)
    state = np.zeros(2, np.int64)
    behind = [np.frombuffer(text, np.uint8) for text in (between, end)]
    loop = number_loops.format_values.bind(flat, out, *behind, state)
    parts = []
    for start in range(0, len(flat), step):
        stop = min(start + step, len(flat))
        while loop(stop, per_row, digits):  # the loop cannot print this number
            i, p = state.tolist()
            text = format_one(flat[i].item(), digits).encode() + (end if (i + 1) % per_row == 0 else between)
            out[p : p + len(text)] = np.frombuffer(text, np.uint8)
            state[:] = i + 1, p + len(text)
        parts.append(out[: state[1]].tobytes())
        state[1] = 0
    return b"".join(parts)


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
