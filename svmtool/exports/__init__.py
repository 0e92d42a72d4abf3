"""Models in other forms: C source, ONNX graphs, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from svmtool.errors import ModelError, SvmtoolError, visible
from svmtool.formats.names import Names
from svmtool.inspection.facts import facts
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel

FORMS = "c", "json", "onnx"


def check_prefix(prefix: str) -> None:
    """SvmtoolError for a prefix that no name in C begins with."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix):
        raise SvmtoolError(f"--prefix {prefix}: must be a name in C: letters, digits and _")


def exported(
    model: LinearModel | KernelModel, form: str, name: str, names: Names, path: str = "", prefix: str = "svm"
) -> Iterator[bytes]:
    """The model in one of FORMS, in pieces.

    name: what comments call it; names: of features and classes; path: its file, if any; prefix: of functions in C.
    """
    if isinstance(model, LinearModel) and hasattr(model.W, "pieces"):
        raise ModelError(f"the model has {model.W.shape[0]} x {model.W.shape[1]} weights: too many to export")
    if model.is_multilabel and form != "json":
        raise ModelError("a model of several labels a row has no form in C and ONNX: use --json")
    lines = [f"{name}, exported by svmtool", *(f"{k}: {v}" for k, v in facts(model, names, path))]
    about = "\n".join(map(visible, lines))
    if form == "c":
        from svmtool.exports.c_source import c_source

        yield from (piece.encode() for piece in c_source(model, about, prefix))
    elif form == "json":
        from svmtool.exports.json_text import json_text

        yield json_text(model, names).encode() + b"\n"
    else:
        from svmtool.exports.onnx_graph import onnx_bytes

        yield onnx_bytes(model, about)
