"""Model files of LIBLINEAR and LIBSVM."""

from __future__ import annotations

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from svmtool.formats.models.text import ModelText
    from svmtool.models.kernel import KernelModel
    from svmtool.models.linear import LinearModel


def read(path: str) -> LinearModel | KernelModel:
    """Read a linear or kernel model into numpy arrays; ModelError if the file is neither."""
    from svmtool.formats.models.text import load

    with load(path) as text:
        return of_text(text)


def of_text(text: ModelText) -> LinearModel | KernelModel:
    """`read` of a text that has been opened."""
    from svmtool.formats.models import kernel, linear
    from svmtool.formats.models.text import is_kernel_model

    return kernel.of_text(text) if is_kernel_model(text) else linear.of_text(text)
