"""Several kernel problems side by side: who shares -m, the same bits for any number of threads, records and stops."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_models import table_of
from sampling import pairs_in_turn

from svmtool.compiled import threads
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED, StopFlag
from svmtool.training.kernel import fused_pairs
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import MIN_CONCURRENT, Fitting, enough_mb, packed
from svmtool.training.kernel.train import one_vs_one as train


@pytest.fixture(autouse=True)
def own_threads():
    yield
    threads.set_count(None)


def four_classes(sizes=(40, 70, 25, 55)):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n, 3)) + 0.8 * k * np.eye(3)[k % 3] for k, n in enumerate(sizes)])
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(float)
    return KernelSet(table_of(X), Kernel(2, 0.5)).labelled(labels)


def bits(training):
    model = training.model
    return model.coef.tobytes() + model.rho.tobytes()


def test_groups_fit_and_hold_each_problem_once():
    needed = [5.0, 1.0, 3.0, 10.0, 4.0, 2.0]
    assert packed([3, 0, 4, 2, 5, 1], needed.__getitem__, 10.0) == [[3], [0, 4], [2, 5, 1]]
    assert packed([], needed.__getitem__, 1.0) == []


LIMITS = [(cache_mb, most) for cache_mb in (100.0, 0.05) for most in (0, 100, fused_pairs.MAX_PAIR_ROWS)]


@pytest.mark.parametrize(("row", "limits"), pairs_in_turn([0, 1, 50, 52, 60, 73], LIMITS, 3))
def test_any_number_of_threads_gives_the_same_bits(row, limits):
    cache_mb, most = limits
    data, s = four_classes(), Settings.of_kernel(solver=row, nu=0.3, gap=1e-6, C=3.0, cache_mb=cache_mb)
    found = []
    for count in (1, 2, 16):
        threads.set_count(count)
        found.append(train(data, Fitting(s, together=most)))
    assert bits(found[0]) == bits(found[1]) == bits(found[2])
    assert found[0].text == found[1].text == found[2].text, "pairs are reported in LIBSVM's order"
    assert all(s.result.status.converged and s.certificate.gap <= 1.001e-6 for s in found[0].solved)


def test_shares_of_memory():
    """One problem has all of -m; several have what they need of it, and no more than lets two run at once."""
    seen = {}

    class Noting(Fitting):
        def solve(self, problem, label=None, cache_mb=None, *more):
            seen[label] = cache_mb
            return super().solve(problem, label, cache_mb, *more)

    whole, row = enough_mb(100), 3 * 16 / 2**20  # three numbers of 16 bytes
    train(four_classes(), Noting(Settings.of_kernel(cache_mb=whole), together=0))
    assert seen["0 1"] == pytest.approx(whole / MIN_CONCURRENT - 110 * row)
    assert seen["0 2"] == pytest.approx(enough_mb(65)), "its copy comes on top of what it needs"
    seen.clear()
    train(four_classes((30, 20)), Noting(Settings.of_kernel(cache_mb=whole), together=0))
    assert seen == {None: whole}


def test_records_of_all_pairs_arrive_whole():
    threads.set_count(2)
    records = []
    training = train(four_classes(), Fitting(Settings.of_kernel(), lambda **record: records.append(record), together=0))
    labels = [f"{i} {j}" for i in range(4) for j in range(i + 1, 4)]
    assert {r["label"] for r in records} == set(labels)
    for label, fit in zip(labels, training.solved, strict=True):
        own = [r for r in records if r["label"] == label]
        assert [r["iteration"] for r in own] == list(range(len(own)))
        assert own[-1]["gap"] == pytest.approx(fit.result.gap)


def test_one_flag_stops_all_pairs():
    threads.set_count(2)
    stop = StopFlag()
    stop.set = True
    training = train(four_classes(), Fitting(Settings.of_kernel(), None, stop))
    assert [s.result.status for s in training.solved] == [INTERRUPTED] * 6
