"""Child process: svm-train --spark from the moment its rows are in the executors.  Its argument is a JSON object:

{"master", "memory" of the driver, "path", "repeats",
 "runs": [{"loss", "settings": as keywords, "model": file for it}, ...]}
-> {"rows", "reading": seconds, "runs": [{"loss", "model", "seconds", "costs"}, ...]}

seconds: the solver's, as everywhere; costs: what the whole run (certificate too) went to, see spark.shares.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

import numpy as np

from svmtool.compiled import threads
from svmtool.distributed.reading import Text
from svmtool.distributed.reductions import DistributedOneVsRest
from svmtool.distributed.session import Session
from svmtool.distributed.stage import BarrierStage
from svmtool.formats.models import linear
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.training.linear import fitted

ASKED = 50  # passes made to measure the driver's time


class Watched(BarrierStage):
    """Counts the numbers in vectors and matrices that are sent to each partition and summed over them."""

    numbers = 0

    def _exchange(self, calls: list, add: bool) -> list:
        self.numbers += size_of(calls)
        return super()._exchange(calls, add)

    def sum(self, name: str, *arguments: Any) -> Any:
        answer = super().sum(name, *arguments)
        self.numbers += size_of(answer)
        return answer


def size_of(what: Any) -> int:
    """Count the numbers in the arrays of calls or of a result."""
    if isinstance(what, np.ndarray):
        return what.size
    return sum(map(size_of, what)) if isinstance(what, (list, tuple)) else 0


def driver_seconds(stage: BarrierStage, d: int) -> tuple[float, float]:
    """The driver's processor time for a pass without large vectors, and for each number in vectors."""

    def pass_of(before_it: Callable[[], None], question: str) -> float:
        before = time.process_time()
        for _ in range(ASKED):
            before_it()
            stage.sum(question)
        return (time.process_time() - before) / ASKED

    few = pass_of(lambda: None, "sums")
    many = pass_of(lambda: stage.defer("set_point", np.ones(d)), "slopes_product")
    return few, max(0.0, many - few) / (2 * d)


def train(session: Session, path: str, settings: Settings):
    """(model, seconds to the solver's last record, seconds of reading, costs, rows) of one run."""
    with contextlib.closing(Watched(session, Text(session, path, few=True))) as stage:
        costs = stage.costs
        began = time.perf_counter()
        problems = DistributedOneVsRest(stage, settings)
        records: list[float] = []
        done = fitted(problems, None, lambda **record: records.append(time.perf_counter() - began), StopFlag())
        whole = time.perf_counter() - began
        found = {
            "whole": whole, "passes": costs.passes, "tasks": costs.slowest, "sending": costs.whole - costs.slowest,
            "driver": whole - costs.whole, "partitions": stage.size, "numbers": stage.numbers,
        }  # fmt: skip
        found["a pass"], found["a number"] = driver_seconds(stage, problems.rows.d)
        return done.model, records[-1], costs.reading, found, problems.rows.n


def main() -> None:
    order = json.loads(sys.argv[1])
    threads.set_count(1)  # as svm-train --spark does
    answer: dict = {"runs": []}
    with Session(order["master"], "benchmark", {"spark.driver.memory": order["memory"]}) as session:
        for run in order["runs"]:
            found = [train(session, order["path"], Settings.of(**run["settings"])) for _ in range(order["repeats"])]
            model, _, answer["reading"], costs, answer["rows"] = found[-1]
            linear.write(run["model"], model)
            seconds = statistics.median(seconds for _, seconds, *_ in found)
            answer["runs"].append(
                {"loss": run["loss"], "model": run["model"], "seconds": seconds, "costs": costs}
            )  # fmt: skip
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
