"""Tables through `svmtool convert` and back: whole ones must keep every number, damaged ones end in one sentence.

A try makes a table (CSV, TSV, npz of each sparse format, Parquet where pyarrow is installed, LIBSVM's text), may damage
it or its names file, converts it, converts the result there and back again, and shows the names by `inspect` and
`export`.  The commands run in this process; a crash ends the worker, and its batch of tries can be repeated.
"""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stress.fuzz_files import mutated
from svmtool.cli import entry
from svmtool.cli.umbrella.group import main
from svmtool.errors import SPACES_AND_JOINERS

BATCH = 50  # tries of a job
HANG = 60  # seconds
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
HOSTILE = (-1, -(10**6), 10**9, 2**31 - 1, 2**31, -(2**63), 2**62, 10**5, 3)
TEXT_FORMS = ("csv", "tsv", "libsvm")
SPARSE = ("csr", "csc", "coo", "bsr", "dia")
PARQUET = ("parquet",) if importlib.util.find_spec("pyarrow") else ()
CC = shutil.which("cc")


class Found(NamedTuple):
    """A breach: the law, what was found, and the command line."""

    law: str
    words: str
    command: str


class Breach(Exception):
    """Ends a try; the arguments are those of Found."""


class Made(NamedTuple):
    """A table: names and columns (numbers, or strings), the label's place."""

    names: list[str]
    columns: list[list]
    label: int

    @property
    def rows(self) -> int:
        return len(self.columns[0])


def attempt(seed: int, number: int, folder: str, tries: int = BATCH) -> tuple[Counter, list[Found]]:
    """Run a batch of tries in a folder; returns counts by kind of file and ending, and breaches."""
    counts, found = Counter(), []
    before = os.getcwd()
    place = Path(folder, "tables")
    for k in range(tries):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        os.chdir(place)
        rng = random.Random(f"{seed} convert {number} {k}")
        form = rng.choice((*TEXT_FORMS, *TEXT_FORMS, *SPARSE, "dense", *PARQUET))
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(HANG)
        try:
            ending = _try(rng, form)
        except Breach as e:
            ending = "breach"
            found.append(Found(*e.args))
        finally:
            signal.alarm(0)
            os.chdir(before)
        counts[form, ending] += 1
    return counts, found


def _too_long(*_: object) -> None:
    raise Breach("no hang", f"no end within {HANG} s", "convert")


def _try(rng: random.Random, form: str) -> str:
    table = _table(rng, form)
    suffix = "npz" if form in SPARSE or form == "dense" else {"libsvm": "txt"}.get(form, form)
    source = f"in.{suffix}"
    options = WRITERS.get(form, _write_npz)(rng, table, Path(source), form)
    damage = rng.choice((None, None, "bytes", "bytes", "arrays" if suffix == "npz" else "encoding", "names"))
    if damage == "bytes":
        Path(source).write_bytes(mutated(rng, Path(source).read_bytes()))
    elif damage == "arrays":
        _damage_arrays(rng, Path(source))
    elif damage == "encoding":
        content = Path(source).read_bytes().decode("utf-8", "replace")
        Path(source).write_bytes(content.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037")),
                                                "replace"))  # fmt: skip
    status = _convert(source, "out", *options)
    if status:
        if damage in (None, "names"):
            raise Breach("whole tables are read", _last, f"convert {source} out {' '.join(options)}")
        return "refused"
    if damage in (None, "names"):
        _compare(table, form)
    _round_trip(rng, one_hot="--one-hot" in options)
    if rng.random() < 0.2:
        _show(rng)
    if damage == "names" and Path("out.names").exists():
        Path("bad.names").write_bytes(mutated(rng, Path("out.names").read_bytes()))
        return "read" if _convert(source, "named", "--names", "bad.names") == 0 else "names refused"
    return "read"


_last = ""  # the last message of a command


