"""The parts of `make stress`: its objectives and its reader of models, and that each law can be broken."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest
from conftest import REPOSITORY
from optima import Problem, optimum

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import cases, kernel_objective, laws, models, objective, peers, pool, report, session, trial
from stress.commands import Ended
from stress.rows import of_dense, parse
from svmtool import registry

ROWS = 30


def two_classes(seed: int = 1):
    """Rows with labels +-1, and the same as a dense matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 4)) * (rng.random((ROWS, 4)) < 0.8)
    y = np.where(X[:, 0] + rng.normal(size=ROWS) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return of_dense(X, y), X


def linear_model(w, certificate: str = "", stopped: str = "", labels=(1, -1)) -> str:
    lines = ["solver_type L2R_L2LOSS_SVC", f"nr_class {len(labels)}", "label " + " ".join(map(str, labels))]
    lines += [f"nr_feature {len(w)}", "bias -1", "w", *(f"{x:.17g} " for x in w)]
    return "\n".join([*lines, *(["# " + certificate] if certificate else []), f"# Stopped: {stopped}", ""])


def problem_of(row: registry.Solver, **more) -> objective.Problem:
    return objective.Problem(row.kind, row.loss, row.regulariser == "|w|_1", **more)


@pytest.mark.parametrize("row", [r for r in registry.SOLVERS if r.kind == "classification"], ids=lambda r: r.name)
def test_objective_of_two_classes_is_that_of_the_oracle(row):
    rows, X = two_classes()
    w = np.array([0.3, -0.2, 0.0, 1.1])
    p = Problem(X, rows.labels, np.full(ROWS, 0.7), loss=row.loss, power=1.5, l1=row.regulariser == "|w|_1")
    [found] = objective.values(problem_of(row, C=0.7, power=1.5), rows, models.parse(linear_model(w)))
    assert found.value == pytest.approx(p.value(w), rel=1e-13)
    assert found.zero == pytest.approx(p.value(np.zeros(4)), rel=1e-13)
    assert 0 < found.rounding < 1e-12 * found.value
    [turned] = objective.values(problem_of(row, C=0.7, power=1.5), rows, models.parse(linear_model(-w, labels=(-1, 1))))
    assert turned.value == pytest.approx(found.value, rel=1e-13)


def test_text_of_rows_is_read_back():
    rows, X = two_classes()
    again = parse(rows.text())
    assert np.array_equal(again.dense(), X) and np.array_equal(again.labels, rows.labels)
    assert np.array_equal(rows.take(np.array([3, 1])).dense(), X[[3, 1]])
    assert np.array_equal(rows.only_columns(np.array([0, 2])).dense(), X[:, [0, 2]])


def certified_as(
    w, certificate: str, err: str = "", argv=("-s", "2"), number: int = 2, status: int = 0
) -> dict[str, str]:
    """Results of the laws for a model with these weights, by law."""
    rows, _ = two_classes()
    row = registry.find(number)
    run = cases.Run(row, argv, problem_of(row), 1e-3 if "--gap" in argv else None)
    ended = Ended(status, "", err, 0.1, linear_model(w, certificate, "the stopping rule of -e holds"))
    _, text = laws.certified(run, cases.Case(rows, (run,), (), None), ended)
    return {one.law: one.words for one in text}


def best() -> tuple[np.ndarray, float]:
    rows, X = two_classes()
    found = optimum(Problem(X, rows.labels, np.ones(ROWS)))
    return found.w, found.value


def line(primal: float, dual: float, gap: float | None = None) -> str:
    gap = (primal - dual) / primal if gap is None else gap
    return f"Certified relative gap = {gap:.3g} (primal {primal:.9g}, dual {dual:.9g}, KKT violation 0)"


def test_a_good_answer_breaks_no_law():
    w, value = best()
    assert not any(certified_as(w, line(value, value)).values())


def test_each_law_of_one_run_can_be_broken():
    w, value = best()
    far = 1e3 * np.ones(4)
    assert "P = " in certified_as(far, line(value, value))[laws.ZERO]
    assert "by the certificate" in certified_as(w, line(value * 1.01, value))[laws.PRIMAL]
    assert "no message" in certified_as(w, line(value, 0.9 * value))[laws.REPORTED]
    assert not certified_as(w, line(value, 0.9 * value), "WARNING: .. use --gap 1e-3 ..\n")[laws.REPORTED]
    assert "requested" in certified_as(w, line(value, 0.9 * value), argv=("-s", "2", "--gap", "1e-3"))[laws.REACHED]
    assert "converged, and" in certified_as(w, line(value, value, float("nan")))[laws.CERTIFIED]
    assert "no certificate" in certified_as(w, "")[laws.CERTIFIED]
    assert "nan" in certified_as(np.array([1.0, np.nan, 0.0, 0.0]), line(value, value))[laws.FINITE]
    assert "traceback" in certified_as(w, line(value, value), "Traceback (most recent call last):\nE\n")[laws.ENDS]
    assert "library" in certified_as(w, line(value, value), "x.py:1: RuntimeWarning: overflow\n")[laws.ENDS]
    assert "exit status 3" in certified_as(w, line(value, value), status=3)[laws.ENDS]


def test_a_dual_value_above_any_point_is_a_breach():
    w, value = best()
    rows, _ = two_classes()
    run = cases.Run(registry.find(2), ("-s", "2"), problem_of(registry.find(2)))
    model = linear_model(w, line(value * 1.1, value * 1.05))
    seen, _ = laws.certified(run, cases.Case(rows, (run,), (), None), Ended(0, "", "", 0.1, model))
    assert laws.bound_holds(laws.SAME, seen, value, 0.0, "x").words
    assert not laws.bound_holds(laws.SAME, seen, value * 1.05, 0.0, "x").words


def sleepy(announce, folder, kind: str) -> str:
    """A job that ends, hangs, fails or takes its process with it."""
    announce(0.3, family="f", solver="s", argv=[kind])
    if kind == "hang":
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "fault":
        raise ValueError("a fault of the job")
    return kind


def test_a_worker_that_hangs_or_crashes_is_replaced_and_reported():
    kinds = ("good", "hang", "crash", "fault", "good")
    found = {done.job[0]: done for done in pool.run(sleepy, iter([(kind,) for kind in kinds]), 2)}
    assert found["good"].result == "good"
    assert found["hang"].lost == "hang" and found["hang"].doing["argv"] == ["hang"]
    assert "egmentation" in found["crash"].lost
    assert "a fault of the job" in found["fault"].fault


def test_a_loss_is_a_breach_with_its_command(tmp_path):
    plan = trial.Plan(1, "", "", "", peers.Peers(None, None))
    lost = pool.Done((plan, 7), None, "hang", "", {"family": "f", "solver": "-s 2", "argv": ["-s", "2"]}, {}, 1.0)
    known = report.Report(tmp_path)
    [text] = known.add(session.tally_of_loss(lost))
    assert laws.HANG in text and "svm-train -s 2" in text
    assert known.breaches == 1 and not known.add(session.tally_of_loss(lost))
    assert (tmp_path / "1" / "command").read_text() == "svm-train -s 2\n"
    assert "f  " in known.text()
    slow = lost._replace(doing={**lost.doing, "checking": True})
    [text] = known.add(session.tally_of_loss(slow))
    assert laws.CHECKED in text and laws.HANG not in text


def test_one_slow_run_is_no_breach(tmp_path, monkeypatch):
    """Only a run that is slow both times is a breach."""
    plan = trial.Plan(1, "", "", "", peers.Peers("train", None, frozenset({2})))
    rows, _ = two_classes()
    run = cases.Run(registry.find(2), ("-s", "2"), objective.Problem("classification", "squared hinge", False))
    monkeypatch.setattr(peers, "run", lambda *_: peers.PeerResult(0.1, None))
    for again, breaches in ((1.0, 0), (90.0, 1)):
        case = cases.Case(rows, (run,), (), None)
        one = trial.Trial(lambda *_, **__: None, None, plan, "f", case)
        monkeypatch.setattr(one, "_train", lambda *_, again=again: ended_after(again))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").write_text("")
        one._time(run, ended_after(100.0))
        assert len(one.tally.breaches) == breaches


def ended_after(seconds: float) -> Ended:
    return Ended(0, "", "", seconds, "")


def test_some_solvers_can_be_named():
    plan = trial.Plan(1, "", "40,mfn-l1,60k", "", peers.Peers(None, None))
    assert [cases.name_of(row) for row in plan.solvers()] == ["40", "42", "60k"]


def test_every_row_of_the_registry_is_drawn():
    plan = trial.Plan(1, "", "", "", peers.Peers(None, None), timed=False)
    rng = np.random.default_rng(1)
    rows, _ = two_classes()
    drawn = [cases.draw(rng, rows, rows.labels, plan.solvers(), False).runs for _ in range(400)]
    assert {cases.name_of(run.row) for runs in drawn for run in runs} == set(map(cases.name_of, plan.solvers()))


def kernel_text(support: str) -> str:
    head = ["svm_type c_svc", "kernel_type linear", "nr_class 2", f"total_sv {len(support.splitlines())}", "rho 0"]
    return "\n".join([*head, "label 1 -1", "nr_sv 1 1", "SV", support])


def test_rows_that_a_model_prints_alike_are_not_guessed():
    """Eight digits make one of 100000003 and 100000004: the support vector may be either."""
    rows = parse("1 1:100000003\n1 1:100000004\n-1 1:5\n")
    model = models.parse(kernel_text("0.5 1:1e+08 \n-0.5 1:5 \n"))
    assert model.coefficients(rows) is None
    row = next(r for r in registry.KERNEL_SOLVERS if r.number == 0)
    wanted = kernel_objective.Problem(row.word, row.loss, row.kind, 0)
    assert kernel_objective.values(wanted, rows, model) is None
    same = parse("1 1:100000003\n1 1:100000003\n-1 1:5\n")
    np.testing.assert_array_equal(model.coefficients(same), [[0.5, 0.0, -0.5]])


@pytest.mark.parametrize("most", [10**8, 0], ids=["differences", "products"])
def test_rbf_of_a_large_row_is_within_its_bound(most, monkeypatch):
    """Its product with itself cancels completely; the kernel's value is 1."""
    monkeypatch.setattr(kernel_objective, "MAX_DIFFERENCES", most)
    rows = of_dense(np.array([[1.0, 2.0], [1.1, 2.0], [3.1e9, 1.7e9], [3.1e9, 1.7e9 + 0.5]]), np.ones(4))
    model = models.parse("svm_type one_class\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 0\nrho 0\nSV\n")
    found = kernel_objective.matrix(rows, model)
    truth = np.eye(4)
    truth[0, 1] = truth[1, 0] = np.exp(-0.5 * 0.01)
    truth[2, 3] = truth[3, 2] = np.exp(-0.5 * 0.25)
    assert np.all(np.abs(found.K - truth) <= found.off + 1e-15)
    assert found.off[0, 1] < 1e-13
    assert most == 0 or found.off.max() < 1e-13
