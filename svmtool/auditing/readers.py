"""Reads models of any kind: files, objects of LIBLINEAR's and LIBSVM's packages, estimators, and arrays of weights."""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise
from typing import Any

import numpy as np

from svmtool import registry
from svmtool.api.files import load_model
from svmtool.api.models import stored_of
from svmtool.api.result import Fit
from svmtool.auditing import estimators
from svmtool.auditing.stated import Stated, Weights, keywords_of, weights
from svmtool.inspection.facts import solver_of
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import PRECOMPUTED
from svmtool.models.linear import SOFTMAX_NOTE, LinearModel
from svmtool.numbers import parse_number

NOTED = {"-c": "C", "-p": "p", "-n": "nu", "-B": "bias", "--loss-power": "loss_power"}  # in the notes of a model
VOWPAL_CONSTANT = 11650396  # the feature of the intercept, before it is reduced to the bits of the table
VOWPAL_BEGINS = b"Version "


def read(model: Any, rows: tuple[int, float], n_features: int) -> Stated:
    """What a model states; TypeError or ValueError for what is none.

    rows: their number and the sum of their weights, by which some packages divide losses; n_features: of the rows,
    which Vowpal Wabbit's file does not know.
    """
    if isinstance(model, (str, os.PathLike)):
        return _of_file(os.fspath(model), n_features)
    model = getattr(model, "stored", model)  # of svmtool.compat
    found = estimators.stated(model, rows)
    if found is not None:
        return found
    if isinstance(model, (Fit, LinearModel, KernelModel)) or hasattr(type(model), "_file_model"):
        return _stored(stored_of(model))
    if isinstance(model, (tuple, list, np.ndarray)) or hasattr(model, "tocsr"):
        coef, intercept = model if isinstance(model, tuple) and len(model) == 2 else (model, 0.0)
        return Stated(weights(coef, intercept), {})
    if type(model).__name__ in ("model", "svm_model") and hasattr(model, "__createfrom__"):
        return _of_c(model)
    kind = f"{type(model).__module__}.{type(model).__name__}"
    raise TypeError(f"no model that can be read: {kind}; give its weights as an array, or (weights, intercept)")


def _of_file(path: str, n_features: int) -> Stated:
    with open(path, "rb") as file:
        if file.read(len(VOWPAL_BEGINS)) == VOWPAL_BEGINS:
            return Stated(_vowpal(path, n_features), {})
    return _stored(load_model(path))


def _of_c(model: Any) -> Stated:
    """A model of the packages liblinear-official and libsvm-official, by the file that they write themselves."""
    import sys

    package, kernel = sys.modules[type(model).__module__], type(model).__name__ == "svm_model"
    save = package.libsvm.svm_save_model if kernel else package.liblinear.save_model
    with tempfile.TemporaryDirectory(prefix="svmtool-audit-") as folder:
        path = os.path.join(folder, "model")
        save(path.encode(), model)
        return _stored(load_model(path))


def _stored(model: LinearModel | KernelModel) -> Stated:
    """A model with the content of a file: its notes state the problem, else its first words do, without C."""
    if isinstance(model, KernelModel) and model.kernel.kind == PRECOMPUTED:
        raise ValueError("a model of a precomputed kernel cannot be audited: its file has no kernel values")
    if model.is_multilabel:
        raise ValueError("a model of rows with several labels cannot be audited")
    if SOFTMAX_NOTE in model.notes:
        raise ValueError("the file of a multinomial model does not state its problem: audit the estimator")
    row, options, _ = solver_of(model)
    kernel = isinstance(model, KernelModel)
    found: dict[str, Any] = keywords_of(model.kernel) if isinstance(model, KernelModel) else {"bias": model.bias}
    if row is not None:
        found["solver"] = row.name.replace("_", "-") if kernel else row.number
        known, words = registry.supported_options(row) - registry.without_effect(row), options.split()
        for option, value in pairwise([*words, ""]):
            if option in NOTED and option in known:
                found[NOTED[option]] = parse_number(value)
            if option[:2] == "-w" and option[2:].lstrip("-").isdecimal():
                label, weights = int(option[2:]), found.setdefault("class_weight", {})
                weights[label] = weights.get(label, 1.0) * parse_number(value)
        if "-R" in words:
            found["regularize_bias"] = False
        if not kernel and "-B" not in known:
            del found["bias"]
    return Stated(model, found)


def _vowpal(path: str, n_features: int) -> Weights:
    """The weights in a text of --readable_model or --invert_hash, whose features have the numbers of LIBSVM's text."""
    found: dict[int, float] = {}
    bits, begun = 18, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not begun:
                bits = int(line[5:]) if line.startswith("bits:") and line[5:].isdecimal() else bits
                begun = line == ":0"
                continue
            parts = line.split(":")
            try:
                found[int(parts[-2])] = parse_number(parts[-1].split()[0])
            except (ValueError, IndexError):
                raise ValueError(f"{path}, line {number}: not a weight of Vowpal Wabbit: {line[:60]!r}") from None
    if not begun:
        raise ValueError(
            f"{path}: no line ':0' before weights: train Vowpal Wabbit with --readable_model FILE --predict_only_model"
        )
    mask = (1 << bits) - 1
    constant = VOWPAL_CONSTANT & mask
    if n_features > mask or constant <= n_features:
        raise ValueError(f"{path}: {n_features} features share a table of {bits} bits: train with a larger -b")
    beyond = sorted(set(found) - {constant, *range(1, n_features + 1)})
    if beyond:
        raise ValueError(f"{path}: the model has a weight of feature {beyond[0]}, the data have {n_features} features")
    w = np.zeros(n_features)
    for j, value in found.items():
        if j != constant:
            w[j - 1] = value
    return weights(w, found.get(constant, 0.0))
