"""The folds of LIBLINEAR and LIBSVM, drawn as they draw them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from svmtool.compiled.loops.rows.rand_loops import rand_step
from svmtool.training.validation.folds import GlibcRand, liblinear_folds, stratified_folds


def drawn(rand: GlibcRand, n: int) -> list[int]:
    """The next n numbers of the generator."""
    return [int(rand_step(rand.state)) for _ in range(n)]


def naive_shuffle(n: int, draws: list[int]) -> list[int]:
    order = list(range(n))
    for i in range(n):
        j = i + draws[i] % (n - i)
        order[i], order[j] = order[j], order[i]
    return order


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**32 - 1])
def test_every_seed_gives_the_numbers_of_the_c_library(seed):
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        pytest.skip("no glibc here to compare with")
    libc.srand(ctypes.c_uint(seed))
    assert drawn(GlibcRand(seed), 1000) == [libc.rand() for _ in range(1000)]


def test_the_folds_of_heart_scale_start_as_liblinear_draws_them():
    assert drawn(GlibcRand(), 3) == [1804289383, 846930886, 1681692777]
    order, starts = liblinear_folds(270, 5)
    assert order[:5].tolist() == [73, 258, 15, 31, 33]
    assert starts.tolist() == [0, 54, 108, 162, 216, 270]
    assert order.tolist() == naive_shuffle(270, drawn(GlibcRand(), 270))


def naive_stratified(labels: list[int], folds: int) -> tuple[list[int], list[int]]:
    """LIBSVM's way, step by step."""
    classes = list(dict.fromkeys(labels))
    if classes == [-1, 1]:
        classes = [1, -1]
    rand = GlibcRand()
    shuffled = []
    for c in classes:
        rows = [i for i, label in enumerate(labels) if label == c]
        shuffled.append([rows[j] for j in naive_shuffle(len(rows), drawn(rand, len(rows)))])
    order, starts = [], [0]
    for f in range(folds):
        for rows in shuffled:
            order += rows[f * len(rows) // folds : (f + 1) * len(rows) // folds]
        starts.append(len(order))
    return order, starts


@pytest.mark.parametrize("classes", [[-1, 1], [1, -1], [3, 1, 2], [5]])
def test_stratified_folds_are_those_of_libsvm(classes):
    labels = np.random.default_rng(7).choice(classes, 101).astype(float)
    labels[: len(classes)] = classes  # the order of first appearance
    order, starts = stratified_folds(labels, 4)
    assert (order.tolist(), starts.tolist()) == naive_stratified(labels.astype(int).tolist(), 4)
