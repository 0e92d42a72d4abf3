"""A fixed sample of `make stress`: data of every family, every solver, and the checks of results, which can fail.

Seeds are fixed, no time limit selects the trials, and no other program is run, so that results are the same everywhere.
"""

from __future__ import annotations

import runpy
import signal
import sys

import numpy as np
import pytest
from conftest import REPOSITORY, SHARED
from optima import Problem, optimum
from stress_job import sleepy

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import cases, families, laws, models, objective, peers, pool, trial
from stress.laws import Ended
from stress.report import Report
from stress.rows import of_dense
from stress.trial import Plan
from svmtool import registry

SEED = 20_18
NOBODY = peers.Peers(None, None)

# A commit runs trials of less than a tenth of a second that together use every family and every solver, and some sets
# of the shared folder.
COUNT = len(families.FAMILIES)
ALL = {"": range(8 * COUNT), "hostile:": range(28), "real:": range(58)}
CHOSEN = {
    "": {4, 6, 10, 16, 21, 24, 27, 32, 36, 40, 44, 51, 56, 59, 61, 71, 74, 83, 88, 97, 107, 113, 114, 115, 117, 119,
         127, 133, 134, 139, 140, 141, 143, 144, 146, 158, 162, 168, 179, 182, 190, 199, 202, 204, 205, 207},
    "hostile:": {1, 5, 6, 8, 10, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 27},
    "real:": {5, 17, 43, 54},
}  # fmt: skip
REST = {family: set(trials) - CHOSEN[family] for family, trials in ALL.items()}


@pytest.mark.parametrize("trials", [CHOSEN, pytest.param(REST, marks=pytest.mark.exhaustive)], ids=["some", "rest"])
def test_data_keep_the_laws(tmp_path, trials, monkeypatch):
    """Made families, and the sets of the shared folder where it exists."""
    report = Report(tmp_path / "breaches")
    jobs = [
        (Plan(SEED, family, "", str(SHARED) if family else "", NOBODY, timed=False, limit=30.0), k)
        for family in trials
        for k in sorted(trials[family])
        if not family or SHARED.exists()
    ]
    monkeypatch.chdir(tmp_path)  # in this process: other tests have workers
    for job in jobs:
        report.add(trial.attempt(lambda *_, **__: None, str(tmp_path), *job))
    assert report.tried > len(jobs)
    assert not report.breaches, report.text()
    trained = {name.partition(" -t")[::2] for table, name in report.counts if table == "solver"}
    assert {(f"-s {row.number}", row.kernel) for row in cases.rows_of_registry()} <= {
        (name.partition(" --")[0], bool(kernel)) for name, kernel in trained
    }
    assert {k % COUNT for k in CHOSEN[""]} == set(range(COUNT))


def test_the_command_runs_its_trials(tmp_path, monkeypatch, capsys):
    """In this process, but for the worker; test_fuzz.py runs the script."""
    monkeypatch.setattr(sys, "argv", f"stress --trials 1 --jobs 1 --results {tmp_path}/r".split())
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert runpy.run_path(str(REPOSITORY / "scripts" / "stress" / "__main__.py"))["main"]() == 0
    assert ", 0 breaches" in capsys.readouterr().out


ROWS = 30
RNG = np.random.default_rng(1)
X = RNG.normal(size=(ROWS, 4)) * (RNG.random((ROWS, 4)) < 0.8)
Y = np.where(X[:, 0] + RNG.normal(size=ROWS) > 0, 1.0, -1.0)


def linear_model(w, certificate: str = "") -> str:
    lines = ["solver_type L2R_L2LOSS_SVC", "nr_class 2", "label 1 -1", f"nr_feature {len(w)}", "bias -1", "w"]
    return "\n".join([*lines, *(f"{x:.17g} " for x in w), *([f"# {certificate}"] if certificate else []), ""])


