"""Input and result of a tool."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 1
NO_MEMORY = 77  # exit status of a cell that cannot have the memory that it needs
WARM_ROWS = 100  # of the warm-up run


@dataclasses.dataclass
class Problem:
    """X, T: scipy CSR matrices of training and test rows; y, t: their labels; C; run: number of the repetition."""

    X: Any
    y: np.ndarray
    T: Any
    t: np.ndarray
    C: float
    run: int

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
    """seconds of training alone; w (d,), b: a linear answer; or `kernel`: (support rows CSR, coefficients, b, gamma);
    or `decide`: rows -> decision values.  facts: what else is recorded."""

    seconds: float
    w: np.ndarray | None = None
    b: float = 0.0
    kernel: tuple | None = None
    decide: Callable[[Any], np.ndarray] | None = None
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)
