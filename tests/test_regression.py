"""-s 11, 12 and 13: the optimum by a general-purpose solver, laws that need no oracle, LIBLINEAR's lines, odd input."""

from __future__ import annotations

import os
import re
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
import scipy.optimize
from reference import random_rows, table_of, text_of
from solver_suite import ALM, MFN, Case, choose_path, each_path

from svmtool import registry
from svmtool.compiled import threads
from svmtool.formats import linear_model, svmlight
from svmtool.problem import rows
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.settings import Settings
from svmtool.solvers import base
from svmtool.training import folds
from svmtool.training.regression import Regression

ROWS = [row for row in registry.SOLVERS if row.task == "regression"]
GAP = 1e-11
EVERYWHERE = [case for row in ROWS for case in each_path(Case(row, 2.0))]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("case", EVERYWHERE, ids=lambda case: case.id)


@pytest.fixture
def walk(monkeypatch):
    """Choose a path of a back end; from then on solvers take it."""
    return lambda case: choose_path(monkeypatch, case)


class Problem(NamedTuple):
    """X f8[n, d] without the bias feature, targets t, cost C_i, half-width eps of the tube, power of the loss."""

    X: np.ndarray
    t: np.ndarray
    cost: np.ndarray
    eps: float = 0.1
    bias: float = -1.0
    power: float = 1.0
    free: bool = False

    @property
    def A(self) -> np.ndarray:
        return self.X if self.bias < 0 else np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def R(self) -> np.ndarray:
        """The diagonal of the regulariser."""
        return np.append(np.ones(self.A.shape[1] - 1), 0.0 if self.free else 1.0)

    def slack(self, w: np.ndarray) -> np.ndarray:
        """How far rows lie outside the tube."""
        return np.maximum(np.abs(self.t - self.A @ w) - self.eps, 0.0)

    def value(self, w: np.ndarray) -> float:
        return 0.5 * float(w @ (self.R * w)) + float(self.cost @ self.slack(w) ** self.power)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Of the square."""
        return self.R * w - self.A.T @ (2.0 * self.cost * self.slack(w) * np.sign(self.t - self.A @ w))

    def of(self, row: registry.Solver) -> Problem:
        """The problem with the loss that the row is about."""
        return self._replace(power=1.0 if row.loss == "hinge" else 2.0)


def optimum(p: Problem) -> float:
    """By SLSQP over w and one slack a row: 1/2 w'Rw + sum C xi^power, -xi - eps <= t - A w <= xi + eps, xi >= 0.

    Started again where it ended until that gains nothing: its picture of the curvature wears out.
    """
    (n, d), A, R, power = p.A.shape, p.A, p.R, p.power
    both = np.vstack([np.hstack([A, np.eye(n)]), np.hstack([-A, np.eye(n)])])
    low = np.concatenate([p.t - p.eps, -p.t - p.eps])
    w, best = np.zeros(d), p.value(np.zeros(d))
    while True:
        found = scipy.optimize.minimize(
            lambda v, scale=best: (0.5 * v[:d] @ (R * v[:d]) + p.cost @ np.maximum(v[d:], 0.0) ** power) / scale,
            np.concatenate([w, p.slack(w)]),
            jac=lambda v, scale=best: (
                np.append(R * v[:d], power * p.cost * np.maximum(v[d:], 0.0) ** (power - 1.0)) / scale
            ),
            bounds=[(None, None)] * d + [(0.0, None)] * n,
            constraints={"type": "ineq", "fun": lambda v: both @ v - low, "jac": lambda v: both},
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-15},
        )
        value = p.value(found.x[:d])
        if not 0.0 < value < best * (1 - 1e-12):
            return min(value, best)
        w, best = found.x[:d], value


def random_problem(seed: int, n: int, d: int, C: float = 1.0, eps: float = 0.1, bias: float = -1.0) -> Problem:
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    t = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) + (0.7 if bias >= 0 else 0.0)
    t = np.round(t, 3)  # survives being written to a file
    return Problem(X, t, C * rng.choice([0.5, 1.0, 3.0], n), eps, bias)


PROBLEMS = {
    "tall": random_problem(1, 30, 4),
    "tall-easy": random_problem(2, 30, 4, C=0.01),
    "tall-hard": random_problem(3, 30, 4, C=100.0),
    "tall-bias": random_problem(4, 30, 4, bias=2.0),
    "wide": random_problem(5, 12, 20),
    "wide-hard": random_problem(6, 12, 20, C=100.0, bias=1.0),
    "no-tube": random_problem(7, 30, 4, eps=0.0),
    "broad-tube": random_problem(8, 30, 4, eps=1.5),
    "all-inside": random_problem(9, 30, 4, eps=1e3),
    "free": random_problem(11, 30, 4, bias=1.0)._replace(free=True),
    "wide-free": random_problem(12, 12, 20, C=100.0, bias=1.0)._replace(free=True),
    "large": random_problem(10, 30, 4)._replace(t=1e5 * random_problem(10, 30, 4).t, eps=0.1),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]


class Solved:
    """Answer of one row to one problem."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, stop=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings(solver=row.number, solver_given=True, p=p.eps, bias=p.bias, regularize_bias=not p.free, **settings)
        p = p.of(row)
        problems = Regression(table_of(p.X, p.t), s, p.cost)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        assert isinstance(problems.rows, DenseRows if layout == "dense" else CsrRows)
        [self.result] = problems.fit(None if start is None else np.asarray(start)[:, None], report, stop)
        self.certificate = problems.certify([self.result])
        self.w, self.status, self.f = self.result.w, self.result.status, p.value(self.result.w)
        self.room = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


