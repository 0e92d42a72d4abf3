"""svm-train --add and --remove: reads the rows, from standard input as they arrive, and changes the model."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

from svmtool import interrupts
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight.inputs import Reading, arriving_rows, weighted
from svmtool.formats.svmlight.table import RawTable, joined, read
from svmtool.params import Request, Settings
from svmtool.progress import doing
from svmtool.tolerances import VALUES_AT_ONCE
from svmtool.training import intent
from svmtool.training.adapting.adaptable import Adaptable, beginning
from svmtool.training.adapting.falsvm import FastAdaptable
from svmtool.training.interruption import interruptible

INTERVAL_SECONDS = 10.0  # default interval between models while rows arrive


def run(settings: Settings, request: Request, added: Reading | None, model_path: str, console: Any) -> int:
    """svm-train --add and --remove after its command line; added: None for a stream.  Returns the exit status."""
    kind = Adaptable if settings.row.optimal else FastAdaptable
    with contextlib.closing(kind(settings, request.initial_model, model_path, console, request.given)) as adaptable:
        if request.remove:
            table = weighted(read(request.remove), request.weights, console.warn)
            console.solver(f"Removed {adaptable.remove(request.remove, table)}\n")
        if request.add == "-":
            return add_stream(adaptable, request, console)
        if added is not None:
            table = weighted(added.table(), request.weights, console.warn)
            adaptable.check_file(added.path, table)
            console.warn(*intent.warnings(settings, request.given, table.labels, added.path))
            console.solver(f"Added {adaptable.add(table)}\n")
        with doing("training"):
            adaptable.solve_and_write()
        return 0


def add_stream(adaptable: Adaptable, request: Request, console: Any) -> int:
    """Add rows from standard input; write the model at every interval and at the end or on Ctrl-C."""
    every_rows = request.every_rows or np.inf
    every_seconds = request.every_seconds or (INTERVAL_SECONDS if request.every_rows is None else np.inf)
    pending: list[RawTable] = []
    waiting, taken, fresh, written = 0, 0, 0, time.perf_counter()

    def add_pending() -> None:
        nonlocal waiting, taken, fresh
        if not pending:
            return
        table, waiting = joined(pending), 0
        fault = adaptable.first_fault(table)
        if fault is None:
            if not taken:
                console.warn(*intent.warnings(adaptable.settings, request.given, table.labels, "-"))
            adaptable.add(table)
            taken += len(table)
            return
        good, why = fault
        fresh -= len(table) - good
        if good:
            adaptable.add(beginning(table, good))
        raise SvmtoolError(f"-: line {taken + good + 1}: {why}")

    with interruptible(console=console) as stop:
        try:
            for table in arriving_rows(lambda: stop.set):
                if table is not None:
                    pending.append(table)
                    waiting, fresh = waiting + table.values.size, fresh + table.labels.size
                if waiting > VALUES_AT_ONCE:
                    add_pending()
                if fresh and (fresh >= every_rows or time.perf_counter() - written >= every_seconds):
                    add_pending()
                    adaptable.solve_and_write()
                    fresh, written = 0, time.perf_counter()
            add_pending()
        except SvmtoolError:  # the rows before a faulty line are kept
            try:
                add_pending()
            finally:
                if fresh:
                    adaptable.solve_and_write()
            raise
        adaptable.solve_and_write()
        return interrupts.exit_status() if stop.set else 0
