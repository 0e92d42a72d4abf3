"""The cutting planes of FOSVM: a set A of rows that grows by those beyond the plane of A (solvers/fosvm.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.certify.one_class import hard_gap
from svmtool.kernels.row_scores import RowScores
from svmtool.limits import EndedError
from svmtool.linalg.minimum_norm_point import MinimumNormPoint
from svmtool.objectives.one_class import least_score
from svmtool.registry.row import theta_of_gap
from svmtool.solvers.shared.base import GAP, OPTIMAL, PRECISION, Monitor, Plan, Rule, Status
from svmtool.tolerances import ROUNDOFF_GAP

DEFAULT_SAMPLE = 3000  # rows in a sample: with 95% one of them is among the furthest 0.1%
FURTHEST_SHARE = 0.001  # of the rows: the eps for which a run by samples gives the probability
JOINING_DIVISOR = 8  # the number of A's rows divided by this, at least 1, joins next
FIRST_ROWS = 2  # rows that A begins with
NOT_SEMIDEFINITE = Status("indefinite", False, "the precomputed kernel is not positive semidefinite")
# The methods of FOSVM, with a kernel too.
METHODS = {
    "all": "cutting planes, all rows examined each round",
    "sample": "cutting planes, samples of the rows examined",
}


def plan(problem: Any, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Plan of FOSVM1 (-s 80)."""
    return Plan("all", "FOSVM1 takes no samples")


def plan_sampled(problem: Any, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Plan of FOSVM2 (-s 81): samples, unless one holds all rows."""
    m = problem.options.sample or DEFAULT_SAMPLE
    if problem.n - FIRST_ROWS <= m:
        return Plan("all", f"the rows fit into one sample of {m}")
    return Plan("sample", f"more rows than a sample of {m}")


def boundary(rho: float, monitor: Monitor) -> float:
    """(1 - theta) rho: the w.phi(x) that the stopping rule bounds."""
    return (1.0 - theta_of_gap(monitor.gap or 0.0)) * rho


class Sample:
    """Draws m rows at a time from those outside A."""

    def __init__(self, m: int, n: int, seed: int):
        self.m, self.n, self._random = m, n, np.random.default_rng(seed)

    def draw(self, chosen: np.ndarray, m: int) -> np.ndarray:
        """Draw m rows (i8, ascending) outside `chosen`; more than m must be left."""
        drawn = self._random.choice(self.n, m + len(chosen), replace=False)
        return np.sort(drawn[~np.isin(drawn, chosen)][:m])

    def status(self, evaluations: int) -> Status:
        """The status of a run whose last sample held no row beyond theta; evaluations: rounds so far."""
        return Status(
            "sample",
            True,
            f"not certified: none of {self.m} sampled rows lies beyond theta; if a share eps of all rows did, "
            f"the sample would miss them with probability at most exp(-{self.m} eps) "
            f"({np.exp(-self.m * FURTHEST_SHARE):.2g} for eps = {FURTHEST_SHARE:.1%}); rounds: {evaluations}",
        )


class CuttingPlanes:
    """Grows A from the rows `first` (i8, at least one); sample: None examines all rows each round."""

    def __init__(self, rows: RowScores, monitor: Monitor, sample: Sample | None, first: np.ndarray | None = None):
        self.rows, self.monitor, self.sample = rows, monitor, sample
        self.subproblem = MinimumNormPoint()
        self.chosen = np.empty(0, np.int64)
        self.join(np.arange(min(FIRST_ROWS, rows.n)) if first is None else first)

    def join(self, some: np.ndarray) -> None:
        """Add the rows `some` (i8) to A."""
        chosen = np.append(self.chosen, some)
        self.subproblem.join(self.rows.inner(some, chosen))  # a limit may end this: A stays as it is then
        self.chosen = chosen

    def run(self, max_rows: float = np.inf) -> Status | None:
        """Add rows until the gap is reached; returns why it ended, None where A would exceed `max_rows`."""
        try:
            return self._rounds(max_rows)
        except EndedError:
            if not self.monitor.iterations:  # only A has a dual value: nothing is known of the other rows
                rho = self.subproblem.rho
                self.monitor.step(0.0, -0.5 * rho, hard_gap(0.0, rho, self.rows.size), active=len(self.chosen))
            return self.monitor.end()

    def _rounds(self, max_rows: float) -> Status | None:
        joined_exactly = False  # whether the rows that joined last were chosen by exact z
        while True:
            moved = self.subproblem.solve()
            worst, least, all_seen = self.evaluate()
            lead = min(least_score(self.subproblem.z), least)
            rho = self.subproblem.rho
            gap = hard_gap(lead, rho, self.rows.size)
            reached = self.monitor.gap is not None and gap <= self.monitor.gap
            if all_seen and not self.rows.exact and (reached or (not moved and self.monitor.iterations)):
                self.rows.refresh()  # otherwise the last row that joined was within theta
                continue
            lead = max(lead, 0.0)
            primal = -0.5 * lead * (lead / rho) if rho > 0.0 else 0.0
            status = self.monitor.step(primal, -0.5 * rho, gap, active=len(self.chosen))
            if status is GAP and not all_seen:
                status = self.sample.status(self.monitor.iterations)
            if rho < -ROUNDOFF_GAP * self.rows.size:
                status = NOT_SEMIDEFINITE
            if status is None and not len(worst):
                status = OPTIMAL
            if status is None and joined_exactly and not moved:
                status = OPTIMAL if gap <= ROUNDOFF_GAP else PRECISION
            if status is not None:
                return status
            if len(self.chosen) + len(worst) > max_rows:
                return None
            joined_exactly = all_seen and self.rows.exact
            self.join(worst)

    def evaluate(self) -> tuple[np.ndarray, float, bool]:
        """The worst rows outside A, the least z there, and whether all rows were examined."""
        a = self.subproblem.alpha
        if self.sample is not None and self.rows.n - len(self.chosen) <= self.sample.m:
            self.sample = None  # all rows that are left fit into one sample
        if self.sample is None:
            self.rows.set_point(self.chosen, a)
            z = self.rows.z
            z[self.chosen] = np.inf
            worst, least = self.worst(z), float(np.min(z))
            z[self.chosen] = self.subproblem.z
            return worst, least, True
        drawn = self.sample.draw(self.chosen, self.sample.m)
        z = self.rows.scores_of(drawn, self.chosen, a)
        return drawn[self.worst(z)], float(np.min(z)), False

    def worst(self, z: np.ndarray) -> np.ndarray:
        """The places of the least in z (infinite: of no row): one, of a large A a share of those beyond theta."""
        count = min(max(1, len(self.chosen) // JOINING_DIVISOR), len(z))
        places = np.argpartition(z, count - 1)[:count]
        places = places[np.lexsort((places, z[places]))]
        count = max(int(np.count_nonzero(z[places] < boundary(self.subproblem.rho, self.monitor))), 1)
        return places[:count][z[places[:count]] < np.inf]
