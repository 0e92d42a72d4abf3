"""Reads and writes LIBLINEAR's model files, byte for byte as LIBLINEAR 2.50 except for a non-finite rho.

    solver_type WORD / nr_class K / label L1 ... / nr_feature N / bias B / [rho R] / w
    one line for each feature, one more for the bias: every number `%.17g` and a blank

svmtool's notes follow the weights in lines that start with `#`, which LIBLINEAR never reads.

Rejected here, though not by LIBLINEAR: what leaves its memory uninitialised (a missing key, `label` before `nr_class`,
a classifier without labels, one-class without rho), numbers that are not finite (other than the rho of one-class: inf,
and nan without features), anything after the weights but notes, a negative nr_feature, numbers beyond 32 bits, and
regression with nr_class other than 2.
"""

from __future__ import annotations

from svmtool.compiled.buffers import Buffer
from svmtool.errors import ModelError
from svmtool.formats.models.header import EARLY_END, header_fields, header_text, refuse_overflow
from svmtool.formats.models.text import ModelText, NotText, Scanner, load, notes_text, write_text
from svmtool.models.linear import LinearModel, weight_columns, weight_rows

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_WEIGHTS = 1 << 16

SPARSE = ".npz"  # ending of the name of a model without zeros, see sparse.py


def parse(text: ModelText) -> LinearModel:
    """Read a linear model, W as a Buffer, of MODEL.npz as SparseWeights.

    Raises ModelError (LIBLINEAR's messages, see the file's docstring).
    """
    if text.packed:
        from svmtool.formats.models import sparse

        return sparse.parse(text)
    try:
        scan = Scanner(text, EARLY_END)
        fields = header_fields(scan)
        word, labels, features, bias = (fields.get(key) for key in ("solver_type", "label", "nr_feature", "bias"))
        W = scan.reals("weights", weight_rows(features, bias) * weight_columns(word, fields["nr_class"]))
        notes = text.notes()
    except NotText:
        raise
    except ModelError as e:
        raise ModelError(f"{e}\ncan't open model file {text.path}") from None
    return LinearModel(word, labels, features, bias, W, fields.get("rho"), notes)


def read(path: str) -> LinearModel:
    """Read a linear model; raises as `parse` does."""
    with load(path) as text:
        return of_text(text)


def of_text(text: ModelText) -> LinearModel:
    """`read` of a text that has been opened."""
    model = parse(text)
    W = model.W.array() if isinstance(model.W, Buffer) else model.W.dense_if_small()
    return LinearModel(model.word, model.labels, model.n_features, model.bias, W, model.rho, model.notes)


def write(path: str, model: LinearModel) -> None:
    """Write a LinearModel atomically: as text, or without its zeros where the name ends in .npz."""
    if path.endswith(SPARSE):
        from svmtool.formats.models import sparse

        sparse.write(path, model)
    else:
        write_text(path, text_of(model))


def text_of(model: LinearModel) -> Iterator[bytes]:
    """Yield the text of a LinearModel in pieces; ModelError if it contains a non-finite number."""
    refuse_overflow(model)
    notes = notes_text(model.notes)
    yield header_text(model).encode()
    yield from _weight_lines(model.W)
    yield notes


def _weight_lines(W):
    """Yield the text of the weights in pieces."""
    from svmtool.numbers import format_rows

    rows, columns = W.shape
    if columns == 0:  # a model without classes: LIBLINEAR writes empty lines
        yield b"\n" * rows
        return
    step = max(1, CHUNK_WEIGHTS // columns)
    for piece in W.pieces() if hasattr(W, "pieces") else (W,):
        for first in range(0, piece.shape[0], step):
            yield format_rows(piece[first : first + step], 17, closed=True)
