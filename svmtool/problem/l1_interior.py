"""An interior point for the hinge loss under an L1 norm (LP-SVM), a linear program and its dual at once.

    min |w|_1 + sum_i C_i max(0, xi_i)      max sum_i target_i a_i,  0 <= a_i <= C_i,  |p_j| <= 1 (free bias: p_j = 0)

xi_i = target_i - y_i x_i.w,  p = sum_i a_i y_i x_i.  With w = w+ - w-, slacks xi = above - below, rest = C - a,
qp = 1 - p and qm = 1 + p, the answer is where four products vanish: a below, rest above, w+ qp and w- qm.  On the
central path all of them are mu.  Newton steps towards it predict and correct (Mehrotra, SIAM J. Optim. 2 (1992)
575-601); what they solve is one system in w alone,

    (diag(1 / phi) + X' diag(1 / theta) X) dw = ..,   theta = above / rest + below / a,   phi = w+ / qp + w- / qm

They need some ten to forty, whatever C is.
Memory: 30 vectors of n and of d, d x d twice.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.l1_hinge import L1Columns, balanced
from svmtool.problem.linalg import Factored
from svmtool.problem.task import Task

BEFORE = 0.95  # share of the way to where the first factor vanishes
INSIDE = 1e-3  # a given dual point starts at least so far, of C, from its ends
ROOM = 0.05  # and with at least so much of 1 - |p_j|
REGULAR = 1e-12  # curvature added to each column, beside its own
TINY = 1e-300  # in place of no curvature at all
STUCK = 1e-6  # steps as short as this lead nowhere


class L1Interior:
    """Steps for a task from w (f8[d]) and, where there are any, from a dual point (f8[n]) and its mu.

    After judge(): answer (f8[d], zeros where |w_j| is the factor that vanishes), primal = f there, alpha (f8[n], a dual
    point once it is balanced and shrunk) and bound <= min f, its value then.
    """

    def __init__(self, task: Task, w: np.ndarray, alpha: np.ndarray | None = None, mu: float | None = None):
        self.task, self.whole, rows, cost = task, L1Columns(task), task.rows, task.cost
        self.target, self.m, self.n, self.d = self.whole.target, self.whole.m, rows.n, rows.d
        self.w, self.z = w.copy(), np.empty(rows.n)
        rows.margins(w, task.y, self.z)
        room = 1.0 if alpha is None else ROOM
        self.a = balanced(task, 0.5 * cost) if alpha is None else np.clip(alpha, INSIDE * cost, (1.0 - INSIDE) * cost)
        self.rest = cost - self.a  # kept beside a: near its end a difference would be rounding alone
        mu = 0.5 * float(np.mean(cost)) if mu is None else mu
        self.below = mu / self.a
        self.above = self.target - self.z + self.below
        short = self.above < mu / self.rest
        self.above[short] = (mu / self.rest)[short]
        self.below[short] = (self.above - self.target + self.z)[short]
        self.p = rows.transpose_product(self.a * task.y)
        p, weights = self.p[: self.m], w[: self.m]
        self.qp, self.qm = np.maximum(1.0 - p, room), np.maximum(1.0 + p, room)
        self.wp, self.wm = np.maximum(weights, 0.0) + mu / self.qp, np.maximum(-weights, 0.0) + mu / self.qm
        size = np.sqrt(rows.diagonal(np.full(rows.n, 1.0 / max(rows.n, 1))))[: self.m]
        self.size = np.where(size > 0.0, size, 1.0)
        self.mu = self._mean(0.0, 0.0, None)

    def value_at_zero(self) -> float:
        return self.whole.primal(np.zeros(self.d))

    def _mean(self, primal: float, dual: float, d: _Direction | None) -> float:
        """The mean of all products, after steps of these lengths along d."""
        a, rest, below, above = self.a, self.rest, self.below, self.above
        wp, wm, qp, qm = self.wp, self.wm, self.qp, self.qm
        if d is not None:
            a, rest, qp, qm = a + dual * d.a, rest - dual * d.a, qp + dual * d.qp, qm + dual * d.qm
            below, above = below + primal * d.below, above + primal * d.above
            wp, wm = wp + primal * d.wp, wm + primal * d.wm
        total = float(a @ below) + float(rest @ above) + float(wp @ qp) + float(wm @ qm)
        return total / (2.0 * (len(a) + self.m))

    def step(self) -> bool:
        """One prediction and its correction; False where it leads nowhere."""
        self._theta = self.above / self.rest + self.below / self.a
        self._phi = self.wp / self.qp + self.wm / self.qm
        rows = self.task.rows
        H = np.zeros((rows.d, rows.d))
        rows.add_gram(1.0 / self._theta, H)
        H.flat[:: rows.d + 1] += np.append(1.0 / self._phi, np.zeros(rows.d - self.m))
        # columns of one size: without it rounding makes H singular near the end, where they lie far apart
        self._scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), TINY))
        H *= self._scale
        H *= self._scale[:, None]
        H.flat[:: rows.d + 1] += REGULAR
        self._factored = Factored(H)
        first = self._direction(0.0, None)
        primal, dual = self._lengths(first)
        mu = self._mean(primal, dual, first)
        d = self._direction(mu * (mu / self.mu) ** 2, first)
        primal, dual = (min(1.0, BEFORE * t) for t in self._lengths(d))
        self.w += primal * d.w
        self.z += primal * d.z
        self.below += primal * d.below
        self.above += primal * d.above
        self.wp += primal * d.wp
        self.wm += primal * d.wm
        self.a += dual * d.a
        self.rest -= dual * d.a
        self.p += dual * d.p
        self.qp += dual * d.qp
        self.qm += dual * d.qm
        self.mu = self._mean(0.0, 0.0, None)
        return max(primal, dual) > STUCK and bool(np.isfinite(self.mu))

    def _direction(self, mu: float, first: _Direction | None) -> _Direction:
        """Towards products of mu; the second order is taken from `first`."""
        task, rows, m = self.task, self.task.rows, self.m
        a, rest, wp, wm, qp, qm = self.a, self.rest, self.wp, self.wm, self.qp, self.qm
        below, above, plus, minus = mu, mu, mu, mu
        if first is not None:
            below, above = mu - first.a * first.below, mu + first.a * first.above
            plus, minus = mu - first.qp * first.wp, mu - first.qm * first.wm
        p = self.p[:m]
        off_p, off_m = 1.0 - p - qp, 1.0 + p - qm  # what the slacks of |p_j| <= 1 are wrong by
        d = _Direction()
        below, above = below / a, above / rest
        right = self.target - self.z - above + below
        plus, minus = (plus - wp * off_p) / qp, (minus - wm * off_m) / qm
        g = rows.transpose_product(task.y * right / self._theta)
        g[:m] += (plus - minus - self.w[:m]) / self._phi
        g[m:] += self.p[m:]
        d.w, d.z = self._scale * self._factored.solve(self._scale * g), np.empty(rows.n)
        rows.margins(d.w, task.y, d.z)
        d.a = (right - d.z) / self._theta
        d.p = rows.transpose_product(d.a * task.y)
        d.qp, d.qm = off_p - d.p[:m], off_m + d.p[:m]
        d.below, d.above = below - self.below * (1.0 + d.a / a), above + self.above * (d.a / rest - 1.0)
        wanted = (self.w[:m] + d.w[:m] - plus + minus) / self._phi  # d.p but for rounding, that w = w+ - w- stays
        d.wp, d.wm = plus + wp * (wanted / qp - 1.0), minus - wm * (wanted / qm + 1.0)
        return d

    def _lengths(self, d: _Direction) -> tuple[float, float]:
        """How far the primal and the dual variables can go along d: to 1, or where the first of them vanishes."""
        primal = (self.below, d.below), (self.above, d.above), (self.wp, d.wp), (self.wm, d.wm)
        dual = (self.a, d.a), (self.rest, -d.a), (self.qp, d.qp), (self.qm, d.qm)
        return min(_reach(v, dv) for v, dv in primal), min(_reach(v, dv) for v, dv in dual)

    def judge(self) -> None:
        """answer, primal, alpha and bound."""
        m = self.m
        self.alpha, self.answer = self.a.copy(), self.w.copy()
        a = balanced(self.task, self.a)
        largest = float(np.abs(self.whole.pull(a)).max(initial=0.0))
        self.bound = float(self.target @ a) / max(1.0, largest)
        self.answer[:m][np.abs(self.w[:m]) * self.size < np.minimum(self.qp, self.qm)] = 0.0
        self.primal = self.whole.primal(self.answer)


class _Direction:
    """Changes of L1Interior's variables of the same names."""

    w: np.ndarray
    z: np.ndarray
    a: np.ndarray
    p: np.ndarray
    below: np.ndarray
    above: np.ndarray
    wp: np.ndarray
    wm: np.ndarray
    qp: np.ndarray
    qm: np.ndarray


def _reach(v: np.ndarray, dv: np.ndarray) -> float:
    down = dv < 0.0
    return min(1.0, float(np.min(v[down] / -dv[down], initial=np.inf)))