@pytest.mark.parametrize("layout", ["csr", "dense"])
@pytest.mark.parametrize("name", PROBLEMS)
@every_path
def test_optimum_and_certificate(case, name, layout, walk):
    row, p = case.row, PROBLEMS[name].of(case.row)
    if p.free and "-R" not in row.honours:
        pytest.skip(f"-s {row.number} does not honour -R")
    walk(case)
    best, s = optimum(p) if p.eps < 100 else 0.0, Solved(row, p, layout)
    assert s.status.converged, s.status
    assert abs(s.f - best) <= 1e-8 * best
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 + 1e-12)
    assert s.certificate.gap <= 1e-8
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9) and record["objective"] >= s.f * (1 - 1e-9)
    beta = s.result.alpha
    if beta is None:  # from a primal method: the dual point that belongs to w
        beta = 2.0 * p.cost * p.slack(s.w) * np.sign(p.t - p.A @ s.w)
    dual = p.t @ beta - p.eps * np.sum(np.abs(beta)) - 0.5 * float(np.sum((p.R * (p.A.T @ beta)) ** 2))
    if p.power == 1.0:
        assert np.all(np.abs(beta) <= p.cost * (1 + 1e-12))
    else:
        dual -= 0.25 * float(np.sum(beta**2 / p.cost))
    assert dual >= best * (1 - 1e-8), "beta is LIBLINEAR's dual point"
    if name == "all-inside":
        assert not np.any(s.w)


@every_path
def test_paths_are_taken(case, monkeypatch, walk):
    """Each path leads where its name says."""
    from svmtool.problem.augmented import Augmented
    from svmtool.problem.dual_passes import DualPasses
    from svmtool.problem.squared_hinge import SquaredHinge
    from svmtool.solvers import alm, mfn

    back_end, objective = {ALM: (alm, Augmented), MFN: (mfn, SquaredHinge)}[case.row.module]
    taken = set()
    watched = [(back_end, "_small", "small"), (DualPasses, "run", "passes"), (objective, "hessian", "features")]
    watched += [(objective, "hessian_product", "products"), (objective, "face", "rows")]
    for owner, name, what in watched:
        plain = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, what=what, plain=plain: (taken.add(what), plain(*a))[1])
    monkeypatch.setattr(
        SquaredHinge, "sample", lambda *a, plain=SquaredHinge.sample: (taken.add("sampled"), plain(*a))[1]
    )
    walk(case)
    assert Solved(case.row, PROBLEMS["tall-easy" if case.path == "passes" else "tall-hard"]).status.converged
    first, _, sampled = case.path.partition("-")
    assert first in taken
    assert ("sampled" in taken) == bool(sampled)
    assert ("small" in taken) == (first == "small")
    others = {"features", "products", "rows"} - {first} - ({"rows"} if case.row.module == MFN else set())
    assert not others & taken


