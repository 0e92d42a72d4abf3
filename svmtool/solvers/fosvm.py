"""FOSVM, the one-class SVM by cutting planes: -s 80, and by samples of the rows: -s 81.

    min over w, rho of  1/2 |w|^2 - rho,   w.f(x_i) >= (1 - theta) rho for all i,  w a hard one-class SVM of some rows

Le, Phung, Nguyen and Venkatesh, Fast One-Class Support Vector Machine for Novelty Detection, PAKDD 2015: Algorithm 2
(FOSVM1), Algorithm 3 (FOSVM2).  A = the first two rows; repeat: (w, rho) = the hard one-class SVM on the rows of A;
i = the row outside A with the least w.f(x_i); end if w.f(x_i) >= (1 - theta) rho, else A = A + {i}.

    paper: A, alpha, rho, o_i     code: chosen, small.alpha, small.rho, z_i - rho

1. The problem on A is solved exactly, from the last solution on (linalg/minimum_norm_point.py).
2. theta is asked for as a gap (registry.row.gap_of_theta): the dual value -rho / 2 holds for all rows, and w times
   1 - theta with (1 - theta)^2 rho satisfies them all, so that either number gives the other.
3. Algorithm 3 examines m rows drawn from outside A.  If a share eps of all rows lay beyond theta, none of the m
   would be among them with probability (1 - eps)^m <= exp(-m eps) only: that is what its end says, no more.  A share
   eps of wrong predictions may cost the area under the ROC curve as much: 59 rows leave room for 5%, 3000 for 0.1%, and
   of a small A they take hardly more time.
4. Of a large A more than one row joins at a time: an eighth of its number, those with the least w.f(x_i).
5. A row that single precision took for the worst and that double does not (kernels) makes z be computed anew.
6. With a kernel, an A of more than MANY rows is no longer solved exactly, for any feasible alpha has its gap.  The
   dual over all rows, C-SVC's without upper bounds, is decomposed: working sets of half the last one, the rows least
   w.f(x_i) and those of A with the most, solved pair by pair.  The stored rho is then the one that all of A satisfy.
   By samples the same is done over a part of the rows, which doubles until a sample of the others passes; where most
   of a part carries its plane, a larger one would be nearly all rows, and all are examined.  Where that stalls, or
   takes far longer than an exact solution would (PAIR_STEPS), A is solved exactly after all.
Where the origin lies among the rows rho goes to 0, and w = 0 is the answer; see objectives/hard_one_class.py.
Memory: the cache (kernel rows of A; those that find no space are computed each round; from MANY on the working set's
block too), 4 vectors of n; of an A solved exactly the kernel matrix and its inverse.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.hard_one_class import certify_linear, gap_of
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.pair_descent import LAST, PATIENCE, PairDescent, capacity_for_rows
from svmtool.kernels.problems import HardOneClass, KernelResult, Points
from svmtool.kernels.row_scores import KernelRowScores, LinearRowScores, RowScores
from svmtool.kernels.rows import MEGABYTE, exact_sum
from svmtool.kernels.working_sets import ViolatingSets
from svmtool.limits import EndedError
from svmtool.linalg.minimum_norm_point import NearestPoint
from svmtool.objectives.hard_one_class import is_zero, lead_of
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import GAP, OPTIMAL, PRECISION, Monitor, Result, Rule, Status
from svmtool.solvers.shared.progress import Progress
from svmtool.tolerances import ROUNDOFF_GAP

SAMPLE = 3000  # rows in a sample: with 95% one of them is among the furthest 0.1%
SHARE_JOINS = 8  # one in so many of A's rows is the number that joins next, one at least
INDEFINITE = Status(
    "indefinite", False, "the precomputed kernel is that of no feature space (not positive semidefinite)"
)
INSIDE = 1e-6  # of rho: by so much the rho that is stored is less
SHARE = 0.001  # of the rows: the eps for which a run by samples gives the probability
FEW = 2  # rows that A begins with
MANY = 64  # rows of A beyond which decomposition comes nearer in less time, with a kernel
GROWTH = 4  # times the support is what joins it as the first part of the rows
CARRIED = 0.5  # share of a part's rows that carry its plane beyond which all rows are examined
WORKING = 2048  # rows of a working set
COSTLY = Status("costly", False, "an exact solution costs less than more rounds")  # internal, never returned
PAIR_STEPS = 1200.0  # budget of pair steps, in kernel values per m^2 for m rows in A: about four times the cost of the
# exact solution.  Of 12 sets (m 68 to 3241, gap 1e-3) all were solved within 200; ill-conditioned ones have no bound
EXACT_BYTES = 32.0  # an exact solution's memory per m^2; decomposition goes on where it exceeds the cache
EVALUATIONS = 128  # rounds of decomposition before the first check of progress
INNER = 0.3  # the problem over a working set is solved to this share of the violation among all rows


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """The linear problem, all rows examined each round, to the monitor's gap.  Result.w is w and rho."""
    return _linear(task, monitor, None)


