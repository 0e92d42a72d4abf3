"""Models as texts and files, and data sets as text: exact round trips."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from scipy import sparse

from svmtool import api

RNG = np.random.default_rng(2)
X = RNG.normal(size=(50, 6)) * (RNG.random((50, 6)) < 0.7)
Y = np.where(X[:, 0] + 0.2 * RNG.normal(size=50) > 0, 1.0, -1.0)
FITS = {
    "one-class": {"solver": 21}, "probabilities": {"solver": 2, "bias": 1.0, "probability": True},
    "poly": {"solver": "epsilon-svr", "kernel": "poly", "coef0": 1.0},
    "sigmoids": {"solver": 0, "kernel": "rbf", "probability": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_texts_keep_every_bit(name):
    done = api.fit(X, Y, **FITS[name])
    text = api.dumps(done)
    for again in (api.loads(text), api.loads(text.encode())):
        np.testing.assert_array_equal(api.decision_values(again, X), api.decision_values(done, X))
        assert api.dumps(again) == text and type(again) is type(done.model)


NUMBERS = np.array([[0.1, -1e-300, 0.0], [2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("given", [NUMBERS, sparse.csr_matrix(NUMBERS), sparse.coo_array(NUMBERS)])
def test_rows_keep_every_bit(given, tmp_path):
    y = np.array([1.0, -2.5, 1e-17])
    api.write_svmlight(given, y, tmp_path / "d")
    found, labels = api.read_svmlight(tmp_path / "d")
    np.testing.assert_array_equal(found.toarray(), NUMBERS)
    np.testing.assert_array_equal(labels, y)
    assert sparse.isspmatrix_csr(found) and found.dtype == labels.dtype == np.float64


def test_kinds_of_sources(tmp_path):
    api.write_svmlight(X, Y, tmp_path / "d")
    text = (tmp_path / "d").read_bytes()
    (tmp_path / "d.gz").write_bytes(gzip.compress(text))
    with open(tmp_path / "d", "rb") as plain:
        sources = [str(tmp_path / "d"), tmp_path / "d.gz", io.BytesIO(text), io.StringIO(text.decode()), plain]
        for source in sources:
            found, labels = api.read_svmlight(source)
            np.testing.assert_array_equal(found.toarray(), X)
            np.testing.assert_array_equal(labels, Y)
        assert not plain.closed
