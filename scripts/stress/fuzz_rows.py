"""Damages folders of rows (--memory): a damaged folder must be written again, and the model must be the same.

Runs are processes of their own, because damaged indices could crash compiled loops.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import sys
from pathlib import Path

import numpy as np

from stress.cases import method_of
from stress.fuzz_shared import NASTY, Breached, fresh, mutated
from svmtool import registry
from svmtool.cli.train import main
from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache import folder as row_folder
from svmtool.training import pipeline  # noqa: F401  imported once, not in each child

DATA, MODEL, CLEAN, ROWS = "d", "m", "clean", "d.rows"
SECONDS = 60.0
NUMBERS = (1, 2, 3, 11, 40)
FIELDS = (*NASTY, 2**40, 10**30, 0.5, 1e300, -0.0, float("nan"), float("inf"), True, None, "", "7", [], [1], {},
          {"a": 1})  # fmt: skip
TEXTS = ("", "[" * 10_000, '{"a":' * 3000, "null", "{}", " " * 100_000, '{"rows": ' + "9" * 6000 + "}", "\x00" * 50)
NAMES = (*arrays.ARRAYS, arrays.HEADER)
DAMAGES = ("bytes", "forged entry", "field", "text", "exchange", "kind", "rights", "stranger")


def damaged(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Create data and a folder of rows, damage it, and train on it."""
    place, number = fresh(folder, "try"), rng.choice(NUMBERS)
    damages = [rng.choice(DAMAGES) for _ in range(1 + (rng.random() < 0.3))]
    what, forged = " and ".join(damages), "forged entry" in damages  # which has valid checksums and may be used
    n, d, share = rng.randint(2, 39), rng.choice((1, 3, 20, 300)), rng.random()
    rows = [[f"{j}:{rng.gauss(0, 1):.3g}" for j in range(1, d + 1) if rng.random() < share] for _ in range(n)]
    (place / DATA).write_text("".join(" ".join([str(2 * (k % 2) - 1), *x]) + "\n" for k, x in enumerate(rows)))
    law = "the same model, or an error message"
    status, said = _trained(place, number, CLEAN)
    if status or not (place / ROWS / arrays.HEADER).exists():
        raise Breached(what, (law, f"without any damage: status {status}: {said}"))
    clean = (place / CLEAN).read_bytes()  # damages may follow a link to it
    for name in damages:  # one may be impossible after another
        with contextlib.suppress(OSError, ValueError, LookupError, OverflowError, TypeError, RecursionError):
            _damage(name, rng, place / ROWS)
    status, said = _trained(place, number, MODEL)
    refused = status == 1 and "it exists and is no folder of rows" in said and not (place / MODEL).exists()
    words, lost = "", status < 0 or "Traceback" in said
    if lost or (status and not refused and not forged):
        words = f"status {status}: {said}"
    elif not (refused or forged) and (place / MODEL).read_bytes() != clean:
        words = f"another model: {said}"
    elif not refused:
        status, said = _trained(place, number, MODEL)
        if status < 0 or "Traceback" in said or ((status or said) and not forged):
            words = f"a later run, status {status}: {said}"
    if not words and (left := list(place.glob(".*.tmp"))):
        words = f"files left: {left}"
    if words:
        raise Breached(what, (law, words))
    return what if len(damages) == 1 else "two damages", "refused" if refused else "held"


def _work(folder: Path, argv: list[str]) -> None:
    os.chdir(folder)
    sys.stdout = sys.stderr = open("said", "w", 1)
    row_folder.ROW_BYTES_PER_TEXT_BYTE = 1e9  # puts the rows of any file on disk
    sys.exit(main(argv))


def _trained(folder: Path, number: int, model: str) -> tuple[int, str]:
    """Run svm-train --memory in a child; returns its exit status (minus a signal) and its output."""
    argv = ["-q", "-s", str(number), *method_of(registry.find(number)), "--threads", "1", "--memory", "1G", DATA, model]
    child = multiprocessing.get_context("fork").Process(target=_work, args=(folder, argv))
    child.start()
    child.join(SECONDS)
    child.kill()
    child.join()
    return child.exitcode, (folder / "said").read_text(errors="replace").strip()


def _sign(rows: Path, header: dict) -> None:
    header.pop(arrays.CHECK, None)
    (rows / arrays.HEADER).write_text(json.dumps({**header, arrays.CHECK: arrays._digest(header)}))


def _damage(name: str, rng: random.Random, rows: Path) -> None:
    path, header = rows / rng.choice(NAMES), rows / arrays.HEADER
    if name == "bytes":
        path.write_bytes(mutated(rng, path.read_bytes()))
    elif name == "forged entry":  # a number of an array, with a valid checksum
        of = rng.choice(list(arrays.ARRAYS))
        array = np.fromfile(rows / of, arrays.ARRAYS[of])
        with np.errstate(all="ignore"):
            array[rng.randrange(len(array))] = np.array(rng.choice((*NASTY, 0.5, np.nan, np.inf))).astype(array.dtype)
        array.tofile(rows / of)
        known = json.loads(header.read_text())
        _sign(rows, {**known, "sums": {**known["sums"], of: arrays._checksum(array, 0)}})
    elif name == "field":  # of the header, changed or removed; the digest is valid
        known = json.loads(header.read_text())
        of = rng.choice(list(known))
        known[of] = rng.choice(FIELDS)
        if rng.random() < 0.2:
            del known[of]
        _sign(rows, known)
    elif name == "text":  # no header
        header.write_text(rng.choice(TEXTS))
    elif name == "exchange":  # of two files
        a, b = (rows / of for of in rng.sample(NAMES, 2))
        a.rename(rows / "x"), b.rename(a), (rows / "x").rename(b)
    elif name == "kind":  # a pipe, a folder, a link or nothing in place of a file
        links = {"link": "../clean", "loop": path.name, "device": "/dev/zero"}
        made = rng.choice(("pipe", "folder", *links, "nothing"))
        path.unlink()
        if made in links:
            path.symlink_to(links[made])
        elif made != "nothing":
            os.mkfifo(path, 0o600) if made == "pipe" else path.mkdir()
    elif name == "rights":  # writable by others, or unreadable
        path = rng.choice((rows, path))
        path.chmod(rng.choice((0o000, 0o666, 0o777)) | (0o700 if path == rows else 0))
    else:  # a file that does not belong to the folder
        (rows / "thesis.txt").write_text("mine")
