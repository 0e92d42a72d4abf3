"""Families of data, each a function of a random generator: synthetic ones, real sets, subsampled by rows and columns,
and small sets that once caused failures.

Labels are classes (whole numbers); a Sample may add numbers for a regression.  Sets are small: most failures on
thousands of rows also occur on a hundred rows, and a hundred times as many sets can be tried.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stress.rows import Rows, of_dense, of_lists, parse

Generator = np.random.Generator
MAX_LINES = 20_000  # read of a real set, because decompressing all takes the time of a hundred trials
REAL, HOSTILE = "real:", "hostile:"


class Sample(NamedTuple):
    """Rows with classes as labels, and targets of a regression for the same rows."""

    rows: Rows
    targets: np.ndarray


FAMILIES: dict[str, Callable[[Generator], Sample]] = {}


def family(make: Callable[[Generator], Sample | Rows], name: str = "") -> Callable[[Generator], Sample]:
    """Register a family under its function's name with dashes; plain rows get targets that are linear with noise."""

    def sample(rng: Generator) -> Sample:
        made = make(rng)
        return made if isinstance(made, Sample) else Sample(made, numbers(rng, made))

    FAMILIES[name or make.__name__.replace("_", "-")] = sample
    return sample


def numbers(rng: Generator, rows: Rows) -> np.ndarray:
    """Targets of a regression: linear in the rows, with noise and a random scale."""
    z = np.bincount(rows.row, rows.values * rng.normal(size=rows.d)[rows.indices], minlength=rows.n)
    deviation = float(np.std(z)) if rows.n else 1.0
    z = z / deviation if 0 < deviation < np.inf else np.zeros(rows.n)
    return (z + 0.3 * rng.normal(size=rows.n)) * 10.0 ** rng.integers(-2, 4)


def signs(rng: Generator, X: np.ndarray, noise: float = 0.5) -> np.ndarray:
    """Noisy labels +-1; both occur if there are at least two rows."""
    z = X @ rng.normal(size=X.shape[1])
    z = z / max(float(np.std(z)), 1e-300)
    y = np.where(z + noise * rng.normal(size=len(z)) > 0, 1.0, -1.0)
    y[:1], y[1:2] = 1.0, -1.0
    return y


def size(rng: Generator, least: int, most: int) -> int:
    """A random integer, uniform on a logarithmic scale."""
    return int(round(np.exp(rng.uniform(np.log(least), np.log(most)))))


def _constants(rng: Generator, X: np.ndarray) -> np.ndarray:
    """Columns with one large constant, and small ones that determine the classes."""
    chosen = rng.random(X.shape[1]) < 0.5
    return np.where(chosen, 10.0 ** rng.integers(2, 10) + X * rng.choice([0.0, 1.0, 1e3]), X)


def _denormals(rng: Generator, X: np.ndarray) -> np.ndarray:
    """A share of the values, or all of them, below the smallest normal number."""
    return np.where(rng.random(X.shape) < rng.choice([0.2, 0.7, 1.0]), X * 10.0 ** -rng.integers(200, 310), X)


def _whole(rng: Generator, X: np.ndarray) -> np.ndarray:
    return np.clip(np.round(X), -2, 2) * 10.0 ** rng.integers(6, 16) + rng.integers(0, 2, X.shape)


def _few(rng: Generator, X: np.ndarray) -> np.ndarray:
    """Whole values from -100 to 0, most of them 0."""
    return -np.clip(np.round(50 - 20 * X), 0, 100) * (rng.random(X.shape) < rng.choice([0.02, 0.1, 0.3]))


# Normal numbers, changed after the labels are drawn from them: least and most rows and columns, and the change.
CHANGED: dict[str, tuple[int, int, int, int, Callable[[Generator, np.ndarray], np.ndarray]]] = {
    "gaussian": (10, 300, 1, 60, lambda rng, X: X),
    "mixed-scales": (10, 200, 2, 20, lambda rng, X: X * 10.0 ** rng.integers(-8, 9, X.shape[1])),
    "huge-constants": (10, 150, 2, 15, _constants),
    "rank-one": (5, 150, 2, 20, lambda rng, X: X[:, :1] * np.ones(X.shape[1]) * 10.0 ** rng.integers(-2, 3)),
    "one-row": (1, 1, 1, 20, lambda rng, X: X * 10.0 ** rng.integers(-3, 4)),
    "negative-sparse": (20, 200, 10, 500, _few),
    "whole-to-1e15": (5, 60, 1, 12, _whole),
    "near-1e100": (5, 60, 1, 10, lambda rng, X: X * 10.0 ** rng.choice([20, 50, 100, 120])),
    "denormals": (5, 80, 1, 12, _denormals),
    "one-huge-row": (5, 100, 1, 12, lambda rng, X: np.vstack([X[:-1], X[-1:] * 10.0 ** rng.integers(4, 13)])),
    "empty-rows": (3, 60, 1, 20, lambda rng, X: X * (rng.random((len(X), 1)) >= rng.choice([0.3, 0.9, 1.0]))),
}


