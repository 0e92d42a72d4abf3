"""Child process: times svmtool's training with given settings.  Its argument is a JSON object:

{"path": data file, "runs": [settings as keywords, ...], "test": file for accuracies, null for the first}
-> [{seconds, objective, gap, converged, accuracy}, ...]
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

import numpy as np

from bench_parts.certify import ENOUGH_SECONDS, SOME_SECONDS, answer
from svmtool.data.dataset import Dataset
from svmtool.formats.svmlight import table as svmlight
from svmtool.params import Settings
from svmtool.training import linear


def main() -> None:
    order = json.loads(sys.argv[1])
    table = svmlight.read(order["path"])
    test = svmlight.read(order["test"]) if order.get("test") else table
    first = True
    runs = []
    for settings in order["runs"]:
        chosen = Settings.of(**settings)
        seconds: list[float] = []
        while True:
            rows = Dataset(table.labels, table.indptr, table.indices, table.values, table.n_features)
            start = time.perf_counter()
            done = linear.train(rows, chosen)
            spent = time.perf_counter() - start
            if first:  # warm-up
                first = False
                continue
            seconds.append(spent)
            if sum(seconds) > ENOUGH_SECONDS or (len(seconds) >= 5 and sum(seconds) > SOME_SECONDS):
                break
        status = done.status
        runs.append(
            {
                "seconds": statistics.median(seconds),
                "objective": done.certificate.primal,
                "gap": done.certificate.gap,
                "converged": bool(status and status.converged),
                "accuracy": float(np.mean(done.model.predict(test) == test.labels)),
            }
        )  # fmt: skip
    answer(runs)


if __name__ == "__main__":
    main()
