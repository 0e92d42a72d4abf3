"""Child process: times Spark MLlib's LinearSVC and LogisticRegression on cached rows.

Its argument is a JSON object:
{"master", "memory" of the driver, "path", "features", "C", "target": relative gap, "budget": seconds a fit, "repeats",
 "problems": [{"loss": "hinge" | "logistic", "optimum", "weights": file for them}, ...]}
-> {"rows", "reading": seconds, "runs": [{"loss", "seconds", "steps", "reached"}, ...]}

Each fit has the smallest maxIter at which the objective that MLlib reports is within the target, and tol = 0: no other
setting of the two reaches it sooner.  child_spark_certify.py evaluates the weights.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import numpy as np
from pyspark.ml.classification import LinearSVC, LogisticRegression
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

KINDS = {"hinge": LinearSVC, "logistic": LogisticRegression}
FREE_BIAS = {"hinge": True, "logistic": False}  # as in -s 31 and in -s 0
FIRST_STEPS = 16


class Fits:
    """Fits of one problem on one cached frame, on the objective |w|^2/2 + C sum of losses, scaled by 1 / (n C)."""

    def __init__(self, frame, rows: int, order: dict, problem: dict):
        self.frame, self.loss, self.scale = frame, problem["loss"], rows * order["C"]
        self.enough = problem["optimum"] * (1.0 + order["target"])

    def fit(self, steps: int):
        """(seconds, model, objectives by iteration)."""
        estimator = KINDS[self.loss](
            maxIter=steps, tol=0.0, regParam=1.0 / self.scale, standardization=False, fitIntercept=FREE_BIAS[self.loss]
        )
        began = time.perf_counter()
        model = estimator.fit(self.frame)
        seconds = time.perf_counter() - began
        summary = model.summary if self.loss == "logistic" else model.summary()
        return seconds, model, [self.scale * value for value in summary.objectiveHistory]

    def best(self, budget: float, repeats: int):
        """(seconds, model, iterations, whether the target is reached) with the fewest iterations that reach it.

        If the budget is too short, the longest fit within it.
        """
        steps = FIRST_STEPS
        while True:
            seconds, model, values = self.fit(steps)
            enough = next((k for k, value in enumerate(values) if value <= self.enough), None)
            if enough is not None:
                runs = [self.fit(enough) for _ in range(repeats)]
                return statistics.median(run[0] for run in runs), runs[-1][1], enough, True
            if 2 * seconds > budget or len(values) <= steps:  # or it has converged
                return seconds, model, len(values) - 1, False
            steps *= 2


def main() -> None:
    order = json.loads(sys.argv[1])
    builder = SparkSession.builder.master(order["master"]).config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", order["memory"]).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    began = time.perf_counter()
    frame = spark.read.format("libsvm").option("numFeatures", order["features"]).load(order["path"])
    frame = frame.select((col("label") > 0).cast("double").alias("label"), "features").cache()
    rows = frame.count()
    reading = time.perf_counter() - began
    runs = []
    for problem in order["problems"]:
        fits = Fits(frame, rows, order, problem)
        seconds, model, steps, reached = fits.best(order["budget"], order["repeats"])
        np.save(problem["weights"], np.append(model.coefficients.toArray(), model.intercept))
        runs.append({"loss": problem["loss"], "seconds": seconds, "steps": steps, "reached": reached})
    spark.stop()
    print(json.dumps({"rows": rows, "reading": reading, "runs": runs}))


if __name__ == "__main__":
    main()
