"""LS-SVM with kernels: the paper's plain steps, the preconditioned ones, products with K, what cannot be solved."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from conftest import libsvm_program
from kernel_suite import KERNELS, random_data, solve
from reference_kernel import kernel_matrix

from svmtool import registry
from svmtool.compiled.loops.kernel.steepest_loops import steepest_steps
from svmtool.kernels.conjugate import KernelHalf
from svmtool.kernels.tiles import tiles_of
from svmtool.models.kernel_functions import Kernel
from svmtool.solvers.shared.base import INDEFINITE, PRECISION

SGD, FREE = registry.find_kernel("sgd-lssvm"), registry.find_kernel("nesvm-ls")
both = pytest.mark.parametrize("row", [SGD, FREE], ids=lambda row: row.name)


@pytest.mark.parametrize("t", [2, 60])
def test_steps_are_the_papers(t):
    """The loop against Algorithm 2, started where no two |g| are alike."""
    problem, rng = random_data().problem(SGD, KERNELS["rbf"]), np.random.default_rng(1)
    K, n, y, count = kernel_matrix(problem), problem.n, problem.y, 7
    c, D = 0.1 * rng.standard_normal(n), 0.5 / problem.cost
    e = y - (K + 1.0) @ c - D * c
    start, g = y * c, -y * e
    a, g = start.copy(), g.copy()
    for _ in range(count):
        da, dg = _one_step(K, y, D, g, t)
        a, g = a + da, g + dg
    slots, used = rng.permutation(n), np.zeros(n, np.int64)
    store = np.empty((n, n), np.float32)
    store[slots] = K
    chosen = np.zeros(t, np.uint64)
    done = steepest_steps(
        store, slots, used, D, e, c, chosen, np.empty(n), n, t, 1.0, 0.0, 9, count
    )  # fmt: skip
    assert done == count and set(used) <= {0, 9} and 9 in used
    np.testing.assert_allclose(y * c, a, atol=1e-5)
    np.testing.assert_allclose(-y * e, g, atol=1e-5)
    assert set(chosen.tolist()) == set(np.argsort(-np.abs(e), kind="stable")[:t].tolist())


def _one_step(K, y, nu, g, t):
    """The changes of a and g in a step of Algorithm 2, exactly as printed there."""
    B = np.argsort(-np.abs(g), kind="stable")[:t]
    pull = (K[:, B] + 1.0) @ (g[B] * y[B])
    theta = float(g[B] @ g[B]) / (float(nu[B] @ g[B] ** 2) + float((g[B] * y[B]) @ pull[B]))
    da = np.zeros(len(g))
    da[B] = -theta * g[B]
    return da, nu * da - theta * y * pull


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_products_with_half_of_the_matrix(kernel, sparse):
    """Several tiles and groups; all of them kept, some, or none: the same bits, the second time too."""
    data = random_data(1300, d=40 if sparse else 4, seed=4)
    problem = data.problem(SGD, kernel, sparse)
    tiles = tiles_of(problem.rows, problem.kernel, problem.matrix)
    K, v = kernel_matrix(problem), np.random.default_rng(0).standard_normal(1300)
    found = []
    for mb in (0.0, 2.0, 100.0):
        half = KernelHalf(tiles, mb)
        for _ in range(2):
            found.append(half.product(v))
        whole = 512 * (1300 + 788) + 276**2
        assert half.filled == {0.0: 0, 2.0: 512 * 788 + 276**2, 100.0: whole}[mb]
        assert 4 * half.filled <= mb * 2**20
    np.testing.assert_allclose(found[0], K @ v, atol=2e-6 * np.abs(K).max() * np.abs(v).sum() ** 0.5 * 10)
    assert all(np.array_equal(found[0], f) for f in found)


@both
def test_indefinite_kernels_are_reported(row):
    """Costs at which the objective is unbounded below: no minimum is claimed."""
    data = random_data()._replace(C=1e4)
    problem = data.problem(row, Kernel(3, 1.0, 3, -1.0))
    assert np.linalg.eigvalsh(kernel_matrix(problem) + problem.shift).min() < -0.5 / 1e4
    s = solve(row, problem)
    assert s.result.status in (INDEFINITE, PRECISION) and not s.result.status.converged


@pytest.mark.parametrize(
    "argv",
    [
        "-s 73 -g 0.5 --method fast",
        "-s 73 -t 0 --sgd-rows 2",
        "-s 52 --method fast -g 0.5",
        "-s 52 --method fast -t 1 -r 1 -d 2",
        "-s 50 --method fast -g 0.5",
        "-s 51 --method fast -g 0.5",
    ],
)
def test_libsvm_reads_the_models(argv, svm_train, tmp_path):
    reference = libsvm_program("svm-predict")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = np.argmax(X + 0.3 * rng.standard_normal((90, 3)), axis=1)
    (tmp_path / "d").write_text(
        "".join(f"{k} {' '.join(f'{j + 1}:{v:.4g}' for j, v in enumerate(x))}\n" for k, x in zip(y, X, strict=True))
    )
    status, out, err = svm_train(*argv.split(), "d", "m")
    assert (status, err) == (0, "") and "Certified relative gap" in out
    done = subprocess.run([reference, "d", "m", "o"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    theirs = [float(v) for v in (tmp_path / "o").read_text().split()]
    from svmtool.formats.models import kernel as kernel_model
    from svmtool.formats.svmlight import table

    model = kernel_model.read(str(tmp_path / "m"))
    assert np.mean(model.predict(table.read(str(tmp_path / "d"))) == theirs) == 1.0
    assert np.mean(np.array(theirs) == y) > 0.8


@pytest.mark.parametrize("kernel", [(), ("-t", 0), ("-t", 1)], ids=["rbf", "linear", "polynomial"])
@pytest.mark.parametrize("number", [73, 52])
def test_values_beyond_single_precision_leave_numbers(number, kernel, svm_train, tmp_path):
    """The run converges or reports that it did not; the model is finite, and numpy gives no warning."""
    text = "1 1:1e100 2:1\n-1 1:-1e100 2:2\n1 2:3\n"
    status, out, words = svm_train("-s", number, "--method", "fast", *(kernel or ("-t", 2)), "d", "m", data=text)
    if status:
        assert status == 1 and "overflow in the kernel" in words
        return
    model = (tmp_path / "m").read_text().lower()
    assert "nan" not in out.lower() and "nan" not in model and "inf" not in model
    assert "not converged" in words or float(re.search(r"gap = (\S+)", out)[1]) < 1e-9
