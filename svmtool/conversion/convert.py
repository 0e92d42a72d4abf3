"""Reads a file of one format and writes another, with the names of features and labels beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmtool.compiled.loops.text.text_loops import SOME_LABELLED
from svmtool.conversion import delimited, encoding, gaps, npz, parquet
from svmtool.conversion.table import refuse_repeated_names, unlabelled
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file
from svmtool.formats.names import Names
from svmtool.formats.source import COMPRESSED
from svmtool.formats.svmlight import table as svmlight
from svmtool.progress import doing

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet"}
FORMATS = ("libsvm", "csv", "tsv", "npz", "parquet")
MAX_CELLS, MAX_COLUMNS = 2_000_000_000, 10_000_000  # of a table that is written
NEEDS_NAMES = ("libsvm", "npz")  # formats that hold no names themselves


class Choices(NamedTuple):
    """What the user has chosen; None: found from the file."""

    source: str | None = None  # of FORMATS
    target: str | None = None
    label: str | None = None  # name or number of the label column
    no_label: bool = False
    one_hot: bool = False
    drop: tuple[str, ...] = ()
    names: str | None = None  # file of names to apply
    delimiter: str | None = None
    header: bool | None = None
    missing: str = ""  # and unseen: as of gaps.Rules
    unseen: str = "error"


def format_of(path: str, chosen: str | None) -> str:
    """The format of a file: the chosen one, else by its suffix, else LIBSVM's text."""
    if chosen is not None:
        return chosen
    base, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED:
        suffix = os.path.splitext(base)[1]
    return SUFFIXES.get(suffix, "libsvm")


def convert(source: str, target: str, choices: Choices, say: Callable[[str], None]) -> None:
    """Convert the file `source` to `target`; say: prints one line for the user."""
    kind = format_of(target, choices.target)
    if os.path.splitext(target)[1] in COMPRESSED:
        raise SvmtoolError(f"{target}: output is not compressed: leave the suffix out and run gzip or xz afterwards")
    with doing("reading"):
        rows, names = _read(source, choices, say)
    width = max(rows.n_features, len(names.features))
    with doing("writing"):
        _write(target, kind, rows, names, width, choices.delimiter)
    done = f"{target}: {len(rows)} rows{' without labels' if unlabelled(rows) else ''}, {width} features"
    if kind in NEEDS_NAMES and names != Names():
        if target == "-":
            done += "; no file of names is written beside standard output"
        else:
            names_file.write(target + names_file.SUFFIX, names)
            done += f"; names in {target}{names_file.SUFFIX}"
    say(done)


def _write(target: str, kind: str, rows: Dataset, names: Names, width: int, delimiter: str | None) -> None:
    if kind == "libsvm":
        svmlight.write(target, rows)
        return
    if kind == "npz":
        npz.write(target, rows, width)
        return
    _refuse_large(target, len(rows), width)
    features, label = [names.feature(j) for j in range(width)], names.label or "label"
    label = None if unlabelled(rows) else label
    refuse_repeated_names(target, [*features, *([] if label is None else [label])])
    texts = [names.of_class(x) or None for x in rows.labels.tolist()] if names.classes else None
    if kind == "parquet":
        parquet.write(target, features, label, rows, rows.labels if texts is None else texts)
    else:
        delimited.write(target, delimiter or ("\t" if kind == "tsv" else ","), features, label, rows, texts)


def _refuse_large(target: str, rows: int, width: int) -> None:
    """SvmtoolError for a table that is larger by far than the sparse rows in it."""
    if rows * width > MAX_CELLS or width > MAX_COLUMNS:
        raise SvmtoolError(
            f"{target} would have {rows} rows of {width} columns, most of them zero: choose .npz, which is sparse"
        )


def _read(source: str, choices: Choices, say: Callable[[str], None]) -> tuple[Dataset, Names]:
    """The rows of a file, with what stands for missing values, and their names."""
    kind = format_of(source, choices.source)
    given = names_file.read(choices.names) if choices.names is not None else None
    if kind in NEEDS_NAMES:
        rows, names, rule = _read_rows(source, kind, choices, given, say)
    else:
        rows, names, rule = _read_table(source, kind, choices, given, say)
    if given is None:
        if kind not in NEEDS_NAMES or rule == "mean":
            if rows.n_features > MAX_COLUMNS:
                raise SvmtoolError(f"{source} has {rows.n_features} columns: means are kept of {MAX_COLUMNS} at most")
            names = names._replace(means=gaps.means(rows))
        if rule in names_file.FILLED:
            names = names._replace(missing=rule)
    return gaps.filled(source, rows, names, rule), names._replace(labelled=not unlabelled(rows))


def _read_rows(
    source: str, kind: str, choices: Choices, given: Names | None, say: Callable[[str], None]
) -> tuple[Dataset, Names, str]:
    """Rows of a file without names, nan where a value is missing; their names, and the rule for missing values."""
    rule = gaps.Rules(choices.missing).of(given or Names()).missing
    names = names_file.find(None, source) if given is None else given
    if kind == "npz":
        rows = npz.read(source, choices.no_label, given is None)
        rows = npz.treated(source, rows, rule, given is None and not unlabelled(rows), say)
    else:
        rows = svmlight.read(source, form=SOME_LABELLED)
        if choices.no_label:
            rows = rows.replace(labels=np.full(len(rows), np.nan))
    return rows, names, rule


def _read_table(
    source: str, kind: str, choices: Choices, given: Names | None, say: Callable[[str], None]
) -> tuple[Dataset, Names, str]:
    """As `_read_rows`, of a table with names."""
    text = [*given.one_hot, *([given.label] if given.classes and given.label else [])] if given is not None else []
    if kind == "parquet":
        table = parquet.read(source, text)
    else:
        delimiter = choices.delimiter or ("\t" if kind == "tsv" else None)
        table = delimited.read(source, delimiter, choices.header, text)
    found = given is not None or choices.no_label
    label = None if found else encoding.label_column(table, choices.label, say)
    if table.note:
        say(f"{source}: {table.note}")
    rules = gaps.Rules(choices.missing, choices.unseen)
    if given is None:
        rows, names = encoding.fitted(table, label, choices.one_hot, choices.drop, say, rules)
    else:
        rows = encoding.applied(table, given._replace(label=None) if choices.no_label else given, say, rules)
        names = given
    return rows, names, rules.of(names).missing
