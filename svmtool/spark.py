"""Training and prediction for Spark's data frames, from a program or notebook that has a SparkSession.

The rows stay in the executors; the model and its certificate are objects of the driver, as `svmtool.api` has them.
A frame has a column of labels and one of features, which are MLlib's vectors or arrays of numbers.

Needs pyspark and Java: `pip install 'svmtool[spark]'`.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from typing import Any

try:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
except ImportError:
    raise ImportError("svmtool.spark needs pyspark: pip install 'svmtool[spark]'") from None

import numpy as np

from svmtool import registry
from svmtool.api import arrays
from svmtool.api.files import dumps
from svmtool.api.prediction import model_of
from svmtool.api.result import Fit
from svmtool.api.run import RunContext
from svmtool.api.settings import check_names, settings_of
from svmtool.api.solver_choice import row_of
from svmtool.data.dataset import left_out
from svmtool.data.labels import balanced_weights
from svmtool.distributed.frame import FEATURES, LABEL, Frame, FrameScorer, check_features
from svmtool.distributed.session import Session, spark_errors
from svmtool.distributed.train import trained
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.params import PRECOMPUTED, Settings
from svmtool.progress import doing
from svmtool.training.notices import notices

__all__ = ["fit", "predict"]

PREDICTION, RAW, PROBABILITY = "prediction", "rawPrediction", "probability"

# Keywords of svmtool.api.fit that do not apply, and why.
ELSEWHERE = {
    "kernel": "models are linear",
    "threads": "Spark assigns the cluster's cores",
    "loo": "leave-one-out needs all rows in one place",
    "homotopy": "it needs all rows in one place",
}

_sessions: dict[str, Session] = {}  # by the id of the application


def _session(context: Any) -> Session:
    """The session over a SparkContext, which sends the package to executors on other machines once."""
    name = context.applicationId
    if name not in _sessions:
        _sessions[name] = Session.over(context)
        atexit.register(_sessions[name].close)  # executors may start later and ask for the package
    return _sessions[name]


def fit(
    frame: DataFrame, solver: int | str = 1, *, label: str = LABEL, features: str = FEATURES,
    sample_weight: str | None = None, class_weight: Any = None, init: Any = None,
    callback: Callable[[dict[str, Any]], object] | None = None, one_class: bool = False,
    progress: bool = False, **keywords: Any,
) -> Fit:  # fmt: skip
    """Train a linear model on the rows of a data frame.

    All partitions are held at once, by a stage in Spark's barrier mode, until training is over.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Rows with a column of features and, except for one-class problems, of labels.
    solver : int or str
        Number or name of a solver that needs only sums over the rows: those of `svm-train --spark`.  Numbers from 30 on
        run the engine, as with method="fast" of `svmtool.api.fit`.
    label, features : str
        Columns of numbers, and of vectors or arrays of numbers.  One-class problems need no labels.
    sample_weight : str, optional
        Column with a factor of each row's cost; rows of weight 0 are ignored.
    class_weight : dict or "balanced", optional
        Factor of the cost of each label's rows.
    init : Fit or LinearModel, optional
        Where to start.
    callback : callable, optional
        Receives a dict for each step of a solver.
    one_class : bool
        Whether classifiers accept rows of a single class.
    progress : bool
        As of `svmtool.api.fit`.
    **keywords
        Others of `svmtool.api.fit`: C, p, nu, eps, gap, bias, regularize_bias, loss_power, max_iter, max_seconds (of
        training, without the time to read the rows), seed, probability, and options of single solvers.

    Returns
    -------
    Fit
        As of `svmtool.api.fit`, without `alpha` and `support`.  Entry k of a vector is feature k + 1 of the model,
        which has features up to the last that occurs.

    Raises
    ------
    ValueError
        For data or values that define no problem, for keywords that do not apply, and where Spark fails.
    TypeError
        For unknown keywords.
    KeyboardInterrupt
        After Ctrl-C, once the solver has stopped.
    """
    began = time.perf_counter()
    given = {**keywords, "class_weight": class_weight}
    for name, why in ELSEWHERE.items():
        if given.pop(name, None) is not None:
            raise ValueError(f"{name} does not apply to Spark's data frames: {why}")
    if solver == "auto":
        raise ValueError("solver='auto' does not apply to Spark's data frames: give a number or a name")
    check_names(given, ("label", "features", "sample_weight", "init", "callback", "progress"))
    start = init.model if isinstance(init, Fit) else init
    if start is not None and not isinstance(start, LinearModel):
        raise TypeError(f"init must be a Fit or a model of a linear solver, not {type(start).__name__}")
    with RunContext(1, interruptible=False, progress=progress), spark_errors("spark"), doing("training"):
        if isinstance(class_weight, str):
            given["class_weight"] = _balanced(frame, label, class_weight, sample_weight)
        settings = _settings(solver, given, sample_weight is not None, start is not None)
        session = _session(frame.sparkSession.sparkContext)
        labelled = "one-class" not in settings.row.kind
        source = Frame(session, frame, label, features, sample_weight, labelled=labelled)
        report = None if callback is None else (lambda **record: callback(record))
        done, stage, interrupted = trained(session, settings, source, start, report)
        if interrupted:
            raise KeyboardInterrupt
        if settings.row.kind == "classification" and not one_class:
            arrays.refuse_one_class(arrays.labels(done.model.labels, len(done.model.labels or ())))
    for result in done.results:
        result.alpha = None  # the executors had the dual variables
    done.warnings[:0] = left_out(stage.weights, "sample_weight")
    return Fit(
        model=done.model, certificate=done.certificate, notices=notices(settings.row, done), _row=settings.row,
        _results=done.results, seconds=time.perf_counter() - began,
    )  # fmt: skip


def _settings(solver: int | str, given: dict[str, Any], weighted: bool, started: bool) -> Settings:
    """The settings of a run; ValueError for a solver that needs single rows."""
    also = (*(("sample_weight",) if weighted else ()), *(("init",) if started else ()))
    if given.get("method", "fast") != "fast":
        raise ValueError(
            "svmtool.spark has method='fast' only: the papers' algorithms as printed need all rows in memory"
        )
    if "--method" in row_of(solver, "fast").supported:
        given = {**given, "method": "fast"}
    settings = settings_of(None, solver, None, given, also)
    row = settings.row
    if "--spark" not in row.supported:
        able = registry.supporting("--spark")
        same = [other for other in able if registry.same_problem(other, row)]
        advice = f"{registry.in_words(same)} solves the same problem" if same else f"it has {registry.in_words(able)}"
        raise ValueError(f"svmtool.spark has no solver {row.number} ({row.name}): {advice}")
    return settings


def _balanced(frame: DataFrame, label: str, class_weight: str, weight: str | None = None) -> dict[int, float]:
    """Factors of the labels for class_weight="balanced": see `balanced_weights`; weight: the column of weights."""
    if class_weight != "balanced":
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, not {class_weight!r}")
    if label not in frame.columns:
        raise ValueError(f"the data frame: no column {label}; the columns are {', '.join(frame.columns) or 'none'}")
    if weight in frame.columns:
        counts = frame.filter(frame[weight] > 0).groupBy(label).sum(weight)
    else:
        counts = frame.groupBy(label).count()
    found = [(row[0], row[1]) for row in counts.collect() if row[0] is not None]
    labels, sums = (np.array(column, np.float64) for column in zip(*found, strict=True)) if found else ([], [])
    return dict(balanced_weights(labels, sums)) if len(labels) else {}


def predict(model: Any, frame: DataFrame, *, features: str = FEATURES) -> DataFrame:
    """Return the data frame with the columns that a model predicts.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        Of any solver, with kernels too; not of a precomputed kernel.
    frame : pyspark.sql.DataFrame
        Rows with a column of features.
    features : str
        Column of vectors or arrays of numbers; entry k is feature k + 1.

    Returns
    -------
    pyspark.sql.DataFrame
        The frame's columns and `prediction`, a number; except for regressions `rawPrediction`, decision values as of
        `svmtool.api.decision_values`; and where a classifier has them `probability`, in the order of `model.labels`.
        The last two are MLlib's vectors where the features are, else arrays.  Rows are scored when the frame is used.

    Raises
    ------
    ValueError
        For columns that are missing or of another type, and for a column of the result that exists already.
    """
    found = model_of(model)
    if found.is_multilabel:
        raise ValueError("a model of several labels a row predicts matrices, no column of numbers: use svmtool.predict")
    if isinstance(found, KernelModel) and found.kernel.kind == PRECOMPUTED:
        raise ValueError("a precomputed kernel has no values for the rows of a data frame")
    types = {field.name: field.dataType for field in frame.schema.fields}
    if features not in types:
        raise ValueError(f"the data frame: no column {features}; the columns are {', '.join(types) or 'none'}")
    kind = types[features]
    check_features(kind, features, "the data frame")
    vectors = kind.typeName() == "vectorudt"
    raw, probabilities = found.kind != "regression", found.labels is not None and found.gives_probabilities
    names = [PREDICTION, *([RAW] if raw else []), *([PROBABILITY] if probabilities else [])]
    for name in names:
        if name in types:
            raise ValueError(f"the data frame: the column {name} exists already, and a prediction would add it")
    context = frame.sparkSession.sparkContext
    _session(context)
    scorer = FrameScorer(
        context.broadcast(dumps(found).encode()), frame.columns.index(features), raw, probabilities, vectors
    )
    several = kind if vectors else ArrayType(DoubleType())
    added = [StructField(name, DoubleType() if name == PREDICTION else several) for name in names]
    schema = StructType([*frame.schema.fields, *added])
    return frame.sparkSession.createDataFrame(frame.rdd.mapPartitions(scorer), schema, verifySchema=False)
