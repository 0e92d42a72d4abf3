"""The quadratic model of proximal_newton.py, as a matrix H or over weighted columns.

    q(v) = g.(v - w) + (v - w)'H (v - w) / 2 + sum_j penalty_j |v_j|

H stands over all weights or over those that can move: a few epochs of coordinate descent over it, then a factorised
system of the non-zero weights, in turn.  A working set that is too large for a matrix: epochs of coordinate descent
over its columns; between them the non-zero weights move together, by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled.loops.loss import l1_loops as loops
from svmtool.linalg.systems import conjugate_gradient, solve_positive
from svmtool.linalg.weighted_columns import WeightedColumns
from svmtool.objectives.l1.interior import CALL_COST
from svmtool.objectives.l1.objective import L1Objective, violations_at
from svmtool.solvers.shared.base import Monitor
from svmtool.tolerances import GRAM_BELOW

SHORT_STEP = 0.5  # a shorter step means that its model is valid only near w
# Logistic loss: a step that reduces the violation to this share keeps its matrix for the next; the matrix may be rough
# until a step lowers f by less than the share ROUGH_DECREASE
KEEP_MATRIX_SHARE, ROUGH_DECREASE = 0.25, 0.01
MATRIX_TOLERANCE = 0.03  # tolerance of the model's solution, as share of the largest violation
MIN_TOLERANCE = 1e-13  # least tolerance of it, as share of the largest slope
MODEL_EPOCHS, MAX_FACES = 20, 50  # epochs on the model between two factorised systems, and most such systems
RIDGE_SHARE = 1e-10  # relative increase of their diagonals: dependent columns make them singular
NEWTON_STALL_STEPS = 3  # round-off: ends after this many steps that decrease neither f nor, sufficiently, the gap
MAX_MOVABLE_SHARE = 0.25  # share of the weights up to which dense rows form a matrix over the movable weights only
PROJECTED_FACTOR = 0.3  # factor of the step length in the projected search of face_step
LARGE_FACE_WEIGHTS = 64  # weights from which on losing them one by one is expensive
RIDGE_STEP, RIDGE_MAX = 10.0, 0.1  # factor of the ridge after steps shorter than SHORT_FACE, and the largest ridge
SHORT_FACE = 0.1
# A full step that misses the tolerance was shortened by the ridge: it falls by RIDGE_FALL, to RIDGE_MIN at least
RIDGE_FALL, RIDGE_MIN = 0.1, 1e-15
# MATRIX_TOLERANCE for models of the logistic loss while a step reduces f by more than FAR_DECREASE.  Compared with
# MATRIX_TOLERANCE throughout on eleven sets with 100 to 620 features (madelon, dna, w8a, adult.raw, connect-4,
# mushrooms, a9a, gas-drift, kdd99, isolet1, a sample of tdt2; -s 6, mostly C = 1 and 100, CPU time): 0.62 to 1.05 times
# the time; the certified gap was smaller or the same except on connect-4 (5e-5 to 2e-4) and mushrooms (2e-7 to 4e-5).
# With the squared hinge w8a took four times as long.
LOOSE_TOLERANCE, FAR_DECREASE = 0.5, 1e-3
# While a step reduces f by more than STEEP_DECREASE, each weight's violation counts by its own curvature: a feature of
# small values may lag behind, which would take many epochs otherwise.  Ten sets (madelon, dna, mushrooms, w8a,
# adult.raw, a9a, gas-drift, kdd99, connect-4, isolet1; -s 5 and 6, C = 1 and 100): 0.96 of the time in geometric mean
# (0.8 to 1.1 of those above a second), gaps as before; from a start far away with C = 1e6 a fifth of it.  With a
# STEEP_DECREASE of 0.1 or less some end with a gap of 0.1 or more, where that was 1e-3
STEEP_DECREASE = 0.3
# A model of more than LARGE_FACE_WEIGHTS weights ends once a turn of epochs and systems has lowered it by no more
# than this share of its fall so far.  Those ten sets: 0.88 of the time of the 12 runs above a second in geometric
# mean (0.59 to 1.07), no gap above 1e-3 that was not; 295 rows of 36 classes at C = 1e6: a quarter
MIN_FALL_SHARE = 0.1
FACE_CALLS, FACE_SQUARES = 6, 10  # work of a face without its factorised system: calls, and products with its matrix
RIDGE_FACES = MAX_FACES // 4  # faces solved with such a ridge, which only delays steps near the minimum
MATRIX_WORK = 0.1  # of a step with a matrix without its products with the rows, for each feature

# Models over columns
MIN_SET_SIZE = 200  # least size of a working set
TIGHT_TOLERANCE = 0.03  # at the end: LOOSE_TOLERANCE at first, halved each time that epochs alone reached it
COLUMN_EPOCHS = 5  # over columns between two systems
# A step shorter than SHORT_STEP is followed by DESCENT_EPOCHS epochs on f itself (hinge), twice as many each time, up
# to MAX_DESCENT_EPOCHS; they end once DESCENT_SHARE of the violation is left
DESCENT_EPOCHS, MAX_DESCENT_EPOCHS, DESCENT_SHARE = 5, 5120, 0.03
# While steps lower f by FAR_DECREASE a model has one system, by FAR_CG_STEPS steps of CG, to MODEL_CG_RTOL;
# later by CG_STEPS, twice as many each time the solution changes no sign, and as many systems as take MODEL_WORK of the
# run's work so far, or MIN_WORK
FAR_CG_STEPS, MODEL_CG_RTOL, CG_STEPS = 8, 0.03, 15
MODEL_WORK, MIN_WORK = 0.5, 100.0
# Ridge of these at first (`next_ridge`).  Gap at the end by -e for one class at C = 100, with 1e-3 / 1e-5 at first: -s
# 6 farm-ads .026 / .0026, polarity2 7e-4 / 2e-5, dorothea 4e-4 / 2e-4, tdt2 4e-4 / 3e-4, la12 .004 / .010, madelon 5e-4
# both; -s 5 la12 .025 / .017, polarity2 .095 / .007, tdt2 .051 / .041, dorothea .002 both.  With the ridge of a matrix
# throughout conll2000 .0045 where 1e-4 at first had .0013 (-s 6)
RIDGE_FIRST = 1e-5
LATE_VIOLATION = 0.003  # largest violation from which a working set that is small enough has its model as a matrix too


def matrix_fits(d: int) -> bool:
    """Whether d weights are few enough for a matrix."""
    return d <= GRAM_BELOW


class MatrixModel:
    """The model as a matrix; epochs f8[2]: epochs of the last model, and multiplications (see step_of_matrix).

    held: whether that was the matrix of `L1Objective.hessian`; max_work: multiplications from which on a model is left
    as it is then.
    """

    max_work = np.inf

    def __init__(self, objective: L1Objective, monitor: Monitor):
        self.objective, self.monitor = objective, monitor
        self.epochs, self.held = np.zeros(2), False
        self._H: np.ndarray | None = None  # the last matrix over all weights, and the violation where it was used
        self._largest = np.inf

    @property
    def work(self) -> float:
        """Of a step, without its products with the rows."""
        return MATRIX_WORK * self.objective.d

    def went_short(self) -> None:
        """Note that the step to the model's minimiser was shortened; another one follows."""

    def step(self, g: np.ndarray, violations: np.ndarray, fall: float, short: bool, work: float) -> np.ndarray:
        """p = v - w from the model over all weights, or over those that its slope moves where these are few.

        fall: share of f by which the last step lowered it; short: whether that step was shorter than SHORT; work: the
        run's so far.
        """
        o, largest = self.objective, float(violations.max())
        self.epochs[:] = 0.0
        some = (o.w != 0.0) | (violations > 0.0)
        some[o.rows.n_features :] = True
        self.held = False
        if o.rows.gram_of_few and np.count_nonzero(some) <= MAX_MOVABLE_SHARE * o.d:
            p, chosen = np.zeros(o.d), np.flatnonzero(some)
            H, part = o.part_of_hessian(chosen), (g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen])
            p[chosen] = step_of_matrix(H, *part, self.epochs, self.monitor, max_work=self.max_work, fall=fall)
            return p
        if self._H is None or not o.logistic or largest > KEEP_MATRIX_SHARE * self._largest:
            self._H = o.hessian(fall > ROUGH_DECREASE)
        self._largest, self.held = largest, True
        loose = o.logistic and fall > FAR_DECREASE
        part = g, o.w, o.penalty, violations
        return step_of_matrix(self._H, *part, self.epochs, self.monitor, loose, self.max_work, fall)


