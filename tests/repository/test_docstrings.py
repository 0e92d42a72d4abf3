"""The examples in docstrings run, and the docstrings of estimators are complete and say nothing twice."""

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


def test_docstrings_of_estimators_are_numpydoc_and_say_nothing_twice():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    validate = pytest.importorskip("numpydoc.validate", reason="needs numpydoc")
    import svmtool.sklearn as estimators
    from svmtool.sklearn.described import ATTRIBUTES, PARAMETERS

    allowed = {"ES01", "SA01", "EX01", "GL02", "GL01", "GL03"}  # as in pyproject.toml; quotes stand in the source
    for name in estimators.__all__:
        found = validate.validate(f"svmtool.sklearn.{name}")["errors"]
        assert [error for error in found if error[0] not in allowed] == [], name
    sources = "".join(path.read_text() for path in (REPOSITORY / "svmtool" / "sklearn").glob("[!d]*.py"))
    for _, text in (*PARAMETERS.values(), *ATTRIBUTES.values()):
        assert text not in " ".join(sources.split()), text
