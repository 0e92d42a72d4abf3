"""The objective value of any program's model on its training rows, by the definition of the problem."""

from __future__ import annotations

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.objectives import losses
from svmtool.params import Problem

LIBLINEARS = (0, 1, 2, 3, 5, 6, 7, 11, 12, 13)
LIBSVMS = (0, 3)  # C-SVC and epsilon-SVR


def refuse_others(problem: Problem) -> None:
    """SvmtoolError for problems whose objective values are not computed here."""
    known = LIBLINEARS if problem.kernel is None else LIBSVMS
    if problem.solver not in known:
        kind = "linear" if problem.kernel is None else "kernel"
        raise SvmtoolError(
            f"svmtool bench compares {kind} models of -s {', '.join(map(str, known))}, not {problem.solver}"
        )
    if problem.class_weights:
        raise SvmtoolError("svmtool bench compares problems without class weights: leave -w out")
    if problem.kernel is None and not problem.regularize_bias:
        raise SvmtoolError("svmtool bench compares problems with a regularised bias: leave -R out")


def objective(problem: Problem, model: LinearModel | KernelModel, rows: Dataset) -> float:
    """The value of a model's weights, summed over its two-class problems."""
    f = model.decision_values(rows)
    name = problem.row.loss
    loss = losses.of("hinge" if name == "tube" else name, problem.loss_power)
    norms = _norms(problem, model)
    if model.kind == "regression":
        slack = np.abs(f[:, 0] - rows.labels) - problem.p
        return float(norms[0] + problem.C * np.sum(loss.value(np.maximum(slack, 0.0))))
    total = 0.0
    for k, (one, other) in enumerate(_sides(model)):
        y = np.where(rows.labels == one, 1.0, -1.0)
        here = np.ones(len(y), bool) if other is None else (rows.labels == one) | (rows.labels == other)
        margin = (y * f[:, k])[here]
        slack = -margin if name == "logistic" else 1.0 - margin
        total += float(norms[k] + problem.C * np.sum(loss.value(slack)))
    return total


def _sides(model: LinearModel | KernelModel) -> list[tuple[float, float | None]]:
    """The positive and the negative label of each decision value; None: all other labels."""
    labels = list(map(float, model.labels or ()))
    if isinstance(model, LinearModel):
        return [(label, None) for label in (labels[:1] if model.columns == 1 else labels)]
    return [(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]]


def _norms(problem: Problem, model: LinearModel | KernelModel) -> np.ndarray:
    """The regulariser of each decision value."""
    if isinstance(model, LinearModel):
        W = model.W[:]
        return np.abs(W).sum(axis=0) if "|w|_1" in problem.row.regulariser else 0.5 * np.sum(W**2, axis=0)
    vectors = Dataset(
        np.zeros(model.total_sv), model.indptr, model.indices, model.values, int(model.indices.max(initial=-1)) + 1
    )
    f = model.decision_values(vectors) + model.rho  # without the bias: w . f(x)
    if model.nr_sv is None:
        return np.array([0.5 * float(model.coef[0] @ f[:, 0])])
    ends = np.concatenate([[0], np.cumsum(model.nr_sv)])
    norms, pair = [], 0
    for i in range(model.nr_class):
        for j in range(i + 1, model.nr_class):
            own, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            product = model.coef[j - 1, own] @ f[own, pair] + model.coef[i, other] @ f[other, pair]
            norms.append(0.5 * float(product))
            pair += 1
    return np.array(norms)