def step_of_matrix(
    H: np.ndarray, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, violations: np.ndarray, epochs: np.ndarray,
    monitor: Monitor, loose: bool = False, max_work: float = np.inf, fall: float = 0.0, little: float = MIN_FALL_SHARE,
) -> np.ndarray:  # fmt: skip
    """p = v - w for the minimiser v of the model with the matrix H, or for what `max_work` multiplications found.

    epochs[0] += epochs, epochs[1] += about the multiplications of epochs and systems.  loose: whether a less accurate
    minimiser is sufficient; fall: share of f by which the last step lowered it; little: MIN_FALL_SHARE.
    """
    v, slope = w.copy(), g.copy()
    size = np.sqrt(np.maximum(H.diagonal(), 0.0))
    used = size > 0.0
    least = MIN_TOLERANCE * float(np.abs(g).max())
    share = LOOSE_TOLERANCE if loose and len(v) > LARGE_FACE_WEIGHTS else MATRIX_TOLERANCE
    largest = np.full(len(v), violations.max(initial=0.0))
    if np.any(used):  # also for features of small values: the model decreases by violation^2 / (2 H_jj)
        np.minimum(largest, float((violations[used] / size[used]).max()) * size, out=largest, where=used)
    tolerance = max(share * float(largest.min(initial=np.inf)), least)
    ridge = RIDGE_SHARE
    done, first = epochs[0], float(penalty @ np.abs(w))
    last = first
    for k in range(MAX_FACES):
        if loops.gram_epochs(H.reshape(-1), v, slope, penalty, epochs, MODEL_EPOCHS, tolerance) <= tolerance:
            break
        steep = fall > STEEP_DECREASE and len(v) > LARGE_FACE_WEIGHTS
        if steep and np.all(violations_at(v, slope, penalty) <= np.maximum(share * largest, least)):
            break
        before = len(v) + 1
        while np.count_nonzero(v) < before and epochs[1] < max_work:  # a step that ends at a zero leaves a smaller face
            before = np.count_nonzero(v)
            face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
            face_gradient = slope[face] + penalty[face] * np.sign(v[face])
            part = np.ascontiguousarray(H[np.ix_(face, face)])
            part.flat[:: len(face) + 1] *= 1.0 + ridge
            q = -solve_positive(part, face_gradient)
            v[face], t = face_step(v[face], q, penalty[face], face_gradient, lambda x, part=part: float(x @ part @ x))
            if len(face) > LARGE_FACE_WEIGHTS and k < RIDGE_FACES:
                ridge = next_ridge(ridge, t)
            else:
                ridge = max(RIDGE_FALL * ridge, RIDGE_MIN) if t == 1.0 else RIDGE_SHARE
            slope = g + H @ (v - w)
            epochs[1] += FACE_CALLS * CALL_COST + FACE_SQUARES * len(face) ** 2 + len(face) ** 3 / 6.0
        if monitor.ended() or epochs[1] >= max_work:
            break
        value = 0.5 * float((g + slope) @ (v - w)) + float(penalty @ np.abs(v))
        if len(v) > LARGE_FACE_WEIGHTS and last - value <= little * (first - value):
            break
        last = value
    epochs[1] += CALL_COST + (epochs[0] - done) * len(v) * max(1, np.count_nonzero(v))
    return v - w


