"""R's kernlab: ksvm of type "C-bsvc", the bound-constrained solver of BSVM (TRON within decomposition), hinge.

Its bias is regularised: it is a feature of 1 that ksvm adds to the kernel.  Methods: "C-bsvc, linear".  A step is tol;
settings: C.  R runs as a process of its own on dense rows, and measures the time of the call.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from experiments.problem import Fitted, Problem

MAX_VALUES = 5e7  # of the dense matrix: beyond there is no memory for R's copies
R_SHARE = 0.98  # of the time left, after which R is ended: it would outlive this process
PROGRAM = Path(__file__).with_suffix(".R")


def VERSION() -> str:
    asked = ["Rscript", "-e", 'cat(as.character(packageVersion("kernlab")))']
    return f"kernlab {subprocess.run(asked, capture_output=True, text=True, check=True).stdout}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    (n, d), tolerance = problem.X.shape, 1e-3 if step is None else step
    if n * d > MAX_VALUES:
        raise MemoryError(f"kernlab needs a dense matrix of {n} x {d}")
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder, "rows"), Path(folder, "out")
        rows.write_bytes(problem.X.toarray().tobytes(order="F") + problem.y.tobytes())
        asked = ["Rscript", PROGRAM, rows, str(n), str(d), repr(problem.C), repr(tolerance), out]
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        try:
            subprocess.run(asked, check=True, capture_output=True, text=True, timeout=R_SHARE * left if left else None)
        except subprocess.TimeoutExpired:
            signal.pause()  # for the alarm that ends this process
        seconds, b, *w = np.fromfile(out)
    return Fitted(seconds, np.array(w), -b)
