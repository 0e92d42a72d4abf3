"""Models and data sets in files and texts."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any
from warnings import warn

import numpy as np

from svmtool.api import arrays
from svmtool.api.models import Model, stored_of
from svmtool.api.run import RunContext
from svmtool.api.values import flag, shown, text, whole
from svmtool.api.wording import in_keywords
from svmtool.compiled.loops.text.text_loops import SETS, SOME_LABELLED
from svmtool.data.dataset import DenseDataset
from svmtool.data.label_sets import LabelSets, SetClasses
from svmtool.errors import ModelError
from svmtool.formats.models import kernel, linear, of_text
from svmtool.formats.models.text import ModelText
from svmtool.formats.models.text import load as load_text
from svmtool.formats.source import Source
from svmtool.formats.svmlight import table
from svmtool.formats.svmlight.additions import NO_QUERY
from svmtool.models.kernel import KernelModel
from svmtool.progress import doing
from svmtool.training.adapting.adaptable import save

BEGINNING = re.compile(r"^ERROR: (fscanf failed to read (the )?model(: )?)?")
TINY = np.finfo(float).tiny


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file of svm-train, LIBLINEAR or LIBSVM.

    Parameters
    ----------
    path : str or PathLike
        The file.

    Returns
    -------
    LinearModel or KernelModel
        The model.

    Raises
    ------
    OSError
        Where there is no such file.
    ValueError
        For a content that is not a model.
    """
    name = os.fspath(path)
    os.stat(name)
    with RunContext(1), _named(name), load_text(name) as text:
        return of_text(text)


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """What is no model is one sentence with its name; that of the commands has lines of LIBLINEAR or LIBSVM."""
    try:
        yield
    except ModelError as e:
        lines = [BEGINNING.sub("", line) for line in str(e).splitlines()]
        words = ": ".join(line for line in lines if line and not line.startswith("can't open model file"))
        raise ModelError(f"can't read {name} as a model" + (f": {in_keywords(words)}" if words else "")) from None


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file that LIBLINEAR or LIBSVM reads.

    A model that `fit` trained by solver 71 or 72 gets the files beside it that `svm-train --add` and `--remove` need.

    Parameters
    ----------
    model : Fit, LinearModel, KernelModel or a fitted estimator of svmtool.sklearn
        The model.  Labels in a file are whole numbers of 32 bits: other classes of an estimator are numbered 0, 1, ..
        in the order of `classes_`, which a comment at the end of the file names.  Probabilities are kept, but not
        isotonic ones, nor those of several classes with multi_class="crammer_singer".
    path : str or PathLike
        The file; an existing one is replaced once the new one is complete.

    Raises
    ------
    ValueError
        Where the file cannot be written; for an estimator that is not fitted, or whose kernel is a function.
    """
    found, name = stored_of(model), os.fspath(path)
    with RunContext(1):
        if isinstance(found, KernelModel):
            kernel.write(name, found)
        elif not save(name, found):
            warn(f"{name} is not a regular file and has no state beside it: rows cannot be added later", stacklevel=2)


def export(model: Any, path: str | os.PathLike[str], form: str | None = None, *, prefix: str = "svm") -> None:
    """Write a model for programs without svmtool, as `svmtool export` does.

    Parameters
    ----------
    model : Fit, LinearModel, KernelModel or a fitted estimator of svmtool.sklearn
        The model, see `save_model`.
    path : str or PathLike
        The file; an existing one is replaced once the new one is complete.
    form : {None, "c", "json", "onnx"}
        C99 source without dependencies, JSON with all numbers, or an ONNX graph in single precision, which needs the
        package onnx.  None: by the ending of the path.
    prefix : str
        Of the functions in C.

    Raises
    ------
    ValueError
        Where the file cannot be written, and for a model of a precomputed kernel, which needs its training rows.
    """
    from svmtool.exports import FORMS, check_prefix, exported
    from svmtool.formats.names import Names, completed
    from svmtool.formats.output import replacing

    name, found = os.fspath(path), stored_of(model)
    chosen = os.path.splitext(name)[1][1:].lower() if form is None else form
    if chosen not in FORMS:
        raise ValueError(f"form must be one of {', '.join(map(repr, FORMS))}, not {shown(chosen)}")
    if name == "-":
        raise ValueError("path must name a file")
    with RunContext(1):
        check_prefix(text("prefix", prefix))
        called = completed(Names(), found)
        try:
            with replacing(name) as file:
                for piece in exported(found, chosen, os.path.basename(name), called, prefix=prefix):
                    file.write(piece)
        except ModelError as e:
            raise ModelError(in_keywords(str(e))) from None


def dumps(model: Any) -> str:
    """Return a model as the text of its file, from which `loads` restores it to the bit.

    Parameters
    ----------
    model : Fit, LinearModel, KernelModel or a fitted estimator of svmtool.sklearn
        The model, see `save_model`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from svmtool import api
    >>> done = api.fit([[-1.0], [1.0]], [0, 1])
    >>> bool((api.loads(api.dumps(done)).W == done.model.W).all())
    True
    """
    found = stored_of(model)
    with RunContext(1):
        return b"".join((kernel if isinstance(found, KernelModel) else linear).text_of(found)).decode()


def loads(text: str | bytes) -> Model:
    """Return the model of a text that `dumps` has returned.

    Parameters
    ----------
    text : str or bytes
        The text.

    Returns
    -------
    LinearModel or KernelModel
        The model.

    Raises
    ------
    ValueError
        For a content that is not a model.
    """
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text must be a string or bytes, not {shown(text)}")
    with RunContext(1), _named("the text"):
        return of_text(ModelText.of(text.encode() if isinstance(text, str) else text, "<text>"))


def read_svmlight(
    path: Any, n_features: int | None = None, *, query_id: bool = False, multilabel: bool = False, dtype: Any = float,
    threads: int | None = None, progress: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Read rows in LIBSVM's or SVMlight's text format.

    Parameters
    ----------
    path : str, PathLike or binary file
        Names that end in .gz, .bz2 or .xz are decompressed.
    n_features : int, optional
        None: the largest index in the file.
    query_id : bool
        Whether to return the numbers after `qid:` too.
    multilabel : bool
        Whether rows have several labels, `1,5,7 3:1`, or none.
    dtype : {float, numpy.float32}
        Of the values; labels are float64.
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    X : scipy.sparse.csr_matrix of `dtype`, (n, features)
        The rows.
    y : ndarray of float64, (n,), or scipy.sparse.csr_matrix of int64, (n, labels)
        Their labels or target values; nan for a row without one.  With multilabel=True a matrix that marks each row's
        labels, whole numbers from 0 on, by 1.
    query : ndarray of int64, (n,)
        With query_id=True.

    Raises
    ------
    OSError
        Where there is no such file.
    ValueError
        For a malformed line, which it names.
    """
    from scipy.sparse import csr_matrix

    if n_features is not None:
        n_features = whole("n_features", n_features, 0)
    form = SETS if flag("multilabel", multilabel) else SOME_LABELLED
    try:
        kind = np.dtype(dtype).str[1:]
    except Exception:  # an object's own error
        kind = ""
    if kind not in ("f4", "f8"):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}")
    with RunContext(threads, progress=progress):
        if hasattr(path, "read"):
            source = _source_of(path)
            with doing("reading", source=source):
                found = table.joined(table.read_raw(source, form=form, dtype=kind))
        else:
            name = os.fspath(path)
            os.stat(name)
            found = table.read(name, form=form, dtype=kind)
    if n_features is None:
        n_features = found.n_features
    elif n_features < found.n_features:
        raise ValueError(f"n_features was set to {n_features}, but input file contains {found.n_features} features")
    X = csr_matrix((found.values, found.indices, found.indptr), shape=(len(found), n_features))
    y = found.labels if found.sets is None else _matrix_of(found.sets)
    if not flag("query_id", query_id):
        return X, y
    if not len(found):
        return X, y, np.empty(0, np.int64)
    if found.groups is None or np.any(found.groups == NO_QUERY):
        raise ValueError("query_id=True, but not every row has a qid")
    return X, y, found.groups


