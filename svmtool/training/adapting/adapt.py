"""svm-train --add and --remove: reads the rows and changes the model."""

from __future__ import annotations

import contextlib
from typing import Any

from svmtool.formats.svmlight.inputs import Reading, read_weights
from svmtool.formats.svmlight.table import read
from svmtool.params import Request, Settings
from svmtool.training import intent
from svmtool.training.adapting.adaptable import Adaptable
from svmtool.training.adapting.falsvm import FastAdaptable
from svmtool.training.adapting.stream import add_stream


def run(settings: Settings, request: Request, added: Reading | None, model_path: str, console: Any) -> int:
    """svm-train --add and --remove after its command line; added: None for a stream.  Returns the exit status."""
    kind = Adaptable if settings.row.optimal else FastAdaptable
    with contextlib.closing(kind(settings, request.initial_model, model_path, console, request.given)) as adaptable:
        if request.remove:
            table = read(request.remove)
            weights = read_weights(request.weights, len(table)) if request.weights else None
            console.solver(f"Removed {adaptable.remove(request.remove, table, weights)}\n")
        if request.add == "-":
            return add_stream(adaptable, request, console)
        if added is not None:
            table = added.table()
            weights = read_weights(request.weights, len(table)) if request.weights else None
            adaptable.check_file(added.path, table, weights)
            if warning := intent.of_labels(settings, request.given, table.labels, added.path):
                console.warn(warning)
            console.solver(f"Added {adaptable.add(table, weights)}\n")
        adaptable.solve_and_write()
        return 0