def _run(*argv: str, quiet: bool = True) -> tuple[int, str]:
    """Run a command of `svmtool` here; its status and output.  Checks what every command must keep to."""
    global _last
    line = "svmtool " + " ".join(argv)
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", newline="") for _ in range(2)]
    size, began = sum(p.stat().st_size for p in Path().iterdir()), time.process_time()
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            status = entry.guarded(lambda: main(list(argv)))
    except Breach:
        raise
    except BaseException as e:
        raise Breach("a sentence or success", f"{type(e).__name__}: {e}"[:300], line) from e
    seconds = time.process_time() - began
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    size += sum(p.stat().st_size for p in Path().iterdir())
    if seconds > SECONDS + SECONDS_A_BYTE * size:
        raise Breach("time linear in the size", f"{seconds:.1f} s for {size} bytes", line)
    bad = next((c for c in out + err if c != "\n" and not (c.isprintable() or c in SPACES_AND_JOINERS)), "")
    if bad:
        raise Breach("no control characters", f"{bad!r} in {(out + err)[:300]!r}", line)
    lines = err.splitlines()
    _last = lines[-1] if lines else ""
    sentences = [text for text in lines if not SAID.match(text)]
    if status not in (0, 1) or (status == 1) != (len(sentences) == 1) or len(err) > 3000:
        raise Breach("success, or one sentence and status 1", f"status {status}: {err[:500]!r}", line)
    return status, out


def _convert(*argv: str) -> int:
    target = Path(argv[1])
    target.unlink(missing_ok=True)
    status, _ = _run("convert", *argv)
    if target.exists() != (status == 0) or list(Path().glob(".*.tmp")):
        raise Breach("an output is whole or not there", f"status {status}, {os.listdir()}", f"convert {' '.join(argv)}")
    return status


def _round_trip(rng: random.Random, one_hot: bool) -> None:
    """The file `out` in another form and back has the same numbers."""
    whole = _numbers("out")
    if not whole:
        return
    named = ["--names", "out.names"] if Path("out.names").exists() else []
    kinds = ["npz"] if one_hot else ["npz", "csv", "tsv", *PARQUET]  # the columns of values are features there
    kind = rng.choice(kinds)
    back = f"back.{kind}"
    if _convert("out", back, *named):
        if kind != "npz" and "choose .npz, which is sparse" in _last:
            return
        raise Breach("the way back", _last, f"convert out {back}")
    if kind != "npz":
        named = [*(named or ["--label", "label"]), *(["--header"] if kind != "parquet" else [])]
    if _convert(back, "again", *named) or _numbers("again") != whole:
        raise Breach("the same rows after the way back", _last, f"convert {back} again {' '.join(named)}")


def _numbers(path: str) -> list[tuple[float, dict[int, float]]]:
    """Label and values other than 0 of each row."""
    found = []
    for line in Path(path).read_text().splitlines():
        label, *pairs = line.split()
        values = {int(j): float(x) for j, x in (pair.split(":") for pair in pairs)}
        found.append((float(label), {j: x for j, x in values.items() if x != 0.0}))
    return found


def _compare(table: Made, form: str) -> None:
    """The numbers of `out` are those of the table, to the double."""
    found = _numbers("out")
    features = [k for k in range(len(table.names)) if k != table.label]
    column = table.columns[table.label]
    codes = {text: k + 1.0 for k, text in enumerate(sorted(set(column)))} if isinstance(column[0], str) else None
    texts = any(isinstance(table.columns[k][0], str) for k in features)
    if len(found) != table.rows:
        raise Breach("the same numbers", f"{len(found)} lines of {table.rows} rows", f"convert in.{form} out")
    for i, (label, values) in enumerate(found):
        wanted = {j + 1: table.columns[k][i] for j, k in enumerate(features) if texts or table.columns[k][i] != 0.0}
        numbers = [1.0 if isinstance(x, str) else x for x in wanted.values() if x != 0.0]
        right = list(values.values()) == numbers if texts else values == wanted  # texts: features are more than columns
        if not right or label != (column[i] if codes is None else codes[column[i]]):
            raise Breach("the same numbers", f"row {i + 1}: {values}, not {wanted}"[:500], f"convert in.{form} out")


