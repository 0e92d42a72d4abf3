"""The benchmark of pairs: a run on one small set with a stub of LIBLINEAR, its peers, and the table's arithmetic."""

from __future__ import annotations

import csv
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from naming import case_of
from shell_commands import put_script

sys.path.insert(0, str(REPOSITORY / "scripts"))

import svmtool  # noqa: E402
from bench import peers, problem, runs, sets, table  # noqa: E402
from bench.problem import Problem  # noqa: E402
from svmtool.formats.svmlight import table as svmlight  # noqa: E402

ESTIMATORS = [peer for peer in peers.all_peers().values() if peer.name.startswith(("sklearn.", "svmtool.fit"))]


@pytest.fixture
def poor(tmp_path, data, svm_train):
    """A folder with a `train` that copies a model far from the optimum."""
    assert svm_train("-q", "-s", 2, "-c", 1e-6, data / "breast_cancer", tmp_path / "poor")[0] == 0
    put_script(tmp_path / "train", f'while [ $# -gt 2 ]; do shift; done\n/bin/cp "{tmp_path}/poor" "$2"')
    return tmp_path


@pytest.mark.process
def test_pairs_are_run_saved_and_not_run_again(poor, data, monkeypatch, capsys):
    monkeypatch.setenv("LIBLINEAR_DIR", str(poor))
    main = runpy.run_path(str(REPOSITORY / "scripts" / "bench" / "__main__.py"))["main"]
    argv = f"--results {poor}/results --repeats 1 {data}/breast_cancer --solvers 2 --C 1 --peer LIBLINEAR".split()
    assert main(argv) == 0
    shown = capsys.readouterr().out
    (line,) = (poor / "results" / "pairs.jsonl").read_text().splitlines()
    row = json.loads(line)
    best = svmtool.fit(*svmtool.read_svmlight(data / "breast_cancer"), solver=2, C=1, gap=1e-9).certificate
    assert best.dual <= row["ours"]["objective"] <= best.primal * (1.0 + row["ours"]["gap"])
    assert table.excess(row) > table.WORSE and row["theirs"]["gap"] is None
    assert min(row[tool][what] for tool in ("ours", "theirs") for what in ("seconds", "peak_mb")) > 0.0
    (pair,) = csv.DictReader((poor / "results" / "pairs.csv").read_text().splitlines())
    assert (pair["set"], pair["peer"], float(pair["C"])) == ("breast_cancer", "LIBLINEAR", 1.0)
    assert (poor / "results" / "table.md").read_text().strip() in shown and "scikit-learn " in shown
    assert main(argv) == 0
    assert (poor / "results" / "pairs.jsonl").read_text().splitlines() == [line]


@pytest.mark.process
def test_a_module_is_run_in_a_process_of_its_own(tmp_path, data):
    options = peers.Options(tmp_path, 100.0)
    done = peers.named("svmtool.fit").run(str(data / "breast_cancer"), Problem(2, 0.01), None, options)
    assert done.ended == "yes" and done.seconds > 0.0 and done.peak_mb > 1.0 and done.objective > 0.0


@pytest.mark.process
def test_a_run_over_the_limit_is_ended():
    done = runs.once(["sleep", "60"], 0.2)
    assert done.ended == "over"


@pytest.mark.parametrize("peer", ESTIMATORS, ids=lambda peer: peer.name)
@pytest.mark.filterwarnings("ignore::Warning:sklearn")
def test_estimators_solve_the_problems_that_they_name(peer, data):
    """Where they converge, their objective is the minimum; none is below it."""
    rows = svmlight.read(str(data / "breast_cancer"))
    X, y = svmtool.read_svmlight(data / "breast_cancer")
    X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")
    X = X.multiply(1.0 / np.abs(X).max(axis=0).toarray()).tocsr()
    rows.values[:] = X.data
    solved = [Problem(s, 0.1, kernel) for kernel in (False, True) for s in (peer.kernel if kernel else peer.linear)]
    for one in solved:
        with case_of(one.options):
            best = svmtool.fit(X, y, gap=1e-6, **one.keywords).certificate
            found = problem.value(one, peer.fit(one, X, y), rows)
            assert best.dual * (1.0 - 1e-9) <= found <= best.primal * 1.02


