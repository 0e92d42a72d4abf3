"""Kernel functions, decision values of kernel models, votes and coupling, against their definitions in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel_models import KERNELS, decisions, kernel_value, random_model, table_of

from svmtool.compiled import threads
from svmtool.compiled.loops.text import decision_loops
from svmtool.data.dataset import Dataset
from svmtool.models.kernel import MAX_BLOCK_ROWS, MAX_DIRECT_PLACES, MAX_WEIGHTS, KernelModel
from svmtool.models.kernel_functions import PRECOMPUTED, RBF, Kernel

TYPES = ["c_svc", "one_class", "epsilon_svr"]


def name(kernel: Kernel) -> str:
    return f"{kernel.kind}-{kernel.degree}"


def rows_for(model: KernelModel, Z: np.ndarray, rng, n: int, shift: int = 0) -> tuple[Dataset, np.ndarray]:
    """n rows of data, some with features that the model lacks, and their kernel values with the support vectors."""
    if model.kernel.kind == PRECOMPUTED:
        size = int(model.values.max(initial=0)) + 2
        given = rng.normal(size=(n, size))
        indices = np.tile(np.arange(-1, size, dtype=np.int32), n)
        values = np.column_stack([np.full(n, 7.0), given]).reshape(-1)
        table = Dataset(np.zeros(n), np.arange(n + 1) * (size + 1), indices, values, size)
        return table, given[:, model.values.astype(int) - 1]
    d = Z.shape[1] + 2
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    wide = np.pad(Z, ((0, 0), (0, 2)))
    K = np.array([[kernel_value(model.kernel, x, z) for z in wide] for x in X]).reshape(n, len(Z))
    return table_of(X, shift=shift), K


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
@pytest.mark.parametrize("svm_type", TYPES)
@pytest.mark.parametrize("k, m, d, n", [(4, 33, 5, 37), (3, 1, 2, 16), (1, 0, 2, 3)])
def test_decision_values_are_their_definition(kernel, svm_type, k, m, d, n):
    rng = np.random.default_rng([kernel.kind, kernel.degree, k, m])
    model, Z = random_model(rng, kernel, svm_type, k, m, d)
    table, K = rows_for(model, Z, rng, n)
    got = model.decision_values(table)
    assert got.shape == (n, model.columns)
    np.testing.assert_allclose(got, decisions(model, K), rtol=1e-11, atol=1e-11 * (1 + np.abs(K).max(initial=0)))


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=name)
@pytest.mark.parametrize(
    "shift, classes, support, n",
    [(MAX_DIRECT_PLACES, 3, 60, 45), (MAX_DIRECT_PLACES - 12, 12, 60, 45), (0, 3, 8, MAX_BLOCK_ROWS + 30)],
    ids=["features are searched", "weights are too many", "blocks"],
)
def test_every_way_gives_the_same_values(kernel, shift, classes, support, n):
    rng = np.random.default_rng(3)
    model, Z = random_model(rng, kernel, "c_svc", classes, support, 8, shift)
    assert classes == 3 or model.columns * (shift + 8) > MAX_WEIGHTS
    table, K = rows_for(model, Z, rng, n, shift)
    np.testing.assert_allclose(model.decision_values(table), decisions(model, K), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("absent", [0, 12], ids=["dense", "sparse"])
def test_distances_of_rows_far_from_the_origin_do_not_cancel(absent):
    rng = np.random.default_rng(5)
    base = 1e6 * rng.normal(size=5)
    Z, X = base + rng.normal(size=(9, 5)), base + rng.normal(size=(7, 5))
    z, x = table_of(Z, shift=absent), table_of(X, shift=absent)
    coef = rng.normal(size=(1, 9))
    model = KernelModel("nu_svr", Kernel(RBF, 0.2), None, 2, np.zeros(1), coef, None, z.indptr, z.indices, z.values)
    wanted = [[sum(c * math.exp(-0.2 * math.fsum((a - b) ** 2)) for c, b in zip(coef[0], Z, strict=True))] for a in X]
    np.testing.assert_allclose(model.decision_values(x), wanted, rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_decision_values_have_the_same_bits_with_any_number_of_threads(kernel):
    rng = np.random.default_rng(6)
    model, Z = random_model(rng, kernel, "c_svc", 3, 90, 7)
    table, _ = rows_for(model, Z[:0], rng, 500)  # the values do not matter
    results = []
    for count in (1, 2, 3):
        with threads.limited(count):
            results.append(model.decision_values(table))
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_votes_go_to_the_earlier_class():
    model, _ = random_model(np.random.default_rng(8), Kernel(0), "c_svc", 3, 0, 1)
    model.labels = (7, -2, 5)
    values = [[1, 1, 0], [-1, 1, 1], [1, -1, 1], [0, 0, 0], [math.nan, 1, 1], [-1, -1, -1], [1, -1, -1]]
    assert model.labels_from(np.array(values, float)).tolist() == [7, -2, 7, 5, -2, 5, 5]


def coupled(r: np.ndarray) -> np.ndarray:
    """The minimiser of sum over i, j != i of (r_ji p_i - r_ij p_j)^2 with sum p = 1, from its linear equations."""
    k = len(r)
    Q = -r.T * r
    np.fill_diagonal(Q, [sum(r[j, i] ** 2 for j in range(k) if j != i) for i in range(k)])
    system = np.block([[Q, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.append(np.zeros(k), 1.0))[:k]


@pytest.mark.parametrize("k", [2, 5])
def test_probabilities_are_near_the_optimum_of_coupling(k):
    rng = np.random.default_rng(k)
    pairs = k * (k - 1) // 2
    values, A, B = rng.normal(size=(40, pairs)), -rng.random(pairs) - 0.5, rng.normal(size=pairs) / 3
    out, scratch = np.empty((40, k)), np.empty(k * (2 * k + 1))
    assert decision_loops.couple(values, A, B, out, scratch, k, 40) == 0
    for row, found in zip(values, out, strict=True):
        r = np.zeros((k, k))
        r[np.triu_indices(k, 1)] = 1 / (1 + np.exp(A * row + B))
        r += np.tril(1 - r.T, -1)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(found, coupled(r) if k > 2 else [r[0, 1], r[1, 0]], atol=0.005 if k > 2 else 1e-14)