def _show(rng: random.Random) -> None:
    """The names of `out` in what people and programs read."""
    lines = Path("out").read_text().splitlines()
    labels = sorted({int(float(line.split()[0])) for line in lines if line and abs(float(line.split()[0])) < 1e9})[:5]
    width = max((int(p.split(":")[0]) for line in lines for p in line.split()[1:]), default=1)
    if len(labels) < 2 or width > 2000:
        return
    columns = 1 if len(labels) == 2 else len(labels)
    weights = "\n".join(" ".join(repr(rng.choice(NUMBERS) or 0.5) for _ in range(columns)) for _ in range(width))
    head = f"solver_type L2R_LR\nnr_class {len(labels)}\nlabel {' '.join(map(str, labels))}\nnr_feature {width}\n"
    Path("m").write_text(f"{head}bias -1\nw\n{weights}\n")
    names = ["--names", "out.names"] if Path("out.names").exists() else []
    _must("inspect", "m", *names)
    text = _must("export", "--json", "m", *names)
    if json.loads(text)["labels"] != labels:
        raise Breach("JSON holds the labels", text[:300], "export --json m")
    _must("export", "--c", "-o", "m.c", "m", *names)
    if CC and rng.random() < 0.2:
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "m.c", "-o", "m.o"]
        done = subprocess.run([CC, *flags], capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Breach("C compiles", done.stderr[:500], "export --c m")


def _must(*argv: str) -> str:
    status, out = _run(*argv)
    if status:
        raise Breach("shows names of any letters", _last, " ".join(argv))
    return out


# Tables


def _table(rng: random.Random, form: str) -> Made:
    """A random table; those of formats without names hold numbers alone."""
    plain = form in SPARSE or form in ("dense", "libsvm")
    rows, width = rng.choice((1, 2, 3, 8)), rng.choice((1, 2, 3, 6))
    if rng.random() < 0.02:
        rows, width = rng.choice(((2, 3000), (4500, 2)))
    names = [f"{rng.choice(WORDS).strip() or 'w'}{k}" if width < 100 else f"c{k}" for k in range(width + 1)]
    names = [name.strip("\x1c\x1d\x1e\x1f\x85 \ufeff") or f"n{k}" for k, name in enumerate(names)]
    columns: list[list] = [[_number(rng) for _ in range(rows)] for _ in range(width)]
    if not plain and rng.random() < 0.3:
        columns[0] = [_word(rng) for _ in range(rows)]
    texts = not plain and rng.random() < 0.5
    labels = [_word(rng) for _ in range(rows)] if texts else [float(rng.choice((1, 2, 3, -1))) for _ in range(rows)]
    return Made(names, [*columns, labels], width)


def _word(rng: random.Random) -> str:
    return "w" + rng.choice(WORDS).strip()


def _number(rng: random.Random) -> float:
    return rng.choice((0.0, rng.choice(NUMBERS), rng.gauss(0, 1), rng.gauss(0, 1) * 10.0 ** rng.randint(-290, 290)))


def _notation(rng: random.Random, x: float) -> str:
    """Text that reads as x."""
    text = repr(x)
    if text.endswith(".0"):
        text = rng.choice((text, text[:-1], text[:-2], f" {text} "))
    elif text.startswith("0.") and rng.random() < 0.3:
        text = text[1:]
    return rng.choice((text, text, text.upper(), f"+{text}" if text[:1] not in "-+ " else text, f"{x:.17e}"))


def _write_delimited(rng: random.Random, table: Made, path: Path, form: str) -> list[str]:
    mark = "\t" if form == "tsv" else rng.choice((",", ",", ";", "|"))
    texts = [[cell if isinstance(cell, str) else _notation(rng, cell) for cell in column] for column in table.columns]
    out = io.StringIO(newline="")
    bare = not any("\r" in text for text in (*table.names, *texts[0], *texts[-1]))  # csv does not quote these
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)) if bare else csv.QUOTE_ALL
    write = csv.writer(out, delimiter=mark, quoting=quoting, lineterminator=rng.choice(("\n", "\r\n")))
    write.writerow(table.names)
    write.writerows(zip(*texts, strict=True))
    path.write_bytes(out.getvalue().encode(rng.choice(("utf-8", "utf-8", "utf-8-sig"))))
    options = ["--header", "--label", table.names[table.label]]
    if any(isinstance(column[0], str) for column in table.columns[: table.label]):
        options.append("--one-hot")
    return [*options, "--delimiter", mark] if form == "csv" else options


