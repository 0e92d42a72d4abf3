"""FOSVM with a kernel: -s 80 and 81 with -t, -g, -d or -r.  Problem and paper: solvers/fosvm.py.

Differs from the paper in 1 to 4 there, and in:
 5. z is computed again in double precision if a row that joined because of single precision is not the worst one.
 6. An A of more than EXACT_ROWS rows is not solved exactly: any feasible alpha has its gap.  The dual over all rows,
    that of C-SVC without upper bounds, is decomposed: a working set has half of the last one, the rows with the least
    w.phi(x_i) and those of A with the largest, and is solved by SMO steps.  With samples this is done over a part of
    the rows, which doubles until a sample of the others has no row beyond theta; if most rows of a part are support
    vectors, all rows are used.  If decomposition stalls, or takes far longer than an exact solution (MAX_PAIR_WORK), A
    is solved exactly.
Memory: the cache (kernel rows of A; rows that do not fit are computed each round; beyond EXACT_ROWS also the block of a
working set), 4 vectors of n; for an exact solution the kernel matrix of A and its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.one_class import hard_gap
from svmtool.kernels.decomposition import Decomposition, ViolatingSets
from svmtool.kernels.pair_descent import TOLERANCE_SHARE, PairDescent, capacity_for_rows
from svmtool.kernels.problems import HardOneClass
from svmtool.kernels.results import KernelResult
from svmtool.kernels.row_scores import KernelRowScores
from svmtool.kernels.rows import exact_sum
from svmtool.limits import EndedError
from svmtool.objectives.one_class import least_score
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import GAP, OPTIMAL, PRECISION, Monitor, Rule, Status
from svmtool.solvers.shared.cutting_planes import DEFAULT_SAMPLE, NOT_SEMIDEFINITE, CuttingPlanes, Sample, boundary
from svmtool.solvers.shared.cutting_planes import METHODS as METHODS
from svmtool.solvers.shared.cutting_planes import plan as plan
from svmtool.solvers.shared.cutting_planes import plan_sampled as plan_sampled
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import FIRST_CHECK_STEPS, MIB, ROUNDOFF_GAP, TIGHTER

EXACT_ROWS = 64  # rows of A beyond which decomposition is faster
PART_GROWTH = 4  # the first part of the rows is the support and this many times as many others
MAX_SUPPORT_SHARE = 0.5  # if more than this share of a part are support vectors, all rows are used
COSTLY = Status("costly", False, "an exact solution costs less than more rounds")  # internal, never returned
# Budget of SMO steps, in kernel values per m^2 for m rows in A: about four times the cost of the exact solution.  Of 12
# sets (m 68 to 3241, gap 1e-3) all were solved within 200; ill-conditioned ones have no bound
MAX_PAIR_WORK = 1200.0
EXACT_BYTES = 32.0  # memory of an exact solution per m^2; decomposition continues if that exceeds the cache


def solve(
    problem: HardOneClass, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to the monitor's gap; the rule is not used."""
    cache_mb = problem.cache_mb
    sample = Sample(problem.options.sample or DEFAULT_SAMPLE, problem.n, seed) if method == "sample" else None
    rows, before = KernelRowScores(problem, cache_mb), None
    first = None if start is None or not np.any(start) else np.flatnonzero(start)
    run = CuttingPlanes(rows, monitor, sample, first)
    status = run.run(EXACT_ROWS)
    if status is None:
        alpha = np.zeros(rows.n)
        alpha[run.chosen] = run.subproblem.alpha
        rows = None  # free its memory for the working sets
        try:
            result = _decompose(problem, monitor, run.sample, alpha)
        except EndedError:  # before the first round
            rho = run.subproblem.rho
            z = _guessed(len(alpha), run.chosen, run.subproblem.z, rho)
            gap = hard_gap(least_score(z), rho, problem.size)
            count = monitor.iterations - 1
            return KernelResult(alpha, boundary(rho, monitor), 0.0, 0.5 * rho, gap, count, monitor.end(), z)
        if result.status not in (PRECISION, COSTLY):
            return result
        why = "they are expected to cost less" if result.status is COSTLY else "SMO steps make no more progress"
        monitor.uses("exact solutions of the rows chosen", why)
        rows = KernelRowScores(problem, cache_mb)  # exact solutions continue from the support
        sample = run.sample if result.status is COSTLY else None
        run = CuttingPlanes(rows, monitor, sample, np.flatnonzero(result.alpha))
        status = run.run()
        before = result
    if not monitor.ended():
        rows.alpha[run.chosen] = run.subproblem.alpha
        try:
            if run.sample is not None or not rows.exact:
                rows.refresh()
        except EndedError:
            status = monitor.end()
    alpha, z = rows.alpha, rows.z
    if not np.any(alpha):  # ended before all rows were examined
        alpha[run.chosen], z = run.subproblem.alpha, _guessed(rows.n, run.chosen, run.subproblem.z, run.subproblem.rho)
    rho = float(alpha @ z)
    gap = hard_gap(least_score(z), rho, rows.size)
    if before is not None and monitor.ended() and before.gap < gap:  # a limit came before A was solved
        before.status, before.iterations = status, monitor.iterations - 1
        return before
    bound, count = boundary(rho, monitor), monitor.iterations - 1
    return KernelResult(alpha, bound, 0.0, 0.5 * rho, gap, count, status, z)


