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

from svmtool import limits
from svmtool.compiled.loops.rows import class_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.linalg.systems import CALLS_NS, COPY_NS, FACTOR_NS, GRAM_NS, Factored, KernelCache
from svmtool.objectives.base import Objective
from svmtool.objectives.class_rows import ClassRows, ClassTask
from svmtool.tolerances import SIGMA_MAX, USUAL_PRODUCTS

CLASS_STATE_SUMS = 7  # sums that the loop of the state returns for each block of rows
MAX_CLASS_ORDER = 2000  # largest order of a system: 32 MB, and three times that while it is formed
# Nanoseconds, measured on eight shapes of 400 to 5000 rows, 100 to 20000 features and 3 to 77 classes: a product per
# non-zero and class (0.7 to 2)
CLASS_VISIT_NS = 0.8
MASK_COPIES = 3.0  # passes over the system's entries, relative to copying a matrix once


def step_cost(rows: ClassRows, active: int, products: int = USUAL_PRODUCTS) -> float:
    """Approximate nanoseconds of a Newton step by conjugate gradients; active: rows not at a vertex."""
    return products * CLASS_VISIT_NS * active * _length(rows) * rows.wide


def system_cost(rows: ClassRows, active: int, faces: int) -> float:
    """Approximate nanoseconds of `face`; infinite where the system is too large."""
    if faces > MAX_CLASS_ORDER:
        return np.inf
    system = FACTOR_NS * faces**3 + MASK_COPIES * COPY_NS * faces * faces
    return CALLS_NS + GRAM_NS * active * active * _length(rows) + system


