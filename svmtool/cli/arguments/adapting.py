"""The command line of svm-train --add and --remove: a model, and rows to add or remove."""

from __future__ import annotations

from svmtool.cli.arguments.scan import Command, default_model
from svmtool.errors import SvmtoolError
from svmtool.params import Request, Settings

# Options that apply when a trained model is changed; all others concern training from scratch
SUPPORTED = frozenset(
    {"-s", "-c", "-B", "-w", "-q", "--threads", "--weights", "--initial-model", "--add", "--remove"}
    | {"--every-rows", "--every-seconds"}
)


def command(settings: Settings, request: Request, files: list[str], notes: tuple[str, ...]) -> Command:
    """The Command that changes the model of -i and writes it to files[0], or in place; SvmtoolError for bad options."""
    s = request
    if s.auto:
        raise SvmtoolError("ERROR: -s auto cannot be combined with --add or --remove: give the -s of the model")
    for option in s.given:
        if option == "--passes" and s.add not in (None, "-"):  # for a solver that supports it
            continue
        if option not in SUPPORTED and (option != "--probability" or settings.run.probability):
            raise SvmtoolError(f"ERROR: {option} cannot be combined with --add or --remove")
    if (s.every_rows is not None or s.every_seconds is not None) and s.add != "-":
        raise SvmtoolError("ERROR: --every-rows and --every-seconds need --add -")
    if s.weights is not None and (s.add == "-" or (s.add is not None and s.remove is not None)):
        raise SvmtoolError("ERROR: --weights needs either --add FILE or --remove FILE, not both")
    if s.remove is not None and s.initial_model is None:
        raise SvmtoolError("ERROR: --remove needs -i MODEL: the model that holds the rows")
    if s.initial_model is None and s.add != "-" and not files:
        raise SvmtoolError("ERROR: --add needs -i MODEL, or the name of a new model after the options")
    if len(files) > 1:
        raise SvmtoolError(f"ERROR: {files[1]}: with --add and --remove only one file, the model, follows the options")
    if files == ["-"] or s.initial_model == "-" or s.remove == "-":
        raise SvmtoolError("ERROR: with --add and --remove only the added rows can be read from standard input (-)")
    model = files[0] if files else s.initial_model or default_model("-")
    return Command("adapt", settings, request, s.add or "", model, notes)
