"""Folds over the kernel values of their pair: decision values and texts are those of folds that are trained."""

from __future__ import annotations

import pytest
from test_fused_pairs import KERNELS, classes

from svmtool.params import Settings
from svmtool.training import calibration
from svmtool.training.kernel import fold_pairs
from svmtool.training.kernel.dataset import ClassPairs
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import one_vs_one
from svmtool.training.validation.folds import GlibcRand, liblinear_folds


def sigmoids_of(data, s, together=None):
    return calibration.pair_sigmoids(ClassPairs(data, s), Fitting(s, together=together), one_vs_one, GlibcRand(1))


@pytest.mark.parametrize(("row", "name"), [(0, "rbf"), (0, "precomputed"), (1, "linear"), (1, "rbf")])
def test_same_sigmoids_as_of_trained_folds(row, name):
    s = Settings.of_kernel(solver=row, gap=1e-10, probability=1, nu=0.2, class_weights=((1, 2.0),), C=3.0)
    data = classes(KERNELS[name], sizes=(30, 40))
    (together,), (alone,) = (sigmoids_of(data, s, limit).pairs for limit in (None, 0))
    assert together == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize(("row", "sizes", "nu"), [(0, (1, 40), 0.5), (1, (10, 40), 0.39)], ids=["one class", "nu"])
def test_folds_that_have_no_problem_are_left_to_the_caller(row, sizes, nu):
    s = Settings.of_kernel(solver=row, gap=1e-10, probability=1, nu=nu)
    pairs = ClassPairs(classes(sizes=sizes), s)
    (held,) = fold_pairs.values_of_folds(pairs, [liblinear_folds(sum(sizes), 5, GlibcRand(1))], Fitting(s))
    assert 0 < held.count(None) < 5
