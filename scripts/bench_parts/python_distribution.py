"""Summarises the results of the part `python` as distributions: a table and bars."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench_parts import bars, distribution
from bench_parts.distribution import Row
from bench_parts.measure import geometric_mean

OURS, LINEAR_SVC, TRAIN = "ours", "LinearSVC", "liblinear"
NAMED = 6  # most sets that a sentence names


def latest(path: Path) -> Evaluation:
    """Read a file of results: the rows measured under the conditions of the last run."""
    return Evaluation(*distribution.latest_rows(path))


def name_of(row: Row) -> str:
    return f"{row['solver']}, C {row['C']:g}, {row['set']}"


def line_of(row: Row) -> str:
    """A pair in one line, as it is measured."""
    if why := row.get("failed") or row.get("left_out"):
        return f"{name_of(row):44} not measured: {why}"
    cells = []
    for tool, run in row["runs"].items():
        mark = "" if run["ended"] == "yes" else f" ({run['ended']})"
        cells.append(f"{tool} {run['seconds']:.4g} s{mark}")
    return f"{name_of(row):44} " + "   ".join(cells)


class Peer:
    """A peer's results over pairs: ratios of its time to ours, and the pairs that have none.

    Ours counts with the time limit where it did not reach the objective.  A peer that did not counts with the limit in
    `least_mean` alone, which is therefore a lower bound; one whose smallest tolerance does not suffice is only counted.
    """

    def __init__(self, title: str):
        self.title = title
        self.ratios: list[tuple[float, Row]] = []
        self.at_limit: list[float] = []  # the limit over our time, of the pairs in `over`
        self.over: list[Row] = []  # never reached it within the time limit
        self.short: list[Row] = []  # nor at any tolerance
        self.absent: dict[str, int] = {}

    def add(self, row: Row, run: dict) -> None:
        mine = row["runs"][OURS]
        if run["ended"] == "over":
            self.over.append(row)
            if mine["ended"] == "yes":
                self.at_limit.append(row["limit"] / mine["seconds"])
        elif run["ended"] != "yes":
            self.short.append(row)
        else:
            seconds = mine["seconds"] if mine["ended"] == "yes" else row["on"]["limit"]
            self.ratios.append((run["seconds"] / seconds, row))

    @property
    def values(self) -> list[float]:
        return [value for value, _ in self.ratios]

    @property
    def mean(self) -> float:
        return geometric_mean(self.values)

    @property
    def least_mean(self) -> float:
        return geometric_mean(self.values + self.at_limit)

    @property
    def worst(self) -> float:
        return min(self.values, default=float("nan"))

    def cells(self) -> tuple[str, ...]:
        never = (str(len(self.over)), str(len(self.short)))
        if not self.ratios:
            return (self.title, "0", "-", f"{self.least_mean:.2f}" if self.at_limit else "-", "-", "-", "-", *never)
        worst, where = min(self.ratios, key=lambda pair: pair[0])
        below = sum(value < 1.0 for value in self.values) / len(self.values)
        return (
            self.title, str(len(self.ratios)), f"{self.mean:.2f}", f"{self.least_mean:.2f}", f"{100 * below:.0f} %",
            f"{worst:.2g}", name_of(where), *never,
        )  # fmt: skip


class Evaluation:
    """Summary of the rows that were measured under the same conditions."""

    def __init__(self, header: dict, rows: list[Row]):
        self.header, self.all_rows = header, rows
        self.rows = [row for row in rows if "runs" in row]
        self.linear_svc, *svc_by_size = self._of("LinearSVC, both losses", LINEAR_SVC)
        self.train, *train_by_size = self._of("liblinear-official, the fastest number", TRAIN)
        self.together = [self.linear_svc, *svc_by_size, self.train, *train_by_size]
        self.peers: dict[str, Peer] = {}
        for row in self.rows:
            for tool, run in row["runs"].items():
                if tool != OURS:
                    self._peer(row, tool).add(row, run)
            for tool, why in row["absent"].items():
                absent = self._peer(row, tool).absent
                absent[why] = absent.get(why, 0) + 1

    def _peer(self, row: Row, tool: str) -> Peer:
        title = f"{tool}: {row['solver']}"
        return self.peers.setdefault(title, Peer(title))

    def _of(self, title: str, prefix: str) -> list[Peer]:
        """The fastest of a peer's tools in each pair: over all sets, large, middle and small ones."""
        large, middle = bars.ALL_SETS_LARGE, bars.ALL_SETS_MIDDLE
        sizes = {
            "": (0.0, float("inf")), f", files from {large:g} MB": (large, float("inf")),
            f", {middle:g} to {large:g} MB": (middle, large), f", under {middle:g} MB": (0.0, middle),
        }  # fmt: skip
        found = []
        for words, (low, high) in sizes.items():
            peer = Peer(title + words)
            for row in self.rows:
                runs = [run for tool, run in row["runs"].items() if tool.startswith(prefix)]
                if runs and low <= row["mb"] < high:
                    peer.add(row, min(runs, key=_rank))
            found.append(peer)
        return found

    def bars(self) -> list[tuple[str, float, str, float]]:
        """Text, value, relation and limit of each."""
        gap = f"to a gap of {bars.PYTHON_GAP:g}"
        return [
            (f"LinearSVC / ours {gap}, at least", self.linear_svc.least_mean, ">=", bars.PYTHON_LINEAR_SVC_MEAN),
            (f"LinearSVC / ours {gap}, worst", self.linear_svc.worst, ">=", bars.PYTHON_LINEAR_SVC_EACH),
            (f"liblinear-official / ours {gap}, at least", self.train.least_mean, ">=", bars.PYTHON_TRAIN_MEAN),
        ]

    def text(self) -> str:
        """All of it in Markdown."""
        on, dates = self.header["on"], sorted({row["date"] for row in self.all_rows})
        peers = ", ".join(f"{name} {version}" for name, version in on["peers"].items())
        words = [
            f"{len(self.all_rows)} of {self.header['pairs']} pairs of a set and a problem, in random order, measured "
            f"on {' and '.join(dates) or 'no day'}: {on['processor']}, {on['cores']} cores; {peers}. Figures are the "
            f"peer's time over ours, to an objective within {bars.PYTHON_GAP:g} of the certified minimum; a fit may "
            f"take {bars.PYTHON_TIMES_OURS:g} times as long as ours, {on['limit']:g} s at most."
        ]  # fmt: skip
        ours = [row for row in self.rows if row["runs"][OURS]["ended"] != "yes"]
        wrong = [row for row in self.rows if any(run["ended"] == "wrong" for run in row["runs"].values())]
        failed: dict[str, list[Row]] = {}
        for row in self.rows:
            for tool, run in row["runs"].items():
                if run["ended"] == "failed":
                    failed.setdefault(f"{tool} fails ({run['words']})", []).append(row)
        words += _sentence("Ours does not reach it and counts with the limit", ours)
        words += _sentence("An objective below our certified bound", wrong)
        words += [sentence for what, rows in failed.items() for sentence in _sentence(what, rows)]
        words += _sentence("Left out", [row for row in self.all_rows if "left_out" in row])
        words += _sentence("Could not be measured", [row for row in self.all_rows if "failed" in row])
        for peer in self.peers.values():
            words += [f"{peer.title} left out of {count} pairs: {why}." for why, count in peer.absent.items()]
        head = (
            "peer's time / ours", "pairs", "geometric mean", "with those over the limit, at least", "below 1", "worst",
            "its pair", "over the time limit", "never reached it",
        )  # fmt: skip
        peers_in_order = sorted(self.peers.values(), key=lambda peer: peer.title)
        lines = [head, ("---",) * len(head), *(peer.cells() for peer in [*self.together, *peers_in_order])]
        table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
        return "\n\n".join([" ".join(words), table, f"The sets: {', '.join(self.header['sets'])}."])


def _rank(run: dict) -> tuple[bool, bool, float]:
    """Runs that reached the objective come first, by their seconds."""
    return run["ended"] != "yes", run["ended"] != "over", run["seconds"]


def _sentence(what: str, rows: Iterable[Row]) -> list[str]:
    rows = list(rows)
    named = "; ".join(name_of(row) for row in rows[:NAMED]) + ("; ..." if len(rows) > NAMED else "")
    return [f"{what}: {len(rows)} ({named})."] if rows else []
