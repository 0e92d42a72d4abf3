"""Reads a model file of either kind."""

from __future__ import annotations

from svmtool.formats.models import kernel, linear
from svmtool.formats.models.text import ModelText, is_kernel_model, load
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel


def read(path: str) -> LinearModel | KernelModel:
    """Read a linear or kernel model into numpy arrays; ModelError if the file is neither."""
    with load(path) as text:
        return of_text(text)


def of_text(text: ModelText) -> LinearModel | KernelModel:
    """`read` of a text that has been opened."""
    return kernel.of_text(text) if is_kernel_model(text) else linear.of_text(text)