@every_path
def test_laws(case, walk):
    """What must not change when a problem is put differently."""
    walk(case)
    row, order = case.row, np.random.default_rng(0).permutation
    for p in SOME:
        p = p.of(row)
        a, k = Solved(row, p), order(len(p.t))
        same = {
            "rows twice": p._replace(X=np.vstack([p.X] * 2), t=np.tile(p.t, 2), cost=np.tile(p.cost / 2, 2)),
            "order": p._replace(X=p.X[k], t=p.t[k], cost=p.cost[k]),
            "no cost, no row": p._replace(
                X=np.vstack([p.X, p.X[:5]]), t=np.append(p.t, np.full(5, 9.0)), cost=np.append(p.cost, np.zeros(5))
            ),
        }
        for law, other in same.items():
            b = Solved(row, other)
            assert np.linalg.norm(a.w - b.w) <= 2 * a.room, law
            assert b.f == pytest.approx(a.f, rel=1e-9), law
        opposite = Solved(row, p._replace(t=-p.t))
        assert np.linalg.norm(a.w + opposite.w) <= 2 * a.room
        for factor in (1e-6, 30.0, 1e9):  # targets, tube and weights grow together if C does, or for squares by itself
            cost = factor ** (2.0 - p.power) * p.cost
            b = Solved(row, p._replace(t=factor * p.t, eps=factor * p.eps, cost=cost))
            assert np.linalg.norm(b.w / factor - a.w) <= 2 * a.room
        zero = Solved(row, p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert zero.w[2] == 0.0 and np.linalg.norm(np.delete(zero.w, 2) - a.w) <= 2 * a.room
        dense = Solved(row, p, "dense")
        assert np.linalg.norm(dense.w - a.w) <= 2 * a.room


@every_row
def test_scaling_the_targets_scales_the_course(row):
    """A power of two changes no rounding: every step is the same."""
    p, factor = PROBLEMS["tall"].of(row), 2.0**20
    a = Solved(row, p)
    cost = factor ** (2.0 - p.power) * p.cost
    b = Solved(row, p._replace(t=factor * p.t, eps=factor * p.eps, cost=cost))
    assert np.array_equal(b.w, factor * a.w)


@every_row
def test_warm_start_at_the_answer_stops_early(row):
    for p in SOME:
        cold = Solved(row, p)
        warm = Solved(row, p, start=cold.w, gap=1e-6)
        assert warm.status.converged and warm.f <= cold.f * (1 + 1e-6)
        assert Solved(row, p, start=cold.w, max_iter=1, gap=1e-6).f <= cold.f * (1 + 1e-12), "the start is kept"


@every_row
def test_limits(row):
    p = PROBLEMS["tall-hard"]
    p = p.of(row)
    for k in (1, 2, 4):
        s = Solved(row, p, max_iter=k)
        assert s.status is base.ITERATIONS or s.status.converged
        assert s.result.iterations <= k + 1
        assert s.f <= p.value(np.zeros(4)), "never worse than no weights at all"
    assert Solved(row, p, max_iter=1).status is base.ITERATIONS


@every_path
def test_time_limit_and_interruption(case, walk):
    walk(case)
    p, stop = PROBLEMS["tall-hard"].of(case.row), base.StopFlag()
    stop.set = True
    for options in ({"max_seconds": 1e-9}, {"stop": stop}):
        s = Solved(case.row, p, **options)
        assert s.status.converged or s.status in (base.TIME, base.INTERRUPTED)
        assert s.f <= p.value(np.zeros(4)) and s.result.history


@every_path
def test_same_bits_for_any_number_of_threads(case, walk, monkeypatch):
    walk(case)
    monkeypatch.setattr(rows, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 2, 3):
        threads.set_count(count)
        try:
            answers.append([Solved(case.row, p, seed=5) for p in SOME])
        finally:
            threads.set_count(None)
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            assert a.w.tobytes() == b.w.tobytes() and a.result.history == b.result.history


@every_row
def test_extreme_costs(row):
    """From where w is almost 0 to where the tube is almost hard."""
    for C in (1e-12, 1e-6, 1e6, 1e10):
        for p in SOME:
            s = Solved(row, p._replace(cost=C * p.cost), gap=1e-6)
            assert s.status.converged or s.status is base.PRECISION, (C, s.status)
            assert s.certificate.gap <= 1e-6 or not s.status.converged


@pytest.mark.parametrize("eps", [0.1, 0.0])
@every_path
def test_labels_that_a_free_bias_alone_meets(case, eps, walk):
    """No weights, a bias in every row's tube, and an objective of 0: nothing can be said relative to it."""
    if "-R" not in case.row.honours:
        pytest.skip(f"-s {case.row.number} does not honour -R")
    walk(case)
    p = PROBLEMS["free"]._replace(t=7.0 + eps * np.sin(np.arange(30)), eps=eps)
    s = Solved(case.row, p)
    assert s.status.converged and s.certificate.gap == 0.0 and s.f == 0.0
    assert not np.any(s.w[:-1]) and np.all(np.abs(p.t - s.w[-1]) <= eps)


@pytest.mark.parametrize("eps", [None, 0.5, 0.1, 1e-4, 1e-9])
@every_row
def test_e_ends_beyond_liblinears_rule(row, eps):
    """The certified gap that the registry's row promises for -e, or LIBLINEAR's rule for -s 11."""
    for p in (*SOME, PROBLEMS["tall-hard"], PROBLEMS["free"]):
        if p.free and "-R" not in row.honours:
            continue
        p, e = p.of(row), row.eps_default if eps is None else eps
        s = Solved(row, p, eps=eps)
        assert s.status.converged
        if row.space == "primal":
            start = np.linalg.norm(p.gradient(np.zeros(p.A.shape[1])))
            assert np.linalg.norm(p.gradient(s.w)) <= e * start * (1 + 1e-9)
            continue
        wanted = 1e-5 * e
        assert s.certificate.gap <= min(max(wanted, 1e-8), 1e-6)


# From the command line


def numbers(pattern: str, text: str) -> list[float]:
    return [float(x) for x in re.search(pattern, text).groups()]


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-bias"]
    status, out, err = svm_train("-s", row.number, "-B", 2, "-p", 0.1, "d", "m", data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = (\d+)\nObjective value = (\S+)\nnSV = (\d+)\nCertified .*\n"
    if row.space == "primal":
        step = r"iter +\d+ f \S+ \|g\| \S+ CG +\d+ step_size \S+ \n"
        form = rf"init f (\S+) \|g\| (\S+)\n(?:{step})*Certified .*\n"
    assert re.fullmatch(form, out), out
    p = p._replace(cost=np.ones(len(p.t))).of(row)
    if row.space == "primal":
        assert numbers(r".* f (\S+) \|g\| ", out.splitlines()[-2])[0] == pytest.approx(optimum(p), rel=1e-3)
    else:
        assert numbers(r"Objective value = (\S+)", out)[0] == pytest.approx(-optimum(p), rel=2e-6)
    m = linear_model.read("m")
    assert (m.word, m.nr_class, m.labels, m.bias) == (row.word, 2, None, 2.0)
    if row.space == "dual":
        outside = np.abs(p.t - p.A @ m.W[:, 0]) > 0.1 + 1e-3
        support = numbers(r"nSV = (\d+)", out)[0]
        assert np.count_nonzero(outside) <= support <= np.count_nonzero(outside) + 1 + p.A.shape[1]
    done = command("predict", "d", "m", "o")
    got = np.loadtxt("o")
    np.testing.assert_allclose(got, p.A @ m.W[:, 0], rtol=1e-12)
    mean = np.mean((got - p.t) ** 2)
    assert numbers(r"Mean squared error = (\S+) \(reg", done.stdout.decode())[0] == pytest.approx(mean, rel=1e-5)


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = PROBLEMS["tall-bias"]
    p = p._replace(cost=np.ones(len(p.t)))
    order, starts = folds.liblinear_folds(len(p.t), 4)
    got = np.empty(len(p.t))
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        got[outside] = p.A[outside] @ Solved(row, p._replace(X=p.X[inside], t=p.t[inside], cost=p.cost[inside])).w
    asked = ("-s", row.number, "-q", "--gap", 1e-10, "-B", 2, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, p.t)) for k in (1, 2)]
    assert runs[0] == runs[1]
    form = r"Cross Validation Mean squared error = (\S+)\nCross Validation Squared correlation coefficient = (\S+)\n$"
    squares, correlation = numbers(form, runs[0][1])
    assert squares == pytest.approx(np.mean((got - p.t) ** 2), rel=1e-4)
    assert correlation == pytest.approx(np.corrcoef(got, p.t)[0, 1] ** 2, rel=1e-4)


