"""Logistic regression: two classes by the solvers of -s 0 and 6, several and an elastic net by solvers/softmax.py."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.extmath import softmax
from sklearn.utils.fixes import parse_version

from svmtool import api
from svmtool.api.run import RunContext
from svmtool.models.certain import NO_BOUNDS
from svmtool.models.linear import SOFTMAX_NOTE
from svmtool.sklearn.base import COST, SCALING, Fitted, warn
from svmtool.sklearn.described import PARAMETERS, Texts, described
from svmtool.sklearn.linear import CLASS_CONSTRAINTS, LINEAR_CONSTRAINTS, LinearClassifier
from svmtool.solvers import softmax as solvers
from svmtool.solvers.shared.base import Monitor
from svmtool.training.notices import Notice

LOGISTIC, L1_LOGISTIC = 0, 6  # numbers of solvers
WORD = "L2R_LR"  # in a model file
AT_LIMIT = {  # scikit-learn's words, by `solver`, which programs filter warnings by
    "liblinear": "Liblinear failed to converge, increase the number of iterations",
    "lbfgs": "lbfgs failed to converge after {max_iter} iteration(s).  Increase the number of iterations",
    "newton-cg": "newton-cg failed to converge after {max_iter} iteration(s).  Increase the number of iterations",
    "newton-cholesky": "Newton solver did not converge after {max_iter} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}
PENALTY_DEPRECATED = parse_version(sklearn.__version__) >= parse_version("1.8.dev0")  # by this scikit-learn


@described
class LogisticRegression(LinearClassifier):
    """Logistic regression with an L2 or L1 penalty, an elastic net or none, with scikit-learn's interface.

    Several classes are one multinomial model; `OneVsRestClassifier(LogisticRegression())` fits one against the rest.
    With C=inf there is no regulariser: the fit ends by the gradient alone, without a certified gap.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="deprecated"
        Deprecated in scikit-learn 1.8 in favour of `l1_ratio`, and of C=inf for None.
    l1_ratio : float, default=0.0
        Share of |w|_1, which gives sparse weights, in the regulariser; the rest is that of 1/2 |w|^2.
    dual : bool, default=False
        Accepted for compatibility; the method is chosen by measured costs.
    tol : float, default=1e-4
        Certified relative gap at which the fit ends; of several classes, an elastic net or C=inf also the largest
        derivative of the mean loss and its regulariser.
    fit_intercept : bool, default=True
        Whether the model has an intercept, which is regularised with solver="liblinear" only.
    intercept_scaling : float, default=1.0
        With solver="liblinear": value of the constant feature whose weight makes the intercept.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        "liblinear" regularises the intercept and takes two classes only; all others are the same.

    Attributes
    ----------
    n_iter_ : ndarray of shape (n_problems,)
        Iterations of each problem.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmtool.sklearn import LogisticRegression
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LogisticRegression(C=10.0).fit(X, y)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    >>> model.gap_ <= 1e-4
    True
    """

    _described: Texts = {"random_state": PARAMETERS["random_state"]}  # it has no folds
    probability = "logistic"  # the model's own
    _parameter_constraints: dict = {
        **LINEAR_CONSTRAINTS,
        "C": [COST],
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), None, Hidden(StrOptions({"deprecated"}))],
        "l1_ratio": [None, Interval(Real, 0.0, 1.0, closed="both")],
        "dual": ["boolean"],
        "intercept_scaling": [SCALING],
        "class_weight": CLASS_CONSTRAINTS["class_weight"],
        "solver": [StrOptions({"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"})],
    }

    def __init__(
        self, penalty: str | None = "deprecated", *, C: float = 1.0, l1_ratio: float | None = 0.0,
        dual: bool | str = False, tol: float = 1e-4, fit_intercept: bool = True, intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None, random_state: Any = None, solver: str = "lbfgs",
        max_iter: int | None = 100, verbose: int = 0, warm_start: bool = False, n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.penalty, self.C, self.l1_ratio, self.dual, self.tol = penalty, C, l1_ratio, dual, tol
        self.fit_intercept, self.intercept_scaling, self.class_weight = fit_intercept, intercept_scaling, class_weight
        self.random_state, self.solver, self.max_iter, self.verbose = random_state, solver, max_iter, verbose
        self.warm_start, self.n_jobs, self.max_seconds = warm_start, n_jobs, max_seconds

    def _at_limit(self) -> str:
        return AT_LIMIT[self.solver]

    def _problem(self) -> dict[str, Any]:
        C, share = self._regulariser()
        return {"C": C, "share": share}

    def _regulariser(self) -> tuple[float, float]:
        """C and the share of |w|_1, from the old parameters or the new ones, with scikit-learn's warnings."""
        ratio, penalty = self.l1_ratio, self.penalty
        if self.solver == "liblinear" and (penalty is None or np.isinf(self.C)):
            raise ValueError("C=inf as well as penalty=None is not supported for the liblinear solver")
        if penalty == "deprecated":
            if ratio is None and PENALTY_DEPRECATED:
                warn("'l1_ratio=None' was deprecated in scikit-learn 1.8: use 0 <= l1_ratio <= 1", FutureWarning)
            return self.C, ratio or 0.0
        if PENALTY_DEPRECATED:
            text = "'penalty' was deprecated in scikit-learn 1.8: leave it out, and use l1_ratio=0 for 'l2', "
            text += "l1_ratio=1 for 'l1', l1_ratio between 0 and 1 for 'elasticnet', and C=np.inf for None"
            warn(text, FutureWarning)
            if penalty in ("l1", "l2") and ratio != float(penalty == "l1"):
                text = f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. penalty is deprecated."
                warn(f"{text} Please use l1_ratio only.", UserWarning)
        if penalty is None:
            if self.C != 1.0:
                warn("Setting penalty=None will ignore the C and l1_ratio parameters", UserWarning)
            return np.inf, 0.0
        if penalty == "elasticnet":
            if ratio is None:
                raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
            return self.C, ratio
        if ratio is not None and 0.0 < ratio < 1.0:
            text = f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})"
            warn(text, UserWarning)
        return self.C, float(penalty == "l1")

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        single = getattr(X, "dtype", None) == np.float32 and self.solver != "liblinear"
        super()._fit_classes(X, y, sample_weight, **options)
        if single:
            self.coef_ = self.coef_.astype(np.float32)
            self.intercept_ = np.asarray(self.intercept_, np.float32)
            self._bounds = NO_BOUNDS  # of other weights
        return self

    def _fit_checked(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, **options: Any) -> None:
        C, share, several = options["C"], options["share"], len(self.classes_) > 2
        if not several and C < np.inf and share in (0.0, 1.0) and self.max_iter != 0:
            bias = self._bias(self.fit_intercept and self.solver != "liblinear")
            number = L1_LOGISTIC if share else LOGISTIC
            super()._fit_checked(X, codes, weights, solver=number, C=C, gap=self.tol, **bias)
            return
        if self.solver == "liblinear" and several:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
                "another solver or wrap the estimator in a OneVsRestClassifier to fit one class against the rest"
            )
        if self.solver == "liblinear" and 0.0 < share < 1.0:
            raise ValueError("Only 'saga' solver supports elasticnet penalty, got solver=liblinear.")
        self._fit_softmax(X, codes.astype(np.intp), weights, C, share)

    def _fit_softmax(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, C: float, share: float) -> None:
        """Fit by solvers/softmax.py: several classes, an elastic net, or no penalty."""
        penalized = bool(C < np.inf)
        cost = self.class_weight_[codes] * (1.0 if weights is None else weights) * (C if penalized else 1.0)
        known = np.flatnonzero(self.class_weight_ > 0.0)
        if len(known) < 2:
            raise ValueError("class_weight leaves fewer than two classes with a positive weight")
        rows = np.flatnonzero(cost > 0.0)
        if len(rows) < len(cost):
            X, codes, cost = X[rows], codes[rows], cost[rows]
        if self.fit_intercept:  # that of a class without costs has no minimiser: the class is never predicted
            codes = np.searchsorted(known, codes)
        else:
            known = np.arange(len(self.classes_))
        columns = 1 if len(self.classes_) == 2 else len(known)
        start = self._softmax_start(columns, X.shape[1])
        shown = self.verbose == 1
        with (
            self._records_told(X, codes, weights, self._softmax_attributes(known, columns, penalized)) as told,
            RunContext(self._threads(), self.max_seconds, progress=shown) as run,
        ):
            sink = None if told is None else lambda **record: told(record)
            monitor = Monitor(None, self._limit(), sink=sink, stop=run.stop)
            V, status, found = solvers.solve(
                X, codes, columns, cost, float(penalized), share, self.fit_intercept, self.tol, monitor, start
            )
        self._word, self._notes, self._model = WORD, (SOFTMAX_NOTE,) if len(self.classes_) > 2 else (), None
        self._bounds = NO_BOUNDS
        for name, value in self._softmax_attributes(known, columns, penalized)(V).items():
            setattr(self, name, value)
        self.n_iter_ = np.array([monitor.iterations - 1], np.int32)
        self._certify(found, status.converged)
        if self.verbose:
            print(found.line())
        if not status.converged:
            advice = status.advice + " or loosen --gap" * status.early
            self._show(Notice("status", f"not converged: {advice} ({found.short()})"))

    def _softmax_attributes(self, known: np.ndarray, columns: int, penalized: bool) -> Fitted:
        """The function that gives the fitted attributes with weights V f8 (columns, features + 1).

        known: the classes that have columns.  Probabilities do not depend on the columns' mean; with 1/2 |w|^2 that of
        the weights is 0.
        """

        def _attributes(V: np.ndarray) -> dict[str, Any]:
            W, b = V[:, :-1].copy(), V[:, -1].copy()
            if columns > 1:
                b -= b.mean()
                W -= 0.0 if penalized else W.mean(axis=0)
            if 1 < columns < len(self.classes_):
                every, constants = np.zeros((len(self.classes_), W.shape[1])), np.full(len(self.classes_), -np.inf)
                every[known], constants[known] = W, b
                W, b = every, constants
            return {"coef_": W, "intercept_": b if self.fit_intercept else np.zeros(len(W))}

        return _attributes

    def _softmax_start(self, columns: int, features: int) -> np.ndarray | None:
        """The weights of the last fit, the intercepts last, where they are a warm start for this shape."""
        coef, wanted = getattr(self, "coef_", None), (columns, features)
        if coef is None or not self.warm_start or coef.shape != wanted or np.size(self.intercept_) != wanted[0]:
            return None
        coef = coef.toarray() if sp.issparse(coef) else coef
        begun = np.column_stack([coef, self.intercept_]).astype(np.float64)
        return begun if np.isfinite(begun).all() else None

    def _read_fit(self, done: api.Fit) -> tuple[np.ndarray, np.ndarray]:
        found = super()._read_fit(done)
        self.n_iter_ = self._steps(done)
        return found

    def _calibrate(self, X: Any, codes: np.ndarray, weights: np.ndarray | None) -> None:
        """The model gives probabilities itself."""

    def _probabilities(self, X: Any) -> np.ndarray:
        if len(self.classes_) == 2:
            return super()._predict_proba_lr(X)
        return softmax(self.decision_function(X), copy=False)
