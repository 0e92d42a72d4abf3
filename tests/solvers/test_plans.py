"""The contract of solvers: METHODS and a pure plan."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import reference
from engine import engine
from naming import case_of
from reference import table_of

from svmtool import registry
from svmtool.params import Settings
from svmtool.training.reductions.base import Reduction, problems_of

every_row = pytest.mark.parametrize("row", registry.SOLVERS, ids=lambda row: row.name)
SIZES = {"small": (60, 8), "tall": (3000, 70), "few rows": (20, 45), "wide": (30, 1600)}


def problems(row: registry.Solver, size: str, **settings) -> Reduction:
    """Labels 1, -1 and 2 for classes or ranks, real numbers for a regression."""
    n, d = SIZES[size]
    p = reference.random_problem(3, n, d)
    labels = {"regression": p.X[:, 0], "all classes": np.arange(n) % 3}.get(row.kind, p.y)
    return problems_of(table_of(p.X, labels), Settings.of(solver=row.number, **settings))


def contents(task) -> dict[str, bytes]:
    """The bytes of a task's vectors."""
    return {name: pickle.dumps(getattr(task, name, None)) for name in ("y", "number", "cost", "target")}


@every_row
def test_a_plan_is_pure_and_names_a_method(row):
    for size in SIZES:
        found = problems(row, size)
        found.prepare()
        task, rule = found.task(0), found.rule(0)
        before = contents(task)
        with case_of(size):
            first, second = (registry.planner(found.method)(task, rule) for _ in range(2))
            assert first == second and first.method in registry.methods(found.method) and first.why
            assert contents(task) == before


@pytest.mark.parametrize("size, words", [("small", "factorised matrix: 8 features"), ("wide", "1600 features")])
@pytest.mark.parametrize("number", [2, 40])
def test_explain_of_a_data_file_tells_the_methods(number, size, words, svm_train):
    n, d = SIZES[size]
    p = reference.random_problem(3, n, d)
    data = reference.text_of(p.X, np.arange(n) % 3)
    plain = svm_train("--explain", *engine(number))[1]
    status, text, error = svm_train("--explain", *engine(number), "d", data=data)
    assert status == 0 and error == "" and text.startswith(plain)
    [line] = text[len(plain) :].splitlines()
    assert line.startswith("method       ") and words in line
    assert svm_train("--explain", *engine(number), "absent")[0] == 1
