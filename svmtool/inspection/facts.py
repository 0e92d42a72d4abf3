"""Facts about a model, as pairs of a name and a text."""

from __future__ import annotations

import os
import re

import numpy as np

from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.formats import adaptable
from svmtool.formats.names import Names
from svmtool.models.certain import radii_of, signs
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES, PRECOMPUTED, WITH_COEF0, WITH_DEGREE, WITH_GAMMA
from svmtool.models.linear import LOGISTIC_WORDS, SOFTMAX_NOTE, LinearModel, sigmoids_of
from svmtool.registry.row import Solver
from svmtool.tolerances import MB

Fact = tuple[str, str]
COMMAND = re.compile(r"# svmtool (\S+): -s (\d{1,3}) \(([^)]*)\) ?(.*)")
CERTIFICATE = re.compile(r"# (Certified|Estimated) relative gap = (.*)")  # Certificate.line
STOPPED = "# Stopped: "
SHOWN = 12  # classes named in one line
KIND_NAMES = {"classification": "classifier", "regression": "regression", "one-class": "one-class model"}


def facts(model: LinearModel | KernelModel, names: Names, path: str) -> list[Fact]:
    """What the model is, how it was trained, its classes, certificate and size; path: its file, or ""."""
    linear = isinstance(model, LinearModel)
    found: list[Fact] = [("model", _kind(model))]
    found += _training(model)
    if model.labels is not None:
        found.append(("classes", _classes(model.labels or (), names)))
    found += _linear(model) if linear else _kernel(model, names)
    found.append(("probabilities", _probabilities(model)))
    certainty, text = certificate_of(model)
    gap = f"{'estimated ' if certainty == 'Estimated' else ''}relative gap {text}"
    found.append(("certificate", gap if text else "none: the file has no certificate"))
    found += [("stopped", note.removeprefix(STOPPED)) for note in model.notes if note.startswith(STOPPED)]
    return found + _state(path)


def solver_of(model: LinearModel | KernelModel) -> tuple[Solver | None, str, str]:
    """The registry's row of the solver that trained a model, its options, and svmtool's version; from the notes.

    Models of LIBLINEAR and LIBSVM have no notes: their first word names the solver.
    """
    linear = isinstance(model, LinearModel)
    for note in model.notes:
        if match := COMMAND.match(note):
            try:
                number = int(match[2])
                row = registry.find(number) if linear else registry.find_kernel(number)
            except SvmtoolError:
                row = None
            return row, match[4], match[1]
    rows = registry.SOLVERS if linear else registry.KERNEL_SOLVERS
    word = model.word if isinstance(model, LinearModel) else model.svm_type
    return next((row for row in rows if row.word == word), None), "", ""


def certificate_of(model: LinearModel | KernelModel) -> tuple[str, str]:
    """`Certified` or `Estimated`, and the certificate's text; both empty if the file has none."""
    return next(((found[1], found[2]) for found in map(CERTIFICATE.match, model.notes) if found), ("", ""))


def _kind(model: LinearModel | KernelModel) -> str:
    kind = "ordinal regression" if model.is_ordinal else KIND_NAMES[model.kind]
    kind = "multi-label classifier" if model.is_multilabel else kind
    if isinstance(model, LinearModel):
        return f"linear {kind} ({model.word})"
    return f"{NAMES[model.kernel.kind]} kernel {kind} ({model.svm_type})"


def _training(model: LinearModel | KernelModel) -> list[Fact]:
    row, options, version = solver_of(model)
    found = []
    if row is not None:
        found.append(("solver", f"-s {row.number} ({row.name}): {row.help}"))
    if options:
        found.append(("options", options))
    found.append(("trained by", f"svmtool {version}" if version else "not by svmtool, or with its notes removed"))
    return found


def _classes(labels: tuple[int, ...], names: Names) -> str:
    def text(label: int) -> str:
        return f"{label} {names.classes[label]}" if label in names.classes else str(label)

    shown = ", ".join(text(label) for label in labels[:SHOWN])
    more = len(labels) - SHOWN
    return f"{len(labels)}: {shown}" + (f" and {more} more" if more > 0 else "")


