"""Decision values of held-out rows for the sigmoid of a pair of few rows: its folds share the pair's kernel values.

The problem of a fold is a block of that matrix, solved by the steps of fused_pairs.py, and the decision values of the
rows held out are sums over other entries of it.  A sigmoid needs these values alone, so that nothing is certified here:
folds that the steps leave unsolved, or whose result is worse than w = 0 with a gap above SLOW_MIN_GAP, are for the
caller to train.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.compiled.loops.kernel import class_pair_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.kernels.problems import Norms, Points
from svmtool.kernels.results import KernelResult
from svmtool.kernels.tiles import tiles_of
from svmtool.tolerances import MIB, SLOW_MIN_GAP
from svmtool.training.kernel import fused_pairs
from svmtool.training.kernel.dataset import ClassPairs, pair_problem
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.solutions import ENDS, Solved
from svmtool.training.validation.folds import Drawn, fold_rows

COPIES = 3  # of a pair's matrix, with those of a fold's blocks and of its steps

NOT_CERTIFIED = Certificate(np.nan, np.nan, np.nan)


Held = tuple[np.ndarray, str]  # decision values of a fold's rows, f8[rows], and LIBSVM's text about its training


def values_of_folds(pairs: ClassPairs, folds: list[Drawn], fitting: Fitting) -> list[list[Held | None]]:
    """For each pair of classes and each of its folds what was held out; None where the fold must be trained.

    folds: order and starts of each pair, as `liblinear_folds` returns them.
    """
    found: list[list[Held | None]] = [[None] * (len(starts) - 1) for _, starts in folds]
    s, most = fitting.settings, fused_pairs.MAX_DOUBLE_ROWS if fitting.together is None else fitting.together
    largest = min(most, np.sqrt(fused_pairs.MEMORY_SHARE * s.run.cache_mb * MIB / (8.0 * COPIES)))
    if not fused_pairs.has_steps(pairs, s) or s.row.loss == "least squares":
        return found

    def one(k: int) -> None:
        if sum(pairs.counts[k]) <= largest:
            found[k] = _held(pairs, k, fitting, *folds[k])

    run_blocks(one, len(folds), short=True)
    return found


def _held(pairs: ClassPairs, k: int, fitting: Fitting, order: np.ndarray, starts: np.ndarray) -> list[Held | None]:
    """What each fold of pair k holds out; None where steps give no result, or its training rows are of one class."""
    points, costs, s = pairs.points.take(pairs.rows(k)), pairs.costs(k), fitting.settings
    tiles = tiles_of(points.rows, points.kernel, points.matrix, np.float64)
    K = tiles.all_values(tiles)
    norms = points.norms()
    nu = fused_pairs.nu_of(s)

    def block(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return K.take(rows, axis=0).take(columns, axis=1)

    def fold(inside: np.ndarray, outside: np.ndarray) -> Held | None:
        first = inside < pairs.counts[k][0]
        mine, theirs = inside[first], inside[~first]
        n, m = len(mine), len(theirs)
        if not n or not m or fitting.stop.ended():
            return None
        inside = np.concatenate((mine, theirs))
        of_rows = (None, block(inside, inside)) if norms is None else (Norms(norms[inside]), None)
        problem = pair_problem(Points(points.kernel, *of_rows), s, (n, m), costs)
        if nu and not 1.0 <= 0.5 * nu * (n + m) <= min(n, m):  # infeasible, or without losses
            return None
        counts, first_one = np.array([[n, m]]), np.zeros(1, np.int64)
        limits = fused_pairs.limits_of(points, counts, np.array([costs]), nu, lambda _: np.diag(K)[inside])
        own, cross, others = block(mine, mine), block(mine, theirs), block(theirs, theirs)
        folds = len(pairs.pairs) * max(1, len(K) // max(1, len(outside)))
        alpha, gradient, out = results = np.zeros(n + m), np.zeros(n + m), np.zeros(loops.PAIR_FIELDS)
        fused_pairs.steps(
            own, cross, others, counts[0, 1:], first_one, first_one, first_one, limits, results, s, folds,
            points.kernel.positive,
        )(0)  # fmt: skip
        why, rounds, value, gap, relative, _, rho, r, _ = out.tolist()
        if why == loops.UNSOLVED or not (gap - value <= max(limits[0, 4], 0.0) or relative <= SLOW_MIN_GAP):
            return None
        status = ENDS[int(why)]
        result = KernelResult(alpha, rho + 0.0, r + 0.0, value, relative, int(rounds), status, gradient)
        result.primal = gap - value
        function = problem.decision_function(result)
        used = function.coef.nonzero()[0]
        text = Solved(function, result, NOT_CERTIFIED).text() + f"Total nSV = {len(used)}\n"
        return block(outside, inside[used]) @ function.coef[used] - function.rho, text

    found: list[Held | None] = [None] * (len(starts) - 1)

    def one(f: int) -> None:
        with np.errstate(all="ignore"):  # values that are not finite are no result
            found[f] = fold(*fold_rows(order, starts, f))

    run_blocks(one, len(found), short=True)
    return found