def next_ridge(ridge: float, t: float) -> float:
    """The share of its diagonal that is added to the next system of a face, after a step of length t.

    Where columns depend on each other, as where they are more than rows, a step to the minimum of the face goes far
    away, and the first weight that reaches zero ends it at once; a larger ridge bends it.
    """
    if t < SHORT_FACE:
        return min(ridge * RIDGE_STEP, RIDGE_MAX)
    return max(ridge / RIDGE_STEP, RIDGE_SHARE) if t == 1.0 else ridge


def face_step(
    v: np.ndarray, q: np.ndarray, penalty: np.ndarray, face_gradient: np.ndarray,
    curvature: Callable[[np.ndarray], float],
) -> tuple[np.ndarray, float]:  # fmt: skip
    """The best of a few points in the direction q from the weights v of a face, and the length of the step to it.

    These are the minimum on that line, and points on the path on which weights that reach zero stay there: that path
    loses all weights that are too many at once, the search direction one after the other.
    face_gradient: the slope at v with that of |v|; curvature(x): x'Hx.
    """
    new, along = v.copy(), curvature(q)
    t = loops.l1_face_step(new, q, penalty, float(face_gradient @ q), along)
    if t == 1.0:
        return new, t
    step = new - v
    linear = float((face_gradient - penalty * np.sign(v)) @ step + penalty @ (np.abs(new) - np.abs(v)))
    best, length = linear + 0.5 * t * t * along, 1.0
    while length > t:
        other = v + length * q
        other[(other * v <= 0.0) & (penalty > 0.0)] = 0.0
        step = other - v
        if float(face_gradient @ step) + 0.5 * curvature(step) < best:
            return other, length
        length *= PROJECTED_FACTOR
    return new, t


