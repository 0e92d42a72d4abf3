"""Warnings about options without effect, and a classifier that was probably not meant.

That is LIBSVM's number of -s on a line of LIBLINEAR, or labels that look like targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svmtool import registry
from svmtool.errors import RowsError
from svmtool.params import KERNEL_NAMES, NEEDS_GAMMA, POLYNOMIAL, SIGMOID, Settings
from svmtool.registry.row import CLASSIFIERS

if TYPE_CHECKING:
    import numpy as np

    from svmtool.data.dataset import Dataset

MAX_CLASS_LABELS = 100  # up to this many different labels are classes, however few rows each has
# What a number of -s is in LIBSVM, and the options that only this problem uses.
LIBSVM_PROBLEMS = {
    1: ("nu-SVC", ("-n",)), 2: ("one-class SVM", ("-n",)), 3: ("epsilon-SVR", ("-p",)), 4: ("nu-SVR", ("-n", "-p")),
}  # fmt: skip
KERNELS_WITH = {"-g": NEEDS_GAMMA, "-d": (POLYNOMIAL,), "-r": (POLYNOMIAL, SIGMOID)}  # numbers of -t


def warnings(settings: Settings, given: tuple[str, ...], labels: np.ndarray, path: str) -> list[str]:
    """All warnings about the options `given` and labels f8[n] of the file `path`; RowsError as `label_warnings`."""
    return [*option_warnings(settings, given), *label_warnings(settings, given, labels, path)]


def unused_queries(settings: Settings, table: Dataset, path: str) -> list[str]:
    """The warning about the qid of rows that nothing uses, if there are any."""
    if table.groups is None or settings.run.grouped or "--groups" not in settings.row.supported:
        return []
    return [f"WARNING: {path}: qid are not used: -v N --groups keeps the rows of each in one fold"]


def option_warnings(settings: Settings, given: tuple[str, ...]) -> list[str]:
    """The warnings about options that -s or -t ignores, with LIBSVM's problem of this number if that uses them."""
    row, kernel = settings.row, settings.problem.kernel
    found, given = [], tuple(dict.fromkeys(given))
    if ignored := [option for option in given if option in registry.without_effect(row)]:
        instead = _regression if row.number in (3, 4) else _libsvm
        hint = f": use {instead(settings)}" if _meant(settings, given) else ""
        linear = "" if kernel is not None else ", linear"
        found.append(f"WARNING: -s {row.number} ({row.name}{linear}) ignores {' and '.join(ignored)}{hint}")
    if kernel is not None:
        number = kernel.kernel_type
        ignored = [option for option in given if number not in KERNELS_WITH.get(option, (number,))]
        if ignored and number < len(KERNEL_NAMES):
            found.append(f"WARNING: -t {number} ({KERNEL_NAMES[number]}) ignores {' and '.join(ignored)}")
    return found


def _meant(settings: Settings, given: tuple[str, ...]) -> bool:
    """Whether the line is probably LIBSVM's: -s ignores an option that LIBSVM's problem of this number uses."""
    number = settings.problem.solver
    if settings.problem.kernel is not None or number not in LIBSVM_PROBLEMS:
        return False
    return any(option in given for option in LIBSVM_PROBLEMS[number][1])


def label_warnings(settings: Settings, given: tuple[str, ...], labels: np.ndarray, path: str) -> list[str]:
    """The warning about a classifier on labels f8[n] of the file `path` that look like targets.

    Empty without one, or where `option_warnings` has named another solver.  RowsError for labels that would be merged.
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
    if _meant(settings, given):
        return []
    broken = labels[whole != labels]
    if len(broken):
        what = f"the label {broken[0]:g}, which is not a whole number"
    else:
        count = 1 + int(np.count_nonzero(np.diff(np.sort(whole))))  # np.unique would import numpy.ma: 4 ms
        if count <= MAX_CLASS_LABELS or 2 * count <= len(labels):  # measurements seldom occur twice
            return []
        what = f"{count} different labels"
    row = settings.row
    return [f"WARNING: {path} has {what}, and -s {row.number} ({row.name}) makes each label a class: use {instead}"]


def _regression(settings: Settings) -> str:
    """Options for a regression in place of the classifier."""
    number = settings.problem.solver
    if settings.problem.kernel is not None:
        return "-s 3 for regression"
    return f"{_libsvm(settings)}, -s 11 for linear regression" if number in (3, 4) else "-s 11 for regression"


def _libsvm(settings: Settings) -> str:
    number = settings.problem.solver
    return f"-t 2 for LIBSVM's -s {number} ({LIBSVM_PROBLEMS[number][0]})"