def changed(n: int, most_n: int, d: int, most_d: int, change: Callable) -> Callable[[Generator], Rows]:
    def make(rng: Generator) -> Rows:
        X = rng.normal(size=(size(rng, n, most_n), size(rng, d, most_d)))
        y = signs(rng, X)
        return of_dense(change(rng, X), y)

    return make


for _name, _of in CHANGED.items():
    family(changed(*_of), _name)


@family
def raw_counts(rng):
    """Counts of words with Zipf's distribution."""
    n, d = size(rng, 20, 300), size(rng, 100, 5000)
    k = int(rng.choice([2, 2, 2, 5]))
    y = rng.integers(0, k, n)
    return of_lists([_words(rng, d, size(rng, 3, 200), int(c)) for c in y], _classes(rng, y, k))


def _words(rng: Generator, d: int, length: int, c: int) -> dict[int, float]:
    """Counts of `length` words with Zipf's distribution, shifted by the class."""
    words = np.minimum(rng.zipf(1.4, length), d).astype(int) - 1
    words = np.where(rng.random(length) < 0.1, (words * 7 + 13 * c) % d, words)
    found, counts = np.unique(words, return_counts=True)
    return dict(zip(found.tolist(), counts.astype(float).tolist(), strict=True))


def _classes(rng: Generator, number: np.ndarray, k: int) -> np.ndarray:
    """Class numbers as labels: +-1 for two, else themselves."""
    return np.where(number == 0, 1.0, -1.0) if k == 2 else number.astype(float)


SMALL = "small-kernels"


