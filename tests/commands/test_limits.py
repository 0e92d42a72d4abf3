"""Time limits and Ctrl-C: one limit for a command, which ends every solver with its best model so far."""

from __future__ import annotations

import time

import numpy as np
import pytest
from both_methods import keyword_of
from naming import case_of
from reference import random_rows, table_of, text_of
from solver_suite import PROBLEMS as TWO_CLASSES
from solver_suite import Solved, every_path
from test_validation import Lines

from svmtool import limits, registry
from svmtool.data import row_storage
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.csr import CsrRows
from svmtool.data.dense import from_csr
from svmtool.formats.models import linear
from svmtool.limits import StopFlag, with_time_shares
from svmtool.linalg.systems import Factored, solve_positive
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Request, Settings
from svmtool.solvers.shared import base
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import one_vs_one
from svmtool.training.linear import train
from svmtool.training.lines import liblinear_log
from svmtool.training.reductions.base import problems_of
from svmtool.training.validation import cross_validation, report, search


def validate(table, settings, *more):
    """-v or -C of a table."""
    return report.validate(lambda wanted: cross_validation.Folds(table, settings, wanted), settings, *more)

ROWS = [row for row in registry.SOLVERS if row.kind != "hard one-class"]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
GENEROUS = 30.0  # seconds: far beyond a limit of a fraction of one, on a machine that does much else


class AfterChecks(StopFlag):
    """A stop flag that is set after so many checks."""

    def __init__(self, checks: int):
        self.ends, self.checks = np.inf, checks

    @property
    def set(self) -> bool:
        self.checks -= 1
        return self.checks < 0


def made(n: int, d: int, classes: int = 3):
    """Rows with random labels, on which no solver is fast for a large C."""
    rng = np.random.default_rng(7)
    X = random_rows(rng, n, d, 0.3)
    X[:, 0] = 1.0
    return X, rng.integers(1, classes + 1, n).astype(float)


def settings_of(row, **more) -> Settings:
    gap = {"gap": 1e-14} if "--gap" in row.supported else {}
    return Settings.of(solver=row.number, **keyword_of(row), **gap, **({"C": 1e3} | more))


# A command's time


def test_parts_get_fair_shares():
    stop = StopFlag(100.0)
    flags = limits.TimeShares(stop, 4, 2)
    shares = [flags.next().seconds_left for _ in range(4)]
    assert shares[:3] == pytest.approx([50.0, 100.0 * 2 / 3, 100.0], rel=0.01)
    assert flags._stop.seconds_left == pytest.approx(shares[3], rel=0.01)
    assert StopFlag().part(0.1).seconds_left == np.inf


def test_limits_of_the_whole_end_a_part():
    stop = StopFlag(100.0)
    part = stop.part(0.5)
    assert not part.ended()
    stop.set = True
    assert part.set and part.ended()


def test_parts_continue_after_their_time_share():
    seen = []

    def work(k: int, share: StopFlag) -> bool:
        seen.append((k, share.seconds_left > 90.0))
        return k == 1 and seen.count((1, False)) == 1 and len(seen) == 2

    with_time_shares(work, 3, StopFlag(100.0), 1, lambda each, n: [each(i) for i in range(n)])
    assert seen == [(0, False), (1, False), (2, True), (1, True)]


class Cut(StopFlag):
    """The flag of a part whose time is over after so many looks at the clock."""

    def __init__(self, looks: int):
        self.set, self.looks = False, looks

    @property
    def ends(self) -> float:
        self.looks -= 1
        return np.inf if self.looks >= 0 else -np.inf


