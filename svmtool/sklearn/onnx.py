"""Conversion of the estimators to ONNX by skl2onnx: call `register()` once before `skl2onnx.to_onnx`.

skl2onnx converts scikit-learn's classes by their attributes; each of ours is shown to it as one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model, svm

from svmtool.sklearn.adaptable import AdaptableLSSVC
from svmtool.sklearn.kernel import SVC, NuSVC
from svmtool.sklearn.kernel_one_class import FastOneClassSVM, OneClassSVM
from svmtool.sklearn.kernel_regression import SVR, NuSVR
from svmtool.sklearn.least_squares import LSSVC
from svmtool.sklearn.linear import LinearSVC
from svmtool.sklearn.logistic import LogisticRegression
from svmtool.sklearn.one_class import LinearOneClassSVM
from svmtool.sklearn.papers import LPSVC, LpSVC, OrdinalSVM
from svmtool.sklearn.regression import LinearSVR


def _linear(mine: Any, theirs: type) -> Any:
    made = theirs()
    made.classes_, made.coef_ = mine.classes_, mine.coef_
    made.intercept_ = np.broadcast_to(mine.intercept_, len(mine.coef_))
    return made


def _ordinal(mine: Any, theirs: type) -> Any:
    """A row has the rank k with the largest k (w.x) - sum of the first k thresholds."""
    made, ranks = theirs(), np.arange(len(mine.classes_))
    made.classes_, made.coef_ = mine.classes_, ranks[:, None] * mine.coef_
    made.intercept_ = -np.concatenate(([0.0], np.cumsum(mine.thresholds_)))
    if len(ranks) == 2:
        made.coef_, made.intercept_ = made.coef_[1:], made.intercept_[1:]
    return made


def _kernel(mine: Any, theirs: type) -> Any:
    """Of the values of a precomputed kernel the model is linear, with unit vectors as support vectors."""
    if callable(mine.kernel):
        raise ValueError("ONNX cannot hold a kernel that is a function: give the kernel a name")
    if getattr(mine, "calibrators_", None):
        raise ValueError("probability='isotonic' has no ONNX operator: use probability='sigmoid'")
    given = mine.kernel == "precomputed"
    made = theirs(kernel="linear" if given else mine.kernel, degree=mine.degree, coef0=mine.coef0)
    if hasattr(mine, "decision_function_shape"):
        made.decision_function_shape, made.classes_ = mine.decision_function_shape, mine.classes_
        marks = mine._model.probA, mine._model.probB
        made._probA, made._probB = (np.empty(0) if mark is None else np.array(mark) for mark in marks)
    made._gamma, made._n_support = mine._gamma, np.array(mine.n_support_, np.int32)
    made.support_, made.support_vectors_ = mine.support_, mine.support_vectors_
    if given:
        made.support_vectors_ = np.zeros((len(mine.support_), mine.shape_fit_[0]), np.float32)
        made.support_vectors_[np.arange(len(mine.support_)), mine.support_] = 1.0
    made.dual_coef_, made.intercept_ = mine.dual_coef_, mine.intercept_
    return made


def _plane(mine: Any, theirs: type) -> Any:
    """A plane is a linear kernel's one support vector, the weights."""
    made = theirs(kernel="linear")
    made._gamma, made.support_, made.support_vectors_ = 1.0, np.zeros(1, np.int32), mine.coef_
    made.dual_coef_, made.intercept_ = np.ones((1, 1)), -np.atleast_1d(mine.offset_)
    return made


def register() -> None:
    """Tell skl2onnx how to convert the estimators of this package.

    Labels, values of regressions, decision values, and probabilities of LogisticRegression, SVC and NuSVC (with
    probability="sigmoid") are the estimator's in single precision; runtimes couple the probabilities of a kernel's two
    classes, to within 0.005.  Of two classes the scores are -f and f, with a kernel f and -f.  A kernel that
    is a function and isotonic probabilities have no form in ONNX: ValueError.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    from skl2onnx import update_registered_converter
    from skl2onnx.common.data_types import Int64TensorType
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
        calculate_linear_regressor_output_shapes,
    )
    from skl2onnx.operator_converters.linear_classifier import convert_sklearn_linear_classifier
    from skl2onnx.operator_converters.linear_regressor import convert_sklearn_linear_regressor
    from skl2onnx.operator_converters.support_vector_machines import (
        convert_sklearn_svm_classifier,
        convert_sklearn_svm_regressor,
    )

    def _converted(as_theirs: Callable[[Any, type], Any], theirs: type, convert: Any) -> Callable[..., None]:
        def _convert(scope: Any, operator: Any, container: Any) -> None:
            mine = operator.raw_operator
            operator.raw_operator = made = as_theirs(mine, theirs)
            known = container.options or {}
            if known.get(id(mine), {}).get("raw_scores", theirs is svm.LinearSVC):  # a score for each class
                container.options = {**known, id(made): {"raw_scores": True}}
            convert(scope, operator, container)
            operator.raw_operator, container.options = mine, known

        return _convert

    def _one_class_shapes(operator: Any) -> None:
        rows = operator.inputs[0].get_first_dimension()
        operator.outputs[0].type, operator.outputs[1].type.shape = Int64TensorType([rows, 1]), [rows, 1]

    of_classes = {
        "nocl": [True, False], "zipmap": [True, False, "columns"], "output_class_labels": [False, True],
        "raw_scores": [True, False],
    }  # fmt: skip
    to_classes = calculate_linear_classifier_output_shapes, convert_sklearn_linear_classifier, of_classes
    to_pairs = calculate_linear_classifier_output_shapes, convert_sklearn_svm_classifier, of_classes
    to_values = calculate_linear_regressor_output_shapes, convert_sklearn_svm_regressor, None
    to_sides = _one_class_shapes, convert_sklearn_svm_regressor, None
    logistic, linear = linear_model.LogisticRegression, svm.LinearSVC
    for estimators, as_theirs, theirs, (shapes, convert, options) in (
        ((LinearSVC, LpSVC, LPSVC, LSSVC, AdaptableLSSVC), _linear, linear, to_classes),
        ((LogisticRegression,), _linear, logistic, to_classes),
        ((OrdinalSVM,), _ordinal, linear, to_classes),
        ((SVC,), _kernel, svm.SVC, to_pairs),
        ((NuSVC,), _kernel, svm.NuSVC, to_pairs),
        ((SVR,), _kernel, svm.SVR, to_values),
        ((NuSVR,), _kernel, svm.NuSVR, to_values),
        ((OneClassSVM, FastOneClassSVM), _kernel, svm.OneClassSVM, to_sides),
        ((LinearOneClassSVM,), _plane, svm.OneClassSVM, to_sides),
    ):
        for estimator in estimators:
            made = _converted(as_theirs, theirs, convert)
            update_registered_converter(estimator, f"Svmtool{estimator.__name__}", shapes, made, options=options)
    shapes = calculate_linear_regressor_output_shapes
    update_registered_converter(LinearSVR, "SvmtoolLinearSVR", shapes, convert_sklearn_linear_regressor)
