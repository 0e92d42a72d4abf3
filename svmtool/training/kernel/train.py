"""Selects how a training set with a kernel is trained, by its task."""

from __future__ import annotations

from collections.abc import Callable

from svmtool.params import Settings
from svmtool.training.kernel.fit import KernelTraining


def trainer(settings: Settings) -> Callable[..., KernelTraining]:
    """train(data, fitting, rand) of the settings' task; it gives the memory of `data` back where the caller does."""
    if settings.row.task == "classification":
        from svmtool.training.kernel.one_vs_one import train
    else:
        from svmtool.training.kernel.single import train
    return train
