"""Runs commands in this process and records their output, exit status and time.

Output is captured at the file descriptors, which includes that of libraries.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy  # noqa: F401  imported first, so that commands do not count its time

OUT, ERR = "stdout", "stderr"  # files in the folder that receive the streams


class Ended(NamedTuple):
    """A finished command.

    status: None after an uncaught exception.  seconds: the smaller of clock and processor time, because other programs
    may delay the clock.  model: its text, None without one.
    """

    status: int | None
    out: str
    err: str
    seconds: float
    model: str | None


class Catcher:
    """Runs commands in a folder, with this process's streams redirected to files there."""

    def __init__(self, folder: Path):
        self.folder = folder
        os.chdir(folder)
        self.files = [os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in (OUT, ERR)]
        for own, stream in zip(self.files, (1, 2), strict=True):
            os.dup2(own, stream)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)

    def train(self, argv: Sequence[str], model: str) -> Ended:
        """Run svm-train in the folder; argv ends with data and model; model: its name."""
        from svmtool.cli.entry import guarded
        from svmtool.cli.train import main

        Path(model).unlink(missing_ok=True)
        for file in self.files:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        warnings.resetwarnings()
        warnings.simplefilter("ignore", RuntimeWarning)  # as the commands do
        began, busy = time.perf_counter(), time.process_time()
        try:
            status = guarded(lambda: main(list(argv)))
        except BaseException:
            status = None
            traceback.print_exc()
        seconds = min(time.perf_counter() - began, time.process_time() - busy)
        sys.stdout.flush()
        sys.stderr.flush()
        gc.unfreeze()  # commands freeze imported objects, which here would include those of the previous command
        out, err = ((self.folder / name).read_text("utf-8", "replace") for name in (OUT, ERR))
        path = Path(model)
        return Ended(status, out, err, seconds, path.read_text() if path.exists() else None)
