"""`svmtool export MODEL --c | --onnx | --json`: a model for programs without svmtool."""

from __future__ import annotations

import os
import re

import click

from svmtool.cli import checks
from svmtool.cli.console import stderr_line
from svmtool.cli.umbrella import FILE, names_option
from svmtool.errors import SvmtoolError, visible


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
    from svmtool.formats import names as names_file
    from svmtool.formats.models import read
    from svmtool.formats.output import replacing
    from svmtool.inspection.facts import facts
    from svmtool.models.kernel import KernelModel

    if form is None:
        raise SvmtoolError("svmtool export: choose one of --c, --onnx and --json")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix):
        raise SvmtoolError(f"--prefix {prefix}: must be a name in C: letters, digits and _")
    if form == "onnx" and output == "-":
        raise SvmtoolError("--onnx writes a binary file: name it by -o FILE.onnx")
    inputs = [("the model", model), ("--names", names), ("the names", names_file.path_beside(model))]
    checks.refuse_overwriting(inputs, [("-o", None if output == "-" else output)])
    found = read(model)
    called = names_file.find(names, model)
    lines = [f"{os.path.basename(model)}, exported by svmtool", *(f"{k}: {v}" for k, v in facts(found, called, model))]
    about = "\n".join(map(visible, lines))
    if form == "c":
        from svmtool.export.c_source import c_source

        pieces = (piece.encode() for piece in c_source(found, about, prefix))
    elif form == "json":
        from svmtool.export.json_text import json_text

        pieces = iter([json_text(found, called).encode() + b"\n"])
    else:
        from svmtool.export.onnx_graph import onnx_bytes, single_precision_error

        pieces = iter([onnx_bytes(found, about)])
        if isinstance(found, KernelModel):
            error = single_precision_error(found)
            words = "single precision changes decision values of the support vectors by up to"
            stderr_line(f"{output}: {words} {error:.2g}")
    with replacing(output) as file:
        for piece in pieces:
            file.write(piece)
