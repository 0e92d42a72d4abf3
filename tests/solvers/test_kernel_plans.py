"""Solvers with kernels plan how they begin from the problem alone, as --explain and the log say; each method solves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from kernel_suite import KERNELS, certified, oracle, random_data, run, text

from svmtool import registry
from svmtool.kernels import decomposition
from svmtool.params import Options
from svmtool.solvers.shared.base import Monitor, Rule

every_row = pytest.mark.parametrize("row", registry.KERNEL_SOLVERS, ids=lambda row: row.name)


def problem_of(row, n=60, **options):
    problem = random_data(n).problem(row, KERNELS["rbf"])
    problem.options = Options(**options)
    return problem


@every_row
def test_a_plan_depends_on_the_problem_alone_and_changes_nothing(row):
    problem, plan = problem_of(row), registry.planner(row)
    before = {name: np.copy(value) for name, value in vars(problem).items() if isinstance(value, np.ndarray)}
    first = plan(problem, Rule())
    assert first == plan(problem, Rule()) and first.method in registry.methods(row) and first.why
    assert all(np.array_equal(getattr(problem, name), value) for name, value in before.items())


@every_row
def test_each_method_solves_and_is_recorded_first(row, monkeypatch):
    """Sets of rows are so small that the problem needs several."""
    monkeypatch.setattr(decomposition, "SET_SIZE", 16)
    problem = problem_of(row)
    best = oracle(row, problem)
    for method, words in registry.methods(row).items():
        if words.startswith("no stage") or method == "sample":
            continue
        seen = []
        gap = 1e-3 if method == "paper" else 1e-6
        monitor = Monitor(gap, max_seconds=60, sink=lambda seen=seen, **record: seen.append(record))
        found = certified(problem, run(registry.entry(row), problem, monitor, method=method))
        assert seen[0]["method"] == words and seen[0]["why"]
        assert found.result.status.converged and found.certificate.gap <= 1.01 * gap
        assert found.result.objective == pytest.approx(best.result.objective, rel=2 * gap)
        assert found.result.history is monitor.history


@pytest.mark.parametrize(
    "row", [r for r in registry.KERNEL_SOLVERS if r.number not in (51, 81)], ids=lambda row: row.name
)
def test_a_run_from_a_solution_ends_at_once(row):
    """start: alpha to begin at, which determines b but for -s 51."""
    problem = problem_of(row)
    first = run(registry.entry(row), problem, Monitor(1e-6))
    monitor = Monitor(1e-3)
    again = run(registry.entry(row), problem, monitor, start=first.alpha)
    assert again.status.name == "gap" and monitor.iterations <= 2
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


@pytest.mark.parametrize("options, words", [
    ("-t 2", ["pairs of classes, many in one compiled call: 3 of 3, at most 512 rows"]),
    ("-s 52 --method fast -t 2 -m 0.001", ["conjugate gradients: 3 of 3 pairs of classes; the largest: 40 rows"]),
    ("-s 80 --method fast -t 2", ["cutting planes, all rows examined each round: "]),
])  # fmt: skip
def test_explain_of_a_data_file_tells_the_methods(options, words, svm_train):
    data = text(random_data(60).X, np.arange(60) % 3)
    plain = svm_train("--explain", *options.split())[1]
    status, printed, error = svm_train("--explain", *options.split(), "d", data=data)
    assert status == 0 and error == "" and printed.startswith(plain)
    lines = printed[len(plain) :].splitlines()
    assert len(lines) == len(words)
    assert all(re.match(f"method +{re.escape(w)}", line) for line, w in zip(lines, words, strict=True))
    assert svm_train("--explain", *options.split(), "absent")[0] == 1
