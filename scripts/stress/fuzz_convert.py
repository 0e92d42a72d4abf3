"""Tables through `svmtool convert` and back: whole ones must keep every number, damaged ones end in one sentence.

A try makes a table (CSV, TSV, npz of each sparse format, Parquet where pyarrow is installed, LIBSVM's text), may damage
it or its names file, converts it, converts the result there and back again, and shows the names by `inspect` and
`export`.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import random
import re
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from stress.fuzz_models import compiles
from stress.fuzz_shared import Breached, damaged_arrays, fresh, inside, mutated, said
from svmtool.cli.umbrella.group import main
from svmtool.errors import SPACES_AND_JOINERS

SECONDS, SECONDS_A_BYTE = 3.0, 2e-5  # limit of processor time: a part for starting, and one linear in the files' sizes
WORDS = (
    "a", "length", "b c", "ü,;", "x\"y", "年", "l'été", "1e", "-", "*/", "/*b", "c*/", "??/", "end\\", "{0}", "%s",
    "<b>&amp;", "\x1b[31mred", "bell\x07", "\u202eturned", "del\x7f", "csi\x9b2J", "two\nlines", "cr\rhere", "=1+1",
    "x" * 300, "\ufeff", "\u2028", "label ", "NAN1", "0x1p3", "1_000", "#", "'", "\\x1b", "😀",
)  # fmt: skip
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -1e-300, 1 / 3, 5e-308, 123456789.123456789, 1e22, 2.0**53, 7.0)
SAID = re.compile(
    r"label column: |labels: |column |columns ignored|(no column .*: )?the rows have no labels|all labels are 0|"
    r"(unseen|missing) values: |[\w.]+: (the first line is taken as|\d+ rows[ ,])"
)
SPARSE = ("csr", "csc", "coo", "bsr", "dia")
PARQUET = ("parquet",) if importlib.util.find_spec("pyarrow") else ()
FORMS = (*("csv", "tsv", "libsvm") * 2, *SPARSE, "dense", *PARQUET)


class Made(NamedTuple):
    """A table: names and columns (numbers, or strings); the label is the last."""

    names: list[str]
    columns: list[list]

    @property
    def texts(self) -> bool:
        """Whether a feature has strings, whose values become columns."""
        return any(isinstance(column[0], str) for column in self.columns[:-1])


def table(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Convert one table."""
    form = rng.choice(FORMS)
    with inside(fresh(folder, "try")):
        return form, _converted(rng, form)


def broken(law: str, words: str) -> Breached:
    """What breaks a law."""
    return Breached("convert", (law, words))


def _converted(rng: random.Random, form: str) -> str:
    made, suffix = _table(rng, form), "npz" if form in (*SPARSE, "dense") else {"libsvm": "txt"}.get(form, form)
    source = Path(f"in.{suffix}")
    options = _write(rng, made, source, form)
    damage = rng.choice((None, None, "bytes", "bytes", "arrays" if suffix == "npz" else "encoding", "names"))
    if damage == "bytes":
        source.write_bytes(mutated(rng, source.read_bytes()))
    elif damage == "arrays":
        damaged_arrays(rng, source)
    elif damage == "encoding":
        code = rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037"))
        source.write_bytes(source.read_bytes().decode("utf-8", "replace").encode(code, "replace"))
    error = _convert(str(source), "out", *options)
    if damage in (None, "names"):
        if error:
            raise broken("whole tables are read", f"{error} ({source} {' '.join(options)})")
        _compare(made)
    if error:
        return "refused"
    named = ["--names", "out.names"] if Path("out.names").exists() else []
    _round_trip(rng, named, "--one-hot" in options)
    if rng.random() < 0.2:
        _show(rng, named)
    if damage == "names" and named:
        Path("bad.names").write_bytes(mutated(rng, Path("out.names").read_bytes()))
        return "names refused" if _convert(str(source), "named", "--names", "bad.names") else "read"
    return "read"


