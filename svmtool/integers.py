"""Parse integers of files, command lines and environment variables; no other module converts digits to int.

Python's int() raises for more than 4300 digits and accepts what C does not: `1_000`, digits of other scripts.
"""

from __future__ import annotations

DIGITS = 19  # every number of at most this many digits is below OUT_OF_RANGE
OUT_OF_RANGE = 10**19  # larger numbers are clipped to this: more than 64 bits hold, so above every limit


def parse_integer(text: str | bytes | bytearray) -> int:
    """Parse `text`, an optional sign and digits, as an integer.

    The result is clipped to -OUT_OF_RANGE .. OUT_OF_RANGE.  Raises ValueError for any other text.
    """
    raw = text.encode("ascii", "replace") if isinstance(text, str) else bytes(text)
    digits = raw[1:] if raw[:1] in (b"+", b"-") else raw
    if not digits.isdigit():
        raise ValueError(f"not an integer: {text[:60]!r}")
    digits = digits.lstrip(b"0")
    size = int(digits or b"0") if len(digits) <= DIGITS else OUT_OF_RANGE
    return -size if raw[:1] == b"-" else size


def parse_count(text: str) -> int:
    """Parse `text` as an integer >= 1; returns 0 for any other text."""
    try:
        return max(parse_integer(text), 0)
    except ValueError:
        return 0
