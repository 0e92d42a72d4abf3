"""Which way a training set with a kernel is trained: by its task."""

from __future__ import annotations

from svmtool.training.folds import GlibcRand
from svmtool.training.kernel_fit import Fitting, KernelTraining
from svmtool.training.kernel_set import KernelSet


def train(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """Train on a set; rand draws the folds of -b 1 (None: without)."""
    if fitting.settings.row.task == "classification":
        from svmtool.training.one_vs_one import train as by_task
    else:
        from svmtool.training.kernel_single import train as by_task
    return by_task(data, fitting, rand)
