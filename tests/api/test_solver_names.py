"""Which problem `solver` and `kernel` mean, and that a keyword which the problem does not have is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from naming import case_of

from svmtool import api, registry
from svmtool.api import settings

RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 3)) + 1.0
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 1.0, 1.0, -1.0)
ROWS = [(row, None) for row in registry.SOLVERS]
ROWS += [(row, kernel) for row in registry.KERNEL_SOLVERS for kernel in ("rbf", "poly", "linear", "precomputed")]
SYMBOLS = {"C": r"\bC(_i)?\b", "nu": r"\bnu\b", "p": r"\bp\b"}  # of the problems' formulas


def has(row: registry.Solver, kernel: str | None, name: str) -> bool:
    """Whether the formula of the problem has a keyword's symbol."""
    if name in SYMBOLS:
        variables, _, formula = row.objective.partition(" of ")
        given = re.search(SYMBOLS[name], formula) and not re.search(SYMBOLS[name], variables)
        return bool(given) and (name != "p" or row.kind == "regression")
    if name in ("gamma", "degree", "coef0"):
        return kernel in {"gamma": ("rbf", "poly"), "degree": ("poly",), "coef0": ("poly",)}[name]
    assert name == "class_weight"
    return row.kind in ("classification", "all classes", "ordinal") and row.name != "nu_svc"


DEFAULTS = {**settings.DEFAULTS, "class_weight": {1: 1.0}}


@pytest.mark.parametrize("name", [*SYMBOLS, "gamma", "degree", "coef0", "class_weight"])
@pytest.mark.parametrize("call", [api.fit, api.cross_validate])
def test_a_keyword_is_taken_where_the_problem_has_it(name, call):
    """Its default value, too."""
    for row, kernel in ROWS:
        if call is api.cross_validate and row.kind in ("one-class", "hard one-class"):
            continue
        given = {"solver": row.name, "kernel": kernel, "max_seconds": 0.1, name: DEFAULTS[name]}
        rows = X @ X.T if kernel == "precomputed" else X
        with case_of(row.name, kernel):
            if has(row, kernel, name):
                call(rows, Y, **given)
            else:
                with pytest.raises(ValueError, match=rf"\b{name}\b"):
                    call(rows, Y, **given)


def test_names_have_hyphens_or_underscores():
    for row, kernel in ROWS:
        if kernel in (None, "rbf"):
            for name in {row.name.replace("_", "-"), row.name.replace("-", "_")}:
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
