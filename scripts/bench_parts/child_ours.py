"""Child process: times svmtool's training over ladders of tolerances.  Its argument is a JSON object.

A step of a ladder is a value of -e (None: the default), or of --gap for the solvers in bars.OUR_GAPS and in
an order with "by": "gap".
"""

from __future__ import annotations

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

from bench_parts import bars
from bench_parts.certify import answer, climb, rows_of, unlabelled, value_of, varied
from svmtool.data.dataset import Dataset
from svmtool.params import Settings
from svmtool.training import linear


def main() -> None:
    order = json.loads(sys.argv[1])
    X, y = rows_of(order["path"], unlabelled(order))

    def fit(solver: int, C: float, e: float | None):
        rows = Dataset(
            y.copy(), X.indptr.astype("i8"), X.indices.copy(), X.data.copy(), X.shape[1]
        )  # a copy, because training consumes it
        by_gap = e is not None and (solver in bars.OUR_GAPS or order.get("by") == "gap")
        asked = {varied(solver): C, "gap" if by_gap else "eps": e, "max_seconds": order.get("limit")}
        start = time.perf_counter()
        done = linear.train(rows, Settings.of(solver=solver, **asked))
        return time.perf_counter() - start, (solver, done.model)

    def value(solution, C: float) -> float:
        solver, model = solution
        return value_of(bars.SAME_PROBLEM.get(solver, solver), X, y, model.W, model.labels, C)

    answer(climb(order, fit, value))


if __name__ == "__main__":
    main()
