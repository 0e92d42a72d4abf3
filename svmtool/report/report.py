"""The report of a model on a test set as one HTML page, by the templates in this folder."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from svmtool import __version__, drawing
from svmtool.compiled.loops.text.text_loops import SOME_LABELLED
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, visible
from svmtool.formats.models import read
from svmtool.formats.names import Names, completed
from svmtool.formats.svmlight import table as svmlight
from svmtool.inspection.facts import certificate_of, facts
from svmtool.inspection.weights import columns, largest
from svmtool.metrics import BINS, RegressionErrors, calibration
from svmtool.models.certain import certain, percent, why_none
from svmtool.models.kernel import UNFIT, KernelModel
from svmtool.models.linear import LinearModel
from svmtool.progress import doing
from svmtool.report import pictures
from svmtool.report.classes import Classes

Model = LinearModel | KernelModel

LISTED = 20  # classes, or confusions, that a table shows at once
LISTED_OF_FEW = 10  # confusions beside a matrix with numbers
SHOWN_WEIGHTS, SHOWN_WEIGHTS_EACH = 20, 8  # weights
EACH_CLASS = 10  # classes up to which each has a chart
QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def report(model_path: str, test_path: str, names: Names) -> str:
    """The page's text; SvmtoolError for files that cannot be read, an empty test set and missing packages."""
    drawing.require("svmtool report", "report", "jinja2", "matplotlib")
    model = read(model_path)
    if model.is_multilabel:
        raise SvmtoolError(f"{model_path}: a report is of one label a row: svm-predict --metrics measures several")
    names = completed(names, model)
    is_kernel = isinstance(model, KernelModel)
    rows = svmlight.read(test_path, 0 if is_kernel else 1, SOME_LABELLED)
    if not len(rows):
        raise SvmtoolError(f"{test_path} holds no rows")
    if model.nr_class == 0 or (not is_kernel and model.columns == 0):
        raise SvmtoolError(f"{model_path}: the model has no classes and cannot predict")
    if is_kernel and (row := model.scores.unfit_row(rows)) >= 0:
        raise SvmtoolError(f"{test_path}: line {row + 1}: {UNFIT.format(model.scores.last)}")
    given = ~np.isnan(rows.labels)
    found: dict[str, Any] = {"rows": len(rows), "bare": int(np.count_nonzero(~given)), "version": __version__}
    order: list[int] = []
    if model.kind == "regression":
        kind = "regression" if given.any() else "values"
        with doing("predicting"):
            predicted = model.predict(rows)
        if not np.all(np.isfinite(predicted)):
            raise SvmtoolError(f"{model_path}: predictions are not finite")
        found |= of_regression(rows.labels[given], predicted[given]) if given.any() else of_values(predicted)
    elif not given.any():
        kind = "labels"
        with doing("predicting"):
            found["predicted"] = of_labels(model.predict(rows), model.kind, names)
    else:
        kind = "classification"
        with doing("predicting"):
            classes = Classes(model, rows if given.all() else rows.take(np.flatnonzero(given)), names)
        order = classes.ranked()
        found |= of_classes(classes)
    name, test = os.path.basename(model_path), os.path.basename(test_path)
    found |= {"name": name, "test": test, "certain": _certain(model, rows), "certificate": certificate_of(model)}
    return rendered(
        f"{kind}.html", **found, facts=facts(model, names, model_path), **of_weights(model, names, order)
    )


