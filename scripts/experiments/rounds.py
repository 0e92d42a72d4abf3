"""Confidence of verdicts: cells are measured in rounds, and verdicts are repeated under the remaining noise.

Times on one machine differ from hour to hour.  A verdict that depends on this noise must not be reported as certain:
`verdicts` gives all that are possible under the noise.  Where there are several, quick cells are measured again, which
reduces the noise, and the verdicts still possible are reported, as in "partly to yes".
"""

from __future__ import annotations

import collections
import dataclasses
import math
import random
import statistics
from collections.abc import Callable, Sequence

from experiments.declare import Cell, Finding, Outcome

ROUNDS = 3
SHORT = 3.0  # cells are repeated if their steps take at most this many seconds in total
# Standard deviations of the logarithm of a time: common to all steps of a cell, and of each step in addition.
# From 2,000 steps of 342 cells that were measured twice, an hour apart, on a shared machine (the differences' median
# absolute deviations, 0.26 and 0.12, over the square root of 2).
OF_A_CELL, OF_A_STEP = 0.18, 0.09
DRAWS = 200  # of the noise
SELDOM = 0.05  # share of the draws below which a verdict is left out
ORDER = ("no", "partly", "yes")
SEED = 20


def with_repeats(
    conclude: Callable[[list[Outcome]], Finding], first: list[Outcome], run: Callable[[list[Cell]], list[Outcome]]
) -> Finding:
    """The result of the first round, or of all rounds if noise could change its verdict.

    run: gives the outcomes of further cells.
    """
    finding = conclude(first)
    if finding.holds not in ORDER:
        return finding
    possible = verdicts(conclude, first, [1] * len(first))
    if len(possible) > 1:
        groups, short = [[o] for o in first], [k for k, o in enumerate(first) if is_short(o)]
        for r in range(1, ROUNDS):
            again = [dataclasses.replace(first[k].cell, run=first[k].cell.run + r) for k in short]
            for k, outcome in zip(short, run(again), strict=True):
                groups[k] += [outcome] if outcome.ended == "done" else []
        outcomes = [combined(group) for group in groups]
        finding = conclude(outcomes)
        possible = verdicts(conclude, outcomes, [len(group) for group in groups])
    return dataclasses.replace(finding, holds=" to ".join(possible))


def is_short(outcome: Outcome) -> bool:
    """Whether a cell is repeated; further rounds have other seeds."""
    return outcome.ended == "done" and sum(step["seconds"] for step in outcome.steps) <= SHORT


def combined(rounds: Sequence[Outcome]) -> Outcome:
    """Combine outcomes of several rounds: medians of the numbers that all of them have for a step."""
    steps = []
    for same in zip(*(o.steps for o in rounds), strict=True):
        steps.append(dict(same[0]))
        for name in same[0].keys() - {"step"}:
            values = [step.get(name) for step in same]
            if all(isinstance(v, (int, float)) for v in values):
                steps[-1][name] = statistics.median_low(values)
    return dataclasses.replace(rounds[0], steps=steps)


def noisy(outcome: Outcome, rounds: int, generator: random.Random) -> Outcome:
    """A random outcome under the noise of a median of this many rounds."""
    of_cell, of_step = (sd / math.sqrt(rounds) for sd in (OF_A_CELL, OF_A_STEP))
    common = generator.gauss(0.0, of_cell)
    steps = [{**s, "seconds": s["seconds"] * math.exp(common + generator.gauss(0.0, of_step))} for s in outcome.steps]
    return dataclasses.replace(outcome, steps=steps)


def verdicts(
    conclude: Callable[[list[Outcome]], Finding], outcomes: Sequence[Outcome], rounds: Sequence[int]
) -> list[str]:
    """The possible verdicts under the noise of the times, from the worst for the claim to the best.

    outcomes, rounds: each cell's outcome, and its number of rounds.
    """
    generator = random.Random(SEED)
    counts = collections.Counter(
        conclude([noisy(o, k, generator) for o, k in zip(outcomes, rounds, strict=True)]).holds for _ in range(DRAWS)
    )
    often = [v for v, n in counts.items() if n >= SELDOM * DRAWS]
    return sorted(often, key=lambda v: ORDER.index(v) if v in ORDER else -1)