def _length(rows: ClassRows) -> float:
    """Mean number of non-zeros in a row of the data."""
    return rows.base.nnz / max(rows.base.n, 1)


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
        self._curved_rows: _CurvedRows | None = None
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
        self._curved_rows = None
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
        self._seen[:] = self.c
        H = np.zeros((d, k, d, k))
        blocks = H.transpose(1, 3, 0, 2)
        blocks[first, second] = -self.sigma * (self._pairs + np.triu(self._pairs, 1).transpose(0, 2, 1))
        blocks[second, first] = blocks[first, second]
        blocks[np.arange(k), np.arange(k)] = -blocks.sum(axis=1)
        H = H.reshape(self.d, self.d)
        H.flat[:: self.d + 1] += 1.0
        return H

    def _changed_since(self) -> np.ndarray:
        """Numbers of the rows whose face differs from that in the Gram matrices."""
        return np.flatnonzero((self.c != self._seen).reshape(-1, self.wide).any(axis=1))

    @property
    def faces(self) -> int:
        """Total number of classes in faces that are not vertices: the order of the system in `face`."""
        return int(np.count_nonzero(self.c))

    @property
    def has_dual_system(self) -> bool:
        """Whether the dual system costs less than conjugate gradients with as many products as the last time."""
        return self.dual_system_cheaper or self.face_cost < self.step_cost(max(USUAL_PRODUCTS, self.products))

    @property
    def dual_system_cheaper(self) -> bool:
        """See Objective; also true where all rows are at vertices."""
        return self.face_cost < FACTOR_NS * float(self.d) ** 3

    @property
    def face_cost(self) -> float:
        return system_cost(self.rows, self.active, self.faces)

    def step_cost(self, products: int) -> float:
        """Approximate nanoseconds of a Newton step with this many products; 0: by the dual system, or no step yet."""
        if products:
            return step_cost(self.rows, self.active, products)
        return min(step_cost(self.rows, self.active), self.face_cost)

    def face(self, used: np.ndarray) -> np.ndarray:
        """The flat W that minimises the quadratic piece of the last value, of which some row must not be at a vertex.

        `used` is not read.  On a piece the face F_i of the simplex (the classes with p_im > 0) of each row is fixed,
        and f is quadratic.  Its minimiser is

            W = V - sum_i x_i a_i',  a_i / (sigma C_i) + P_i sum_j (x_i.x_j) a_j = P_i r_i,
            r_i = V'x_i + [m != y_i] + (beta_i - p_i) / sigma

        with V the weights of the current p_i, P_i v = v - mean(v) on F_i and 0 elsewhere, and a_i / C_i the change of
        p_i.  This is one positive definite system with an unknown for each class of each face.
        """
        if self._kernel is None:
            self._kernel = KernelCache(self.base)
        wide = self.wide
        shares = self.c.reshape(-1, wide)
        used, K = self._kernel.block(np.flatnonzero(shares.any(axis=1)))
        at, number = np.nonzero(shares[used])  # row (place in `used`) and class of each unknown, by rows
        first, size = np.flatnonzero(np.r_[True, at[1:] != at[:-1]]), np.bincount(at)
        places, cost = used[at] * wide + number, self.cost[used[at]]

        def centred(v: np.ndarray) -> np.ndarray:
            """P v along the first axis, in place."""
            v -= np.repeat((np.add.reduceat(v, first).T / size).T, size, axis=0)
            return v

        V, scores = self.rows.transpose_product(-self.u), np.empty(self.n)
        self.rows.margins(V, self.y, scores)
        others = number != self.number[used[at]]
        p = np.where(others, 0.0, 1.0) + self.u[places] / cost
        right = scores[places] + others + (self.beta[places] - p) / self.sigma
        limits.check()
        K += np.tril(K, -1).T - np.triu(K, 1)  # fill the upper triangle
        H = K[np.ix_(at, at)]
        H[number[:, None] != number] = 0.0
        centred(centred(H).T)
        H.flat[:: len(H) + 1] += 1.0 / (self.sigma * cost)
        # P_i projects out the mean, of which a_i has none: make that part regular
        for i, lo in enumerate(first.tolist()):
            own = slice(lo, lo + int(size[i]))
            H[own, own] += K[i, i] / size[i]
        limits.check()
        part = np.zeros(self.n)
        part[places] = centred(Factored(H).solve(centred(right)))
        return V - self.rows.transpose_product(part)

    def _curvature_product(self, t: np.ndarray) -> np.ndarray:
        """sigma sum_i C_i x_i (P_i t_i)', flat, P_i the projector on differences within F_i; overwrites t."""
        call = loops.class_curvature.bind(t, self.c, self.cost)
        self.rows.for_each_block(lambda lo, hi: call(self.k, self.wide, lo, hi))
        return self.sigma * self.rows.transpose_product(t)

    @property
    def curved_rows(self) -> _CurvedRows:
        """The rows not at a vertex at the last value."""
        if self._curved_rows is None:
            self._curved_rows = _CurvedRows(self)
        return self._curved_rows

    def hessian_product(self, v: np.ndarray) -> np.ndarray:
        return self.sigma * self.curved_rows.product(v) + v

    def hessian_diagonal(self) -> np.ndarray:
        c = self.c.reshape(-1, self.wide)
        columns = [self.base.diagonal(self.cost * (c[:, m] > 0.0) * (1.0 - c[:, m])) for m in range(self.k)]
        return 1.0 + self.sigma * np.stack(columns, axis=1).reshape(-1)

    def dual_point(self) -> np.ndarray:
        """The dual point with value `bound`, `wide` numbers for each row."""
        return -self._multiple * self.u

    def value_at_zero(self) -> float:
        """f(0), for two or more classes."""
        return float(np.sum(self.cost))

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


class _CurvedRows:
    """A copy of the rows not at a vertex, over which products with the Hessian are computed."""

    def __init__(self, objective: CrammerSingerLoss):
        curved = np.flatnonzero(objective.c.reshape(-1, objective.wide).any(axis=1))
        self.rows = ClassRows(objective.base.take(curved), objective.k)
        self.share = objective.c.reshape(-1, objective.wide)[curved].reshape(-1)
        self.t, self.y = np.empty(self.rows.n), objective.y
        self.cost = objective.cost[curved]
        self._curve = loops.class_curvature.bind(self.t, self.share, self.cost)

    def product(self, v: np.ndarray) -> np.ndarray:
        """sum_i C_i x_i (P_i V'x_i)', flat."""
        self.rows.margins(v, self.y, self.t)
        self.rows.for_each_block(lambda lo, hi: self._curve(self.rows.k, self.rows.wide, lo, hi))
        return self.rows.transpose_product(self.t)
