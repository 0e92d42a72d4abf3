"""The smoothed hinge of NESVM with a kernel, over coefficients of the kernel's columns and a free bias.

    F_mu(c, b) = 1/2 c'Kc + max over 0 <= u <= 1 of  sum_i C_i (u_i xi_i - mu/2 (u_i - u0_i)^2)

f = K c,  xi_i = 1 - y_i (f_i + b).  The maximum is at u_i = median{u0_i + xi_i / mu, 0, 1}, and the gradient, in the
metric of K, is c - y C u.
Newton's step in that metric is least squares over the rows Z with 0 < u_i < 1, the others' c at their bounds:
(K_ZZ + mu / C) d + b = r.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss import smoothed_loops as loops
from svmtool.kernels.conjugate import Conjugate
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.linalg.systems import Factored

MAX_FACTORISED_ROWS = 2048  # rows in Z whose system is factorised; with more, conjugate gradients
SMOOTHED_CG_RTOL, SMOOTHED_CG_STEPS = 1e-2, 100  # of CG: residuals relative to the first, and steps at most
BALANCE_ROUNDS, BALANCE_RTOL = 20, 1e-15  # rounds at most to make the slopes sum to 0, to within this relative error
BIAS_DIRECTION = np.ones(1)  # change of the decision values with b


class SmoothedHinge:
    """F_mu at c and b, starting at the point of a Decomposition; `update_state` sets that point and u0 to the slopes.

    direct: rows in Z up to which the system is factorised; with more, conjugate gradients run until residuals are
    `rtol` times the first.
    """

    def __init__(
        self, state: Decomposition, cache_mb: float, direct: float = MAX_FACTORISED_ROWS, rtol: float = SMOOTHED_CG_RTOL
    ):
        self.state, self.cache_mb, self.direct, self.rtol = state, cache_mb, direct, rtol
        p = state.problem
        self.points = p.points
        self.y, self.C = p.y, p.upper
        self.c, self.f = self.y * state.a, state.f.copy()
        self.known_f = state.f
        self.b = 0.0
        self.begin(1.0)

    def begin(self, mu: float) -> None:
        """Begin a new F_mu with the slopes of the state as u0."""
        a, state = self.state.a, self.state
        self.mu = mu
        self.u0 = np.divide(a, self.C, out=np.zeros(len(a)), where=self.C > 0.0)
        self.f += state.f - self.known_f  # corrections of round-off since then
        self.known_f = state.f
        self.b = self.best_bias()

    def slopes(self, b: float) -> np.ndarray:
        """y C u, f8[n], at c and b."""
        return self._slopes(self.f + b)

    def _slopes(self, decisions: np.ndarray) -> np.ndarray:
        return self.y * self.C * np.clip(self.u0 + (1.0 - self.y * decisions) / self.mu, 0.0, 1.0)

    def best_bias(self) -> float:
        """The b that minimises F_mu at c: where the slopes sum to zero."""
        at = self.y - self.f
        low, high = float(np.min(at)) - 2.0 * self.mu, float(np.max(at)) + 2.0 * self.mu
        return self._root(self.f, BIAS_DIRECTION, 0.0, 0.0, self.b, low, high)

    def _root(
        self, at: np.ndarray, along: np.ndarray, slope: float, curve: float, start: float, low: float, high: float
    ) -> float:
        """The root t of slope + t curve - slopes'along at decision values at + t along, between low and high."""
        return loops.smoothed_root(at, along, self.y, self.C, self.u0, self.mu, slope, curve, start, low, high)

    def newton(self) -> tuple[np.ndarray, float, int]:
        """Return Newton's step: the change of c, f8[n], that of b, and the number of rows in Z."""
        goal = self.slopes(self.b)
        u = np.abs(goal) / np.where(self.C > 0.0, self.C, 1.0)
        Z = np.flatnonzero((u > 0.0) & (u < 1.0))
        d = goal - self.c
        d[Z] = 0.0
        if not len(Z):
            return d, 0.0, 0
        f = self.f.copy()
        self._add(d, f)
        D = self.mu / self.C[Z]
        r = self.y[Z] + self.mu * self.u0[Z] * self.y[Z] - D * self.c[Z] - f[Z]
        d[Z], b = self._system(Z, D, r, -float(np.sum(self.c)) - float(np.sum(d)))
        return d, b - self.b, len(Z)

    def _system(self, Z: np.ndarray, D: np.ndarray, r: np.ndarray, total: float) -> tuple[np.ndarray, float]:
        """Solve (K_ZZ + D) d + b = r, sum d = total; SvmtoolError if the matrix is not positive definite."""
        m = len(Z)
        if m <= self.direct:
            K = np.empty((m, m), np.float32)
            self.state.rows.block(Z, K)
            H = K.astype(np.float64)
            H.flat[:: m + 1] += D
            # a matrix that needs a larger shift than its round-off is indefinite, and the step leads to no minimum
            rounding = self.state.rows.rounding * m * self.state.size**2
            system = Factored(H, np.inf if self.points.kernel.positive else rounding)
            d, one = system.solve(r), system.solve(np.ones(m))
            b = float((np.sum(d) - total) / np.sum(one))  # not a number if the sum is round-off
            return d - b * one, b
        run = Conjugate(LeastSquaresSvc(self.points.take(Z), r, 0.5 / D, True), self.cache_mb)
        at = run.state
        at.c = total * run.along
        at.e = r - run.matrix.product(at.c) - D * at.c
        wanted = self.rtol * float(np.abs(at.residuals()).max())
        while run.count < SMOOTHED_CG_STEPS and float(np.abs(at.residuals()).max()) > wanted and run.run(0.0, 1):
            pass
        return at.c, at.bias()

    def step(self, d: np.ndarray, db: float) -> float:
        """Step to the minimum of F_mu along (d, db), at most a full step; return the step length."""
        Kd = np.zeros(len(d))
        self._add(d, Kd)
        slope, curve = float(np.sum(self.c * Kd)), float(np.sum(d * Kd))
        t = self._root(self.f + self.b, Kd + db, slope, curve, 1.0, 0.0, 1.0)
        self.c += t * d
        self.f += t * Kd
        self.b = self.best_bias()
        return t

    def update_state(self) -> None:
        """Set the state to C u, for which y'a = 0 at the best b."""
        state, goal = self.state, self._balanced(self.slopes(self.b))
        f, a = self.f.copy(), self.y * goal
        self._add(goal - self.c, f)
        change = a - state.a
        state.a, state.f, state.exact, self.known_f = a, f, False, f
        state.drift += float(change @ change)

    def _balanced(self, goal: np.ndarray) -> np.ndarray:
        """The slopes y C u with a sum of 0 to within round-off, as a bias of higher precision would give them.

        If C / mu is large, one rounding of b changes the slopes of Z by more than the remaining sum, and a point with
        sum(y a) != 0 has no dual value.
        """
        for _ in range(BALANCE_ROUNDS):
            u, off = np.abs(goal), float(np.sum(goal))
            cost = np.where((u > 0.0) & (u < self.C), self.C, 0.0)
            total = float(np.sum(cost))
            if abs(off) <= BALANCE_RTOL * float(np.sum(u)) or not total:
                break
            goal = self.y * np.clip(self.y * (goal - off * cost / total), 0.0, self.C)
        return goal

    def _add(self, d: np.ndarray, f: np.ndarray) -> None:
        """f += K d."""
        moved = np.flatnonzero(d)
        if len(moved):
            u = np.abs(self.c[moved])
            self.state.rows.add(moved, d[moved], f, (u > 0.0) & (u < self.C[moved]))
