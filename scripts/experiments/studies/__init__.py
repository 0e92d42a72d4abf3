"""The experiments, one file for each paper; claims.csv has what the papers claim and print, in the report's order."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

from experiments.declare import Experiment

MODULES = ("alm", "mfn", "nesvm", "alfpgm", "alsvm", "sgd_lssvm", "fosvm")


def all_of_them() -> dict[str, Experiment]:
    """By name."""
    modules = (importlib.import_module(f"experiments.studies.{name}") for name in MODULES)
    made = {name: how for module in modules for name, how in module.EXPERIMENTS.items()}
    with open(Path(__file__).with_name("claims.csv"), newline="", encoding="utf-8") as file:
        return {name: Experiment(name, *words, *made[name], float(s)) for name, *words, s in list(csv.reader(file))[1:]}
