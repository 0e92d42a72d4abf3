"""`audit`: how far models are from the optimum of a problem."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from svmtool import registry
from svmtool.api import arrays
from svmtool.api.run import RunContext
from svmtool.api.settings import check_names, class_weights, settings_of
from svmtool.api.solver_choice import kernel_row, row_of
from svmtool.api.training import by_number, check_labels, kernel_rows
from svmtool.api.values import real
from svmtool.auditing import multinomial
from svmtool.auditing.fitting import KERNEL, fitted, labels_of, refuse_other_kernel
from svmtool.auditing.readers import read
from svmtool.auditing.record import Audit, Audits
from svmtool.auditing.stated import Stated, Weights
from svmtool.auditing.value import objective
from svmtool.certify.linear import Certificate
from svmtool.data.dataset import Dataset
from svmtool.data.labels import Classes
from svmtool.limits import StopFlag
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import trained
from svmtool.training.linear import train_on_used
from svmtool.training.outcome import notes

Models = LinearModel | KernelModel
TAKEN = ("sample_weight", "gap", "max_seconds", "test", "threads")


@overload
def audit(model: dict[str, Any], X: Any, y: Any = None, **keywords: Any) -> Audits: ...  # numpydoc ignore=GL08
@overload
def audit(model: Any, X: Any, y: Any = None, **keywords: Any) -> Audit: ...  # numpydoc ignore=GL08
def audit(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, gap: float = 1e-6,
    max_seconds: float | None = None, test: tuple[Any, Any] | None = None, threads: int | None = None,
    **problem: Any,
) -> Audit | Audits:  # fmt: skip
    """Say how far a model is from the optimum of its problem.

    The engine solves the problem too.  The lower bound of its certificate is one for every model, so that
    (P - D) / D bounds how far this one's objective P is above the minimum, whatever program trained it.

    Parameters
    ----------
    model : model, array, or dict of models by name
        A file of svm-train, LIBLINEAR, LIBSVM or Vowpal Wabbit (--readable_model), a model object of liblinear-official
        or libsvm-official, a Fit, an estimator of scikit-learn, skglm, celer or snapml, a model of Spark's MLlib, or
        weights: an array (features,) or (classes, features), or a tuple of such an array and the intercepts, with the
        columns of classes in ascending order and one column for two classes, positive for the larger label.
    X, y : array or sparse matrix, (n, features), and array, (n,)
        The training rows, as of `fit`.
    sample_weight : array, (n,), optional
        As of `fit`.
    gap : float
        The certified relative gap at which the engine stops.
    max_seconds : float, optional
        Its limit of time; the bound is then that of its best dual point.
    test : tuple of X and y, optional
        Test rows; their labels are not used, and may be None.
    threads : int, optional
        As of `fit`.
    **problem
        Keywords of `fit` that state the problem: solver, kernel, C, p, nu, bias, regularize_bias, class_weight and
        others.  They come before what the model states.  A file without svmtool's notes states no C.

    Returns
    -------
    Audit, or Audits for a dict
        Its text is a sentence; of Audits it is a table.

    Raises
    ------
    ValueError
        For a model that is of another problem than stated, or of which a part of the problem is not stated.
    TypeError
        For an object that is no model, and for unknown keywords.

    Examples
    --------
    >>> import numpy as np, svmtool
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [-1, -1, 1, 1]
    >>> found = svmtool.audit([2.0], X, y, solver="l1svc-dual", C=1.0)
    >>> round(found.ratio, 6), found.differ
    (4.0, 0)
    """
    check_names({name: None for name in problem if name not in ("solver", "kernel")}, TAKEN)
    y, classes, sets = arrays.read_labels(y)
    if sets is not None:
        raise ValueError("models of rows with several labels cannot be audited: y must have one label for each row")
    data = arrays.dataset(X, y, sample_weight)
    if classes is not None:
        classes = arrays.of_classes_in_use(data, classes)
    if test is not None and not (isinstance(test, (tuple, list)) and len(test) == 2):
        raise TypeError("test must be a tuple of rows and labels")
    rows = None if test is None else arrays.dataset(test[0]).as_sparse()
    if not real("gap", gap) > 0.0:
        raise ValueError(f"gap must be above 0, not {gap:g}")
    counted = len(data), float(data.factors.sum())
    auditor = Auditor(data.in_use(), counted, y, classes, rows, {"gap": gap, "max_seconds": max_seconds})
    own = os.fspath(model) if isinstance(model, (str, os.PathLike)) else type(model).__name__
    named = model if isinstance(model, dict) else {own: model}
    found = []
    for name, one in named.items():
        with RunContext(threads, max_seconds) as run:
            found.append(auditor.audit(str(name), one, problem, run.stop))
    return Audits(found) if isinstance(model, dict) else found[0]


class Auditor:
    """Audits models on the same rows; a problem that several of them state is solved once.

    counted: the number of rows and the sum of their weights, with those of weight 0, which data lack.
    y: the labels as they were given; classes: what their numbers stand for, if they were text.
    """

    def __init__(
        self, data: Dataset, counted: tuple[int, float], y: Any, classes: np.ndarray | None, test: Dataset | None,
        stopping: dict[str, Any],
    ):  # fmt: skip
        self.counted = counted
        self.data, self.y, self.classes, self.test, self.stopping = data, y, classes, test, stopping
        self.solved: dict[str, Solution] = {}

    def audit(self, name: str, model: Any, problem: Mapping[str, Any], stop: StopFlag) -> Audit:
        """The Audit of one model; problem: keywords that come before those it states."""
        stated = read(model, self.counted, self.data.n_features)
        refuse_other_kernel(stated.keywords, problem, self.data.n_features)
        kernel = {name: stated.keywords[name] for name in KERNEL if name in stated.keywords}
        keywords, data = {**stated.keywords, **problem, **kernel}, self.data
        weight = stated.row_weight
        several = stated.share is not None and "solver" not in problem
        if several:
            if others := sorted(set(problem) - {"C", "class_weight"}):
                raise ValueError(f"a multinomial model or an elastic net: {', '.join(others)} cannot be stated")
            weight = problem.get("class_weight", weight)
        if weight is not None and (several or "class_weight" not in problem):
            data = self._weighted(weight)
        if several:
            return self._multinomial(name, stated, keywords, data, stop)
        settings = self._settings(keywords, data)
        ours = fitted(stated.model, settings, data, self.classes)
        primal = objective(settings, ours, data)
        key = repr((settings, stated.row_weight))
        if key not in self.solved:
            self.solved[key] = solve(settings, data, stop)
        return self._compared(name, primal, ours, self.solved[key])

    def _settings(self, keywords: dict[str, Any], data: Dataset) -> Settings:
        """The settings of the engine's run; ValueError where the problem is not stated wholly."""
        rest = dict(keywords)
        solver, kernel = rest.pop("solver", None), rest.pop("kernel", None)
        if solver is None:
            raise ValueError("the model does not state its problem: state solver, as a command's -s")
        row = row_of(solver, "fast") if kernel is None else kernel_row(solver, kernel, "fast")
        if not row.optimal:
            raise ValueError(f"solver {row.number} ({row.name}) does not minimise one objective: state another")
        for name, option in (("C", "-c"), ("p", "-p"), ("nu", "-n")):
            if name not in rest and option in registry.supported_options(row) - registry.without_effect(row):
                raise ValueError(f"the model does not state all of its problem: state {name}, as a command's {option}")
        if "--method" in row.supported:
            rest["method"] = "fast"
        rest["class_weight"] = by_number(rest.get("class_weight"), self.classes)
        settings = settings_of(data, solver, kernel, {**self.stopping, **rest}, ())
        check_labels(data, settings, False, self.y, self.classes)
        return settings

    def _weighted(self, row_weight: Any) -> Dataset:
        """The rows with class weights as weights of rows."""
        pairs = dict(class_weights(by_number(row_weight, self.classes), self.data, registry.find(0)))
        labels, number = np.unique(self.data.labels, return_inverse=True)
        factors = np.array([pairs.get(int(label), 1.0) for label in labels])[number]
        return self.data.replace(weights=self.data.factors * factors).in_use()

    def _multinomial(self, name: str, stated: Stated, keywords: dict[str, Any], data: Dataset, stop: StopFlag) -> Audit:
        began, C, share = time.perf_counter(), real("C", keywords["C"]), stated.share
        if not 0.0 < C < np.inf:
            raise ValueError(f"C must be above 0 and finite, not {C:g}")
        assert share is not None and isinstance(stated.model, Weights)
        labels = labels_of(stated.model.classes, data, self.classes)
        free = keywords.get("bias", -1.0) >= 0.0
        primal, found, ours, best = multinomial.audited(
            stated.model, labels, data, C, share, free, self.stopping["gap"], stop
        )
        text = f"multinomial logistic regression, C = {C:.17g}, share of |w|_1 = {share:g}"
        solution = Solution(text, best, found, found.primal, found.dual, found.dual, time.perf_counter() - began)
        return self._compared(name, primal, ours, solution)

    def _compared(self, name: str, primal: float, model: Models, best: Solution) -> Audit:
        """The Audit of a model with this value, beside the engine's."""
        differ, distance = _apart(model, best.model, self.data)
        on_test = (None, None) if self.test is None else _apart(model, best.model, self.test)
        return Audit(
            name, best.problem, primal, best.primal, best.bound, best.size, best.certificate.gap,
            bool(best.certificate.sampled), len(self.data), differ, distance,
            None if self.test is None else len(self.test), *on_test, best.seconds,
        )  # fmt: skip


