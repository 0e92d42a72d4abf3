"""Child process: writes the rows of a set restricted to the d most frequent features, for several d.  JSON argument:

{"path": data file, "sizes": [d, ..], "targets": [file, ..]} -> the number of non-zeros of each
"""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

from bench_parts.certify import answer, rows_of


def main() -> None:
    order = json.loads(sys.argv[1])
    X, y = rows_of(order["path"])
    by_count = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    found = []
    for d, target in zip(order["sizes"], order["targets"], strict=True):
        part = X[:, np.sort(by_count[:d])].tocsr()
        part.sort_indices()
        found.append(int(part.nnz))
        with open(target, "w") as file:
            for i, label in enumerate(y.tolist()):
                span = slice(part.indptr[i], part.indptr[i + 1])
                pairs = zip(part.indices[span].tolist(), part.data[span].tolist(), strict=True)
                file.write(" ".join([f"{label:g}", *(f"{j + 1}:{v:.9g}" for j, v in pairs)]) + "\n")
    answer(found)


if __name__ == "__main__":
    main()
