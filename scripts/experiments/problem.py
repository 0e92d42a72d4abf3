"""Input and result of a tool."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import scipy.sparse

from experiments import certify
from svmtool.auditing import readers
from svmtool.models.linear import LinearModel
from svmtool.params import LINEAR

SEED = 1
NO_MEMORY = 77  # exit status of a cell that cannot have the memory that it needs
WARM_ROWS = 100  # of the warm-up run


@dataclasses.dataclass
class Problem:
    """X, T: scipy CSR matrices of training and test rows; y, t: their labels; C."""

    X: Any
    y: np.ndarray
    T: Any
    t: np.ndarray
    C: float

    def take(self, rows: np.ndarray) -> Problem:
        """The problem restricted to some training rows."""
        return dataclasses.replace(self, X=self.X[rows], y=self.y[rows])

    def first(self, count: int) -> Problem:
        """The problem of the first rows of one random order, so that larger ones contain smaller ones."""
        return self.take(np.sort(np.random.default_rng(SEED).permutation(len(self.y))[:count]))

    def few(self) -> Problem:
        """A problem of some rows of both classes."""
        halves = [np.flatnonzero(self.y == label)[: WARM_ROWS // 2] for label in np.unique(self.y)[:2]]
        return self.take(np.sort(np.concatenate(halves)))


@dataclasses.dataclass
class Fitted:
    """seconds of training alone; w (d,), b: a linear answer; or `kernel`: (support rows CSR, coefficients, b, gamma).
    facts: what else is recorded."""

    seconds: float
    w: np.ndarray | None = None
    b: float = 0.0
    kernel: tuple | None = None
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def decision(self, X: Any) -> np.ndarray:
        """Decision values of rows."""
        if self.kernel is not None:
            support, coefficients, b, gamma = self.kernel
            return certify.kernel_values(support, coefficients, gamma, X) + b
        return X @ self.w + self.b

    def square(self) -> float:
        """|w|^2, with a kernel of w = sum_j coefficients_j phi(support_j)."""
        if self.kernel is None:
            return float(self.w @ self.w)
        support, coefficients, _, gamma = self.kernel
        return float(coefficients @ certify.kernel_values(support, coefficients, gamma, support))

    @classmethod
    def of(cls, model: Any, start: float, d: int, **facts: Any) -> Fitted:
        """Of a model of two classes, or of one, that `svmtool.audit` reads, whose training began at `start`."""
        seconds, made = time.perf_counter() - start, readers.read(model, (1, 1.0), d).model
        sign = -1.0 if made.labels is not None and len(made.labels) and made.labels[0] != 1 else 1.0
        if isinstance(made, LinearModel):
            W, b = sign * made.W[:, 0], 0.0
            if made.bias >= 0.0:
                W, b = W[:-1], float(W[-1] * made.bias)
            return cls(seconds, np.pad(W, (0, d - len(W))), b, facts=facts)
        support = scipy.sparse.csr_matrix((made.values, made.indices, made.indptr), shape=(made.total_sv, d))
        coefficients, b = sign * made.coef[0], -sign * float(made.rho[0])
        if made.kernel.kind == LINEAR:
            return cls(seconds, support.T @ coefficients, b, facts={"support": support.shape[0], **facts})
        return cls(seconds, kernel=(support, coefficients, b, made.kernel.gamma), facts=facts)
