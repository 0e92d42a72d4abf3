"""Integers in text: the only place that converts digits of files, command lines or environment variables to int.

Python's own int() raises for more than 4300 digits, and takes what C does not: `1_000`, digits of other scripts.
"""

from __future__ import annotations

DIGITS = 19  # a number of so many digits lies below BEYOND
BEYOND = 10**19  # what every larger number counts as: beyond 64 bits, and so beyond every limit


def parse_integer(text: str | bytes | bytearray) -> int:
    """The integer that `text` is as a whole: digits, a sign before them or not.

    Numbers from BEYOND on count as BEYOND, negative ones as -BEYOND.  Raises ValueError for any other text.
    """
    raw = text.encode("ascii", "replace") if isinstance(text, str) else bytes(text)
    digits = raw[1:] if raw[:1] in (b"+", b"-") else raw
    if not digits.isdigit():
        raise ValueError(f"not an integer: {text[:60]!r}")
    digits = digits.lstrip(b"0")
    size = int(digits or b"0") if len(digits) <= DIGITS else BEYOND
    return -size if raw[:1] == b"-" else size


def parse_count(text: str) -> int:
    """The integer >= 1 that `text` is as a whole, 0 for any other text."""
    try:
        return max(parse_integer(text), 0)
    except ValueError:
        return 0
