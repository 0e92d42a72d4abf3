"""Least-squares SVM with exact leave-one-out predictions."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from svmtool import registry
from svmtool.sklearn.base import METHOD_CONSTRAINTS, SCALING
from svmtool.sklearn.described import described
from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LinearClassifier

LSSVM = 70


@described
class LSSVC(LinearClassifier):
    """Least-squares SVM, with its exact leave-one-out accuracy.

    Minimises 1/2 |w|^2 + C sum_i (1 - y_i w.x_i)^2; several classes are fitted one against the rest.

    Parameters
    ----------
    tol : float, default=1e-6
        Certified relative gap at which the fit ends; method="paper" has no tolerance, and warns of a larger gap.
    loo : bool, default=True
        Compute `loo_score_`; with more than 1500 features it is None, and with a method that does not give it.
    method : {"fast", "paper"}, default="fast"
        "fast": the engine, to a certified gap; "paper": the paper's algorithm as printed, as of `svm-train -s 70`.

    Attributes
    ----------
    loo_score_ : float
        Accuracy on the training rows, each predicted by the model trained without it: exact, without training again.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LSSVC
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LSSVC().fit(X, y)
    >>> 0.8 < model.loo_score_ <= model.score(X, y)
    True
    """

    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS, **CLASS_CONSTRAINTS, **METHOD_CONSTRAINTS,
        "intercept_scaling": [SCALING],
        "loo": ["boolean"],
        "max_iter": [None, Interval(Integral, 0, None, closed="left")],
    }  # fmt: skip

    def __init__(
        self, *, C: float = 1.0, tol: float = 1e-6, fit_intercept: bool = True, intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None, probability: bool | str = False, loo: bool = True,
        warm_start: bool = False, verbose: int = 0, random_state: Any = None, max_iter: int | None = None,
        n_jobs: int | None = None, max_seconds: float | None = None, method: str = "fast",
    ) -> None:  # fmt: skip
        self.C, self.tol, self.fit_intercept, self.intercept_scaling = C, tol, fit_intercept, intercept_scaling
        self.class_weight, self.probability, self.loo, self.warm_start = class_weight, probability, loo, warm_start
        self.verbose, self.random_state, self.max_iter = verbose, random_state, max_iter
        self.n_jobs, self.max_seconds, self.method = n_jobs, max_seconds, method

    def _problem(self) -> dict[str, Any]:
        return {"solver": LSSVM, "C": self.C, "method": self.method, "gap": self.tol, **self._bias(False)}

    def _run(self, X: Any, y: np.ndarray | None, *more: Any, **options: Any) -> Any:
        return super()._run(X, y, *more, loo=self._offers_loo(), **options)

    def _read_fit(self, done: Any) -> tuple[np.ndarray, np.ndarray]:
        self.loo_score_ = done.loo_score if self._offers_loo() else None
        return super()._read_fit(done)

    def _offers_loo(self) -> bool:
        """Whether `loo_score_` is requested, and the method and the number of features allow it."""
        row = registry.find(LSSVM, self.method)
        max_features = registry.find(LSSVM).sums_below - int(self.fit_intercept)
        return bool(self.loo) and "--loo" in row.supported and self.n_features_in_ <= max_features
