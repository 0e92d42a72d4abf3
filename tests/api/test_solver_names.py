"""Which problem `solver` and `kernel` mean."""

from __future__ import annotations

import numpy as np
import pytest
from naming import case_of

from svmtool import api, registry

RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 3)) + 1.0
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 1.0, 1.0, -1.0)


def test_names_have_hyphens_or_underscores():
    for rows, kernel in ((registry.SOLVERS, None), (registry.KERNEL_SOLVERS, "rbf")):
        for k, row in enumerate(rows):
            name = row.name.replace(*("_-" if k % 2 else "-_"))
            with case_of(name, kernel):
                done = api.fit(X, Y, name, kernel=kernel, max_seconds=0.1)
                assert f"-s {row.number} ({row.name})" in done.model.notes[0]


@pytest.mark.parametrize("call", [api.fit, api.cross_validate])
def test_no_number_is_ambiguous(call):
    """LIBLINEAR and LIBSVM have different problems for 1 to 4; from 50 on a number is one solver."""
    for number in (1, 2, 3, 4):
        name = registry.find_kernel(number).name.replace("_", "-")
        with pytest.raises(ValueError, match=f"solver={number} is {name} for LIBSVM .* solver='{name}' or .*'svc'"):
            call(X, Y, number, kernel="rbf")
    for number in (5, 11, 21, 30, 99):
        with pytest.raises(ValueError, match=f"unknown solver: {number}: with a kernel use"):
            call(X, Y, number, kernel="rbf")
    for name in ("svc", "nu-svc", "epsilon_svr", "nu-svr"):
        with pytest.raises(ValueError, match=f"solver='{name}' needs a kernel"):
            call(X, Y, name)


def test_flags_that_are_off_ask_for_nothing():
    for number in (1, 11, 21, 43, 80):
        assert api.fit(X, Y, number, probability=False, loo=False, paper_form=False, mu=None).model is not None
    with pytest.raises(ValueError, match="min_alpha_opt"):
        api.fit(X, Y, "alfpgm", kernel="rbf", min_alpha_opt=5, method="fast")
    with pytest.raises(ValueError, match="paper_form=True is method='paper'"):
        api.fit(X, Y, "alfpgm", kernel="rbf", paper_form=True, method="fast")
    assert api.fit(X, Y, "alfpgm", kernel="rbf", paper_form=True, min_alpha_opt=np.inf).model is not None
