"""The experiments on kernels, least squares and novelty: evaluator, data, and evaluation of ended runs."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import scipy.sparse
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from experiments import certify, report, sets, studies
from experiments.declare import Cell, Data, Outcome
from experiments.runner import Runner
from experiments.studies import alfpgm_tables, fosvm

SMALL = Data("breast_cancer", rows=80, unit=True)
NORMAL = Data("breast_cancer", unit=True, normal=-1)
VERSIONS: dict[str, str] = {}  # of the tools, which all runners here ask for once


@pytest.fixture
def runner(tmp_path):
    made = Runner([REPOSITORY / "data"], tmp_path, sys.executable)
    made.versions = VERSIONS
    return made


@pytest.mark.parametrize(("density", "size"), [(1.0, 7), (1.0, 1 << 18), (0.05, 100)])
def test_kernel_values_agree_with_a_loop_over_pairs(density, size):
    rng = np.random.default_rng(2)
    X, S = (scipy.sparse.csr_matrix(np.where(rng.random((n, 30)) < density, rng.random((n, 30)), 0.0)) for n in (11, 6))
    a = rng.normal(size=6)
    pairs = [[np.sum((x - s) ** 2) for s in S.toarray()] for x in X.toarray()]
    assert certify.kernel_values(S, a, 0.7, X, size) == pytest.approx(np.exp(-0.7 * np.array(pairs)) @ a, rel=1e-12)


def test_the_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(5)
    y, f = np.where(rng.random(40) < 0.4, 1.0, -1.0), rng.integers(0, 6, 40).astype(float)
    pairs = [np.sign(a - b) for a, b in itertools.product(f[y > 0], f[y < 0])]
    assert certify.area(y, f) == pytest.approx(0.5 + 0.5 * np.mean(pairs), rel=1e-12)


def test_other_classes_are_thinned_and_not_trained_on(tmp_path):
    rows = [f"{k % 3} 1:{k + 1}" for k in range(600)]
    (tmp_path / "set").write_text("\n".join(rows) + "\n")

    def parts(**asked):
        with np.load(sets.prepared(Data("set", test=0.5, normal=2, **asked), [tmp_path], tmp_path / "made")) as made:
            return {name: made[name] for name in made.files}

    found = parts()
    inside, outside = found["X_values"].astype(int) - 1, found["T_values"].astype(int) - 1
    assert np.all(inside % 3 == 2) and np.all(found["y"] == 1.0) and not set(inside) & set(outside)
    assert np.array_equal(np.where(outside % 3 == 2, 1.0, -1.0), found["t"])
    normal = np.count_nonzero(found["t"] == 1.0)
    assert normal + len(inside) == 200 and np.count_nonzero(found["t"] == -1.0) == normal // 10
    fewer = parts(rows=30)
    assert len(fewer["y"]) == 30 and np.array_equal(fewer["T_values"], found["T_values"])


def test_kernel_cells_tell_of_training_rows_and_certified_optima(runner):
    settings = {"C": 10.0, "gamma": 1.0, "tolerance": 1e-6}
    ours = runner.run(Cell("ours", "kernel -s 0", SMALL, "hinge", settings, (100.0, 1.0), "cache_mb"))
    assert ours.ended == "done" and ours.words == ""
    first, second = ours.steps
    assert first["rows"] == 80 and 0 < first["support"] <= 80
    assert first["gap"] * first["objective"] <= 1e-6 * 80 * 10.0, "-e bounds the violation of each row, whose cost is C"
    assert second["objective"] == pytest.approx(first["objective"], rel=1e-5)
    assert round(80 * first["training_error"], 9).is_integer() and first["training_error"] < 0.2


def test_novelty_cells_tell_of_areas_and_rejected_rows(runner):
    ours = runner.run(Cell("ours", "kernel -s 80", NORMAL, "", {"theta": 0.1, "method": "fast"}, (0.1, 10.0), "gamma"))
    assert ours.ended == "done"
    for step in ours.steps:
        assert 0.0 <= step["valid"] <= 1.0 and step["auc"] > 0.5
        assert 0.0 <= step["rejected"] < 0.5 and "training_error" not in step


def test_the_limit_of_a_cell_is_that_of_its_fits(runner):
    cut = runner.run(Cell("ours", "kernel -s 0", SMALL, "hinge", seconds=1e-3))
    assert cut.ended == "over time" and not cut.steps


def outcome(seconds: float | None, ended: str = "done", bound: float = 10.0) -> Outcome:
    steps = [] if seconds is None else [{"step": None, "seconds": seconds}]
    return Outcome(Cell("ours", "m", SMALL, seconds=bound), steps, ended)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (outcome(1.0), outcome(2.0), True),
        (outcome(2.0), outcome(1.0), False),
        (outcome(1.0), outcome(None, "over time"), True),
        (outcome(None, "over time"), outcome(1.0), False),
        (outcome(15.0, bound=20.0), outcome(None, "over time"), None),
        (outcome(None, "over time"), outcome(None, "over time"), None),
        (outcome(1.0), outcome(None, "absent"), None),
        (outcome(1.0), outcome(None, "failed"), None),
    ],
)
def test_a_cut_run_is_the_slower_one_only_beyond_its_bound(one, other, answer):
    assert alfpgm_tables.quicker({"a": one, "b": other}, "a", "b") is answer


def test_novelty_is_chosen_on_one_half_and_reported_on_the_other():
    low, high = {"valid": 0.6, "auc": 0.9}, {"valid": 0.7, "auc": 0.5}
    group = {key: Outcome(Cell("t", "m", NORMAL), [], "absent") for key in fosvm.TOOLS}
    group["LIBSVM, nu 0.01"].steps.append(low)
    group["LIBSVM, nu 0.1"].steps.append(high)
    assert fosvm.chosen(group, fosvm.OCSVM) is high and fosvm.chosen(group, fosvm.FOSVM1) is None


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


COMPARED = (
    "alm-table1", "alm-table2", "mfn-table4", "mfn-figure1", "nesvm-figure3", "nesvm-figure4", "nesvm-figure6",
    "alsvm-table2", "alfpgm-table2", "alfpgm-figure8", "sgd-lssvm-table2", "fosvm-detection",
)  # fmt: skip
MINE = [name for name in studies.all_of_them() if name != "mfn-table2"]  # which compares two ways of scipy


@pytest.mark.parametrize("name", MINE)
def test_without_peers_our_figures_are_reported(name):
    e = studies.all_of_them()[name]
    finding = e.conclude([outcome_of(cell) for cell in e.cells(True)])
    text = report.markdown({}, [(e, finding)])
    assert finding.measured in text and "nan" not in finding.measured and "inf" not in finding.measured
    assert finding.tables or finding.plots


@pytest.mark.parametrize("name", COMPARED)
def test_without_peers_no_comparison_is_claimed(name):
    e = studies.all_of_them()[name]
    assert e.conclude([outcome_of(cell) for cell in e.cells(True)]).holds == "not measured"
