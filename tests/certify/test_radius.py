"""How far certified weights are from the optimum, and which labels that decides, against optima found otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool import api
from svmtool.models.certain import percent


@pytest.mark.parametrize("solver", [0, 1, 3, 4, 41])
def test_labels_of_several_classes_are_those_of_the_optimum(solver):
    rng, fast = np.random.default_rng(solver), {"method": "fast"} if solver >= 30 else {}
    sure = near = 0
    for _ in range(20 if solver in (1, 41) else 10):
        n, d, k = int(rng.integers(8, 30)), int(rng.integers(2, 6)), int(rng.integers(2, 5))
        X, C = rng.normal(size=(n, d)), 10.0 ** rng.uniform(-2, 1)
        y = np.append(np.arange(k), np.argmax(X @ rng.normal(size=(d, k)) + 0.3 * rng.normal(size=(n, k)), axis=1)[k:])
        bias = float(rng.choice([-1.0, 1.0, 2.0]))
        found = api.fit(X, y, solver=solver, C=C, bias=bias, gap=10.0 ** rng.uniform(-4, -1), **fast)
        best = api.fit(X, y, solver=solver, C=C, bias=bias, gap=1e-13, **fast)
        tests = 10.0 * rng.normal(size=(50, d))
        certain = api.certified_mask(found, tests)
        assert np.array_equal(api.predict(found, tests)[certain], api.predict(best, tests)[certain])
        W, V = found.model.W, best.model.W
        radii, error = np.array(found.certificate.radii), np.array(best.certificate.radii)
        apart = np.linalg.norm(W - V, axis=0) if solver != 4 else np.linalg.norm(W - V)
        assert np.all(apart <= radii + error)
        sure, near = sure + int(certain.sum()), near + int(np.any(10.0 * apart > radii))
    assert sure > 330 and near > 3  # the bound is not idle


def test_the_share_is_rounded_down():
    shares = [percent(169, 166), percent(3, 3), percent(100000, 99999), percent(0, 0)]
    assert shares == ["98.2%", "100%", "99.9%", "-nan%"]
