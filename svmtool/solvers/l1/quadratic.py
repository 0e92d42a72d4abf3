"""The quadratic model of f = |w|_1 + losses near w, and its minimum over a working set of weights v.

    q(v) = g.(v - w) + (v - w)'H (v - w) / 2 + sum_j penalty_j |v_j|

Epochs of coordinate descent, and between them steps of the non-zero weights together, on H plus a share of its
diagonal: columns that depend on each other (one-hot features) would else make long steps, which the breakpoints of
|v_j| cut short.  H is known by the columns of the rows, as a matrix, or by products that the partitions of a
cluster compute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from svmtool.compiled.loops.cd.dcd_loops import FIRST_STATE
from svmtool.compiled.loops.loss import l1_loops as loops
from svmtool.linalg.columns import SomeColumns
from svmtool.linalg.systems import CALLS_NS, COPY_NS, FACTOR_NS, VISIT_NS, conjugate_gradient, solve_positive
from svmtool.objectives.l1.objective import minimum_on_line, violations_at
from svmtool.tolerances import MIN_POSITIVE

EPOCHS, MATRIX_EPOCHS = 5, 20  # between two steps of the non-zero weights
# Share of the diagonal that is added at first, its least and largest value, and its factor after steps shorter than
# SHORT_FACE, or after full steps
RIDGE, RIDGE_MIN, RIDGE_MAX, RIDGE_STEP, SHORT_FACE = 1e-7, 1e-13, 0.1, 10.0, 0.1
MIN_FALL_SHARE = 0.1  # a turn that lowers q by no more than this share of its fall so far is the last
CG_STEPS, CG_RTOL = 8, 0.03  # products of a step, or as many as epochs have taken work, and its tolerance
FACE_PRODUCTS = 4  # in a step of the non-zero weights, besides
GRAM_EPOCH_NS = 0.3  # of a multiplication in an epoch over a matrix


class Quadratic(ABC):
    """q over m weights: g, w, penalty, f8[m].  v: the present point.

    epochs, faces (steps of the non-zero weights), work (nanoseconds): so far.
    """

    epochs_a_turn = EPOCHS
    faces = 0
    step_work = 0.0  # of a step of the non-zero weights, about

    def __init__(self, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, v: np.ndarray | None = None):
        self.g, self.w, self.penalty, self.v = g, w, penalty, w.copy() if v is None else v
        self.work, self.products, self._count = 0.0, 0, np.zeros(2)
        self._random = np.empty(len(g), np.int64), np.array([FIRST_STATE])  # an order, and the state of random numbers

    @property
    def epochs(self) -> int:
        """Epochs so far."""
        return int(self._count[0])

    @property
    @abstractmethod
    def slope(self) -> np.ndarray:
        """g + H (v - w), f8[m]."""

    @property
    def value(self) -> float:
        """q(v)."""
        return 0.5 * float((self.g + self.slope) @ (self.v - self.w)) + float(self.penalty @ np.abs(self.v))

    @abstractmethod
    def descend(self, tolerance: float) -> float:
        """Run a turn of epochs; return the largest violation, infinity if it is above the tolerance."""

    @abstractmethod
    def direction(
        self, face: np.ndarray, slope: np.ndarray, ridge: float, ended: Callable[[], bool]
    ) -> tuple[np.ndarray, np.ndarray]:
        """A solution q of (H + ridge diag H) q = -slope over the weights `face` (i8), and H q."""

    @abstractmethod
    def move(self, face: np.ndarray, to: np.ndarray) -> None:
        """Set the weights `face`."""

    def move_together(self, ridge: float, ended: Callable[[], bool]) -> float:
        """Move the non-zero weights by a system of theirs; return the ridge of the next one."""
        face = np.flatnonzero((self.v != 0.0) | (self.penalty == 0.0))
        if not len(face):
            return ridge
        self.faces += 1
        v, penalty = self.v[face], self.penalty[face]
        slope = self.slope[face] + penalty * np.sign(v)
        q, Hq = self.direction(face, slope, ridge, ended)
        downhill, new, t = float(slope @ q), v, 1.0
        if downhill < 0.0:
            t = minimum_on_line(v, q, penalty, downhill, float(q @ Hq), 1.0)
            new = v + t * q
            if t < 1.0:
                new[np.abs(new) <= 1e-15 * np.abs(v)] = 0.0
        self.move(face, new)
        if t < SHORT_FACE:
            return min(ridge * RIDGE_STEP, RIDGE_MAX)
        return max(ridge / RIDGE_STEP, RIDGE_MIN) if t == 1.0 else ridge


class MatrixQuadratic(Quadratic):
    """H as a matrix, f8[m, m]."""

    epochs_a_turn = MATRIX_EPOCHS

    def __init__(self, H: np.ndarray, *point: np.ndarray):
        super().__init__(*point)
        self.H, self._slope = H, self.g + H @ (self.v - self.w)

    @property
    def slope(self) -> np.ndarray:
        return self._slope

    def descend(self, tolerance: float) -> float:
        before, m = self.epochs, float(len(self.v))
        terms = self.v, self._slope, self.penalty, self._count, *self._random
        found = loops.gram_epochs(self.H.reshape(-1), *terms, self.epochs_a_turn, tolerance)
        used = float(np.count_nonzero(self.v))
        self.work += (self.epochs - before) * m * (1.0 + GRAM_EPOCH_NS * used) + CALLS_NS / 20.0
        return found

    def direction(
        self, face: np.ndarray, slope: np.ndarray, ridge: float, ended: Callable[[], bool]
    ) -> tuple[np.ndarray, np.ndarray]:
        m, part = float(len(face)), np.ascontiguousarray(self.H[np.ix_(face, face)])
        self.work += FACTOR_NS * m**3 + COPY_NS * m * m + CALLS_NS / 4.0
        whole = part.copy()
        part.flat[:: len(face) + 1] *= 1.0 + ridge
        q = -solve_positive(part, slope)
        return q, whole @ q

    def move(self, face: np.ndarray, to: np.ndarray) -> None:
        self.v[face] = to
        self._slope = self.g + self.H @ (self.v - self.w)


class ColumnQuadratic(Quadratic):
    """H = A'CA over the columns A, C the diagonal matrix of the curvatures c."""

    def __init__(self, columns: SomeColumns, c: np.ndarray, *point: np.ndarray):
        super().__init__(*point)
        self.columns, self.c, self.diagonal = columns, c, columns.diagonal(c)
        self._r = np.zeros(len(c))  # C A (v - w)
        self.step_work = 2.0 * (CG_STEPS + FACE_PRODUCTS) * VISIT_NS * columns.nnz

    @property
    def slope(self) -> np.ndarray:
        return self.g + self.columns.products(self._r)

    @property
    def value(self) -> float:
        moved = np.divide(self._r, self.c, out=np.zeros_like(self._r), where=self.c > 0.0)
        part = float(self.g @ (self.v - self.w)) + 0.5 * float(self._r @ moved)
        return part + float(self.penalty @ np.abs(self.v))

    def descend(self, tolerance: float) -> float:
        before = self.epochs
        terms = self.c, self.diagonal, self.g, self.penalty, self.v, self._r, self._count, *self._random
        found = self.columns.epochs(*terms, most=self.epochs_a_turn, tolerance=tolerance)
        self.work += (self.epochs - before) * 2.0 * VISIT_NS * self.columns.nnz + CALLS_NS / 20.0
        return found

    def direction(
        self, face: np.ndarray, slope: np.ndarray, ridge: float, ended: Callable[[], bool]
    ) -> tuple[np.ndarray, np.ndarray]:
        part, diagonal = self.columns.take(face), self.diagonal[face]
        small = ridge * diagonal + MIN_POSITIVE

        def product(x: np.ndarray) -> np.ndarray:
            return part.products(self.c * part.sum(x))

        one = 2.0 * VISIT_NS * part.nnz + CALLS_NS / 10.0
        steps = max(CG_STEPS, int(self.work / one))
        q, taken, _ = conjugate_gradient(
            lambda x: product(x) + small * x, -slope, diagonal + small, CG_RTOL, steps, ended
        )
        self.products += taken
        self.work += taken * one
        self._part = part
        return q, product(q)

    def move(self, face: np.ndarray, to: np.ndarray) -> None:
        self._r += self.c * self._part.sum(to - self.v[face])
        self.v[face] = to