def rendered(template: str, **found: Any) -> str:
    """The page of a template; text of files is escaped, and control characters in it are visible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("svmtool.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
        finalize=lambda value: visible(value) if type(value) is str else value,  # not the markup of a template
    )  # fmt: skip
    environment.filters["percent"] = lambda x: "–" if x != x else f"{100 * x:.2f} %"
    environment.filters["four"] = lambda x: "–" if x != x else f"{x:.4f}"
    return environment.get_template(template).render(found)


def of_classes(found: Classes) -> dict[str, Any]:
    """Measures, pictures and tables of a classifier."""
    counts, order = found.counts, found.ranked()
    totals, wrong = found.matrix.sum(axis=1), found.matrix.copy()
    np.fill_diagonal(wrong, 0)
    few = len(wrong) <= pictures.MAX_NAMED
    most = np.argsort(-wrong, axis=None, kind="stable")[: LISTED_OF_FEW if few else LISTED]
    confusions = [
        (found.names[i], found.names[j], int(wrong[i, j]), wrong[i, j] / totals[i])
        for i, j in (divmod(int(at), len(wrong)) for at in most)
        if wrong[i, j]
    ]
    ranks = {order[len(order) // 2]: "median", order[0]: "worst"} if len(order) > pictures.EACH_COLOURED else {}
    table = []
    for k, (label, precision, recall, f1, rows) in enumerate(counts.rows()):
        curve = found.curves[k] if k < len(found.curves) else None
        areas = (np.nan, np.nan) if curve is None else (curve.area, curve.average_precision)
        predicted = counts.predicted.get(label, 0)
        table.append((ranks.get(k, ""), found.names[k], rows, predicted, precision, recall, f1, *areas))
    if len(table) > LISTED:
        table.sort(key=lambda row: row[6])
    return {
        "found": found, "curves": pictures.curves(found), "confusions": confusions, "table": table, "listed": LISTED,
        "area": np.mean([found.curves[k].area for k in order]) if order else np.nan, "empty": int(np.sum(totals == 0)),
        "unknown": int(totals[found.known :].sum()), "confusion": pictures.confusion(found.matrix, found.names),
        **_calibration(found),
    }  # fmt: skip


def _calibration(found: Classes) -> dict[str, Any]:
    """Pictures of the probabilities; none without them."""
    if found.probabilities is None:
        return {"calibration": []}
    known = found.place < found.known
    if found.known == 2:
        p, came_true = found.probabilities[:, 0], found.place == 0
        what, share = f"predicted probability of {visible(found.names[0])}", "share of such rows"
    else:
        best = np.argmax(found.probabilities, axis=1)
        p, came_true = found.probabilities[np.arange(len(best)), best], best == found.place
        what, share = "probability of the most probable class", "share that is right"
    bins = calibration(p[known], came_true[known])
    _, rows, predicted, observed = bins
    distance = float(np.average(np.abs(predicted - observed), weights=rows)) if len(rows) else np.nan
    return {"calibration": pictures.calibration(what, share, bins, 1 / BINS), "distance": distance}


def of_regression(truth: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """Errors, predicted against true values, residuals; truth, predicted: f8[n]."""
    errors = RegressionErrors()
    errors.add(truth, predicted)
    against, drawn = pictures.against(truth, predicted)
    differences = np.clip(predicted - truth, -drawing.LARGEST, drawing.LARGEST)
    return {
        "errors": errors, "against": against, "drawn": drawn, "residuals": pictures.residuals(differences),
        "quartiles": np.quantile(differences, QUARTILES[1:4]).tolist(),
    }  # fmt: skip


def of_values(predicted: np.ndarray) -> dict[str, Any]:
    """The distribution of predicted values, f8[n]."""
    return {"quartiles": np.quantile(predicted, QUARTILES).tolist()}


def of_labels(predicted: np.ndarray, kind: str, names: Names) -> list[tuple[str, int, float]]:
    """Class, rows and share of each label f8[n] that a model of this kind predicts."""
    labels, counts = np.unique(predicted, return_counts=True)
    if kind == "one-class" and not names.classes:
        texts = ["inside" if label > 0 else "outside" for label in labels]
    else:
        texts = [names.of_class(label) for label in labels.tolist()]
    return [(text, n, n / len(predicted)) for text, n in zip(texts, counts.tolist(), strict=True)]


def of_weights(model: Model, names: Names, order: list[int]) -> dict[str, Any]:
    """Bars of the largest weights, or of the support vectors of each class.

    order: the classes by their curves; where there are many, the worst and the median are shown.
    """
    every = columns(model, names)
    found: dict[str, Any] = {"weights": [], "values": len(every), "support_vectors": "", "shown": SHOWN_WEIGHTS}
    if not every and isinstance(model, KernelModel) and model.nr_sv is not None and model.labels is not None:
        pairs = sorted(zip(model.labels, model.nr_sv, strict=True), key=lambda pair: -pair[1])
        bars = [(names.of_class(label), float(n)) for label, n in pairs[:SHOWN_WEIGHTS]]
        found |= {"support_vectors": pictures.weights("Support vectors of each class", bars), "values": len(pairs)}
    top = SHOWN_WEIGHTS if len(every) == 1 else SHOWN_WEIGHTS_EACH
    if len(every) > EACH_CLASS:
        many = isinstance(model, LinearModel) and order
        every = [every[k] for k in (dict.fromkeys((order[0], order[len(order) // 2])) if many else range(2))]
    for column in every:
        bars = [(names.feature(j), float(column.w[j])) for j in largest(column.w, top).tolist()]
        if bars:
            found["weights"].append(pictures.weights(f"Positive for {column.meaning}", bars))
    return found | {"left_out": found["values"] - len(every)}


def _certain(model: Model, rows: Dataset) -> tuple[int, str] | None:
    """How many labels the gap certifies, and their percentage; None for models of which it certifies none."""
    if why_none(model):
        return None
    count = int(np.count_nonzero(certain(model, rows, model.decision_values(rows))))
    return count, percent(len(rows), count)
