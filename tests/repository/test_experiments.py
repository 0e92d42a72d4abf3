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
from experiments.races import Race, error, leasts, reached, seconds_near
from experiments.runner import OURS, Runner
from svmtool import __version__, registry
from svmtool.api.settings import FURTHER
from svmtool.api.solver_choice import OPTION_OF

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
    cell = Cell("ours", "-s 2", SMALL, "squared", {"C": 0.5}, (1e-6,))
    first = runner.run(cell)
    assert first.ended == "done" and first.last["gap"] <= 1e-6
    monkeypatch.setattr(runner, "_child", lambda *a: pytest.fail("run again"))
    assert runner.run(cell).steps == first.steps
    monkeypatch.setattr(runner, "_child", lambda cell, data: Outcome(cell, [], "done", "new"))
    assert runner.run(Cell("ours", "-s 2", SMALL, "squared", {"C": 0.6})).words == "new"
    runner._codes["ours"] = "another version of the code"
    assert runner.run(cell).words == "new"


def test_steps_over_costs_and_rows_are_separate_problems(runner):
    over_costs = runner.run(Cell("ours", "-s 2", SMALL, "squared", {"tolerance": 1e-8}, (0.1, 1.0), "C", folds=3))
    over_rows = runner.run(Cell("ours", "-s 2", SMALL, "squared", {"tolerance": 1e-8, "C": 0.1}, (20, 60), "rows"))
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
    outcome = runner.run(Cell("ours", "-s 2", SMALL, "squared", steps=steps, seconds=0.4))
    assert outcome.ended == "over time" and 0 < len(outcome.steps) < len(steps)
    assert all("objective" in s for s in outcome.steps)


def test_a_cell_over_memory_or_at_fault_says_so(runner):
    assert runner.run(Cell("ours", "-s 2", SMALL, megabytes=1)).ended == "out of memory"
    failed = runner.run(Cell("ours", "-s 2", SMALL, settings={"no_such_setting": 1}))
    assert failed.ended == "failed" and "no_such_setting" in failed.words


def test_absent_tools_and_data_are_reported(runner):
    tool = runner.run(Cell("vw", "hinge", SMALL))
    assert tool.ended == "absent" and "vw" in tool.words
    data = runner.run(Cell("ours", "-s 2", Data("no_such_set")))
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


def test_a_papers_run_records_its_iterates_and_ends_before_its_limit(runner):
    done = runner.run(Cell("ours", "-s 40", SMALL, "squared"))
    trace = done.last["trace"]
    assert done.ended == "done" and trace[-1][1] == pytest.approx(done.last["objective"], rel=1e-6)
    assert trace == sorted(trace) and [f for _, f in trace[:-1]] == sorted((f for _, f in trace[:-1]), reverse=True)
    assert "trace" not in runner.run(Cell("ours", "-s 40", SMALL, "squared", {"method": "fast"}, (1e-3,))).last
    cut = runner.run(Cell("ours", "-s 40", SMALL, "squared", {"max_seconds": 1e-9}))
    assert cut.ended == "over time" and not cut.steps and cut.weights == [cut.cut] and "objective" in cut.cut


def test_a_paper_without_its_algorithm_is_a_fault(runner):
    failed = runner.run(Cell("ours", "-s 40", SMALL, settings={"method": "paper", "solver": 2}))
    assert failed.ended == "failed" and "no --method paper" in failed.words


def test_pegasos_comes_near_the_optimum(runner):
    steps = runner.run(Cell("pegasos", "Pegasos", SMALL, "hinge", {}, (1, 2000))).steps
    best = runner.run(Cell("ours", "-s 3", SMALL, "hinge", {}, (1e-6,))).last["objective"]
    assert best <= steps[1]["objective"] <= 1.1 * best < 2.0 * steps[0]["objective"]


