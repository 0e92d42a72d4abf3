"""Warnings about a classifier that was probably not meant: LIBSVM's number of -s, or labels that look like targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svmtool.errors import RowsError
from svmtool.params import Settings
from svmtool.registry.row import CLASSIFIERS

if TYPE_CHECKING:
    import numpy as np

MAX_CLASS_LABELS = 100  # more different labels than this are probably targets of a regression
# What a number of -s is in LIBSVM, and the options that only this problem uses.
LIBSVM_PROBLEMS = {
    1: ("nu-SVC", ("-n",)), 2: ("one-class SVM", ("-n",)), 3: ("epsilon-SVR", ("-p",)), 4: ("nu-SVR", ("-n", "-p")),
}  # fmt: skip


def option_warnings(settings: Settings, given: tuple[str, ...]) -> list[str]:
    """The warning about an option that -s ignores but LIBSVM's problem of this number uses, if there is one."""
    number = settings.problem.solver
    if settings.problem.kernel is not None or number not in LIBSVM_PROBLEMS:
        return []
    used = [option for option in LIBSVM_PROBLEMS[number][1] if option in given]
    if not used:
        return []
    instead = _regression(settings) if number in (3, 4) else _libsvm(number)
    return [f"WARNING: -s {number} ({settings.row.name}, linear) ignores {used[0]}: use {instead}"]


def label_warnings(settings: Settings, given: tuple[str, ...], labels: np.ndarray, path: str) -> list[str]:
    """The warning about a classifier on labels f8[n] of the file `path` that look like targets, if there is one.

    None where `option_warnings` has warned.  Raises RowsError for labels that would be merged.
    """
    if settings.row.kind not in CLASSIFIERS:
        return []
    import numpy as np

    from svmtool.compiled.loops.text.text_loops import number_classes
    from svmtool.data.labels import MAX_SEARCHED_CLASSES, whole_labels

    values, counts = np.empty(MAX_SEARCHED_CLASSES), np.zeros(MAX_SEARCHED_CLASSES, np.int64)
    if number_classes(labels, values, np.empty(len(labels), np.int64), counts) >= 0:
        return []
    instead = _regression(settings)
    try:
        whole = whole_labels(labels)
    except RowsError as e:
        raise RowsError(f"{e}, or {instead}") from None
    if option_warnings(settings, given):
        return []
    broken = labels[whole != labels]
    if len(broken):
        what = f"the label {broken[0]:g}, which is not a whole number"
    else:
        count = 1 + int(np.count_nonzero(np.diff(np.sort(whole))))  # np.unique would import numpy.ma: 4 ms
        if count <= MAX_CLASS_LABELS:
            return []
        what = f"{count} different labels"
    row = settings.row
    return [f"WARNING: {path} has {what}, and -s {row.number} ({row.name}) makes each label a class: use {instead}"]


def _regression(settings: Settings) -> str:
    """Options for a regression in place of the classifier."""
    number = settings.problem.solver
    if settings.problem.kernel is not None:
        return "-s 3 for regression"
    return f"{_libsvm(number)}, -s 11 for linear regression" if number in (3, 4) else "-s 11 for regression"


def _libsvm(number: int) -> str:
    return f"-t 2 for LIBSVM's -s {number} ({LIBSVM_PROBLEMS[number][0]})"
