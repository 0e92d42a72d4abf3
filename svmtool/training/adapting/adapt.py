"""svm-train --add and --remove: reads the rows and changes the model."""

from __future__ import annotations

import contextlib
from typing import Any

from svmtool.formats.svmlight import weight_file
from svmtool.formats.svmlight.background import Reading
from svmtool.formats.svmlight.table import read
from svmtool.params import Settings
from svmtool.training.adapting.adaptable import Adaptable
from svmtool.training.adapting.falsvm import FastAdaptable
from svmtool.training.adapting.stream import add_stream


def adaptable_of(settings: Settings, source: str | None, target: str, console: Any) -> Adaptable:
    """The Adaptable of the solver's kind."""
    if settings.row.optimal:
        return Adaptable(settings, source, target, console)
    return FastAdaptable(settings, source, target, console)


def run(settings: Settings, added: Reading | None, model_path: str, console: Any) -> int:
    """svm-train --add and --remove after its command line; added: None for a stream.  Returns the exit status."""
    adaptable = adaptable_of(settings, settings.initial_model, model_path, console)
    with contextlib.closing(adaptable):
        if settings.remove:
            table = read(settings.remove)
            weights = weight_file.read(settings.weights, len(table)) if settings.weights else None
            console.solver(f"Removed {adaptable.remove(settings.remove, table, weights)}\n")
        if settings.add == "-":
            return add_stream(adaptable, console)
        if added is not None:
            table = added.table()
            weights = weight_file.read(settings.weights, len(table)) if settings.weights else None
            adaptable.check_file(added.path, table, weights)
            console.solver(f"Added {adaptable.add(table, weights)}\n")
        adaptable.solve_and_write()
        return 0
