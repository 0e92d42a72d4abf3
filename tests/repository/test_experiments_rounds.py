"""Verdicts of experiments under the noise of times, and when cells are measured again."""

from __future__ import annotations

import sys

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from experiments import rounds
from experiments.declare import Cell, Data, Finding, Outcome

CELLS = [Cell("ours", "-s 2", Data("somewhere")), Cell("peer", "quick", Data("somewhere"))]


def outcome(cell: Cell, seconds: float, ended: str = "done", **facts) -> Outcome:
    return Outcome(cell, [{"step": 0.1, "seconds": seconds, **facts}], ended)


def race(outcomes: list[Outcome]) -> Finding:
    own, other = (o.steps[0]["seconds"] for o in outcomes)
    return Finding(f"{own:g} against {other:g}", "yes" if own <= other else "no")


def pair(own: float, other: float) -> list[Outcome]:
    return [outcome(CELLS[0], own), outcome(CELLS[1], other)]


def test_noise_changes_close_verdicts_only():
    assert rounds.verdicts(race, pair(1.0, 3.0), [1, 1]) == ["yes"]
    assert rounds.verdicts(race, pair(3.0, 1.0), [1, 1]) == ["no"]
    assert rounds.verdicts(race, pair(1.0, 1.05), [1, 1]) == ["no", "yes"]


def test_rounds_lessen_the_noise():
    near = pair(1.0, 1.4)
    assert rounds.verdicts(race, near, [1, 1]) == ["no", "yes"] and rounds.verdicts(race, near, [3, 3]) == ["yes"]


def test_clear_findings_are_not_measured_again():
    found = rounds.with_repeats(race, pair(1.0, 3.0), lambda cells: pytest.fail("measured again"))
    assert found.holds == "yes"


def test_unclear_findings_are_measured_again_and_medians_decide():
    asked = []

    def run(cells):
        asked.append([c.run for c in cells])
        return [outcome(c, {"ours": 1.0, "peer": 2.0 * c.run}[c.tool]) for c in cells]

    found = rounds.with_repeats(race, pair(1.3, 1.2), run)
    assert asked == [[2, 2], [3, 3]] and found.measured == "1 against 4" and found.holds == "yes"


def test_slow_and_failed_runs_are_not_repeated_and_what_stays_open_is_reported():
    slow = rounds.SHORT + 1.0
    asked = []

    def run(cells):
        asked.extend(c.tool for c in cells)
        return [outcome(c, 0.0, "failed") for c in cells]

    found = rounds.with_repeats(race, pair(slow, slow), run)
    assert not asked and found.holds == "no to yes"
    found = rounds.with_repeats(race, pair(1.0, 1.01), run)
    assert asked == ["ours", "peer"] * 2 and found.holds == "no to yes" and found.measured == "1 against 1.01"


def test_unmeasured_findings_stay_unmeasured():
    nothing = lambda outcomes: Finding("", "not measured")  # noqa: E731
    assert rounds.with_repeats(nothing, pair(1.0, 1.0), lambda cells: pytest.fail("run")).holds == "not measured"


def test_medians_are_of_each_number_that_all_rounds_give():
    found = rounds.combined(
        [
            outcome(CELLS[0], 3.0, objective=5.0, iterations=7, words="a"),
            outcome(CELLS[0], 1.0, objective=9.0, iterations=2, words="b"),
            outcome(CELLS[0], 2.0, objective=1.0, iterations=4),
        ]
    )
    assert found.steps == [{"step": 0.1, "seconds": 2.0, "objective": 5.0, "iterations": 4, "words": "a"}]
