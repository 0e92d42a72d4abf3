"""Evaluation shared by studies: optima, times to an accuracy, means, slopes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from experiments.declare import Data, Outcome

LINEAR, CONSTANT = 1.25, 0.25  # log-log slopes up to which a time counts as linear, or constant, in the rows


def optimum(outcomes: Iterable[Outcome]) -> float:
    """The least objective that any of them reached on their common problem; nan if none did."""
    values = [step["objective"] for o in outcomes for step in o.steps if "objective" in step]
    return min(values, default=math.nan)


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


def by_name(outcomes: Sequence[Outcome], names: Sequence[str]) -> list[dict[str, Outcome]]:
    """Outcomes in groups of the given names: those of one problem, by name."""
    size = len(names)
    return [dict(zip(names, outcomes[at : at + size], strict=True)) for at in range(0, len(outcomes), size)]


def seconds(outcome: Outcome) -> float:
    """Seconds of its last step; inf if it did not end."""
    return outcome.last["seconds"] if outcome.ended == "done" and outcome.last else math.inf


def fact(outcome: Outcome, name: str) -> float:
    """Accuracy of its last step; nan if it did not end."""
    return outcome.last.get(name, math.nan) if outcome.ended == "done" and outcome.last else math.nan


def ratios(over: Sequence[Outcome], under: Sequence[Outcome]) -> list[float]:
    """Ratios of seconds, for problems on which both ended."""
    pairs = [(seconds(a), seconds(b)) for a, b in zip(over, under, strict=True)]
    return [a / b for a, b in pairs if math.isfinite(a) and math.isfinite(b)]


def verdict(checks: Sequence[bool]) -> str:
    """Whether a claim holds in all, some or none of the checks."""
    if not checks:
        return "not measured"
    return "yes" if all(checks) else "partly" if any(checks) else "no"


def points(outcome: Outcome, x: str, y: str) -> list[tuple[float, float]]:
    """(x, y) of its steps for a curve, without steps that have no x or y."""
    return [(s[x], s[y]) for s in outcome.steps if x in s and y in s]


def longest_over_shortest(times: Sequence[float]) -> float:
    """The ratio; inf if one is not finite, nan without times."""
    return math.nan if not times else max(times) / min(times) if math.isfinite(max(times)) else math.inf


def named(data: Data, stands: dict[str, str]) -> str:
    """The name of a set in a table, with that of the paper's set for which it stands."""
    return f"{data} for {stands[data.name]}" if data.name in stands else str(data)


def joined(words: Sequence[str]) -> str:
    """Sentences about sets as one text."""
    return "; ".join(words) + "." if words else "Nothing ended."
