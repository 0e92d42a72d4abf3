"""Folds over the kernel values of their pair: decision values and texts are those of folds that are trained."""

from __future__ import annotations

import numpy as np
import pytest
from test_fused_pairs import KERNELS, classes

from svmtool.params import Settings
from svmtool.training import calibration
from svmtool.training.kernel import fold_pairs
from svmtool.training.kernel.dataset import ClassPairs
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import one_vs_one
from svmtool.training.validation.folds import GlibcRand, fold_rows, liblinear_folds


def settings(row, **changes):
    return Settings.of_kernel(solver=row, gap=1e-10, probability=1, **changes)


def sigmoids_of(data, s, together=None):
    return calibration.pair_sigmoids(ClassPairs(data, s), Fitting(s, together=together), one_vs_one, GlibcRand(1))


@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_same_sigmoids_as_of_trained_folds(row, kernel):
    s = settings(row, nu=0.2, class_weights=((1, 2.0),), C=3.0)
    data = classes(kernel, sizes=(30, 40))
    (together,), (alone,) = (sigmoids_of(data, s, limit).pairs for limit in (None, 0))
    assert together == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("row", [0, 1])
def test_values_are_those_of_trained_folds(row):
    data, s = classes(sizes=(30, 40, 25), features=60), settings(row, nu=0.2)
    pairs, rand = ClassPairs(data, s), GlibcRand(3)
    folds = [liblinear_folds(sum(counts), 5, rand) for counts in pairs.counts]
    for k, held in enumerate(fold_pairs.values_of_folds(pairs, folds, Fitting(s))):
        pair = pairs.data.take(pairs.rows(k)).labelled(np.repeat((1.0, -1.0), pairs.counts[k]))
        for f, found in enumerate(held):
            inside, outside = fold_rows(*folds[k], f)
            done = one_vs_one(pair.take(inside), Fitting(s.replace(probability=0)))
            assert found.values == pytest.approx(done.model.decision_values(pair.take(outside).table)[:, 0], abs=1e-6)
            assert found.text.splitlines()[-1] == done.text.splitlines()[-1]  # the number of support vectors


def test_folds_that_have_no_problem_are_left_to_the_caller():
    data, s = classes(sizes=(1, 40)), settings(0)
    pairs = ClassPairs(data, s)
    (held,) = fold_pairs.values_of_folds(pairs, [liblinear_folds(41, 5, GlibcRand(1))], Fitting(s))
    assert held.count(None) == 1
    weighted = ClassPairs(data.labelled(data.labels), s)
    weighted.data.table.weights = np.linspace(1.0, 2.0, 41)
    (held,) = fold_pairs.values_of_folds(weighted, [liblinear_folds(41, 5, GlibcRand(1))], Fitting(s))
    assert held == [None] * 5


def test_nu_that_a_fold_does_not_allow_is_left_to_the_caller():
    data, s = classes(sizes=(10, 40)), settings(1, nu=0.39)
    pairs = ClassPairs(data, s)
    (held,) = fold_pairs.values_of_folds(pairs, [liblinear_folds(50, 5, GlibcRand(1))], Fitting(s))
    assert None in held