@pytest.mark.parametrize("row", [r for r in registry.SOLVERS if r.kind == "classification"], ids=lambda r: r.name)
def test_objective_of_two_classes_is_that_of_the_oracle(row):
    w = np.array([0.3, -0.2, 0.0, 1.1])
    oracle = Problem(X, Y, np.full(ROWS, 0.7), loss=row.loss, power=1.5, l1=row.regulariser == "|w|_1")
    asked = objective.problem_of(row, C=0.7, power=1.5, bias=-1.0, free=False)
    [found] = objective.values(asked, of_dense(X, Y), models.parse(linear_model(w)))
    assert float(found.value) == pytest.approx(oracle.value(w), rel=1e-13)
    assert float(found.zero) == pytest.approx(oracle.value(np.zeros(4)), rel=1e-13)
    assert 0 < found.rounding < 1e-12 * found.value


def seen_as(w, primal: float, dual: float, err: str = "", argv=("-s", "2"), status: int = 0, **more):
    """A run with these weights and this certificate, and what breaks a law, by law."""
    gap = more.get("gap", (primal - dual) / primal)
    line = f"Certified relative gap = {gap:.3g} (primal {primal:.9g}, dual {dual:.9g}, KKT violation 0)"
    row = registry.find(2)
    run = cases.Run(row, argv, objective.problem_of(row), 1e-3 if "--gap" in argv else None)
    ended = Ended(status, err, 0.1, linear_model(w, more.get("line", line)))
    seen, checks = laws.certified(run, cases.Case(of_dense(X, Y), (run,), (), None), ended)
    return seen, {one.law: one.words for one in checks}


def test_each_law_can_be_broken():
    w, _, value = optimum(Problem(X, Y, np.ones(ROWS)))
    assert not any(seen_as(w, value, value)[1].values())
    for law, words, *given in (
        (laws.ZERO, "P = ", 1e3 * np.ones(4), value, value),
        (laws.PRIMAL, "by the certificate", w, value * 1.01, value),
        (laws.REPORTED, "no message", w, value, 0.9 * value),
        (laws.FINITE, "nan", np.array([1.0, np.nan, 0.0, 0.0]), value, value),
        (laws.ENDS, "traceback", w, value, value, "Traceback (most recent call last):\nE\n"),
        (laws.ENDS, "library", w, value, value, "x.py:1: RuntimeWarning: overflow\n"),
        (laws.REACHED, "requested", w, value, 0.9 * value, "", ("-s", "2", "--gap", "1e-3")),
        (laws.ENDS, "exit status 3", w, value, value, "", ("-s", "2"), 3),
    ):
        assert words in seen_as(*given)[1][law], law
    assert not seen_as(w, value, 0.9 * value, "WARNING: .. use --gap 1e-3 ..\n")[1][laws.REPORTED]
    assert "converged, and" in seen_as(w, value, value, gap=np.nan)[1][laws.CERTIFIED]
    assert "no certificate" in seen_as(w, value, value, line="")[1][laws.CERTIFIED]
    seen, _ = seen_as(w, value * 1.1, value * 1.05)
    assert laws.bound_holds(laws.SAME, seen, value, 0.0, "x").words
    assert not laws.bound_holds(laws.SAME, seen, value * 1.05, 0.0, "x").words


def test_a_worker_that_hangs_or_crashes_is_replaced_and_reported(tmp_path):
    kinds = ("fault", "hang", "good", "crash")
    done = {one.job[0]: one for one in pool.run(sleepy, iter([(kind,) for kind in kinds]), 1)}
    assert done["good"].result == "good" and "a fault of the job" in done["fault"].fault
    assert done["hang"].lost == "hang" and "egmentation" in done["crash"].lost
    plan, report = Plan(1, "", "", "", NOBODY), Report(tmp_path)
    report.add(trial.tally_of_loss(done["hang"]._replace(job=(plan, 7))))
    text = report.text()
    assert laws.HANG in text and "svm-train hang" in text and report.breaches == 1
    assert (tmp_path / "1" / "command").read_text() == "svm-train hang\n"


def test_some_solvers_can_be_named():
    named = Plan(1, "", "40,mfn-l1,60k", "", NOBODY).solvers()
    assert [cases.name_of(row) for row in named] == ["40", "42", "60k"]
