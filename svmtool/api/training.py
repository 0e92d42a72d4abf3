"""`fit`: arrays to a model with its certificate."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from svmtool.api import arrays
from svmtool.api.models import model_of
from svmtool.api.result import Fit
from svmtool.api.run import RunContext
from svmtool.api.settings import NOT_GIVEN, check_names, settings_of
from svmtool.api.solver_choice import named
from svmtool.api.values import flag, shown
from svmtool.data.dataset import Dataset, left_out
from svmtool.data.labels import refuse_large
from svmtool.models.linear import LinearModel, classes_note
from svmtool.params import PRECOMPUTED, Settings, kernel_of
from svmtool.progress import doing
from svmtool.training.kernel.dataset import KernelSet, kernel_set, refuse_unusable
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import trained
from svmtool.training.linear import train_on_used
from svmtool.training.notices import notices as notices_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from svmtool.api.keywords import FitKeywords, KernelName, SolverOptions
    from svmtool.models.kernel import KernelModel

COSTS = ("C", "p", "nu", "class_weight")  # keywords that all solvers accept, as all numbers of -s accept the options
CLASSIFIES = ("classification", "all classes", "ordinal")  # kinds whose labels are classes


@overload
def fit(  # numpydoc ignore=GL08
    X: Any, y: Any = None, solver: int | str | None = None, *, kernel: None = None, **keywords: Unpack[FitKeywords]
) -> Fit[LinearModel]: ...  # fmt: skip
@overload
def fit(  # numpydoc ignore=GL08
    X: Any, y: Any = None, solver: int | str | None = None, *, kernel: KernelName, **keywords: Unpack[FitKeywords]
) -> Fit[KernelModel]: ...  # fmt: skip
@overload
def fit(  # numpydoc ignore=GL08
    X: Any, y: Any = None, solver: int | str | None = None, *, kernel: str | None, **keywords: Unpack[FitKeywords]
) -> Fit[LinearModel | KernelModel]: ...  # fmt: skip
def fit(
    X: Any, y: Any = None, solver: int | str | None = None, *, kernel: str | None = None,
    C: float = NOT_GIVEN["C"], p: float = NOT_GIVEN["p"], nu: float = NOT_GIVEN["nu"], eps: float | None = None,
    gap: float | None = None, bias: float | None = None, regularize_bias: bool = NOT_GIVEN["regularize_bias"],
    loss_power: float = NOT_GIVEN["loss_power"], gamma: float | str = NOT_GIVEN["gamma"],
    degree: int = NOT_GIVEN["degree"], coef0: float = NOT_GIVEN["coef0"], sample_weight: Any = None,
    class_weight: Any = None, init: Any = None, callback: Callable[[dict[str, Any]], object] | None = None,
    max_iter: int | None = None, max_seconds: float | None = None, seed: int | None = None,
    threads: int | None = None, probability: bool = NOT_GIVEN["probability"],
    cache_mb: float = NOT_GIVEN["cache_mb"], shrinking: bool = NOT_GIVEN["shrinking"], one_class: bool = False,
    progress: bool = False, **options: Unpack[SolverOptions],
) -> Fit[Any]:  # fmt: skip
    """Train a model.

    A keyword that the chosen problem does not have, such as C of nu-SVC, is an error, also with its default value.

    Parameters
    ----------
    X : array or sparse matrix, (n, features)
        A C-ordered array of float64, float32, int8, uint8 or bool of which half is not zero is not copied if it has
        2**20 numbers, also a memmap or a polars or pyarrow array; nor is CSR with sorted indices and values of float64,
        or of float32 with indices of 32 bits.  Sums are of float64.  Kernels, one-class and adaptable models, papers'
        algorithms, |w|_1 and solver 4 copy the rows.  Anything else is converted; nothing is changed.
    y : array, (n,), or matrix, (n, labels), optional
        Labels, which are whole numbers or strings, or targets of a regression.  One-class problems need none.  A model
        numbers strings 0, 1, .. in ascending order and has them as `classes`; predictions are strings then.
        A matrix, sparse or with several columns, marks each row's labels by 1, however many there are: one problem for
        each label that occurs.  Predictions are such matrices, CSR; the weights of very many labels SparseWeights.
    solver : int or str, optional
        Number or name of a linear solver, as of `svm-train -s`, "auto" to select one, or None, which is 1.  With a
        kernel "svc" (None, too), "nu-svc", "one-class", "epsilon-svr", "nu-svr", or a solver from 50 on that has
        kernels.  The number 0 is "svc" there; 1 to 4, which LIBLINEAR and LIBSVM have for different problems, are
        refused.  Names have hyphens or underscores.
    kernel : {None, "linear", "poly", "rbf", "sigmoid", "precomputed"}
        None: a linear model.  "precomputed": X holds the kernel's values, (n, n).
    C : float
        Cost of a row; nu-SVC and one-class problems have none.
    p : float
        Half the width of a regression's tube; nu-SVR has none.
    nu : float
        Share of rows left out, of one-class and nu problems.
    eps : float, optional
        Tolerance of the stopping rule of LIBLINEAR, LIBSVM or the paper; None: the solver's own default.
    gap : float, optional
        Stop at this certified relative gap instead.  It ends no run of method="paper"; a larger certified gap at the
        end gets a notice.
    bias : float, optional
        Value of an appended feature, below 0: none; None: the solver's own default.
    regularize_bias : bool
        False: the bias is free (bias 1).
    loss_power : float
        Power of the hinge, 1 to 2, of solvers that have it.
    gamma : float or "auto"
        Of the kernels "poly", "rbf" and "sigmoid"; "auto": 1 / features.
    degree : int
        Of the kernel "poly".
    coef0 : float
        Of the kernels "poly" and "sigmoid".
    sample_weight : array, (n,), optional
        Factor of each row's cost, of one-class and nu problems the row's share; rows of weight 0 are ignored, those of
        negative weight with a warning.
    class_weight : dict or "balanced", optional
        Factor of the cost of each label's rows; "balanced": n / (labels * rows of the label), where `sample_weight`
        counts as repeated rows.
    init : Fit or LinearModel, optional
        Linear models: where to start.
    callback : callable, optional
        Receives a dict for each step of a solver, from the thread that makes it, one at a time.  `weights` are the best
        so far, of most linear solvers: those of the features, then that of the bias, if there is one (of solver 4 as
        many for each as there are classes); `label` says of which class's problem where there are several.
    max_iter, max_seconds : int, float, optional
        Limits of the run.
    seed : int, optional
        Of random choices.
    threads : int, optional
        -1: all cores; None: all cores too, but no more than OMP_NUM_THREADS or threadpoolctl allows, and 1 in a worker
        of joblib.  Results do not depend on it.
    probability : bool
        Fit sigmoids for `probabilities`.
    cache_mb : float
        Memory for kernel values, in MB.
    shrinking : bool
        Accepted for compatibility with LIBSVM; no effect.
    one_class : bool
        Whether classifiers accept rows of a single class, as LIBLINEAR and LIBSVM do.
    progress : bool
        Show bars on a terminal or in a notebook once the run has lasted half a second.
    **options
        Options of single solvers by their names in `svm-train --help`: mu, homotopy, passes, sample, loo,
        theta, boundary, pairs, sgd_rows and others.  method, of solvers from 30 on: "paper" (default), the paper's
        algorithm as printed, which stops by the paper's own rule, or "fast", the engine, to a certified gap.

    Returns
    -------
    Fit
        The model, its certificate and facts about the run.

    Raises
    ------
    ValueError
        For data or values that define no problem, and for keywords that the solver does not have.
    TypeError
        For unknown keywords.
    KeyboardInterrupt
        After Ctrl-C in the main thread, once the solver has stopped; there is no result then.

    Examples
    --------
    >>> import numpy as np
    >>> from svmtool import api
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [-1, -1, 1, 1]
    >>> done = api.fit(X, y, solver="l2svc", C=10.0, gap=1e-8)
    >>> done.certificate.gap <= 1e-8
    True
    >>> done.model.W.round(3)
    array([[0.976]])
    """
    began = time.perf_counter()
    if options:
        check_names(options, ("kernel", "sample_weight", "init", "callback", "threads", "one_class", "progress"))
    given = {
        "C": C, "p": p, "nu": nu, "eps": eps, "gap": gap, "bias": bias, "regularize_bias": regularize_bias,
        "loss_power": loss_power, "gamma": gamma, "degree": degree, "coef0": coef0, "class_weight": class_weight,
        "max_iter": max_iter, "max_seconds": max_seconds, "seed": seed, "probability": probability,
        "cache_mb": cache_mb, "shrinking": shrinking, **options,
    }  # fmt: skip
    y, classes, sets = arrays.read_labels(y)
    data = arrays.dataset(X, y, sample_weight, sets)
    if classes is not None:
        every, classes = classes, arrays.of_classes_in_use(data, classes)
        if isinstance(class_weight, Mapping):
            lacking = set(every.tolist()) - set(classes.tolist())
            class_weight = {name: factor for name, factor in class_weight.items() if name not in lacking}
    ignored = left_out(data.weights, "sample_weight")
    with RunContext(threads, max_seconds, progress=progress) as run:
        present = {
            "sample_weight": sample_weight is not None, "init": init is not None, "multilabel": sets is not None,
        }  # fmt: skip
        also = tuple(name for name, there in present.items() if there)
        settings = settings_of(data, solver, kernel, {**given, "class_weight": by_number(class_weight, classes)}, also)
        if sets is None:
            check_labels(data, settings, flag("one_class", one_class), y, classes)
        with doing("training"):
            if settings.problem.kernel is not None:
                done = _fit_kernel(data, settings, _report(callback), run, began, ignored)
            else:
                start = None if init is None else _start(init, classes)
                done = _fit_linear(data, settings, start, _report(callback), run, began, ignored)
    if classes is not None and done.model.labels is not None:
        done.model.notes += (classes_note(classes.tolist()),)
    return done


def _report(callback: Callable[[dict[str, Any]], object] | None) -> Callable[..., None] | None:
    """A function that solvers call with keywords, from any thread."""
    if callback is None:
        return None
    if not callable(callback):
        raise TypeError(f"callback must be a function, not {shown(callback)}")
    lock = threading.Lock()

    def report(**record: Any) -> None:
        if (weights := record.get("weights")) is not None:  # the solver goes on with the array
            record["weights"] = weights.copy()
        with lock:
            callback(record)

    return report


def by_number(class_weight: Any, classes: np.ndarray | None) -> Any:
    """Class weights of text labels as those of their numbers."""
    if classes is None or not isinstance(class_weight, Mapping):
        return class_weight
    number = {name: k for k, name in enumerate(classes.tolist())}
    if unknown := [name for name in class_weight if name not in number]:
        raise ValueError(f"class_weight has the label {shown(unknown[0])}, which y does not have")
    return {number[name]: factor for name, factor in class_weight.items()}


def check_labels(data: Dataset, settings: Settings, one_class: bool, y: Any, classes: np.ndarray | None = None) -> None:
    """ValueError where the labels y of the rows with weight are not what the solver needs.

    classes: what y numbers, if that was text.
    """
    kind = settings.row.kind
    if classes is not None and kind in ("regression", "ordinal"):
        raise ValueError(f"y holds text, such as {shown(classes[0].item())}: {named(settings.row)} needs numbers")
    if y is None and "one-class" not in kind:
        raise ValueError("requires y to be passed, but the target y is None")
    if kind == "ordinal":
        arrays.refuse_other_order(y)
    if kind in CLASSIFIES:
        arrays.refuse_fractions(data.labels)
        refuse_large(data.labels)
        if not one_class:
            arrays.refuse_one_class(data.labels[data.factors > 0.0], classes)


def _start(init: Any, classes: np.ndarray | None) -> LinearModel:
    found = init.model if isinstance(init, Fit) else init
    if not isinstance(found, LinearModel):
        raise TypeError(f"init must be a Fit or a model of a linear solver, not {shown(init)}")
    model_of(found)  # refuses attributes that do not fit
    if found.class_names != (None if classes is None else classes.tolist()):
        raise ValueError("init has other classes than y")
    return found


def _fit_linear(
    data: Dataset, settings: Settings, start: LinearModel | None, report: Any, run: RunContext, began: float,
    warnings: list[str],
) -> Fit:  # fmt: skip
    done = train_on_used(data, settings, report, start, run.stop)
    done.warnings[:0] = warnings
    return Fit(
        model=done.model, certificate=done.certificate, notices=notices_of(settings.row, done), _row=settings.row,
        _results=done.results, _kept=data.used(), _n=len(data), _features=data.n_features, loo_score=done.leave_one_out,
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def kernel_rows(data: Dataset, s: Settings) -> KernelSet:
    """The rows with their kernel, after LIBSVM's checks."""
    data = data.as_double()
    if kernel_of(s).kernel_type == PRECOMPUTED:
        data = arrays.with_serials(data, training=True)
    rows = kernel_set(data, s, "X")
    refuse_unusable(rows, s)
    return rows


def _fit_kernel(data: Dataset, s: Settings, report: Any, run: RunContext, began: float, warnings: list[str]) -> Fit:
    done = trained(kernel_rows(data, s), Fitting(s, report, run.stop))
    done.warnings[:0] = warnings
    return Fit(
        model=done.model, certificate=done.certificate, notices=notices_of(s.row, done), _row=s.row,
        _results=[one.result for one in done.solved], _n=len(data), _features=data.n_features, _support=done.support,
        _text=done.text, seconds=time.perf_counter() - began,
    )  # fmt: skip
