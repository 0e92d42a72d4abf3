"""What figures are taken on, for whoever measures here."""

from __future__ import annotations

import os
import platform


def processor() -> str:
    """Its name, as far as the system states."""
    try:
        with open("/proc/cpuinfo") as f:
            names = (line.split(":")[1].strip() for line in f if line.startswith("model name"))
            return next(names, platform.processor())
    except OSError:  # not Linux: what platform knows must do
        return platform.processor()


def cores() -> int | None:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
