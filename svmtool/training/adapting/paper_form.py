"""What an adaptable model of --method paper keeps beside its sums: P and w, which Eqs. 4 to 10 change row by row.

A row costs d^2 for each P: problems of several classes share one where their rows have the same weights.  Where C, the
bias feature, or the weights of rows change, P is computed anew from the sums by a factorisation; w = P A y, in O(d^2),
where the set of labels changes, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.labels import Weighting, two_class_problems, weightings
from svmtool.errors import SvmtoolError
from svmtool.formats.adaptable.state import State
from svmtool.linalg.systems import mirror
from svmtool.objectives.normal_equations import equations_of
from svmtool.objectives.task import Task
from svmtool.papers.lssvm import DigitsError, add, algorithm_2, remove, row, scale
from svmtool.papers.running import Matrix, matrix, run
from svmtool.solvers.shared.base import Monitor


class PaperForm:
    """P and w of the problems of `labels`, see the module's docstring.

    inverses: weighting -> nu P = (I + 2 C sum v_i x_i x_i')^-1, f8[d, d] in Fortran order.  W f8[d, problems].
    C, bias, labels: of these.
    """

    def __init__(self, labels: list[int], inverses: dict[Weighting, np.ndarray], W: np.ndarray, C: float, bias: float):
        self.labels, self.inverses, self.W, self.C, self.bias = labels, inverses, W, C, bias

    def extend(self, d: int) -> None:
        """Add features that no row has had, before the bias feature."""
        old = len(self.W)
        if d == old:
            return
        places = np.arange(old)
        if self.bias >= 0:
            places[-1] = d - 1
        for key, before in self.inverses.items():
            self.inverses[key] = np.asfortranarray(np.eye(d))
            self.inverses[key][np.ix_(places, places)] = before
        W = np.zeros((d, self.W.shape[1]))
        W[places] = self.W
        self.W = W

    def solutions(self, factor: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """w and nu P of each problem."""
        return [(self.W[:, k], self.inverses[key]) for k, key in enumerate(weightings(self.labels, factor))]

    def change(self, X: Matrix, place: np.ndarray, r: np.ndarray, sign: float, factor: Sequence[float]) -> None:
        """Add rows (sign 1) or remove them (-1): X (n, d), labels[place_i] and the weight r_i of each, one by one.

        RowError where rounding leaves too few digits; then the form is of no use.
        """
        update = add if sign > 0.0 else remove
        problems, keys = two_class_problems(factor), weightings(self.labels, factor)
        for key, P in self.inverses.items():
            own = [k for k, other in enumerate(keys) if other == key]
            signs, w = np.stack([problems[k][0] for k in own]), self.W[:, own]
            root = np.sqrt(2.0 * self.C * r * problems[own[0]][1][place])
            for i in np.flatnonzero(root).tolist() if len(w) else ():  # without features there is nothing to change
                j, x = row(X, i)
                try:
                    P, w = update(P, w, j, root[i] * x, root[i] * signs[:, place[i]])
                except DigitsError as e:
                    raise RowError(i, f"{e}: use --method fast") from None
            self.inverses[key], self.W[:, own] = P, w

    def visit(self, task: Task) -> np.ndarray:
        """Make FALSVM's passes over the rows of a two-class task, in their order; how often each was added, i8[n]."""
        X, C, order = matrix(task.rows), task.cost, np.arange(task.rows.n)
        [(key, P)], nu = self.inverses.items(), scale(C)[0]
        steps = algorithm_2(X, task.y, C, [order] * task.options.passes, max(1, len(order)), (P / nu, self.W[:, 0]))
        point, status = run(steps, Monitor())
        if not status.converged:
            raise SvmtoolError("rounding has left P without digits: use --method fast")
        self.inverses[key], self.W[:, 0] = nu * point.P, point.w
        assert point.taken is not None
        return point.taken


class RowError(SvmtoolError):
    """A row that cannot be added or removed; place: its number, from 0."""

    def __init__(self, place: int, why: str):
        super().__init__(why)
        self.place = place


def read(state: State) -> PaperForm | None:
    """The form in a state that was read; None if it was written with --method fast.

    A P whose diagonal is not positive, which only rounding or damage explains, is left out: it is computed anew.
    """
    if state.inverses is None or state.w is None:
        return None
    positive = {key: P for key, P in state.inverses.items() if np.all(np.diagonal(P) > 0.0)}
    inverses = {key: np.asfortranarray(mirror(P)) for key, P in positive.items()}
    return PaperForm(list(state.sums.labels), inverses, state.w, state.C, state.bias)


def form_of(
    sums: ClassStatistics, C: float, bias: float, factor: Sequence[float], before: PaperForm | None = None
) -> PaperForm:
    """The form of the rows in the sums: `before`, extended to their features, as far as it still holds."""
    d, labels = sums.m + (bias >= 0), list(sums.labels)
    keys, inverses = weightings(labels, factor), {}
    if before is not None and (before.C, before.bias) == (C, bias):
        before.extend(d)
        inverses = {key: before.inverses[key] for key in keys if key in before.inverses}
        if before.labels == labels and len(inverses) == len(set(keys)):
            return before
    W = np.zeros((d, len(keys)))
    for k, equations in enumerate(equations_of(sums, C, bias, factor)):
        if keys[k] not in inverses:
            inverses[keys[k]] = np.asfortranarray(equations.matrix.factor().inverse())
        W[:, k] = inverses[keys[k]] @ (2.0 * C * equations.b)  # w = P A y
    return PaperForm(labels, {key: inverses[key] for key in keys}, W, C, bias)  # in the order of the problems
