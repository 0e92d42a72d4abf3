"""Child process: svm-train --spark from the moment its rows are in the executors.  Its argument is an order in JSON:

{"master", "memory" of the driver, "path", "repeats",
 "runs": [{"loss", "settings": as keywords, "model": file for it}, ...]}
-> {"rows", "reading": seconds, "runs": [{"loss", "model", "seconds", "features", "costs"}, ...]}

seconds: the solver's, as everywhere; costs: what the whole run (certificate too) went to, see spark.shares.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

import numpy as np

from svmtool.compiled import threads
from svmtool.formats import linear_model
from svmtool.settings import Settings
from svmtool.spark.gang import Gang
from svmtool.spark.problems import FarProblems
from svmtool.spark.reading import Text
from svmtool.spark.session import Session
from svmtool.training.pipeline import fitted

SENT = 20  # passes that are measured for what one costs beside the partitions


def vectors(gang: Gang, d: int) -> float:
    """Seconds that sending a vector of length d to all partitions takes, and adding up theirs."""
    before = gang.costs.whole - gang.costs.slowest
    for _ in range(SENT):
        gang.post("move", np.ones(d))
        gang.total("slopes_product")
    return (gang.costs.whole - gang.costs.slowest - before) / SENT


def train(session: Session, path: str, settings: Settings):
    """(Training, seconds of reading, costs, rows) of one run."""
    with contextlib.closing(Gang(session, Text(session, path))) as gang:
        costs = gang.costs
        began = time.perf_counter()
        problems = FarProblems(gang, settings)
        done = fitted(problems, None, None, None, began)
        whole = time.perf_counter() - began
        found = {
            "whole": whole, "passes": costs.passes, "tasks": costs.slowest, "sending": costs.whole - costs.slowest,
            "driver": whole - costs.whole, "partitions": gang.size, "vectors": vectors(gang, problems.rows.d),
        }  # fmt: skip
        return done, costs.reading, found, problems.rows.n


def main() -> None:
    order = json.loads(sys.argv[1])
    threads.set_count(1)  # as svm-train --spark does
    answer: dict = {"runs": []}
    with Session(order["master"], "benchmark", {"spark.driver.memory": order["memory"]}) as session:
        for run in order["runs"]:
            found = [
                train(session, order["path"], Settings(quiet=True, **run["settings"])) for _ in range(order["repeats"])
            ]
            done, answer["reading"], costs, answer["rows"] = found[-1]
            linear_model.write(run["model"], done.model)
            seconds = statistics.median(done.seconds for done, *_ in found)
            answer["runs"].append(
                {"loss": run["loss"], "model": run["model"], "seconds": seconds, "features": done.model.n_features,
                 "costs": costs}
            )  # fmt: skip
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
