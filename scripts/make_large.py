"""Writes large sets of two classes in LIBSVM's text format, for measurements; the same bytes every time.

    python scripts/make_large.py KIND FILE --mb MB       (or --rows N; --features D)

| kind | rows | a gigabyte has |
| dense | every feature, three digits | 1.1 million rows x 100 |
| onehot | 12 categorical columns of unequal sizes: 12 ones | 11 million rows x 1,000,000 |
| trigrams | 700 words of a power law, log(1 + count) log(1 + rank), norm 1 | 120,000 rows x 500,000 |

The classes are the sides of a plane, with noise.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import numpy as np

FEATURES = {"dense": 100, "onehot": 1_000_000, "trigrams": 500_000}
COLUMNS, WORDS = 12, 700  # of `onehot`, of a text
AT_ONCE = 2_000_000  # numbers in memory
DIGITS = 4  # of a value, behind the point, at most
NOISE = 0.7  # standard deviation, beside 1 of the distances from the plane
SKEW = 4.0  # feature d u^SKEW of a uniform u: the first ones are frequent


def dense(rng: np.random.Generator, rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """(features, values) i8, f8 (rows, d): uniform values from .001 to .999, here and below in units of 10^-DIGITS."""
    return np.broadcast_to(np.arange(d), (rows, d)), 10 * rng.integers(1, 1000, (rows, d))


def onehot(rng: np.random.Generator, rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """A category of each column, which have a range of features each: the last takes half, the first has 2 and more."""
    ends = np.maximum(d // 2 ** np.arange(COLUMNS - 1, -1, -1), 2 * np.arange(1, COLUMNS + 1))
    begins = np.concatenate([[0], ends[:-1]])
    drawn = rng.random((rows, COLUMNS)) ** SKEW * (ends - begins)
    return begins + drawn.astype(np.int64), np.full((rows, COLUMNS), 10**DIGITS)


def trigrams(rng: np.random.Generator, rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Words, sorted; a repeated one has its value at the first place and 0 at the others."""
    words = np.sort((rng.random((rows, WORDS)) ** SKEW * d).astype(np.int64), axis=1)
    first = np.diff(words, axis=1, prepend=-1) != 0
    place = np.cumsum(first, axis=1) - 1 + np.arange(rows)[:, None] * WORDS
    count = np.bincount(place.ravel(), minlength=rows * WORDS)
    value = np.log1p(np.where(first, count[place], 0)) * np.log(words + 2.0)
    value /= np.sqrt((value**2).sum(axis=1, keepdims=True))
    return words, np.rint(value * 10**DIGITS).astype(np.int64)


KINDS = {"dense": dense, "onehot": onehot, "trigrams": trigrams}


def blocks(kind: str, d: int) -> Iterator[bytes]:
    """Text of one row after the other, for ever, many rows at once."""
    rng = np.random.default_rng(5)
    plane = rng.standard_normal(d)
    scale = 10**DIGITS
    names = [b" %d:" % j for j in range(1, d + 1)]
    numbers = [(b"%.4f" % (v / scale)).rstrip(b"0").rstrip(b".") for v in range(scale + 1)]
    while True:
        width = {"dense": d, "onehot": COLUMNS, "trigrams": WORDS}[kind]
        features, values = KINDS[kind](rng, max(1, AT_ONCE // width), d)
        z = (plane[features] * values).sum(axis=1)
        z = (z - np.median(z)) / z.std() + NOISE * rng.standard_normal(len(z))
        for label, row, value in zip(z > 0.0, features, values, strict=True):
            there = value > 0
            words = [b"+1" if label else b"-1"] + [b""] * (2 * int(there.sum()))
            words[1::2] = map(names.__getitem__, row[there].tolist())
            words[2::2] = map(numbers.__getitem__, value[there].tolist())
            yield b"".join(words) + b"\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("file")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--mb", type=float, help="size of the file")
    size.add_argument("--rows", type=int)
    parser.add_argument("--features", type=int, help="default: by the kind")
    chosen = parser.parse_args()
    beside = chosen.file + ".tmp"
    with open(beside, "wb") as file:
        for n, line in enumerate(blocks(chosen.kind, chosen.features or FEATURES[chosen.kind])):
            if n == chosen.rows or (chosen.mb is not None and file.tell() >= 1e6 * chosen.mb):
                break
            file.write(line)
    os.replace(beside, chosen.file)


if __name__ == "__main__":
    main()
