"""Time limits and Ctrl-C: one limit for a command, which ends every solver with its best model so far."""

from __future__ import annotations

import numpy as np
import pytest
from both_methods import keyword_of
from naming import case_of
from reference import random_rows, table_of, text_of
from test_validation import Lines, validate

from svmtool import registry
from svmtool.data import row_storage
from svmtool.formats.models import linear
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings
from svmtool.solvers.shared import base
from svmtool.training.reductions.base import problems_of
from svmtool.training.validation import cross_validation, search

ROWS = [row for row in registry.SOLVERS if row.kind != "hard one-class"]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


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


def test_command_ends_in_time_and_writes_its_model(svm_train, tmp_path):
    data, model = tmp_path / "data", tmp_path / "model"
    data.write_text(text_of(*made(600, 400, 10)))
    limit = "--gap", 1e-14, "--max-seconds", 0.3
    status, out, err = svm_train("-s", 3, "-c", 1e5, "-B", 1, *limit, "--strict", data, model)
    assert status == 2 and "time limit reached: raise --max-seconds" in err
    assert "Certified relative gap = " in out and np.all(np.isfinite(linear.read(str(model)).W))


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


def test_search_tells_folds_that_did_not_converge(monkeypatch):
    """With three values of C, of which round-off ended a fold at the last."""
    table, seen = table_of(*made(40, 5, 2)), []
    evaluate = cross_validation.Folds.evaluate

    def ended(self, settings, *more):
        found = evaluate(self, settings, *more)
        seen.append(settings.problem.C)
        self.open_ends = (base.PRECISION,) if len(seen) % 3 == 0 else ()
        return found

    monkeypatch.setattr(cross_validation.Folds, "evaluate", ended)
    for strict in (False, True):
        seen.clear()
        console = Lines()
        request = Request(given=("-c",), folds=3, strict=strict, find_C=True)
        assert validate(table, Settings.of(solver=2, C=search.MAX_C / 4), request, console) == 2 * strict
        (warning,) = console.warnings
        assert warning.startswith("WARNING: folds did not converge at 1 of 3 values of C")
        assert warning.endswith(base.PRECISION.advice)
        assert (", including the best" in warning) == (f"Best C = {search.MAX_C:g} " in console.text)


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


@every_row
def test_solvers_end_wherever_they_are(row, monkeypatch):
    monkeypatch.setattr(row_storage, "GRAM_PIECE_PAIRS", 1)
    for checks in (0, 3, 60):
        with case_of(f"{checks} checks"):
            problems = problems_of(table_of(*made(60, 200)), settings_of(row))
            results, certificate = problems.fit_and_certify(stop=AfterChecks(checks))
            assert np.all(np.isfinite(problems.weights(results))) and np.isfinite(certificate.gap)
            assert all(r.status is not base.TIME and r.history for r in results)
            if row.optimal and row.kind == "classification":
                for k, result in enumerate(results):
                    assert problems.primal(k, result.w) <= problems.value_at_zero(k) * (1 + 1e-9)
