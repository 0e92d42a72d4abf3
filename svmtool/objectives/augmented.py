"""Powers of the hinge in an augmented Lagrangian, and losses that have the same smoothed form.

    f(w) = 1/2 w'Rw + sum_i C_i max(0, xi_i)^p,   xi_i = target_i - y_i x_i.w,   1 <= p < 2

Minimising the Lagrangian of the ALM paper (Eq. 7) over e leaves a smooth function of w,

    phi(w) = 1/2 w'Rw + sum_i C_i min_v [ max(0, v)^p + sigma/2 (v - xi_i - beta_i / sigma)^2 - beta_i^2 / (2 sigma^2) ]

(beta_i = |lambda_i| / C_i, sigma = mu / C_i in the paper's letters).  Its slopes C_i b_i are the next multipliers and,
for p = 1, a feasible dual point, so that each evaluation gives a lower bound of min f.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.loss import hinge_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.row_storage import Rows
from svmtool.linalg.systems import FACTOR_NS
from svmtool.objectives.base import Objective
from svmtool.tolerances import MIN_POSITIVE, RIDGE, ROWS_AT_ONCE, SIGMA_MAX

STATE_SUMS = 8  # sums that the loop of the state returns for each block of rows


class Augmented(Objective):
    """phi over `rows`; see Objective.  target: f8[n], None for 1 everywhere.

    beta (f8[n], per unit of cost) and sigma are set by the solver; `accept` takes the slopes as new multipliers.
    After gradient(): primal (f itself at w, not phi), moved (sum C_i (b_i - beta_i)^2), support (rows with b > 0).
    """

    cap = 1.0

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, p: float = 1.0, free_bias: bool = False,
        target: np.ndarray | None = None,
    ):  # fmt: skip
        super().__init__(rows, y, cost, free_bias)
        self.p, self.sigma = p, 1.0
        self.target = np.ones(self.n) if target is None else target
        self.beta = np.zeros(self.n)
        self.primal = np.inf
        self._multiple = 1.0

    @property
    def sharp(self) -> float:
        """The sigma at which phi with beta = 0 stands for f."""
        return SIGMA_MAX / max(float(np.mean(np.abs(self.target))) if self.n else 1.0, MIN_POSITIVE)

    @property
    def scale(self) -> float:
        """With p = 1 sigma scales all curvatures, so the Gram matrix is kept without it."""
        return self.sigma if self.p == 1.0 else 1.0

    def _prepare(self) -> None:
        super()._prepare()
        # rows cost enough for threads only where p > 1
        step = ROWS_AT_ONCE if self.p > 1.0 else max(self.n, 1)
        self._spans = [(lo, min(lo + step, self.n)) for lo in range(0, max(self.n, 1), step)]
        vectors = self.z, self.target, self.cost, self.y, self.beta, self.u, self.c, self._change
        line_search = self.z, self.dz, self.target, self.cost, self.beta
        self._sums, self._slopes = np.zeros((len(self._spans), STATE_SUMS)), np.zeros((len(self._spans), 2))
        self._states = [loops.power_state.bind(*vectors, sums) for sums in self._sums]
        self._line_searches = [loops.power_line_search.bind(*line_search, out) for out in self._slopes]

    def sums(self) -> list[float]:
        run_blocks(lambda b: self._states[b](self.p, self.sigma, self.cap, *self._spans[b]), len(self._spans))
        return np.add.reduce(self._sums).tolist()

    def _set_sums(self, sums: list[float]) -> float:
        smooth, self._loss, self._linear, self.moved, self._conjugate, support, changed, active = sums
        self.support = int(support)
        self._note_change(changed, active)
        self.primal = self._loss + 0.5 * float(self.w @ self.regular(self.w))
        return smooth

    def balanced_sums(self, u: np.ndarray) -> list[float]:
        return [-float((self.target * self.y) @ u)]

    def _balanced_bound(self, g: np.ndarray, sums: list[float]) -> float:
        # conjugates decrease as the dual point shrinks: those of the unbalanced slopes are an upper bound
        self._linear = sums[0]
        return max(self._dual_bound(g, 0.0), 0.0)

    def hessian_product(self, v: np.ndarray) -> np.ndarray:
        g = super().hessian_product(v)
        if self.free_bias:  # keeps the matrix regular where no row is active
            g[-1] += RIDGE * v[-1]
        return g

    def along(self, t: float) -> np.ndarray:
        run_blocks(lambda b: self._line_searches[b](t, self.p, self.sigma, self.cap, *self._spans[b]), len(self._spans))
        return np.add.reduce(self._slopes)

    @property
    def piecewise_quadratic(self) -> bool:
        return self.p == 1.0

    def breakpoint_terms(self) -> tuple:
        """target, beta, scale, width and 1 / sigma of breakpoint_loops.py, if `piecewise_quadratic`."""
        return self.target, self.beta, self.sigma, self.cap / self.sigma, 1.0 / self.sigma

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        # the conjugate C (p - 1) (b / p)^q of C l at C b grows at least quadratically in b, and so does the sum
        quadratic = float(g @ g) + 2.0 * (self.p - 1.0) / self.p * self._conjugate
        s = min(1.0, max(self._linear, 0.0) / quadratic) if quadratic > 0 else float(self._linear > 0.0)
        self._multiple = s
        return s * (self._linear - 0.5 * s * quadratic)

    @property
    def has_dual_system(self) -> bool:
        """Whether Newton systems of the active rows are possible: the rows are in this process."""
        return self.rows.have_kernel

    @property
    def dual_system_cheaper(self) -> bool:
        """See Objective; also defined where no row is active.  The bias must be regularised."""
        return (
            self.p == 1.0 and self.has_dual_system and not self.free_bias
            and self.face_cost < FACTOR_NS * float(self.d) ** 3
        )  # fmt: skip

    def primal_value(self) -> float:
        if self.p > 1.0:
            self.value()
            return self.primal
        slack = np.subtract(self.target, self.z, out=self.dz)
        np.maximum(slack, 0.0, out=slack)
        return 0.5 * float(self.w @ self.regular(self.w)) + float(self.cost @ slack)

    def dual_point(self) -> np.ndarray:
        """The dual point with value `bound`: the best multiple, at most 1, of alpha_i = C_i b_i, f8[n]."""
        return -self._multiple * self.u * self.y

    def best_multiple(self, w: np.ndarray) -> float:
        """See Objective; for f itself, independent of beta and sigma."""
        beta, sigma = self.beta.copy(), self.sigma
        self.beta[:], self.sigma = 0.0, self.sharp
        t = super().best_multiple(w)
        self.beta[:], self.sigma = beta, sigma
        return t

    def projected_range(self, alpha: np.ndarray) -> float:
        """Projected-gradient range of the hinge's dual at alpha, or its distance from zero: LIBLINEAR's measure."""
        z = np.empty(self.n)
        self.rows.margins(self.rows.transpose_product(alpha * self.y), self.y, z)
        z -= self.target
        np.minimum(z, 0.0, out=z, where=alpha <= 0.0)
        np.maximum(z, 0.0, out=z, where=alpha >= self.cost)
        return float(z.max(initial=0.0) - z.min(initial=0.0))

    def set_multipliers(self, alpha: np.ndarray) -> None:
        """Take a dual point (f8[n]) as the multipliers."""
        np.divide(alpha, self.cost, out=self.beta)

    def start_multipliers(self) -> None:
        """beta <- the slopes of the loss at w, which are the multipliers if w is the answer; p > 1."""
        self.beta[:] = self.p * np.maximum(self.target - self.z, 0.0) ** (self.p - 1.0)

    def accept(self) -> None:
        """Multiplier step, Eq. 9: beta <- b."""
        np.multiply(self.u, self.y, out=self.beta)
        self.beta /= self.cost
        np.negative(self.beta, out=self.beta)

    def gradient_on_pieces(self) -> np.ndarray:
        """The gradient at w, after accept() and a new sigma, of phi with every row on the piece that it was on; p = 1.

        Free rows have not moved, but a larger sigma multiplies their last change of multiplier, so that many seem to be
        at a bound.  The minimum over these pieces is near the old one, where most of them are free again.
        """
        u = self.y * self.c
        u *= self.z - self.target
        u *= self.sigma
        u += self.u
        g = self.rows.transpose_product(u)
        g += self.regular(self.w)
        return g


class ModifiedHuber(Augmented):
    """MFN paper, Eq. 21, with C in place of 1 / lambda: C times 0, xi^2 / 2 or 2 (xi - 1) for xi <= 0, < 2, beyond.

    That is phi for the hinge times 2 with beta = 0 and sigma = 1, and stays so: here phi is f.
    """

    cap = 2.0

    @property
    def sharp(self) -> float:
        """See Augmented: here phi is f."""
        return 1.0

    def _set_sums(self, sums: list[float]) -> float:
        smooth = super()._set_sums(sums)
        self.primal += smooth - self._loss
        return smooth

    def primal_value(self) -> float:
        return self.value()

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        return self._linear - 0.5 * float(g @ g) - 0.5 * self.moved

    def _slopes_at_zero(self) -> np.ndarray:
        return -self.cost * self.y * np.clip(self.target, 0.0, self.cap)
