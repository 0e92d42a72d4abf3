"""The examples in docstrings run, and the docstrings of estimators describe their parameters."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest
from conftest import REPOSITORY


def modules(package: str) -> list[str]:
    """The names of the modules of a package, the package's too."""
    folder = REPOSITORY.joinpath(*package.split("."))
    return [package, *(f"{package}.{found.name}" for found in pkgutil.iter_modules([str(folder)]))]


@pytest.mark.parametrize(
    "name", [*modules("svmtool.api"), *modules("svmtool.sklearn"), "svmtool.liblinearutil", "svmtool.svmutil"]
)
def test_examples(name, monkeypatch):
    if name.startswith("svmtool.sklearn"):
        pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    monkeypatch.chdir(REPOSITORY)  # for data/
    failed, _ = doctest.testmod(importlib.import_module(name), verbose=False)
    assert failed == 0


def headings(estimator: type) -> list[str]:
    """`name : type, default=value` of each parameter that the docstring describes."""
    part = re.search(r"^Parameters\n-+\n(.*?)^Attributes\n", inspect.getdoc(estimator), re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^(\w.*)\n    ", part, re.MULTILINE)


def test_estimators_describe_all_parameters_with_their_defaults():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool.sklearn as estimators

    for name in estimators.__all__:
        estimator = getattr(estimators, name)
        stated = {head.split(" : ")[0]: head.rpartition("default=")[2] for head in headings(estimator)}
        defaults = {p.name: p.default for p in inspect.signature(estimator).parameters.values()}
        assert list(stated) == list(defaults), name
        assert {p: eval(value) for p, value in stated.items()} == defaults, name