def test_our_own_scripts_are_no_peers(tmp_path, monkeypatch):
    put_script(tmp_path / "liblinear-train", "exec svmtool train")
    monkeypatch.delenv("LIBLINEAR_DIR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    liblinear = peers.named("LIBLINEAR")
    assert "LIBLINEAR_DIR" in liblinear.missing(peers.Options(tmp_path, 1.0))
    put_script(tmp_path / "train", "exec something else")
    assert liblinear.words(peers.Options(tmp_path, 1.0)) == [str(tmp_path / "train")]


def test_sets_are_found_unpacked_and_told_apart(tmp_path):
    import lzma

    (tmp_path / "two").write_text("1 1:1\n-1 1:2\n")
    (tmp_path / "real.xz").write_bytes(lzma.compress(b"0.5 1:1\n2 1:2\n"))
    (tmp_path / "listed").write_text("1 1:1\n2 1:2\n")
    (tmp_path / "README.md").write_text("no set")
    (tmp_path / "CATALOG.tsv").write_text("name\tclasses\nlisted\tregression\n")
    found = {data.name: data.classes for data in sets.found([tmp_path], tmp_path / "cache", [], [])}
    assert found == {"two": 2, "real": None, "listed": None}
    assert (tmp_path / "cache" / "data" / "real").read_text().startswith("0.5")


def test_made_sets_are_the_same_every_time_and_have_two_classes(tmp_path):
    found, again = (sets.made(tmp_path / folder, 0.02) for folder in "ab")
    for one, other in zip(found, again, strict=True):
        text = Path(one.path).read_bytes()
        assert text == Path(other.path).read_bytes() and len(text) >= 2e4, one.name
        labels = np.sign(svmlight.read(one.path).labels)
        assert 0.3 < np.mean(labels > 0) < 0.7, one.name


def row(ours, theirs, mb=5.0, ended=("yes", "yes"), objectives=(1.0, 1.0), peer="LIBLINEAR", gap=1e-4, **more):
    tools = {
        tool: {"seconds": s, "peak_mb": 10.0 * s, "objective": o, "gap": gap, "ended": e, "message": "out of memory"}
        for tool, s, o, e in zip(("ours", "theirs"), (ours, theirs), objectives, ended, strict=True)
    }
    return {
        "date": "2026-01-01", "set": "a", "mb": mb, "classes": 2, "solver": 2, "kernel": False, "C": 1.0, "peer": peer,
        "beside": "svm-train", "limit": 60.0, **tools, **more,
    }  # fmt: skip


def test_the_table_has_the_distribution():
    rows = [
        row(1.0, 4.0, objectives=(1.0, 1.01)), row(2.0, 1.0, set="slow"), row(1.0, 60.1, ended=("yes", "over")),
        row(60.2, 60.1, ended=("over", "over")), row(1.0, 0.1, ended=("yes", "failed")),
    ]  # fmt: skip
    title, pairs, mean, below, worst, where, above, memory, over = table.cells("all", rows)
    assert (title, pairs, below, over) == ("all", "3", "33 %", "2")
    assert float(mean) == pytest.approx((4.0 * 0.5 * 60.0) ** (1 / 3), abs=0.01)
    assert (float(worst), where, above) == (0.5, "-s 2 -c 1 slow", "20 %")
    assert table.cells("none", rows[3:4])[1:3] == ("0", "-")
    text = table.text(rows, 40, "a machine")
    assert "5 of 40 pairs" in text and "Failed, theirs: 1 (LIBLINEAR: -s 2 -c 1 a: out of memory)" in text


def test_a_run_of_ours_that_fails_counts_with_the_limit():
    assert table.ratio(row(0.1, 3.0, ended=("failed", "yes"))) == pytest.approx(3.0 / 60.0)
    assert table.ratio(row(60.0, 3.0, ended=("over", "yes"))) == pytest.approx(3.0 / 60.0)
    assert table.ratio(row(0.1, 3.0, ended=("yes", "failed"))) is None


def test_promises_are_those_that_can_be_tested():
    certified, faster = "a certified relative gap after every run", next(iter(table.PROMISES))
    assert table.kept([]) == []
    assert dict(table.kept([row(1.0, 2.0), row(1.0, 3.0), row(2.0, 1.0)])) == {certified: True, faster: True}
    assert dict(table.kept([row(1.0, 2.0), row(2.0, 1.0)]))[faster] is False
    assert dict(table.kept([row(1.0, 2.0, mb=1.0, gap=None)])) == {certified: False}
