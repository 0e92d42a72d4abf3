"""--add and --remove with --method paper: row by row, as Eqs. 4 to 10; the state of both methods and between them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from adapt_suite import apart, batch, draw, text_of_rows, weights_in

from svmtool.linalg.systems import Factored
from svmtool.papers import lssvm
from svmtool.solvers.shared.base import TIME

ROWS, NEW = draw(np.random.default_rng(1), 40, 5), draw(np.random.default_rng(2), 12, 7)
STATE = "m.state.npz"


@pytest.fixture
def changed(svm_train):
    """Returns svm_train -q -s 71, with files d, new, and m, the model of d."""
    Path("new").write_text(text_of_rows(NEW))
    Path("some").write_text(text_of_rows(ROWS[:9]))
    assert svm_train("-q", "-s", 71, "d", "m", data=text_of_rows(ROWS)) == (0, "", "")
    return lambda *argv: svm_train("-q", "-s", 71, *argv)


def counted(monkeypatch):
    """The rows that Eqs. 4 to 10 add and remove, and the factorisations, from now on."""
    counts = {"add": 0, "remove": 0, "factors": 0}

    def counting(name, inner):
        def call(*args):
            counts[name] += 1
            return inner(*args)

        return call

    from svmtool.training.adapting import paper_form

    monkeypatch.setattr(paper_form, "add", counting("add", lssvm.add))
    monkeypatch.setattr(paper_form, "remove", counting("remove", lssvm.remove))
    monkeypatch.setattr(Factored, "__init__", counting("factors", Factored.__init__))
    return counts


def test_a_row_costs_one_update_and_no_factorisation(changed, monkeypatch):
    counts = counted(monkeypatch)
    assert changed("--add", "new", "-i", "m") == (0, "", "")
    assert changed("--remove", "some", "-i", "m") == (0, "", "")
    assert counts == {"add": len(NEW), "remove": 9, "factors": 0}
    assert apart(weights_in("m"), batch(ROWS[9:] + NEW)) <= 1e-9


def test_a_model_keeps_its_method(changed, monkeypatch):
    """Without --method by the state; with it from one method to the other and back."""
    rows = ROWS
    for asked, version in (((), 2), (("--method", "fast"), 1), ((), 1), (("--method", "paper"), 2), ((), 2)):
        counts = counted(monkeypatch)
        assert changed("--add", "new", "-i", "m", *asked) == (0, "", "")
        rows = rows + NEW
        assert int(np.load(STATE)["version"]) == version
        assert counts["add"] == (len(NEW) if version == 2 else 0)
        assert apart(weights_in("m"), batch(rows)) <= 1e-9


def test_a_removal_without_digits_leaves_all_as_it_was(svm_train):
    """And a stream in which a row cannot be added keeps the model of its sums."""
    rows = "1 1:1e5\n-1 1:1\n1 1:2\n"
    assert svm_train("-q", "-s", 71, "d", "m", data=rows)[0] == 0
    Path("out").write_text("-1 1:1\n1 1:1e5\n")
    before = {name: Path(name).read_bytes() for name in ("m", STATE, "m.state.rows")}
    status, _, err = svm_train("-q", "-s", 71, "--remove", "out", "-i", "m")
    assert status == 1 and err.startswith("out: line 2: Eq. 8 divides by 1 - x'Px = ") and "use --method fast" in err
    assert before == {name: Path(name).read_bytes() for name in before}
    assert svm_train("-q", "-s", 71, "--method", "fast", "--remove", "out", "-i", "m")[0] == 0


DAMAGE = {
    "a wrong shape": {"inverse": np.ones((1, 20))},
    "other weights": {"w": np.ones((5, 1))},
    "not finite": {"inverse": np.full((1, 21), np.nan)},
    "whole numbers": {"w": np.ones((6, 1), np.int64)},
    "another version": {"version": np.array(3)},
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_p_is_refused(changed, damage):
    out = io.BytesIO()
    with np.load(STATE) as file:
        np.savez(out, **{**dict(file), **damage})
    Path(STATE).write_bytes(out.getvalue())
    status, _, err = changed("--add", "new", "-i", "m")
    assert status == 1 and err.startswith(STATE) and err.count("\n") == 1


def test_a_false_p_is_reported_by_the_certificate(changed):
    out = io.BytesIO()
    with np.load(STATE) as file:
        np.savez(out, **{**dict(file), "inverse": 0.3 * file["inverse"]})
    Path(STATE).write_bytes(out.getvalue())
    status, _, err = changed("--add", "new", "-i", "m")
    assert status == 0 and "rounding in the updates row by row has changed the weights: use --method fast" in err
    assert changed("--add", "new", "-i", "m", "--method", "fast") == (0, "", "")
    assert apart(weights_in("m"), batch(ROWS + NEW + NEW)) <= 1e-9


def test_a_run_that_ends_before_all_rows_are_added_writes_no_model(svm_train, monkeypatch):
    def early(steps, monitor):
        next(steps)
        point = next(steps)
        monitor.step(point.objective, point.bound)
        return point, TIME

    monkeypatch.setattr(lssvm, "run", early)
    status, _, err = svm_train("-q", "-s", 71, "d", "m", data=text_of_rows(ROWS))
    assert status == 1 and "m is not written: the run ended before" in err and not Path("m").exists()