def _run(*argv: str) -> tuple[str, str]:
    """Run a command of `svmtool` here: its error, if it is one, and output.  Checks what every command must keep to."""
    line = f"svmtool {' '.join(argv)}: "
    size, began = sum(p.stat().st_size for p in Path().iterdir()), time.process_time()
    status, out, err, fault = said(lambda: main(list(argv)))
    if fault:
        raise broken("a sentence or success", line + fault)
    seconds, size = time.process_time() - began, size + sum(p.stat().st_size for p in Path().iterdir())
    if seconds > SECONDS + SECONDS_A_BYTE * size:
        raise broken("time linear in the size", f"{line}{seconds:.1f} s for {size} bytes")
    bad = next((c for c in out + err if c != "\n" and not (c.isprintable() or c in SPACES_AND_JOINERS)), "")
    if bad:
        raise broken("no control characters", f"{line}{bad!r} in {(out + err)[:300]!r}")
    lines = err.splitlines()
    sentences = [text for text in lines if not SAID.match(text)]
    if status not in (0, 1) or (status == 1) != (len(sentences) == 1) or len(err) > 3000:
        raise broken("success, or one sentence and status 1", f"{line}status {status}: {err[:500]!r}")
    return lines[-1] if status else "", out


def _convert(source: str, target: str, *options: str) -> str:
    """Convert a file; the error, empty without one."""
    Path(target).unlink(missing_ok=True)
    error, _ = _run("convert", source, target, *options)
    if Path(target).exists() == bool(error) or list(Path().glob(".*.tmp")):
        raise broken("an output is whole or not there", f"convert {source} {target}: {error!r}, {os.listdir()}")
    return error


def _round_trip(rng: random.Random, named: list[str], one_hot: bool) -> None:
    """The file `out` in another form and back has the same numbers."""
    if not (whole := _numbers("out")):
        return
    kind = rng.choice(["npz"] if one_hot else ["npz", "csv", "tsv", *PARQUET])  # values' columns are features there
    if error := _convert("out", f"back.{kind}", *named):
        if kind == "npz" or "choose .npz, which is sparse" not in error:
            raise broken("the way back", f"{error} ({kind})")
        return
    if kind != "npz":
        named = [*(named or ["--label", "label"]), *(["--header"] if kind != "parquet" else [])]
    if _convert(f"back.{kind}", "again", *named) or _numbers("again") != whole:
        raise broken("the same rows after the way back", f"{kind} {' '.join(named)}")


def _numbers(path: str) -> list[tuple[float, dict[int, float]]]:
    """Label and values other than 0 of each row."""
    found = []
    for line in Path(path).read_text().splitlines():
        label, *pairs = line.split()
        values = {int(j): float(x) for j, x in (pair.split(":") for pair in pairs)}
        found.append((float(label), {j: x for j, x in values.items() if x != 0.0}))
    return found


def _compare(made: Made) -> None:
    """The numbers of `out` are those of the table, to the double."""
    found, labels = _numbers("out"), made.columns[-1]
    codes = {text: k + 1.0 for k, text in enumerate(sorted(set(labels)))} if isinstance(labels[0], str) else None
    if len(found) != len(labels):
        raise broken("the same numbers", f"{len(found)} lines of {len(labels)} rows")
    for i, (label, values) in enumerate(found):
        row = {j: column[i] for j, column in enumerate(made.columns[:-1], 1) if made.texts or column[i] != 0.0}
        numbers = [1.0 if isinstance(x, str) else x for x in row.values() if x != 0.0]
        right = list(values.values()) == numbers if made.texts else values == row
        if not right or label != (labels[i] if codes is None else codes[labels[i]]):
            raise broken("the same numbers", f"row {i + 1}: {values}, not {row}"[:500])


def _show(rng: random.Random, names: list[str]) -> None:
    """The names of `out` in what people and programs read."""
    rows = _numbers("out")
    labels = sorted({int(label) for label, _ in rows if abs(label) < 1e9})[:5]
    width = max((j for _, values in rows for j in values), default=1)
    if len(labels) < 2 or width > 2000:
        return
    columns = 1 if len(labels) == 2 else len(labels)
    weights = "\n".join(" ".join(repr(rng.choice(NUMBERS) or 0.5) for _ in range(columns)) for _ in range(width))
    head = f"solver_type L2R_LR\nnr_class {len(labels)}\nlabel {' '.join(map(str, labels))}\nnr_feature {width}\n"
    Path("m").write_text(f"{head}bias -1\nw\n{weights}\n")
    for argv in (("inspect", "m"), ("export", "--json", "m"), ("export", "--c", "-o", "m.c", "m")):
        error, out = _run(*argv, *names)
        if error or "--json" in argv and json.loads(out)["labels"] != labels:
            raise broken("shows names of any letters", f"{' '.join(argv)}: {error or out[:300]}")
    for found in compiles("m.c") if rng.random() < 0.2 else ():
        raise broken(*found)


