"""Cross-validation (-v) with kernels: LIBSVM's folds and lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.limits import Turns
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting, KernelTraining
from svmtool.training.kernel.train import trainer
from svmtool.training.outcome import told_folds
from svmtool.training.validation.folds import GlibcRand, fold_rows, liblinear_folds, refuse_all_in_one, stratified_folds
from svmtool.training.validation.report import percent, print_regression


def cross_validate(data: KernelSet, fitting: Fitting, rand: GlibcRand, console: Any) -> int:
    """Train without each fold and predict it; the result lines stand on stdout also when quiet."""
    return run_validation(data, fitting, rand, console)[1]


def run_validation(
    data: KernelSet, fitting: Fitting, rand: GlibcRand, console: Any
) -> tuple[np.ndarray, int]:
    """Validate and print the lines of -v; returns the predictions, f8[n], and the exit status."""
    s, n = fitting.settings, len(data)
    assert s.folds is not None
    if n < 2:
        raise SvmtoolError(f"cross-validation needs at least two rows of data, here there are {n}")
    if s.folds > n:
        console.warn(
            f"WARNING: # folds ({s.folds}) > # data ({n}). Will use # folds = # data instead "
            "(i.e., leave-one-out cross validation)"
        )
    classifies = s.row.task == "classification"
    order, starts = stratified_folds(data.labels, s.folds, rand) if classifies else liblinear_folds(n, s.folds, rand)
    refuse_all_in_one(starts)
    train = trainer(s)
    predictions, open_ends = np.empty(n), []
    turns = Turns(fitting.stop, len(starts) - 1, 1)
    for k in range(len(starts) - 1):
        inside, outside = fold_rows(order, starts, k)
        within = Fitting(s, fitting.report, turns.next())
        done = train(data.take(inside), within, rand if classifies else None)
        if fitting.stop.set:
            raise KeyboardInterrupt  # half a cross-validation says nothing
        if done.lacking:
            raise SvmtoolError(f"ERROR: -v with -b 1: {done.lacking}")
        console.solver(done.text)
        for warning in done.warnings:
            console.warn(warning)
        if done.status is not None and not done.status.converged:
            open_ends.append(done.status)
        predictions[outside] = predict(done, data.take(outside))
    if s.row.task == "regression":
        print_regression(console, data.labels, predictions)
    else:
        console.out(f"Cross Validation Accuracy = {percent(np.count_nonzero(predictions == data.labels) / n)}%\n")
    return predictions, told_folds(open_ends, len(starts) - 1, s, console)


def predict(done: KernelTraining, data: KernelSet) -> np.ndarray:
    """Labels or values f8[n]; with -b 1 the most probable class."""
    model = done.model
    decisions = model.decision_values(data.table)
    if model.labels is None or len(model.labels) < 2 or model.probA is None:
        return model.labels_from(decisions)
    return np.array(model.labels, dtype=np.float64)[np.argmax(model.probabilities(decisions), axis=1)]
