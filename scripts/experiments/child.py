"""Child process of runner.py: one cell.  Its arguments are the data file that sets.py made and the cell in JSON.

It writes a line of JSON for each finished step, so that those before a time limit are not lost.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as our commands do
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # else idle threads of LIBSVM slow down the busy ones

import numpy as np  # noqa: E402

from experiments import certify, tools  # noqa: E402
from experiments.problem import NO_MEMORY, SEED, Fitted, Problem  # noqa: E402

SHORT = 0.3  # seconds; shorter runs are repeated
MAX_RUNS = 5  # at most; the run of median time counts
WARM_SECONDS = 30.0  # limit of the unmeasured run, which loads and compiles
WARM_ITERATIONS = 3  # of that run on few rows, where a tool takes a limit
TRACE_RTOL = 1e-6  # to which a trace must end at the objective of the weights


def certified(problem: Problem, found: Fitted, name: str, settings: dict) -> dict[str, Any]:
    """Objective and accuracy of a result."""
    y, f, decide = problem.y, found.decision(problem.X), found.decision(problem.T)
    facts: dict[str, Any] = {"seconds": found.seconds, "rows": problem.X.shape[0], **found.facts}
    facts["accuracy"] = certify.accuracy(problem.t, decide)
    if name:
        power = settings.get("loss_power", 2.0)
        facts["objective"] = certify.objective(name, found.square(), y, f, problem.C, power)
    if found.kernel is not None:
        facts["support"] = found.kernel[0].shape[0]
        facts |= {"training_error": 1.0 - certify.accuracy(y, f)} if name else {}
    if "trace" in facts and not ends_at(facts["trace"], facts.get("objective", np.nan)):
        del facts["trace"]
    if np.all(y == 1.0):
        facts |= {name: certify.area(problem.t[k::2], decide[k::2]) for k, name in enumerate(("valid", "auc"))}
        facts["rejected"] = 1.0 - certify.accuracy(y, f)
    return facts


def ends_at(trace: list[list[float]], objective: float) -> bool:
    """Whether the last objective of a trace is that of the weights, as the neutral evaluator computes it."""
    return bool(trace) and abs(trace[-1][1] - objective) <= TRACE_RTOL * abs(objective)


def measured(fit: Callable[[], Fitted]) -> Fitted:
    """A result; of short runs, which are repeated, that of median time."""
    found = [fit()]
    while len(found) < MAX_RUNS and sum(run.seconds for run in found) < SHORT:
        found.append(fit())
    return sorted(found, key=lambda run: run.seconds)[len(found) // 2]


def validated(problem: Problem, folds: int, fit: Callable[[Problem], Fitted]) -> float:
    """Cross-validation accuracy with fixed folds."""
    right, order = 0.0, np.random.RandomState(SEED).permutation(len(problem.y))
    for outside in map(np.sort, np.array_split(order, folds)):
        found = fit(problem.take(np.setdiff1d(order, outside)))
        right += certify.accuracy(problem.y[outside], found.decision(problem.X[outside])) * len(outside)
    return right / len(problem.y)


def main() -> None:
    order = json.loads(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_DATA, (order["megabytes"] * 1_000_000,) * 2)
    with open(sys.argv[1], "rb") as file:
        everything = Problem(*pickle.load(file), 1.0)
    method, vary, folds = order["method"], order["vary"], order["folds"]
    tool = tools.load(order["tool"])
    left = order["seconds"]
    for at, step in enumerate(order["steps"]):
        settings, asked, problem = dict(order["settings"]), step, everything
        tolerance = settings.pop("tolerance", None)
        if vary == "rows":
            problem, asked = everything.first(step), tolerance
        elif vary:
            settings[vary], asked = step, tolerance
        problem.C = float(settings.get("C", 1.0))

        def fit(problem: Problem, asked: Any = asked, settings: dict = settings) -> Fitted:
            return tool.fit(problem, method, asked, settings)

        if at == 0:
            signal.setitimer(signal.ITIMER_REAL, WARM_SECONDS)  # the signal ends the process inside any library
            fit(problem.few(), settings={**settings, "max_iter": WARM_ITERATIONS})
        signal.setitimer(signal.ITIMER_REAL, left)
        found = measured(partial(fit, problem))
        outside = {"validated": validated(problem, folds, fit)} if folds else {}
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0.0)
        facts = {"step": step, **certified(problem, found, order["objective"], settings), **outside}
        print(json.dumps(facts), flush=True)
        if facts.get("cut"):
            break


if __name__ == "__main__":
    try:
        main()
    except MemoryError as e:
        print(e, file=sys.stderr)
        sys.exit(NO_MEMORY)
