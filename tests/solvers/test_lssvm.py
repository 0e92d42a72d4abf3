"""The linear LS-SVM where the common suite does not lead: steps on the rows, by products, what classes share."""

from __future__ import annotations

import numpy as np
import pytest
from adapt_suite import apart, batch, draw, text_of_rows, weights_in
from optima import optimum
from solver_suite import PROBLEMS, Case, Solved, supported

from svmtool import registry
from svmtool.linalg.systems import Factored
from svmtool.solvers.lssvm import METHODS
from svmtool.solvers.shared import least_squares

CASE = Case(registry.find(70), 2.0)


def calls_of(monkeypatch, owner, name) -> list:
    """A list that grows with each call of owner.name."""
    seen, plain = [], getattr(owner, name)

    def noted(*args, **options):
        seen.append(name)
        return plain(*args, **options)

    monkeypatch.setattr(owner, name, noted)
    return seen


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [name for name, p in PROBLEMS.items() if supported(CASE, p)])
def test_other_methods_lead_to_the_optimum(name, method, monkeypatch):
    p = PROBLEMS[name]
    steps = calls_of(monkeypatch, least_squares, "newton_steps")
    s = Solved(CASE._replace(path=method), p)
    assert s.status.converged and s.certificate.gap <= 1e-10
    assert bool(steps) == (method in ("primal", "cg"))
    best = optimum(s.p)
    assert s.f <= best.value * (1 + 1e-10)
    np.testing.assert_allclose(s.w, best.w, atol=10 * s.radius)


def test_rows_are_asked_where_the_sums_cancel(monkeypatch):
    """More features than rows and a large C: f is 1e-9 of f(0), the certificate still holds."""
    steps = calls_of(monkeypatch, least_squares, "newton_steps")
    p = PROBLEMS["wide"]
    used = np.any(p.X != 0.0, axis=1)  # a row without features always costs what it does at w = 0
    s = Solved(CASE, p._replace(X=p.X[used], y=p.y[used], cost=1e6 * p.cost[used]), gap=1e-9)
    assert steps and s.status.converged and s.certificate.gap <= 1e-8
    assert s.f < 1e-6 * float(np.sum(s.p.cost))


@pytest.mark.parametrize("weights, factors", [([], 1), (["-w2", 3], 2), (["-w2", 3, "-w4", 0.5], 3)])
def test_classes_share_one_factor(weights, factors, svm_train, monkeypatch):
    """One for all classes of weight 1, one more for each other."""
    made = calls_of(monkeypatch, Factored, "__init__")
    rows = draw(np.random.default_rng(1), 200, 100, (1, 2, 3, 4))
    argv = ("-q", "-s", 70, "--method", "fast", *weights, "d", "m")
    status, _, err = svm_train(*argv, data=text_of_rows(rows))
    assert (status, err) == (0, "") and len(made) == factors
    factor = dict(zip((int(w[2:]) for w in weights[::2]), weights[1::2], strict=True))
    assert apart(weights_in("m"), batch(rows, factor=factor)) <= 1e-8


@pytest.mark.parametrize("number", [70, 71, 72])
@pytest.mark.parametrize("data", ["", "1\n-1\n1\n", "2 1:1\n2 1:3\n", "1 1:1e-30 2:5\n-1 1:1e30\n"])
@pytest.mark.parametrize("C", [1e-12, 1, 1e10])
def test_odd_data_end_honestly(number, data, C, svm_train):
    status, out, err = svm_train("-s", number, "-c", C, "d", "m", data=data)
    assert status in (0, 1) and "Traceback" not in err
    if status == 0 and data:
        assert "Certified relative gap = " in out
        assert all(np.all(np.isfinite(w)) for w in weights_in("m").values())
