"""Shared by studies of training times: which tool is the first to come near the optimum.

Tools that solve different problems (a free or a regularised bias) are each compared with the least objective of their
own problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from experiments.declare import Cell, Data, Outcome
from experiments.measures import geometric_mean, verdict


def problem_of(cell: Cell, step: Any = None) -> tuple:
    """The key of a problem; `step` is included if it belongs to the problem."""
    settings = {"C": 1.0, "loss_power": 2.0, **cell.settings, **({cell.vary: step} if cell.vary else {})}
    power = settings["loss_power"] if cell.objective == "power" else None
    return cell.data, cell.objective, settings["C"], power, settings.get("rows")


def leasts(outcomes: Iterable[Outcome]) -> dict[tuple, float]:
    """The least objective that any of them reached, by problem."""
    found: dict[tuple, float] = {}
    for o in outcomes:
        for step in o.steps:
            problem = problem_of(o.cell, step["step"])
            found[problem] = min(found.get(problem, math.inf), step.get("objective", math.inf))
    return found


def error(cell: Cell, step: dict[str, Any], least: dict[tuple, float]) -> float:
    """(P - P*) / P* of a step that ended."""
    best = least[problem_of(cell, step["step"])]
    return (step.get("objective", math.inf) - best) / abs(best)


def seconds_within(outcome: Outcome, least: dict[tuple, float], share: float) -> float:
    """Time of its fastest step within `share` of the least objective; inf if there is none."""
    near = (s["seconds"] for s in outcome.steps if error(outcome.cell, s, least) <= share)
    return min(near, default=math.inf)


class Race:
    """Our times and the best peers' times on the same problem, collected over problems.

    ratios: the best peer's seconds over ours, where both reached it; won: whether ours was first; lost: where not.
    """

    def __init__(self) -> None:
        self.ratios: list[float] = []
        self.won: list[bool] = []
        self.lost: list[str] = []

    def add(self, where: str, ours: dict[str, float], peers: dict[str, float]) -> bool:
        """Seconds by name, inf if not reached, and whether no peer was faster than ours."""
        own, best = min(ours.values(), default=math.inf), min(peers.values(), default=math.inf)
        if not peers or math.isinf(own) and math.isinf(best):
            return True
        self.won.append(own <= best)
        if math.isfinite(own) and math.isfinite(best):
            self.ratios.append(best / own)
        if best < own:
            times = f"{min(peers, key=peers.__getitem__)} {best:.3g} s, ours {own:.3g} s"
            self.lost.append(f"{where} ({times if own < math.inf else 'ours does not reach it'})")
        return own <= best

    @property
    def holds(self) -> str:
        return verdict(self.won)

    def words(self, name: str) -> str:
        if not self.won:
            return "No tool to compare with was measured."
        text = f"{name} is the fastest on {sum(self.won)} of {len(self.won)}"
        if not self.ratios:
            return text + "."
        mean, least = geometric_mean(self.ratios), min(self.ratios)
        return f"{text}; the fastest peer takes {mean:.3g} times as long in geometric mean, {least:.3g} times at least."

    @property
    def why(self) -> str:
        return f"the fastest peer is faster on {'; '.join(self.lost)}" if self.lost else ""


def linear_set(name: str, bias: bool = True, **more: Any) -> Data:
    """A set for linear tools: features up to 1 in size, except text, whose rows have length 1."""
    return Data(name, bias=bias, unit=not name.startswith("imdb"), **more)
