"""Child process: times the ALFPGM paper's algorithm with working sets of p pairs, and the engine.

The argument is a JSON object:

{"path": data file, "C": .., "gamma": .. or null, "eps": .., "cache_mb": .., "limit": seconds of a run,
"runs": [{"paper": bool, "pairs": p or null}, ...]}
-> [{seconds, rounds, violation, objective, gap, converged}, ...], problems of several classes summed
"""

from __future__ import annotations

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands do

from bench_parts.certify import answer
from svmtool import registry
from svmtool.certify.kernel import certify
from svmtool.formats.svmlight import table as svmlight
from svmtool.papers import alfpgm as printed
from svmtool.papers.running import Tolerance
from svmtool.params import Options, Settings, tolerance
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import Monitor, Rule
from svmtool.training.kernel.dataset import kernel_set
from svmtool.training.kernel.fit import Fitting, Solved
from svmtool.training.kernel.train import one_vs_one
from svmtool.training.kernel.verify import as_printed


class PairFitting(Fitting):
    """Solves with given options and sums the solver's time over all pairs of classes."""

    def __init__(self, settings: Settings, printed: bool, options: Options):
        super().__init__(settings)
        self.printed, self.options, self.seconds = printed, options, 0.0

    def solve(self, problem, label: str | None = None, cache_mb: float | None = None, *_: object) -> Solved:
        s = self.settings
        monitor = Monitor(s.stopping.gap, None, s.stopping.max_seconds, None, None, self.started)
        start = time.perf_counter()
        problem.cache_mb, problem.options = s.run.cache_mb if cache_mb is None else cache_mb, self.options
        if self.printed:
            result = registry.solver_of(printed)(problem, monitor, Tolerance(tolerance(s)))
        else:
            result = registry.solver_of(alfpgm)(problem, monitor, Rule(range=tolerance(s)))
        self.seconds += time.perf_counter() - start
        if self.printed:
            return Solved(*as_printed(problem, result, None))
        found = problem.decision_function(result)
        return Solved(found, result, certify(problem, result.alpha, result.gradient, result.rho, result.r, found.scale))


def main() -> None:
    order = json.loads(sys.argv[1])
    table = svmlight.read(order["path"])
    settings = Settings.of_kernel(
        C=order["C"], gamma=order["gamma"] or 0.0, eps=order["eps"], cache_mb=order["cache_mb"],
        max_seconds=order["limit"],
    )  # fmt: skip
    data = kernel_set(table, settings, order["path"])
    runs = []
    for asked in order["runs"]:
        fitting = PairFitting(settings, asked["paper"], Options(pairs=asked["pairs"]))
        done = one_vs_one(data, fitting)
        runs.append(
            {
                **asked, "seconds": fitting.seconds, "rounds": sum(f.result.iterations for f in done.solved),
                "violation": done.certificate.violation, "gap": done.certificate.gap,
                "objective": sum(f.function.objective for f in done.solved),
                "converged": all(f.result.status.converged for f in done.solved),
            }
        )  # fmt: skip
    answer(runs)


if __name__ == "__main__":
    main()
