"""Runs with kernels end anywhere, by time or Ctrl-C, with an answer and its certificate; shares of the time."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from kernel_suite import KERNELS, NORMAL, NU, certified, oracle, random_data, text

from svmtool import registry
from svmtool.certify.kernel import value_at_zero
from svmtool.formats.models import kernel
from svmtool.kernels.problems import HardOneClass
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED, TIME
from svmtool.training.kernel.fit import Fitting

every_row = pytest.mark.parametrize("row", registry.KERNEL_SOLVERS, ids=lambda row: row.name)


class Soon(StopFlag):
    """Ends after this many checks: by time, or as Ctrl-C does."""

    def __init__(self, asks: int, by_hand: bool):
        self.asks, self.by_hand = asks, by_hand

    @property
    def ends(self) -> float:
        self.asks -= 1
        return -math.inf if self.asks < 0 and not self.by_hand else math.inf

    @property
    def set(self) -> bool:
        self.asks -= 1
        return self.asks < 0 and self.by_hand


@every_row
def test_a_run_ends_anywhere_with_an_answer_and_its_certificate(row):
    problem = random_data(160).problem(row, KERNELS["rbf"])
    least = oracle(row, problem).certificate
    statuses = set()
    for asks, by_hand in itertools.product((0, 2, 14), (False, True)):
        settings = Settings.of_kernel(solver=row.number, C=1.3, nu=NU, gap=1e-12)
        answer, result, certificate = Fitting(settings, stop=Soon(asks, by_hand)).solve(problem)
        statuses.add(result.status)
        assert np.all(np.isfinite(answer.coef)) and np.isfinite(answer.rho)
        size = abs(least.primal) + problem.floor
        assert certificate.primal / answer.scale <= value_at_zero(problem)[0] + 1e-6 * size + problem.floor
        if not np.any(result.alpha) or isinstance(problem, HardOneClass):
            continue
        word = certified(problem, result).certificate
        assert word.primal == pytest.approx(certificate.primal, rel=1e-3), "it is the answer that is certified"
    assert {INTERRUPTED, TIME} <= statuses


@pytest.mark.parametrize("row", [0, 3, 52, 73])
def test_a_run_with_a_large_cost_that_ends_early_has_a_direction(row):
    """What is there after a few steps is worse than w = 0 by far, a multiple of it is better."""
    data = random_data(160)._replace(C=1e5)
    problem = data.problem(registry.find_kernel(row), KERNELS["rbf"])
    settings = Settings.of_kernel(solver=row, C=1e5, gap=1e-12, max_iter=2)
    answer, result, certificate = Fitting(settings).solve(problem)
    assert np.any(answer.coef) and not result.status.converged
    assert certificate.primal < value_at_zero(problem)[0]
    assert certified(problem, result).certificate.primal == pytest.approx(certificate.primal)


@pytest.mark.parametrize("options", ["-t 2", "-t 2 -s 1 -n 0.2", "-t 2 -s 52", "-t 2 -b 1", "-t 2 -s 73 -w1 0"])
def test_no_pair_is_solved_after_the_limit(options, svm_train, out_of_time):
    out_of_time()
    data = text(NORMAL, np.arange(30) % 3)
    status, out, err = svm_train(*options.split(), "d", "m", data=data)
    assert status == 0 and "WARNING: not converged: time limit reached" in err
    assert kernel.read("m").total_sv == 0 and "nan" not in out
    status, out, err = svm_train(*options.split(), "-v", 3, "d", data=data)
    assert "time limit reached" in err


def test_pairs_continue_after_their_time_share(one_thread):
    """The first of two uses all of its share of the time, the other ends at once."""
    data = random_data(60)
    row = registry.find_kernel(0)
    fitting = Fitting(Settings.of_kernel(gap=1e-13), stop=StopFlag(30.0))
    tried = []
    solve = fitting.solve

    def one(problem, label, cache_mb, stop, start):
        tried.append(label)
        assert (start is not None) == (len(tried) == 3), "a problem goes on from where it was"
        return solve(problem, label, cache_mb, StopFlag(0.0) if len(tried) == 1 else stop, start)

    fitting.solve = one
    found = fitting.solve_several(lambda k: data.problem(row, KERNELS["rbf"]), [60, 60], ["a", "b"], 0.0)
    assert tried == ["a", "b", "a"]
    assert all(f.result.status is not TIME and f.certificate.gap < 1e-6 for f in found)