def _table(rng: random.Random, form: str) -> Made:
    """A random table; those of formats without names hold numbers alone."""
    plain = form in (*SPARSE, "dense", "libsvm")
    rows, width = rng.choice((1, 2, 3, 8)), rng.choice((1, 2, 3, 6))
    if rng.random() < 0.02:
        rows, width = rng.choice(((2, 3000), (4500, 2)))
    names = [f"{rng.choice(WORDS).strip() or 'w'}{k}" if width < 100 else f"c{k}" for k in range(width + 1)]
    names = [name.strip("\x1c\x1d\x1e\x1f\x85 \ufeff") or f"n{k}" for k, name in enumerate(names)]
    words = [[f"w{rng.choice(WORDS).strip()}" for _ in range(rows)] for _ in range(2)]
    columns: list[list] = [[_number(rng) for _ in range(rows)] for _ in range(width)]
    if not plain and rng.random() < 0.3:
        columns[0] = words[0]
    numbers = [float(rng.choice((1, 2, 3, -1))) for _ in range(rows)]
    return Made(names, [*columns, words[1] if not plain and rng.random() < 0.5 else numbers])


def _number(rng: random.Random) -> float:
    return rng.choice((0.0, rng.choice(NUMBERS), rng.gauss(0, 1), rng.gauss(0, 1) * 10.0 ** rng.randint(-290, 290)))


def _notation(rng: random.Random, x: float | str) -> str:
    """Text that reads as x."""
    if isinstance(x, str):
        return x
    text = repr(x)
    if text.endswith(".0"):
        text = rng.choice((text, text[:-1], text[:-2], f" {text} "))
    elif text.startswith("0.") and rng.random() < 0.3:
        text = text[1:]
    return rng.choice((text, text, text.upper(), f"+{text}" if text[:1] not in "-+ " else text, f"{x:.17e}"))


def _write(rng: random.Random, made: Made, path: Path, form: str) -> list[str]:
    """Write a table; returns the options that read it."""
    rows = list(zip(*made.columns, strict=True))
    options = ["--label", made.names[-1], *(["--one-hot"] if made.texts else [])]
    if form == "libsvm":
        text = [f"{row[-1]!r} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row[:-1], 1)) for row in rows]
        path.write_text("\n".join(text) + "\n")
        return []
    if form == "parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(dict(zip(made.names, made.columns, strict=True))), path)
        return options
    if form in ("csv", "tsv"):
        mark, out = "\t" if form == "tsv" else rng.choice((",", ",", ";", "|")), io.StringIO(newline="")
        texts = [made.names, *([_notation(rng, cell) for cell in row] for row in rows)]
        bare = not any("\r" in text for row in texts for text in row)  # csv does not quote these
        quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)) if bare else csv.QUOTE_ALL
        csv.writer(out, delimiter=mark, quoting=quoting, lineterminator=rng.choice(("\n", "\r\n"))).writerows(texts)
        path.write_bytes(out.getvalue().encode(rng.choice(("utf-8", "utf-8", "utf-8-sig"))))
        return ["--header", *options, *(["--delimiter", mark] if form == "csv" else [])]
    X, y, save = np.array(made.columns[:-1]).T, np.array(made.columns[-1]), rng.choice((np.savez, np.savez_compressed))
    if form == "dense":
        save(path, X=rng.choice((np.asarray, np.asfortranarray))(X), y=y)
        return []
    form = "csr" if form == "dia" and X.size > 1000 else form
    sparse.save_npz(path, getattr(sparse, f"{form}_{rng.choice(('matrix', 'array'))}")(X))
    with np.load(path) as archive:
        arrays = {**archive, rng.choice(("y", "label", "target")): rng.choice((y, y[:, None], y.astype("i4")))}
    save(path, **arrays)
    return []
