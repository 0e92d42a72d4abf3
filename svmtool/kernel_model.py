"""Trained kernel models: what they hold, their decision values and labels."""

from __future__ import annotations

import numpy as np

from svmtool.problem.kernels import PRECOMPUTED, Kernel


class KernelModel:
    """A kernel model, as LIBSVM's file holds it."""

    def __init__(
        self, svm_type: str, kernel: Kernel, labels: tuple[int, ...] | None, nr_class: int, rho: np.ndarray,
        coef: np.ndarray, nr_sv: tuple[int, ...] | None, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray,
        probA: np.ndarray | None = None, probB: np.ndarray | None = None, density_marks: np.ndarray | None = None,
        notes: tuple[str, ...] = (),
    ):  # fmt: skip
        self.svm_type, self.kernel, self.labels, self.nr_class = svm_type, kernel, labels, nr_class
        self.rho, self.coef, self.nr_sv = rho, coef, nr_sv
        self.indptr, self.indices, self.values = indptr, indices, values
        self.probA, self.probB, self.density_marks, self.notes = probA, probB, density_marks, notes

    @property
    def total_sv(self) -> int:
        return len(self.indptr) - 1

    def _kernel_values(self, table) -> np.ndarray:
        n = len(table.labels)
        if self.kernel.kind == PRECOMPUTED:
            at = self.values.astype(np.int64)  # element number serial of a row: the serial itself is element 0
            return table.values[table.indptr[:-1, None] + at[None, :]]
        d = int(max(table.indices.max(initial=-1), self.indices.max(initial=-1))) + 1

        def dense(indptr, indices, values, rows):
            X = np.zeros((rows, d))
            X[np.repeat(np.arange(rows), np.diff(indptr)), indices] = values
            return X

        X = dense(table.indptr, table.indices, table.values, n)
        Z = dense(self.indptr, self.indices, self.values, self.total_sv)
        K = X @ Z.T
        self.kernel.finish(K, np.sum(X * X, axis=1), np.sum(Z * Z, axis=1))
        return K

    def decision_values(self, table) -> np.ndarray:
        """f8 (n, pairs) of a Table."""
        K = self._kernel_values(table)
        if self.labels is None:
            return K @ self.coef[0][:, None] - self.rho[None, :]
        ends = np.concatenate(([0], np.cumsum(self.nr_sv)))
        out = np.empty((len(K), len(self.rho)))
        pair = 0
        for i in range(self.nr_class):
            for j in range(i + 1, self.nr_class):
                a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
                out[:, pair] = K[:, a] @ self.coef[j - 1, a] + K[:, b] @ self.coef[i, b] - self.rho[pair]
                pair += 1
        return out

    def labels_from(self, decisions: np.ndarray) -> np.ndarray:
        """Predicted labels (or values) f8[n]."""
        if self.svm_type.endswith("svr"):
            return decisions[:, 0].copy()
        if self.labels is None:
            return np.where(decisions[:, 0] > 0, 1.0, -1.0)
        votes = np.zeros((len(decisions), self.nr_class))
        pair = 0
        for i in range(self.nr_class):
            for j in range(i + 1, self.nr_class):
                first = decisions[:, pair] > 0
                votes[first, i] += 1
                votes[~first, j] += 1
                pair += 1
        return np.array(self.labels, dtype=np.float64)[np.argmax(votes, axis=1)]

    def predict(self, table) -> np.ndarray:
        return self.labels_from(self.decision_values(table))

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """f8 (n, nr_class); two classes only here."""
        p = 1.0 / (1.0 + np.exp(self.probA[0] * decisions[:, 0] + self.probB[0]))
        p = np.clip(p, 1e-7, 1 - 1e-7)
        return np.stack([p, 1 - p], axis=1)
