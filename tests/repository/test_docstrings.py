"""The examples in docstrings run, and estimators describe a parameter that they share in the same words."""

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


def described(estimator: type) -> dict[str, str]:
    """Name of a parameter, with its type, to its description."""
    part = re.search(r"^Parameters\n-+\n(.*?)^Attributes\n", inspect.getdoc(estimator), re.DOTALL | re.MULTILINE)[1]
    return {name: " ".join(text.split()) for name, text in re.findall(r"^(\w.*)\n((?:    .*\n)+)", part, re.MULTILINE)}


def test_estimators_describe_all_parameters_with_their_defaults():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool.sklearn as estimators

    for name in estimators.__all__:
        estimator = getattr(estimators, name)
        stated = {head.split(" : ")[0]: head.rpartition("default=")[2] for head in described(estimator)}
        defaults = {p.name: p.default for p in inspect.signature(estimator).parameters.values()}
        assert list(stated) == list(defaults), name
        assert {p: eval(value) for p, value in stated.items()} == defaults, name


def test_estimators_describe_shared_parameters_in_the_same_words():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool.sklearn as estimators

    words: dict[str, set[str]] = {}
    for name in estimators.__all__:
        for head, text in described(getattr(estimators, name)).items():
            words.setdefault(head.split(" : ")[0], set()).add(text)
    for shared in ("C", "class_weight", "warm_start", "n_jobs", "max_seconds", "kernel", "degree", "gamma", "coef0",
                   "cache_size", "break_ties"):  # fmt: skip
        assert len(words[shared]) == 1, shared
