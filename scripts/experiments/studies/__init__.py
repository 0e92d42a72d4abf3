"""The experiments, one file for each paper, in the order of the report."""

from __future__ import annotations

import importlib

from experiments.declare import Experiment

MODULES = ("alm", "mfn", "nesvm", "alfpgm", "alsvm", "sgd_lssvm", "fosvm")


def all_of_them() -> dict[str, Experiment]:
    """By name."""
    modules = (importlib.import_module(f"experiments.studies.{name}") for name in MODULES)
    return {e.name: e for module in modules for e in module.EXPERIMENTS}