def working_set(used: np.ndarray, violations: np.ndarray, limited: bool = True) -> np.ndarray:
    """The weights `used` (bool[d], changed) and as many others, those with the largest violations; i8, ascending.

    limited: whether no more than as many enter.
    """
    more = max(MIN_SET_SIZE, int(np.count_nonzero(used)))
    outside = np.flatnonzero(~used & (violations > 0.0))
    if limited and len(outside) > more:
        outside = outside[np.argpartition(-violations[outside], more)[:more]]
    used[outside] = True
    return np.flatnonzero(used)


class ColumnsModel:
    """The model over columns of a working set; epochs f8[2]: conjugate gradients count too; see step_of_matrix."""

    held = False  # see MatrixModel: this one makes no matrix over all weights
    max_work = np.inf

    def __init__(self, objective: L1Objective, monitor: Monitor):
        self.objective, self.monitor = objective, monitor
        self.epochs = np.zeros(2)
        self._share = 1.0  # numbers of the working set, as share of all: what a pass over it costs
        self._loose, self._ridge, self._descent = LOOSE_TOLERANCE, RIDGE_FIRST, DESCENT_EPOCHS

    @property
    def work(self) -> float:
        """Of the last step, without its products with all rows and with the working set."""
        return self._share * float(self.epochs[0])

    def went_short(self) -> None:
        """Note that the step to the model's minimiser was shortened; another one follows."""
        self._descent = min(2 * self._descent, MAX_DESCENT_EPOCHS)
        self._loose = LOOSE_TOLERANCE

    def step(self, g: np.ndarray, violations: np.ndarray, fall: float, short: bool, work: float) -> np.ndarray:
        """p = v - w from the model over a working set; the others stay zero.  See MatrixModel.step."""
        o = self.objective
        self.epochs[:] = 0.0
        chosen = working_set((o.w != 0.0) | (o.penalty == 0.0), violations)
        if short and (p := o.descend(chosen, self.epochs, self._descent, DESCENT_SHARE)) is not None:
            return p
        p, columns = np.zeros(o.d), o.columns().weighted(chosen, o.c)
        self._share = columns.nnz / max(o.columns().nnz, 1)
        part = g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen]
        if float(violations.max()) <= LATE_VIOLATION and matrix_fits(len(chosen)):
            p[chosen] = step_of_matrix(columns.gram(), *part, self.epochs, self.monitor, max_work=self.max_work)
        else:
            p[chosen] = self._step_of_columns(columns, *part, fall, work)
        return p

    def _step_of_columns(
        self, columns: WeightedColumns, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, violations: np.ndarray,
        fall: float, work: float,
    ) -> np.ndarray:  # fmt: skip
        """p = v - w for the minimiser v of the model with these columns."""
        v, r, diagonal = w.copy(), np.zeros(columns.n), columns.square_norms
        tolerance = max(self._loose * float(violations.max()), MIN_TOLERANCE * float(np.abs(g).max()))
        cg_steps, max_work = FAR_CG_STEPS, 0.0
        if fall <= FAR_DECREASE:
            cg_steps, max_work = CG_STEPS, max(MIN_WORK, MODEL_WORK * work) / max(self._share, 1e-300)
        first = True
        while columns.epochs(g, penalty, v, r, self.epochs, COLUMN_EPOCHS, tolerance) > tolerance:
            if not first and (self.epochs[0] >= max_work or self.monitor.ended()):
                break
            first = False
            face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
            part = columns.take(face)
            face_gradient = g[face] + part.products(r) + penalty[face] * np.sign(v[face])
            small = self._ridge * diagonal[face] + 1e-300
            q, steps, _ = conjugate_gradient(
                lambda x, part=part, small=small: part.products(part.sum(x)) + small * x, -face_gradient,
                diagonal[face] + small, MODEL_CG_RTOL, cg_steps, self.monitor.ended,
            )  # fmt: skip
            self.epochs[0] += 2 * steps
            before = v[face]
            v[face], t = face_step(before, q, penalty[face], face_gradient, part.curvature)
            r += part.sum(v[face] - before)
            self._ridge = next_ridge(self._ridge, t)
            if t == 1.0 and steps == cg_steps:  # the face is right: what is left is the linear system
                cg_steps *= 2
        if first:
            self._loose = max(0.5 * self._loose, TIGHT_TOLERANCE)
        return v - w
