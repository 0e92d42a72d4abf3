"""Powers of the hinge between 1 and 2 over few rows: Newton systems of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool.data.csr import CsrRows
from svmtool.objectives.augmented import Augmented
from svmtool.params import Settings
from svmtool.training.reductions.one_vs_rest import OneVsRest


@pytest.mark.parametrize(("bias", "free"), [(-1.0, False), (2.0, False), (2.0, True)])
def test_a_direction_from_the_rows_solves_the_newton_system(bias, free):
    p = reference.random_problem(3, 12, 30, bias=bias, free=free)
    rows = CsrRows(*reference.csr_of(p.X), 30, bias)
    o = Augmented(rows, p.y, np.linspace(0.1, 5.0, 12), 1.7, free)
    o.set_point(np.random.default_rng(1).normal(size=rows.d) / 10)
    _, g = o.gradient()
    assert o.active > 0
    direction, _, exact = o.newton_direction(g, "dual")
    assert exact
    np.testing.assert_allclose(o.hessian_product(direction), -g, rtol=0, atol=1e-9 * np.abs(g).max())


def wide(solver: int, method: str, **settings) -> OneVsRest:
    """Costs that differ by five orders over rows with more features than these; without a matrix of the features."""
    rng = np.random.default_rng(2)
    X, y = rng.random((40, 300)) * 100.0, np.where(np.arange(40) % 2, 1.0, -1.0)
    s = Settings.of(solver=solver, bias=1.0, regularize_bias=False, **settings)
    problems = OneVsRest(reference.table_of(X, y, np.where(y > 0, 1e-7, 0.1)), s)
    problems.solver_method = method
    return problems


def test_a_free_bias_has_systems_of_rows_too(monkeypatch):
    """Conjugate gradients take as long as one at most, whatever C makes of the condition."""
    systems, products = [], []
    direction = Augmented.newton_direction

    def noted(o, g, system, *more):
        found = direction(o, g, system, *more)
        systems.append(system)
        products.append((found[1] - 1.0) * o.product_cost / o.face_cost if system == "cg" and o.active else 0.0)
        return found

    monkeypatch.setattr(Augmented, "newton_direction", noted)
    problems = wide(31, "dual", loss_power=1.0, gap=1e-6)
    [result], certificate = problems.fit_and_certify()
    assert certificate.gap <= 1e-6
    assert "dual" in systems and max(products) <= 1.0
