"""Evaluation shared by studies: means, slopes, verdicts; which tool is the first to come near the optimum.

Tools that solve different problems (a free or a regularised bias) are each compared with the least objective of their
own problem.  A paper's algorithm runs once, to its own end: if that is near the optimum, its trace tells when it came
there.  Other tools run at several tolerances, of which the fastest near the optimum counts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from experiments.declare import Cell, Dataset, Finding, Outcome

OURS = "ours"  # svmtool itself
LINEAR, CONSTANT = 1.25, 0.25  # log-log slopes up to which a time counts as linear, or constant, in the rows
SHARE = 0.01  # of the least objective: near


def groups(outcomes: Sequence[Outcome]) -> list[dict[str, Outcome]]:
    """Outcomes of one problem, by label: a label that comes again begins the next problem."""
    found: list[dict[str, Outcome]] = []
    for o in outcomes:
        if not found or o.cell.label in found[-1]:
            found.append({})
        found[-1][o.cell.label] = o
    return found


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of log y over log x by least squares; nan for fewer than two points."""
    try:
        return statistics.linear_regression(*zip(*((math.log(x), math.log(y)) for x, y in points), strict=True)).slope
    except (TypeError, ValueError):  # no points; too few, one x or infinite times
        return math.nan


def shown(outcome: Outcome, seconds: float) -> str | float:
    """A time for a table: the seconds, or the reason that there is none."""
    if math.isfinite(seconds):
        return seconds
    if outcome.ended == "over time":
        return f"over {outcome.cell.seconds:g}"
    return {"done": "not reached"}.get(outcome.ended, outcome.ended)


def ratios(over: Sequence[Outcome], under: Sequence[Outcome]) -> list[float]:
    """Ratios of seconds, for problems on which both ended."""
    pairs = [(a.seconds, b.seconds) for a, b in zip(over, under, strict=True)]
    return [a / b for a, b in pairs if math.isfinite(a) and math.isfinite(b)]


def longest_over_shortest(times: Sequence[float]) -> float:
    """The ratio; inf if one is not finite, nan without times."""
    return math.nan if not times else max(times) / min(times) if math.isfinite(max(times)) else math.inf


def quicker(a: Outcome, b: Outcome) -> bool | None:
    """Whether one took less time than another; None if unknown."""
    for first, second, answer in ((a, b, True), (b, a, False)):
        cut = second.ended == "over time" and first.seconds <= second.cell.seconds
        if first.seconds < second.seconds < math.inf or cut:
            return answer
    return None


def faster(rows: Sequence[dict[str, Outcome]], own: str, other: str) -> list[bool]:
    """Whether one tool is faster than another, on each problem where that is known."""
    return [found for row in rows if (found := quicker(row[own], row[other])) is not None]


def mean_ratio(rows: Sequence[dict[str, Outcome]], over: str, under: str) -> list[str]:
    """The geometric mean of their ratios of seconds, in words."""
    found = ratios([row[over] for row in rows], [row[under] for row in rows])
    text = f"time of {over} over that of {under}: {{:.3g}} in geometric mean, {{:.3g}} to {{:.3g}}"
    return [text.format(statistics.geometric_mean(found), min(found), max(found))] if found else []


def finding(checks: dict[str, list[bool]], figures: Sequence[str], tables: Sequence[Dataset], why: str = "") -> Finding:
    """How many checks of each name hold, and further figures in words."""
    known = {name: some for name, some in checks.items() if some}
    if not known:
        return Finding("Nothing to compare with was measured.", "not measured", list(tables))
    words = [*(f"{name}: {sum(some)} of {len(some)}" for name, some in known.items()), *figures]
    checked = [check for some in known.values() for check in some]
    holds = "yes" if all(checked) else "partly" if any(checked) else "no"
    return Finding("; ".join(words) + ".", holds, list(tables), why)


def by_sets(outcomes: Sequence[Outcome], title: str, fact: str = "seconds", scale: float = 1.0) -> Dataset:
    """A table of a fact of all tools, a row for each problem."""
    rows = groups(outcomes)

    def cell(o: Outcome) -> Any:
        return shown(o, o.seconds) if fact == "seconds" else scale * o.fact(fact)

    lines = [[str(next(iter(row.values())).cell.data), *map(cell, row.values())] for row in rows]
    return Dataset(title, ["set", *rows[0]], lines)