@every_row
def test_row_weights_and_class_weights(row, svm_train, tmp_path):
    """--weights multiply C; -w speaks of classes, which a regression has not, and is silent as in LIBLINEAR."""
    p = PROBLEMS["tall"].of(row)
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in p.cost))
    text = text_of(p.X, p.t)
    asked = ("-q", "-s", row.number, "--gap", 1e-11)
    assert svm_train(*asked, "--weights", "weights", "-w1", 7, "d", "m", data=text) == (0, "", "")
    assert p.value(linear_model.read("m").W[:, 0]) == pytest.approx(optimum(p), rel=1e-8)
    assert svm_train(*asked, "--weights", "weights", "-i", "m", "d", "again", data=text) == (0, "", "")
    assert p.value(linear_model.read("again").W[:, 0]) == pytest.approx(optimum(p), rel=1e-8)


ODD = {
    "empty": "",
    "one-row": "3.5 1:2\n",
    "no-features": "1\n2.5\n",
    "labels-zero": "0 1:1\n0 1:2\n",
    "constant": "7 1:1\n7 1:1\n7 1:1\n",
    "twins": "1 1:1\n-1 1:1\n",
    "huge-labels": "1e200 1:1\n-1e200 2:1\n",
    "tiny-labels": "1e-200 1:1\n-1e-200 2:1\n",
    "huge-features": "1 1:1e120\n2 1:-3e119\n",
    "far-index": "1.5 2000000:1\n-1 7:1\n",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [[], ["-B", 1], ["-c", "1e8"], ["-p", 0], ["-B", 1, "-R"]], ids=str)
