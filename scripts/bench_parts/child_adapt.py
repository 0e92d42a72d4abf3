"""Child process: creates and writes rows, trains a model, adds and removes rows.  Its argument in JSON:

{"rows": n, "new": rows to add, "d": features, "many": file for n rows, "some": file for the new ones, "model": path}
-> {training, adding, removing: seconds alone, without files, apart: relative distance from training again}
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

import numpy as np

from bench_parts.certify import answer
from svmtool.cli.console import Console
from svmtool.data.dataset import Dataset
from svmtool.formats.svmlight import table as svmlight
from svmtool.params import Settings
from svmtool.training import linear
from svmtool.training.adapting import adaptable as adapt

ROWS_A_BLOCK, REPEATS = 20_000, 5


def make(path: str, n: int, d: int, seed: int) -> None:
    """n rows with labels given by a hyperplane and noise."""
    rng, w = np.random.default_rng(seed), np.random.default_rng(0).normal(size=d)
    with open(path, "w") as file:
        for start in range(0, n, ROWS_A_BLOCK):
            X = rng.normal(size=(min(ROWS_A_BLOCK, n - start), d))
            y = np.sign(X @ w + 2.0 * rng.normal(size=len(X)))
            pairs = (" ".join(f"{j}:{v:.4g}" for j, v in enumerate(x, 1)) for x in X.tolist())
            file.writelines(f"{label:+g} {row}\n" for label, row in zip(y.tolist(), pairs, strict=True))


def joined(a: Dataset, b: Dataset) -> Dataset:
    return Dataset(
        np.append(a.labels, b.labels), np.append(a.indptr, a.indptr[-1] + b.indptr[1:]),
        np.append(a.indices, b.indices), np.append(a.values, b.values), max(a.n_features, b.n_features),
    )  # fmt: skip


def main() -> None:
    order = json.loads(sys.argv[1])
    make(order["many"], order["rows"], order["d"], 1)
    make(order["some"], order["new"], order["d"], 2)
    settings = Settings.of(solver=71).with_default_bias()
    table, new = svmlight.read(order["many"]), svmlight.read(order["some"])
    files = adapt.NewState(settings, table, order["model"])
    training = []
    for _ in range(3):
        start = time.perf_counter()
        done = linear.train(table, settings)
        training.append(time.perf_counter() - start)
    files.write(done)
    files.close()
    adding, removing = [], []
    for _ in range(REPEATS):
        adaptable = adapt.Adaptable(settings, order["model"], order["model"] + ".other", Console(True))
        adaptable.log_at_target()  # the copy of the log is not part of the measured change
        start = time.perf_counter()
        adaptable.add(new)
        model, _ = adaptable.solve()
        adding.append(time.perf_counter() - start)
        start = time.perf_counter()
        adaptable.remove(order["some"], new)
        adaptable.solve()
        removing.append(time.perf_counter() - start)
        adaptable.close()
    again = linear.train(joined(table, new), settings).model
    answer(
        {
            "training": statistics.median(training),
            "adding": statistics.median(adding), "removing": statistics.median(removing),
            "apart": float(np.linalg.norm(model.W - again.W) / np.linalg.norm(again.W)),
        }
    )  # fmt: skip


if __name__ == "__main__":
    main()
