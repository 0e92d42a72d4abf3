"""The experiments, one small file each, in the order of the report."""

from __future__ import annotations

import importlib

from experiments.declare import Experiment

MODULES = (
    "alm_tables",
    "alm_powers",
    "alm_figures",
    "mfn_seeding",
    "mfn_costs",
    "nesvm_adult",
    "nesvm_scenes",
    "alfpgm_tables",
    "alfpgm_pairs",
    "alsvm_tables",
    "alsvm_dimensions",
    "sgd_lssvm",
    "fosvm",
)


def all_of_them() -> dict[str, Experiment]:
    """By name."""
    modules = (importlib.import_module(f"experiments.studies.{name}") for name in MODULES)
    found = [e for module in modules for e in module.EXPERIMENTS]
    return {e.name: e for e in found}
