"""Laws of every kernel result: no worse than w = 0, statuses that the certifier confirms, an end in time."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_models import table_of
from kernel_suite import KERNELS, NORMAL, NU, random_data, run, text
from sampling import pairs_in_turn

from svmtool import registry
from svmtool.certify.kernel import value_at_zero
from svmtool.data.dense import DenseRows
from svmtool.formats.models import kernel as kernel_model
from svmtool.kernels import direct
from svmtool.kernels.pair_descent import PairDescent
from svmtool.kernels.problems import LeastSquaresSvc, NuSvc, NuSvr, OneClass, Points
from svmtool.kernels.results import KernelResult
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import GAP, OPTIMAL, POOR, PRECISION, RULE, STEPS, Monitor
from svmtool.training.kernel.fit import Fitting


def wrong_answers(problem):
    """Wrong results, each with a status that claims convergence."""
    n = len(problem.row)
    huge = np.full(n, 1e6) if isinstance(problem, LeastSquaresSvc) else np.where(np.arange(n) % 2, problem.upper, 0.0)
    for alpha, status in ((np.full(n, np.nan), OPTIMAL), (huge, RULE), (problem.start, GAP), (problem.start, OPTIMAL)):
        yield KernelResult(alpha.copy(), 50.0, 0.0, 0.0, 0.0, 1, status, np.zeros(n))


@pytest.mark.parametrize(("row", "which"), pairs_in_turn(registry.KERNEL_SOLVERS, range(4), 2))
def test_no_wrong_answer_leaves_as_converged(row, which):
    problem = random_data().problem(row, KERNELS["rbf"])
    lie = list(wrong_answers(problem))[which]
    function, result, certificate = Fitting(Settings.of_kernel(solver=row.number, C=1.3, nu=NU)).verified(problem, lie)
    assert np.all(np.isfinite(function.coef)) and np.isfinite(function.rho)
    assert certificate.primal <= function.scale * (value_at_zero(problem)[0] + problem.floor) * (1.0 + 1e-9) + 1e-12
    if result.status.converged:
        assert certificate.gap <= 2e-3, "another method took over"
        assert row.module != "svmtool.solvers.fosvm_kernel"
    else:
        assert result.status in (PRECISION, POOR)


@pytest.mark.parametrize(
    "options", ["-s 2 -t 0 -n 0.2", "-s 1 -t 0 -n 0.2", "-s 1 -t 3 -g 0.3 -r -1 -n 0.5", "-s 2 -t 4 -n 0.2"]
)
def test_a_minimum_near_that_of_zero_keeps_its_support_vectors(options, svm_train):
    """-D within the gap of P(0) = 0 ends no run whose own P is above: the laws would leave w = 0, a useless model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) + (0.95 if "-s 2" in options else 0.0)
    K = np.column_stack((np.arange(1.0, 81.0), X @ X.T))
    rows, first = (K, 0) if "-t 4" in options else (X, 1)
    labels = np.where(X[:, 0] + rng.normal(size=80) > 0.0, 1, -1) if "-s 1" in options else np.ones(80, int)
    lines = (" ".join(f"{k}:{v!r}" for k, v in enumerate(row.tolist(), first)) for row in rows)
    data = "".join(f"{label} {line}\n" for label, line in zip(labels, lines, strict=True))
    status, out, err = svm_train(*options.split(), "--gap", "1e-3", "d", "m", data=data)
    assert status == 0 and kernel_model.read("m").total_sv > 10


