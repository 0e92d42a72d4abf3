"""Numbers and rows that no estimator can take: one sentence, a ValueError; lifetime of callable kernels."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

import svmtool.sklearn as ours  # noqa: E402

X = np.random.default_rng(5).normal(size=(20, 2))
Y = np.arange(20) % 2
HUGE = 10**400  # a whole number that no float holds


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_a_callable_kernel_receives_what_is_given(name):
    make = getattr(ours, name)
    words = [{"a": value} for value in X[:, 0]]

    def kernel(A, B):
        return [[1.0 + a["a"] * b["a"] for b in B] for a in A]

    K = kernel(words, words)
    by_words, by_values = make(kernel=kernel).fit(words, Y), make(kernel="precomputed").fit(K, Y)
    assert np.array_equal(by_words.predict(words), by_values.predict(K)) and by_words.shape_fit_ == (len(X),)
    if name != "OneClassSVM":
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            make(kernel=kernel).fit(words[1:], Y)
    with pytest.raises(ValueError, match=r"^the kernel gave shape \(1, 1\), not \(20, 20\)"):
        make(kernel=lambda A, B: [[1.0]]).fit(words, Y)
    with pytest.raises(ValueError, match="^Input kernel contains infinity or a value too large"):
        make(kernel=lambda A, B: [[HUGE] * len(B)] * len(A)).fit(X, Y)
