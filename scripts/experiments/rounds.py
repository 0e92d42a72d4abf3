"""Repeated measurements: where the noise of the times could change a verdict, short cells are measured again.

Times on one machine differ from hour to hour.  If a verdict changes when all times of svmtool are longer or shorter by
NOISE, the runs of median time out of ROUNDS decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from experiments.declare import Cell, Finding, Outcome
from experiments.runner import OURS

ROUNDS = 3
SHORT = 3.0  # cells are repeated if their steps take at most this many seconds in total
NOISE = 1.3  # the median factor between two measurements of 342 cells, an hour apart on a shared machine


def with_repeats(
    conclude: Callable[[list[Outcome]], Finding], first: list[Outcome], run: Callable[[list[Cell]], list[Outcome]]
) -> Finding:
    """The finding of the first round, or of the medians of all rounds if noise could change its verdict.

    run: gives the outcomes of further cells.
    """
    finding = conclude(first)
    if all(conclude([noisy(o, factor) for o in first]).holds == finding.holds for factor in (NOISE, 1.0 / NOISE)):
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
