"""`svmtool report MODEL TEST -o report.html`: one page about a model on a test set."""

from __future__ import annotations

import click

from svmtool import progress
from svmtool.cli import checks
from svmtool.cli.console import stderr_line
from svmtool.cli.umbrella import FILE, names_option


@click.command("report", short_help="Write an HTML page about a model on a test set.")
@click.argument("model", type=FILE)
@click.argument("test", type=FILE)
@click.option("-o", "--output", metavar="FILE", type=FILE, default="report.html", show_default=True, help="The page.")
@names_option
def command(model: str, test: str, output: str, names: str | None) -> None:
    """Write one HTML page about MODEL on the rows of TEST (LIBSVM's text format).

    Classifiers: accuracy, ROC, precision and recall, calibration (models with probabilities), confusion, each class.
    Regressions: errors, predicted against true values, residuals.  All: largest weights, certificate.  Rows without
    labels (nan) are predicted and not measured.  The page needs no network and no other file.
    """
    from svmtool.formats import names as names_file
    from svmtool.formats.output import replacing
    from svmtool.report.report import report

    inputs = [("the model", model), ("the test data", test), ("--names", names)]
    inputs += [("the names", names_file.path_beside(path)) for path in (model, test)]
    checks.refuse_overwriting(inputs, [("-o", None if output == "-" else output)])
    with progress.shown():
        text = report(model, test, names_file.find(names, model, test))
    with replacing(output) as file:
        file.write(text.encode())
    if output != "-":
        stderr_line(f"{output}: {model} on {test}")
