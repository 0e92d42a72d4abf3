"""Conversion of the linear estimators to ONNX by skl2onnx: call `register()` once before `skl2onnx.to_onnx`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model, svm

from svmtool.sklearn.least_squares import LSSVC
from svmtool.sklearn.linear import LinearSVC
from svmtool.sklearn.logistic import LogisticRegression
from svmtool.sklearn.papers import LPSVC, LpSVC
from svmtool.sklearn.regression import LinearSVR


def register() -> None:
    """Tell skl2onnx how to convert the linear classifiers and the linear regression of this package.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
        calculate_linear_regressor_output_shapes,
    )
    from skl2onnx.operator_converters.linear_classifier import convert_sklearn_linear_classifier
    from skl2onnx.operator_converters.linear_regressor import convert_sklearn_linear_regressor

    def _converted(theirs: type) -> Callable[[Any, Any, Any], None]:
        """scikit-learn's converter, which asks for its own class by name, for one of ours with the same attributes."""

        def _convert(scope: Any, operator: Any, container: Any) -> None:
            mine, made = operator.raw_operator, theirs()
            made.classes_, made.coef_ = mine.classes_, mine.coef_
            made.intercept_ = np.broadcast_to(mine.intercept_, len(mine.coef_))
            operator.raw_operator = made
            convert_sklearn_linear_classifier(scope, operator, container)
            operator.raw_operator = mine

        return _convert

    for estimator in (LinearSVC, LogisticRegression, LpSVC, LPSVC, LSSVC):
        theirs = linear_model.LogisticRegression if estimator is LogisticRegression else svm.LinearSVC
        update_registered_converter(
            estimator, f"Svmtool{estimator.__name__}", calculate_linear_classifier_output_shapes, _converted(theirs),
            options={"nocl": [True, False], "zipmap": [True, False, "columns"],
            "output_class_labels": [False, True], "raw_scores": [True, False]},
        )  # fmt: skip
    update_registered_converter(
        LinearSVR, "SvmtoolLinearSVR", calculate_linear_regressor_output_shapes, convert_sklearn_linear_regressor
    )
