"""Data sets: found in folders, unpacked, and their kind of labels."""

from __future__ import annotations

import csv
import lzma
import shutil
from pathlib import Path
from typing import NamedTuple

NO_SETS = (".md", ".tsv", ".csv", ".json", ".names")
REGRESSION = "regression"  # the catalogue's word for targets that are numbers
MOST_CLASSES = 200


class DataSet(NamedTuple):
    """A set; mb: of its text; classes: how many, None for targets that are numbers."""

    name: str
    path: str
    mb: float
    classes: int | None


def found(folders: list[Path], cache: Path, files: list[str], names: list[str]) -> list[DataSet]:
    """The files that were given, or all sets of the folders, or those of the given names."""
    listed = catalogue(folders)
    if files:
        return [described(Path(f).name, Path(f), listed) for f in files]
    paths: dict[str, Path] = {}
    for path in sorted(p for folder in folders if folder.is_dir() for p in folder.iterdir()):
        name = path.name.removesuffix(".xz")
        if path.is_file() and not name.startswith(".") and not name.endswith(NO_SETS) and (not names or name in names):
            paths.setdefault(name, path)
    return [described(name, unpacked(path, cache), listed) for name, path in sorted(paths.items())]


def unpacked(path: Path, cache: Path) -> Path:
    """The plain file, of an .xz file in the cache."""
    if path.suffix != ".xz":
        return path
    target = cache / "data" / path.stem
    if not target.exists() or target.stat().st_mtime < path.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(target.name + ".part")
        with lzma.open(path) as source, open(unfinished, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
        unfinished.replace(target)
    return target


def catalogue(folders: list[Path]) -> dict[str, str]:
    """What CATALOG.tsv in the folders says of the classes of each set."""
    found: dict[str, str] = {}
    for folder in folders:
        if (folder / "CATALOG.tsv").is_file():
            with open(folder / "CATALOG.tsv", newline="", encoding="utf-8") as file:
                rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                found |= {row["name"]: row["classes"] for row in rows}
    return found


def described(name: str, path: Path, listed: dict[str, str]) -> DataSet:
    """The set with its kind: few integers as labels are classes, unless the catalogue says otherwise."""
    classes = None
    if listed.get(name) != REGRESSION:
        with open(path, "rb") as file:
            labels = {float(line.split(None, 1)[0]) for line in file if line.strip()}
        if len(labels) <= MOST_CLASSES and all(label == int(label) for label in labels):
            classes = len(labels)
    return DataSet(name, str(path), path.stat().st_size / 1e6, classes)


def made(folder: Path, mb: float) -> list[DataSet]:
    """The large sets, written once."""
    from bench import large  # which imports scikit-learn: half of the start of a benchmark

    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"{kind}-{mb:g}mb" for kind in large.KINDS}
    for kind, path in paths.items():
        if not path.exists():
            large.write(kind, path, mb)
    return [DataSet(path.name, str(path), mb, 2) for path in paths.values()]
