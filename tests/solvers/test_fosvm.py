"""FOSVM: samples, threads, large sets, the origin among the rows; its theta is tested in test_fosvm_plane.py."""

from __future__ import annotations

import numpy as np
import pytest
from fosvm_problems import KERNELS, cloud, solve, solve_linear, values
from kernel_suite import run

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import HardOneClass, Points
from svmtool.models.kernel_functions import Kernel
from svmtool.objectives import one_class
from svmtool.objectives.task import Options, Task
from svmtool.registry.row import gap_of_theta
from svmtool.solvers import fosvm, fosvm_kernel
from svmtool.solvers.shared import base, cutting_planes
from svmtool.solvers.shared.base import Monitor, Rule


def test_sample_of_all_rows_is_all_rows():
    X = cloud(300, 4, 6)
    for theta in (0.3, 0.01):
        all_rows, sampled = solve(X, KERNELS["rbf"], theta), solve(X, KERNELS["rbf"], theta, 81, sample=300)
        assert sampled.alpha.tobytes() == all_rows.alpha.tobytes() and sampled.result.status is base.GAP
        a, b = solve_linear(X, 80, theta)[0], solve_linear(X, 81, theta, sample=300)[0]
        assert a.alpha.tobytes() == b.alpha.tobytes() and b.result.status is base.GAP


def test_samples_repeat_with_their_seed():
    X = cloud(900, 4, 7)
    linear = [solve_linear(X, 81, 0.05, sample=5, seed=seed)[0].alpha.tobytes() for seed in (1, 1, 2, 3, 4, 5)]
    assert linear[0] == linear[1] and len(set(linear)) > 1


@pytest.mark.parametrize("row", [80, 81])
def test_threads_leave_the_bits_of_linear_answers(row, monkeypatch):
    monkeypatch.setattr("svmtool.data.row_storage.BLOCK_WORK", 16)
    X, found = cloud(500, 4, 9), []
    for count in (1, 2, 3):
        with threads.limited(count):
            found.append(solve_linear(X, row, 0.01)[0].result.w.tobytes())
    assert found[0] == found[1] == found[2]


def parts_of(s) -> list[int]:
    """How many rows each decomposition had."""
    sizes = [record["rows"] for record in s.result.history if "rows" in record]
    return [n for k, n in enumerate(sizes) if k == 0 or n != sizes[k - 1]]


def test_samples_of_many_rows():
    """Parts of the rows that double, until a fresh sample of the others is clean; or all rows."""
    X = cloud(3000, 3, 14)
    runs = [solve(X, KERNELS["rbf"], 0.05, 81, sample=60, seed=seed) for seed in (3, 7)]
    assert runs[0].alpha.tobytes() != runs[1].alpha.tobytes()
    parts = [n for s in runs for n in parts_of(s)]
    assert all(n < 1500 for n in parts) and len(parts) > 2, "parts"
    for s in runs:
        assert s.result.status.name == "sample" and "none of 60 sampled rows" in s.result.status.advice
        assert 0.0 < np.mean(s.z < 0.95 * s.rho) <= 0.08
        assert s.result.gap == pytest.approx((1 - s.short) ** -2 - 1, rel=1e-4)
    s = solve(X[:800], KERNELS["narrow"], 0.1, 81, sample=100)
    assert parts_of(s)[-1] == 800 and s.result.status is base.GAP and s.short <= 0.1 * (1 + 1e-9)


def test_origin_among_the_rows():
    X = np.vstack([np.eye(3), -np.eye(3), 0.3 * cloud(20, 3, 1, 0.0)])
    s, certificate = solve_linear(X)
    assert s.result.status.converged and not np.any(s.result.w)
    assert certificate.primal == 0.0 and certificate.gap <= 1.0
    with_kernel = solve(X, KERNELS["linear"], 0.1)
    assert with_kernel.result.status.converged and with_kernel.rho <= 1e-8
    problem = HardOneClass(Points(KERNELS["linear"], DenseRows(X), None))
    assert problem.decision_function(with_kernel.result).warning == one_class.ORIGIN_IN_HULL


@pytest.mark.parametrize("height", [1e-6, 1e-3])
def test_a_plane_near_the_origin_beside_the_rows_sizes_is_an_answer(height):
    """Rows up to 1e4 times as long as their hull is far away: w separates them, which w = 0 does not."""
    X = np.array([[1.0, height], [-1.0, height], [0.5, 2.0 * height]]) * 10.0
    s, certificate = solve_linear(X)
    value = -0.5 * (10.0 * height) ** 2
    assert certificate.primal == pytest.approx(value, rel=1e-6) and s.result.w[1] == pytest.approx(10.0 * height)
    with_kernel = solve(X, KERNELS["linear"], 1e-3)
    assert with_kernel.result.status.converged
    problem = HardOneClass(Points(KERNELS["linear"], DenseRows(X), None))
    assert not problem.decision_function(with_kernel.result).warning


def test_a_precomputed_kernel_of_no_feature_space_is_reported():
    K = np.array([[1.0, -3.0, 0.2], [-3.0, 1.0, 0.1], [0.2, 0.1, 1.0]])
    problem = HardOneClass(Points(Kernel(4), None, K))
    result = run(registry.solver_of(fosvm_kernel), problem, Monitor(0.1, 50, 10.0))
    assert result.status is cutting_planes.NOT_SEMIDEFINITE and not result.status.converged


@pytest.mark.parametrize("method", fosvm.METHODS)
def test_each_method_keeps_its_guarantee(method):
    X = cloud(300, 3, 4)
    problem = HardOneClass(Points(KERNELS["rbf"], DenseRows(X), None))
    task = Task(DenseRows(X), np.ones(300), np.ones(300), options=Options(sample=100))
    gap, status = gap_of_theta(0.1), "gap" if method == "all" else "sample"
    found = registry.solver_of(fosvm, "plan_sampled")(task, Monitor(gap), Rule(), method=method)
    with_kernel = run(
        registry.solver_of(fosvm_kernel, "plan_sampled"), problem, Monitor(gap), sample=100, method=method
    )
    assert found.status.name == with_kernel.status.name == status
    for z in (X @ found.w[:-1] / found.w[-1], values(X, KERNELS["rbf"]) @ with_kernel.alpha / with_kernel.rho):
        assert np.mean(z < 0.9 * (1 - 1e-5)) <= (0.0 if method == "all" else 0.05)
