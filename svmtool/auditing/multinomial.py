"""Audits of multinomial logistic regression and of an elastic net, which no number of -s has: solvers/softmax.py."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from svmtool.auditing.fitting import built
from svmtool.auditing.stated import Weights
from svmtool.certify.linear import Certificate
from svmtool.certify.softmax import SoftmaxCertifier
from svmtool.data.dataset import Dataset
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel
from svmtool.solvers import softmax
from svmtool.solvers.shared.base import Monitor

WORD = "L2R_LR"


def audited(
    linear: Weights, labels: tuple[int, ...], data: Dataset, C: float, share: float, free: bool, gap: float,
    stop: StopFlag,
) -> tuple[float, Certificate, LinearModel, LinearModel]:  # fmt: skip
    """P of the weights, the certificate of the engine's model, and both as models.

    labels: of the columns; share: of |w|_1; free: whether there is an intercept.
    """
    if not free and np.any(linear.intercept):
        raise ValueError("the model has an intercept, but the stated problem has none")
    bias = 1.0 if free else -1.0
    model = built(linear, labels, WORD, bias, data.n_features)
    table = data.as_sparse().as_double()
    X = csr_matrix((table.values, table.indices, table.indptr), shape=(len(data), data.n_features))
    order = np.argsort(labels)
    number = order[np.searchsorted(np.array(labels)[order], data.labels)]
    columns, cost = model.columns, C * data.factors
    W, b = model.W[: data.n_features].T, model.W[-1] if free else np.zeros(columns)
    primal = SoftmaxCertifier(X, number, columns, cost, 1.0, share, free).certify(W, b).primal
    V, _, found = softmax.solve(X, number, columns, cost, 1.0, share, free, gap, Monitor(None, None, stop=stop))
    return primal, found, model, built(Weights(V[:, :-1], V[:, -1]), labels, WORD, bias, data.n_features)
