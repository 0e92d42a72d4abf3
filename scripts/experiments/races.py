"""Shared by studies of training times: which tool is the first to come near the optimum.

Tools that solve different problems (a free or a regularised bias) are each compared with the least objective of their
own problem.  A paper's algorithm runs once, to its own end: if that is near the optimum, its trace says when it came
there.  Other tools run at several tolerances, of which the fastest near the optimum counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from experiments.declare import Cell, Data, Outcome
from experiments.measures import geometric_mean, shown, verdict

SHARE = 0.01  # of the least objective: near
FIRST = 2  # place up to which a tool is "one of the fastest"


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


def linear_set(name: str, bias: bool = True, **more: Any) -> Data:
    """A set for linear tools: features up to 1 in size, except text, whose rows have length 1."""
    return Data(name, bias=bias, unit=not name.startswith("imdb"), **more)
