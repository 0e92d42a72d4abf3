"""Option strings, read by the parsers of the command lines.

Stricter than these: an option is a whole word, and a value must be a number as a whole.
"""

from __future__ import annotations

import re
from typing import Any

from svmtool import registry
from svmtool.cli.arguments import kernel as kernel_line
from svmtool.cli.arguments import linear as linear_line
from svmtool.cli.arguments.scan import VALUELESS
from svmtool.compat.errors import WRONG_OPTIONS, as_value_errors
from svmtool.options.train import LONG
from svmtool.params import Request, Settings

# Options that only make sense for a command, besides those that print a text.
COMMAND_ONLY = (
    "--strict", "--solver-log", "--plot", "--loo", "--spark", "--memory", "--scratch", "--no-cache", "--grid",
    "--score", "--metrics", "--balanced", "--add", "--remove", "--every-rows", "--every-seconds", "--certify-labels",
)  # fmt: skip
_WORD = re.compile(r"-(?:[A-Za-z]|w[+-]?\d+)")


def words(options: Any) -> list[str]:
    """Return the words of a string, or of a list or tuple; TypeError for anything else."""
    if options is None:
        return []
    if isinstance(options, str):
        return options.split()
    if isinstance(options, (list, tuple)):
        return list(map(str, options))
    raise TypeError("options must be a string or a list")


def linear(options: Any) -> tuple[Settings, Request]:
    """Return what LIBLINEAR's options mean; ValueError with a message for an invalid one."""
    argv = _checked(words(options), VALUELESS)
    if linear_line.is_kernel_line([*argv, "data"]):
        raise ValueError(f"{WRONG_OPTIONS}: -t, -g, -d, -r and solvers for kernels alone belong to svmtool.svmutil")
    with as_value_errors():
        command = linear_line.parse([*argv, "data"])
        if not command.request.auto:
            registry.find(command.settings.problem.solver)
    _refuse_notes(command.notes)
    return command.settings, command.request


def kernel(options: Any) -> tuple[Settings, Request]:
    """Return what LIBSVM's options mean; ValueError with a message for an invalid one."""
    argv = _checked(words(options), "q")
    with as_value_errors():
        command = kernel_line.parse([*argv, "data"])
        _ = command.settings.row  # raises for an unknown number
    _refuse_notes(command.notes)
    return command.settings, command.request


def prediction(options: Any) -> tuple[bool, bool]:
    """Return -b and -q of a prediction as (probabilities, quiet)."""
    argv = _checked(words(options), "q")
    probability, quiet, i = False, False, 0
    while i < len(argv):
        if argv[i] == "-q":
            quiet, i = True, i + 1
        elif argv[i] == "-b" and argv[i + 1] in ("0", "1"):
            probability, i = argv[i + 1] == "1", i + 2
        else:
            raise ValueError(f"{WRONG_OPTIONS}: {' '.join(argv[i : i + 2])}: predictions take -b 0, -b 1 and -q")
    return probability, quiet


def _checked(argv: list[str], valueless: Any) -> list[str]:
    """The same words; ValueError for an incomplete option, and for a missing value."""
    i = 0
    while i < len(argv):
        name, equals, _ = argv[i].partition("=")
        if name in LONG:
            if name in COMMAND_ONLY or not LONG[name].setting:
                raise ValueError(f"{WRONG_OPTIONS}: {name} is for the command svm-train")
            takes_value = not equals and LONG[name].kind is not None
        elif _WORD.fullmatch(argv[i]):
            takes_value = argv[i][1:] not in valueless
        else:
            raise ValueError(f"{WRONG_OPTIONS}: {argv[i]}")
        if takes_value and i + 1 == len(argv):
            raise ValueError(f"{WRONG_OPTIONS}: {argv[i]} needs a value")
        i += 2 if takes_value else 1
    return argv


def _refuse_notes(notes: tuple[str, ...]) -> None:
    """Refuse a value of which C would read only a part; of several -c the last counts, as in the originals."""
    for note in notes:
        option, partly, _ = note.removeprefix("WARNING: ").partition(": read as ")
        if partly:
            raise ValueError(f"{WRONG_OPTIONS}: {option}: not a number")
