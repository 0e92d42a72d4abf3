"""Which labels of a model are those of the optimum for sure.

A certificate bounds |w - w*| by a radius r (certify/radius.py), which the model's notes hold for each problem.  So a
decision value w.x is within r |x| of w*.x, and the label is certain where no values within these bounds give another.
A free bias has a bound of its own, which is added.  With a kernel |x| is sqrt(K(x, x)).
Of Crammer and Singer's problem r bounds the whole matrix, and differences of two columns have at most sqrt(2) r.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from svmtool.errors import ModelError
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import CRAMMER_SINGER_WORD, OFFSET_NOTE, RADIUS_NOTE, LinearModel
from svmtool.numbers import parse_number
from svmtool.tolerances import EPS

CERTIFICATE = "# Certified relative gap"  # Certificate.line in the notes
Bounds = tuple[np.ndarray, np.ndarray]  # radii, and of free biases the bounds, else 0: f8 each, one for each column
Sizes = tuple[np.ndarray, np.ndarray]  # of rows |x| without and with the bias feature, f8[n] each
NO_BOUNDS = np.zeros(0), np.zeros(0)
TINY = float(np.finfo(np.float64).tiny)  # beyond what underflow can hide


def why_none(model: Any) -> str:
    """Why no label of a model is certain; empty if its notes have radii."""
    ordinal = getattr(model, "is_ordinal", False)
    if model.kind != "classification" or ordinal:
        return f"{'an ordinal' if ordinal else 'a ' + model.kind} model has no labels that a gap decides"
    if getattr(model, "is_multilabel", False):
        return "there is no bound for several labels a row"
    if isinstance(model, KernelModel) and model.nr_class != 2:
        return "with a problem for each pair of classes this needs two classes"
    if any(note.startswith(RADIUS_NOTE) for note in model.notes):
        return ""
    if not any(note.startswith(CERTIFICATE) for note in model.notes):
        return "the model has no certificate"
    needed = "the regulariser 1/2 |w|^2"
    if isinstance(model, KernelModel):
        needed = "C-SVC with a linear, polynomial or RBF kernel, and decision values of all rows in the certificate"
    return f"its certificate bounds no decision values: this needs {needed}"


def radii_of(model: Any) -> np.ndarray:
    """The radius of each problem, from the notes, f8; empty without them, ModelError if they are damaged."""
    return _numbers(model, RADIUS_NOTE)


def bounds_of(model: Any) -> Bounds:
    """The radii, and the bounds of free biases, 0 where none is free."""
    radii, offsets = radii_of(model), _numbers(model, OFFSET_NOTE)
    return radii, offsets if len(offsets) else np.zeros(len(radii))


def _numbers(model: Any, name: str) -> np.ndarray:
    found = [note[len(name) :] for note in model.notes if note.startswith(name)]
    if not found:
        return np.zeros(0)
    kernel = isinstance(model, KernelModel)
    joint = kernel or model.word == CRAMMER_SINGER_WORD and not model.is_multilabel
    wanted = 1 if joint or model.is_ordinal else model.columns
    try:
        radii = np.array([parse_number(text) for text in found[0].split()])
    except ValueError:
        radii = np.zeros(0)
    if len(radii) != wanted or not np.all(radii >= 0.0):
        raise ModelError(f"ERROR: the line '{name}' must have {wanted} numbers of at least 0")
    return radii


def certain(model: LinearModel | KernelModel, table: Any, decisions: np.ndarray) -> np.ndarray:
    """Whether the label of each row of a Dataset is that of the optimum for sure, bool[n].

    decisions: f8 (n, columns).  ModelError for a model without radii.
    """
    if why := why_none(model):
        raise ModelError(why)
    if isinstance(model, KernelModel):
        sizes, _ = lengths(table, sys.maxsize, -1.0)
        sizes = np.sqrt(model.kernel.of_itself(sizes * sizes)) * (1.0 + 4.0 * EPS)
        return within(decisions, (sizes, sizes), bounds_of(model), "", model.nr_class)
    return within(decisions, lengths(table, model.n_features, model.bias), bounds_of(model), model.word, model.nr_class)


def within(decisions: np.ndarray, sizes: Sizes, bounds: Bounds, word: str, classes: int) -> np.ndarray:
    """Whether decision values f8 (n, columns) give the optimum's label; word, classes: of the LinearModel."""
    (radii, offsets), (inner, whole) = bounds, sizes
    if classes == 1:
        return np.ones(len(decisions), bool)
    f = np.where(np.isfinite(decisions), decisions, np.nan)  # with nan nothing is certain
    with np.errstate(over="ignore", invalid="ignore"):
        bound = np.where(offsets > 0.0, inner[:, None], whole[:, None]) * radii + offsets + TINY
    if f.shape[1] == 1:
        return np.abs(f[:, 0]) > bound[:, 0]
    if word == CRAMMER_SINGER_WORD:
        second, best = np.partition(f, -2, axis=1)[:, -2:].T
        return best - second > np.sqrt(2.0) * (1.0 + EPS) * bound[:, 0]
    rows, best = np.arange(len(f)), np.argmax(f, axis=1)
    least, most = (f - bound)[rows, best], f + bound
    most[rows, best] = -np.inf
    return least > most.max(axis=1)


def lengths(table: Any, n_features: int, bias: float) -> Sizes:
    """At least |x| of each row of a Dataset, without and with the bias feature (none if bias < 0), f8[n] each.

    Features beyond n_features do not count.
    """
    rows = table.as_sparse()
    known = np.where(rows.indices < n_features, np.abs(rows.values), 0.0).astype(np.float64)
    counts = np.diff(rows.indptr)
    found = np.where(counts > 0, np.hypot.reduceat(np.append(known, 0.0), rows.indptr[:-1]), 0.0)
    rounding = 1.0 + (counts + 4) * EPS
    return found * rounding, np.hypot(found, max(bias, 0.0)) * rounding


def signs(model: LinearModel) -> int:
    """How many weights of features have the optimum's sign for sure: those farther from 0 than the radius."""
    radii = np.broadcast_to(radii_of(model), (model.columns,))
    if hasattr(model.W, "indptr"):
        stored = int(model.W.indptr[model.n_features])
        return int(np.count_nonzero(np.abs(model.W.values[:stored]) > radii[model.W.labels[:stored]]))
    return int(np.count_nonzero(np.abs(model.W[: model.n_features]) > radii))


def percent(rows: int, count: int) -> str:
    """A share of rows as `98.2%`, rounded down: 100% is all of them."""
    return f"{1000 * count // rows / 10:g}%" if rows else "-nan%"


def share_line(rows: int, count: int) -> str:
    """`Certified labels = 98.2% (166/169)`."""
    return f"Certified labels = {percent(rows, count)} ({count}/{rows})\n"
