"""Conjugate gradients over the free dual variables (coordinate/face_steps.py) save visits of rows."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.dense import DenseRows

N, D = 60, 25


@pytest.mark.parametrize("power, cost", [(1.0, 10.0), (2.0, 3.0)])
def test_epochs_with_turns_need_fewer_visits_where_rows_depend(power, cost):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4) * np.exp(rng.normal(size=D))
    y = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    ends = (0.0, cost) if power == 1.0 else (0.5 / cost, np.inf)

    def visits(first: float, most: float) -> tuple[float, float]:
        p = DualCoordinateDescent(DenseRows(X).as_csr(), y, *(np.full(N, end) for end in ends), 1, None, None, first)
        p.run()
        while p.visits < most and not (p.complete and p.pg_range <= 1e-6):
            p.run()
            if p.pg_range <= 1e-6 and not p.complete:
                p.unshrink()
                p.run()
        w = X.T @ (p.alpha * y)
        return p.visits, float(np.sum(p.alpha) - 0.5 * w @ w - 0.5 * p.diagonal @ np.square(p.alpha))

    together, second = visits(8.0, 20000)
    alone, first = visits(np.inf, 2 * together)
    assert second >= first * (1 - 1e-9)
    assert 2 * together <= min(alone, 20000)
