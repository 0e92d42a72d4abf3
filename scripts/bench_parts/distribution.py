"""Tables and bars of the part `all-sets` from its file of results, as distributions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from bench_parts import bars
from bench_parts.measure import geometric_mean

MB = 1 << 20
FAR = float("inf")
NAMED = 12  # number of commands named among those that did not end
Row = dict


def entries_of(path: Path) -> tuple[list[dict], bool]:
    """The entries of a file of results, and whether it ends in the middle of a line."""
    if not path.exists():
        return [], False
    text = path.read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found, bool(text) and not text.endswith("\n")


def rows_of(entries: Iterable[dict]) -> list[Row]:
    """The latest row of each pair, in the order of first occurrence."""
    return list({(e["set"], e["solver"], e["C"]): e for e in entries if "set" in e}.values())


def latest(path: Path) -> Evaluation:
    """Read a file of results: the rows measured under the conditions of the last run."""
    return Evaluation(*latest_rows(path))


def latest_rows(path: Path) -> tuple[dict, list[Row]]:
    """Return the header and the rows of a file of results that were measured under the conditions of the last run."""
    entries, _ = entries_of(path)
    heads = [entry for entry in entries if "sets" in entry]
    if not heads:
        raise SystemExit(f"{path}: no results")
    return heads[-1], rows_of(e for e in entries if e["on"] == heads[-1]["on"])


def command_of(row: Row) -> str:
    return f"svm-train -s {row['solver']} -c {row['C']:g} {row['set']}"


def time_of(run: dict, limit: float) -> float:
    """The time that counts for a run: one that did not end counts with its limit."""
    return run["seconds"] if run["ended"] == "yes" else max(limit, run["seconds"] or 0.0)


def ratio(row: Row, by: str) -> float | None:
    """LIBLINEAR's time over ours at the defaults; None if LIBLINEAR failed or neither ended."""
    theirs, mine, limit = row["runs"]["theirs"], row["runs"][by], row["on"]["limit"]
    if theirs["ended"] == "failed" or (theirs["ended"] != "yes" and mine["ended"] != "yes"):
        return None
    return time_of(theirs, limit) / time_of(mine, limit)


def objective_ratio(row: Row) -> float | None:
    """The same for training to LIBLINEAR's objective; ours counts with the limit if it is not reached."""
    found = row["objective"]
    if "left_out" in found:
        return None
    mine = row["on"]["limit"] if found["ours"] is None else found["ours"]
    return found["theirs"] / max(mine, 1e-6)


def certified(row: Row) -> float | None:
    """Time to the certified gap over the allowed time, FAR if it was not reached; None where it is not required."""
    required = row["solver"] in bars.ALL_SETS_GAP_SOLVERS and row["nonzeros"] <= bars.ALL_SETS_GAP_NONZEROS
    run = row["runs"]["gap"]
    if not required:
        return None
    return run["seconds"] - bars.ALL_SETS_GAP_SECONDS if run["ended"] == "yes" else FAR


def memory(row: Row) -> float | None:
    """MB above the limit; None if a run failed."""
    mine, theirs = row["runs"]["ours"], row["runs"]["theirs"]
    if "failed" in (mine["ended"], theirs["ended"]):
        return None
    data = bars.ALL_SETS_NUMBER_BYTES * row["nonzeros"] / MB
    return mine["peak_mb"] - theirs["peak_mb"] - bars.ALL_SETS_MEMORY_MB - bars.ALL_SETS_MEMORY_DATA * data


class Distribution(NamedTuple):
    """The values of one measure with their rows; required: the bar as text."""

    title: str
    pairs: list[tuple[float, Row]]
    required: str = "-"

    @property
    def values(self) -> list[float]:
        return [value for value, _ in self.pairs]

    @property
    def mean(self) -> float:
        return geometric_mean(self.values)

    def share(self, holds: Callable[[float], bool]) -> float:
        return sum(map(holds, self.values)) / len(self.pairs) if self.pairs else float("nan")

    def end(self, most: bool = False) -> tuple[float, Row] | None:
        """The smallest or largest value with its row; None without values."""
        return (max if most else min)(self.pairs, key=lambda pair: pair[0], default=None)

    def worst(self, most: bool = False) -> float:
        found = self.end(most)
        return found[0] if found else float("nan")


