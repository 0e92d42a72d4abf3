"""LIBLINEAR: its program train, and its Python module (pip install liblinear-official)."""

from __future__ import annotations

from typing import Any

from bench.peers import Fit, Program
from bench.problem import CLASSES, NUMBERS, Problem


class Official(Fit):
    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        import scipy.sparse

        return scipy.sparse.csr_matrix(X), y

    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        from liblinear import liblinearutil

        return liblinearutil.train(y, X, " ".join([*problem.options, "-q"]))


PEERS = [
    Program("LIBLINEAR", "svm-train", (*CLASSES, *NUMBERS), (), "LIBLINEAR_DIR", "train", "liblinear-train"),
    Official("liblinear-official", "svmtool.fit", (*CLASSES, *NUMBERS), (), "liblinear.liblinearutil"),
]
