"""LIBSVM: its program svm-train, and its Python module (pip install libsvm-official)."""

from __future__ import annotations

from typing import Any

from bench.peers import Fit, Program
from bench.problem import KERNEL_CLASSES, KERNEL_NUMBERS, Problem

KERNEL = (*KERNEL_CLASSES, *KERNEL_NUMBERS)


class Official(Fit):
    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        import scipy.sparse

        return scipy.sparse.csr_matrix(X), y

    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        from libsvm import svmutil

        return svmutil.svm_train(y, X, " ".join([*problem.options, "-q"]))


PEERS = [
    Program("LIBSVM", "svm-train", (), KERNEL, "LIBSVM_DIR", "svm-train", "libsvm-train"),
    Official("libsvm-official", "svmtool.fit", (), KERNEL, "libsvm.svmutil"),
]
