"""The table of options: in agreement with what reads it and with the texts of help."""

from __future__ import annotations

import re

import pytest

from svmtool import registry
from svmtool.cli import scale
from svmtool.cli.arguments import linear
from svmtool.cli.predict import options as predict
from svmtool.errors import SvmtoolError, UsageError
from svmtool.options.commands import TABLES
from svmtool.options.train import KERNEL, OWN

EVERY = [(command, option) for command, table in TABLES.items() for option in table]


def test_options_of_the_registry_are_in_the_table():
    known = {option.name for option in TABLES["svm-train"]}
    for row in registry.rows_of(False) + registry.rows_of(True):
        assert registry.supported_options(row) <= known
    for option in OWN:  # and the other way round: what trains is of some solver
        if option.setting:
            assert registry.anywhere(option.flag, registry.rows_of(False) + registry.rows_of(True)), option.flag


@pytest.mark.parametrize(("command", "option"), EVERY, ids=lambda value: getattr(value, "flag", value))
def test_each_is_read_by_its_command(command, option):
    """With a value where it takes one: a parser neither calls it unknown nor takes its value for a file."""
    value = {"C=V,..": "C=1", "0|1": "1", "SIZE": "1G", "SOLVER": "2", "FILE": "f"}.get(option.metavar)
    kind = option.kind
    if kind is not None and value is None:
        value = next(iter(kind.names), "0.5" if kind.python is float else "3")
    argv = [option.flag.replace("LABEL", "1"), *([] if kind is None else [value])]
    argv += ["1.5"] * (option.flag == "-y")  # the one with two values
    kernel = command == "svm-train" and option in KERNEL
    with_files = {"svm-train": ["d"], "svm-predict": ["t", "m", "o"], "svm-scale": ["d"]}[command]
    parse = {
        "svm-train": lambda line: linear.parse(line, libsvm=kernel), "svm-predict": predict.parse,
        "svm-scale": scale.parse,
    }[command]  # fmt: skip
    try:
        parse([*argv, *with_files])
    except UsageError as error:
        pytest.fail(str(error))
    except SvmtoolError as error:
        assert option.name in str(error), error


def test_suggestions_lead_from_a_likely_name_to_the_option():
    from svmtool.cli.suggestions import unknown

    for command, option in EVERY:
        for name in option.tried:
            assert unknown(name, command) == f"unknown option: {name}: use {option.advice}"
    for option in (option for _, option in EVERY if option.flag.startswith("--")):
        commands = [command for command, table in TABLES.items() if option.flag in {o.flag for o in table}]
        for command in set(TABLES) - set(commands):
            if any(option.flag in other.tried for other in TABLES[command]):
                continue
            assert f"it is an option of {' and '.join(commands)}" in unknown(option.flag, command)


def test_pages_of_help_name_every_option():
    from svmtool.cli import help_texts

    for command, table in TABLES.items():
        page = help_texts.whole_help() if command == "svm-train" else help_texts.command_help(command)
        for option in table:
            assert re.search(rf"^ +(-\w, )?{re.escape(option.flag)}( |$)", page, re.MULTILINE), option.flag
