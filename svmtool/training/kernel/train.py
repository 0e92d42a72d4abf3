"""Selects the training function for a task with a kernel."""

from __future__ import annotations

from collections.abc import Callable

from svmtool.params import Settings
from svmtool.training.kernel.fit import KernelTraining


def trainer(settings: Settings) -> Callable[..., KernelTraining]:
    """Return train(data, fitting, rand) for the settings' task; it frees `data` if the caller keeps no reference."""
    if settings.row.task == "classification":
        from svmtool.training.kernel.one_vs_one import train
    else:
        from svmtool.training.kernel.single import train
    return train