def _linear(model: LinearModel) -> list[Fact]:
    features = model.n_features
    if hasattr(model.W, "pieces"):
        each = np.diff(model.W.indptr)[:features]
    else:
        each = np.count_nonzero(model.W[:features], axis=1)
    size = features * model.columns
    zeros, unused = size - int(each.sum()), int(np.count_nonzero(each == 0))
    found = [("features", str(model.n_features))]
    if model.bias >= 0:
        weights = model.W[features:][0] * model.bias
        terms = ", ".join(f"{b:.6g}" for b in weights[:SHOWN]) + (", .." if len(weights) > SHOWN else "")
        found.append(("bias", f"feature of value {model.bias:g}; it adds {terms} to the decision values"))
    else:
        found.append(("bias", "none"))
    if model.is_multilabel:
        chosen = model.thresholds[model.thresholds != 0.0]
        some = ", ".join(f"{t:.6g}" for t in chosen[:SHOWN]) + (", .." if len(chosen) > SHOWN else "")
        found.append(("thresholds", some if len(chosen) else "0: a row has the labels of decision values above it"))
    if model.rho is not None and model.kind == "one-class":
        found.append(("rho", f"{model.rho:.6g}"))
    if len(radii_of(model)) and not model.is_ordinal:
        found.append(("certain signs", f"{signs(model)} of {size} weights have the sign of the optimum's for sure"))
    share = f"{100 * zeros / size:.3g} %" if size else "0 %"
    found.append(("weights", f"{size}, of which {zeros} ({share}) are zero; {unused} features have no weight"))
    return found


def _kernel(model: KernelModel, names: Names) -> list[Fact]:
    kernel = model.kernel
    terms = [
        f"{name} = {value:g}"
        for name, value, kinds in (
            ("gamma", kernel.gamma, WITH_GAMMA), ("degree", kernel.degree, WITH_DEGREE),
            ("coef0", kernel.coef0, WITH_COEF0),
        )
        if kernel.kind in kinds
    ]  # fmt: skip
    found = [("kernel", ", ".join([NAMES[kernel.kind], *terms]))]
    if kernel.kind != PRECOMPUTED:
        largest = int(model.indices.max()) + 1 if model.indices.size else 0
        found.append(("features", f"up to {largest} in the support vectors"))
    count = str(model.total_sv)
    if model.nr_sv is not None and model.labels is not None:
        pairs = list(zip(model.labels, model.nr_sv, strict=True))
        each = ", ".join(f"{n} of {names.of_class(label)}" for label, n in pairs[:SHOWN])
        count += f": {each}" + (f" and those of {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else "")
    found.append(("support vectors", count))
    size = model.total_sv * (int(model.indices.max()) + 1) if model.indices.size else 0
    if size and kernel.kind != PRECOMPUTED:
        found.append(("sparsity", f"{100 * model.indices.size / size:.3g} % of the support vectors' values are stored"))
    offsets = ", ".join(f"{-r:.6g}" for r in model.rho[:SHOWN]) + (", .." if len(model.rho) > SHOWN else "")
    found.append(("bias", f"{offsets} (the negative of rho)"))
    return found


def _probabilities(model: LinearModel | KernelModel) -> str:
    if not model.gives_probabilities:
        return "none: train with -b 1 or a logistic solver"
    if SOFTMAX_NOTE in model.notes:
        return "by softmax of the decision values"
    if isinstance(model, LinearModel) and model.word in LOGISTIC_WORDS:
        return "by the logistic function of the decision values"
    if model.kind == "regression":
        return "Laplace distribution of the errors"
    if model.kind == "one-class":
        return "by ten marks of the decision values"
    count = len(sigmoids_of(model)) if isinstance(model, LinearModel) else len(model.probA)
    return f"by {count} sigmoid{'s' if count != 1 else ''} (-b 1)"


def _state(path: str) -> list[Fact]:
    """The adaptable state beside the model."""
    if not path or not os.path.exists(path + adaptable.STATE):
        return []
    from svmtool.formats.adaptable import state

    found = state.read(path)
    size = sum(os.path.getsize(path + kept) for kept in adaptable.STATE_FILES if os.path.exists(path + kept))
    counts = ", ".join(
        f"{int(n)} of label {label}" for label, n in zip(found.sums.labels[:SHOWN], found.sums.count, strict=False)
    )
    more = ", .." if len(found.sums.labels) > SHOWN else ""
    return [
        (
            "state",
            f"adaptable by --add and --remove: {found.sums.n} rows ({counts}{more}), {size / MB:.3g} MB beside it",
        )
    ]
