"""Evaluation shared by studies: means, slopes, verdicts; which tool is the first to come near the optimum; repetitions.

Tools that solve different problems (a free or a regularised bias) are each compared with the least objective of their
own problem.  A paper's algorithm runs once, to its own end: if that is near the optimum, its trace tells when it came
there.  Other tools run at several tolerances, of which the fastest near the optimum counts.

Times on one machine differ from hour to hour.  If a verdict changes when all times of svmtool are longer or shorter by
NOISE, the runs of median time out of ROUNDS decide.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from experiments.declare import Cell, Data, Dataset, Finding, Outcome

OURS = "ours"  # svmtool itself
LINEAR, CONSTANT = 1.25, 0.25  # log-log slopes up to which a time counts as linear, or constant, in the rows
SHARE = 0.01  # of the least objective: near
FIRST = 2  # place up to which a tool is "one of the fastest"
ROUNDS = 3
SHORT = 3.0  # cells are repeated if their steps take at most this many seconds in total
NOISE = 1.3  # the median factor between two measurements of 342 cells, an hour apart on a shared machine


def groups(outcomes: Sequence[Outcome]) -> list[dict[str, Outcome]]:
    """Outcomes of one problem, by label: a label that comes again begins the next problem."""
    found: list[dict[str, Outcome]] = []
    for o in outcomes:
        if not found or o.cell.label in found[-1]:
            found.append({})
        found[-1][o.cell.label] = o
    return found


def geometric_mean(values: Sequence[float]) -> float:
    """Mean; nan without values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of log y over log x by least squares; nan for fewer than two points."""
    if len(points) < 2:
        return math.nan
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    squares = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / squares if squares else math.nan


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


def verdict(checks: Sequence[bool]) -> str:
    """Whether a claim holds in all, some or none of the checks."""
    if not checks:
        return "not measured"
    return "yes" if all(checks) else "partly" if any(checks) else "no"


def longest_over_shortest(times: Sequence[float]) -> float:
    """The ratio; inf if one is not finite, nan without times."""
    return math.nan if not times else max(times) / min(times) if math.isfinite(max(times)) else math.inf


def named(data: Data, stands: dict[str, str]) -> str:
    """The name of a set in a table, with that of the paper's set for which it stands."""
    return f"{data} for {stands[data.name]}" if data.name in stands else str(data)


def joined(words: Sequence[str], nothing: str = "Nothing ended.") -> str:
    """Sentences about sets as one text."""
    return "; ".join(words) + "." if words else nothing


def times(outcomes: Sequence[Outcome], title: str, stands: dict[str, str] | None = None) -> Dataset:
    """A table of the seconds of all tools, a row for each problem."""
    rows = groups(outcomes)
    names = [named(next(iter(row.values())).cell.data, stands or {}) for row in rows]
    lines = [[name, *(shown(o, o.seconds) for o in row.values())] for name, row in zip(names, rows, strict=True)]
    return Dataset(title, ["set", *rows[0]], lines)


def accuracies(outcomes: Sequence[Outcome]) -> Dataset:
    """A table of the accuracies of all tools on test rows."""
    found = [list(row.values()) for row in groups(outcomes)]
    lines = [[str(row[0].cell.data), *(100 * o.fact("accuracy") for o in row)] for row in found]
    return Dataset("Accuracy in percent", ["set", *(o.cell.label for o in found[0])], lines)


def by_sizes(outcomes: Sequence[Outcome], title: str, head: str) -> Dataset:
    """A table of the seconds of all numbers of rows, with their log-log slope."""
    sizes = [f"{m:,} rows" for m in outcomes[0].cell.steps[:-1]] + ["all rows"]
    found = [(o, dict(o.points("seconds"))) for o in outcomes]
    rows = [[str(o.cell.data), o.cell.label, *(curve.get(m, o.ended) for m in o.cell.steps), slope([*curve.items()])]
            for o, curve in found]  # fmt: skip
    return Dataset(title, ["set", head, *sizes, "slope"], rows)


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


