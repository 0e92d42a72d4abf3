"""The distribution of measured pairs as a table, and as files; and what the README promises of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import geometric_mean

Row = dict
LARGE_MB, MIDDLE_MB = 3.0, 1.0  # sizes of files, by their text
WORSE = 1e-3  # a peer's objective this share above ours is another quality
HEAD = (
    "peer's time / ours", "pairs", "geometric mean", "below 1", "worst", "its pair", "objective above ours",
    "memory, ours / peer's", "over the limit",
)  # fmt: skip
# what the README says -> peer, least MB, and the share of its pairs that must be faster with svmtool
PROMISES = {"most files from 3 MB train faster than with LIBLINEAR": ("LIBLINEAR", LARGE_MB, 0.5)}


def pair_of(row: Row) -> str:
    return f"-s {row['solver']}{' -t 2' if row['kernel'] else ''} -c {row['C']:g} {row['set']}"


def counted(run: dict, limit: float) -> float | None:
    """The seconds that count for a run: one over the limit counts with the limit; None where it failed."""
    return None if run["ended"] == "failed" else limit if run["ended"] == "over" else run["seconds"]


def ratio(row: Row) -> float | None:
    """The peer's time over ours; None where it failed or neither ended. Ours counts with the limit where it failed."""
    if row["theirs"]["ended"] != "yes" and row["ours"]["ended"] != "yes":
        return None
    theirs, ours = counted(row["theirs"], row["limit"]), counted(row["ours"], row["limit"])
    return None if theirs is None else theirs / (row["limit"] if ours is None else ours)


def excess(row: Row) -> float | None:
    """How far the peer's objective is above ours, relative to ours."""
    theirs, ours = row["theirs"]["objective"], row["ours"]["objective"]
    return None if theirs is None or not ours else (theirs - ours) / abs(ours)


def memory(row: Row) -> float | None:
    """Our peak memory over the peer's."""
    theirs, ours = row["theirs"]["peak_mb"], row["ours"]["peak_mb"]
    return ours / theirs if theirs and ours else None


def known(rows: Iterable[Row], measure: Callable[[Row], float | None]) -> list[float]:
    return [value for row in rows if (value := measure(row)) is not None]


def cells(title: str, rows: list[Row]) -> tuple[str, ...]:
    """A line of the table."""
    found = [(value, row) for row in rows if (value := ratio(row)) is not None]
    over = str(sum(row["theirs"]["ended"] == "over" for row in rows))
    if not found:
        return (title, "0", *("-",) * 6, over)
    values, above, peaks = [value for value, _ in found], known(rows, excess), known(rows, memory)
    worst, where = min(found, key=lambda pair: pair[0])
    return (
        title, str(len(values)), f"{geometric_mean(values):.2f}", share(value < 1.0 for value in values),
        f"{worst:.2g}", pair_of(where), share(value > WORSE for value in above),
        f"{geometric_mean(peaks):.2f}" if peaks else "-", over,
    )  # fmt: skip


def share(those: Iterable[bool]) -> str:
    listed = list(those)
    return f"{100 * sum(listed) / len(listed):.0f} %" if listed else "-"


def lines(rows: list[Row]) -> list[tuple[str, ...]]:
    """For each peer: all its pairs, then by size of the file, number, C and kind of labels."""
    found = []
    for peer in sorted({row["peer"] for row in rows}):
        mine = [row for row in rows if row["peer"] == peer]
        groups: dict[tuple, list[Row]] = {}
        for row in mine:
            for name in groups_of(row):
                groups.setdefault(name, []).append(row)
        found += [cells(peer, mine), *(cells(f"{peer}, {name[-1]}", groups[name]) for name in sorted(groups))]
    return found


def groups_of(row: Row) -> list[tuple]:
    """The groups of a pair: their place in the table, and their names."""
    mb, classes, solver, kernel, C = (row[name] for name in ("mb", "classes", "solver", "kernel", "C"))
    sizes = [(LARGE_MB, "files from 3 MB"), (MIDDLE_MB, "files of 1 to 3 MB"), (0.0, "files under 1 MB")]
    size = next((0, k, name) for k, (least, name) in enumerate(sizes) if mb >= least)
    kind = (3, 2, "numbers") if classes is None else (3, 1, "several classes") if classes > 2 else (3, 0, "two classes")
    return [size, (1, kernel, solver, f"-s {solver}{' -t 2' if kernel else ''}"), (2, C, f"C = {C:g}"), kind]


def text(rows: list[Row], pairs: int, machine: str) -> str:
    """All of it in Markdown."""
    dates = ", ".join(sorted({row["date"] for row in rows})) or "no day"
    limits = ", ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in rows}))
    ours = {(row["beside"], pair_of(row)): row["ours"] for row in rows}.values()
    ended = [run for run in ours if run["ended"] == "yes"]
    gaps = [run["gap"] for run in ended if run["gap"] is not None]
    words = [
        f"{len(rows)} of {pairs} pairs of a set, a problem and a peer, in random order, measured on {dates}: "
        f"{machine}; defaults of each, runs of {limits or '-'} s at most, which count with it if they do not end.",
        f"Objective above ours: the share of pairs where the peer's is more than {100 * WORSE:g} % above.",
        f"Runs of svmtool that end: {len(ended)} of {len(ours)}; certified: {len(gaps)}"
        + (f", median gap {sorted(gaps)[len(gaps) // 2]:.1e}, largest {max(gaps):.1e}." if gaps else "."),
    ]
    for tool in ("ours", "theirs"):
        failed = [row for row in rows if row[tool]["ended"] == "failed"]
        named = [f"{row['peer']}: {pair_of(row)}: {row[tool]['message']}" for row in failed[:1]]
        words += [f"Failed, {tool}: {len(failed)} ({named[0]})."] if failed else []
    table = [HEAD, ("---",) * len(HEAD), *lines(rows)]
    return " ".join(words) + "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in table)


def kept(rows: list[Row]) -> list[tuple[str, bool]]:
    """The promises of the README that these pairs can test, and whether they hold."""
    ended = [row["ours"] for row in rows if row["ours"]["ended"] == "yes"]
    found = [("a certified relative gap after every run", all(r["gap"] is not None for r in ended))] if ended else []
    for words, (peer, mb, least) in PROMISES.items():
        values = known((row for row in rows if row["peer"] == peer and row["mb"] >= mb), ratio)
        found += [(words, sum(v > 1.0 for v in values) > least * len(values))] if values else []
    return found


def write(path: Path, rows: list[Row]) -> None:
    """A CSV file with a line for each pair."""
    plain = ("date", "set", "mb", "classes", "solver", "kernel", "C", "peer", "beside", "limit")
    measures = ("seconds", "peak_mb", "objective", "gap", "ended")
    runs = [(tool, what) for tool in ("ours", "theirs") for what in measures]
    with open(path, "w", newline="", encoding="utf-8") as file:
        sink = csv.writer(file, lineterminator="\n")
        sink.writerow([*plain, *map(" ".join, runs)])
        for row in rows:
            sink.writerow([*(row[name] for name in plain), *(row[tool][what] for tool, what in runs)])