class SumsQuadratic(Quadratic):
    """H by products: of a vector over all m weights.  An epoch is a proximal step by the diagonal."""

    def __init__(self, product: Callable[[np.ndarray], np.ndarray], diagonal: np.ndarray, *point: np.ndarray):
        super().__init__(*point)
        self._product, self._slope = product, self.g.copy()
        self.diagonal = diagonal + RIDGE * float(diagonal.mean()) + MIN_POSITIVE

    @property
    def slope(self) -> np.ndarray:
        return self._slope

    def product(self, x: np.ndarray) -> np.ndarray:
        """H x."""
        self.products += 1
        return self._product(x)

    def descend(self, tolerance: float) -> float:
        v, penalty, diagonal = self.v, self.penalty, self.diagonal
        if float(violations_at(v, self._slope, penalty).max(initial=0.0)) <= tolerance:
            return tolerance
        q = v - self._slope / diagonal
        q = np.sign(q) * np.maximum(np.abs(q) - penalty / diagonal, 0.0) - v
        image = self.product(q)
        fall = -float(self._slope @ q + penalty @ (np.abs(v + q) - np.abs(v)))
        along = float(q @ image)
        t = min(1.0, fall / along) if along > 0.0 else 1.0
        self.v, self._slope = v + t * q, self._slope + t * image
        self._count += 1.0
        return np.inf

    def direction(
        self, face: np.ndarray, slope: np.ndarray, ridge: float, ended: Callable[[], bool]
    ) -> tuple[np.ndarray, np.ndarray]:
        small = ridge * self.diagonal[face]

        def product(x: np.ndarray) -> np.ndarray:
            whole = np.zeros(len(self.v))
            whole[face] = x
            return self.product(whole)[face]

        steps = max(CG_STEPS, self.epochs)
        q, _, _ = conjugate_gradient(
            lambda x: product(x) + small * x, -slope, self.diagonal[face] + small, CG_RTOL, steps, ended
        )
        return q, product(q)

    def move(self, face: np.ndarray, to: np.ndarray) -> None:
        change = np.zeros(len(self.v))
        change[face] = to - self.v[face]
        self.v[face] = to
        self._slope = self._slope + self.product(change)


def minimise(
    model: Quadratic, tolerance: float, most_work: float, ridge: float, ended: Callable[[], bool],
    matrix: Callable[[], np.ndarray] | None = None, matrix_work: float = np.inf,
) -> tuple[Quadratic, float]:  # fmt: skip
    """Lower q until violations are within the tolerance, or about `most_work` is done, or turns gain little.

    matrix: computes H; once turns have taken or are about to take `matrix_work`, that of H, they go on with it.
    Returns the model that they ended with, and the ridge for the next one.
    """
    begun, spent, first = model, 0.0, model.value
    last = first
    while model.descend(tolerance) > tolerance:
        if spent + model.work >= most_work or ended():
            break
        if matrix is not None and model.work + model.step_work >= matrix_work:
            spent, H, matrix = model.work + matrix_work, matrix(), None
            model = MatrixQuadratic(H, model.g, model.w, model.penalty, model.v)
        ridge = model.move_together(ridge, ended)
        value = model.value
        if last - value <= MIN_FALL_SHARE * (first - value):
            break
        last = value
    if model is not begun:
        model.work, model.faces, model._count = (
            model.work + spent,
            model.faces + begun.faces,
            model._count + begun._count,
        )
    return model, ridge
