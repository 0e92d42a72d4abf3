"""Spark: MLlib's LinearSVC and LogisticRegression beside svmtool.spark, on the same cached frame, on all cores."""

from __future__ import annotations

from typing import Any

from bench.peers import Fit
from bench.problem import Problem


class OnSpark(Fit):
    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows in executors."""
        import scipy.sparse
        from pyspark.ml.linalg import Vectors
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
        X = scipy.sparse.csr_matrix(X)
        vectors = (Vectors.sparse(X.shape[1], row.indices, row.data) for row in X)
        rows = list(zip(self.labels(y).tolist(), vectors, strict=True))
        frame = session.createDataFrame(rows, ["label", "features"]).cache()
        return frame, frame.count()

    def labels(self, y: Any) -> Any:
        return y

    def solves(self, problem: Problem, classes: int | None) -> bool:
        return classes == 2 and super().solves(problem, classes)


class Ours(OnSpark):
    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        from svmtool import spark

        return spark.fit(X, solver=problem.solver, C=problem.C)


class MLlib(OnSpark):
    def labels(self, y: Any) -> Any:
        """MLlib takes 0 and 1."""
        return (y == y.max()).astype(float)

    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        from pyspark.ml import classification

        kind = classification.LinearSVC if problem.solver == 3 else classification.LogisticRegression
        done = kind(regParam=1.0 / (problem.C * y), standardization=False, fitIntercept=False).fit(X)
        return done.coefficients.toArray(), done.intercept


PEERS = [Ours("svmtool.spark", "", (0, 3), (), "pyspark"), MLlib("MLlib", "svmtool.spark", (0, 3), (), "pyspark")]
