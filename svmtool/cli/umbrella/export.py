"""`svmtool export MODEL --c | --onnx | --json`: a model for programs without svmtool."""

from __future__ import annotations

import os

import click

from svmtool.cli import checks
from svmtool.cli.console import stderr_line
from svmtool.cli.umbrella import FILE, names_option
from svmtool.errors import SvmtoolError


@click.command("export", short_help="Write a model as C source, ONNX graph or JSON.")
@click.argument("model", type=FILE)
@click.option("--c", "form", flag_value="c", help="C99 source without dependencies.")
@click.option("--onnx", "form", flag_value="onnx", help="ONNX graph, in single precision (needs the package onnx).")
@click.option("--json", "form", flag_value="json", help="JSON with all numbers, to the bit.")
@click.option("-o", "--output", metavar="FILE", type=FILE, default="-", help="Output file (default: standard output).")
@click.option("--prefix", metavar="NAME", default="svm", show_default=True, help="With --c: prefix of the functions.")
@names_option
def command(model: str, form: str | None, output: str, prefix: str, names: str | None) -> None:
    """Write MODEL as C source, as an ONNX graph or as JSON.

    The C source has functions for dense and sparse rows that return the labels of svm-predict.
    """
    from svmtool.exports import check_prefix, exported
    from svmtool.formats import names as names_file
    from svmtool.formats.models import read
    from svmtool.formats.output import replacing
    from svmtool.models.kernel import KernelModel

    if form is None:
        raise SvmtoolError("svmtool export: choose one of --c, --onnx and --json")
    check_prefix(prefix)
    if form == "onnx" and output == "-":
        raise SvmtoolError("--onnx writes a binary file: name it by -o FILE.onnx")
    inputs = [("the model", model), ("--names", names), ("the names", names_file.path_beside(model))]
    checks.refuse_overwriting(inputs, [("-o", None if output == "-" else output)])
    found = read(model)
    called = names_file.completed(names_file.find(names, model), found)
    with replacing(output) as file:
        for piece in exported(found, form, os.path.basename(model), called, model, prefix):
            file.write(piece)
    if form == "onnx" and isinstance(found, KernelModel):
        from svmtool.exports.onnx_graph import single_precision_error

        words = "single precision changes decision values of the support vectors by up to"
        stderr_line(f"{output}: {words} {single_precision_error(found):.2g}")
