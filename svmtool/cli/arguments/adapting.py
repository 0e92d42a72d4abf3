"""The command line of svm-train --add and --remove: a model, and rows to add or remove."""

from __future__ import annotations

from svmtool.cli.arguments.scan import Command, default_model
from svmtool.errors import SvmtoolError
from svmtool.params import Settings

# what says something where a trained model is changed; all else is about training with all rows at hand
SUPPORTED = frozenset(
    {"-s", "-c", "-B", "-w", "-q", "--threads", "--weights", "--initial-model", "--add", "--remove"}
    | {"--every-rows", "--every-seconds"}
)


def command(settings: Settings, given: list[str], files: list[str], notes: tuple[str, ...]) -> Command:
    """The Command to change the model of -i into files[0], or in its place; SvmtoolError for what makes no sense."""
    s = settings
    if s.auto:
        raise SvmtoolError("ERROR: -s auto chooses for training: with --add or --remove give the model's own -s")
    for option in given:
        if option == "--passes" and s.add not in (None, "-"):  # of a solver that has it
            continue
        if option not in SUPPORTED and (option != "--probability" or s.probability):
            raise SvmtoolError(f"ERROR: {option} is about training: not with --add or --remove")
    if (s.every_rows is not None or s.every_seconds is not None) and s.add != "-":
        raise SvmtoolError("ERROR: --every-rows and --every-seconds say how often --add - writes the model")
    if s.weights is not None and (s.add == "-" or (s.add is not None and s.remove is not None)):
        raise SvmtoolError("ERROR: --weights tells of the rows of one file: with --add FILE or --remove FILE alone")
    if s.remove is not None and s.initial_model is None:
        raise SvmtoolError("ERROR: --remove needs -i MODEL: the model that holds the rows")
    if s.initial_model is None and s.add != "-" and not files:
        raise SvmtoolError("ERROR: --add needs -i MODEL, or the name of a new model behind the options")
    if len(files) > 1:
        raise SvmtoolError(f"ERROR: {files[1]} is one name too many: with --add and --remove only a model follows")
    if files == ["-"] or s.initial_model == "-" or s.remove == "-":
        raise SvmtoolError("ERROR: with --add and --remove models are files, and only added rows come from -")
    model = files[0] if files else s.initial_model or default_model("-")
    return Command("adapt", settings, s.add or "", model, notes)
