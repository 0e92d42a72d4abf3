"""The tools that experiments compare: each has `VERSION()` and `fit(problem, method, step, settings) -> Fitted`."""

from __future__ import annotations

import importlib
from functools import partial
from types import SimpleNamespace
from typing import Any

import packages


def load(name: str) -> Any:
    """A tool by name: a module of this folder, or one of the packages."""
    if name in packages.PACKAGES:
        from experiments.tools import estimators

        return SimpleNamespace(VERSION=partial(packages.version, name), fit=partial(estimators.fit, name))
    return importlib.import_module(f"experiments.tools.{name}")
