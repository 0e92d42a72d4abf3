"""Families from files: real sets, subsampled by rows and columns, and small sets that once caused failures."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from stress.families import Sample, numbers, size
from stress.rows import Rows, parse, read

MAX_LINES = 20_000  # read of a real set, because decompressing all takes the time of a hundred trials
REAL, HOSTILE = "real:", "hostile:"


def found(folder: Path) -> dict[str, Callable[[np.random.Generator], Sample]]:
    """Families of a folder with data/*.xz and hostile/*, by name; empty if it is missing."""
    made: dict[str, Callable[[np.random.Generator], Sample]] = {}
    for path in sorted((folder / "data").glob("*.xz")):
        made[REAL + path.stem] = lambda rng, path=path: part_of(rng, path)
    for path in sorted((folder / "hostile").glob("*")):
        if path.suffix != ".md":
            made[HOSTILE + path.name] = lambda rng, path=path: whole(rng, path)
    return made


def part_of(rng: np.random.Generator, path: Path) -> Sample:
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
        lines = []
        for line in file:
            lines.append(line.strip())
            if len(lines) == MAX_LINES:
                break
    return [line for line in lines if line]


def whole(rng: np.random.Generator, path: Path) -> Sample:
    """A small set without changes."""
    rows: Rows = read(path)
    return Sample(rows, rows.labels if rng.random() < 0.5 else numbers(rng, rows))
