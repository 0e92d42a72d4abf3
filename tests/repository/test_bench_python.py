"""The benchmark's part of fits from Python: objectives, tolerances until they suffice, and what it reports."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import scipy.sparse
from bench_context import context

import docs_tables
from bench_parts import bars, child_python, python, python_distribution
from bench_parts.certify import rows_of
from bench_parts.measure import CommandFailed

pytest.importorskip("sklearn")

ON = {"processor": "P", "cores": 2, "limit": 10.0, "code": "c", "peers": {"scikit-learn": "1"}}


def run(seconds, ended="yes"):
    return {"seconds": seconds, "ended": ended}


def row(name, kind="squared hinge", C=1.0, mb=5.0, absent=(), **runs):
    return {"set": name, "solver": kind, "C": C, "mb": mb, "on": ON, "date": "2026-01-01", "limit": 8.0,
            "absent": dict(absent),
            "runs": {tool.replace("_", " "): found for tool, found in runs.items()}}  # fmt: skip


def test_ratios_and_what_was_not_reached():
    found = python_distribution.Evaluation({"sets": ["a", "b"], "pairs": 9, "on": ON}, [
        row("a", ours=run(1.0), LinearSVC=run(4.0), liblinear_1=run(3.0), liblinear_2=run(2.0)),
        row("b", ours=run(2.0), LinearSVC=run(1.0), liblinear_1=run(9.0, "over"), liblinear_2=run(1.0, "short")),
        row("c", mb=0.1, ours=run(9.0, "over"), LinearSVC=run(5.0), absent={"snapml": "not installed"}),
        row("d", kind="rbf", ours=run(1.0), SVC={**run(0.0, "failed"), "words": "MemoryError: no memory"}),
        {"set": "d", "solver": "rbf", "C": 1.0, "on": ON, "date": "2026-01-01", "left_out": "too many rows"},
        {"set": "e", "solver": "rbf", "C": 1.0, "on": ON, "date": "2026-01-01", "failed": "OSError: no memory"},
    ])  # fmt: skip
    assert found.linear_svc.values == [4.0, 0.5, 0.5]  # ours counts with the limit of 10 s
    assert found.train.values == [2.0] and len(found.train.over) == 1 and not found.train.short
    assert found.train.at_limit == [4.0] and found.train.least_mean == pytest.approx(math.sqrt(8.0))
    text = found.text()
    assert "| LinearSVC, both losses | 3 | 1.00 | 1.00 | 67 % | 0.5 | squared hinge, C 1, b | 0 | 0 |" in text
    assert "| LinearSVC, both losses, files from 3 MB | 2 | 1.41 | 1.41 | 50 % |" in text
    assert "| liblinear 2: squared hinge | 1 | 2.00 | 2.00 | 0 % | 2 | squared hinge, C 1, a | 0 | 1 |" in text
    failed = "SVC fails (MemoryError: no memory): 1 (rbf, C 1, d)."
    for words in ("6 of 9 pairs", failed, "Ours does not reach it and counts with the limit: 1", "Left out: 1"):
        assert words in text
    assert "snapml: squared hinge left out of 1 pairs: not installed." in text
    bar = {name: value for name, value, _, _ in found.bars()}
    assert bar["LinearSVC / ours to a gap of 0.0001, worst"] == 0.5
    assert all(math.isnan(value) for _, value, _, _ in python_distribution.Evaluation(found.header, []).bars())


class Scripted:
    """A child that gives prepared answers by tolerance."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def ask(self, tool, tol, limit):
        self.asked.append((tol, limit))
        return self.answers[len(self.asked) - 1]


def fit(objective, seconds=1.0, **more):
    return {"objective": objective, "seconds": seconds, **more}


@pytest.mark.parametrize(("answers", "ended", "steps"), [
    ([fit(110.0), fit(100.001)], "yes", 2),
    ([fit(100.001, gap=0.1), fit(100.001, gap=1e-5)], "yes", 2),  # it has to be certified too
    ([fit(110.0), {}], "over", 2),
    ([fit(110.0, 4.0), fit(110.0, 4.0)], "over", 2),
    ([fit(110.0, 0.1)] * 8, "short", 8),
    ([{"error": "MemoryError: no memory"}], "failed", 1),
    ([fit(99.0)], "wrong", 1),
])  # fmt: skip
def test_tolerances_are_tried_until_one_suffices(answers, ended, steps):
    child = Scripted(answers)
    found = python.climbed(child, "LinearSVC", 100.0, 8.0)
    assert found["ended"] == ended and len(child.asked) == steps
    if ended == "yes":
        assert found["tol"] == pytest.approx(0.01) and found["seconds"] == 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", python.KINDS)
@pytest.mark.parametrize("name", ["breast_cancer", pytest.param("digits", marks=pytest.mark.exhaustive)])
def test_objectives_lie_within_the_certificate(kind, name, data):
    """The neutral evaluation of any tool's result is at least our certified bound, and ours is within its gap."""
    X, y = rows_of(str(data / name))
    rows = np.random.default_rng(1).permutation(len(y))[:100]
    scaled = X[rows] @ scipy.sparse.diags(1.0 / np.maximum(abs(X).max(axis=0).toarray()[0], 1.0))
    tools = child_python.Tools(child_python.Data(scaled.tocsr(), y[rows]), kind, 1.0)
    low = tools.minimum(1e-9)["dual"]
    for tool, fitted in tools.fits.items():
        found = fitted(1e-4 if tool == "ours" else 0.1)
        value = tools.value(child_python.weights_of(found) if hasattr(found, "nr_class") else found)
        assert python.distance(value, low) >= -1e-9, tool
        if tool == "ours":
            assert python.distance(value, low) <= found.gap_ + 1e-9
    assert "ours" in tools.fits and all(tools.absent.values())


def test_pairs_are_measured_kept_and_not_measured_again(tmp_path, data, monkeypatch):
    folder = tmp_path / "sets"
    folder.mkdir()
    (folder / "few").write_text("".join((data / "breast_cancer").read_text().splitlines(keepends=True)[:60]))
    monkeypatch.setattr(bars, "COSTS", (1.0,))
    monkeypatch.setattr(python, "KINDS", ("squared hinge",))
    monkeypatch.setattr(python, "ENOUGH_SECONDS", 0.0)
    ctx = context(tmp_path, folder, peer_python=sys.executable)
    python.python(ctx)
    (found,) = ctx.report.sections[0]["rows"]
    assert found["runs"]["ours"]["ended"] == "yes" and "LinearSVC" in found["runs"]
    assert found["minimum"]["dual"] <= found["minimum"]["primal"] * (1 + 1e-12)
    again = context(tmp_path, folder, peer_python=sys.executable)
    python.python(again)
    assert again.report.sections[0]["rows"] == [] and len(again.report.sections[0]["bars"]) == 3
    assert docs_tables.MEASURED["python"](str(tmp_path / "python.jsonl")).startswith("1 of 1 pairs")


def test_a_fit_over_the_limit_ends_and_the_process_starts_again(tmp_path, data):
    order = {"path": str(data / "breast_cancer"), "kind": "hinge", "C": 1e6}
    with python.Child(sys.executable, order) as child:
        assert child.ask("LinearSVC", 1e-12, 0.02) == {}
        assert child.ask("LinearSVC", 1e3, 60.0)["objective"] > 0.0
        assert "KeyError" in child.ask("no such tool", 0.1, 60.0)["error"]
    with pytest.raises(CommandFailed, match="measuring process failed"):
        python.Child(sys.executable, {**order, "path": str(tmp_path / "none")})
