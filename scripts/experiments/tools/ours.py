"""svmtool in memory, as svm-train trains.

Methods are "-s N" (linear, a step is --gap) and "kernel -s N" (RBF, a step is -e).  Settings: any of
svmtool.params.Settings' by name, and with a kernel theta, of --theta.
There is no bias except the rows' own (Data.bias) unless a setting adds one, so that all tools solve the same problem.
With the setting `path` a fit trains a model for each C of the path, with `seeded` starting from the one before; the
result is the last.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse

from experiments.problem import Fitted, Problem
from svmtool import __version__
from svmtool.data.dataset import Dataset
from svmtool.params import Settings
from svmtool.registry.row import gap_of_theta
from svmtool.training import pipeline

METHODS = ("-s N", "kernel -s N")


def VERSION() -> str:
    return f"svmtool {__version__}"


def table_of(X, y: np.ndarray) -> Dataset:
    """A copy, because training consumes a table."""
    return Dataset(y.copy(), X.indptr.astype("i8"), X.indices.astype("i4"), X.data.copy(), X.shape[1])


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    kind, number = method.split("-s ")
    if kind:
        return _kernel(problem, int(number), step, settings)
    settings = {"bias": -1.0, **settings}
    path, seeded = settings.pop("path", (problem.C,)), settings.pop("seeded", False)
    asked = Settings.of(solver=int(number), gap=step, seed=problem.run, **settings)
    seconds, done = 0.0, None
    for C in path:
        initial = done.model if seeded and done else None
        table = table_of(problem.X, problem.y)
        start = time.perf_counter()
        done = pipeline.train(table, asked.replace(C=C), initial=initial)
        seconds += time.perf_counter() - start
    status = done.status
    W = done.model.W[:, 0] * (1.0 if done.model.labels is None or done.model.labels[0] == 1 else -1.0)
    b = 0.0
    if done.model.bias >= 0.0:
        W, b = W[:-1], float(W[-1] * done.model.bias)
    facts = {
        "gap": done.certificate.gap, "converged": bool(status and status.converged),
        "iterations": max(r.iterations for r in done.results), "nonzeros": problem.X.nnz,
        "added": sum(int(r.taken.sum()) for r in done.results if r.taken is not None),
    }  # fmt: skip
    return Fitted(seconds, W, b, facts=facts)


def _kernel(problem: Problem, number: int, step: float | None, settings: dict) -> Fitted:
    from svmtool.training.kernel.dataset import kernel_set
    from svmtool.training.kernel.fit import Fitting
    from svmtool.training.kernel.train import trainer

    settings = {"gap" if k == "theta" else k: gap_of_theta(v) if k == "theta" else v for k, v in settings.items()}
    asked = Settings.of_kernel(solver=number, eps=step, seed=problem.run, **settings)
    table = table_of(problem.X, problem.y)
    start = time.perf_counter()
    done = trainer(asked)(kernel_set(table, asked, "rows"), Fitting(asked))
    seconds = time.perf_counter() - start
    model, status = done.model, done.status
    sign = 1.0 if model.labels is None or model.labels[0] == 1 else -1.0
    shape = (model.total_sv, problem.X.shape[1])
    support = scipy.sparse.csr_matrix((model.values, model.indices, model.indptr), shape=shape)
    facts = {
        "gap": done.certificate.gap, "converged": bool(status and status.converged),
        "iterations": sum(s.result.iterations for s in done.solved),
    }  # fmt: skip
    if "--boundary" in asked.row.supported:
        by_rho = asked.replace(boundary="rho")
        [other] = trainer(by_rho)(kernel_set(table_of(problem.X, problem.y), by_rho, "rows"), Fitting(by_rho)).solved
        facts["rejected_by_rho"] = other.result.plane.outside / len(problem.y)
    return Fitted(seconds, kernel=(support, sign * model.coef[0], -sign * float(model.rho[0]), model.kernel.gamma),
                  facts=facts)  # fmt: skip
