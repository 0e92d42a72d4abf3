"""Laws of every kernel result: no worse than w = 0, statuses that the certifier confirms, an end in time."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import reference_kernel
from kernel_suite import KERNELS, NORMAL, NU, nu_value, random_data, run, text
from reference_kernel import kernel_matrix
from scipy.optimize import linprog
from test_alfpgm import problems

from svmtool import registry
from svmtool.certify.kernel import certified_zero, value_at_zero
from svmtool.certify.linear import Certificate
from svmtool.data.dense import DenseRows
from svmtool.formats.models import kernel as kernel_model
from svmtool.kernels import direct, interior
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.pair_descent import PairDescent
from svmtool.kernels.problems import CSvc, EpsilonSvr, LeastSquaresSvc, NuSvc, NuSvr, OneClass, Points
from svmtool.kernels.results import KernelResult
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import GAP, OPTIMAL, POOR, PRECISION, RULE, STEPS, Monitor
from svmtool.solvers.shared.stalling import Progress
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.verify import acceptable, verify

every_row = pytest.mark.parametrize("row", registry.KERNEL_SOLVERS, ids=lambda row: row.name)
QUADRATIC = ["c-svc", "nu-svc", "one-class", "epsilon-svr", "nu-svr"]
every_program = pytest.mark.parametrize("name", QUADRATIC)


# w = 0


@every_program
def test_value_at_zero_is_that_of_the_linear_program(name):
    p = problems(KERNELS["rbf"])[name]
    systems = [p.y > 0, p.y < 0] if p.two_sums else [p.y != 0]
    E = np.stack([np.where(system, p.y, 0.0) for system in systems])
    least = linprog(p.p, A_eq=E, b_eq=E @ p.start, bounds=list(zip(np.zeros(len(p.y)), p.upper, strict=True)))
    value, rho, r = value_at_zero(p)
    assert value == pytest.approx(-least.fun, abs=1e-9)
    sums = r * np.sum(p.start) + rho * (p.y @ p.start)
    assert value == pytest.approx(p.upper @ np.maximum(r + p.y * rho - p.p, 0.0) - sums, abs=1e-9)


@every_program
def test_certificate_of_zero_has_a_dual_value_of_a_point_and_its_violation(name):
    """At a small cost w = 0 is nearly the least: some dual point has nearly its value, and violates nearly nothing."""
    p = problems(KERNELS["rbf"], n=60)[name]
    small = NuSvr(Points(p.kernel, p.rows, None), np.arange(60.0) % 7, 1e-6, 0.5)
    for problem in p, small:
        found, K = certified_zero(problem), kernel_matrix(problem)
        a = reference_kernel.solve(problem, Monitor(), 1e-9).alpha
        coef = problem.coefficients(a)
        best = -(0.5 * coef @ K @ coef + problem.p @ a)
        assert found.dual <= best + 1e-9 * abs(best) and best <= found.primal + 1e-6 * abs(best)
        assert np.isfinite(found.violation)
    assert found.violation <= np.sum(small.start) and found.gap <= 1e-5


@pytest.mark.parametrize("free_bias", [True, False])
def test_value_at_zero_of_least_squares_has_the_best_constant(free_bias):
    y, cost = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 2.0, 1.0, 0.5])
    value, rho, _ = value_at_zero(
        LeastSquaresSvc(Points(KERNELS["rbf"], DenseRows(np.eye(4)), None), y, cost, free_bias)
    )
    b = np.linspace(-1.5, 1.5, 3001)[:, None] if free_bias else np.zeros((1, 1))
    values = np.sum(cost * (1.0 - y * b) ** 2, axis=1)
    assert value == pytest.approx(values.min(), abs=1e-5) and -rho == pytest.approx(b[np.argmin(values), 0], abs=1e-3)


# Few variables, directly


@every_program
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_direct_solution_is_the_optimum(name, kernel):
    problem = problems(kernel)[name]
    alpha = interior.minima(problem)[0]
    assert np.all(alpha >= 0.0) and np.all(alpha <= problem.upper)
    for system in [problem.y > 0, problem.y < 0] if problem.two_sums else [problem.y != 0]:
        assert (problem.y * alpha)[system].sum() == pytest.approx((problem.y * problem.start)[system].sum(), abs=1e-9)
    f = interior.kernel_matrix(Points(kernel, problem.rows, None)) @ np.bincount(problem.row, problem.y * alpha)
    gradient = problem.gradient(alpha, f)
    F = -problem.y * gradient
    below, above = alpha < problem.upper, alpha > 0.0
    up, down = np.where(problem.y > 0, below, above), np.where(problem.y > 0, above, below)
    for system in [problem.y > 0, problem.y < 0] if problem.two_sums else [problem.y != 0]:
        assert F[up & system].max() - F[down & system].min() < 1e-6


def test_a_direct_solution_that_rounding_ends_keeps_the_point_it_reached():
    """Raw features at a large cost: rows that the multipliers send to a bound take the value with them."""
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(80, 16))
    X[:, 0] = np.exp(rng.uniform(4, 11, 80))
    targets = np.round(np.exp(rng.normal(10.5, 0.7, 80)), -2)
    problem = EpsilonSvr(Points(Kernel(0), DenseRows(X), None), targets, 1e6, 0.1)
    state, values = Decomposition(problem, 10.0), []
    for point in interior.minima(problem, thin=False):  # systems of the variables, as other kernels have them
        state.go_to(point)
        values.append(state.value())
    assert values[1] < 0.0 and values[1] < values[0] - 0.01 * abs(values[0])  # the first may be above 0
    state.go_to(problem.start)
    assert direct.go_to_minimum(state, "variables")[0] and state.value() <= (1.0 - 1e-9) * min(values)


@pytest.mark.parametrize("free_bias", [True, False])
@pytest.mark.parametrize("C", [1.0, 1e8])
def test_direct_least_squares_have_no_residuals(free_bias, C):
    data = random_data()
    points = Points(KERNELS["rbf"], DenseRows(data.X), None)
    problem = LeastSquaresSvc(points, data.y, np.full(len(data.y), C), free_bias)
    c = interior.least_squares(problem)
    left = problem.y - (interior.kernel_matrix(points) + problem.shift) @ c - c / (2.0 * problem.cost)
    if free_bias:
        assert abs(np.sum(c)) < 1e-9 * np.abs(c).sum()
        left -= np.mean(left)
    assert np.abs(left).max() < 1e-9


def test_direct_least_squares_refuse_an_indefinite_kernel():
    matrix = np.array([[1.0, 3.0], [3.0, 1.0]])
    assert interior.least_squares(LeastSquaresSvc(Points(Kernel(4), None, matrix), np.array([1.0, -1.0]),
                                                  np.full(2, 10.0), False)) is None  # fmt: skip


# Wrong answers of any solver


def wrong_answers(problem):
    """Wrong results, each with a status that claims convergence."""
    n = len(problem.row)
    huge = np.full(n, 1e6) if isinstance(problem, LeastSquaresSvc) else np.where(np.arange(n) % 2, problem.upper, 0.0)
    for alpha, status in ((np.full(n, np.nan), OPTIMAL), (huge, RULE), (problem.start, GAP), (problem.start, OPTIMAL)):
        yield KernelResult(alpha.copy(), 50.0, 0.0, 0.0, 0.0, 1, status, np.zeros(n))


@every_row
@pytest.mark.parametrize("which", range(4), ids=["nan", "huge", "no gap", "not optimal"])
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
    data = "".join(
        f"{label} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row.tolist(), first)) + "\n"
        for label, row in zip(labels, rows, strict=True)
    )
    status, out, err = svm_train(*options.split(), "--gap", "1e-3", "d", "m", data=data)
    assert status == 0 and kernel_model.read("m").total_sv > 10


def test_fosvm_on_rows_of_zeros_is_finite(svm_train):
    status, out, err = svm_train("-s", 80, "-t", 2, "d", "m", data="1\n1\n1\n")
    assert status == 0 and float(re.search("relative gap = (.*) [(]", out)[1]) < 1e-12


@pytest.mark.parametrize("options", ["-s 0 -c 100", "-s 3 -c 100", "-s 1 -n 0.3"])
def test_an_indefinite_kernel_is_reported_and_its_answer_stays(options, svm_train):
    """Its dual value is above P(0): it certifies nothing, but its decisions may be good, as with LIBSVM."""
    data = text(NORMAL, SIGNS)
    status, out, err = svm_train(*options.split(), "-t", 3, "-g", 1, "-r", 1, "d", "m", data=data)
    assert status == 0 and "WARNING: not converged: the kernel matrix of these rows is not positive definite" in err
    assert "Certified relative gap = none: the kernel matrix is not positive definite" in out
    assert kernel_model.read("m").total_sv > 0
    for kernel, positive in ((Kernel(0), 1), (Kernel(1, 1.0, 3, -1.0), 0), (Kernel(1, 1.0), 1), (Kernel(2, 1.0), 1)):
        assert kernel.positive == positive


# Standstill


def test_progress_counts_as_long_as_there_is_some():
    slow, k = Progress(64), 0
    while k < 1 << 14:  # the gap falls by a quarter between evaluations, the dual value hardly moves
        k += 1
        assert not slow.stalls(k**-0.4, -(k**-0.4) * 1e-9)
    climbing = Progress(64)
    assert not any(climbing.stalls(1e6, 20.0 * k) for k in range(1 << 14)), "the gap stays, the dual value rises"


@pytest.mark.parametrize("gap", [1e6, math.nan, math.inf])
def test_a_standstill_is_found(gap):
    standing = Progress(64)
    assert any(standing.stalls(gap, 0.01 * k) for k in range(1 << 10))


def test_a_dual_value_that_rises_by_rounding_alone_is_a_standstill():
    """16 rows of whole numbers near 1e13 took steps without end, each of which raised it by its last digit."""
    rising = Progress(64)
    assert any(rising.stalls(1e11, -1e27 * (1.0 - 1e-16 * k)) for k in range(1 << 10))


SIGNS = np.where(np.arange(30) % 2, 1, -1)
HARD = {
    "scales": text(NORMAL * np.array([1e6, 1.0, 1e-6, 1e3, 1e-3]), SIGNS),
    "positive": text(np.abs(NORMAL) + 1.0, SIGNS),
    "rank one": text(np.outer(NORMAL[:, 0], np.ones(8)), SIGNS),
    "large whole": text(np.round(NORMAL) * 1e15 + 1.0, SIGNS),
}
ENDLESS = [
    ("scales", "-s 60 --method fast -c 1"),
    ("positive", "-s 60 --method fast -c 1e6"),
    ("rank one", "-s 60 --method fast -c 1e6"),
    ("scales", "-t 2 -s 52 --method fast -c 1e12"),
    ("scales", "-t 2 -s 73 -c 1e12"),
    ("large whole", "-t 0 -s 52 --method fast -c 1e6"),
    ("rank one", "-t 0 -s 3 -c 1e12"),
    ("rank one", "-t 0 -s 50 --method fast -c 1e12"),
    ("scales", "-t 2 -s 4 -n 0.5 -c 1e12"),
]


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


@pytest.mark.parametrize(
    "options", ["-s 60 --method fast -c 1e4", "-t 2 -s 52 --method fast -c 1e8", "-t 2 -s 3 -c 1e4"]
)
def test_few_rows_are_solved_whatever_they_cost(options, svm_train):
    _, out, err = svm_train(*options.split(), "--gap", 1e-6, "--max-seconds", 60, "d", "m", data=HARD["positive"])
    assert err == "" and float(out.partition("relative gap = ")[2].split()[0]) <= 1e-6


@pytest.mark.parametrize("nu", [1e-300, 1e-20, 0.01])
@pytest.mark.parametrize("kind", [NuSvc, OneClass])
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


@pytest.mark.parametrize("nu", [0.02, 0.04, 0.4])
@pytest.mark.parametrize("kind", [NuSvc, OneClass])
def test_the_certificate_of_nu_is_that_of_the_model(kind, nu):
    """Losses cost what they do at the nu given: below 1/n more than in the program that is solved."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 3)) + 2.0
    y = np.where(np.arange(20) % 3 > 0, 1.0, -1.0) if kind is NuSvc else np.ones(20)
    points = Points(KERNELS["rbf"], DenseRows(X), None)
    problem = kind(points, y, nu) if kind is NuSvc else kind(points, nu)
    found = Fitting(Settings.of_kernel(solver=1 if kind is NuSvc else 2, eps=0.01)).solve(problem)
    value = nu_value(interior.kernel_matrix(points), y, nu, found.function.coef, found.function.rho)
    scale = (nu * 20 / np.sum(np.abs(found.function.coef))) ** 2 if kind is NuSvc else 1.0
    assert found.certificate.primal * scale == pytest.approx(value, rel=1e-9)
    assert found.certificate.dual <= found.certificate.primal < 0.0


