"""The quadratic model of proximal_newton.py over weighted columns of a working set that is too large for a matrix.

Epochs of coordinate descent over the columns; between them the non-zero weights move together, by conjugate gradients.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.fused.fused_l1_loops import INNER_LEAST
from svmtool.linalg.systems import conjugate_gradient
from svmtool.linalg.weighted_columns import WeightedColumns
from svmtool.objectives.l1.objective import L1Objective
from svmtool.solvers.l1.model_matrix import (
    FAR,
    INNER_LOOSE,
    LastStep,
    face_step,
    matrix_fits,
    next_ridge,
    step_of_matrix,
)
from svmtool.solvers.shared.base import Monitor

FIRST_SET = 200  # least size of a working set
INNER_TIGHT = 0.03  # as INNER_MATRIX, of columns: INNER_LOOSE at first and after a short step; halved where ...
# ... epochs alone reached it, down to the latter
EPOCHS_COLUMNS = 5  # over columns between two such systems
PASSES_DESCENT = 5  # a step shorter than SHORT is followed by epochs on f itself (hinge): twice as many, ...
DESCENT_LEFT = 0.03  # ... twice as many each time, or until that share of the violation is left, ...
MOST_DESCENT = 5120  # ... and this many at most
CG_FAR = 8  # as long as a step lowers f by FAR a model has one system, by this many steps of ...
CG_TOLERANCE, CG_STEPS = 0.03, 15  # ... conjugate gradients, to this; later this many, twice as many each time the ...
# ... solution changes no sign, and as many systems as take this share of the run's work so far, or that much work
MODEL_WORK, LEAST_WORK = 0.5, 100.0
RIDGE_FIRST = 1e-5  # RIDGE of such systems at first (model_matrix.next_ridge).  Gap at the end by -e for one class ...
# ... at C = 100, with 1e-3 / 1e-5 at first: -s 6 farm-ads .026 / .0026, polarity2 7e-4 / 2e-5, dorothea 4e-4 / 2e-4,
# ... tdt2 4e-4 / 3e-4, la12 .004 / .010, madelon 5e-4 both; -s 5 la12 .025 / .017, polarity2 .095 / .007,
# ... tdt2 .051 / .041, dorothea .002 both.  With RIDGE throughout conll2000 .0045 where 1e-4 at first had .0013 (-s 6)
LATE = 0.003  # largest violation from which a working set that is small enough has its model as a matrix too


def working_set(used: np.ndarray, violations: np.ndarray, limited: bool = True) -> np.ndarray:
    """The weights `used` (bool[d], changed) and as many others, those with the largest violations; i8, ascending.

    limited: whether no more than as many enter.
    """
    more = max(FIRST_SET, int(np.count_nonzero(used)))
    outside = np.flatnonzero(~used & (violations > 0.0))
    if limited and len(outside) > more:
        outside = outside[np.argpartition(-violations[outside], more)[:more]]
    used[outside] = True
    return np.flatnonzero(used)


class ColumnsModel:
    """epochs f8[2]: epochs of the last model, conjugate gradients counted as epochs too; see step_of_matrix."""

    held = False  # see MatrixModel: this one makes no matrix over all weights
    most = np.inf

    def __init__(self, objective: L1Objective, monitor: Monitor):
        self.objective, self.monitor = objective, monitor
        self.epochs = np.zeros(2)
        self._share = 1.0  # numbers of the working set, as share of all: what a pass over it costs
        self._loose, self._ridge, self._descent = INNER_LOOSE, RIDGE_FIRST, PASSES_DESCENT

    @property
    def work(self) -> float:
        """Of the last step, beside its products with all rows and with the working set."""
        return self._share * float(self.epochs[0])

    def went_short(self) -> None:
        """The step to the model's minimiser was cut short, and another one follows."""
        self._descent = min(2 * self._descent, MOST_DESCENT)
        self._loose = INNER_LOOSE

    def step(self, g: np.ndarray, violations: np.ndarray, last: LastStep) -> np.ndarray:
        """p = v - w from the model over a working set; the others stay zero."""
        o = self.objective
        self.epochs[:] = 0.0
        chosen = working_set((o.w != 0.0) | (o.penalty == 0.0), violations)
        if last.short and (p := o.descend(chosen, self.epochs, self._descent, DESCENT_LEFT)) is not None:
            return p
        p, columns = np.zeros(o.d), o.columns().weighted(chosen, o.c)
        self._share = columns.nnz / max(o.columns().nnz, 1)
        part = g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen]
        if float(violations.max()) <= LATE and matrix_fits(len(chosen)):
            p[chosen] = step_of_matrix(columns.gram(), *part, self.epochs, self.monitor, most=self.most)
        else:
            p[chosen] = self._step_of_columns(columns, *part, last)
        return p

    def _step_of_columns(
        self, columns: WeightedColumns, g: np.ndarray, w: np.ndarray, penalty: np.ndarray, violations: np.ndarray,
        last: LastStep,
    ) -> np.ndarray:  # fmt: skip
        """p = v - w for the minimiser v of the model with these columns."""
        v, r, diagonal = w.copy(), np.zeros(columns.n), columns.square_norms
        enough = max(self._loose * float(violations.max()), INNER_LEAST * float(np.abs(g).max()))
        cg_steps, most = CG_FAR, 0.0
        if last.fall <= FAR:
            cg_steps, most = CG_STEPS, max(LEAST_WORK, MODEL_WORK * last.work) / max(self._share, 1e-300)
        first = True
        while columns.epochs(g, penalty, v, r, self.epochs, EPOCHS_COLUMNS, enough) > enough:
            if not first and (self.epochs[0] >= most or self.monitor.ended()):
                break
            first = False
            face = np.flatnonzero((v != 0.0) | (penalty == 0.0))
            part = columns.take(face)
            pull = g[face] + part.products(r) + penalty[face] * np.sign(v[face])
            small = self._ridge * diagonal[face] + 1e-300
            q, steps, _ = conjugate_gradient(
                lambda x, part=part, small=small: part.products(part.sum(x)) + small * x, -pull,
                diagonal[face] + small, CG_TOLERANCE, cg_steps, self.monitor.ended,
            )  # fmt: skip
            self.epochs[0] += 2 * steps
            before = v[face]
            v[face], t = face_step(before, q, penalty[face], pull, lambda x, part=part: float(np.sum(part.sum(x) ** 2)))
            r += part.sum(v[face] - before)
            self._ridge = next_ridge(self._ridge, t)
            if t == 1.0 and steps == cg_steps:  # the face is right: what is left is the linear system
                cg_steps *= 2
        if first:
            self._loose = max(0.5 * self._loose, INNER_TIGHT)
        return v - w