def _write_libsvm(rng: random.Random, table: Made, path: Path, form: str) -> list[str]:
    rows = zip(*table.columns, strict=True)
    text = [f"{row[-1]!r} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row[:-1])) for row in rows]
    path.write_text("\n".join(text) + "\n")
    return []


def _write_parquet(rng: random.Random, table: Made, path: Path, form: str) -> list[str]:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(dict(zip(table.names, table.columns, strict=True))), path)
    texts = any(isinstance(column[0], str) for column in table.columns[: table.label])
    return ["--label", table.names[table.label], *(["--one-hot"] if texts else [])]


def _write_npz(rng: random.Random, table: Made, path: Path, form: str) -> list[str]:
    X, y = np.array(table.columns[:-1]).T, np.array(table.columns[-1])
    save: Callable[..., Any] = rng.choice((np.savez, np.savez_compressed))
    if form == "dense":
        save(path, X=rng.choice((np.asarray, np.asfortranarray))(X), y=y)
        return []
    form = "csr" if form == "dia" and X.size > 1000 else form
    matrix = getattr(sparse, f"{form}_{rng.choice(('matrix', 'array'))}")(X)
    sparse.save_npz(path, matrix)
    with np.load(path) as archive:
        arrays = dict(archive)
    save(path, **arrays, **{rng.choice(("y", "label", "target")): rng.choice((y, y[:, None], y.astype("i4")))})
    return []


def _damage_arrays(rng: random.Random, path: Path) -> None:
    """An archive that is whole, of arrays that are not."""
    with np.load(path) as archive:
        arrays = dict(archive)
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(arrays))
        array, what = arrays[name], rng.randrange(9)
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError, OverflowError, LookupError):
            if what < 4 and array.dtype.kind in "iuf":
                array = array.astype("f8" if array.dtype.kind == "f" else "i8")
                value = rng.choice((*HOSTILE, np.nan, np.inf)) if array.dtype.kind == "f" else rng.choice(HOSTILE)
                array.reshape(-1)[rng.randrange(array.size)] = value
            elif what == 4:
                array = array.astype(rng.choice(("c16", "O", "S4", "?", ">i2", "f2", "u8", "M8[s]", "i1", ">f4")))
            elif what == 5:
                array = array.reshape(rng.choice(((-1, 1), (1, -1), (-1,), ())))
            elif what == 6:
                array = np.resize(array, rng.choice((0, 1, array.size - 1, array.size + 1)))
            elif what == 7 and array.size == 1:
                array = np.array(rng.choice(("csr", "bsr", "coo", "lil", "", "c" * 50)))
            else:
                del arrays[name]
                continue
        arrays[name] = array
    np.savez(path, allow_pickle=True, **arrays)
    if rng.random() < 0.1 and arrays:  # a header that claims more than there is
        content = path.read_bytes().replace(b"'shape': (", b"'shape': (9" + rng.choice((b"9" * 10, b"", b", ")), 1)
        path.write_bytes(content)


WRITERS: dict[str, Callable[[random.Random, Made, Path, str], list[str]]] = {
    "csv": _write_delimited, "tsv": _write_delimited, "libsvm": _write_libsvm, "parquet": _write_parquet,
}  # fmt: skip
