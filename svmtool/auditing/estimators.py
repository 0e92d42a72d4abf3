"""Models of other packages' Python objects: which of their parameters is which problem; docs/audit.md has the table.

Nothing is imported: an object is known by the name of its class and its package.  Each reader gives the keywords of
`fit`, and `Stated` has the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from svmtool.auditing.stated import Stated, keywords_of, weights
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES, Kernel
from svmtool.models.linear import classes_note

FREE: dict[str, Any] = {"bias": 1.0, "regularize_bias": False}
NONE: dict[str, Any] = {"bias": -1.0}
HINGE, SQUARED, LOGISTIC = "hinge", "squared_hinge", "log_loss"
# Numbers of solvers, by loss and whether the regulariser is |w|_1; 50 and 51 are these with a free bias.
NUMBERS = {(HINGE, 0): 42, (HINGE, 1): 51, (SQUARED, 0): 2, (SQUARED, 1): 5, (LOGISTIC, 0): 0, (LOGISTIC, 1): 6}


def refused(model: Any, why: str) -> ValueError:
    """The error for a model (a _WithRows) whose problem is none of the engine's."""
    return ValueError(f"{type(model.model).__name__} with {why} is no problem that svmtool solves")


def _free(fits_intercept: bool) -> dict[str, Any]:
    return FREE if fits_intercept else NONE


def _scaled(m: Any) -> dict[str, Any]:
    """A bias of a constant feature of value intercept_scaling, whose weight is regularised."""
    return {"bias": float(m.intercept_scaling)} if m.fit_intercept else NONE


def _linear(m: Any, solver: int, C: float, bias: dict[str, Any], **more: Any) -> Stated:
    """The model of coef_ and intercept_ at a problem."""
    if getattr(m, "class_weight", None) is not None:
        more["class_weight"] = m.class_weight
    return Stated(
        weights(m.coef_, m.intercept_, getattr(m, "classes_", None)),
        {"solver": solver, "C": float(C), **bias, **more},
    )


def _of_rows(stated: Stated) -> Stated:
    """With class weights that count in the problems of all classes."""
    return stated._replace(row_weight=stated.keywords.pop("class_weight", None))


def _cost(m: Any, divisor: float) -> float:
    """C where a package has 1 / C, or a multiple, as the weight of the regulariser."""
    if not divisor > 0.0:
        raise refused(m, "no regulariser")
    return 1.0 / divisor


def _logistic(m: Any, C: float, share: float, bias: dict[str, Any], several: bool) -> Stated:
    """Logistic regression; several: classes in one multinomial problem."""
    if not 0.0 < C < np.inf:
        raise refused(m, "no regulariser")
    if 0.0 < share < 1.0 and not several and len(m.classes_) > 2:
        raise refused(m, "an elastic net and classes that each have a problem")
    found = _linear(m, NUMBERS[LOGISTIC, int(share == 1.0)], C, bias)
    if getattr(m, "solver", "") != "liblinear":  # LIBLINEAR weighs the class's own rows
        found = _of_rows(found)
    return found._replace(share=float(share)) if several or 0.0 < share < 1.0 else found


def _linear_svc(m: Any) -> Stated:
    if m.multi_class == "crammer_singer":
        return _linear(m, 4, m.C, _scaled(m))
    number = 3 if m.loss == HINGE else NUMBERS[SQUARED, int(m.penalty == "l1")]
    return _linear(m, number, m.C, _scaled(m))


def _linear_svr(m: Any) -> Stated:
    return _linear(m, 13 if m.loss == "epsilon_insensitive" else 11, m.C, _scaled(m), p=float(m.epsilon))


def _sklearn_logistic(m: Any) -> Stated:
    penalty, share = getattr(m, "penalty", "deprecated"), getattr(m, "l1_ratio", None) or 0.0
    if penalty is None or penalty == "none":
        raise refused(m, "no regulariser")
    share = {"l1": 1.0, "l2": 0.0}.get(penalty, share)
    own, kind = m.solver == "liblinear", getattr(m, "multi_class", "auto")
    if kind == "multinomial" and len(m.classes_) == 2:  # before scikit-learn 1.8: a column for each class
        raise refused(m, "multi_class='multinomial' and two classes")
    several = len(m.classes_) > 2 and not own and kind != "ovr"
    return _logistic(m, m.C, share, _scaled(m) if own else _free(m.fit_intercept), several)


def _sgd(m: Any) -> Stated:
    C = _cost(m, m.alpha * m.n_rows)
    if m.penalty not in ("l1", "l2") or m.loss not in (HINGE, SQUARED, LOGISTIC, "modified_huber"):
        raise refused(m, f"loss={m.loss!r} and penalty={m.penalty!r}")
    if m.loss == "modified_huber":  # twice the loss of -s 41
        if m.penalty == "l1":
            raise refused(m, f"loss={m.loss!r} and penalty='l1'")
        return _linear(m, 41, 2.0 * C, _free(m.fit_intercept))
    return _linear(m, NUMBERS[m.loss, int(m.penalty == "l1")], C, _free(m.fit_intercept))


def _ridge(m: Any) -> Stated:
    if np.ndim(m.alpha) or not m.alpha > 0 or m.positive:
        raise refused(m, "positive=True" if m.positive else f"alpha={m.alpha!r}")
    return _of_rows(_linear(m, 52, 0.5 / m.alpha, _free(m.fit_intercept)))


