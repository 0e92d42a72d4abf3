"""The report of a model on a test set as one HTML page."""

from __future__ import annotations

import os

import numpy as np

from svmtool import __version__
from svmtool.compiled.loops.text.text_loops import SOME_LABELLED
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats.models import read
from svmtool.formats.names import Names, completed
from svmtool.formats.svmlight import table as svmlight
from svmtool.models.certain import certain, percent, why_none
from svmtool.models.kernel import UNFIT, KernelModel
from svmtool.models.linear import LinearModel
from svmtool.progress import doing
from svmtool.report import classification, page, predictions, regression
from svmtool.report.classes import Classes
from svmtool.report.classes import ranked as ranked_of
from svmtool.report.model_section import facts_section, weights_section


def report(model_path: str, test_path: str, names: Names) -> str:
    """The page's text; SvmtoolError for files that cannot be read and an empty test set."""
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
    ranked = None
    if model.kind == "regression":
        with doing("predicting"):
            predicted = model.predict(rows)
        if not np.all(np.isfinite(predicted)):
            raise SvmtoolError(f"{model_path}: predictions are not finite")
        some = given.any()
        body = regression.sections(rows.labels[given], predicted[given]) if some else predictions.of_values(predicted)
    elif not given.any():
        with doing("predicting"):
            predicted = model.predict(rows)
        body = predictions.of_classes(predicted, model.kind, names)
    else:
        measured = rows if given.all() else rows.take(np.flatnonzero(given))
        with doing("predicting"):
            found = Classes(model, measured, names)
        ranked = ranked_of(found.roc)
        body = classification.sections(model, found)
    bare = int(np.count_nonzero(~given))
    unmeasured = f" {bare} rows have no label: nothing is measured on them." if bare else ""
    name, test = os.path.basename(model_path), os.path.basename(test_path)
    return page.page(
        f"{name} on {test}",
        f"{len(rows)} rows of {test}, predicted by {name}.{unmeasured}{_certain(model, rows)}",
        [*body, weights_section(model, names, ranked), facts_section(model, names, model_path)],
        f"Written by svmtool report, version {__version__}.",
    )


def _certain(model: LinearModel | KernelModel, rows: Dataset) -> str:
    """How many labels the gap certifies, as a sentence; empty for models of which it certifies none."""
    if why_none(model):
        return ""
    count = int(np.count_nonzero(certain(model, rows, model.decision_values(rows))))
    return f" The exact optimum predicts the same label for {count} of them for sure ({percent(len(rows), count)})."
