"""Linear least-squares SVM by its normal equations:  f(w) = 1/2 |w|^2 + C sum_i v_i (1 - y_i x_i.w)^2

    G w = A y,   G = sum v_i x_i x_i' + nu I,   A y = sum v_i y_i x_i,   nu = 1/(2C)

v_i are weights of rows, without C.  S = sum v_i x_i x_i', b = A y and V = sum v_i determine f without the rows:

    f(w) = 1/2 |w|^2 + C (V - 2 b.w + w'S w),   f'(w) = w + 2 C (S w - b),   f(w) - min f <= 1/2 |f'(w)|^2
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.labels import two_class_problems
from svmtool.engine.interior import REFINEMENTS
from svmtool.linalg.systems import Factored, mirror
from svmtool.tolerances import EPS, OPTIMAL_GAP


class Matrix:
    """2 C G = I + 2 C S, shared by several problems: S f8[d, d], symmetric.  Factorised on first use."""

    def __init__(self, S: np.ndarray, C: float):
        self.S, self.C, self.d = S, C, len(S)
        self._factor: Factored | None = None
        self._lock = threading.Lock()

    def factor(self) -> Factored:
        """The factor of I + 2 C S."""
        with self._lock:
            if self._factor is None:
                H = (2.0 * self.C) * self.S
                H.flat[:: self.d + 1] += 1.0
                self._factor = Factored(H)
            return self._factor


class NormalEquations:
    """f of one problem from its sums S, b (f8[d]) and V; see the module's docstring."""

    def __init__(self, matrix: Matrix, b: np.ndarray, V: float):
        self.matrix, self.b, self.V, self.C = matrix, b, V, matrix.C
        self.d = matrix.d

    def gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f and its gradient (length d) at w."""
        Sw = self.matrix.S @ w
        f = 0.5 * float(w @ w) + self.C * (self.V - 2.0 * float(self.b @ w) + float(w @ Sw))
        Sw -= self.b
        Sw *= 2.0 * self.C
        Sw += w
        return f, Sw

    def step(self, g: np.ndarray) -> np.ndarray:
        """The step to the minimiser from a point with gradient g."""
        return -self.matrix.factor().solve(g)

    def minimiser(self) -> np.ndarray:
        """w with G w = A y, refined by its residual."""
        w = np.zeros(self.d)
        for _ in range(1 + REFINEMENTS):
            w = w + self.step(self.gradient(w)[1])
        return w

    def cancels(self, f: float) -> bool:
        """Whether the sums in f, each about C V, cancel: then their rounding hides an optimal gap."""
        return f * OPTIMAL_GAP < EPS * self.C * self.V


def equations_of(sums: ClassStatistics, C: float, bias: float, factor: Sequence[float]) -> list[NormalEquations]:
    """The normal equations of each of data.labels.two_class_problems; factor: the class weight of each label.

    bias < 0: no bias feature.
    """
    matrices: dict[tuple[float, ...], Matrix] = {}
    found = []
    for signs, carried in two_class_problems(factor):
        key = tuple(carried.tolist())
        if key not in matrices:
            matrices[key] = _matrix_of(sums, C, bias, carried)
        b, edge = (signs * carried) @ sums.first, bias * float((signs * carried) @ sums.weight)
        V = float(np.dot(carried, sums.weight))
        found.append(NormalEquations(matrices[key], b if bias < 0 else np.append(b, edge), V))
    return found


def _matrix_of(sums: ClassStatistics, C: float, bias: float, factor: Sequence[float]) -> Matrix:
    """sum of v_i x_i x_i' with the bias feature, v_i the row's weight times its label's factor."""
    of_group = np.ones(len(sums.gram))
    for label, f in zip(sums.labels, factor, strict=True):
        of_group[sums.group(label)] = f if label in sums.own else 1.0
    plain = mirror(np.tensordot(of_group, sums.gram, 1) if len(sums.gram) > 1 else sums.gram[0])
    if bias < 0:
        return Matrix(plain, C)
    S = np.empty((sums.m + 1, sums.m + 1))
    S[:-1, :-1] = plain
    S[-1, :-1] = S[:-1, -1] = bias * (np.asarray(factor) @ sums.first)
    S[-1, -1] = bias * bias * float(np.dot(factor, sums.weight))
    return Matrix(S, C)
