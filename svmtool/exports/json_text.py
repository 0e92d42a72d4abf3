"""A model as JSON; docs/tools.md describes the fields."""

from __future__ import annotations

import json
from typing import Any

from svmtool.exports.c_source import refuse_unusable
from svmtool.formats.names import Names
from svmtool.inspection.facts import certificate_of, solver_of
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES, WITH_COEF0, WITH_DEGREE, WITH_GAMMA
from svmtool.models.linear import LinearModel, sigmoids_of

MODEL_FORMAT, MODEL_VERSION = "svmtool model", 1


def json_text(model: LinearModel | KernelModel, names: Names) -> str:
    """The model as one JSON object, numbers to the bit."""
    refuse_unusable(model)
    row, options, version = solver_of(model)
    linear = isinstance(model, LinearModel)
    certainty, text = certificate_of(model)
    content: dict[str, Any] = {
        "format": MODEL_FORMAT,
        "version": MODEL_VERSION,
        "kind": "linear" if linear else "kernel",
        "task": "ordinal" if model.is_ordinal else "multi-label" if model.is_multilabel else model.kind,
        "type": model.word if isinstance(model, LinearModel) else model.svm_type,
        "solver": None if row is None else {"number": row.number, "name": row.name, "options": options},
        "trained_by": f"svmtool {version}" if version else None,
        "certificate": text and ("estimated " if certainty == "Estimated" else "") + text or None,
        "labels": None if model.labels is None else list(model.labels),
    }
    if names.classes and model.labels is not None:
        content["label_names"] = [names.of_class(label) for label in model.labels]
    content |= _linear(model) if isinstance(model, LinearModel) else _kernel(model)
    if names.features:
        content["feature_names"] = [names.feature(j) for j in range(content["features"])]
    return json.dumps(content, allow_nan=False)


def _linear(model: LinearModel) -> dict[str, Any]:
    W = model.W.tolist()
    return {
        "features": model.n_features,
        "bias": model.bias if model.bias >= 0 else None,
        "bias_weights": W[model.n_features] if model.bias >= 0 else None,
        "rho": model.rho if model.kind == "one-class" else None,
        "weights": W[: model.n_features],
        "sigmoids": [list(pair) for pair in sigmoids_of(model)] or None,
        "thresholds": model.thresholds.tolist() if model.is_multilabel else None,
    }


def _kernel(model: KernelModel) -> dict[str, Any]:
    kernel = model.kernel
    parameters = {
        name: value
        for name, value, kinds in (
            ("gamma", kernel.gamma, WITH_GAMMA), ("degree", kernel.degree, WITH_DEGREE),
            ("coef0", kernel.coef0, WITH_COEF0),
        )
        if kernel.kind in kinds
    }  # fmt: skip
    return {
        "features": int(model.indices.max()) + 1 if model.indices.size else 0,
        "kernel": {"name": NAMES[kernel.kind], **parameters},
        "rho": model.rho.tolist(),
        "support_vectors_of_labels": None if model.nr_sv is None else list(model.nr_sv),
        "coefficients": model.coef.tolist(),
        "support_vectors": {
            "starts": model.indptr.tolist(),
            "indices": (model.indices + 1).tolist(),
            "values": model.values.tolist(),
        },
        "sigmoid_A": None if model.probA is None else model.probA.tolist(),
        "sigmoid_B": None if model.probB is None else model.probB.tolist(),
        "density_marks": None if model.density_marks is None else list(model.density_marks),
    }