def _kernel(m: Any, word: str, **keywords: Any) -> Stated:
    """A model of sklearn.svm; of two classes its attributes have LIBSVM's signs turned round."""
    kernel = "polynomial" if m.kernel == "poly" else m.kernel
    if kernel not in NAMES[:4]:
        raise refused(m, f"kernel={m.kernel!r}")
    classes = getattr(m, "classes_", None) if word in ("c_svc", "nu_svc") else None
    sign = -1.0 if classes is not None and len(classes) == 2 else 1.0
    X, coef = m.support_vectors_, m.dual_coef_
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    S = csr_array(X)
    S.sort_indices()
    model = KernelModel(
        word, Kernel(NAMES.index(kernel), float(m._gamma), int(m.degree), float(m.coef0)),
        None if classes is None else tuple(range(len(classes))), 2 if classes is None else len(classes),
        -sign * np.atleast_1d(np.asarray(m.intercept_, np.float64)), np.ascontiguousarray(sign * coef, np.float64),
        None if classes is None else tuple(map(int, m.n_support_)),
        S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data.astype(np.float64),
    )  # fmt: skip
    if classes is not None:
        model.notes = (classes_note(classes.tolist()),)
    return Stated(model, {**keywords_of(model.kernel), **keywords})


def _svc(m: Any) -> Stated:
    weight = {} if m.class_weight is None else {"class_weight": m.class_weight}
    return _kernel(m, "c_svc", solver="svc", C=float(m.C), **weight)


def _snapml(m: Any, number: int) -> Stated:
    if m.normalize or m.kernel != "linear":
        raise refused(m, "normalize=True" if m.normalize else f"kernel={m.kernel!r}")
    return _linear(m, number, _cost(m, m.regularizer), _scaled(m))


def _skglm_logistic(m: Any) -> Stated:
    C = _cost(m, m.alpha * m.n_rows)
    return _logistic(m, C, getattr(m, "l1_ratio", 1.0), _free(m.fit_intercept), False)


def _spark(m: Any, loss: str) -> Stated:
    """A model of Spark's MLlib; by default (standardization) it penalises the weights of standardized features."""
    if m.getStandardization():
        raise ValueError(
            f"{type(m.model).__name__} with standardization=True is another problem, of features of variance 1: "
            "train it with standardization=False, or give its weights of the scaled rows as an array"
        )
    C, bias = _cost(m, m.getRegParam() * m.row_weight), _free(m.getFitIntercept())
    if loss == HINGE:
        found = weights(m.coefficients.toArray(), m.intercept, (0, 1))
        return Stated(found, {"solver": NUMBERS[HINGE, 0], "C": C, **bias})
    found = weights(m.coefficientMatrix.toArray(), m.interceptVector.toArray(), range(m.numClasses))
    share = float(m.getElasticNetParam())
    if len(found.coef) == 2:
        raise refused(m, "family='multinomial' and two classes")
    several = len(found.coef) > 1 or 0.0 < share < 1.0
    return Stated(found, {"solver": NUMBERS[LOGISTIC, int(share == 1.0)], "C": C, **bias}, share if several else None)


Reader = Callable[[Any], Stated]
READERS: dict[str, dict[str, Reader]] = {  # by package and class
    "sklearn": {
        "LinearSVC": _linear_svc, "LinearSVR": _linear_svr, "LogisticRegression": _sklearn_logistic,
        "SGDClassifier": _sgd, "RidgeClassifier": _ridge, "SVC": _svc,
        "NuSVC": lambda m: _kernel(m, "nu_svc", solver="nu-svc", nu=float(m.nu)),
        "SVR": lambda m: _kernel(m, "epsilon_svr", solver="epsilon-svr", C=float(m.C), p=float(m.epsilon)),
        "NuSVR": lambda m: _kernel(m, "nu_svr", solver="nu-svr", C=float(m.C), nu=float(m.nu)),
        "OneClassSVM": lambda m: _kernel(m, "one_class", solver="one-class", nu=float(m.nu)),
    },
    "svmtool": {"LogisticRegression": _sklearn_logistic},  # the files of other estimators state their problems
    "skglm": {"SparseLogisticRegression": _skglm_logistic, "LinearSVC": lambda m: _linear(m, 3, m.C, NONE)},
    "celer": {"LogisticRegression": lambda m: _linear(m, 6, m.C, NONE)},
    "snapml": {
        "LogisticRegression": lambda m: _snapml(m, NUMBERS[LOGISTIC, int(m.penalty == "l1")]),
        "SupportVectorMachine": lambda m: _snapml(m, 3 if m.loss == HINGE else 2),
    },
    "pyspark": {
        "LinearSVCModel": lambda m: _spark(m, HINGE), "LogisticRegressionModel": lambda m: _spark(m, LOGISTIC),
    },
}  # fmt: skip


class _WithRows:
    """An object with the number of training rows and the sum of their weights, by which some packages divide losses."""

    def __init__(self, model: Any, rows: tuple[int, float]):
        self.model, (self.n_rows, self.row_weight) = model, rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def stated(model: Any, rows: tuple[int, float]) -> Stated | None:
    """What an object of a known package states; None for other objects, ValueError for one that cannot be read.

    rows: their number and the sum of their weights.
    """
    own = type(model).__module__.partition(".")[0]
    for kind in type(model).__mro__:
        package = kind.__module__.partition(".")[0]
        reader = READERS.get(package, {}).get(kind.__name__)
        if reader is None or (package == own and kind is not type(model)):  # LogisticRegressionCV is another model
            continue
        try:
            return reader(_WithRows(model, rows))
        except AttributeError as e:
            raise ValueError(f"{type(model).__name__} cannot be read: is it fitted? ({e})") from None
    return None
