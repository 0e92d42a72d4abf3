"""The decomposition solver where targets are large, and where there is no margin."""

import numpy as np
import pytest
from kernel_suite import run

from svmtool import registry
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import EpsilonSvr, NuSvc, NuSvr, Points
from svmtool.models.kernel_functions import RBF, Kernel
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import GAP, RULE, Monitor


@pytest.mark.parametrize("name", ["epsilon-svr", "nu-svr"])
def test_targets_far_from_zero_lose_no_digits(name):
    """The bias is free: targets of 1e7 and more move it, and nothing else."""
    rng = np.random.default_rng(7)
    points = Points(Kernel(RBF, 0.1), DenseRows(rng.normal(size=(80, 12))), None)
    small = rng.integers(-9, 9, 80) / 8.0
    make = EpsilonSvr if name == "epsilon-svr" else NuSvr
    found = []
    for shift in (0.0, 2.0**24):
        problem = make(points, small + shift, 100.0, 0.1)
        result = run(registry.solver_of(alfpgm), problem, Monitor(max_seconds=60), 1e-8)
        assert result.status is RULE
        found.append((result.objective, problem.decision_function(result).rho + shift))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-6)


def test_nu_svc_without_a_margin_ends_where_its_minimum_of_zero_is_known():
    """Rows of both classes in the same places: r and the primal value of alpha are rounding, and -D is as good as 0."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, size=(280, 3)) / 1.5 - 1.0
    y = np.where(X[:, 0] + rng.normal(size=280) > 0.0, 1.0, -1.0)
    problem = NuSvc(Points(Kernel(RBF, 0.1), DenseRows(X), None), y, 0.1)
    found = run(registry.solver_of(alfpgm), problem, Monitor(gap=1e-5, max_seconds=60), 0.0)
    assert found.status is GAP and found.iterations < 300
    assert problem.relative(0.0, -found.objective) <= 1e-5
