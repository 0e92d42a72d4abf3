"""The benchmark's parts for kernels: sets, budgets, printed objectives, and small real runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_context import context
from conftest import REPOSITORY

import docs_tables
from bench_parts import bars, kernel, kernel_ls, kernel_predict
from bench_parts.measure import CommandFailed

PAIRS = """*
optimization finished, #iter = 4
nu = 0.431029
obj = -100.877292, rho = 0.424466
nSV = 132, nBSV = 107
*
optimization finished, #iter = 9
nu = 0.1
obj = -25.000000, rho = -1
nSV = 13, nBSV = 7
Total nSV = 145
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_set_is_cut_and_split(tmp_path, data):
    source = tmp_path / "set"
    source.write_text("4 1:1\n5 2:1\n0\n9 1:2\n")
    ctx = context(tmp_path, data)
    made = kernel.prepared(ctx, str(source), 3, 4)
    assert Path(made).read_text() == "+1 1:1\n-1 2:1\n+1\n"
    assert kernel.prepared(ctx, str(source), None) == str(source)


def test_a_run_over_the_budget_stands_as_a_lower_bound(tmp_path):
    count = tmp_path / "count"
    jobs = {
        "quick": python("print(1)"),
        "slow": kernel.within(0.5, python(f"import time; open({str(count)!r}, 'a').write('x'); time.sleep(60)")),
        "alarm": python("import signal, time; signal.setitimer(signal.ITIMER_REAL, 0.1); time.sleep(60)"),
        "broken": python("import sys; sys.exit('no such kernel')"),
        "own": python("print('{\"seconds\": 7.5}')"),
    }
    runs = kernel.side_by_side(jobs, 0.5, 2, str(tmp_path / "out"))
    assert runs["slow"].over and runs["slow"].seconds == [0.5] and count.read_text() == "x"
    assert runs["alarm"].over and str(runs["alarm"]) == "over 0.5 s"
    assert "no such kernel" in runs["broken"].failed and runs["broken"].facts().keys() == {"failed"}
    assert runs["own"].median == 7.5
    assert not runs["quick"].over and len(runs["quick"].seconds) == 2
    assert kernel.ratio_of(runs["quick"], runs["slow"]) == 0.5 / runs["quick"].median
    assert kernel.ratio_of(runs["slow"], runs["quick"]) == kernel.NEVER
    assert kernel.ratio_of(runs["broken"], runs["quick"]) == kernel.NEVER
    assert kernel.ratio_of(runs["quick"], runs["broken"]) is None
    assert kernel.ratio_of(runs["slow"], runs["alarm"]) is None


def test_objectives_are_compared_in_sum_and_each():
    found = kernel.objectives(PAIRS)
    assert found == [-100.877292, -25.0]
    total, worst = kernel.apart(found, [-100.877292, -25.5])
    assert total == pytest.approx(0.5 / 126.377292) and worst == pytest.approx(0.5 / 25.5)
    with pytest.raises(CommandFailed):
        kernel.apart(found, found[:1])


def test_our_command_prints_objectives_that_are_found(svm_train, tmp_path):
    status, out, _ = svm_train("-t", "2", "d", "m", data="1 1:1\n2 1:2\n3 1:4\n1 1:1.1\n")
    assert status == 0 and len(kernel.objectives(out)) == 3


def test_parts_run_and_their_figures_become_tables(tmp_path):
    small = tmp_path / "small"
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 5))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=150) > 1.0, 1, -1)
    rows = (f"{label} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(x, 1)) for label, x in zip(y, X, strict=True))
    small.write_text("\n".join(rows) + "\n")
    argv = [
        sys.executable, REPOSITORY / "scripts" / "bench.py", "--only", "kernel,kernel-pairs", "--repeats", "1",
        "--peer-python", "", "--libsvm", "", "--liblinear", "", "--cache", tmp_path / "cache", small,
    ]  # fmt: skip
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = tmp_path / "cache" / "bench.json"
    training, pairs = json.loads(written.read_text())["sections"]
    assert training["rows"][0]["tools"]["ours"]["peak_mb"] > 0
    held = {bar["text"]: bar["holds"] for bar in training["bars"]}
    assert held["kernels, LIBSVM / ours, geometric mean of 0"] is None
    assert held["kernels, MB above -m 1000 and the data, worst"] is True
    assert [row["pairs"] for row in pairs["rows"]] == list(bars.PAIRS)
    for row in pairs["rows"]:
        for form in ("ours", "paper"):
            assert row[form]["converged"] and row[form]["violation"] <= bars.KERNEL_EPS
            assert row[form]["objective"] == pytest.approx(pairs["rows"][0]["ours"]["objective"], rel=1e-4)
    shown = docs_tables.figures([str(written)])
    assert "| training with a kernel, s | ours |" in shown and "| small | default |" in shown


def test_prediction_is_compared_with_libsvm(tmp_path, data, libsvm_programs, monkeypatch):
    monkeypatch.setattr(bars, "KERNEL_PREDICT_CASES", (("digits", "digits.t", 10.0, 1e-3, 400),))
    ctx = context(tmp_path, data, libsvm=str(libsvm_programs["svm-train"].rpartition("/")[0]))
    kernel_predict.kernel_predict(ctx)
    (row,) = ctx.report.sections[-1]["rows"]
    assert row["differ"] == 0 and set(row["tools"]) == {"ours", "LIBSVM"} and row["ratio"] > 0


def test_least_squares_stand_beside_svc(tmp_path, data, monkeypatch):
    monkeypatch.setattr(bars, "KERNEL_LS_CASES", (("breast_cancer", 1.0, 1e-3),))
    ctx = context(tmp_path, data)
    kernel_ls.kernel_ls(ctx)
    rows = ctx.report.sections[-1]["rows"]
    assert [set(row["tools"]) for row in rows] == [{"-s 73", "-s 52", "-s 60"}]
    assert all(run["accuracy"] > 0.85 and run["gap"] <= 1e-2 for run in rows[0]["tools"].values())
    train, test = kernel_ls.parted(ctx, "diabetes", str(data / "diabetes"))
    lines = [Path(part).read_bytes().splitlines() for part in (train, test)]
    assert sorted(lines[0] + lines[1]) == sorted((data / "diabetes").read_bytes().splitlines())
    assert len(lines[1]) == sum(map(len, lines)) // kernel_ls.TESTED