@pytest.mark.parametrize("options", ["-s 0", "-s 0 --gap 1e-3", "-s 3 -p 0.3"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weak_signal_is_not_replaced_by_no_weights(options, classes, svm_train):
    """Four rows of five in one class, rows alike: w = 0 is worse than the optimum by 1e-5, and no worse than where the
    rule of -e ends; its decision values are all equal."""
    rng = np.random.default_rng(2)
    labels = np.where(np.arange(100) % 5, 0, 1 + np.arange(100) // 5 % (classes - 1))
    X = rng.normal(size=(100, 4)) + 0.5 * (labels > 0)[:, None]
    status, _, err = svm_train(*options.split(), "-t", 2, "-g", "1e-5", "d", "m", data=text(X, labels))
    assert (status, err) == (0, "")
    scores = kernel_model.read("m").decision_values(table_of(X))
    assert np.all(np.ptp(scores, axis=0) > 1e-6)


@pytest.mark.parametrize("options", ["-s 0 -c 100", "-s 3 -c 100", "-s 1 -n 0.3"])
def test_an_indefinite_kernel_is_reported_and_its_answer_stays(options, svm_train):
    """Its dual value is above P(0): it certifies nothing, but its decisions may be good, as with LIBSVM."""
    data = text(NORMAL, SIGNS)
    status, out, err = svm_train(*options.split(), "-t", 3, "-g", 1, "-r", 1, "d", "m", data=data)
    assert status == 0 and "WARNING: not converged: the kernel matrix of these rows is not positive definite" in err
    assert "Certified relative gap = none: the kernel matrix is not positive definite" in out
    assert kernel_model.read("m").total_sv > 0


SIGNS = np.where(np.arange(30) % 2, 1, -1)
HARD = {
    "scales": text(NORMAL * np.array([1e6, 1.0, 1e-6, 1e3, 1e-3]), SIGNS),
    "positive": text(np.abs(NORMAL) + 1.0, SIGNS),
    "rank one": text(np.outer(NORMAL[:, 0], np.ones(8)), SIGNS),
    "large whole": text(np.round(NORMAL) * 1e15 + 1.0, SIGNS),
}
ENDLESS = [
    ("positive", "-s 60 --method fast -c 1e6"), ("scales", "-t 2 -s 52 --method fast -c 1e12"),
    ("scales", "-t 2 -s 73 -c 1e12"), ("large whole", "-t 0 -s 52 --method fast -c 1e6"),
    ("rank one", "-t 0 -s 3 -c 1e12"), ("rank one", "-t 0 -s 50 --method fast -c 1e12"),
    ("scales", "-t 2 -s 4 -n 0.5 -c 1e12"),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "options"), ENDLESS)
def test_hard_data_report_non_convergence(name, options, svm_train):
    """Some never ended before; one that does not converge says so, with its gap."""
    status, out, err = svm_train(*options.split(), "--max-seconds", 60, "d", "m", data=HARD[name])
    assert status == 0 and "time limit" not in err
    model = kernel_model.read("m")
    assert np.all(np.isfinite(model.coef)) and np.all(np.isfinite(model.rho))
    assert ("Certified relative gap = nan" not in out) and ("not converged" in err) == (
        "rounding" in "".join(model.notes)
    )


@pytest.mark.parametrize(("kind", "nu"), [(NuSvc, 1e-300), (NuSvc, 0.01), (OneClass, 1e-300), (OneClass, 1e-20)])
def test_a_nu_that_no_bound_limits(kind, nu):
    """Multipliers of 1e-300 have no squares: those of sums of 1 are solved for, and shrunk."""
    rng = np.random.default_rng(4)
    points = Points(KERNELS["rbf"], DenseRows(rng.normal(size=(40, 3)) + 2.0), None)
    y = np.where(np.arange(40) % 3 > 0, 1.0, -1.0)
    settings = Settings.of_kernel(solver=1 if kind is NuSvc else 2, gap=1e-8)

    def solved(nu):
        return Fitting(settings).solve(kind(points, y, nu) if kind is NuSvc else kind(points, nu))

    found, full = solved(nu), solved(0.04 if kind is NuSvc else 0.02)
    assert found.result.status.converged and 0.0 <= found.certificate.gap <= 1e-8
    shrunk = 1.0 if kind is NuSvc else 50 * nu
    np.testing.assert_allclose(found.function.coef, shrunk * full.function.coef, rtol=1e-12)
    assert found.function.rho == pytest.approx(shrunk * full.function.rho, rel=1e-12) and found.function.bounded == 0
    if kind is NuSvc:
        C = float(full.function.report.split()[-1]) * 0.04 / nu
        assert float(found.function.report.split()[-1]) == pytest.approx(C, rel=1e-5)


@pytest.mark.parametrize("coef0", [-1.0, 1.0])
def test_steps_to_the_rule_of_e_end_after_libsvms_number_of_them(coef0, monkeypatch):
    """On an indefinite kernel they need not come to an end: cubes of raw values took minutes."""

    class Costly(PairDescent):
        def __call__(self, state, chosen, tolerance):
            self.work += 1e7 * len(state.a)
            return super().__call__(state, chosen, tolerance)

    monkeypatch.setattr(alfpgm, "PairDescent", Costly)
    monkeypatch.setattr(direct, "cost", lambda _: np.inf)
    rng = np.random.default_rng(0)
    X = np.floor(np.exp(rng.normal(size=(60, 8)) * 2.0))
    problem = NuSvr(Points(Kernel(1, 1 / 8, 3, coef0), DenseRows(X), None), rng.integers(0, 20, 60) * 1.0, 1.0, 0.9)
    found = run(registry.solver_of(alfpgm), problem, Monitor(), 0.01, method="sets")
    assert found.status is STEPS and np.any(found.alpha)
    assert "LIBSVM's limit on the work" in STEPS.advice


def test_a_certificate_from_a_sample_is_called_an_estimate(svm_train):
    """Large sets: decision values of a sample of the rows are computed again, see certify/kernel.py."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 3))
    data, few = (text(X[:n], rng.choice([-1.0, 1.0], n)) for n in (3000, 90))
    _, whole, _ = svm_train("-t", 2, "d", "m", data=few)
    status, sampled, _ = svm_train("-t", 2, "-c", 0.1, "d", "m", data=data)
    assert status == 0 and whole.splitlines()[-1].startswith("Certified relative gap = ")
    assert sampled.splitlines()[-1].startswith("Estimated relative gap = ")
    assert "of 3000 rows computed again" in sampled
