"""A job for the pool of scripts/stress, in a module that its processes load fast."""

from __future__ import annotations

import os
import signal
import time


def sleepy(announce, folder, kind: str) -> str:
    """A job that ends, hangs, fails or takes its process with it."""
    announce(0.3, family="f", solver="s", argv=[kind])
    end = time.monotonic() + 60
    while kind == "hang" and time.monotonic() < end:
        pass
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "fault":
        raise ValueError("a fault of the job")
    return kind
