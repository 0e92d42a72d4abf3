"""Child process: LIBLINEAR's train() in memory, over ladders of -e.  Its argument is a JSON object.

LIBLINEAR's own Python files and shared library are taken from the folder in the order.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

from bench_parts.certify import answer, climb, rows_of, unlabelled, value_of, varied


def main() -> None:
    order = json.loads(sys.argv[1])
    sys.path.insert(0, os.path.join(order["liblinear"], "python"))
    from liblinear.liblinear import liblinear, parameter, problem

    no_classes = unlabelled(order)
    X, y = rows_of(order["path"], no_classes)
    rows = problem(y, X)

    def fit(solver: int, C: float, e: float):
        settings = parameter(f"-s {solver} -{'n' if varied(solver) == 'nu' else 'c'} {C!r} -e {e!r} -q")
        rows.set_bias(settings.bias)
        start = time.perf_counter()
        found = liblinear.train(rows, settings)
        seconds = time.perf_counter() - start
        model = found.contents
        labels = [] if no_classes else [model.label[k] for k in range(model.nr_class)]
        columns = 1 if model.nr_class == 2 and solver != 4 else model.nr_class
        W = np.ctypeslib.as_array(model.w, (model.nr_feature * columns,)).reshape(-1, columns).copy()
        liblinear.free_and_destroy_model(ctypes.pointer(found))
        return seconds, (solver, W, labels)

    def value(solution, C: float) -> float:
        number, W, labels = solution
        return value_of(number, X, y, W, labels, C)

    answer(climb(order, fit, value))


if __name__ == "__main__":
    main()
