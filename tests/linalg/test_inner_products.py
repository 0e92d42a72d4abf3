"""The cache of inner products of rows, and systems of rows made from them."""

from __future__ import annotations

import numpy as np
import pytest
from reference import csr_of

from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import RepeatedRows
from svmtool.linalg.systems import KernelCache
from svmtool.objectives.squared_hinge import SquaredHinge

X = np.random.default_rng(0).normal(size=(300, 70))
LAYOUTS = {
    "csr": lambda bias: CsrRows(*csr_of(X), 70, bias),
    "dense": lambda bias: DenseRows(X, bias),
    "twice": lambda bias: RepeatedRows(DenseRows(X, bias), 2),
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@every_layout
@pytest.mark.parametrize("bias", [-1.0, 2.0])
def test_blocks_are_inner_products_whatever_was_computed_before(layout, bias):
    rows, rng = layout(bias), np.random.default_rng(1)
    cache, full = KernelCache(rows, max_rows=150), X @ X.T + (bias * bias if bias >= 0.0 else 0.0)
    for size in (60, 80, 90, 200, 30, 1, 100):
        used, K = cache.block(np.sort(rng.choice(rows.n, size, replace=False)))
        assert len(set(used.tolist())) == size
        wanted = full[np.ix_(used % len(X), used % len(X))]
        np.testing.assert_allclose(np.tril(K), np.tril(wanted), rtol=0, atol=1e-11)
        assert len(cache.known) <= max(150, 2 * size)


@pytest.mark.parametrize("layout", ["csr", "dense"])
def test_a_step_by_few_active_rows_is_that_by_features(layout):
    rng = np.random.default_rng(2)
    o = SquaredHinge(LAYOUTS[layout](1.0), np.where(X[:, 0] + X[:, 1] > 0.0, 1.0, -1.0), rng.uniform(1.0, 50.0, 300))
    o.set_point(np.r_[4.0, 4.0, 0.05 * rng.normal(size=69)])
    _, g = o.gradient()
    assert 0 < o.active < o.d and o.has_dual_system
    (p, *_), (other, *_) = (o.newton_direction(g, system) for system in ("dual", "primal"))
    assert p == pytest.approx(other, rel=1e-6, abs=1e-8)
