"""MODEL.npz: a linear model whose zeros are not stored, for thousands of classes or labels.

The arrays indptr, indices, data, shape and format are those of a sparse matrix (features, classes), which
scipy.sparse.load_npz reads.  `header` and `notes` are the other lines of the model's text, see linear.py.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

from svmtool.compiled.loops.text.decision_loops import sparse_fault
from svmtool.errors import ModelError
from svmtool.formats.archive import Archive, ArchiveError
from svmtool.formats.models.header import header_of, header_text, refuse_overflow
from svmtool.formats.models.text import ModelText, notes_text
from svmtool.formats.output import replacing
from svmtool.limits import memory
from svmtool.models.linear import LinearModel, weight_columns, weight_rows
from svmtool.models.weights import SparseWeights, by_feature


def write(path: str, model: LinearModel) -> None:
    """Write a LinearModel atomically; ModelError if it contains a non-finite number."""
    refuse_overflow(model)
    W = model.W if hasattr(model.W, "pieces") else by_feature(model.W)
    counts = np.diff(W.indptr) if isinstance(W, SparseWeights) else W.counts
    total = int(counts.sum())
    texts = {"header": header_text(model).encode(), "notes": notes_text(model.notes)}
    with replacing(path, "can't save model to file") as file, zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            _put(archive, name, "|u1", (len(text),), [np.frombuffer(text, np.uint8)])
        _put(archive, "format", "|S3", (), [np.array(b"csr")])
        _put(archive, "shape", "<i8", (2,), [np.array(W.shape, np.int64)])
        _put(archive, "indptr", "<i8", (len(counts) + 1,), [np.concatenate(([0], np.cumsum(counts)))])
        _put(archive, "indices", "<i4", (total,), (piece.labels for piece in W.pieces()))
        _put(archive, "data", "<f8", (total,), (piece.values for piece in W.pieces()))


def _put(archive: zipfile.ZipFile, name: str, kind: str, shape: tuple[int, ...], parts: Iterable[np.ndarray]) -> None:
    """Write an array, a part at a time."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": False, "shape": shape})
        for part in parts:
            member.write(np.ascontiguousarray(part, kind).reshape(-1).view(np.uint8).data)


def parse(text: ModelText) -> LinearModel:
    """Read a model from an open file that begins as a zip does; ModelError where it is no such model."""
    try:
        if text.source is None or text.source.size is None:
            return _read(io.BytesIO(text.all()))
        with open(text.path, "rb") as file:
            return _read(file)
    except ArchiveError as e:
        raise ModelError(f"can't open model file {text.path}: {e}") from None
    except ModelError as e:
        raise ModelError(f"{e}\ncan't open model file {text.path}") from None


def _read(file: BinaryIO) -> LinearModel:
    archive = Archive(file, memory())
    header, notes = (archive.array(name, "u").astype(np.uint8, copy=False).tobytes() for name in ("header", "notes"))
    fields = header_of(ModelText.of(header, "header"))
    lines = tuple(line for line in notes.decode("utf-8", "replace").split("\n") if line.startswith("#"))
    word, labels, features, bias = (fields.get(key) for key in ("solver_type", "label", "nr_feature", "bias"))
    shape = weight_rows(features, bias), weight_columns(word, fields["nr_class"])
    indptr = np.ascontiguousarray(archive.array("indptr", "i"), np.int64)
    columns = archive.array("indices", "i")
    if columns.dtype.itemsize != 4:  # larger numbers would wrap
        raise ArchiveError("its array 'indices' does not hold integers of 32 bits")
    columns = np.ascontiguousarray(columns, np.int32)
    values = np.ascontiguousarray(archive.array("data", "f"), np.float64)
    if indptr.shape != (shape[0] + 1,) or columns.shape != values.shape or columns.ndim != 1:
        raise ArchiveError("its arrays do not have the sizes that its header states")
    if indptr[0] != 0 or indptr[-1] != len(values):
        raise ArchiveError("its array 'indptr' does not span its weights")
    if (fault := sparse_fault(indptr, columns, values, shape[1])) >= 0:
        raise ArchiveError(f"its array 'data' or 'indices' is damaged at feature {fault + 1}")
    W = SparseWeights(indptr, columns, values, shape[1])
    return LinearModel(word, labels, features, bias, W, fields.get("rho"), lines)
