"""The tools that experiments compare: each has `VERSION()` and `fit(problem, method, step, settings) -> Fitted`."""

from __future__ import annotations

import importlib
from functools import partial
from types import SimpleNamespace
from typing import Any


def load(name: str) -> Any:
    """A tool by name: a module of this folder, or one of the packages in estimators.py."""
    from experiments.tools import estimators

    if name in estimators.PACKAGES:
        return SimpleNamespace(VERSION=partial(estimators.version_of, name), fit=partial(estimators.fit, name))
    return importlib.import_module(f"experiments.tools.{name}")
