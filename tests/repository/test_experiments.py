"""The framework of the papers' experiments: evaluator, runner, evaluation of outcomes, report."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from experiments import certify, report, sets, studies
from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import slope, verdict
from experiments.problem import Problem
from experiments.races import Race, error, leasts, seconds_within
from experiments.runner import Runner

SMALL = Data("breast_cancer", rows=60, unit=True, bias=True)
EXPERIMENTS = studies.all_of_them()
VERSIONS: dict[str, str] = {}  # of the tools, which all runners here ask for once


@pytest.fixture
def runner(tmp_path):
    """A runner on the repository's sets, without packages for peers."""
    lacking = tmp_path / "python"
    lacking.write_text("#!/bin/sh\nexit 1\n")
    lacking.chmod(0o755)
    made = Runner([REPOSITORY / "data"], tmp_path, str(lacking))
    made.versions = VERSIONS
    return made


def slow_loss(name: str, m: float, p: float) -> float:
    if name.endswith("logistic"):
        return math.log(1.0 + math.exp(-m))
    if name == "least":
        return (1.0 - m) ** 2
    return max(0.0, 1.0 - m) ** {"hinge": 1, "squared": 2, "power": p}[name.removeprefix("l1-")]


@pytest.mark.parametrize("name", ["hinge", "squared", "power", "logistic", "least", "l1-squared", "l1-logistic"])
def test_certify_agrees_with_a_loop_over_rows(name):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 4)), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    w, b, C, p = rng.normal(size=4), 0.3, 0.7, 1.4
    losses = sum(slow_loss(name, y[i] * (sum(X[i, j] * w[j] for j in range(4)) + b), p) for i in range(20))
    norm = sum(abs(v) for v in w) if name.startswith("l1-") else 0.5 * sum(v * v for v in w)
    found = certify.objective(name, scipy.sparse.csr_matrix(X), y, w, b, C, p)
    assert found == pytest.approx(norm + C * losses, rel=1e-12)


def test_certify_of_kernel_answers_agrees_with_loops():
    rng = np.random.default_rng(4)
    X, S = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    y, a, b, gamma, C = np.where(rng.random(9) < 0.5, -1.0, 1.0), rng.normal(size=5), -0.2, 0.4, 2.0
    k = lambda u, v: math.exp(-gamma * sum((u - v) ** 2))  # noqa: E731
    norm = sum(a[i] * a[j] * k(S[i], S[j]) for i in range(5) for j in range(5))
    f = [sum(a[j] * k(x, S[j]) for j in range(5)) + b for x in X]
    expected = 0.5 * norm + C * sum(max(0.0, 1.0 - t * v) for t, v in zip(y, f, strict=True))
    args = scipy.sparse.csr_matrix(S), a, gamma, scipy.sparse.csr_matrix(X)
    assert certify.kernel_objective(*args, y, b, C) == pytest.approx(expected, rel=1e-12)
    assert certify.kernel_values(*args, size=10) + b == pytest.approx(f, rel=1e-12)


def test_a_finished_cell_is_not_run_again_and_a_new_one_is(runner, monkeypatch):
    cell = Cell("ours", "-s 40", SMALL, "squared", {"C": 0.5})
    first = runner.run(cell)
    assert first.ended == "done" and first.last["gap"] <= 1e-6
    monkeypatch.setattr(runner, "_child", lambda *a: pytest.fail("run again"))
    assert runner.run(cell).steps == first.steps
    monkeypatch.setattr(runner, "_child", lambda cell, data: Outcome(cell, [], "done", "new"))
    assert runner.run(Cell("ours", "-s 40", SMALL, "squared", {"C": 0.6})).words == "new"
    runner._codes["ours"] = "another version of the code"
    assert runner.run(cell).words == "new"


def test_steps_over_costs_and_rows_are_separate_problems(runner):
    over_costs = runner.run(Cell("ours", "-s 40", SMALL, "squared", {"tolerance": 1e-8}, (0.1, 1.0), "C", folds=3))
    over_rows = runner.run(Cell("ours", "-s 40", SMALL, "squared", {"tolerance": 1e-8, "C": 0.1}, (20, 60), "rows"))
    assert [s["gap"] <= 1e-8 for s in over_costs.steps + over_rows.steps] == [True] * 4
    low, high = over_costs.steps
    assert low["objective"] < high["objective"] and low["validated"] > 0.8
    assert (
        over_rows.steps[0]["objective"] < over_rows.steps[1]["objective"] == pytest.approx(low["objective"], rel=1e-6)
    )
    least = leasts([over_costs, over_rows])
    assert len(least) == 4 and all(error(over_rows.cell, s, least) == 0.0 for s in over_rows.steps)


def test_a_cell_over_time_is_cut_and_keeps_its_steps(runner):
    steps = tuple(10.0 ** -(k % 8) for k in range(10_000))
    outcome = runner.run(Cell("ours", "-s 40", SMALL, "squared", steps=steps, seconds=0.4))
    assert outcome.ended == "over time" and 0 < len(outcome.steps) < len(steps)
    assert all("objective" in s for s in outcome.steps)


def test_a_cell_over_memory_or_at_fault_says_so(runner):
    assert runner.run(Cell("ours", "-s 40", SMALL, megabytes=1)).ended == "out of memory"
    failed = runner.run(Cell("ours", "-s 40", SMALL, settings={"no_such_setting": 1}))
    assert failed.ended == "failed" and "no_such_setting" in failed.words


