"""A command run in this process as the shell would run it: what it printed, how it ended, how long it took.

Everything that it writes is caught at the file descriptors, so that the words of libraries are caught too.
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

import numpy  # noqa: F401  first of all: a command that imports it would count the time

OUT, ERR = "stdout", "stderr"  # files of the folder that the streams of a command go to


class Ended(NamedTuple):
    """status: None where an exception got out; seconds: the lesser of the clock's and the processor's, for other
    programs may hold the clock up; model: its text, None where there is none."""

    status: int | None
    out: str
    err: str
    seconds: float
    model: str | None


class Catcher:
    """Runs commands in a folder, with the streams of this process turned into files there."""

    def __init__(self, folder: Path):
        self.folder = folder
        os.chdir(folder)
        self.files = [os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in (OUT, ERR)]
        for own, stream in zip(self.files, (1, 2), strict=True):
            os.dup2(own, stream)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)

    def train(self, argv: Sequence[str], model: str) -> Ended:
        """svm-train ARGV in the folder; argv ends with data and model, whose name is given once more."""
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
        gc.unfreeze()  # a command freezes what it has imported; here that would be all that was left by the one before
        out, err = ((self.folder / name).read_text("utf-8", "replace") for name in (OUT, ERR))
        path = Path(model)
        return Ended(status, out, err, seconds, path.read_text() if path.exists() else None)