class Race:
    """The paper's times and those of all others on the same problem, collected over problems.

    places: of the paper's algorithm, 1 for the fastest, on each problem; of: the number of tools there; ratios: the
    best peer's seconds over the paper's, where both reached it; lost: where it was not the fastest.
    """

    def __init__(self) -> None:
        self.places: list[float] = []
        self.ratios: list[float] = []
        self.lost: list[str] = []

    def add(self, where: str, own: float, peers: dict[str, float]) -> None:
        """Seconds, inf if not reached; nothing counts without a peer that was measured."""
        best = min(peers.values(), default=math.inf)
        if not peers or math.isinf(own) and math.isinf(best):
            return
        self.places.append(1 + sum(t < own for t in peers.values()) if math.isfinite(own) else math.inf)
        if math.isfinite(own) and math.isfinite(best):
            self.ratios.append(best / own)
        if best < own:
            times = f"{min(peers, key=peers.__getitem__)} {best:.3g} s, the paper's {own:.3g} s"
            self.lost.append(f"{where} ({times if own < math.inf else 'the paper does not reach it'})")

    @property
    def holds(self) -> str:
        return verdict([place <= FIRST for place in self.places])

    def words(self, name: str) -> str:
        if not self.places:
            return "No tool to compare with was measured."
        first, near, ended = (sum(place <= limit for place in self.places) for limit in (1, FIRST, math.inf))
        ended = sum(place < math.inf for place in self.places)
        text = f"{name} reaches 1% on {ended} of {len(self.places)} sets, as the first on {first}, as the first or "
        text += f"second on {near}"
        if not self.ratios:
            return text + "."
        mean, least = geometric_mean(self.ratios), min(self.ratios)
        return f"{text}; there the fastest peer takes {mean:.3g} times as long in geometric mean, {least:.3g} at least."

    @property
    def why(self) -> str:
        return f"a peer is faster on {'; '.join(self.lost)}" if self.lost else ""


def with_repeats(
    conclude: Callable[[list[Outcome]], Finding], first: list[Outcome], run: Callable[[list[Cell]], list[Outcome]]
) -> Finding:
    """The finding of the first round, or of the medians of all rounds if noise could change its verdict.

    run: gives the outcomes of further cells.
    """
    finding = conclude(first)
    if all(conclude([noisy(o, x) for o in first]).holds == finding.holds for x in (NOISE, 1.0 / NOISE)):
        return finding
    groups, short = [[o] for o in first], [k for k, o in enumerate(first) if is_short(o)]
    for r in range(1, ROUNDS):
        again = [dataclasses.replace(first[k].cell, run=first[k].cell.run + r) for k in short]
        for k, outcome in zip(short, run(again), strict=True):
            groups[k] += [outcome] if outcome.ended == "done" else []
    return conclude([combined(group) for group in groups])


def is_short(outcome: Outcome) -> bool:
    """Whether a cell is repeated; further rounds have other seeds."""
    return outcome.ended == "done" and sum(step["seconds"] for step in outcome.steps) <= SHORT


def combined(rounds: Sequence[Outcome]) -> Outcome:
    """Combine outcomes of several rounds: of each step the run of median time."""
    same = zip(*(o.steps for o in rounds), strict=True)
    steps = [sorted(runs, key=lambda step: step["seconds"])[len(runs) // 2] for runs in same]
    return dataclasses.replace(rounds[0], steps=steps)


def noisy(outcome: Outcome, factor: float) -> Outcome:
    """The outcome with other times, if it is of svmtool."""
    if outcome.cell.tool != OURS:
        return outcome
    steps = [{**step, "seconds": factor * step["seconds"]} for step in outcome.weights]
    for step in steps:
        if "trace" in step:
            step["trace"] = [[factor * seconds, objective] for seconds, objective in step["trace"]]
    cut = steps.pop() if outcome.cut else None
    return dataclasses.replace(outcome, steps=steps, cut=cut)
