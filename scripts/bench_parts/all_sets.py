"""All available sets with all of LIBLINEAR's solver numbers: a random sample of the pairs, within a time limit.

The pairs (set, -s, -c) are measured in an order that depends on the seed alone, until the time is up.  Each result is
saved at once, and the next run continues after the last one.  Results from another machine, other code or another
LIBLINEAR are ignored.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
import lzma
import sys
import time
from pathlib import Path

import machine
from bench_parts import bars, distribution
from bench_parts.all_sets_pair import LIBRARY, DataSet, Pair, measure
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.measure import REPOSITORY, CommandFailed, child_json

RESULTS = "all_sets.jsonl"
REGRESSION = "regression"  # the catalogue's word for targets that are numbers


def all_sets(ctx: Context) -> None:
    """Measure whole commands, time to LIBLINEAR's objective, certified gap and memory within the time limit."""
    ctx.report.section("all-sets", "Every set found, in random order: LIBLINEAR's time / ours")
    if not ctx.liblinear:
        ctx.report.show("   left out: no LIBLINEAR folder was given")
        return
    if not (ctx.liblinear / LIBRARY).exists():
        ctx.report.show(f"   no {LIBRARY} in {ctx.liblinear} (make lib): no time to LIBLINEAR's objective")
    ctx.report.show("   unpacking and reading all sets; the first run takes about a minute")
    found = sets_of(ctx)
    pairs = in_order([pair for data in found.values() for pair in pairs_of(data)], ctx.seed)
    results = Results(ctx.cache / RESULTS, conditions(ctx), sorted(found), len(pairs))
    if results.ignored:
        ctx.report.show(f"   {results.ignored} lines of {results.path} are of other conditions: ignored")
    done = {(row["set"], row["solver"], row["C"]) for row in results.rows if "failed" not in row}
    if done:
        ctx.report.show(f"   {len(done)} pairs are measured already: continuing after them")
    end = time.monotonic() + 60.0 * ctx.minutes
    try:
        for pair in pairs:
            if tuple(pair) in done:
                continue
            if time.monotonic() > end:
                break
            facts = found[pair.name]
            row = {"set": pair.name, "solver": pair.solver, "C": pair.C}
            row |= {"mb": facts.megabytes, "nonzeros": facts.nonzeros}
            try:
                row |= measure(ctx, pair, facts)
            except (CommandFailed, OSError, ArithmeticError, LookupError, TypeError, ValueError) as e:
                row["failed"] = f"{type(e).__name__}: {e}"[-500:]
            results.add(row)
            ctx.report.row(distribution.line_of(row), **row)
    finally:  # after Ctrl-C too
        evaluation = distribution.Evaluation(results.header, results.rows)
        for line in evaluation.text().splitlines():
            ctx.report.show(line)
        for bar in evaluation.bars():
            ctx.report.bar(*bar)
        ctx.report.show(f"\nsaved: {results.path}")


def sets_of(ctx: Context) -> dict[str, DataSet]:
    """All sets that can be read; their sizes are stored beside the unpacked files."""
    catalogue = _catalogue(ctx)
    kept_in = ctx.cache / "facts.json"
    try:
        kept = json.loads(kept_in.read_text())
    except (OSError, ValueError):
        kept = {}
    found = {}
    given = [(f.name, str(f)) for f in ctx.files]
    for name, path in given or [(name, None) for name in ctx.all_sets(tests=True)]:
        try:
            path = path or ctx.find(name)
            assert path is not None
            about = Path(path).stat()
            key = f"{name} {about.st_size} {about.st_mtime_ns}"
            if key not in kept:
                kept[key] = child_json([sys.executable, HERE / "child_facts.py", path])
        except (CommandFailed, OSError, EOFError, ValueError, lzma.LZMAError) as e:
            ctx.report.show(f"   {name}: left out: {str(e).strip().splitlines()[-1]}")
            continue
        facts, listed = kept[key], catalogue.get(name, {})
        classes = facts["labels"] in ("two", "many") and listed.get("classes") != REGRESSION
        numbers = facts["labels"] == "real" or REGRESSION in f"{listed.get('classes')} {listed.get('note')}"
        columns = facts["values"] if facts["values"] > 2 else 1
        found[name] = DataSet(name, path, about.st_size / 1e6, facts["nonzeros"], columns, classes, numbers)
    kept_in.write_text(json.dumps(kept))
    return found


def _catalogue(ctx: Context) -> dict[str, dict]:
    """The entries of CATALOG.tsv in the data folders, which distinguish classes from targets."""
    listed = {}
    for folder in ctx.data:
        if (folder / "CATALOG.tsv").is_file():
            with open(folder / "CATALOG.tsv", newline="", encoding="utf-8") as f:
                listed |= {row["name"]: row for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)}
    return listed


def pairs_of(data: DataSet) -> list[Pair]:
    """The commands that suit a set's labels."""
    solvers = (*(bars.ALL_SETS_SOLVERS if data.classes else ()), *(bars.ALL_SETS_NUMBERS if data.numbers else ()))
    return [Pair(data.name, solver, C) for solver in solvers for C in bars.COSTS]


def in_order(pairs: list[Pair], seed: int) -> list[Pair]:
    """A random order in which adding or removing a set does not change the order of the others."""
    return sorted(pairs, key=lambda pair: hashlib.sha256(f"{seed} {pair.command}".encode()).digest())


def conditions(ctx: Context) -> dict:
    """The conditions under which results are comparable."""
    assert ctx.liblinear is not None
    theirs = hashlib.sha256()
    for path in (ctx.liblinear / "train", ctx.liblinear / LIBRARY):  # without the library one question is skipped
        theirs.update(path.read_bytes() if path.exists() else b"")
    return {
        "processor": machine.processor(), "cores": machine.cores(), "limit": ctx.limit,
        "code": code_hash(), "liblinear": theirs.hexdigest()[:12],
    }  # fmt: skip


def code_hash() -> str:
    """Checksum of the package's sources."""
    code = hashlib.sha256()
    for path in sorted((REPOSITORY / "svmtool").rglob("*.py")):
        code.update(path.read_bytes())
    return code.hexdigest()[:12]


class Results:
    """The file of results: a header for each run, a line for each pair; rows: those under the same conditions."""

    def __init__(self, path: Path, on: dict, sets: list[str], pairs: int):
        self.path, self.on = path, on
        entries, broken = distribution.entries_of(path)
        mine = [entry for entry in entries if entry["on"] == on]
        self.rows = distribution.rows_of(mine)
        self.ignored = sum("set" in entry for entry in entries) - sum("set" in entry for entry in mine)
        if broken:  # the incomplete last line of a killed run
            with open(path, "a", encoding="utf-8") as f:
                f.write("\n")
        self.header = {"sets": sets, "pairs": pairs}
        self._write(self.header)

    def add(self, row: dict) -> None:
        """Save a row immediately, replacing an earlier one of the same pair."""
        row["date"] = datetime.date.today().isoformat()
        self._write(row)
        self.rows = distribution.rows_of([*self.rows, row])

    def _write(self, entry: dict) -> None:
        entry["on"] = self.on
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(entry) + "\n")