@pytest.mark.parametrize("name", ODD)
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, name, options, svm_train):
    if "-R" in options and "-R" not in row.honours:
        pytest.skip(f"-s {row.number} does not honour -R")
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=ODD[name])
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False)
        assert name == "huge-labels" and "overflow" in err, err
        return
    assert "nan" not in out and "inf" not in out, out
    assert np.all(np.isfinite(linear_model.read("m").W))
    assert linear_model.read("m").n_features == svmlight.read("d").n_features
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model predicts 0\n"
        beginning = "\noptimization finished, #iter = 1\nObjective value = 0.000000\nnSV = 0\n"
        assert out.startswith(beginning if row.space == "dual" else "init f 0.000e+00 |g| 0.000e+00\n")
    else:
        assert err == "" or "not converged" in err


@pytest.mark.parametrize(
    "argv, option, sentence",
    [
        (["-p", -0.1], "", "ERROR: p < 0\n"),
        (["-p", "nan"], "", "ERROR: -p is nan"),
        (["--stratified", "-v", 2], "", "ERROR: solver {0.number} ({0.name}) does not honour --stratified"),
        (["-i", "classifier"], "", "the initial model is of L2R_L2LOSS_SVC: a regression starts from a regression\n"),
        (["-B", 1, "-R"], "-R", "ERROR: -R option supported only for solver "),
        (["-C"], "-C", "Warm-start parameter search only available for "),
    ],
    ids=str,
)
@every_row
def test_what_is_refused(row, argv, option, sentence, svm_train, tmp_path):
    if option in row.honours:
        pytest.skip(f"-s {row.number} honours {option}")
    svm_train("-q", "-s", 2, "d", "classifier", data="1 1:1\n-1 1:-1\n")
    status, _, err = svm_train("-s", row.number, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence.format(row)), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("options", [[], ["-B", "1"], ["-c", "0.01", "-p", "0.5"]], ids=str)