def test_absent_tools_and_data_are_reported(runner):
    tool = runner.run(Cell("vw", "hinge", SMALL))
    assert tool.ended == "absent" and "vw" in tool.words
    data = runner.run(Cell("ours", "-s 40", Data("no_such_set")))
    assert data.ended == "absent" and "no_such_set" in data.words


def test_rows_held_out_are_not_trained_on(tmp_path):
    rows = [f"{1 if k % 2 else k % 4} 1:{k} 2:1" for k in range(1, 41)]
    (tmp_path / "set").write_text("\n".join(rows) + "\n")
    with np.load(sets.prepared(Data("set", test=0.25, bias=True), [tmp_path], tmp_path / "made")) as made:
        parts = {name: made[name] for name in made.files}
    inside, outside = parts["X_values"].reshape(30, 3), parts["T_values"].reshape(10, 3)
    assert sorted([*inside[:, 0], *outside[:, 0]]) == list(range(1, 41)) and np.all(inside[:, 2] == 1.0)
    assert [1.0 if k % 2 else -1.0 for k in inside[:, 0]] == parts["y"].tolist()  # the class with most rows
    problem = Problem(scipy.sparse.csr_matrix(inside), parts["y"], None, parts["t"], 1.0, 1)
    some, more = (set(problem.first(n).X[:, [0]].toarray().ravel()) for n in (5, 12))
    assert len(some) == 5 and some < more


def test_races_hold_each_tool_against_its_own_problem():
    ours, peer, other = (
        Outcome(Cell("tool", "m", data, "hinge"), [{"step": k, **s} for k, s in enumerate(steps)], "done")
        for data, steps in (
            (SMALL, [{"seconds": 1.0, "objective": 110.0}, {"seconds": 2.0, "objective": 100.5}]),
            (SMALL, [{"seconds": 3.0, "objective": 100.0}]),
            (Data("free"), [{"seconds": 0.5, "objective": 80.0}]),
        )
    )
    least = leasts([ours, peer, other])
    assert [seconds_within(o, least, 0.01) for o in (ours, peer, other)] == [2.0, 3.0, 0.5]
    assert seconds_within(ours, least, 0.001) == math.inf
    race = Race()
    race.add("here", {"ours": 2.0}, {"peer": 3.0, "slow": 9.0})
    race.add("there", {"ours": 2.0}, {"peer": 1.0})
    race.add("alone", {"ours": 2.0}, {})
    race.add("nowhere", {"ours": math.inf}, {"peer": math.inf})
    assert race.holds == "partly" and race.ratios == [1.5, 0.5] and "there (peer 1 s, ours 2 s)" in race.why


def test_slopes_and_verdicts():
    assert slope([(10, 3.0), (100, 30.0), (1000, 300.0)]) == pytest.approx(1.0)
    assert math.isnan(slope([(10, 3.0)]))
    assert [verdict(c) for c in ([], [True], [False], [True, False])] == ["not measured", "yes", "no", "partly"]


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_experiment_is_sound_and_says_when_nothing_was_measured(name):
    e = EXPERIMENTS[name]
    assert e.claim and e.printed and e.source
    for quick in (True, False):
        cells = e.cells(quick)
        assert cells and all(json.loads(json.dumps(c.order())) for c in cells)
    quick = e.cells(True)
    assert all((REPOSITORY / "data" / c.data.name).is_file() for c in quick)
    for ended in ("absent", "over time"):
        assert e.conclude([Outcome(c, [], ended) for c in quick]).holds == "not measured"


def test_the_report_holds_what_was_found():
    e = Experiment("some-table", "A 2000, Table 1", "a | b", "1 s", lambda quick: [], lambda outcomes: Finding("", ""))
    f = Finding("2 < 3", "partly", [Dataset("T", ["set", "s"], [["x", 0.012345], ["y", "over 5"]])],
                [Plot("P", "n", "s", {"curve": [(1, 1), (10, 5)], "empty": []})], "the tail")  # fmt: skip
    text = report.markdown({"date": "2000-01-01"}, [(e, f)])
    assert "| [some-table](#some-table) | A 2000, Table 1: a \\| b | 1 s | 2 < 3 | partly |" in text
    assert "| x | 0.0123 |" in text and "What limits it: the tail" in text and "2000-01-01" in text
    page = report.page({"date": "2000-01-01"}, [(e, f)])
    assert "2 &lt; 3" in page and page.endswith("</html>\n") and ("<svg" in page or "matplotlib" in page)


def test_the_command_runs_an_experiment_and_writes_whole_files(tmp_path):
    summary = tmp_path / "summary.md"
    argv = [sys.executable, REPOSITORY / "scripts" / "experiments", "--only", "alm-table3", "--quick"]
    argv += ["--results", tmp_path, "--data", REPOSITORY / "data", "--summary", summary]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "alm-table3" in summary.read_text() and (tmp_path / "index.html").read_text().endswith("</html>\n")
    assert not [f for f in tmp_path.rglob("*") if "partial" in f.name]
    wrong = subprocess.run([*argv, "--only", "nothing"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1 and "no such experiment: nothing" in wrong.stderr
