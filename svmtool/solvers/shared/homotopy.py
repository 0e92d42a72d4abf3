"""What the solvers of NESVM share (solvers/nesvm.py): Algorithm 1, and the stages of Algorithm 2 with a falling mu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent, visited_rows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import cancelling, relative_gap
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import CG_RTOL, Monitor, Result, Status
from svmtool.solvers.shared.epochs import SWITCH, Epochs
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import DUAL_ROWS, GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP

if TYPE_CHECKING:
    from svmtool.objectives.smoothed import Smoothed

MU = 5.0  # the paper's, for Algorithm 1
MU_RISE = 1e2  # the first mu rises with C up to this many times: beyond, rounding coarsens the dual point
SMOOTHING_SHARE = 0.1  # Algorithm 1: share of the gap that may come from F_mu's minimum not being reached

BLURRED = Status("blurred", False, "this smoothing allows no smaller gap: lower --mu or leave out --no-homotopy")

# Texts of METHODS and plans.
PLAIN = "Algorithm 1: smoothed gradient steps with one mu"
NO_HOMOTOPY = "--no-homotopy"

# The smallest mu, and its factor from stage to stage.
MU_MIN, MU_FACTOR = 1e-8, 0.4
# A stage ends when |gradient| is at most STAGE_RTOL times the remaining distance of u, or after STAGE_STALL_STEPS steps
# without a better gap or a lower F_mu: round-off may prevent either.
STAGE_RTOL, STAGE_STALL_STEPS = 1.0, 3
# Round-off stalls progress after HOMOTOPY_STALL_STEPS steps without a better gap, a decrease of F_mu by
# HOMOTOPY_STALL_RTOL or a new mu.
HOMOTOPY_STALL_RTOL, HOMOTOPY_STALL_STEPS = 1e-13, 12
# Tolerance of conjugate gradients relative to the gradient.
# Epochs may cost 1 / EPOCH_DISCOUNT times as much as elsewhere before Newton steps by the dual system take over.
EPOCH_DISCOUNT = 0.3
# Epochs at most, and the share of the visits so far between two evaluations of the gap.
MAX_CENTRED_EPOCHS, CENTRED_EVALUATIONS = 20000, 0.25


def smoothed_hinge(task: Task, l1: bool) -> Smoothed:
    """The smoothed hinge of Algorithm 1, with --mu or the paper's mu."""
    from svmtool.objectives.smoothed import Smoothed  # imported when needed: most runs do not

    return Smoothed(task, "hinge", l1, MU if task.options.mu is None else float(task.options.mu))


def first_mu(task: Task, unit: float) -> float:
    """The first mu of the homotopy: `--mu`, or one with which F_mu is no more curved at a large C than at 1.

    Where classes are separable a_i stays the same as C grows, and so must the curvature C_i / mu.
    """
    if task.options.mu is not None:
        return float(task.options.mu)
    return unit * rise(task)


def rise(task: Task) -> float:
    """The factor by which a large C raises costs, and with them curvatures, while a_i stays the same."""
    return min(max(1.0, float(np.mean(task.cost)) if task.rows.n else 1.0), MU_RISE)


def plain(objective: Smoothed, monitor: Monitor, start: np.ndarray | None = None) -> Result:
    """Run the paper's Algorithm 1."""
    L = objective.lipschitz()
    w_star = np.zeros(objective.d) if start is None else start
    w, total = w_star.copy(), np.zeros(objective.d)
    primal, dual, smooth, answer, alpha = np.inf, 0.0, -np.inf, w, np.zeros(objective.n)
    k = 0
    while True:
        # Steps 1 and 2: u and the gradient of F_mu
        g = objective.gradient(w)
        if objective.primal < primal:
            primal, answer = objective.primal, objective.answer
        if objective.bound > dual:
            dual, alpha = objective.bound, objective.alpha
        smooth = max(smooth, objective.smooth_bound)
        status = monitor.step(primal, dual, inner_gradient=float(np.sqrt(g @ g)), active=0, step=1.0 / L)
        if status is None and relative_gap(primal, dual) <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None and objective.value - smooth <= SMOOTHING_SHARE * (monitor.gap or 0.0) * primal:
            status = BLURRED
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history, alpha)
        # Steps 3 and 4
        total += 0.5 * (k + 1) * g
        y = w - g / L  # (33)
        z = w_star - total / L  # (34)
        w = (2.0 * z + (k + 1.0) * y) / (k + 3.0)  # (35)
        k += 1


