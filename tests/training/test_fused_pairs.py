"""Pairs of few rows in one compiled call: results, records and limits are those of pairs solved one by one."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_models import table_of
from sampling import pairs_in_turn

from svmtool.compiled import threads
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.solvers.shared.base import INDEFINITE, RULE
from svmtool.tolerances import SLOW_MIN_GAP
from svmtool.training import calibration
from svmtool.training.kernel.dataset import ClassPairs, KernelSet
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import one_vs_one as train
from svmtool.training.validation.folds import GlibcRand

KERNELS = {
    "linear": Kernel(0), "polynomial": Kernel(1, 0.5, 2, 1.0), "rbf": Kernel(2, 0.4), "sigmoid": Kernel(3, 0.01),
    "precomputed": Kernel(4),
}  # fmt: skip
ROWS = (0, 1, 50, 60)
SQUARES = (52, 73)
SIZES = 9, 14, 70, 11


def classes(kernel=KERNELS["rbf"], sizes=SIZES, features=5, seed=0):
    """Overlapping classes; with more features most of them are 0 in each row."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(float)
    X = rng.normal(size=(len(labels), features)) + rng.normal(size=(len(sizes), features))[labels.astype(int)]
    X *= rng.random(X.shape) < (min(1.0, 8 / features) if kernel.kind != 4 else 1.0)
    if kernel.kind == 4:
        X = np.column_stack((np.arange(len(X)) + 1.0, X @ X.T))
    return KernelSet(table_of(X, shift=-1 if kernel.kind == 4 else 0), kernel).labelled(labels)


class Together(Fitting):
    """Fails where a pair is solved alone."""

    def solve(self, *_, **__):
        raise AssertionError("a pair was solved alone")


@pytest.mark.parametrize(("row", "kernel"), pairs_in_turn(ROWS + SQUARES, list(KERNELS)))
def test_answers_are_those_of_each_pairs_own_flow(row, kernel):
    for features in (5, 300):
        data = classes(KERNELS[kernel], features=features)
        C = 1e4 if features == 5 and kernel == "polynomial" else 2.0
        s = Settings.of_kernel(solver=row, nu=0.2, gap=1e-9, C=C, class_weights=((2, 3.0),) if row in SQUARES else ())
        found, own = train(data, Fitting(s)), train(data, Fitting(s, together=0))
        for mine, other in zip(found.solved, own.solved, strict=True):
            apart = 2e-9 + other.certificate.gap
            assert mine.result.status.converged and mine.certificate.gap <= 1.01e-9
            assert len(mine.function.coef) == len(other.function.coef)
            assert mine.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-6 + apart)
            assert mine.function.rho == pytest.approx(other.function.rho, abs=1e-3)
            assert mine.function.report.split()[:2] == other.function.report.split()[:2]
        assert found.model.nr_sv == pytest.approx(own.model.nr_sv, abs=2)


@pytest.mark.parametrize(("row", "limit"), pairs_in_turn(ROWS + SQUARES, [{}, {"max_iter": 7}]))
def test_no_pair_of_many_classes_is_solved_alone(row, limit):
    """Two or three rows a class."""
    X, count = np.random.default_rng(1).normal(size=(46, 6)), 20
    data = KernelSet(table_of(X), KERNELS["rbf"]).labelled(np.arange(46) % float(count))
    training = train(data, Together(Settings.of_kernel(solver=row, nu=0.3, **limit)))
    assert len(training.solved) == count * (count - 1) // 2 and training.status.converged
    assert all(f.result.certified_gap == f.certificate.gap < np.inf for f in training.solved)


@pytest.mark.parametrize("row", [0, 50, 60])
def test_pairs_that_prove_the_kernel_indefinite_keep_their_answers(row):
    """No other method finds a better one; solved alone, they would take a thousand times as long."""
    data = classes(Kernel(3, 2.0, coef0=-1.0), features=300)
    found = train(data, Together(Settings.of_kernel(solver=row, C=1e4)))
    assert {f.result.status for f in found.solved} <= {INDEFINITE, RULE} and found.status is INDEFINITE
    assert all(np.any(f.function.coef) for f in found.solved)


def test_nu_of_a_nearly_constant_kernel_is_solved_in_few_calls():
    """Sums of nu below 1, kernel values that differ by 1e-5: the rule of -e holds at once, and w = 0 is better.  Steps
    of pairs continue until the gap is that of other runs, and no pair is solved a second time."""
    data = classes(Kernel(2, 1e-4), sizes=(9, 14, 12, 11, 8), features=40)
    training = train(data, Together(Settings.of_kernel(solver=1, nu=0.01)))
    assert training.status.converged
    assert all(f.certificate.gap <= SLOW_MIN_GAP and f.certificate.primal < 0.0 for f in training.solved)


def sigmoids_of(data, s, together):
    return calibration.pair_sigmoids(ClassPairs(data, s), Fitting(s, together=together), train, GlibcRand(1))


@pytest.mark.parametrize(("row", "name"), [(0, "rbf"), (0, "precomputed"), (1, "linear"), (1, "rbf")])
def test_same_sigmoids_as_of_trained_folds(row, name):
    s = Settings.of_kernel(solver=row, gap=1e-10, probability=1, nu=0.2, class_weights=((1, 2.0),), C=3.0)
    data = classes(KERNELS[name], sizes=(30, 40))
    (together,), (alone,) = (sigmoids_of(data, s, limit).pairs for limit in (None, 0))
    assert together == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize(("row", "limits"), pairs_in_turn(ROWS + SQUARES, [(100.0, None), (0.05, 100), (100.0, 0)]))
def test_any_number_of_threads_gives_the_same_bits(row, limits):
    """Few pairs in one call, pairs side by side that share -m, and each alone."""
    cache_mb, together = limits
    data, s = classes(), Settings.of_kernel(solver=row, nu=0.2, gap=1e-6, C=3.0, cache_mb=cache_mb)
    found = []
    for count in (1, 2, 16):
        with threads.limited(count):
            model = train(data, Fitting(s, together=together)).model
        found.append(model.coef.tobytes() + model.rho.tobytes())
    assert found[0] == found[1] == found[2]
