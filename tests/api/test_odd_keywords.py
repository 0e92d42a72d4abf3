"""Odd values of every keyword of every function and estimator: a result, or a sentence that names the keyword."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from naming import case_of

import svmtool
import svmtool.sklearn
from svmtool import api
from svmtool.api import settings

RNG = np.random.default_rng(8)
X = RNG.integers(-1, 3, (14, 3)).astype(float)
Y = np.where(np.arange(14) % 3 == 0, 1.0, -1.0)
ODD = (
    None, np.nan, np.inf, -np.inf, -1, 0, 1e308, 10**400, "x", b"1", np.ma.masked, np.array([1.0, 2.0]), [], {}, 1j,
    object(), len, Fraction(10**400), Decimal("1e400"), np.datetime64("2020-01-01"), np.longdouble("1e4000"), 2**63,
    np.array(2.5), np.float32("nan"),
)  # fmt: skip
ROWS = {"X", "y", "sample_weight", "model", "path", "text"}
DONE = api.fit(X, Y, 0)
CALLS = {
    "fit": lambda **k: api.fit(X, Y, **k), "cross_validate": lambda **k: api.cross_validate(X, Y, **k),
    "search_C": lambda **k: api.search_C(X, Y, **k), "predict": lambda **k: api.predict(DONE, X, **k),
    "decision_values": lambda **k: api.decision_values(DONE, X, **k),
    "probabilities": lambda **k: api.probabilities(DONE, X, **k),
}  # fmt: skip
KERNEL = {"gamma", "degree", "coef0", "cache_mb", "shrinking"}
ESTIMATORS = svmtool.sklearn.__all__ if importlib.util.find_spec("sklearn") else []


def keywords(name: str) -> list[str]:
    """The keywords of a function, with those of `fit` that it passes on."""
    found = inspect.signature(getattr(api, name)).parameters.values()
    own = [p.name for p in found if p.name not in ROWS and p.kind is not p.VAR_KEYWORD]
    passes = any(p.kind is p.VAR_KEYWORD for p in found)
    return sorted({*own, *([*settings.DEFAULTS, *settings.FURTHER] if passes else [])})


def check(name: str, value: object, call) -> None:
    """Call with this value of the keyword; an error is a TypeError or ValueError of one sentence that names it."""
    with case_of(name, settings.shown(value)), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FutureWarning)
        try:
            call()
        except (TypeError, ValueError) as e:
            known = {"metrics": "metric", "solver": "solver", "n_jobs": "n_jobs"}.get(name, name)
            assert known in str(e) and len(str(e)) < 400, e


@pytest.mark.parametrize("name", CALLS)
def test_functions(name):
    for keyword in keywords(name):
        for value in ODD:
            if keyword == "metrics" and value is len:
                continue  # a function, whose errors are its own
            limit = {} if keyword == "max_seconds" or "max_seconds" not in keywords(name) else {"max_seconds": 0.1}
            check(keyword, value, lambda k=keyword, v=value, more=limit: CALLS[name](**{k: v}, **more))
            if keyword in KERNEL and name != "search_C":
                more = {"kernel": "poly", **limit}
                check(keyword, value, lambda k=keyword, v=value, more=more: CALLS[name](**{k: v}, **more))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name):
    made = getattr(svmtool.sklearn, name)
    for parameter in made().get_params():
        for value in ODD:
            if parameter == "kernel" and value is len:
                continue  # a function, whose errors are its own
            given = {parameter: value}
            if "max_seconds" in made().get_params():
                given = {"max_seconds": 0.1, **given}
            check(parameter, value, lambda given=given: made(**given).fit(X, Y))


def test_read_svmlight(tmp_path):
    api.write_svmlight(X, Y, tmp_path / "d")
    for keyword in ("n_features", "threads"):
        for value in ODD:
            check(keyword, value, lambda k=keyword, v=value: api.read_svmlight(tmp_path / "d", **{k: v}))
