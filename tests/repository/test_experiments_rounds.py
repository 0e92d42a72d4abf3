"""When cells of experiments are measured again, and what then decides."""

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


def test_clear_findings_are_not_measured_again():
    for own, other in ((1.0, 1.4), (1.4, 1.0)):
        found = rounds.with_repeats(race, pair(own, other), lambda cells: pytest.fail("measured again"))
        assert found == race(pair(own, other))


def test_unclear_findings_are_measured_again_and_medians_decide():
    asked = []

    def run(cells):
        asked.append([c.run for c in cells])
        return [outcome(c, {"ours": 1.0, "peer": 2.0 * c.run}[c.tool]) for c in cells]

    found = rounds.with_repeats(race, pair(1.3, 1.2), run)
    assert asked == [[2, 2], [3, 3]] and found.measured == "1 against 4" and found.holds == "yes"


def test_slow_and_failed_runs_are_not_repeated_and_the_verdict_is_that_of_the_medians():
    slow = rounds.SHORT + 1.0
    asked = []

    def run(cells):
        asked.extend(c.tool for c in cells)
        return [outcome(c, 0.0, "failed") for c in cells]

    found = rounds.with_repeats(race, pair(slow, slow), run)
    assert not asked and found.holds == "yes"
    found = rounds.with_repeats(race, pair(1.0, 1.01), run)
    assert asked == ["ours", "peer"] * 2 and found.holds == "yes" and found.measured == "1 against 1.01"


def test_noise_is_that_of_our_times_and_their_traces():
    own, peer = pair(2.0, 3.0)
    own.steps[0]["trace"], own.cut = [[1.0, 9.0], [2.0, 8.0]], {"step": 1.0, "seconds": 4.0}
    slower = rounds.noisy(own, 1.5)
    assert slower.steps[0]["seconds"] == 3.0 and slower.steps[0]["trace"] == [[1.5, 9.0], [3.0, 8.0]]
    assert slower.cut == {"step": 1.0, "seconds": 6.0} and rounds.noisy(peer, 1.5) == peer


def test_unmeasured_findings_stay_unmeasured():
    nothing = lambda outcomes: Finding("", "not measured")  # noqa: E731
    assert rounds.with_repeats(nothing, pair(1.0, 1.0), lambda cells: pytest.fail("run")).holds == "not measured"


def test_the_run_of_median_time_stands_for_all_rounds():
    found = rounds.combined([outcome(CELLS[0], t, objective=f) for t, f in ((3.0, 5.0), (1.0, 9.0), (2.0, 1.0))])
    assert found.steps == [{"step": 0.1, "seconds": 2.0, "objective": 1.0}]