def _guessed(n: int, known: np.ndarray, z: np.ndarray, rho: float) -> np.ndarray:
    """z f8[n] of a run that ended before all rows were examined: z of the rows `known` (i8), rho for the others.

    The certifier computes the error on a sample of rows.
    """
    found = np.full(n, rho)
    found[known] = z
    return found


def _decompose(problem: HardOneClass, monitor: Monitor, sample: Sample | None, alpha: np.ndarray) -> KernelResult:
    """Continue from alpha f8[n] by decomposition, over all rows or a part of them that doubles until samples pass."""
    monitor.uses("SMO steps within working sets", "too many support vectors for exact solutions")
    n, points = problem.n, problem.points
    part = np.flatnonzero(alpha)
    more = PART_GROWTH * len(part)
    while True:
        if sample is None or len(part) + more + sample.m > n // 2:
            part, sample = np.arange(n), None
        else:
            part = np.sort(np.append(part, sample.draw(part, more)))
        state, status = _descend(HardOneClass(points.take(part)), monitor, problem.cache_mb, alpha[part])
        alpha[part] = state.a / float(np.sum(state.a))
        if sample is None or status is not GAP:
            break
        drawn = sample.draw(part, sample.m)
        try:
            z = points.sums(alpha, drawn)
        except EndedError:
            status = monitor.end()
            break
        rho = float(state.a @ state.f)
        if hard_gap(least_score(z), rho, problem.size) <= (monitor.gap or 0.0):
            status = sample.status(monitor.iterations)
            break
        more = n if np.count_nonzero(state.a) > MAX_SUPPORT_SHARE * len(part) else len(part) + len(drawn)
        part = np.append(part, drawn)
    z = _guessed(n, part, state.f, float(state.a @ state.f))
    if sample is not None:
        try:
            z = exact_sum(problem, alpha)
        except EndedError:
            status = monitor.end()
    rho = float(alpha @ z)
    gap = hard_gap(least_score(z), rho, problem.size)
    bound, count = boundary(rho, monitor), monitor.iterations - 1
    return KernelResult(alpha, bound, 0.0, 0.5 * rho, gap, count, status, z)


def _descend(
    problem: HardOneClass, monitor: Monitor, cache_mb: float, start: np.ndarray
) -> tuple[Decomposition, Status]:
    """From alpha = start to the monitor's gap, by working sets of the rows that lie furthest from the plane."""
    state = Decomposition(problem, capacity_for_rows(problem.n, cache_mb), start)
    sets, subproblem = ViolatingSets(), PairDescent()
    moved, progress = True, Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
    target_gap = monitor.gap or 0.0
    while True:
        violation, _, _ = state.certify()
        f = state.f.copy()
        rho, lead = float(state.a @ f), least_score(f)
        apart = 0.0 if state.exact else state.error()
        gap = hard_gap(lead - apart, rho + apart, problem.size)
        try:
            if not state.exact and (not moved or (gap > target_gap >= hard_gap(lead, rho, problem.size))):
                state.refresh()  # the violation may be round-off of single precision
                moved = True
                continue
            dual = -0.5 * rho
            primal = -0.5 * max(lead, 0.0) * (max(lead, 0.0) / rho) if rho > 0.0 else 0.0
            status = monitor.step(primal, dual, gap, active=np.count_nonzero(state.a), rows=problem.n)
            if rho < -ROUNDOFF_GAP * problem.size:
                status = NOT_SEMIDEFINITE
            still = progress.stalls(primal - dual, dual, violation if state.exact else None)
            if status is None and (still or (state.exact and not moved)):
                status = OPTIMAL if gap <= ROUNDOFF_GAP else PRECISION
            square = float(max(EXACT_ROWS, np.count_nonzero(state.a))) ** 2
            if status is None and subproblem.work > MAX_PAIR_WORK * square and EXACT_BYTES * square < cache_mb * MIB:
                status = COSTLY
            if status is None:
                chosen = sets.choose(state)
                tolerance = max(TOLERANCE_SHARE * (rho - boundary(rho, monitor)), TIGHTER * violation)
                moved = state.change(chosen, subproblem(state, chosen, tolerance))
        except EndedError:
            status, state.f = monitor.end(), f
        if status is not None:
            return state, status
