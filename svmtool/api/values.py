"""Values of keywords in their types; TypeError or ValueError with the keyword's name for others."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from svmtool.api.arrays import TOO_LARGE
from svmtool.errors import clipped

LARGEST_WHOLE = 2**63 - 1  # what the commands and the loops take


def shown(value: Any) -> str:
    """A value in a message: one short line."""
    try:
        return clipped(" ".join(repr(value).split()))
    except Exception:  # a whole number of too many digits, or a foreign class
        return f"a value of type {type(value).__name__}"


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of any numeric type but bool."""
    if type(value) is int:
        return True
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        with np.errstate(all="ignore"):
            return isinstance(value, Integral) or bool(int(value) == value)  # type: ignore[call-overload]
    except (OverflowError, ValueError):  # infinite, or nan
        return False


def whole(name: str, value: Any, least: int = -LARGEST_WHOLE) -> int:
    """The value as an integer from `least` on; TypeError for another type, ValueError outside of the range."""
    value = _scalar(value)
    if not is_whole(value):
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} == {shown(number)}, must be >= {least}.")
    if number > LARGEST_WHOLE:
        raise ValueError(f"{name} must be an integer up to {LARGEST_WHOLE}, not {shown(number)}")
    return number


def real(name: str, value: Any) -> float:
    """The value as a float; TypeError for another type, ValueError for an integer beyond the range of float64."""
    if type(value) is float:
        return value
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    try:
        with np.errstate(all="ignore"):  # numbers of more than 64 bits become infinite
            return float(value)
    except OverflowError:
        raise ValueError(f"{name} contains {TOO_LARGE}.") from None


def flag(name: str, value: Any) -> bool:
    """The value as a bool; 0 and 1 are accepted, TypeError for another type."""
    value = _scalar(value)
    if isinstance(value, (bool, np.bool_)) or (is_whole(value) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {shown(value)}")


def text(name: str, value: Any) -> str:
    """The value, which must be a string; else TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {shown(value)}")
    return value


def _scalar(value: Any) -> Any:
    """The element of an array of no dimensions; anything else itself."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
