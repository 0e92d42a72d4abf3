"""Child process: times FOSVM with one class as normal and the other classes thinned to a tenth of it.

Its argument is a JSON object: {"path": data file, "normal": label, and one of
"train": file to write, "gammas": [..], "limit": seconds} -> {rows, features, runs: [{solver, gamma, seconds, rounds,
    rejected, valid, test, converged}, ..]}
"model": file, of LIBSVM's -> {rejected, valid, test}
"sizes": [..], "gamma": .. -> [{solver, rows, seconds, rounds}, ..]
The normal rows are split at random 8 : 1 : 1 into training, validation and test; the last two get their thinned
others.  valid, test: areas under the ROC curve.  rejected: with --boundary rho, a share that LIBSVM's nu can have.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

import numpy as np

from bench_parts.certify import answer
from svmtool.formats.models import kernel
from svmtool.formats.svmlight import table as svmlight
from svmtool.metrics import RankCurve
from svmtool.params import Settings
from svmtool.training.kernel.dataset import kernel_set
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import single

THINNED = 0.1
SOLVERS = (80, 81)


class Split:
    """Training rows, and two test sets with whether each row is normal."""

    def __init__(self, path: str, normal: float):
        self.table = svmlight.read(path)
        rng = np.random.default_rng(1)
        inside = rng.permutation(np.flatnonzero(self.table.labels == normal))
        outside = rng.permutation(np.flatnonzero(self.table.labels != normal))
        tenth = len(inside) // 10
        self.chosen = np.sort(inside[2 * tenth :])
        few = max(int(THINNED * tenth), 1)
        self.asked = []
        for k in range(2):
            rows = np.concatenate((inside[k * tenth : (k + 1) * tenth], outside[k * few : (k + 1) * few]))
            self.asked.append((self.table.take(rows), np.where(np.arange(len(rows)) < tenth, 1.0, -1.0)))

    def certify(self, model) -> dict:
        """Results of a model on all three sets."""
        areas = []
        for rows, labels in self.asked:
            curve = RankCurve(1.0)
            curve.add(labels, model.decision_values(rows)[:, 0])
            areas.append(curve.area())
        rejected = float(np.mean(model.decision_values(self.table.take(self.chosen))[:, 0] < 0.0))
        return {"rejected": rejected, "valid": areas[0], "test": areas[1]}


def fit(table, solver: int, gamma: float, limit: float | None = None) -> tuple:
    """Train; returns the training and its time."""
    settings = Settings.of_kernel(solver=solver, gamma=gamma, max_seconds=limit, boundary="rho")
    data = kernel_set(table, settings.replace(gap=settings.row.gap_default), "rows")
    start = time.perf_counter()
    done = single(data, Fitting(settings))
    return done, time.perf_counter() - start


def main() -> None:
    order = json.loads(sys.argv[1])
    split = Split(order["path"], order["normal"])
    table = split.table.take(split.chosen)
    if "model" in order:
        answer(split.certify(kernel.read(order["model"])))
        return
    runs = []
    fit(table.take(np.arange(min(len(table), 100))), 80, 1.0)  # warm-up
    if "sizes" in order:
        for n, solver in itertools.product(order["sizes"], SOLVERS):
            done, seconds = fit(table.take(np.arange(min(n, len(table)))), solver, order["gamma"])
            rounds = done.solved[0].result.iterations
            runs.append({"solver": solver, "rows": min(n, len(table)), "seconds": seconds, "rounds": rounds})
        answer(runs)
        return
    with open(order["path"], encoding="ascii") as source, open(order["train"], "w", encoding="ascii") as sink:
        lines = source.readlines()
        sink.writelines(lines[i] for i in split.chosen)
    for gamma, solver in itertools.product(order["gammas"], SOLVERS):
        gamma /= table.n_features
        done, seconds = fit(table, solver, gamma, order["limit"])
        [solved] = done.solved
        runs.append(
            {
                "solver": solver, "gamma": gamma, "seconds": seconds, "rounds": solved.result.iterations,
                "converged": solved.result.status.converged, **split.certify(done.model),
            }
        )  # fmt: skip
    answer({"rows": len(table), "features": table.n_features, "runs": runs})


if __name__ == "__main__":
    main()