class Homotopy:
    """One run of Algorithm 2: the smoothed hinge is an Augmented with beta = u0 and sigma = 1 / mu.

    system: of the Newton steps, as in Objective.newton_direction; None: by the number of features.
    """

    def __init__(self, objective: Augmented, monitor: Monitor, system: str | None = None):
        self.objective, self.monitor, self.stage = objective, monitor, STAGE_RTOL
        self.system = system or ("primal" if objective.d <= GRAM_BELOW else "dual")
        self.best = Best(objective)

    def stages(self) -> Status:
        """Stages, each with a smaller mu, until the gap reaches the target."""
        o, best = self.objective, self.best
        cg, t, stalled = 0, 0.0, 0
        smallest = lowest = np.inf
        first = True  # of its stage
        while True:
            f, g = o.gradient()
            norm = float(np.sqrt(g @ g))
            ends = norm * norm <= self.stage * self.stage * o.moved / o.sigma
            self.keep(ends)
            gap = best.gap
            status = self.monitor.step(best.primal, best.dual, inner_gradient=norm, active=o.support, cg=cg, step=t)
            if status is None:
                if first:  # a new mu, if it is not the smallest yet
                    lower = o.sigma * MU_MIN < 1.0
                else:
                    lower = f < lowest - HOMOTOPY_STALL_RTOL * abs(f)
                stalled = 0 if lower or gap < 0.999 * smallest else stalled + 1
                smallest, lowest = min(gap, smallest), f if first else min(f, lowest)
                status = base.OPTIMAL if gap <= OPTIMAL_GAP else None
                if stalled >= HOMOTOPY_STALL_STEPS:
                    status = base.OPTIMAL if gap <= ROUNDOFF_GAP else base.PRECISION
            if status is not None:
                return status
            first = stalled >= STAGE_STALL_STEPS or ends
            if first:
                g = self.next_stage()
            p, cg = self._step(g, stalled)
            self.monitor.uses(f"stages of the smoothed loss: Newton steps by {o.way}")
            t = o.line_search(p)
            o.step(t, p)

    def keep(self, ends: bool) -> None:
        """Keep the current answers where they are better; ends: whether the stage ends here."""
        self.best.keep()

    def next_stage(self) -> np.ndarray:
        """u0 <- u and a smaller mu; the gradient of the new F_mu."""
        o = self.objective
        o.accept()
        o.sigma = min(o.sigma / MU_FACTOR, 1.0 / MU_MIN)
        return o.gradient_on_pieces()

    def _step(self, g: np.ndarray, stalled: int) -> tuple[np.ndarray, int]:
        """(33) in the metric of F_mu's curvature, and the number of products that it took.

        stalled: steps without progress so far: systems of rows may have lost precision where numbers are large.
        """
        o = self.objective
        if self.system == "primal":
            return o.factorised_direction(g, stalled > 0)[:2]
        few = self.system == "dual" and o.has_dual_system and 0 < o.active <= DUAL_ROWS
        system = "dual" if few else "cg"
        return o.newton_direction(g, system, CG_RTOL, 10 * o.d, self.monitor.ended)[:2]

    def one_epoch(self, seed: int) -> None:
        """Run one epoch of dual coordinate descent, after which stages begin."""
        o, rows = self.objective, visited_rows(self.objective.rows, self.objective.free_bias)
        run = DualCoordinateDescent(rows, o.y, np.zeros(o.n), o.cost, seed, target=o.target)
        run.run()
        if o.free_bias:
            run.w[-1] = 0.0
        o.set_point(run.w)
        if o.free_bias:
            o.shift(o.best_bias())
        np.divide(run.alpha, o.cost, out=o.beta)

    def epochs(self, seed: int) -> Status | None:
        """Run epochs of dual coordinate descent until the gap reaches the target.

        None where they are too slow: stages take over.
        """
        o, rows = self.objective, visited_rows(self.objective.rows, self.objective.free_bias)
        alpha = cancelling(rows, o.y, o.cost)
        descent = DualCoordinateDescent(rows, o.y, np.zeros(o.n), o.cost, seed, alpha, o.target.copy())
        status = CentredEpochs(descent, o, self.best, self.monitor, rows.bias).run(max_epochs=MAX_CENTRED_EPOCHS)
        if status is None:
            o.beta[:] = descent.alpha / o.cost
            o.set_point(np.append(descent.w[:-1], o.w[-1]) if o.free_bias else descent.w)
        return status


class CentredEpochs(Epochs):
    """Epochs until the gap holds, or Newton steps are cheaper; a free bias has a proximal term, whose centre moves.

    bias: the value of the bias feature.
    """

    def __init__(self, descent: DualCoordinateDescent, objective: Augmented, best: Best, monitor: Monitor, bias: float):
        super().__init__(descent, monitor)
        self.objective, self.best, self.bias = objective, best, bias
        self.tolerance, self.visits, self.evaluated = 1.0, 0.0, 0.0
        self.limit: Status | None = None

    def begin(self) -> None:
        self.visits += self.descent.active_share

    def measure(self) -> None:
        descent, o = self.descent, self.objective
        if o.free_bias:
            descent.target -= descent.w[-1] * self.bias * o.y
        if descent.pg_range <= self.tolerance:
            if not descent.complete:
                descent.unshrink()
            else:
                self.tolerance *= 0.3
        self.limit = self.monitor.limit(descent.count)

    def value(self) -> None:
        return None

    def unshrinks(self) -> bool:
        return False

    def due(self) -> bool:
        return self.visits - self.evaluated >= max(1.0, CENTRED_EVALUATIONS * self.visits) or self.limit is not None

    def evaluate(self) -> Status | None:
        o, best, descent = self.objective, self.best, self.descent
        self.evaluated = self.visits
        w = descent.w
        if o.free_bias:
            o.set_point(np.append(w[:-1], 0.0))
            w = np.append(w[:-1], o.best_bias())
        # where C is large a few rows just short of the margin raise P(w) far above D
        o.step(o.best_multiple(w), w)
        o.value()
        best.update(o.primal, o.w, o.dual_value(descent.alpha), descent.alpha)
        status = self.monitor.step(best.primal, best.dual, active=o.support, epochs=descent.count)
        if status is None:
            status = self.limit or (base.OPTIMAL if best.gap <= OPTIMAL_GAP else None)
        if status is not None:
            return status
        descent.unshrink()  # rows shrunk too early keep the primal value high
        return SWITCH if descent.newton_is_cheaper(EPOCH_DISCOUNT * self.spent, DUAL_ROWS) else None
