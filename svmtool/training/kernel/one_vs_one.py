"""Classification with kernels: one problem for each pair of classes.

Of pair (i, j), i < j, the rows of class i come first and are +1, those of j are -1.  A row's coefficient in the pair
of its class with another stands in the column of the other class, counted without its own.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from svmtool.data.labels import Classes
from svmtool.kernels.problems import CSvc, KernelProblem, LeastSquaresSvc, NuSvc, Points
from svmtool.models.kernel import KernelModel
from svmtool.params import Settings
from svmtool.tolerances import MIB
from svmtool.training.kernel import pairs_together
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting, KernelTraining, Solved
from svmtool.training.validation.folds import GlibcRand

NUMBER = 16  # bytes that a number of a pair's rows takes: its value, its index, and its value in single precision
NAMED = 5  # pairs of classes that a warning names
ONE_CLASS = "WARNING: training data in only one class. See README for details.\n"


def train(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """Train on the rows of `data`; rand draws the folds that -b 1 needs, in LIBSVM's order."""
    s = fitting.settings
    classes = Classes(data.labels)
    factor, missing = classes.weights(s.problem.class_weights)
    by_class = np.argsort(classes.number, kind="stable")
    data = data.take(by_class)
    ends = np.concatenate(([0], np.cumsum(classes.counts)))
    members = [np.arange(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    pairs = list(combinations(range(len(members)), 2))
    chosen = [np.concatenate((members[i], members[j])) for i, j in pairs]
    counts = [(len(members[i]), len(members[j])) for i, j in pairs]
    C = s.problem.C
    costs = [(C * factor[i], C * factor[j]) for i, j in pairs]
    points, labels = data.points(), [f"{classes.labels[i]} {classes.labels[j]}" for i, j in pairs]
    solved: list[Solved | None] = [None] * len(pairs)
    if data.weights is None:  # there the rows of a class cost the same
        solved = pairs_together.solve(
            points, ends, [C * some for some in factor], fitting, labels,
            lambda some, k: pair_problem(some, s, counts[k], costs[k]),
        )  # fmt: skip
    left = [k for k, done in enumerate(solved) if done is None]
    norms = None if points.rows is None else points.rows.square_norms()

    def task(q: int) -> KernelProblem | LeastSquaresSvc:
        some = chosen[left[q]]
        mine = points.bare(some, norms) if fitting.stop.ended() else points.take(some)
        weights = None if data.weights is None else data.weights[some]
        return pair_problem(mine, s, counts[left[q]], costs[left[q]], weights)

    others = fitting.solve_several(
        task,
        [len(chosen[k]) for k in left],
        [labels[k] if len(pairs) > 1 else None for k in left],
        0.0 if points.rows is None else NUMBER * points.rows.nnz / max(points.n, 1) / MIB,
    )
    for k, done in zip(left, others, strict=True):
        solved[k] = done
    texts, sigmoids, lacking = [f.text() for f in solved], None, ""
    if s.run.probability and rand is not None:
        from svmtool.training.kernel import calibration

        try:
            sigmoids = []
            for k, (n, m) in enumerate(counts):
                pair = data.take(chosen[k]).labelled(np.repeat((1.0, -1.0), (n, m)))
                A, B, inner = calibration.pair_sigmoid(pair, costs[k], fitting, train, rand)
                sigmoids.append((A, B))
                texts[k] = inner + texts[k]
        except calibration.NotCalibratedError as e:
            sigmoids, lacking = None, str(e)
    model, support = _model(data, s, classes, members, solved, sigmoids)
    text = (ONE_CLASS if len(members) == 1 else "") + "".join(texts) + f"Total nSV = {sum(model.nr_sv)}\n"
    warnings = [f"WARNING: class label {label} specified in weight is not found" for label in missing]
    doubts = [(pair, doubt) for pair, fit in zip(pairs, solved, strict=True) if (doubt := fit.answer.doubt)]
    for (i, j), doubt in doubts[:NAMED]:
        warnings.append(f"WARNING: classes {classes.labels[i]} and {classes.labels[j]}: {doubt}")
    if len(doubts) > NAMED:
        others = len(doubts) - NAMED
        warnings.append(f"WARNING: {others} other pairs of classes, of {len(pairs)} in all, have such a warning too")
    return KernelTraining(model, solved, text, warnings, lacking, by_class[support])


def pair_problem(
    points: Points, s: Settings, counts: tuple[int, int], costs: tuple[float, float],
    weights: np.ndarray | None = None,
):  # fmt: skip
    """The problem of one pair: counts[0] rows of +1, then counts[1] of -1, what a row of either costs, and factors of
    these costs (f8[n])."""
    y, cost = np.repeat((1.0, -1.0), counts), np.repeat(costs, counts)
    if weights is not None:
        cost = cost * weights
    if s.row.loss == "least squares":
        return LeastSquaresSvc(points, y, cost, s.row.free_bias)
    return NuSvc(points, y, s.problem.nu, weights) if s.row.word == "nu_svc" else CSvc(points, y, cost)


def _model(
    data: KernelSet, s: Settings, classes: Classes, members: list[np.ndarray], solved: list[Solved],
    sigmoids: list[tuple[float, float]] | None,
) -> tuple[KernelModel, np.ndarray]:  # fmt: skip
    """The model of all pairs, and which rows of `data` are its support vectors, i8: those that have a coefficient other
    than 0 in any pair."""
    count = len(members)
    number = np.repeat(np.arange(count), [len(some) for some in members])
    coef = np.zeros((max(1, count - 1), len(data)))
    for (i, j), fit in zip(combinations(range(count), 2), solved, strict=True):
        first = len(members[i])
        coef[j - 1, members[i]] = fit.answer.coef[:first]
        coef[i, members[j]] = fit.answer.coef[first:]
    support = np.flatnonzero(np.any(coef != 0.0, axis=0))
    nr_sv = tuple(np.bincount(number[support], minlength=count).tolist())
    probA, probB = (None, None) if sigmoids is None else np.array(sigmoids).reshape(-1, 2).T.copy()
    rho = np.array([fit.answer.rho for fit in solved])
    coef = np.ascontiguousarray(coef[:, support])
    parts = data.support(support)
    model = KernelModel(
        s.row.word, data.kernel, tuple(classes.labels), count, rho, coef, nr_sv, *parts, probA=probA, probB=probB
    )
    return model, support
