"""One rule for rows on the boundary of a one-class model: every face calls the same rows inside, at most nu outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

import scipy.sparse as sp  # noqa: E402
from naming import case_of  # noqa: E402

import svmtool  # noqa: E402
from svmtool.sklearn import LinearOneClassSVM, OneClassSVM  # noqa: E402

KERNELS = [None, {"kernel": "rbf", "gamma": 0.3}]
SHARES = 1e-3, 0.25, 1.0 - 1e-6


def sets():
    """Rows with a boundary through some of them: duplicates, whole numbers, far rows; and centred ones."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(40, 3)) + 2.0
    yield "plain", plain
    yield "twice", np.repeat(plain[:20], 3, axis=0)
    yield "whole", rng.integers(0, 3, size=(50, 4)) * (rng.random((50, 4)) < 0.6) + np.eye(1, 4)
    yield "far", 1e6 + plain
    yield "small", 1e-9 * plain
    yield "sparse", (rng.random((60, 30)) < 0.1) * rng.integers(1, 4, size=(60, 30)) + np.eye(1, 30)
    yield "centred", np.concatenate((plain, -plain))


def fits(X, kernel, nu):
    """The model of `fit`, and the estimator."""
    options = {"solver": 21, "gap": 1e-4} if kernel is None else {"solver": "one-class", **kernel}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = svmtool.fit(X, nu=nu, **options)
        linear = LinearOneClassSVM(nu=nu, tol=1e-4) if kernel is None else OneClassSVM(nu=nu, **kernel)
        return found, linear.fit(X)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: "none" if k is None else k["kernel"])
def test_nu_bounds_the_rows_outside_and_every_face_agrees(kernel, tmp_path):
    for name, X in sets():
        for nu in SHARES:
            with case_of(name, nu):
                done, estimator = fits(X, kernel, nu)
                answers = estimator.predict(X)
                zero = not np.any(done.model.W if kernel is None else done.model.coef)
                outside = np.count_nonzero(answers < 0)
                assert outside == len(X) if zero else outside <= nu * len(X)
                path = tmp_path / "m"
                svmtool.save_model(done, path)
                read = svmtool.load_model(path)
                for rows in (X, sp.csr_matrix(X)):
                    assert np.array_equal(svmtool.predict(read, rows), answers)
                assert np.array_equal(np.where(estimator.decision_function(X) > 0.0, 1, -1), answers)
