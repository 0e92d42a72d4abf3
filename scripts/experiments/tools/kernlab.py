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
PROGRAM = """
library(kernlab)
asked <- commandArgs(TRUE)
n <- as.integer(asked[2]); d <- as.integer(asked[3])
file <- file(asked[1], "rb")
X <- matrix(readBin(file, "double", n * d), n, d)
y <- factor(readBin(file, "double", n), levels = c(1, -1))
seconds <- system.time(
  m <- ksvm(X, y, type = "C-bsvc", kernel = "vanilladot", kpar = list(), C = as.numeric(asked[4]),
            tol = as.numeric(asked[5]), scaled = FALSE, cache = 1000)
)[["elapsed"]]
a <- coef(m)[[1]]; rows <- alphaindex(m)[[1]]
class <- sign(a[1]) * ifelse(y[rows[1]] == 1, 1, -1)  # which of the labels is its positive class
out <- file(asked[6], "wb")
writeBin(c(seconds, class * c(b(m), colSums(a * X[rows, , drop = FALSE]))), out)
close(out)
"""


def VERSION() -> str:
    asked = ["Rscript", "-e", 'cat(as.character(packageVersion("kernlab")))']
    return f"kernlab {subprocess.run(asked, capture_output=True, text=True, check=True).stdout}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    (n, d), tolerance = problem.X.shape, 1e-3 if step is None else step
    if n * d > MAX_VALUES:
        raise MemoryError(f"kernlab needs a dense matrix of {n} x {d}")
    with tempfile.TemporaryDirectory() as folder:
        rows, program, out = (Path(folder, name) for name in ("rows", "program.R", "out"))
        with rows.open("wb") as file:
            file.write(problem.X.toarray().tobytes(order="F"))
            file.write(problem.y.tobytes())
        program.write_text(PROGRAM)
        asked = ["Rscript", program, rows, str(n), str(d), repr(problem.C), repr(tolerance), out]
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        try:
            subprocess.run(asked, check=True, capture_output=True, text=True, timeout=R_SHARE * left if left else None)
        except subprocess.TimeoutExpired:
            signal.pause()  # for the alarm that ends this process
        seconds, b, *w = np.fromfile(out)
    return Fitted(seconds, np.array(w), -b)
