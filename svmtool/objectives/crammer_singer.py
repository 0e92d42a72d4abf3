"""The Crammer-Singer loss in an augmented Lagrangian.

    h_i(W) = max over p in the simplex of  p.g_i - w_{y_i}.x_i,   g_im = w_m.x_i + [m != y_i]

With multipliers beta_i (a point of the simplex for each row) and sigma it becomes the smooth

    max over p of  p.g_i - w_{y_i}.x_i - |p - beta_i|^2 / (2 sigma),   p = the point nearest to beta_i + sigma g_i

(its Moreau envelope, as phi of augmented.py is that of the hinge).  p are the next multipliers and always a feasible
dual point a_im = C_i ([m = y_i] - p_im).  The Hessian is I + sigma sum_i C_i x_i x_i' (x) (I_F - 11'/|F|), F the
classes with p_im > 0.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.rows import class_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.linalg.systems import mirror
from svmtool.objectives.base import Objective
from svmtool.objectives.class_rows import ClassRows, ClassTask
from svmtool.tolerances import SIGMA_MAX

CLASS_STATE_SUMS = 7  # sums that the loop of the state returns for each block of rows


class CrammerSingerLoss(Objective):
    """The smoothed problem of a ClassTask, with the interface of augmented.Augmented; see Objective.

    u, c, beta: `wide` numbers for each row; c_im is 1 / |F_i| for classes m in F_i if F_i has two or more, else 0.
    """

    p = 1.0
    line_search_share = 0.1
    rows: ClassRows

    def __init__(self, task: ClassTask):
        self.k, self.number = task.k, task.number
        rows = ClassRows(task.rows, task.k)
        super().__init__(rows, np.ones(0), task.cost)
        self.wide, self.base, self.sigma, self.primal = rows.wide, rows.base, 1.0, np.inf
        self.beta = np.zeros(self.n)
        self.beta[np.arange(self.base.n) * self.wide + self.number] = 1.0
        self._pairs: np.ndarray | None = None
        self._multiple = 1.0

    def _prepare(self) -> None:
        super()._prepare()
        blocks = len(self.rows.blocks)
        self._seen = np.zeros(self.n)
        self._sums, self._slopes = np.zeros((blocks, CLASS_STATE_SUMS)), np.zeros((blocks, 2 + self.wide))
        states = self.z, self.number, self.cost, self.beta, self.u, self.c
        line_searches = self.z, self.dz, self.number, self.cost, self.beta
        self._states = [loops.class_state.bind(*states, sums) for sums in self._sums]
        self._line_searches = [loops.class_line_search.bind(*line_searches, out) for out in self._slopes]

    def sums(self) -> list[float]:
        blocks = self.rows.blocks
        run_blocks(lambda b: self._states[b](self.sigma, self.k, self.wide, *blocks[b]), len(blocks))
        return self._sums.sum(axis=0).tolist()

    def _set_sums(self, sums: list[float]) -> float:
        smooth, loss, self._linear, self.moved, support, changed, active = sums
        self.support, self.changed, self.active = int(support), int(changed), int(active)
        self.primal = loss + 0.5 * float(self.w @ self.w)
        return smooth

    def along(self, t: float) -> np.ndarray:
        blocks = self.rows.blocks
        run_blocks(lambda b: self._line_searches[b](t, self.sigma, self.k, self.wide, *blocks[b]), len(blocks))
        self._out[:] = self._slopes[:, :2].sum(axis=0)
        return self._out

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        square = float(g @ g)
        s = self._multiple = min(1.0, self._linear / square) if square > 0.0 else 1.0
        return s * (self._linear - 0.5 * s * square)

    def hessian(self) -> np.ndarray:
        """See Objective.  The Hessian is a block Laplacian, with C_i / |F| as the weight of each pair of classes in F.

        It is assembled from one Gram matrix for each pair of classes, which are updated by the rows that changed.
        """
        k, d = self.k, self.base.d
        first, second = np.tril_indices(k, -1)
        if self._pairs is None or len(self._changed_since()) >= self.active:
            self._pairs = np.zeros((len(first), d, d))
            self._seen[:] = 0.0
        used = self._changed_since()
        rows, change = self.base.take(used), np.empty(len(used))
        now, before = (shares.reshape(-1, self.wide)[used].reshape(-1) for shares in (self.c, self._seen))
        pair_change = loops.class_pair_change.bind(now, before, self.cost[used], change)
        for m, other, pair in zip(first.tolist(), second.tolist(), self._pairs, strict=True):
            if pair_change(m, other, self.wide, len(used)):
                rows.add_gram(change, pair)
                mirror(pair)
        self._seen[:] = self.c
        H = np.zeros((d, k, d, k))
        blocks = H.transpose(1, 3, 0, 2)
        blocks[first, second] = -self.sigma * self._pairs
        blocks[second, first] = blocks[first, second]
        blocks[np.arange(k), np.arange(k)] = -blocks.sum(axis=1)
        H = H.reshape(self.d, self.d)
        H.flat[:: self.d + 1] += 1.0
        return H

    def _changed_since(self) -> np.ndarray:
        """Numbers of the rows whose face differs from that in the Gram matrices."""
        return np.flatnonzero((self.c != self._seen).reshape(-1, self.wide).any(axis=1))

    def _curvature_product(self, t: np.ndarray) -> np.ndarray:
        """sigma sum_i C_i x_i (P_i t_i)', flat, P_i the projector on differences within F_i; overwrites t."""
        call = loops.class_curvature.bind(t, self.c, self.cost)
        self.rows.for_each_block(lambda lo, hi: call(self.k, self.wide, lo, hi))
        return self.sigma * self.rows.transpose_product(t)

    def dual_point(self) -> np.ndarray:
        """The dual point with value `bound`, `wide` numbers for each row."""
        return -self._multiple * self.u

    def primal_value(self) -> float:
        self.value()
        return self.primal

    def best_multiple(self, w: np.ndarray) -> float:
        """See Objective; for f itself, independent of beta and sigma."""
        beta, sigma = self.beta.copy(), self.sigma
        self.beta[:], self.sigma = 0.0, SIGMA_MAX
        t = super().best_multiple(w)
        self.beta[:], self.sigma = beta, sigma
        return t

    def accept(self) -> None:
        """Multiplier step: beta <- p."""
        self.beta[:] = self.multipliers(-self.u)

    def set_multipliers(self, alpha: np.ndarray) -> None:
        """Take a dual point as the multipliers."""
        self.beta[:] = self.multipliers(alpha)

    def multipliers(self, alpha: np.ndarray) -> np.ndarray:
        """p of a dual point; both have `wide` numbers for each row."""
        p = -alpha.reshape(-1, self.wide) / self.cost[:, None]
        p[np.arange(len(p)), self.number] += 1.0
        return p.reshape(-1)

    def gradient_on_pieces(self) -> np.ndarray:
        """The gradient at w after accept() and a new sigma, with every row kept on its face.

        See Augmented: on a face p = beta + sigma P g.
        """
        g = self.rows.transpose_product(self.u) + self.w
        t = self.z + 1.0
        t[np.arange(self.base.n) * self.wide + self.number] -= 1.0
        return g + self._curvature_product(t)

    def projected_range(self, alpha: np.ndarray) -> float:
        """LIBLINEAR's measure for -s 4 at a dual point: the largest max G_i - min {G_im: a_im can increase}."""
        G = np.empty(self.n)
        self.rows.margins(self.rows.transpose_product(alpha), self.y, G)
        G, rows = G.reshape(-1, self.wide)[:, : self.k] + 1.0, np.arange(self.base.n)
        G[rows, self.number] -= 1.0
        can_rise = alpha.reshape(-1, self.wide)[:, : self.k] < 0.0
        can_rise[rows, self.number] = alpha[rows * self.wide + self.number] < self.cost
        return float(np.max(G.max(axis=1) - np.where(can_rise, G, np.inf).min(axis=1), initial=0.0))