class Evaluation:
    """Rows measured under the same conditions, and their evaluation."""

    def __init__(self, header: dict, rows: list[Row]):
        self.header, self.all_rows = header, rows
        self.rows = [row for row in rows if "failed" not in row]
        whole = "whole process, default `-e`"
        self.large, self.middle, self.small = self._by_size(whole, lambda row: ratio(row, "ours"))
        self.costs = {C: self._at(C) for C in bars.COSTS}
        most, slow = 100.0 * (1.0 - bars.ALL_SETS_LARGE_WINS), bars.ALL_SETS_LARGE_EACH
        required = f"mean {bars.ALL_SETS_LARGE_MEAN:g}, below 1 at most {most:.0f} %, worst {slow:g}"
        self.large = self.large._replace(required=required)
        self.middle = self.middle._replace(required=f"worst {bars.ALL_SETS_MIDDLE_EACH:g}")
        goal = "training alone, to the objective of LIBLINEAR's default"
        required = f"mean {bars.ALL_SETS_OBJECTIVE_MEAN:g}, worst {bars.ALL_SETS_OBJECTIVE_EACH:g}"
        self.objective = self._distribution(goal, objective_ratio)._replace(required=required)
        self.objectives = self._by_size(goal, objective_ratio)
        goal = f"whole process, ours with `--gap {bars.ALL_SETS_GAP:g}`"
        required = f"mean {1.0 / bars.ALL_SETS_GAP_MEAN:g}"
        self.gap = self._distribution(goal, lambda row: ratio(row, "gap"))._replace(required=required)
        self.gaps = self._by_size(goal, lambda row: ratio(row, "gap"))
        self.certified = self._distribution("certified", certified)
        self.memory = self._distribution("memory", memory)

    def _distribution(
        self, title: str, value: Callable[[Row], float | None], low: float = 0.0, high: float = FAR
    ) -> Distribution:
        """The values on sets of this size in MB; rows without a value are left out."""
        found = ((value(row), row) for row in self.rows if low <= row["mb"] < high)
        return Distribution(title, [(v, row) for v, row in found if v is not None])

    def _at(self, C: float) -> Distribution:
        """The pairs of large sets with this C."""
        pairs = [(value, row) for value, row in self.large.pairs if row["C"] == C]
        return Distribution(f"{self.large.title}, C = {C:g}", pairs, f"mean {bars.ALL_SETS_COST_MEAN:g}")

    def _by_size(self, title: str, value: Callable[[Row], float | None]) -> list[Distribution]:
        """Large sets, middle ones and small ones."""
        large, middle = bars.ALL_SETS_LARGE, bars.ALL_SETS_MIDDLE
        return [
            self._distribution(f"{title}, files from {large:g} MB", value, large),
            self._distribution(f"{title}, {middle:g} to {large:g} MB", value, middle, large),
            self._distribution(f"{title}, under {middle:g} MB", value, 0.0, middle),
        ]

    def ratios(self) -> list[Distribution]:
        """The distributions of LIBLINEAR's time over ours."""
        whole = [self.large, *self.costs.values(), self.middle, self.small]
        return [*whole, self.objective, *self.objectives, self.gap, *self.gaps]

    def bars(self) -> list[tuple[str, float, str, float]]:
        """Text, value, relation and limit of each."""
        large, middle, slow = f"{bars.ALL_SETS_LARGE:g} MB", f"{bars.ALL_SETS_MIDDLE:g} MB", bars.ALL_SETS_LARGE_EACH
        wins = self.large.share(lambda value: value >= 1.0)
        inside = self.certified.share(lambda value: value <= 0.0)
        return [
            (f"all sets from {large}, LIBLINEAR / ours", self.large.mean, ">=", bars.ALL_SETS_LARGE_MEAN),
            *(
                (f"all sets from {large}, C = {C:g}", found.mean, ">=", bars.ALL_SETS_COST_MEAN)
                for C, found in self.costs.items()
            ),
            (f"all sets from {large}, share of 1 and more", wins, ">=", bars.ALL_SETS_LARGE_WINS),
            (f"all sets from {large}, worst", self.large.worst(), ">=", slow),
            (f"all sets from {middle} to {large}, worst", self.middle.worst(), ">=", bars.ALL_SETS_MIDDLE_EACH),
            ("to LIBLINEAR's objective, LIBLINEAR / ours", self.objective.mean, ">=", bars.ALL_SETS_OBJECTIVE_MEAN),
            ("to LIBLINEAR's objective, worst", self.objective.worst(), ">=", bars.ALL_SETS_OBJECTIVE_EACH),
            ("to a certified gap, ours / LIBLINEAR's default", 1.0 / self.gap.mean, "<=", bars.ALL_SETS_GAP_MEAN),
            (f"share certified within {bars.ALL_SETS_GAP_SECONDS:g} s", inside, ">=", 1.0),
            ("MB above LIBLINEAR's and what is allowed, worst", self.memory.worst(most=True), "<=", 0.0),
        ]

    def text(self) -> str:
        """All of it in Markdown."""
        on, dates = self.header["on"], sorted({row["date"] for row in self.all_rows})
        words = [
            f"{len(self.all_rows)} of {self.header['pairs']} pairs of a set and a command, in random order, measured "
            f"on {' and '.join(dates) or 'no day'}: {on['processor']}, {on['cores']} cores; `svm-train` and "
            f"LIBLINEAR's `train` in turn, runs of {on['limit']:g} s at most. Figures are LIBLINEAR's time over ours."
        ]
        words += self._unfinished(on["limit"])
        below = f"below {bars.ALL_SETS_SLOW:g}"
        ratios = ("LIBLINEAR's time / ours", "pairs", "geometric mean", "below 1", below, "worst", "its command")
        head = (*ratios, "required")
        lines = [head, ("---",) * len(head), *map(_ratio_cells, self.ratios())]
        bounds = ("bound", "pairs", "held by", "worst", "its command")
        nonzeros = bars.ALL_SETS_GAP_NONZEROS / 1e6
        numbers = ", ".join(map(str, bars.ALL_SETS_GAP_SOLVERS))
        within = [
            _bound_cells(
                f"gap of {bars.ALL_SETS_GAP:g} certified within {bars.ALL_SETS_GAP_SECONDS:g} s (-s {numbers}; up to "
                f"{nonzeros:g} million non-zeros)", self.certified, bars.ALL_SETS_GAP_SECONDS, "s",
            ),
            _bound_cells(
                f"peak memory within LIBLINEAR's plus {bars.ALL_SETS_MEMORY_MB:g} MB plus "
                f"{bars.ALL_SETS_MEMORY_DATA:g} x the data ({bars.ALL_SETS_NUMBER_BYTES} bytes a non-zero)",
                self.memory, 0.0, "MB too many",
            ),
        ]  # fmt: skip
        more = [bounds, ("---",) * len(bounds), *within]
        tables = ["\n".join("| " + " | ".join(cells) + " |" for cells in some) for some in (lines, more)]
        return "\n\n".join([" ".join(words), *tables, f"The sets: {', '.join(self.header['sets'])}."])

    def _unfinished(self, limit: float) -> list[str]:
        """Sentences about runs that failed or did not end."""

        def those(tool: str, *ends: str, other: str | None = None) -> list[Row]:
            found = (row for row in self.rows if row["runs"][tool]["ended"] in ends)
            return [row for row in found if other is None or (row["runs"][other]["ended"] == "yes")]

        neither = [row for row in those("theirs", "over") if row["runs"]["ours"]["ended"] != "yes"]
        counts = f"and counts with {limit:g} s"
        sentences = [
            _sentence(f"LIBLINEAR does not end {counts}", those("theirs", "over", other="ours")),
            _sentence(f"Ours does not end {counts}", those("ours", "over", other="theirs")),
            _sentence("Neither ends, not counted", neither),
            _sentence(f"Ours fails {counts}", those("ours", "failed", other="theirs")),
            _sentence("LIBLINEAR fails, left out", those("theirs", "failed")),
            _sentence(f"Not certified {counts}", those("gap", "over", "short", "failed")),
            _sentence("Could not be measured", [row for row in self.all_rows if "failed" in row]),
        ]
        reasons: dict[str, list[Row]] = {}
        for row in self.rows:
            if row["objective"].get("ours", 0.0) is None:
                reasons.setdefault(f"LIBLINEAR's objective is not reached {counts}", []).append(row)
            elif "left_out" in row["objective"]:
                reasons.setdefault(f"No time to the objective: {row['objective']['left_out']}", []).append(row)
        return [sentence for sentence in [*sentences, *(_sentence(*reason) for reason in reasons.items())] if sentence]


