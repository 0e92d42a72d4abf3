"""The fields of a parsed command line by name."""

from __future__ import annotations

from svmtool.cli.arguments.scan import Command
from svmtool.params import Request, Settings


def fields(settings: Settings, request: Request) -> dict:
    """All fields of the parts, but for `given`."""
    parts = [settings.problem, settings.stopping, settings.run, settings.run.options, request]
    found = {name: value for part in parts for name, value in part._asdict().items()}
    kernel = found.pop("kernel")
    return {**found, **(kernel._asdict() if kernel else {}), "options": None, "given": None}


def changed_fields(command: Command, default: Settings) -> dict:
    """Fields that differ from the defaults."""
    usual = fields(default, Request())
    return {name: v for name, v in fields(command.settings, command.request).items() if v != usual[name]}