class Solution(NamedTuple):
    """The engine's model of a problem, its value, a lower bound of the minimum, and what distances are relative to."""

    problem: str
    model: Models
    certificate: Certificate
    primal: float
    bound: float
    size: float
    seconds: float


def solve(settings: Settings, data: Dataset, stop: StopFlag) -> Solution:
    """Train by the engine."""
    began = time.perf_counter()
    if settings.problem.kernel is None:
        done = train_on_used(data, settings, stop=stop)
        primal, bound = done.certificate.primal, done.certificate.dual
    else:
        done = trained(kernel_rows(data, settings), Fitting(settings, None, stop))
        primal, bound = objective(settings, done.model, data), sum(lower_bounds(settings, done.solved, data))
    found, size = done.certificate, abs(bound)
    if "one-class" in settings.row.kind and 0.0 < found.gap < np.inf:  # its gap is relative to more where P is about 0
        size = max(size, (found.primal - found.dual) / found.gap)
    weights = "".join(f" -w{label} {factor:.17g}" for label, factor in settings.problem.class_weights)
    text = notes(settings, done.certificate, [])[0].partition(": ")[2].partition(" --gap ")[0] + weights
    return Solution(text, done.model, done.certificate, primal, bound, size, time.perf_counter() - began)


def lower_bounds(settings: Settings, solved: Sequence[Any], data: Dataset) -> list[float]:
    """D of each problem with a kernel; of nu-SVC before all is divided by the margin, and for the sum nu n of a."""
    if settings.row.word != "nu_svc":
        return [one.certificate.dual for one in solved]
    found = []
    for one, rows in zip(solved, itertools.combinations(Classes(data.labels).counts, 2), strict=True):
        shrunk = min(0.5 * settings.problem.nu * float(sum(rows)), 1.0) if data.weights is None else 1.0
        found.append(one.certificate.dual * (shrunk / one.function.root) ** 2)
    return found


def _apart(model: Models, best: Models, rows: Dataset) -> tuple[int | None, float | None]:
    """How many labels differ, or of regressions the root mean square of the differences."""
    rows = rows.as_double() if isinstance(model, KernelModel) else rows
    apart = model.predict(rows) - best.predict(rows)
    if model.kind == "regression":
        return None, float(np.sqrt(np.mean(np.square(apart))))
    return int(np.count_nonzero(apart)), None