def _matrix_of(sets: LabelSets) -> Any:
    """The matrix that marks the labels of sets."""
    from scipy.sparse import csr_matrix

    classes = SetClasses(sets)
    if classes.labels and classes.labels[0] < 0:
        raise ValueError(
            f"multilabel=True: label {classes.labels[0]} has no column in a matrix: labels are 0 or larger"
        )
    rows = [classes.rows_of(k) for k in range(classes.problems)]
    columns = np.repeat(np.array(classes.labels, np.int64), classes.counts)
    places = (np.concatenate(rows), columns) if rows else (columns, columns)
    return csr_matrix((np.ones(len(columns), np.int64), places), (len(sets), max(classes.labels, default=-1) + 1))


def _source_of(file: Any) -> Source:
    """An open binary file, or a file-like object, as a Source; it stays open."""
    import io

    name = str(getattr(file, "name", "<file>"))
    if not hasattr(file, "readinto"):
        text = file.read()
        file = io.BytesIO(text.encode() if isinstance(text, str) else text)
    return Source(name, -1, None, file, own=False)


def write_svmlight(X: Any, y: Any, path: str | os.PathLike[str]) -> None:
    """Write rows in LIBSVM's text format; `read_svmlight` reads the same numbers, to the bit.

    Parameters
    ----------
    X : array or sparse matrix, (n, features)
        Rows; zeros of an array are left out, those that a sparse matrix holds are written.
    y : array, (n,), or None
        Labels or target values; nan for a row without one, None where no row has one.
    path : str or PathLike
        The file.

    Raises
    ------
    ValueError
        Where the file cannot be written; for numbers other than 0 below 2.2e-308 in size, which readers of the format
        refuse.
    """
    from svmtool.formats.svmlight.table import write

    data = arrays.dataset(X)
    data.labels = np.full(len(data), np.nan)
    if y is not None:
        y = arrays.floats(y, "y")
        bare = np.isnan(y)
        data.labels = np.where(bare.reshape(-1), np.nan, arrays.labels(np.where(bare, 0.0, y), len(data)))
    if isinstance(data, DenseDataset):
        data = data.as_sparse()
    for values in (data.values, data.labels):
        if np.any((values != 0.0) & (np.abs(values) < TINY)):
            raise ValueError(f"numbers other than 0 must be at least {TINY:.2g} in size: readers refuse smaller ones")
    with RunContext(1):
        write(os.fspath(path), data)
