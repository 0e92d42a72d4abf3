"""Training by other packages, for benchmark, experiments and audits: by words of LIBLINEAR or LIBSVM, or estimators.

A package is a name of PACKAGES.  Estimators are written as Python, in which the classes of the package's modules and
what is given by name are known.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Any

PACKAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {  # name in reports, distribution, modules
    "liblinear": ("LIBLINEAR", "liblinear-official", ("liblinear.liblinearutil",)),
    "libsvm": ("LIBSVM", "libsvm-official", ("libsvm.svmutil",)),
    "sklearn": ("scikit-learn", "scikit-learn", ("sklearn.svm", "sklearn.linear_model")),
    "onedal": ("oneDAL", "scikit-learn-intelex", ("sklearnex.svm",)),
    "skglm": ("skglm", "skglm", ("skglm",)),
    "snapml": ("snapml", "snapml", ("snapml",)),
    "celer": ("celer", "celer", ("celer",)),
}  # fmt: skip
C_PACKAGES = {"liblinear": "", "libsvm": "svm_"}  # what their functions' names begin with


def version(name: str) -> str:
    """Its name and version; ImportError where it is not installed."""
    label, distribution, modules = PACKAGES[name]
    import_module(modules[0])
    return f"{label} {metadata.version(distribution)}"


def names(package: str) -> dict[str, Any]:
    """What its modules hold."""
    modules = [import_module(module) for module in PACKAGES[package][2]]
    return {name: getattr(module, name) for module in modules for name in dir(module) if name[0] != "_"}


def rows_of(package: str, X: Any, y: Any) -> Any:
    """The rows as LIBLINEAR or LIBSVM takes them."""
    return names(package)[f"{C_PACKAGES[package]}problem"](y, X)


def trained(package: str, words: str, rows: Any) -> Any:
    """The model of LIBLINEAR or LIBSVM."""
    return names(package)[f"{C_PACKAGES[package]}train"](rows, f"{words} -q")


def estimator(package: str, words: str, **given: Any) -> Any:
    return eval(words, names(package), given)  # written in these scripts
