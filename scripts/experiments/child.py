"""Child process of runner.py: one cell.  Its arguments are the data file that sets.py made and the cell in JSON.

It writes a line of JSON for each step that ended, so that those before a cut are not lost.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [os.path.dirname(HERE), *(p for p in sys.path if os.path.abspath(p) != HERE)]  # its names are not ours
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as our commands do

import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402

from experiments import judge  # noqa: E402
from experiments.problem import Fitted, Problem  # noqa: E402


def judged(problem: Problem, found: Fitted, order: dict) -> dict[str, Any]:
    """Objective and accuracy of an answer."""
    facts: dict[str, Any] = {"seconds": found.seconds, **found.facts}
    name, C, p = order["objective"], problem.C, order["settings"].get("p", 2.0)
    if found.w is not None:
        decide = problem.T @ found.w + found.b
        if name:
            facts["objective"] = judge.objective(name, problem.X, problem.y, found.w, found.b, C, p)
    elif found.kernel is not None:
        support, coefficients, b, gamma = found.kernel
        decide = judge.kernel_values(support, coefficients, gamma, problem.T) + b
        facts["support"] = support.shape[0]
        if name:
            facts["objective"] = judge.kernel_objective(support, coefficients, gamma, problem.X, problem.y, b, C)
    elif found.decide is not None:
        decide = found.decide(problem.T)
    else:
        return facts
    facts["accuracy"] = judge.accuracy(problem.t, decide)
    return facts


def main() -> None:
    order = json.loads(sys.argv[2])
    with np.load(sys.argv[1]) as file:
        kept = {name: file[name] for name in file.files}

    def rows(name: str):
        d = int(kept["d"])
        parts = (kept[name + "_values"], kept[name + "_indices"], kept[name + "_indptr"])
        return scipy.sparse.csr_matrix(parts, shape=(len(parts[2]) - 1, d))

    problem = Problem(rows("X"), kept["y"], rows("T"), kept["t"], float(order["settings"].get("C", 1.0)), order["run"])
    fit = importlib.import_module("experiments.tools." + order["tool"]).fit
    fit(problem.few(), order["method"], order["steps"][0], order["settings"])
    for step in order["steps"]:
        found = fit(problem, order["method"], step, order["settings"])
        print(json.dumps({"step": step, **judged(problem, found, order)}), flush=True)


if __name__ == "__main__":
    main()
