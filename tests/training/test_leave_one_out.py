"""--loo against training once for each row, without it."""

from __future__ import annotations

import numpy as np
import pytest
from adapt_suite import batch, dense, draw, text_of_rows

from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import MIN_DENSE_FEATURES
from svmtool.objectives.normal_equations import equations_of
from svmtool.objectives.task import Task
from svmtool.training.validation.leave_one_out import decision_values


def predicted(rows, x, label, C, bias, factor):
    """The label of x by the model of `rows`, whose classes come in order of appearance."""
    W = batch(rows, C, bias, factor)
    values = {k: float(w[: len(x)] @ x[: len(w)]) for k, w in W.items()}
    if len(W) == 2:  # in the model's order 0 is the second one's
        first, second = sorted(W, reverse=True) if set(W) == {-1, 1} else W
        return first if values[first] > 0 else second
    return max(values, key=values.get)


@pytest.mark.parametrize(
    "number, layout, labels, C, bias, factor",
    [(70, "csr", (1, -1), 0.05, 1.0, {}), (71, "dense", (-1, 1), 10.0, -1.0, {1: 3.0}),
     (71, "csr", (4, 2, 9), 1.0, 1.0, {}), (70, "dense", (4, 2, 9), 1.0, 2.5, {2: 4.0, 9: 0.5})],
)  # fmt: skip
def test_is_training_without_each_row(number, layout, labels, C, bias, factor, svm_train):
    n, d = (40, 6) if layout == "csr" else (60, MIN_DENSE_FEATURES + 2)
    rows = draw(np.random.default_rng(number + len(labels)), n, d, labels)
    asked = ["-c", C, "-B", bias, *(x for label, f in factor.items() for x in (f"-w{label}", f))]
    status, out, err = svm_train(
        "-q", "-s", number, "--method", "fast", "--loo", *asked, "d", "m", data=text_of_rows(rows)
    )
    assert (status, err) == (0, "")
    A = dense(rows, bias)
    right = 0
    for i, row in enumerate(rows):
        others = rows[:i] + rows[i + 1 :]
        assert dense(others, bias).shape[1] == A.shape[1], "this test wants every feature in two rows"
        right += predicted(others, A[i], row.label, C, bias, factor) == row.label
    assert 0 < right < len(rows)
    assert out == f"Leave-one-out Accuracy = {100 * right / len(rows):g}%\n"


@pytest.mark.parametrize(("C", "layout"), [(1.0, "csr"), (1e10, "dense")])
def test_large_c_with_fewer_rows_than_features(C, layout):
    rng = np.random.default_rng(2)
    n, d, bias = 10, 30, 0.5
    X, y = rng.normal(size=(n, d)), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    rows = DenseRows(X, bias) if layout == "dense" else DenseRows(X, bias).as_csr()
    sums = ClassStatistics()
    sums.update(rows, [1, -1], (y < 0).astype(np.int64))
    [equations] = equations_of(sums, C, bias, [1.0, 3.0])
    cost = np.where(y > 0, C, 3.0 * C)
    found = decision_values([Task(rows, y, cost, equations=equations)])[:, 0]
    K = X @ X.T + bias**2
    for i in range(n):
        k = np.arange(n) != i
        wanted = K[i, k] @ np.linalg.solve(K[np.ix_(k, k)] + np.diag(0.5 / cost[k]), y[k])
        assert found[i] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_the_only_row_of_a_class_is_never_right(svm_train):
    status, out, _ = svm_train("-q", "-s", 70, "--method", "fast", "--loo", "d", "m", data="1 1:1\n1 1:1.5\n-1 1:-1\n")
    assert status == 0 and out == "Leave-one-out Accuracy = 66.6667%\n"


def test_too_many_features_are_refused(svm_train):
    status, _, err = svm_train("-s", 70, "--method", "fast", "--loo", "d", data="1 1:1\n-1 5000:2\n")
    assert status == 1 and "are too many" in err
