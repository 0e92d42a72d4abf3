"""The objective value of any program's model on its training rows, by the definition of the problem.

Where a file does not state a part of the solution, the value is the least one over that part: of nu-SVR half the width
p of the tube, of nu-SVC the margin q and the length of (w, b), by which decisions do not change:

    nu-SVR   min over p of  C (nu n p + sum_i max(0, |t_i - f_i| - p)),  where at most nu n rows are outside of the tube
    nu-SVC   min over r, q of  1/2 r^2 |w|^2 - r g(q) = -g^2 / (2 |w|^2),  g(q) = nu n q - sum_i max(0, q - y_i f_i)

where g is concave, and largest where at most nu n rows have y_i f_i < q.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.data.labels import cost_factors
from svmtool.errors import SvmtoolError
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.objectives import losses
from svmtool.params import Settings
from svmtool.training.reductions.base import problems_of


def objective(settings: Settings, model: LinearModel | KernelModel, rows: Dataset) -> float:
    """The value of a model, summed over its problems."""
    return float(np.sum(values(settings, model, rows)))


def values(settings: Settings, model: LinearModel | KernelModel, rows: Dataset) -> np.ndarray:
    """The value of each problem of a model, f8[problems]; SvmtoolError where its labels or its bias do not fit."""
    with np.errstate(all="ignore"):  # a value that overflows is infinite
        if isinstance(model, LinearModel):
            return problems_of(rows, settings).values_of(model)
        return _kernel(settings, model, rows)


def _kernel(settings: Settings, model: KernelModel, rows: Dataset) -> np.ndarray:
    s, row, w = settings.problem, settings.row, rows.factors
    if row.kind == "hard one-class" or row.regulariser != "1/2 |w|^2":
        raise SvmtoolError(f"no objective values are computed for kernel models of -s {row.number} ({row.name})")
    if row.costs and not np.isfinite(s.C):
        raise SvmtoolError("no objective values are computed at C = inf: state a finite -c")
    f, norms = model.decision_values(rows), _norms(model)
    if row.word == "one_class":
        return norms - s.nu * w.sum() * model.rho[0] + w @ np.maximum(-f, 0.0)
    if row.kind == "regression":
        off = np.abs(f[:, 0] - rows.labels)
        p = _level(off, w, s.nu) if row.word == "nu_svr" else s.p
        tube = s.nu * w.sum() * p if row.word == "nu_svr" else 0.0
        return norms + s.C * (tube + w @ np.maximum(off - p, 0.0))
    if not row.free_bias:
        norms = norms + 0.5 * np.square(model.rho)
    loss, labels = losses.of(row.loss, 1.0), list(model.labels or ())
    cost = s.C * cost_factors(labels, s.class_weights)[0]
    pairs = [(i, j) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    for k, (i, j) in enumerate(pairs):
        first, second = rows.labels == labels[i], rows.labels == labels[j]
        here = first | second
        margin = np.where(first, f[:, k], -f[:, k])[here]
        if row.word == "nu_svc":
            norms[k] = _scaled(norms[k], margin, w[here], s.nu)
        else:
            norms[k] += (w * np.where(first, cost[i], cost[j]))[here] @ loss.value(1.0 - margin)
    return norms


def _level(a: np.ndarray, w: np.ndarray, share: float) -> float:
    """The number that a share of the weights w of the numbers a is above: the best p or, of -y f, minus the best q."""
    order = np.argsort(-a, kind="stable")
    sums = np.cumsum(w[order])
    return float(a[order[min(int(np.searchsorted(sums, share * sums[-1])), len(a) - 1)]])


def _scaled(norm: float, margin: np.ndarray, w: np.ndarray, nu: float) -> float:
    """nu-SVC: the value at the best multiple; norm: 1/2 |w|^2."""
    q = -_level(-margin, w, nu)
    gain = max(nu * float(w.sum()) * q - float(w @ np.maximum(q - margin, 0.0)), 0.0)
    return -0.25 * gain * gain / norm if norm > 0.0 else 0.0


def _norms(model: KernelModel) -> np.ndarray:
    """1/2 |w|^2 of each decision value."""
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
