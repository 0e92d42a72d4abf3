"""A model as an ONNX graph of the operators of ai.onnx.ml, whose numbers have single precision.

Input `x`: f4 (rows, features).  Outputs `label`: i8 (rows), or f4 for a regression, and `scores`: f4 (rows, values).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import ModelError, SvmtoolError
from svmtool.exports.c_source import offsets_of, refuse_unusable
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES
from svmtool.models.linear import LinearModel

ONNX_NEEDED = "--onnx needs the package onnx: pip install 'svmtool[onnx]'"
ML = "ai.onnx.ml"
OPSETS = (("", 15), (ML, 3))
IR_VERSION = 8
FLOAT, INT64 = 1, 7  # TensorProto's numbers
MAX_SINGLE = float(np.finfo(np.float32).max)
MAX_CHECKED = 1000  # support vectors whose decision values are compared
MAX_GRAPH_NUMBERS = 400_000_000  # a message of protobuf holds 2 GB
ONNX_KERNELS = {"linear": "LINEAR", "polynomial": "POLY", "rbf": "RBF", "sigmoid": "SIGMOID"}


def onnx_bytes(model: LinearModel | KernelModel, about: str) -> bytes:
    """The serialised graph; SvmtoolError without the package onnx."""
    try:
        from onnx import checker, helper
    except ImportError:
        raise SvmtoolError(ONNX_NEEDED) from None
    refuse_unusable(model)
    nodes, features, values = _linear(model) if isinstance(model, LinearModel) else _kernel(model)
    is_value = model.kind == "regression"
    outputs = [
        helper.make_tensor_value_info("label", FLOAT if is_value else INT64, ["rows", 1] if is_value else ["rows"])
    ]
    if not is_value:
        outputs.append(helper.make_tensor_value_info("scores", FLOAT, ["rows", values]))
    made_nodes = [
        helper.make_node(kind, inputs, outs, domain=domain, **attributes)
        for kind, inputs, outs, domain, attributes in nodes
    ]
    x = helper.make_tensor_value_info("x", FLOAT, ["rows", features])
    graph = helper.make_graph(made_nodes, "svmtool", [x], outputs)
    made = helper.make_model(
        graph, producer_name="svmtool", doc_string=about.encode("ascii", "replace").decode(), ir_version=IR_VERSION,
        opset_imports=[helper.make_operatorsetid(domain, version) for domain, version in OPSETS],
    )  # fmt: skip
    checker.check_model(made)
    return made.SerializeToString()


Node = tuple[str, list[str], list[str], str, dict[str, Any]]


def _linear(model: LinearModel) -> tuple[list[Node], int, int]:
    """Nodes, number of features, number of scores; the scores of two classes are -f and f, the second label's first."""
    W = model.W[: model.n_features].T
    offsets = offsets_of(model)
    labels = (1, -1) if model.labels is None else model.labels
    if model.kind == "regression":
        node = ("LinearRegressor", ["x"], ["label"], ML, {"coefficients": _floats(W), "intercepts": _floats(offsets)})
        return [node], model.n_features, 1
    if model.nr_class == 2:  # f = 0 is the second label's, and the first largest score wins
        W, offsets = np.stack([-W[0], W[0]]), np.array([-offsets[0], offsets[0]])
        labels = labels[::-1]
    attributes = {
        "coefficients": _floats(W), "intercepts": _floats(offsets), "classlabels_ints": list(labels),
        "multi_class": 1, "post_transform": "NONE",
    }  # fmt: skip
    return [("LinearClassifier", ["x"], ["label", "scores"], ML, attributes)], model.n_features, len(labels)


def _kernel(model: KernelModel) -> tuple[list[Node], int, int]:
    """Nodes, number of features, number of scores."""
    kernel = model.kernel
    features = int(model.indices.max()) + 1 if model.indices.size else 1
    if model.total_sv * features > MAX_GRAPH_NUMBERS:
        raise ModelError("ONNX stores support vectors densely, and these are too many: use --c or --json")
    if model.total_sv == 0:
        raise ModelError("the model has no support vectors, and ONNX needs one")
    vectors = np.zeros((model.total_sv, features))
    vectors[np.repeat(np.arange(model.total_sv), np.diff(model.indptr)), model.indices] = model.values
    shared = {
        "coefficients": _floats(model.coef), "kernel_type": ONNX_KERNELS[NAMES[kernel.kind]],
        "kernel_params": _floats([kernel.gamma, kernel.coef0, float(kernel.degree)]),
        "support_vectors": _floats(vectors), "rho": _floats(-model.rho), "post_transform": "NONE",
    }  # fmt: skip
    if model.kind == "classification":
        attributes = {
            **shared, "classlabels_ints": list(model.labels or ()), "vectors_per_class": list(model.nr_sv or ()),
        }  # fmt: skip
        return [("SVMClassifier", ["x"], ["label", "scores"], ML, attributes)], features, max(2, model.columns)
    shared["n_supports"] = model.total_sv
    if model.kind == "regression":
        return [("SVMRegressor", ["x"], ["label"], ML, shared)], features, 1
    nodes: list[Node] = [  # 1 where the score is above 0, else -1
        ("SVMRegressor", ["x"], ["scores"], ML, shared),
        ("Constant", [], ["zero"], "", {"value_float": 0.0}),
        ("Greater", ["scores", "zero"], ["above"], "", {}),
        ("Cast", ["above"], ["inside"], "", {"to": INT64}),
        ("Constant", [], ["two"], "", {"value_int": 2}),
        ("Constant", [], ["one"], "", {"value_int": 1}),
        ("Mul", ["inside", "two"], ["twice"], "", {}),
        ("Sub", ["twice", "one"], ["signs"], "", {}),
        ("Constant", [], ["flat"], "", {"value_ints": [-1]}),
        ("Reshape", ["signs", "flat"], ["label"], "", {}),
    ]
    return nodes, features, 1


def _floats(numbers: np.ndarray | list[float]) -> list[float]:
    """Numbers that the graph will hold in single precision; ModelError for those beyond it."""
    found = np.asarray(numbers, np.float64).ravel()
    if float(np.abs(found).max(initial=0.0)) > MAX_SINGLE:
        raise ModelError("the model has numbers beyond single precision, which ONNX has: use --c or --json")
    return found.tolist()


def single_precision_error(model: KernelModel) -> float:
    """The largest change of a decision value if model and rows are rounded to single precision.

    The rows are the first support vectors, up to MAX_CHECKED of them.
    """

    def single(numbers: np.ndarray | float) -> np.ndarray:
        return np.asarray(numbers).astype(np.float32).astype(np.float64)

    kernel = model.kernel
    kernel = kernel._replace(gamma=float(single(kernel.gamma)), coef0=float(single(kernel.coef0)))
    rounded = KernelModel(
        model.svm_type, kernel, model.labels, model.nr_class, single(model.rho), single(model.coef), model.nr_sv,
        model.indptr, model.indices, single(model.values),
    )  # fmt: skip
    count = min(model.total_sv, MAX_CHECKED)
    end, width = int(model.indptr[count]), int(model.indices.max(initial=-1)) + 1
    with np.errstate(all="ignore"):
        f, g = (
            some.decision_values(
                Dataset(np.zeros(count), model.indptr[: count + 1], model.indices[:end], some.values[:end], width)
            )
            for some in (model, rounded)
        )
        return float(np.max(np.abs(f - g), initial=0.0))
