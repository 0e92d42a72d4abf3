"""Powers of the hinge under an augmented Lagrangian, and the losses that are one of its smoothed forms.

    f(w) = 1/2 w'Rw + sum_i C_i max(0, xi_i)^p,   xi_i = target_i - y_i x_i.w,   1 <= p <= 2

Minimising the Lagrangian of the ALM paper (Eq. 7) over e leaves a smooth function of w,

    phi(w) = 1/2 w'Rw + sum_i C_i min_v [ max(0, v)^p + sigma/2 (v - xi_i - beta_i / sigma)^2 - beta_i^2 / (2 sigma^2) ]

(beta_i = |lambda_i| / C_i, sigma = mu / C_i in the paper's letters), whose slopes C_i b_i are the next multipliers
and, for p = 1, a feasible dual point as they are: each evaluation gives a lower bound of min f.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import power_loops as loops
from svmtool.problem.objective import Objective
from svmtool.problem.rows import Rows

SUMS = 8


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
        self.exact_curvature = p in (1.0, 2.0)

    @property
    def scale(self) -> float:
        """With p = 1 sigma multiplies the curvature of every row: the Gram matrix need not see it."""
        return self.sigma if self.p == 1.0 else 1.0

    def _prepare(self) -> None:
        super()._prepare()
        self._sums = np.zeros(SUMS)
        self._state = loops.power_state.bind(
            self.z, self.target, self.cost, self.y, self.beta, self.u, self.c, self._change, self._sums
        )
        self._ray_loop = loops.power_ray.bind(self.z, self.dz, self.target, self.cost, self.beta, self._out)

    def _classify(self) -> float:
        self._state(self.p, self.sigma, self.cap, 0, self.n)
        smooth, self._loss, self._linear, self.moved, self._conjugate, support, changed, active = self._sums.tolist()
        self.support = int(support)
        self._note_change(changed, active)
        self.primal = self._loss + 0.5 * float(self.w @ self.regular(self.w))
        return smooth

    def _along(self, t: float) -> None:
        self._ray_loop(t, self.p, self.sigma, self.cap, 0, self.n)

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        # the conjugate of C l at C b is C (p - 1) (b / p)^q: at least a quadratic in b, and so is the whole
        quadratic = float(g @ g) + 2.0 * (self.p - 1.0) / self.p * self._conjugate
        s = min(1.0, max(self._linear, 0.0) / quadratic) if quadratic > 0 else float(self._linear > 0.0)
        self._multiple = s
        return s * (self._linear - 0.5 * s * quadratic)

    def slopes(self) -> np.ndarray:
        """b (length n) of the last gradient() or value(): the next multipliers per unit of cost."""
        return -self.u * self.y / self.cost

    def dual_point(self) -> np.ndarray:
        """The dual point whose value `bound` is: the best multiple, at most one, of alpha_i = C_i b_i, length n."""
        return -self._multiple * self.u * self.y

    def accept(self) -> None:
        """Multiplier step, Eq. 9: beta <- b."""
        np.multiply(self.u, self.y, out=self.beta)
        self.beta /= self.cost
        np.negative(self.beta, out=self.beta)


class ModifiedHuber(Augmented):
    """MFN paper, Eq. 21, with C in place of 1 / lambda: C times 0, xi^2 / 2 or 2 (xi - 1) for xi <= 0, < 2, beyond.

    That is phi for the hinge times 2 with beta = 0 and sigma = 1, and stays so: here phi is f.
    """

    cap = 2.0

    def _classify(self) -> float:
        smooth = super()._classify()
        self.primal += smooth - self._loss
        return smooth

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        return self._linear - 0.5 * float(g @ g) - 0.5 * self.moved

    def gradient_at_zero(self) -> float:
        """|grad f(0)|, by which the rule of -e measures."""
        g = self.rows.transpose_product(-self.cost * self.y * np.clip(self.target, 0.0, self.cap))
        return float(np.sqrt(g @ g))
