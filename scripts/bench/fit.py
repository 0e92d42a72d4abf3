"""Child process: fits one problem by a peer's Python module.  python -m bench.fit PEER DATA SOLVER C KERNEL ANSWER

Writes {"seconds", "peak_mb", "objective", "gap"} to the file ANSWER: seconds of the fit alone, peak memory of the
process with the rows.  Before, it fits a few rows, so that libraries are loaded.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

from bench import peers
from bench.problem import Problem, value
from svmtool.formats.svmlight import table

FEW = 2  # rows of each label for the first fit
DENSE = 0.3  # share of non-zeros from which rows are a dense array


def main() -> None:
    name, path, solver, C, kernel, answer = sys.argv[1:]
    problem, peer = Problem(int(solver), float(C), kernel == "1"), peers.named(name)
    warnings.simplefilter("ignore")  # the objective says how far a fit came
    rows = table.read(path)
    n, d = len(rows.labels), rows.n_features
    X = scipy.sparse.csr_matrix((rows.values, rows.indices.astype("i4"), rows.indptr.astype("i4")), shape=(n, d))
    X = X.toarray() if X.nnz > DENSE * n * d else X
    y = np.asarray(rows.labels)
    first = np.concatenate([np.flatnonzero(y == label)[:FEW] for label in np.unique(y)[:10]])
    peer.fit(problem, *peer.prepare(X[first], y[first]))
    given = peer.prepare(X, y)
    began = time.perf_counter()
    model = peer.fit(problem, *given)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"seconds": seconds, "peak_mb": peak, "objective": value(problem, model, rows)}
    found["gap"] = model.certificate.gap if hasattr(model, "certificate") else None
    Path(answer).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