@family
def small_kernels(rng):
    """Few features, repeated rows, overlapping classes; targets that are smooth, whole, constant or cubes."""
    n, d = size(rng, 10, 400), int(rng.choice([1, 1, 2, 3, 8, 20]))
    kind, X = int(rng.integers(6)), rng.normal(size=(n, d))
    if kind == 1:
        X = rng.uniform(0, 10, (n, d))
    elif kind == 2:
        X = np.arange(1.0, n + 1.0)[:, None] * np.ones(d)
    elif kind == 3:
        X = X[rng.integers(0, max(2, n // 5), n)]
    elif kind == 4:
        X = X * 10.0 ** rng.integers(-1, 3, d)
    y = signs(rng, X, float(rng.choice([0.0, 0.3, 1.5, 5.0])))
    if kind == 5:  # the rows of one class several times
        X, y = (np.repeat(a, np.where(y > 0, 4, 1), axis=0) for a in (X, y))
    z = X @ rng.normal(size=d)
    z = z / max(float(np.std(z)), 1e-300)
    noise = float(rng.choice([0.0, 0.1])) * rng.normal(size=len(z))
    shapes = [np.sin(3 * z) + noise, z + noise, np.round(3 * z), np.full(len(z), 4.0), z**3, 1000 * np.sin(z) + noise]
    return Sample(of_dense(X, y), shapes[rng.integers(len(shapes))])


@family
def one_hot(rng):
    """One-hot codes of some factors: few columns, many rows, many of them equal."""
    n, factors, levels = size(rng, 200, 3000), int(rng.integers(1, 8)), size(rng, 2, 20)
    codes = rng.integers(0, levels, (n, factors))
    X = np.zeros((n, factors * levels))
    X[np.arange(n)[:, None], codes + levels * np.arange(factors)] = 1.0
    return of_dense(X, signs(rng, X, 1.0))


@family
def hashed_ngrams(rng):
    """Rows of unit length over many columns, most of which occur once."""
    n, d = size(rng, 20, 200), size(rng, 1000, 60000)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    rows = []
    for c in y:
        columns = set(rng.integers(0, d, size(rng, 5, 100)).tolist())
        columns |= set((int(c > 0) + 2 * rng.integers(0, 20, 3)).tolist())
        value = float(rng.choice([1.0, -1.0])) / len(columns) ** 0.5
        rows.append({j: value for j in columns})
    return of_lists(rows, y)


@family
def opposite_twins(rng):
    """Pairs of rows that differ in the last digits, with opposite labels."""
    X = rng.normal(size=(size(rng, 5, 100), size(rng, 2, 30)))
    far = 10.0 ** rng.integers(-15, -3)
    y = signs(rng, X)
    return of_dense(np.vstack([X, X * (1 + far * rng.normal(size=X.shape))]), np.concatenate([y, -y]))


@family
def tiny_margin(rng):
    """Separable by a margin that is small relative to the rows."""
    n, d = size(rng, 10, 200), size(rng, 2, 20)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1.0, -1.0)
    X += np.outer(y * 10.0 ** rng.integers(-9, -2) - X @ w * (rng.random() < 0.5), w)
    return of_dense(X, y)


@family
def one_class(rng):
    X = rng.normal(size=(size(rng, 2, 100), size(rng, 1, 20))) + rng.choice([0.0, 1.0, 5.0])
    return of_dense(X, np.full(len(X), float(rng.choice([1, -1, 7]))))


@family
def row_a_class(rng):
    X = rng.normal(size=(size(rng, 3, 40), size(rng, 1, 20)))
    return of_dense(X, rng.permutation(len(X)).astype(float))


@family
def hundred_classes(rng):
    n, d = size(rng, 200, 400), size(rng, 5, 60)
    y = np.concatenate([np.arange(100), rng.integers(0, 100, n - 100)])
    X = rng.normal(size=(100, d))[y] + rng.normal(size=(n, d)) * rng.choice([0.1, 1.0])
    return of_dense(X * (rng.random((n, d)) < 0.5), y.astype(float))


@family
def rare_positives(rng):
    """One positive row in a thousand, or only one."""
    n, d = size(rng, 300, 2000), size(rng, 2, 15)
    X, y = rng.normal(size=(n, d)), -np.ones(n)
    y[: max(1, n // 1000)] = 1.0
    X[y > 0] += rng.choice([0.0, 2.0])
    order = rng.permutation(n)
    return of_dense(X[order], y[order])


@family
def heavy_tails(rng):
    """Targets with the tails of a Cauchy distribution."""
    X = rng.normal(size=(size(rng, 10, 300), size(rng, 1, 30)))
    t = X @ rng.normal(size=X.shape[1]) + rng.standard_cauchy(len(X)) * 10.0 ** rng.integers(-1, 5)
    return Sample(of_dense(X, signs(rng, X)), t)


@family
def saturated_columns(rng):
    """Raw counts, and columns with one to five large values in rows whose class other columns determine."""
    n, d = size(rng, 50, 300), size(rng, 50, 1000)
    y = np.where(rng.random(n) < rng.choice([0.05, 0.5]), 1.0, -1.0)
    rows = [_words(rng, d, size(rng, 3, 100), int(c > 0)) for c in y]
    for extra in range(size(rng, 1, 60)):
        for i in rng.integers(0, n, int(rng.integers(1, 6))):
            rows[i][d + extra] = float(np.floor(10.0 ** rng.uniform(0, 4)))
    return of_lists(rows, y)


@family
def identical_rows(rng):
    """Few different rows, each repeated with both labels."""
    some = rng.normal(size=(int(rng.integers(1, 4)), size(rng, 1, 10)))
    X = some[rng.integers(0, len(some), size(rng, 4, 200))]
    y = np.where(rng.random(len(X)) < rng.choice([0.5, 0.9]), 1.0, -1.0)
    return of_dense(X, y)


@family
def all_positive(rng):
    X = np.abs(rng.normal(size=(size(rng, 5, 100), size(rng, 1, 12)))) + rng.choice([0.0, 1.0, 100.0])
    return of_dense(X, signs(rng, X - X.mean(axis=0)))


@family
def near_whole_large(rng):
    """Few rows of few columns with differences that are small relative to their values."""
    X = 10.0 ** rng.integers(5, 9) + rng.integers(0, 9, (size(rng, 3, 12), int(rng.integers(1, 4))))
    X[:, 1:] -= X[:, :1] * (rng.random() < 0.5)
    y = rng.choice([-1.0, 1.0], len(X))
    y[:2] = 1.0, -1.0
    return of_dense(X, y)


def found(folder: Path) -> dict[str, Callable[[Generator], Sample]]:
    """Families of a folder with data/*.xz and hostile/*, by name; empty if it is missing."""
    made: dict[str, Callable[[Generator], Sample]] = {}
    for path in sorted((folder / "data").glob("*.xz")):
        made[REAL + path.stem] = lambda rng, path=path: part_of(rng, path)
    for path in sorted((folder / "hostile").glob("*")):
        if path.suffix != ".md":
            made[HOSTILE + path.name] = lambda rng, path=path: whole(rng, path)
    return made


def part_of(rng: Generator, path: Path) -> Sample:
    """Some rows and columns of a real set."""
    lines = _lines(path)
    kept = np.sort(rng.choice(len(lines), min(len(lines), size(rng, 20, 400)), replace=False))
    rows = parse("\n".join(lines[i] for i in kept))
    used = np.unique(rows.indices)
    if len(used) > 3 and rng.random() < 0.6:
        used = np.sort(rng.choice(used, size(rng, 2, len(used)), replace=False))
    rows = rows.only_columns(used)
    labels = rows.labels
    if np.array_equal(labels, np.trunc(labels)) and len(np.unique(labels)) <= max(2, len(labels) // 3):
        return Sample(rows, numbers(rng, rows) if rng.random() < 0.5 else labels)
    high = np.where(labels > np.median(labels), 1.0, -1.0)
    return Sample(rows.labelled(high), labels)


@lru_cache(4)
def _lines(path: Path) -> list[str]:
    with lzma.open(path, "rt") as file:
        return [line for line in map(str.strip, islice(file, MAX_LINES)) if line]


def whole(rng: Generator, path: Path) -> Sample:
    """A small set without changes."""
    rows = parse(path.read_text())
    return Sample(rows, rows.labels if rng.random() < 0.5 else numbers(rng, rows))
