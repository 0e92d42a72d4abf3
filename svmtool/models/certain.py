"""Which labels of a linear model are those of the optimum for sure.

A certificate bounds |w - w*| by a radius r (certify/radius.py), which the model's notes hold for each problem.  So a
decision value w.x is within r |x| of w*.x, and the label is certain where no values within these bounds give another.
Of Crammer and Singer's problem r bounds the whole matrix, and differences of two columns have at most sqrt(2) r.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.errors import ModelError
from svmtool.models.linear import CRAMMER_SINGER_WORD, RADIUS_NOTE, LinearModel
from svmtool.numbers import parse_number
from svmtool.tolerances import EPS

NO_BOUND = "with a kernel, or for each pair of classes (--one-vs-one), there is no bound of decision values"
CERTIFICATE = "# Certified relative gap"  # Certificate.line in the notes
TINY = float(np.finfo(np.float64).tiny)  # beyond what underflow can hide


def why_none(model: Any) -> str:
    """Why no label of a model is certain; empty if its notes have radii."""
    if not isinstance(model, LinearModel):
        return NO_BOUND
    if model.kind != "classification" or model.is_ordinal:
        return f"{'an ordinal' if model.is_ordinal else 'a ' + model.kind} model has no labels that a gap decides"
    if model.is_multilabel:
        return "there is no bound for several labels a row"
    if any(note.startswith(RADIUS_NOTE) for note in model.notes):
        return ""
    if not any(note.startswith(CERTIFICATE) for note in model.notes):
        return "the model has no certificate"
    return "its certificate bounds no decision values: this needs 1/2 |w|^2 of all weights, the bias included"


def radii_of(model: Any) -> np.ndarray:
    """The radius of each problem, from the notes, f8; empty without them, ModelError if they are damaged."""
    found = [note[len(RADIUS_NOTE) :] for note in model.notes if note.startswith(RADIUS_NOTE)]
    if not found or not isinstance(model, LinearModel):
        return np.zeros(0)
    joint = model.word == CRAMMER_SINGER_WORD and not model.is_multilabel
    wanted = 1 if joint or model.is_ordinal else model.columns
    try:
        radii = np.array([parse_number(text) for text in found[0].split()])
    except ValueError:
        radii = np.zeros(0)
    if len(radii) != wanted or not np.all(radii >= 0.0):
        raise ModelError(f"ERROR: the line '{RADIUS_NOTE}' must have {wanted} numbers of at least 0")
    return radii


def certain(model: LinearModel, table: Any, decisions: np.ndarray) -> np.ndarray:
    """Whether the label of each row of a Dataset is that of the optimum for sure, bool[n].

    decisions: f8 (n, columns).  ModelError for a model without radii.
    """
    if why := why_none(model):
        raise ModelError(why)
    return within(decisions, lengths(table, model.n_features, model.bias), radii_of(model), model.word, model.nr_class)


def within(decisions: np.ndarray, sizes: np.ndarray, radii: np.ndarray, word: str, classes: int) -> np.ndarray:
    """Whether decision values f8 (n, columns) give the optimum's label; sizes: |x| of each row, radii: of each column.

    word, classes: of the LinearModel.
    """
    if classes == 1:
        return np.ones(len(decisions), bool)
    f = np.where(np.isfinite(decisions), decisions, np.nan)  # with nan nothing is certain
    with np.errstate(over="ignore", invalid="ignore"):
        bound = sizes[:, None] * radii + TINY
    if f.shape[1] == 1:
        return np.abs(f[:, 0]) > bound[:, 0]
    if word == CRAMMER_SINGER_WORD:
        second, best = np.partition(f, -2, axis=1)[:, -2:].T
        return best - second > np.sqrt(2.0) * (1.0 + EPS) * bound[:, 0]
    rows, best = np.arange(len(f)), np.argmax(f, axis=1)
    least, most = (f - bound)[rows, best], f + bound
    most[rows, best] = -np.inf
    return least > most.max(axis=1)


def lengths(table: Any, n_features: int, bias: float) -> np.ndarray:
    """At least |x| of each row of a Dataset, with the bias feature (none if bias < 0), f8[n].

    Features beyond n_features do not count.
    """
    rows = table.as_sparse()
    known = np.where(rows.indices < n_features, rows.values, 0.0).astype(np.float64)
    counts = np.diff(rows.indptr)
    found = np.where(counts > 0, np.hypot.reduceat(np.append(known, 0.0), rows.indptr[:-1]), 0.0)
    return np.hypot(found, max(bias, 0.0)) * (1.0 + (counts + 4) * EPS)


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
