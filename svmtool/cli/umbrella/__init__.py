"""The command `svmtool` and its subcommands; file arguments and options that several of these share."""

from __future__ import annotations

import click

from svmtool.errors import visible

FILE = click.Path(allow_dash=True)  # for completion; files are opened by the readers, whose messages name them
names_option = click.option(
    "--names", metavar="FILE", type=FILE,
    help="Names of features and labels, as svmtool convert writes them, or one feature name a line "
    "(default: MODEL.names, or NAME.names for NAME.model).",
)  # fmt: skip


def stdout_line(text: str) -> None:
    """Print one line on stdout, whatever characters are in it."""
    click.echo(visible(text))
