"""The search for C with a guarantee (-C --guarantee E): no C of the range has an error that is E points lower.

Let w minimise 1/2 |w|^2 + C L(w), and let w_0 and a_0 be known at C_0, with v_0 = sum_i a_0i y_i x_i and the certified
gap g = P(w_0) - D(a_0).  At C = s C_0 the point s a_0 is feasible.  Objective and dual are strongly convex in w and v:

    1/2 |w - w_0|^2 + 1/2 |w - s v_0|^2 <= P_C(w_0) - D_C(s a_0),

which is a ball about (w_0 + s v_0) / 2 with the squared radius

    r^2 = s (g - |w_0 - v_0|^2 / 4) + (1 - s) (|w_0|^2 - s |v_0|^2) / 4,

(s - 1)^2 |w_0|^2 / 4 if w_0 is exact (Shibagaki, Suzuki, Karasuyama and Takeuchi, Regularization Path of
Cross-Validation Error Lower Bounds, NeurIPS 2015).  Written as |w|^2 - w.w_0 <= s (w.v_0 + g - (|w_0|^2 + |v_0|^2) / 2)
it is linear in s: whatever lies in the ball of some s between 1 and S lies in that of 1 or of S.  So between two known
values C_1 < C_2 each w lies in the ball of C_1 at C_2 and in that of C_2 at C_1, or in the small one of either at
itself.  The intersection of two balls (c_1, r_1) and (c_2, r_2) lies in the ball about (1 - t) c_1 + t c_2 with radius

    r^2 = (1 - t) r_1^2 + t r_2^2 - t (1 - t) |c_1 - c_2|^2   for any t of 0..1.

A held-out row is wrong at every C between if it is wrong for all scores from the least to the largest x.c -+ |x| r of
these three balls; the weights of different classes may lie in different ones.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME
from svmtool.tolerances import DUAL_RTOL
from svmtool.training.reductions.base import Reduction
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.search import MAX_C, Report, Search, Tried, goes_on, smallest_C

ACCURACY = 3e-4  # of w where it is known: gaps are at most its square times |w|^2


class Witness(NamedTuple):
    """What is known at a C of a fold's problems, k of them.

    weights : w_0 and v_0, f8 (2, d, k)
    scores : x.w_0 and x.v_0 of the held-out rows, f8 (2, n, k)
    gaps : P - D, f8[k]
    lengths : |x|, f8[n]
    own : the place of each row's label in the model's, -1 where it has none, i8[n]
    labels : how many the model has
    share : the least |w_0|^2 / P
    """

    weights: np.ndarray
    scores: np.ndarray
    gaps: np.ndarray
    lengths: np.ndarray
    own: np.ndarray
    labels: int
    share: float

    def ball(self, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Centre f8 (d, k), the scores there f8 (n, k) and squared radius f8[k] of the ball at s times this C."""
        w, v = self.weights
        off = self.gaps - np.sum((w - v) ** 2, axis=0) / 4.0
        square = s * off + (1.0 - s) * (np.sum(w * w, axis=0) - s * np.sum(v * v, axis=0)) / 4.0
        return (w + s * v) / 2.0, (self.scores[0] + s * self.scores[1]) / 2.0, np.maximum(square, 0.0)

    def between(self, scores: np.ndarray, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and largest scores f8 (n, k) in balls with these at their centres and squared radii f8[k]."""
        apart = np.sqrt(square) * self.lengths[:, None]
        return scores - apart, scores + apart

    def wrong(self, least: np.ndarray, most: np.ndarray) -> np.ndarray:
        """Which rows are wrong for all scores between these, f8 (n, k), bool[n]."""
        if self.labels == 1:
            return self.own < 0
        if self.labels == 2:
            least, most = np.hstack((least, -most)), np.hstack((most, -least))
        own = np.take_along_axis(most, np.maximum(self.own, 0)[:, None], axis=1)
        return (self.own < 0) | np.any(least > own, axis=1)


def witness_of(problems: Reduction, results: list, held_out: Dataset) -> Witness:
    """The Witness of a fold's results at the C of its problems, whose certificates keep their points."""
    found = [problems.certify(k, result) for k, result in enumerate(results)]
    w = problems.weights(results)
    points = [np.zeros(problems.rows.n) if c.point is None else c.point for c in found]
    v = np.stack([problems.rows.transpose_product(a * problems.task(k).y) for k, a in enumerate(points)], axis=1)
    models = [problems.model(weights) for weights in (w, v)]
    place = {label: k for k, label in enumerate(models[0].labels)}
    return Witness(
        np.stack((w, v)), np.stack([model.decision_values(held_out) for model in models]),
        np.array([c.primal - c.dual + c.off[0] for c in found]),
        np.sqrt(held_out.rows(problems.settings.problem.bias, -1).square_norms()),
        np.array([place.get(int(label), -1) for label in held_out.labels]), len(place),
        min(float(u @ u) / c.primal if c.primal > 0.0 else 0.0 for u, c in zip(w.T, found, strict=True)),
    )  # fmt: skip


def wrong_between(a: Witness, b: Witness, ratio: float) -> int:
    """How many held-out rows of a fold are wrong at every C from that of a to that of b, `ratio` times as large."""
    c1, z1, r1 = a.ball(ratio)
    c2, z2, r2 = b.ball(1.0 / ratio)
    apart = np.sum((c1 - c2) ** 2, axis=0)
    t = np.clip(np.divide(apart + r1 - r2, 2.0 * apart, out=np.full_like(r1, 0.5), where=apart > 0.0), 0.0, 1.0)
    square = np.maximum((1.0 - t) * r1 + t * r2 - t * (1.0 - t) * apart, 0.0)
    found = [a.between((1.0 - t) * z1 + t * z2, square), *(end.between(*end.ball(1.0)[1:]) for end in (a, b))]
    least, most = np.minimum.reduce([low for low, _ in found]), np.maximum.reduce([high for _, high in found])
    return int(np.count_nonzero(a.wrong(least, most)))


class Known(NamedTuple):
    """A value of C, what is known there of each fold, and the least |w|^2 / P of all problems."""

    C: float
    folds: list[Witness]
    share: float


def search(
    folds: Folds, settings: Settings, points: float, stop: StopFlag, report: Report = lambda tried: None,
    first_C: float | None = None, warn: Callable[[str], object] = lambda text: None,
) -> Search:  # fmt: skip
    """Try values of C until none from the first to MAX_C can predict `points` percent more rows right than the best.

    Each value lies where the bound is weakest; folds start from their weights at its left neighbour.  Ends and ties are
    those of `search_C`.  At the time limit, and where values are as close as weights are known, the bound is what has
    been reached.
    """
    n, folds.any_start = len(folds.table), False
    parts: list[tuple[int, float, Known, Known]] = []  # of the range of C between known values, the weakest bound first
    reached = math.inf  # the bound of parts that need no more values, which are forgotten: `needed` only falls
    low = smallest_C(n, folds.largest_square(settings.problem.bias), settings.row.loss) if first_C is None else first_C
    tried: list[Tried] = []

    def known(C: float, warm: list, share: float) -> Known | None:
        """What is known at C; None at the time limit.  share: an estimate of |w|^2 / P, for the gap asked for."""
        found: list[Any] = [None] * folds.count

        def witness(k: int, problems: Reduction, results: list, rows: Dataset) -> None:
            found[k] = witness_of(problems, results, rows)

        if tried and stop.seconds_left <= 0.0:
            return None
        for _ in range(2):
            gap = max(ACCURACY**2 * share, DUAL_RTOL)
            asked = settings.replace(C=C, gap=gap, keep_dual=True)
            predictions, _ = folds.evaluate(asked, stop, warm, witness=witness)
            before, share = share, min(fold.share for fold in found)
            if TIME in folds.open_ends or before <= share:
                break
        right = np.count_nonzero(predictions == folds.table.labels) / n
        in_time = goes_on(tried, Tried(settings.problem.p, C, right, folds.open_ends), report)
        return Known(C, found, share) if in_time else None

    def best() -> Tried:
        return max(tried, key=lambda value: (value.score, -value.C))

    def needed() -> float:
        return round(n * (1.0 - best().score)) - points * n / 100.0  # a whole number where E is whole rows

    def add(low: Known, high: Known) -> None:
        nonlocal reached
        ratio = high.C / low.C
        errors = sum(wrong_between(a, b, ratio) for a, b in zip(low.folds, high.folds, strict=True))
        if errors >= needed():
            reached = min(reached, errors)
        else:
            heapq.heappush(parts, (errors, low.C, low, high))

    def bound() -> float:
        return 1.0 - min([reached, *(part[0] for part in parts[:1])]) / n

    values: list[Known] = []
    for C in (min(low, MAX_C), MAX_C):
        value = known(C, [fold.weights[0] for fold in values[0].folds] if values else [None] * folds.count, 1.0)
        if value is None:
            return Search(tried, best(), f"C = {C:g}", 1.0)
        values.append(value)
    add(values[0], values[1])
    while parts and parts[0][0] < needed():
        _, _, a, b = parts[0]
        ratio = math.sqrt(b.C / a.C)
        if ratio - 1.0 < ACCURACY:
            warn(f"WARNING: --guarantee {points:g} is not reached: values of C are as close as weights are known")
            break
        value = known(a.C * ratio, [fold.weights[0] for fold in a.folds], min(a.share, b.share))
        if value is None:
            return Search(tried, best(), f"C = {a.C * ratio:g}", bound())
        heapq.heappop(parts)
        add(a, value)
        add(value, b)
    return Search(tried, best(), "", bound())
