"""Child process: the objectives |w|^2/2 + C sum of losses of linear classifiers on a set of any size, read in blocks.

Its argument is a JSON object:
{"path", "C", "candidates": [{"loss": "hinge" | "logistic", "weights": file of numpy's, the bias last}
                             or {"loss", "model": file}, ...]} -> [objective, ...]
The bias is free: it is no part of w.
"""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np
import scipy.sparse

from bench_parts.certify import POINTWISE, answer
from svmtool.formats.models import linear
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table as svmlight

BLOCK = 1 << 26  # bytes of text
LOSSES = {"hinge": POINTWISE[3], "logistic": POINTWISE[0]}


def weights_of(candidate: dict) -> np.ndarray:
    """Weights followed by the bias, for labels above 0 against the others."""
    if "weights" in candidate:
        return np.load(candidate["weights"])
    model = linear.read(candidate["model"])
    sign = 1.0 if model.labels[0] > 0 else -1.0
    bias = model.W[-1, 0] * model.bias if model.bias > 0 else 0.0
    return sign * np.append(model.W[: model.n_features, 0], bias)


def main() -> None:
    order = json.loads(sys.argv[1])
    found = [weights_of(candidate) for candidate in order["candidates"]]
    d = max(len(w) for w in found) - 1
    W = np.array([np.append(w[:-1], np.zeros(d + 1 - len(w))) for w in found]).T
    biases = np.array([w[-1] for w in found])
    sums = np.zeros(len(found))
    with open_source(order["path"]) as source:
        for table in svmlight.tables(source, BLOCK):
            X = scipy.sparse.csr_matrix((table.values, table.indices, table.indptr), shape=(len(table), d))
            margins = np.where(table.labels > 0, 1.0, -1.0)[:, None] * (X @ W + biases)
            for k, candidate in enumerate(order["candidates"]):
                sums[k] += np.sum(LOSSES[candidate["loss"]](margins[:, k]))
    answer((0.5 * np.sum(W * W, axis=0) + order["C"] * sums).tolist())


if __name__ == "__main__":
    main()
