"""The papers' experiments: runner, evaluation of outcomes, report."""

from __future__ import annotations

import contextlib
import json
import pickle
import runpy
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from conftest import REPOSITORY
from shell_commands import put_script

sys.path.insert(0, str(REPOSITORY / "scripts"))

import svmtool
from experiments import certify, child, report, sets, studies
from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome
from experiments.measures import OURS, leasts, quicker, reached
from experiments.problem import Fitted
from experiments.runner import Runner
from experiments.studies import alm
from svmtool import __version__, registry
from svmtool.api.settings import FURTHER
from svmtool.api.solver_choice import OPTION_OF

SMALL = Data("breast_cancer", rows=60, unit=True, bias=True)
NORMAL = Data("breast_cancer", unit=True, normal=-1)
EXPERIMENTS = studies.all_of_them()


def cell_of(tool: str, method: str, data: Data = SMALL, *more, **settings) -> Cell:
    return Cell(tool, tool, method, data, *more, **settings)


@pytest.fixture
def runner(tmp_path):
    """A runner on the repository's sets, without packages for peers."""
    put_script(tmp_path / "python", "exit 1")
    made = Runner([REPOSITORY / "data"], tmp_path, str(tmp_path / "python"))
    made.versions = {"ours": "svmtool"}
    return made


@pytest.fixture
def here(monkeypatch):
    """Cells run in this process, which has loaded what they need."""

    def run(argv, stdout=None, **others):
        if "-m" not in argv:
            return subprocess.run(argv, **others)
        monkeypatch.setattr(sys, "argv", argv[2:])
        with contextlib.redirect_stdout(stdout):
            child.main()
        return subprocess.CompletedProcess(argv, 0)

    monkeypatch.setattr(child.resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr("experiments.runner.subprocess", SimpleNamespace(**{**vars(subprocess), "run": run}))
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)  # of a cell that failed


def test_linear_answers_are_evaluated_as_by_a_loop_over_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 4)), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    w, b, C = rng.normal(size=4), 0.3, 0.7
    for name, power in (("hinge", 1.0), ("squared", 2.0), ("power", 1.4)):
        losses = sum(max(0.0, 1.0 - t * (float(x @ w) + b)) ** power for x, t in zip(X, y, strict=True))
        found = certify.objective(name, w @ w, y, X @ w + b, C, 1.4)
        assert found == pytest.approx(0.5 * float(w @ w) + C * losses, rel=1e-12)


@pytest.mark.parametrize(("density", "size"), [(1.0, 7), (1.0, 1 << 18), (0.05, 100)])
def test_kernel_answers_are_evaluated_as_by_a_loop_over_pairs(density, size):
    rng = np.random.default_rng(2)
    X, S = (scipy.sparse.csr_matrix(np.where(rng.random((n, 30)) < density, rng.random((n, 30)), 0.0)) for n in (11, 6))
    a, y, b, gamma, C = rng.normal(size=6), np.where(rng.random(11) < 0.5, -1.0, 1.0), -0.2, 0.7, 2.0
    K, own = (np.exp([[-gamma * np.sum((x - s) ** 2) for s in S.toarray()] for x in A.toarray()]) for A in (X, S))
    assert certify.kernel_values(S, a, gamma, X, size) == pytest.approx(K @ a, rel=1e-12)
    assert not certify.kernel_values(S[:0], a[:0], gamma, X).any()
    expected = 0.5 * float(a @ own @ a) + C * float(np.sum(np.maximum(0.0, 1.0 - y * (K @ a + b))))
    found = Fitted(0.0, kernel=(S, a, b, gamma))
    assert certify.objective("hinge", found.square(), y, found.decision(X), C) == pytest.approx(expected, rel=1e-12)


def test_a_finished_cell_is_not_run_again_and_a_new_one_is(runner, monkeypatch):
    cell = cell_of("ours", "-s 2", SMALL, "squared", {"C": 0.5}, (1e-6,))
    first = runner.run(cell)
    assert first.ended == "done" and first.last["gap"] <= 1e-6
    monkeypatch.setattr(runner, "_child", lambda *a: pytest.fail("run again"))
    assert runner.run(cell).steps == first.steps
    monkeypatch.setattr(runner, "_child", lambda cell, data: Outcome(cell, [], "done", "new"))
    assert runner.run(cell_of("ours", "-s 2", SMALL, "squared", {"C": 0.6})).words == "new"
    runner._codes["ours"] = "another version of the code"
    assert runner.run(cell).words == "new"


def test_steps_over_costs_and_rows_are_separate_problems(runner, here):
    over_costs = runner.run(cell_of("ours", "-s 2", SMALL, "squared", {"tolerance": 1e-8}, (0.1, 1.0), "C", folds=3))
    over_rows = runner.run(cell_of("ours", "-s 2", SMALL, "squared", {"tolerance": 1e-8, "C": 0.1}, (20, 60), "rows"))
    assert [s["gap"] <= 1e-8 for s in over_costs.steps + over_rows.steps] == [True] * 4
    low, high = over_costs.steps
    assert low["objective"] < high["objective"] and low["validated"] > 0.8
    assert (
        over_rows.steps[0]["objective"] < over_rows.steps[1]["objective"] == pytest.approx(low["objective"], rel=1e-6)
    )
    assert len(leasts([over_costs, over_rows])) == 4