def _sentence(what: str, rows: list[Row]) -> str:
    named = ", ".join(f"`{command_of(row)}`" for row in rows[:NAMED]) + (", ..." if len(rows) > NAMED else "")
    return f"{what}: {len(rows)} ({named})." if rows else ""


def _ratio_cells(found: Distribution) -> tuple[str, ...]:
    end = found.end()
    if end is None:
        return (found.title, "0", *("-",) * 5, found.required)
    below = [f"{100 * found.share(lambda v, x=x: v < x):.0f} %" for x in (1.0, bars.ALL_SETS_SLOW)]
    cells = (found.title, str(len(found.pairs)), f"{found.mean:.2f}", *below)
    return (*cells, f"{end[0]:.2g}", f"`{command_of(end[1])}`", found.required)


def _bound_cells(title: str, found: Distribution, offset: float, unit: str) -> tuple[str, ...]:
    end = found.end(most=True)
    if end is None:
        return (title, "0", *("-",) * 3)
    held = f"{100 * found.share(lambda v: v <= 0.0):.0f} %"
    worst = f"{end[0] + offset:.3g} {unit}" if offset or end[0] > 0.0 else "within"
    worst = worst if end[0] < FAR else "never"
    return (title, str(len(found.pairs)), held, worst, f"`{command_of(end[1])}`")


def line_of(row: Row) -> str:
    """One line for a pair, printed when it is measured."""
    if "failed" in row:
        return f"{command_of(row):52} could not be measured: {row['failed']}"
    cells = []
    for tool in ("ours", "theirs", "gap"):
        run = row["runs"][tool]
        mark = "" if run["ended"] == "yes" else f" ({run['ended']})"
        cells.append(f"{tool} {run['seconds'] or 0.0:7.3f} s{mark}")
    shown = [("ratio", ratio(row, "ours")), ("to its objective", objective_ratio(row))]
    cells += [f"{name} {'-' if value is None else format(value, '.2f')}" for name, value in shown]
    over = memory(row)
    return f"{command_of(row):52} " + "   ".join(cells) + (f"   {over:.0f} MB too many" if over and over > 0 else "")
