"""Numbers and text: exactly printf's %g and %.17g, strtod, atof, atoi."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool import numbers

rng = np.random.default_rng(5)


def printed(values, digits: int) -> list[str]:
    return numbers.format_numbers(np.asarray(values, float), digits).decode().splitlines()


def expected(values, digits: int) -> list[str]:
    return [f"{x:.{digits}g}" if x == x else "nan" for x in np.asarray(values, float).tolist()]


GROUPS = {
    "bit patterns": np.abs(rng.integers(0, 2**64, 8000, dtype=np.uint64).view(float)),
    "normal": rng.normal(size=5000),
    "shifted decimals": rng.integers(0, 10**7, 5000) * 10.0 ** rng.integers(-30, 30, 5000),
    "whole": rng.integers(0, 10**9, 5000),
    "ties of six digits": np.concatenate([rng.integers(0, 4 * 10**6, 5000) / 64, 10 * np.arange(999000, 1000100) + 5]),
    "ties of seventeen digits": 10 * rng.integers(10**16, 9 * 10**16, 5000) + 5,
    "powers of ten": 10.0 ** np.arange(-323, 309),
    "powers of two": 2.0 ** np.arange(-1074, 1024),
    "fives": np.outer([1, 3, 5, 7, 25, 5**10, 5**20], 2.0 ** np.arange(-200, 200)).ravel(),
    "edges": [0.0, -0.0, 1, 999999, 999999.5, 9999995, 1e16, 1e17, 99999999999999995, 5e-324, 1e-4, 9.9999995e-5,
              0.99999995, 1.7976931348623157e308, float("inf"), -float("inf"), float("nan"), 2.0**63, -(2.0**63)],
}  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_prints_like_c(group):
    for digits in (6, 17):
        assert printed(GROUPS[group], digits) == expected(GROUPS[group], digits)


@pytest.mark.parametrize("group", GROUPS)
def test_as_many_digits_as_the_number_has(group):
    """8 where these give the number back, as in LIBSVM's models, else the fewest that do."""
    values = np.asarray(GROUPS[group], float)
    values = values[np.isfinite(values)]
    n = len(values)
    text = b"".join(numbers.rows_text(np.zeros((1, n)), np.arange(n + 1), np.zeros(n, np.int32), values, numbers.WHOLE))
    found = [line.split(":")[1].strip() for line in text.decode().splitlines()]
    assert found == [next(t for k in range(8, 18) if float(t := f"{x:.{k}g}") == x) for x in values.tolist()]
    assert np.array([float(t) for t in found]).tobytes() == values.tobytes()


@pytest.mark.parametrize(
    "text, real, whole",
    [("", 0.0, 0), ("abc", 0.0, 0), (" 12abc", 12.0, 12), ("1.9", 1.9, 1), ("-3e2x", -300.0, -3), ("0x1F", 31.0, 0),
     ("1e", 1.0, 1), ("+7", 7.0, 7), ("- 7", 0.0, 0), ("3000000000", 3e9, -1294967296), ("1e400", float("inf"), 1),
     ("99999999999999999999", 1e20, -1), (".5.5", 0.5, 0)],
)  # fmt: skip
def test_prefixes(text, real, whole):
    assert numbers.parse_prefix(text) == real
    assert numbers.parse_int_prefix(text) == whole
