"""Describes the machine for reports of measurements."""

from __future__ import annotations

import os
import platform


def processor() -> str:
    """Name of the processor, if the system reports it."""
    try:
        with open("/proc/cpuinfo") as f:
            names = (line.split(":")[1].strip() for line in f if line.startswith("model name"))
            return next(names, platform.processor())
    except OSError:  # not Linux
        return platform.processor()


def cores() -> int | None:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