@every_row
def test_never_worse_than_liblinear(row, options, reference, svm_train, tmp_path):
    p = random_problem(21, 300, 6, bias=1.0 if "-B" in options else -1.0)
    p = p._replace(cost=np.full(300, 0.01 if "-c" in options else 1.0), eps=0.5 if "-p" in options else 0.1).of(row)
    assert svm_train("-q", "-s", row.number, *options, "d", "m", data=text_of(p.X, p.t))[0] == 0
    theirs = [reference["train"], "-q", "-s", str(row.number), "-e", "1e-6", *options, "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.value(linear_model.read(name).W[:, 0]) for name in ("m", "theirs"))
    assert ours <= best * (1 + 1e-6)


# -C: the search over p and C

SEARCHING = [row for row in ROWS if "-C" in row.honours]
searching = pytest.mark.parametrize("row", SEARCHING, ids=lambda row: row.name)


class Search:
    """What -C prints: lines as (log2 C, p, mean squared error), warnings between them, and the best three numbers."""

    def __init__(self, out: str):
        first, *middle, last = out.splitlines()
        self.folds = numbers(r"Doing parameter search with (\d+)-fold cross validation.$", first)[0]
        form = r"log2c=(.{7})\tp=(.{7})\tMean squared error=(\S+)$"
        self.capped = middle.count("WARNING: maximum C reached.")
        self.lines = [tuple(numbers(form, line)) for line in middle if not line.startswith("WARNING")]
        self.best = numbers(r"Best C = (\S+) Best p = (\S+)  CV MSE = (\S+)$", last)

    def of(self, p: float) -> list[tuple]:
        return [line for line in self.lines if line[1] == round(p, 2)]


def searched(n: int = 40) -> Problem:
    """Labels up to 2: p falls by 0.1."""
    p = random_problem(4, n, 4)
    return p._replace(t=p.t / np.max(np.abs(p.t)) * 2.0, cost=np.ones(n))


@searching
def test_search_visits_each_p_and_doubles_C(row, svm_train):
    p = searched()
    status, out, err = svm_train("-s", row.number, "-C", "-v", 3, "d", data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    found, capped = Search(out), 0
    assert found.folds == 3
    halves = [0.1 * i for i in range(19, -1, -1)]
    assert sum(len(found.of(half)) for half in halves) == len(found.lines)
    largest = np.max(np.sum(p.X**2, axis=1))
    for half in halves:
        loss = np.sum(np.maximum(np.abs(p.t) - half, 0.0) ** 2)
        first = np.floor(np.log2(0.01 * loss / (8 * np.sum(np.abs(p.t)) ** 2 * largest)))
        logs = [line[0] for line in found.of(half)]
        assert logs == [first + k for k in range(len(logs))]
        capped += logs[-1] == 20.0
        assert len(logs) >= 5
    assert found.capped <= capped
    error = min(line[2] for line in found.lines)
    best = next(line for line in found.lines if line[2] == error)
    assert found.best[2] == error and found.best[1] == pytest.approx(best[1], abs=0.005)
    assert found.best[0] == pytest.approx(2.0 ** best[0], rel=1e-5)
    order, starts = folds.liblinear_folds(40, 3)
    for log2c, half, squares in found.lines[7::60]:
        got = np.empty(40)
        for k in range(3):
            inside, outside = folds.fold_rows(order, starts, k)
            part = Problem(p.X[inside], p.t[inside], np.full(len(inside), 2.0**log2c), half)
            got[outside] = p.X[outside] @ Solved(row, part).w
        assert squares == pytest.approx(np.mean((got - p.t) ** 2), rel=1e-3)
    quiet = svm_train("-q", "-s", row.number, "-C", "-v", 3, "--threads", 1, "d")[1].splitlines()
    assert quiet == [out.splitlines()[0], out.splitlines()[-1]]


@searching
@pytest.mark.parametrize("asked, first", [(0.75, 0.7), (0.05, 0.0), (5.0, 1.9), (0.0, 1.9)])
def test_search_starts_at_the_p_and_the_C_given(row, asked, first, svm_train):
    p = searched()
    status, out, err = svm_train("-s", row.number, "-C", "-c", 3, "-p", asked, "d", data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    found = Search(out)
    assert found.folds == 5 and found.lines[0][:2] == (1.58, pytest.approx(first))
    assert found.lines[-1][1] == 0.0


@searching
def test_search_on_odd_data(row, svm_train):
    """An answer, or one sentence about the data."""
    for data in ("1 1:1\n2 1:2\n3 1:4\n", "0 1:1\n0 1:2\n", "1\n2\n", "1 1:1e200\n2 1:1\n", "1e200 1:1\n1 1:1\n", ""):
        status, out, err = svm_train("-s", row.number, "-C", "-v", 2, "d", data=data)
        if status:
            assert status == 1 and len(err.splitlines()) == 1, err
        else:
            assert Search(out).best[2] >= 0.0
    status, out, err = svm_train("-s", row.number, "-C", "-v", 2, "d", data="0 1:1\n0 1:2\n")
    assert (status, err) == (0, "") and Search(out).lines[0] == (20.0, 0.0, 0.0)


@searching
def test_search_is_liblinears(row, svm_train, reference, tmp_path):
    p = searched(n=60)
    asked = ["-s", str(row.number), "-e", "1e-8", "-C", "-B", "1", "d"]
    out = svm_train(*asked, data=text_of(p.X, p.t))[1]
    theirs = subprocess.run(
        [reference["train"], *asked], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    a, b = Search(out), Search(theirs)
    ours, recorded = ({line[:2]: line[2] for line in found.lines} for found in (a, b))
    shared = ours.keys() & recorded.keys()  # the path decides when w no longer moves
    assert len(shared) >= 0.9 * max(len(ours), len(recorded))
    assert {p: min(c for c, half in ours if half == p) for _, p in ours} == {
        p: min(c for c, half in recorded if half == p) for _, p in recorded
    }
    for key in shared:
        assert ours[key] == pytest.approx(recorded[key], rel=1e-3), key  # theirs may stay where the last C left it
    assert a.best == pytest.approx(b.best, rel=1e-5)
