"""Free biases, with kernels too: certified labels are those of the optimum, and the bias is within its bound."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool import api
from svmtool.certify.radius import offset
from svmtool.data.dataset import DenseDataset
from svmtool.models.certain import lengths
from svmtool.objectives import losses
from svmtool.sklearn import SVC

FREE = {"bias": 1.0, "regularize_bias": False}
POLYNOMIAL = {"kernel": "polynomial", "coef0": 1.0}


def rows_of(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Rows, labels and rows to predict."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(-1, 1) + rng.normal(size=3)
    scale = np.std(X)
    y = np.where(np.sin(X[:, 0] / scale) + X[:, 1] * X[:, 2] / scale**2 + 0.3 * rng.normal(size=60) > 0.0, 1, -1)
    y[:2] = 1, -1
    return X, y, X + 0.5 * scale * rng.normal(size=X.shape), rng


@pytest.mark.parametrize(
    "options",
    [
        {"solver": 0, **FREE}, {"solver": 2, **FREE},
        {"solver": "svc", "kernel": "linear"}, {"solver": "svc", **POLYNOMIAL}, {"solver": "svc", "kernel": "rbf"},
    ],
    ids=lambda options: f"{options['solver']} {options.get('kernel', '')}",
)  # fmt: skip
def test_certified_labels_are_those_of_the_optimum(options):
    sure, near = 0, 0.0
    for seed in range(20 if options.get("kernel") == "linear" else 10):
        X, y, tests, rng = rows_of(seed)
        options = {**options, "C": 10.0 ** rng.uniform(-2, 3)}
        rough = api.fit(X, y, gap=10.0 ** rng.uniform(-5, -1), **options)
        best = api.fit(X, y, gap=1e-11, **options)
        if not rough.certificate.radii or not best.certificate.radii:
            assert options["solver"] == "svc" and np.ptp(api.predict(rough, X)) == 0  # w = 0, certified by its value
            continue
        certain, (apart,) = api.certified_mask(rough, tests), rough.certificate.offsets
        same = api.predict(rough, tests) == api.predict(best, tests)
        assert np.all(same[certain])
        linear = options["solver"] != "svc"
        here, there = ((m.W[-1, 0] if linear else m.rho[0]) for m in (rough.model, best.model))
        assert abs(here - there) <= apart + best.certificate.offsets[0]
        sure, near = sure + int(certain.sum()), max(near, abs(here - there) / apart)
    assert sure > 300 and near > 1e-3  # the bound is not idle


def test_a_bias_that_losses_do_not_determine():
    """One row of each class beyond its margin: any bias between 0.5 less and 0.5 more costs nothing."""
    hinge, y, cost = losses.of("hinge", 1.0), np.array([1.0, -1.0]), np.ones(2)
    xi = np.array([-0.5, -0.5])
    assert offset(hinge, xi, y, cost, np.zeros(2)) == pytest.approx(0.5, rel=0.05)
    assert 0.75 <= offset(hinge, xi, y, cost, np.full(2, 0.25)) <= 0.79
    assert offset(hinge, xi[:1], y[:1], cost[:1], np.zeros(1)) == np.inf  # of one class alone no bias is best


def test_of_estimators_with_a_kernel(tmp_path):
    X, y, tests, _ = rows_of(3)
    model = SVC(C=10.0).fit(X, y)
    found = model.certified_mask(tests)
    assert found.any()
    assert np.array_equal(found, model.certified_mask(tests.tolist()))
    with pytest.raises(ValueError, match="with a problem for each pair of classes this needs two classes"):
        SVC().fit(X, np.arange(60) % 3).certified_mask(tests)


def test_rows_of_one_value_of_either_sign():
    """Alone or beside others, with a free bias: their lengths are above 0."""
    for rows in (np.array([[-2.0], [-2.0], [3.0]]), np.array([[-2.0]])):
        inner, whole = lengths(DenseDataset(np.zeros(len(rows)), rows), 1, 1.0)
        assert np.allclose(inner, np.abs(rows[:, 0])) and np.allclose(whole, np.hypot(rows[:, 0], 1.0))