def test_no_worse_than_w_0_grants_rounding_of_rows_of_the_usual_size_alone():
    """One-class programs have P(w = 0) = 0, to which no share can be granted."""
    X = np.vstack([np.ones((9, 4)), 1e-4 * np.eye(4)[:1]])
    problem = OneClass(Points(Kernel(0), DenseRows(X), None), 0.1)
    result = KernelResult(0.1 * np.ones(10), 0.0, 0.0, 0.0, 1.0, 1, RULE, np.zeros(10))
    scale = 0.5 * 4.0
    for share, kept in ((2e-9, False), (5e-10, True)):
        assert acceptable(problem, result, Certificate(share * scale, -share * scale, 0.0)) is kept


@pytest.mark.parametrize("coef0", [-1.0, 1.0])
def test_steps_to_the_rule_of_e_end_after_libsvms_number_of_them(coef0, monkeypatch):
    """On an indefinite kernel they need not come to an end: cubes of raw values took minutes."""

    class Costly(PairDescent):
        def __call__(self, state, chosen, tolerance):
            self.work += 1e7 * len(state.a)
            return super().__call__(state, chosen, tolerance)

    monkeypatch.setattr(alfpgm, "PairDescent", Costly)
    rng = np.random.default_rng(0)
    X = np.floor(np.exp(rng.normal(size=(60, 8)) * 2.0))
    problem = NuSvr(Points(Kernel(1, 1 / 8, 3, coef0), DenseRows(X), None), rng.integers(0, 20, 60) * 1.0, 1.0, 0.9)
    found = run(registry.solver_of(alfpgm), problem, Monitor(), 0.01, method="sets")
    assert found.status is STEPS and np.any(found.alpha)
    assert "LIBSVM's limit on the work" in STEPS.advice


def test_an_exact_minimiser_that_misses_the_target_gap_is_no_convergence():
    problem = CSvc(Points(Kernel(0), DenseRows(NORMAL), None), 1.0 * SIGNS, np.ones(len(SIGNS)))
    found = run(registry.solver_of(alfpgm), problem, Monitor(1e-10), 0.0)
    asked = []
    for target, status in ((1e-6, OPTIMAL), (1e-300, PRECISION)):
        found.status = OPTIMAL
        _, result, certificate = verify(problem, found, target, lambda: asked.append(1))
        assert result.status is status and certificate.gap > 1e-300
        assert len(asked) == (status is PRECISION), "another method is tried"


def test_without_e_no_violation_at_all_is_the_exact_minimiser():
    """Not the rule of -e: its certificate must be as small as --gap asks for."""
    y = 1.0 * SIGNS  # at this cost all variables are at their bounds, and nothing violates optimality
    problem = CSvc(Points(Kernel(0), DenseRows(NORMAL), None), y, np.full(len(y), 1e-6))
    assert run(registry.solver_of(alfpgm), problem, Monitor(-1.0), 0.0).status is OPTIMAL
    assert run(registry.solver_of(alfpgm), problem, Monitor(), 1e-3).status is RULE


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
