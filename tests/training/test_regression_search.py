"""-C of a regression: LIBLINEAR's search over p and C."""

from __future__ import annotations

import numpy as np
import pytest
from reference import text_of
from regression_problems import ROWS, Problem, Solved, numbers, random_problem

from svmtool.training.validation import folds

N = 20  # rows
SEARCHING = [row for row in ROWS if "-C" in row.supported]
searching = pytest.mark.parametrize("row", SEARCHING, ids=lambda row: row.name)


class Search:
    """What -C prints: lines as (log2 C, p, mean squared error), warnings between them, and the best three numbers."""

    def __init__(self, out: str):
        first, *middle, last = out.splitlines()
        self.folds = numbers(r"Doing parameter search with (\d+)-fold cross validation.$", first)[0]
        form = r"log2c=(.{7})\tp=(.{7})\tMean squared error=(\S+)$"
        self.capped = middle.count("WARNING: maximum C reached.")
        self.lines = [tuple(numbers(form, line)) for line in middle if not line.upper().startswith("WARNING")]  # 2.30
        self.best = numbers(r"Best C = (\S+) Best p = (\S+)  CV MSE = (\S+)$", last)

    def of(self, p: float) -> list[tuple]:
        return [line for line in self.lines if line[1] == round(p, 2)]


def searched() -> Problem:
    """Labels up to 2: p falls by 0.1."""
    p = random_problem(4, N, 3)
    return p._replace(t=p.t / np.max(np.abs(p.t)) * 2.0, cost=np.ones(N))


@searching
def test_search_visits_each_p_and_doubles_C(row, svm_train):
    p = searched()
    status, out, err = svm_train("-s", row.number, "-C", "-v", 2, "-p", 0.35, "d", data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    found, capped = Search(out), 0
    assert found.folds == 2
    halves = [0.1 * i for i in range(3, -1, -1)]
    assert sum(len(found.of(half)) for half in halves) == len(found.lines)
    largest = np.max(np.sum(p.X**2, axis=1))
    for half in halves:
        loss = np.sum(np.maximum(np.abs(p.t) - half, 0.0) ** 2)
        first = np.floor(np.log2(0.01 * loss / (8 * np.sum(np.abs(p.t)) ** 2 * largest)))
        logs = [line[0] for line in found.of(half)]
        assert logs == [first + k for k in range(len(logs))]
        capped += logs[-1] == 20.0
        assert len(logs) >= 5
    assert found.capped <= capped
    error = min(line[2] for line in found.lines)
    best = next(line for line in found.lines if line[2] == error)
    assert found.best[2] == error and found.best[1] == pytest.approx(best[1], abs=0.005)
    assert found.best[0] == pytest.approx(2.0 ** best[0], rel=1e-5)
    order, starts = folds.liblinear_folds(N, 2)
    for log2c, half, squares in found.lines[7::15]:
        got = np.empty(N)
        for k in range(2):
            inside, outside = folds.fold_rows(order, starts, k)
            part = Problem(p.X[inside], p.t[inside], np.full(len(inside), 2.0**log2c), half)
            got[outside] = p.X[outside] @ Solved(row, part).w
        assert squares == pytest.approx(np.mean((got - p.t) ** 2), rel=1e-3)


@searching
@pytest.mark.parametrize("asked, first", [(0.75, 0.7), (5.0, 1.9)])
def test_search_starts_at_the_p_and_the_C_given(row, asked, first, svm_train):
    p = searched()
    start = ("-s", row.number, "-C", "-c", 8e5, "-p", asked, "d")
    status, out, err = svm_train(*start, data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    found = Search(out)
    assert found.folds == 5 and found.lines[0][:2] == (19.61, pytest.approx(first))
    assert found.lines[-1][1] == 0.0
    lines = out.splitlines()
    assert svm_train("-q", "--threads", 1, *start) == (0, f"{lines[0]}\n{lines[-1]}\n", "")
