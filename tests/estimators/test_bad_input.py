"""Numbers and rows that no estimator can take: one sentence, a ValueError; lifetime of callable kernels."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

import svmtool.sklearn as ours  # noqa: E402

X = np.random.default_rng(5).normal(size=(20, 2))
Y = np.arange(20) % 2
HUGE = 10**400  # a whole number that no float holds


@pytest.mark.parametrize("name", ours.__all__)
def test_whole_numbers_beyond_floats(name):
    make = getattr(ours, name)
    rows = [[HUGE, 1], *X[1:].tolist()]
    with pytest.raises(ValueError, match="^Input contains infinity or a value too large for dtype"):
        make().fit(rows, Y)
    for parameter in make().get_params():
        with pytest.raises(ValueError):
            make(**{parameter: HUGE}).fit(X, Y)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "OneClassSVM"])
def test_a_callable_kernel_receives_numbers(name):
    make = getattr(ours, name)
    words = np.array([["a", "b"]] * len(Y), object)
    sentence = "^a callable kernel receives X as numbers: could not convert string to float: 'a'$"
    with pytest.raises(ValueError, match=sentence):
        make(kernel=lambda A, B: np.ones((len(A), len(B)))).fit(words, Y)
    with pytest.raises(ValueError, match="^Input kernel contains infinity or a value too large"):
        make(kernel=lambda A, B: [[HUGE] * len(B)] * len(A)).fit(X, Y)


def test_a_callable_kernel_goes_with_its_estimator():
    def kernel(A, B):
        return A @ B.T

    alive = weakref.ref(kernel)
    ours.SVC(kernel=kernel).fit(X, Y)
    del kernel
    gc.collect()
    assert alive() is None
