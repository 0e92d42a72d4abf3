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
from svmtool.training.kernel.fit import Fitting
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


LIMITS = [(100.0, fused_pairs.MAX_PAIR_ROWS), (0.05, 100), (100.0, 0)]


@pytest.mark.parametrize(("row", "limits"), pairs_in_turn([0, 1, 50, 52, 60, 73], LIMITS, 1))
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