def slopes(outcomes: Iterable[Outcome], limits: dict[str, float], fact: str = "seconds", x: str = "rows"
           ) -> tuple[dict[str, list[bool]], list[str]]:  # fmt: skip
    """Checks of the log-log slopes of a fact by the labels' limits, and all of these slopes in words."""
    checks: dict[str, list[bool]] = {f"{label}: slope of {fact} up to {limit:g}": [] for label, limit in limits.items()}
    figures = []
    for o in outcomes:
        s = slope(o.points(fact, x))
        if math.isfinite(s):
            figures.append(f"{o.cell.data}: slope of {o.cell.label} {s:.2f}")
            if o.cell.label in limits:
                limit = limits[o.cell.label]
                checks[f"{o.cell.label}: slope of {fact} up to {limit:g}"].append(s <= limit)
    return checks, figures


def by_rows(outcomes: Iterable[Outcome], title: str, fact: str = "seconds") -> Dataset:
    """A table of a fact of all steps, with its log-log slope."""
    rows = [[str(o.cell.data), o.cell.label, ", ".join(f"{x:,}: {y:.3g}" for x, y in o.points(fact)) or o.ended,
             slope(o.points(fact))] for o in outcomes]  # fmt: skip
    return Dataset(title, ["set", "tool", fact, "slope"], rows)


def problem_of(cell: Cell, step: Any = None) -> tuple:
    """The key of a problem; `step` is included if it belongs to the problem."""
    settings = {"C": 1.0, "loss_power": 2.0, **cell.settings, **({cell.vary: step} if cell.vary else {})}
    power = settings["loss_power"] if cell.objective == "power" else None
    return cell.data, cell.objective, settings["C"], power, settings.get("rows"), settings.get("gamma")


def leasts(outcomes: Iterable[Outcome]) -> dict[tuple, float]:
    """The least objective that any of them reached, by problem."""
    found: dict[tuple, float] = {}
    for o in outcomes:
        for step in o.weights:
            problem = problem_of(o.cell, step["step"])
            found[problem] = min(found.get(problem, math.inf), step.get("objective", math.inf))
    return found


def error(cell: Cell, step: dict[str, Any], least: dict[tuple, float]) -> float:
    """(P - P*) / P* of a step that ended."""
    best = least[problem_of(cell, step["step"])]
    return (step.get("objective", math.inf) - best) / abs(best)


def seconds_of(cell: Cell, step: dict[str, Any], least: dict[tuple, float]) -> float:
    """Time after which a step is near the least objective, inf if it does not end there: by its trace, if any."""
    if not error(cell, step, least) <= SHARE:
        return math.inf
    best = least[problem_of(cell, step["step"])]
    near = (seconds for seconds, objective in step.get("trace", ()) if objective - best <= SHARE * abs(best))
    return next(near, step["seconds"])


def seconds_near(outcome: Outcome, least: dict[tuple, float]) -> float:
    """Time of its fastest step near the least objective; inf if there is none."""
    return min((seconds_of(outcome.cell, s, least) for s in outcome.weights), default=math.inf)


def reached(outcome: Outcome, least: dict[tuple, float]) -> str | float:
    """`seconds_near` for a table, or how far a run came that ended before: its distance and its own seconds."""
    seconds = seconds_near(outcome, least)
    if math.isfinite(seconds) or not outcome.weights:
        return shown(outcome, seconds)
    closest = min(outcome.weights, key=lambda s: error(outcome.cell, s, least))
    away = 100.0 * error(outcome.cell, closest, least)
    return f"not reached: {away:.2g}% above, {closest['seconds']:.3g} s"


class Near:
    """Seconds to SHARE of the least objective: of each tool (inf if not reached) on each problem.

    where: the problems, by `of` their first cell; known: the tools that were measured there.
    """

    def __init__(self, outcomes: Sequence[Outcome], title: str, head: str = "set", of: Any = lambda c: str(c.data)):
        least, rows = leasts(outcomes), groups(outcomes)
        self.where = [of(next(iter(row.values())).cell) for row in rows]
        self.times = [{name: seconds_near(o, least) for name, o in row.items()} for row in rows]
        self.known = [{name for name, o in row.items() if o.weights} for row in rows]
        lines = [[x, *(reached(o, least) for o in row.values())] for x, row in zip(self.where, rows, strict=True)]
        self.table = Dataset(title, [head, *rows[0]], lines)

    def count(self, name: str) -> str:
        return f"{name} reaches it on {sum(math.isfinite(t[name]) for t in self.times)} of {len(self.times)}"

    def range(self, name: str) -> float:
        """Its longest time over its shortest."""
        return longest_over_shortest([times[name] for times in self.times])

    def ranges(self, names: Iterable[str]) -> str:
        found = {name: self.range(name) for name in names}
        known = ", ".join(f"{name} {r:.3g}" for name, r in found.items() if math.isfinite(r)) or "none"
        return f"longest over shortest time, where all are reached: {known}"
