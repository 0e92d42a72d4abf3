"""Child process: svmtool's training alone, over ladders of -e.  Its one argument is an order in JSON."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

from bench_parts import bars
from bench_parts.judge import answer, climb, objective, rows_of
from svmtool.formats.svmlight import Table
from svmtool.settings import Settings
from svmtool.training import pipeline


def main() -> None:
    order = json.loads(sys.argv[1])
    X, y = rows_of(order["path"])

    def fit(solver: int, C: float, e: float | None):
        rows = Table(
            y.copy(), X.indptr.astype("i8"), X.indices.copy(), X.data.copy(), X.shape[1]
        )  # training uses it up
        asked = {"gap": e} if solver in bars.OUR_GAPS else {"eps": e}
        done = pipeline.train(rows, Settings(solver=solver, C=C, quiet=True, **asked))
        return done.seconds, done.model

    answer(climb(order, fit, lambda model, C: objective(X, y, model.W, model.labels, C)))


if __name__ == "__main__":
    main()
