"""Both methods of every number on real sets: their certified intervals of the least objective share a point."""

from __future__ import annotations

import numpy as np
import pytest
from both_methods import agree, every_printed, solved
from conftest import SHARED

from svmtool.api import read_svmlight

SETS = (
    "heart_scale", "ionosphere_scale", "australian", "breast-cancer_scale", "diabetes_scale", "german.numer_scale",
    "mammography", "mushrooms",
)  # fmt: skip
ROWS, COLUMNS = 60, 40  # of each set, drawn: a few seconds in all


@pytest.mark.parametrize("name", SETS)
@every_printed
def test_methods_agree(row, name):
    path = SHARED / "data" / f"{name}.xz"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: it is one of the larger sets, which do not ship with the repository")
    X, y = read_svmlight(path)[:2]
    rng = np.random.default_rng(1)
    chosen = rng.choice(len(y), ROWS, replace=False)
    X = X[chosen][:, :COLUMNS].toarray()
    X = X / np.maximum(np.abs(X).max(axis=0), 1e-12)
    y = np.unique(y[chosen], return_inverse=True)[1] + 1.0
    if row.kind == "hard one-class":
        X = X + 1.5  # a plane separates all rows from the origin
    agree(solved(row, X, y), solved(row, X, y, "fast"))