@pytest.mark.exhaustive
def test_a_cell_over_time_is_cut_and_keeps_its_steps(runner):
    steps = tuple(10.0 ** -(k % 8) for k in range(10_000))
    outcome = runner.run(cell_of("ours", "-s 2", SMALL, "squared", steps=steps, seconds=0.4))
    assert outcome.ended == "over time" and 0 < len(outcome.steps) < len(steps)
    assert all("objective" in s for s in outcome.steps)


@pytest.mark.exhaustive
def test_a_cell_over_memory_or_at_fault_says_so(runner):
    assert runner.run(cell_of("ours", "-s 2", SMALL, megabytes=1)).ended == "out of memory"
    failed = runner.run(cell_of("ours", "-s 2", SMALL, settings={"no_such_setting": 1}))
    assert failed.ended == "failed" and "no_such_setting" in failed.words


def test_absent_tools_and_data_are_reported(runner):
    tool = runner.run(cell_of("liblinear", "-s 3", SMALL))
    assert tool.ended == "absent" and "liblinear" in tool.words
    data = runner.run(cell_of("ours", "-s 2", Data("no_such_set")))
    assert data.ended == "absent" and "no_such_set" in data.words


def test_a_papers_run_records_its_iterates_and_ends_before_its_limit(runner, here):
    done = runner.run(cell_of("ours", "-s 40", SMALL, "squared"))
    trace = done.last["trace"]
    assert done.ended == "done" and trace[-1][1] == pytest.approx(done.last["objective"], rel=1e-6)
    assert trace == sorted(trace) and [f for _, f in trace[:-1]] == sorted((f for _, f in trace[:-1]), reverse=True)
    cut = runner.run(cell_of("ours", "-s 40", SMALL, "squared", {"max_seconds": 1e-9}))
    assert cut.ended == "over time" and not cut.steps and cut.weights == [cut.cut] and "objective" in cut.cut


def test_models_of_any_kind_are_read_into_the_same_answer():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), np.where(rng.random(40) < 0.5, -1, 1)
    y[0] = -1  # whose class is the first, and positive in LIBSVM's model
    Z = scipy.sparse.csr_matrix(X)
    for given in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}, {"solver": 2, "bias": 1.0}):
        done = svmtool.fit(Z, y, **given)
        found = Fitted.of(done, 0.0, 3)
        assert (found.kernel is None) == (given.get("kernel") != "rbf")
        sign = 1.0 if done.model.labels[0] == 1 else -1.0
        wanted = sign * np.ravel(svmtool.decision_values(done, Z))
        assert found.decision(Z) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_other_classes_are_thinned_and_not_trained_on(tmp_path):
    rows = [f"{k % 3} 1:{k + 1}" for k in range(600)]
    (tmp_path / "set").write_text("\n".join(rows) + "\n")

    def parts(**asked):
        made = sets.prepared(Data("set", test=0.5, normal=2, **asked), [tmp_path], tmp_path / "made")
        return pickle.loads(made.read_bytes())

    X, y, T, t = parts()
    inside, outside = X.data.astype(int) - 1, T.data.astype(int) - 1
    assert np.all(inside % 3 == 2) and np.all(y == 1.0) and not set(inside) & set(outside)
    assert np.array_equal(np.where(outside % 3 == 2, 1.0, -1.0), t)
    normal = np.count_nonzero(t == 1.0)
    assert normal + len(inside) == 200 and np.count_nonzero(t == -1.0) == normal // 10
    _, fewer, same, _ = parts(rows=30)
    assert len(fewer) == 30 and np.array_equal(same.data, T.data)


def test_kernel_cells_tell_of_training_rows_areas_and_rejected_rows(runner, here):
    ours = runner.run(cell_of("ours", "kernel -s 0", SMALL, "hinge", {"C": 10.0, "gamma": 1.0}, (1e-6,)))
    assert ours.last["rows"] == 60 and 0 < ours.last["support"] <= 60 and ours.last["training_error"] < 0.2
    asked = {"theta": 0.1, "method": "fast"}
    for step in runner.run(cell_of("ours", "kernel -s 80", NORMAL, "", asked, (0.1, 10.0), "gamma")).steps:
        assert 0.0 <= step["valid"] <= 1.0 and step["auc"] > 0.5
        assert 0.0 <= step["rejected"] < 0.5 and "training_error" not in step


def raced(own: float | None, peer: float | None) -> Finding:
    """Table 1 of ALM where its algorithm and DCD take these seconds (None: they do not end), and nothing else."""
    taken = {alm.OWN: own, "DCD": peer}
    cells = EXPERIMENTS["alm-table1"].cells(True)
    steps = {name: [{"step": None, "seconds": s, "objective": 1.0}] for name, s in taken.items() if s is not None}
    return EXPERIMENTS["alm-table1"].conclude([Outcome(c, steps.get(c.label, []), "done") for c in cells])