@pytest.mark.parametrize("number", [50, 52])
def test_a_papers_model_does_not_depend_on_shares_of_the_time(number, monkeypatch):
    """A problem that its share of the time cuts short begins anew; it does not go on from the point it has reached."""
    table = table_of(*made(60, 5))
    given = {"solver": number, "C": 10.0, "max_iter": 60, "method": "paper"}

    def models() -> list[np.ndarray]:
        kernel = Fitting(Settings.of_kernel(**given), stop=StopFlag(100.0))
        trained = one_vs_one(KernelSet(table, Kernel(2, 0.5)), kernel).model
        problems = problems_of(table, Settings.of(**given))
        return [trained.coef, trained.rho, problems.weights(problems.fit(stop=StopFlag(100.0)))]

    whole, cut = models(), []

    def part(stop: StopFlag, share: float) -> StopFlag:
        cut.append(share)
        return Cut(20) if cut.count(share) == 1 else stop

    monkeypatch.setattr(StopFlag, "part", part)
    for one, other in zip(whole, models(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(cut) > 6, "no part was cut"


def test_without_a_limit_nothing_continues():
    assert not StopFlag().may_resume(StopFlag().part(0.1))
    over = StopFlag(-1.0)
    assert not over.may_resume(over.part(0.1))


@every_row
def test_problem_not_reached_has_zero_weights(row):
    problems = problems_of(table_of(*made(40, 5)), settings_of(row))
    results, certificate = problems.fit_and_certify(stop=StopFlag(-1.0))
    assert all(r.status is base.TIME and r.history for r in results)
    assert not np.any(problems.weights(results)) and np.isfinite(certificate.gap)


def test_a_start_outlives_a_time_that_is_over():
    problems = problems_of(table_of(*made(40, 5)), Settings.of(solver=2, C=1.0))
    start = problems.weights(problems.fit())
    np.testing.assert_array_equal(problems.weights(problems.fit(start, stop=StopFlag(-1.0))), start)


@every_row
def test_time_limit_holds_for_all_classes(row):
    problems = problems_of(table_of(*made(600, 400, 6)), settings_of(row, C=1e4, max_seconds=0.02))
    began = time.perf_counter()
    results, certificate = problems.fit_and_certify()
    assert time.perf_counter() - began < GENEROUS
    assert all(r.status is base.TIME or r.status.converged or r.status is base.PRECISION for r in results)
    assert np.all(np.isfinite(problems.weights(results))) and np.isfinite(certificate.gap)
    if row.optimal and row.kind == "classification":
        for k, result in enumerate(results):
            assert problems.primal(k, result.w) <= problems.value_at_zero(k) * (1 + 1e-9)


@pytest.mark.parametrize("row", registry.rows_of(kernel=False), ids=lambda row: f"{row.name}{'-printed' * row.printed}")
def test_a_run_may_be_over_before_its_first_step(row):
    """Every result has a record, and as many weights as its model needs."""
    for checks in (0, 1, 2, 3, 5, 8):
        with case_of(f"{checks} checks"):
            done = train(table_of(*made(60, 5, 2)), settings_of(row), stop=AfterChecks(checks))
            assert all(result.history for result in done.results)
            assert np.all(np.isfinite(done.model.W))


def test_command_ends_in_time_and_writes_its_model(svm_train, tmp_path):
    data, model = tmp_path / "data", tmp_path / "model"
    data.write_text(text_of(*made(600, 400, 10)))
    limit = "--gap", 1e-14, "--max-seconds", 0.3
    status, out, err = svm_train("-s", 3, "-c", 1e5, "-B", 1, *limit, "--strict", data, model)
    assert status == 2 and "time limit reached: raise --max-seconds" in err
    assert "Certified relative gap = " in out and np.all(np.isfinite(linear.read(str(model)).W))


# Validation


def test_folds_past_the_limit_predict_with_the_models_so_far():
    for strict, status in ((False, 0), (True, 2)):
        console = Lines()
        settings, request = Settings.of(solver=2, max_seconds=1e-9), Request(folds=4, strict=strict)
        assert validate(table_of(*made(40, 5)), settings, request, console) == status
        assert console.text.startswith("Cross Validation Accuracy = ")
        [warning] = [w for w in console.warnings if "folds" in w]
        assert warning.startswith("WARNING: 4 of 4 folds did not converge: time limit reached: raise --max-seconds")


def test_folds_in_time_give_no_warning():
    console = Lines()
    assert validate(table_of(*made(40, 5)), Settings.of(solver=2), Request(folds=4), console) == 0
    assert not console.warnings


@every_row
def test_folds_continue_after_their_time_share(row, monkeypatch):
    """Each of two folds is ended once and resumed."""
    table, starts = table_of(*made(41, 5, 2)), []
    kind = type(problems_of(table_of(*made(10, 2, 2)), settings_of(row)))
    fit = kind.fit

    def cut_once(self, start=None, report=None, stop=None, **more):
        starts.append(start)
        results = fit(self, start, report, StopFlag(), **more)
        for r in results:
            r.status = base.TIME if len(starts) <= 2 else base.RULE
        return results

    monkeypatch.setattr(kind, "fit", cut_once)
    monkeypatch.setattr(StopFlag, "may_resume", lambda self, share: True)
    monkeypatch.setattr("svmtool.training.validation.cross_validation.threads.beside", lambda n: 1)
    settings = settings_of(row, C=1.0)
    folds = cross_validation.Folds(table, settings, 2)
    predictions, _ = folds.evaluate(settings, StopFlag())
    assert [start is None for start in starts] == [True, True, False, False]
    assert folds.open_ends == () and np.all(np.isfinite(predictions))


def test_search_ends_with_the_best_so_far():
    stop = StopFlag(1e6)

    class Ending(Lines):
        def solver(self, text):
            super().solver(text)
            if self.liblinear_log.count("log2c=") == 3:
                stop.ends = -np.inf

    console, table = Ending(), table_of(*made(40, 5, 2))
    request = Request(folds=3, strict=True, find_C=True)
    assert validate(table, Settings.of(solver=2), request, console, stop) == 2
    assert console.liblinear_log.count("log2c=") == 3 and console.text.splitlines()[-1].startswith("Best C = ")
    assert any("WARNING: the search ended at C = " in w and "--max-seconds" in w for w in console.warnings)


@pytest.mark.parametrize("number", [2, 11])
def test_search_without_time_tells_what_one_value_gives(number):
    console, table = Lines(), table_of(*made(40, 5, 2))
    settings = Settings.of(solver=number, max_seconds=1e-9)
    assert validate(table, settings, Request(folds=3, find_C=True), console) == 0
    assert console.liblinear_log.count("log2c=") == 1 and "Best C = " in console.text
    assert any("the search ended at" in w for w in console.warnings)


@pytest.mark.parametrize("number", [2, 11])
def test_search_tells_folds_that_did_not_converge(number, monkeypatch):
    """With three values of C, of which round-off ended a fold at the last."""
    table, seen = table_of(*made(40, 5, 2)), []
    evaluate = cross_validation.Folds.evaluate

    def ended(self, settings, *more):
        found = evaluate(self, settings, *more)
        seen.append(settings.problem.C)
        self.open_ends = (base.PRECISION,) if len(seen) % 3 == 0 else ()
        return found

    monkeypatch.setattr(cross_validation.Folds, "evaluate", ended)
    most = search.MAX_C if number == 2 else search.MAX_C_REGRESSION
    for strict in (False, True):
        seen.clear()
        console = Lines()
        request = Request(given=("-c", "-p"), folds=3, strict=strict, find_C=True)
        assert validate(table, Settings.of(solver=number, C=most / 4, p=1e-9), request, console) == 2 * strict
        values = "C" if number == 2 else "p and C"
        (warning,) = console.warnings
        assert warning.startswith(f"WARNING: folds did not converge at 1 of 3 values of {values}")
        assert warning.endswith(base.PRECISION.advice)
        assert (", including the best" in warning) == (f"Best C = {most:g} " in console.text)


# With a model


def test_no_probabilities_where_the_time_is_over():
    done = train(table_of(*made(60, 5, 2)), Settings.of(solver=2, probability=True, max_seconds=1e-9))
    assert done.lacking == "time limit reached: raise --max-seconds"


def test_no_leave_one_out_where_the_time_is_over():
    done = train(table_of(*made(60, 5, 2)), Settings.of(solver=70, loo=True, max_seconds=1e-9))
    assert done.leave_one_out is None
    assert done.no_leave_one_out.startswith("time limit")


def test_no_adaptable_model_without_its_sums(svm_train, out_of_time, tmp_path):
    """Its state would not contain the rows of its log."""
    data, model = tmp_path / "data", tmp_path / "model"
    data.write_text(text_of(*made(60, 5, 2)))
    out_of_time()
    status, _, err = svm_train("-s", 71, data, model)
    assert status == 1 and "the run ended before" in err
    assert not model.exists()


def test_ctrl_c_before_the_sums_leaves_the_old_model(monkeypatch, svm_train, tmp_path):
    data, model = tmp_path / "data", tmp_path / "model"
    data.write_text(text_of(*made(60, 5, 2)))
    model.write_text("old")
    begin = StopFlag.__init__
    monkeypatch.setattr(StopFlag, "__init__", lambda self, *given: (begin(self, *given), setattr(self, "set", True))[0])
    with pytest.raises(KeyboardInterrupt):
        svm_train("-s", 71, data, model)
    assert model.read_text() == "old"


def test_equations_are_not_formed_once_the_time_is_over(monkeypatch):
    """They are computed from a copy of the sums, which takes a second for thousands of features."""
    stop = StopFlag()
    update = ClassStatistics.update
    monkeypatch.setattr(ClassStatistics, "update", lambda *a: update(*a) or setattr(stop, "set", True))
    monkeypatch.setattr("svmtool.objectives.normal_equations.equations_of", lambda *_: pytest.fail("formed"))
    problems = problems_of(table_of(*made(60, 5, 2)), settings_of(registry.find(71)))
    problems.fit(stop=stop)
    assert problems.sums is not None and problems.sums.n == 60


# An end within a step


def test_long_computations_are_cut_short():
    d = 1100
    H = np.eye(d) * 2.0
    table = table_of(*made(1200, 600))
    rows = CsrRows(table.indptr, table.indices, table.values, table.n_features)
    dense = from_csr(table.indptr, table.indices, table.values, 600, -1.0, 600)
    work = [
        lambda: solve_positive(H, np.ones(d)), lambda: Factored(H).inverse(),
        lambda: rows.add_gram(np.ones(rows.n), np.zeros((600, 600))),
        lambda: dense.add_gram(np.ones(rows.n), np.zeros((600, 600))),
        lambda: rows.fill_kernel(np.arange(rows.n), np.zeros((rows.n, rows.n)), 0),
        lambda: rows.quadratic_forms(np.eye(600)), lambda: dense.quadratic_forms(np.eye(600)),
    ]  # fmt: skip
    for each in work:
        counted = AfterChecks(1 << 40)
        with limits.until(counted.ended):
            each()
        asked = (1 << 40) - counted.checks
        assert asked > 0
        for checks in (k for k in (0, 1, 10) if k < asked):
            with pytest.raises(limits.EndedError), limits.until(AfterChecks(checks).ended):
                each()


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
@every_path
def test_two_class_solvers_end_wherever_they_are(case, turn):
    """Each path has one of two problems for each number of checks in a commit, in turn."""
    for k, checks in enumerate((3, 12, 60)):
        name = ("tall-hard", "wide")[(k + turn) % 2]
        with case_of(name, f"{checks} checks"):
            s = Solved(case, TWO_CLASSES[name], stop=AfterChecks(checks))
            assert s.status is base.INTERRUPTED or s.status.converged or s.status is base.PRECISION
            assert np.all(np.isfinite(s.w)) and s.f <= s.p.value(np.zeros_like(s.w)) * (1 + 1e-12)
            assert np.isfinite(s.certificate.gap) and s.result.history


@every_row
def test_solvers_end_wherever_they_are(row, monkeypatch):
    monkeypatch.setattr(row_storage, "GRAM_PIECE_PAIRS", 1)
    for checks in (3, 12, 60):
        with case_of(f"{checks} checks"):
            problems = problems_of(table_of(*made(60, 200)), settings_of(row))
            results, certificate = problems.fit_and_certify(stop=AfterChecks(checks))
            assert np.all(np.isfinite(problems.weights(results))) and np.isfinite(certificate.gap)
            assert all(r.status is not base.TIME and r.history for r in results)


@every_row
def test_untouched_problems_have_the_certificate_of_the_dual_point_zero(row):
    problems = problems_of(table_of(*made(40, 5)), settings_of(row))
    results, certificate = problems.fit_and_certify(stop=StopFlag(-1.0))
    if problems.count > 1:
        assert certificate.dual == 0.0 and np.isfinite(certificate.violation) and certificate.violation > 0.0
        assert certificate.primal == pytest.approx(sum(problems.value_at_zero(k) for k in range(problems.count)))
    assert 0.0 <= certificate.gap <= 1.0 or row.kind == "one-class"


# Memory of a long run


def test_a_long_run_keeps_its_first_and_last_records():
    seen = []
    monitor = base.Monitor(sink=lambda **record: seen.append(record["iteration"]), kept=16)
    for k in range(1000):
        monitor.step(1.0 + 1.0 / (k + 1), 0.0)
        assert len(monitor.history) <= 16
    recorded = [record["iteration"] for record in monitor.history]
    assert seen == list(range(1000)) and recorded == sorted(recorded)
    assert recorded[:8] == list(range(8)) and recorded[-4:] == list(range(996, 1000))


def test_what_is_printed_of_a_long_run_is_numbered_by_its_steps():
    settings = Settings.of(solver=6, C=100.0, eps=1e-9)
    [result] = train(table_of(*made(60, 6, 2)), settings).results
    whole = liblinear_log(settings.row, result).splitlines()
    assert len(result.history) > 4
    result.history[2:-2] = []  # as Monitor drops records
    some = liblinear_log(settings.row, result).splitlines()
    assert set(some) < set(whole) and some[0] == whole[0] and some[-1] == whole[-1]
