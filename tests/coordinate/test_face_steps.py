"""Conjugate gradients over the free dual variables (coordinate/face_steps.py), beside dense sums."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.coordinate import hinge
from svmtool.coordinate.face_steps import face_steps
from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import RepeatedRows

N, D = 60, 25


def epochs_over(
    power: float, tube: bool, bias: float, cost: float = 10.0, face_first: float = hinge.FACE_FIRST_VISITS
) -> tuple[DualCoordinateDescent, np.ndarray]:
    """Descent over random rows, and A with a row y_i x_i for each dual variable."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4) * np.exp(rng.normal(size=D))
    rows = DenseRows(X, bias).as_csr()
    A = X if bias < 0 else np.column_stack([X, np.full(N, bias)])
    y, target = np.where(rng.random(N) < 0.5, 1.0, -1.0), None
    if tube:
        t = X @ rng.normal(size=D) + rng.normal(size=N)
        rows, y, A = RepeatedRows(rows, 2), np.repeat([1.0, -1.0], N), np.vstack([A, A])
        target = np.concatenate([t, -t]) - 0.1
    diagonal, upper = (0.0, cost) if power == 1.0 else (0.5 / cost, np.inf)
    ends = np.full(len(y), diagonal), np.full(len(y), upper)
    made = DualCoordinateDescent(rows, y, *ends, 1, None, target, face_first)
    return made, A * y[:, None]


def dual(p: DualCoordinateDescent, A: np.ndarray) -> float:
    w = A.T @ p.alpha
    return float(p.target @ p.alpha - 0.5 * w @ w - 0.5 * p.diagonal @ np.square(p.alpha))


@pytest.mark.parametrize("bias", [-1.0, 2.0])
@pytest.mark.parametrize("tube", [False, True])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_dual_rises_and_w_belongs_to_alpha(power, tube, bias):
    p, A = epochs_over(power, tube, bias)
    for _ in range(6):
        p.run()
        before = dual(p, A)
        assert face_steps(p, 1e6)[0] > 0.0
        assert dual(p, A) >= before - 1e-12 * abs(before)
        assert np.all((p.alpha >= 0.0) & (p.alpha <= p.upper))
        np.testing.assert_allclose(p.w, A.T @ p.alpha, atol=1e-9)
        assert not tube or not np.any(np.minimum(p.alpha[:N], p.alpha[N:]))  # one side of a tube at most


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_epochs_with_turns_need_fewer_visits_where_rows_depend(power):
    def visits(first: float) -> tuple[float, float]:
        p, A = epochs_over(power, False, -1.0, 100.0 if power == 1.0 else 1e4, first)
        p.run()
        while p.visits < 20000 and not (p.complete and p.pg_range <= 1e-6):
            p.run()
            if p.pg_range <= 1e-6 and not p.complete:
                p.unshrink()
                p.run()
        return p.visits, dual(p, A)

    (alone, first), (together, second) = visits(np.inf), visits(8.0)
    assert second >= first * (1 - 1e-9)
    assert together < alone