def test_both_ways_to_least_squares_agree(runner):
    ways = [
        runner.run(Cell("least_squares", way, SMALL, "least", {"C": 3.0})).last for way in ("CGLS", "factorisation")
    ]
    assert ways[0]["objective"] == pytest.approx(ways[1]["objective"], rel=1e-9)


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
    assert [seconds_near(o, least) for o in (ours, peer, other)] == [2.0, 3.0, 0.5]
    race = Race()
    race.add("here", 2.0, {"peer": 3.0, "slow": 9.0})
    race.add("there", 2.0, {"peer": 1.0, "other": 1.5})
    race.add("alone", 2.0, {})
    race.add("nowhere", math.inf, {"peer": math.inf})
    assert race.places == [1, 3] and race.holds == "partly" and race.ratios == [1.5, 0.5]
    assert "there (peer 1 s, the paper's 2 s)" in race.why
    race = Race()
    race.add("here", math.inf, {"peer": 1.0})
    assert race.holds == "no" and "does not reach it" in race.why and "1% on 0 of 1" in race.words("It")


def test_a_trace_tells_when_a_run_came_near_and_a_table_how_far_others_came():
    peer = Outcome(Cell("peer", "m", SMALL, "hinge"), [{"step": None, "seconds": 1.0, "objective": 100.0}], "done")
    step = {"step": None, "seconds": 5.0, "objective": 100.1, "trace": [[1.0, 300.0], [2.0, 100.9], [5.0, 100.1]]}
    own = Outcome(Cell("ours", "m", SMALL, "hinge"), [step], "done")
    short = {"step": None, "seconds": 4.0, "objective": 104.0, "trace": [[1.0, 300.0], [4.0, 104.0]]}
    ended = Outcome(Cell("ours", "m", SMALL, "hinge"), [short], "done")
    cut = Outcome(Cell("ours", "m", SMALL, "hinge"), [], "over time", cut=short)
    least = leasts([peer, own, ended, cut])
    assert reached(own, least) == 2.0
    assert [reached(o, least) for o in (ended, cut)] == ["not reached: 4% above, 4 s"] * 2
    assert reached(Outcome(peer.cell, [], "over time"), least) == "over 20"


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


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_cell_of_svmtool_asks_for_options_of_its_row(name):
    for cell in [c for quick in (True, False) for c in EXPERIMENTS[name].cells(quick) if c.tool == OURS]:
        kind, number = cell.method.split("-s ")
        method = cell.settings.get("method", "paper" if int(number) >= 30 else "fast")
        row = (registry.find_kernel if kind else registry.find)(int(number), method)
        assert row.printed == (method == "paper"), f"-s {number} has no --method {method}"
        asked = {OPTION_OF[key] for key in {*cell.settings, cell.vary} - {"method"} if key in FURTHER}
        assert asked <= registry.supported_options(row)


def test_the_report_holds_what_was_found():
    e = Experiment("some-table", "A 2000, Table 1", "a | b", "1 s", lambda quick: [], lambda outcomes: Finding("", ""))
    f = Finding("2 < 3", "partly", [Dataset("T", ["set", "s"], [["x", 0.012345], ["y", "over 5"]])],
                [Plot("P", "n", "s", {"curve": [(1, 1), (10, 5)], "empty": []})], "the tail")  # fmt: skip
    text = report.markdown({"date": "2000-01-01"}, [(e, f)])
    assert "| [some-table](#some-table) | A 2000, Table 1: a \\| b | 1 s | 2 < 3 | partly |" in text
    assert "| x | 0.0123 |" in text and "What limits it: the tail" in text and "2000-01-01" in text
    page = report.page({"date": "2000-01-01"}, [(e, f)])
    assert "2 &lt; 3" in page and page.endswith("</html>\n") and ("<svg" in page or "matplotlib" in page)


def test_a_full_run_takes_45_minutes_at_most():
    assert sum(e.budget for e in EXPERIMENTS.values()) <= 45 * 60


def test_the_command_runs_an_experiment_and_writes_whole_files(tmp_path):
    summary = tmp_path / "summary.md"
    argv = [sys.executable, REPOSITORY / "scripts" / "experiments", "--only", "mfn-table3", "--quick"]
    argv += ["--results", tmp_path, "--data", REPOSITORY / "data", "--summary", summary]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    text = summary.read_text()
    assert "mfn-table3" in text and f"- version: svmtool {__version__}" in text and "- machine: " in text
    assert "| ... rounds |" in text and (tmp_path / "index.html").read_text().endswith("</html>\n")
    assert not [f for f in tmp_path.rglob("*") if "partial" in f.name]
    wrong = subprocess.run([*argv, "--only", "nothing"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1 and "no such experiment: nothing" in wrong.stderr
