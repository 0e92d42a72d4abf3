"""The papers' estimators with both methods: the engine by default, the paper's algorithm as printed on request."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

from sklearn.exceptions import ConvergenceWarning  # noqa: E402

import svmtool.sklearn as estimators  # noqa: E402
from svmtool import api  # noqa: E402
from svmtool.sklearn import base  # noqa: E402

PAPERS = ["LpSVC", "LPSVC", "OrdinalSVM", "LSSVC", "FastOneClassSVM"]


def rows_and_classes(name: str) -> tuple[np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return (X, None) if name == "FastOneClassSVM" else (X, (X[:, 0] + 0.3 * rng.normal(size=60) > 0.0).astype(int))


def fitted(name: str, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return getattr(estimators, name)(**parameters).fit(*rows_and_classes(name))


@pytest.mark.parametrize("name", PAPERS)
def test_the_engine_is_the_default_and_the_papers_algorithm_runs_on_request(name, monkeypatch):
    used, plain = [], api.fit

    def noted(*args, **keywords):
        done = plain(*args, **keywords)
        used.append(done._row.printed)
        return done

    monkeypatch.setattr(base.api, "fit", noted)
    fast, paper = fitted(name), fitted(name, method="paper")
    assert used == [False, True]
    a, b = fast.certificate_, paper.certificate_
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) + 1e-9 * abs(a.primal)
    with pytest.raises(ValueError, match="The 'method' parameter of"):
        fitted(name, method="printed")