def solve_sampled(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """The same by samples of task.options.sample rows."""
    return _linear(task, monitor, Sample(task.options.sample or SAMPLE, task.rows.n, seed))


def solve_kernel(problem: HardOneClass, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0) -> KernelResult:
    """The problem with a kernel, to the monitor's gap; cache_mb: memory for kernel rows, eps means nothing."""
    return _kernel(problem, monitor, cache_mb, None)


def solve_kernel_sampled(
    problem: HardOneClass, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0, sample: int | None = None,
    seed: int | None = None,
) -> KernelResult:  # fmt: skip
    """The same by samples."""
    return _kernel(problem, monitor, cache_mb, Sample(sample or SAMPLE, len(problem.row), 1 if seed is None else seed))


class Sample:
    """m rows at a time, drawn from those outside A."""

    def __init__(self, m: int, n: int, seed: int):
        self.m, self.n, self._random = m, n, np.random.default_rng(seed)

    def draw(self, chosen: np.ndarray, m: int) -> np.ndarray:
        """m rows (i8, ascending) that are none of `chosen`, of which there must be more."""
        drawn = self._random.choice(self.n, m + len(chosen), replace=False)
        return np.sort(drawn[~np.isin(drawn, chosen)][:m])

    def status(self, evaluations: int) -> Status:
        """That the last sample held no row beyond theta, in words; looks: records of rounds so far."""
        return Status(
            "sample",
            True,
            f"by a sample, not certified: of {self.m} rows drawn none lies beyond theta; were a share eps of all rows "
            f"beyond, a sample would miss them with probability exp(-{self.m} eps) at most "
            f"({np.exp(-self.m * SHARE):.2g} for eps = {SHARE:.1%}); rounds: {evaluations}",
        )


class _Run:
    """A set A that grows from `first` (i8) over `rows`, at least one; sample: None examines all of them."""

    def __init__(self, rows: RowScores, monitor: Monitor, sample: Sample | None, first: np.ndarray | None = None):
        self.rows, self.monitor, self.sample = rows, monitor, sample
        self.small = NearestPoint()
        self.chosen = np.empty(0, np.int64)
        self.join(np.arange(min(FEW, rows.n)) if first is None else first)

    def join(self, some: np.ndarray) -> None:
        """The rows `some` (i8) become part of A."""
        self.chosen = np.append(self.chosen, some)
        self.small.join(self.rows.inner(some, self.chosen))

    @property
    def stored_rho(self) -> float:
        """The model's rho: rows on the hyperplane are inside, in whatever order their values are summed."""
        return self.small.rho * (1.0 - INSIDE)

    def run(self, most: float = np.inf) -> Status | None:
        """Rounds until the gap is reached; returns why they ended, None where A has more than `most` rows."""
        try:
            return self._rounds(most)
        except EndedError:
            if not self.monitor.iterations:  # of A there is a dual value, of the rows outside nothing is known
                rho = self.small.rho
                self.monitor.step(0.0, -0.5 * rho, gap_of(0.0, rho, self.rows.size), active=len(self.chosen))
            return self.monitor.end()

    def _rounds(self, most: float) -> Status | None:
        sure = False  # whether the rows that joined last were chosen by exact z
        while True:
            moved = self.small.solve()
            worst, least, all_seen = self.evaluate()
            lead = min(lead_of(self.small.z), least)
            rho = self.small.rho
            gap = gap_of(lead, rho, self.rows.size)
            reached = self.monitor.gap is not None and gap <= self.monitor.gap
            if all_seen and not self.rows.exact and (reached or (not moved and self.monitor.iterations)):
                self.rows.refresh()  # or else the last row that joined was not what it seemed
                continue
            lead = max(lead, 0.0)
            status = self.monitor.step(-0.5 * lead * (lead / rho) if rho > 0.0 else 0.0, -0.5 * rho, gap,
                                       active=len(self.chosen))  # fmt: skip
            if status is GAP and not all_seen:
                status = self.sample.status(self.monitor.iterations)
            if rho < -ROUNDOFF_GAP * self.rows.size:
                status = INDEFINITE
            if status is None and not len(worst):
                status = OPTIMAL
            if status is None and sure and not moved:
                status = OPTIMAL if gap <= ROUNDOFF_GAP else PRECISION
            if status is not None:
                return status
            sure = all_seen and self.rows.exact
            self.join(worst)
            if len(self.chosen) > most:
                return None

    def evaluate(self) -> tuple[np.ndarray, float, bool]:
        """The worst rows outside A, the least z there, and whether all rows were examined."""
        a = self.small.alpha
        if self.sample is not None and self.rows.n - len(self.chosen) <= self.sample.m:
            self.sample = None  # all rows that are left fit into one sample: nothing is random from now on
        if self.sample is None:
            self.rows.set_point(self.chosen, a)
            z = self.rows.z
            z[self.chosen] = np.inf
            worst, least = self.worst(z), float(np.min(z))
            z[self.chosen] = self.small.z
            return worst, least, True
        drawn = self.sample.draw(self.chosen, self.sample.m)
        z = self.rows.some(drawn, self.chosen, a)
        return drawn[self.worst(z)], float(np.min(z)), False

    def worst(self, z: np.ndarray) -> np.ndarray:
        """The places of the least in z (infinite: of no row): one, of a large A a share of those beyond theta."""
        most = min(max(1, len(self.chosen) // SHARE_JOINS), len(z))
        places = np.argpartition(z, most - 1)[:most]
        places = places[np.lexsort((places, z[places]))]
        enough = self.small.rho / (1.0 + (self.monitor.gap or 0.0)) ** 0.5
        count = max(int(np.count_nonzero(z[places] < enough)), 1)
        return places[:count][z[places[:count]] < np.inf]


def _linear(task: Task, monitor: Monitor, sample: Sample | None) -> Result:
    n = task.rows.n
    if n == 0:
        monitor.step(0.0, 0.0, 0.0, active=0)
        return Result(np.zeros(task.rows.d + 1), OPTIMAL, 0, monitor.history, np.zeros(0))
    rows = LinearRowScores(task.rows)
    run = _Run(rows, monitor, sample)
    status = run.run()
    alpha = np.zeros(n)
    alpha[run.chosen] = run.small.alpha
    w = np.append(task.rows.transpose_product(alpha), run.stored_rho)
    near = is_zero(-np.inf, run.small.rho, rows.size)  # without the product that gives the least value
    if near and status.converged and certify_linear(task.rows, alpha).primal == 0.0:
        w[:] = 0.0
    return Result(w, status, monitor.iterations - 1, monitor.history, alpha)


def _kernel(problem: HardOneClass, monitor: Monitor, cache_mb: float, sample: Sample | None) -> KernelResult:
    rows, before = KernelRowScores(problem, cache_mb), None
    run = _Run(rows, monitor, sample)
    status = run.run(MANY)
    if status is None:
        alpha = np.zeros(rows.n)
        alpha[run.chosen] = run.small.alpha
        rows = None  # its memory goes to the working sets
        try:
            result = _of_many(problem, monitor, cache_mb, run.sample, alpha)
        except EndedError:  # before it began
            z, rho = _guessed(len(alpha), run.chosen, run.small.z, run.small.rho), run.small.rho
            gap = gap_of(lead_of(z), rho, problem.size)
            count = monitor.iterations - 1
            return KernelResult(alpha, run.stored_rho, 0.0, 0.5 * rho, gap, count, monitor.end(), z)
        if result.status not in (PRECISION, COSTLY):
            return result
        rows = KernelRowScores(problem, cache_mb)  # an exact solution goes on from their support
        run = _Run(rows, monitor, run.sample if result.status is COSTLY else None, np.flatnonzero(result.alpha))
        status = run.run()
        before = result
    if not monitor.ended():
        rows.alpha[run.chosen] = run.small.alpha
        try:
            if run.sample is not None or not rows.exact:
                rows.refresh()
        except EndedError:
            status = monitor.end()
    alpha, z = rows.alpha, rows.z
    if not np.any(alpha):  # ended before all rows were examined
        alpha[run.chosen], z = run.small.alpha, _guessed(rows.n, run.chosen, run.small.z, run.small.rho)
    rho = float(alpha @ z)
    gap = gap_of(lead_of(z), rho, rows.size)
    if before is not None and monitor.ended() and before.gap < gap:  # a limit came before A was solved
        before.status, before.iterations = status, monitor.iterations - 1
        return before
    return KernelResult(alpha, rho * (1.0 - INSIDE), 0.0, 0.5 * rho, gap, monitor.iterations - 1, status, z)


def _guessed(n: int, known: np.ndarray, z: np.ndarray, rho: float) -> np.ndarray:
    """z f8[n] of a run that ended before it saw all rows: those `known` (i8), the others as if on the plane.

    How far that is wrong the certifier finds by rows that it draws.
    """
    found = np.full(n, rho)
    found[known] = z
    return found


def _of_many(
    problem: HardOneClass, monitor: Monitor, cache_mb: float, sample: Sample | None, alpha: np.ndarray
) -> KernelResult:
    """On from alpha f8[n], by decomposition: over all rows, or over a part of them that doubles until samples pass."""
    n, points = problem.n, Points(problem.kernel, problem.rows, problem.matrix)
    part = np.flatnonzero(alpha)
    more = GROWTH * len(part)
    while True:
        if sample is None or len(part) + more + sample.m > n // 2:
            part, sample = np.arange(n), None
        else:
            part = np.sort(np.append(part, sample.draw(part, more)))
        state, status = _descend(HardOneClass(points.take(part), alpha[part]), monitor, cache_mb)
        alpha[part] = state.a / float(np.sum(state.a))
        if sample is None or status is not GAP:
            break
        drawn = sample.draw(part, sample.m)
        try:
            z = exact_sum(problem, alpha, drawn)
        except EndedError:
            status = monitor.end()
            break
        rho = float(state.a @ state.f)
        if gap_of(lead_of(z), rho, problem.size) <= monitor.gap:
            status = sample.status(monitor.iterations)
            break
        more = n if np.count_nonzero(state.a) > CARRIED * len(part) else len(part) + len(drawn)
        part = np.append(part, drawn)
    z = _guessed(n, part, state.f, float(state.a @ state.f))
    if sample is not None:
        try:
            z = exact_sum(problem, alpha)
        except EndedError:
            status = monitor.end()
    rho = float(alpha @ z)
    gap = gap_of(lead_of(z), rho, problem.size)
    inside = lead_of(z[alpha > 0.0])  # the rho that satisfies all rows of A: theirs are only nearly the same
    return KernelResult(alpha, inside * (1.0 - INSIDE), 0.0, 0.5 * rho, gap, monitor.iterations - 1, status, z)


def _descend(problem: HardOneClass, monitor: Monitor, cache_mb: float) -> tuple[Decomposition, Status]:
    """From problem.start to the monitor's gap, by working sets of the rows that lie furthest from the plane."""
    state = Decomposition(problem, capacity_for_rows(problem.n, cache_mb))
    sets, subproblem = ViolatingSets(WORKING), PairDescent()
    best, stalled, moved, progress = np.inf, 0, True, Progress(EVALUATIONS)
    theta = 1.0 - (1.0 + (monitor.gap or 0.0)) ** -0.5
    wanted = monitor.gap or 0.0
    while True:
        violation, _, _ = state.certify()
        f = state.f.copy()
        rho, lead = float(state.a @ f), lead_of(f)
        apart = 0.0 if state.exact else state.error()
        gap = gap_of(lead - apart, rho + apart, problem.size)
        try:
            if not state.exact and (not moved or (gap > wanted >= gap_of(lead, rho, problem.size))):
                state.refresh()  # what is in the way may be single precision alone
                moved = True
                continue
            if state.exact:
                stalled = 0 if violation < best else stalled + 1
                best = min(best, violation)
            dual = -0.5 * rho
            primal = -0.5 * max(lead, 0.0) * (max(lead, 0.0) / rho) if rho > 0.0 else 0.0
            status = monitor.step(primal, dual, gap, active=np.count_nonzero(state.a))
            if rho < -ROUNDOFF_GAP * problem.size:
                status = INDEFINITE
            still = progress.stalls(primal - dual, dual) or stalled >= PATIENCE or (state.exact and not moved)
            if status is None and still:
                status = OPTIMAL if gap <= ROUNDOFF_GAP else PRECISION
            square = float(max(MANY, np.count_nonzero(state.a))) ** 2
            if status is None and subproblem.work > PAIR_STEPS * square and EXACT_BYTES * square < cache_mb * MEGABYTE:
                status = COSTLY
            if status is None:
                chosen = sets.choose(state)
                moved = state.change(chosen, subproblem(state, chosen, max(LAST * theta * rho, INNER * violation)))
        except EndedError:
            status, state.f = monitor.end(), f
        if status is not None:
            return state, status