def test_a_race_counts_places_and_names_what_is_faster():
    first, second = raced(2.0, 3.0), raced(2.0, 1.0)
    assert first.holds == second.holds == "yes" and not first.why and "DCD 1 s" in second.why
    assert "first on 1;" in first.measured and "1.5 times as long" in first.measured
    assert raced(None, 1.0).holds == "no" and raced(2.0, None).holds == "not measured"


def test_a_trace_tells_when_a_run_came_near_and_a_table_how_far_others_came():
    peer = Outcome(cell_of("peer", "m", SMALL, "hinge"), [{"step": None, "seconds": 1.0, "objective": 100.0}], "done")
    step = {"step": None, "seconds": 5.0, "objective": 100.1, "trace": [[1.0, 300.0], [2.0, 100.9], [5.0, 100.1]]}
    own = Outcome(cell_of("ours", "m", SMALL, "hinge"), [step], "done")
    short = {"step": None, "seconds": 4.0, "objective": 104.0, "trace": [[1.0, 300.0], [4.0, 104.0]]}
    ended = Outcome(cell_of("ours", "m", SMALL, "hinge"), [short], "done")
    cut = Outcome(cell_of("ours", "m", SMALL, "hinge"), [], "over time", cut=short)
    least = leasts([peer, own, ended, cut])
    assert reached(own, least) == 2.0
    assert [reached(o, least) for o in (ended, cut)] == ["not reached: 4% above, 4 s"] * 2
    assert reached(Outcome(peer.cell, [], "over time"), least) == "over 20"


def outcome(seconds: float | None, ended: str = "done", tool: str = "ours", bound: float = 10.0) -> Outcome:
    steps = [] if seconds is None else [{"step": None, "seconds": seconds}]
    return Outcome(cell_of(tool, "m", seconds=bound), steps, ended)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (outcome(1.0), outcome(2.0), True),
        (outcome(2.0), outcome(1.0), False),
        (outcome(1.0), outcome(None, "over time"), True),
        (outcome(15.0, bound=20.0), outcome(None, "over time"), None),
        (outcome(1.0), outcome(None, "absent"), None),
    ],
)
def test_a_cut_run_is_the_slower_one_only_beyond_its_bound(one, other, answer):
    assert quicker(one, other) is answer


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


KNOWN = {
    "rows": 500, "features": 9, "objective": 2.0, "accuracy": 0.9, "training_error": 0.1, "support": 7,
    "iterations": 4, "valid": 0.8, "auc": 0.8, "rejected": 0.1, "rejected_by_rho": 0.2, "added": 50, "validated": 0.9,
}  # fmt: skip


def outcome_of(cell: Cell) -> Outcome:
    """A finished run of ours with facts; peers are not installed."""
    if cell.tool != "ours":
        return Outcome(cell, [], "absent")
    steps = [{**KNOWN, "step": step, "seconds": 0.1 + k} for k, step in enumerate(cell.steps)]
    for step in steps if cell.vary == "rows" else ():
        step["rows"] = step["step"]
    return Outcome(cell, steps, "done")


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_without_peers_our_figures_are_reported(name):
    e = EXPERIMENTS[name]
    finding = e.conclude([outcome_of(cell) for cell in e.cells(True)])
    text = report.markdown({}, [(e, finding)])
    assert finding.measured in text and "nan" not in finding.measured and "inf" not in finding.measured
    assert finding.tables


def test_the_report_holds_what_was_found():
    e = Experiment("some-table", "A 2000, Table 1", "a | b", "1 s", ([], []), lambda outcomes: Finding("", ""))
    table = Dataset("T", ["set", "s"], [["x", 0.012345], ["y", "over 5"]])
    text = report.markdown({"date": "2000-01-01"}, [(e, Finding("2 < 3", "partly", [table], "the tail"))])
    assert "| [some-table](#some-table) | A 2000, Table 1: a \\| b | 1 s | 2 < 3 | partly |" in text
    assert "| x | 0.0123 |" in text and "What limits it: the tail" in text and "2000-01-01" in text


def test_a_full_run_takes_45_minutes_at_most():
    assert sum(e.budget for e in EXPERIMENTS.values()) <= 45 * 60


def test_the_command_runs_an_experiment_and_writes_whole_files(tmp_path, monkeypatch, here):
    line = f"experiments --only alfpgm-figures2-4 --quick --results {tmp_path} --data {REPOSITORY}/data"
    monkeypatch.setattr(sys, "argv", line.split())
    assert runpy.run_path(str(REPOSITORY / "scripts" / "experiments" / "__main__.py"))["main"]() == 0
    text = (tmp_path / "report.md").read_text()
    assert "alfpgm-figures2-4" in text and f"- version: svmtool {__version__}" in text and "- machine: " in text
    assert "Iterations by p:" in text and not [f for f in tmp_path.rglob("*") if "partial" in f.name]
