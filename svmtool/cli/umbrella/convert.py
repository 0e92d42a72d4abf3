"""`svmtool convert IN OUT`: CSV, TSV, npz and Parquet to and from LIBSVM's text format."""

from __future__ import annotations

import sys

import click

from svmtool import progress
from svmtool.cli import checks
from svmtool.cli.console import stderr_line
from svmtool.cli.umbrella import FILE

FORMAT_CHOICE = click.Choice(["libsvm", "csv", "tsv", "npz", "parquet"])


@click.command("convert", short_help="Convert CSV, TSV, npz, Parquet and LIBSVM's text.")
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--label", metavar="COLUMN",
    help="Label column, by name or number from 1 (default: one named label, target, y or class, else the last).",
)  # fmt: skip
@click.option("--no-label", is_flag=True, help="The rows have no labels: write nan, which svm-predict knows.")
@click.option("--one-hot", is_flag=True, help="Make each value of a text column a feature COLUMN=VALUE.")
@click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; may be given several times.")
@click.option(
    "--names", metavar="FILE", type=FILE,
    help="Use the columns and labels of an earlier conversion: its file OUT.names.  Test data need it.",
)  # fmt: skip
@click.option("--from", "source_kind", type=FORMAT_CHOICE, help="Format of IN (default: by its suffix, else libsvm).")
@click.option("--to", "target_kind", type=FORMAT_CHOICE, help="Format of OUT (default: by its suffix, else libsvm).")
@click.option("--delimiter", metavar="CHARACTER", help="Delimiter of CSV (default: , or ; as the first line has).")
@click.option(
    "--header/--no-header", default=None,
    help="Whether the first line of CSV holds names (default: judged by the lines below it).",
)  # fmt: skip
@click.option(
    "--missing", type=click.Choice(["mean", "zero", "drop", "error"]),
    help="For missing values: the mean of the column in the training data, or 0; or leave out the row (default: as "
    "the file of --names was made, else error).  Missing are empty cells, ?, NA, N/A, #N/A, NaN, null and None.",
)  # fmt: skip
@click.option(
    "--unseen", type=click.Choice(["zero", "drop", "error"]),
    help="For text that the file of --names lacks: zero, no feature COLUMN=VALUE, and for a label none; or leave out "
    "the row (default: error).",
)  # fmt: skip
def command(
    source: str, target: str, label: str | None, no_label: bool, one_hot: bool, drop: tuple[str, ...],
    names: str | None, source_kind: str | None, target_kind: str | None, delimiter: str | None, header: bool | None,
    missing: str | None, unseen: str | None,
) -> None:  # fmt: skip
    """Convert IN to OUT: CSV, TSV, npz (a scipy matrix and y), Parquet, or LIBSVM's text format.

    String labels become 1, 2, 3 ..; the file OUT.names keeps them and the names of the features.  Convert test data
    with --names OUT.names, so that they get the same columns and labels, and missing values are filled as there.

    Rows without labels get the label nan: svm-predict and svmtool report know it, and measure nothing on such rows.
    """
    from svmtool.conversion.convert import Choices, convert
    from svmtool.errors import SvmtoolError

    if delimiter is not None and len(delimiter) != 1:
        raise SvmtoolError(f"--delimiter must be one character, not {delimiter!r}")
    if no_label and label is not None:
        raise SvmtoolError("--label and --no-label exclude each other")
    if names is not None and (one_hot or drop or label is not None):
        raise SvmtoolError("--names fixes the columns: leave out --label, --one-hot and --drop")
    if names is None and unseen is not None:
        raise SvmtoolError("--unseen needs --names: without, all values are known")
    checks.refuse_overwriting(
        [("IN", source), ("--names", names), ("the names of IN", source + ".names")],
        [("OUT", target), ("the names of OUT", None if target == "-" else target + ".names")],
    )
    choices = Choices(
        source_kind, target_kind, label, no_label, one_hot, drop, names, delimiter, header, missing or "",
        unseen or "error",
    )  # fmt: skip
    with progress.shown(lambda: target == "-" and sys.stdout.isatty()):
        convert(source, target, choices, stderr_line)
