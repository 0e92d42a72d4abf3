"""-s 13: the optimum by a general-purpose solver, laws that need no oracle, LIBLINEAR's lines, odd input."""

from __future__ import annotations

import os
import re
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
import scipy.optimize
from reference import random_rows, table_of, text_of

from svmtool import registry
from svmtool.formats import linear_model, svmlight
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.settings import Settings
from svmtool.solvers import alm, base
from svmtool.training import folds
from svmtool.training.regression import Regression

ROWS = [row for row in registry.SOLVERS if row.task == "regression"]
GAP = 1e-11
NOT_SMALL = {"SMALL_FEATURES": -1}
PATHS = {
    "small": {"SMALL_FEATURES": 1000},
    "passes": NOT_SMALL,
    "newton": {**NOT_SMALL, "PASSES": 1, "PASSES_WORTH": 0, "STEPS_SPARED": 0},
    "products": {**NOT_SMALL, "GRAM_BELOW": 0, "CG_TOLERANCE": 1e-3},
}
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("path", PATHS)


class Problem(NamedTuple):
    """X f8[n, d] without the bias feature, targets t, cost C_i, half-width eps of the tube."""

    X: np.ndarray
    t: np.ndarray
    cost: np.ndarray
    eps: float = 0.1
    bias: float = -1.0

    @property
    def A(self) -> np.ndarray:
        return self.X if self.bias < 0 else np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    def value(self, w: np.ndarray) -> float:
        return 0.5 * float(w @ w) + float(self.cost @ np.maximum(np.abs(self.t - self.A @ w) - self.eps, 0.0))


def optimum(p: Problem) -> float:
    """By SLSQP over w and one slack a row: 1/2 w'w + sum C xi under -xi - eps <= t - A w <= xi + eps, xi >= 0.

    Started again where it ended until that gains nothing: its picture of the curvature wears out.
    """
    (n, d), A = p.A.shape, p.A
    both = np.vstack([np.hstack([A, np.eye(n)]), np.hstack([-A, np.eye(n)])])
    low = np.concatenate([p.t - p.eps, -p.t - p.eps])
    w, best = np.zeros(d), p.value(np.zeros(d))
    while True:
        found = scipy.optimize.minimize(
            lambda v, scale=best: (0.5 * v[:d] @ v[:d] + p.cost @ v[d:]) / scale,
            np.concatenate([w, np.maximum(np.abs(p.t - A @ w) - p.eps, 0.0)]),
            jac=lambda v, scale=best: np.concatenate([v[:d], p.cost]) / scale,
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
    "large": random_problem(10, 30, 4)._replace(t=1e5 * random_problem(10, 30, 4).t, eps=0.1),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]


class Solved:
    """Answer of one row to one problem."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings(solver=row.number, solver_given=True, p=p.eps, bias=p.bias, **settings)
        problems = Regression(table_of(p.X, p.t), s, p.cost)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        assert isinstance(problems.rows, DenseRows if layout == "dense" else CsrRows)
        [self.result] = problems.fit(None if start is None else np.asarray(start)[:, None], report)
        self.certificate = problems.certify([self.result])
        self.w, self.status, self.f = self.result.w, self.result.status, p.value(self.result.w)
        self.room = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


@pytest.mark.parametrize("layout", ["csr", "dense"])
@pytest.mark.parametrize("name", PROBLEMS)
@every_path
@every_row
def test_optimum_and_certificate(row, path, name, layout, take_path):
    take_path(alm, PATHS[path])
    p = PROBLEMS[name]
    best, s = optimum(p) if p.eps < 100 else 0.0, Solved(row, p, layout)
    assert s.status.converged, s.status
    assert abs(s.f - best) <= 1e-8 * best
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 + 1e-12)
    assert s.certificate.gap <= 1e-8
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9) and record["objective"] >= s.f * (1 - 1e-9)
    beta = s.result.alpha
    assert np.all(np.abs(beta) <= p.cost * (1 + 1e-12))
    dual = p.t @ beta - p.eps * np.sum(np.abs(beta)) - 0.5 * float(np.sum((p.A.T @ beta) ** 2))
    assert dual >= best * (1 - 1e-8), "beta is LIBLINEAR's dual point"
    if name == "all-inside":
        assert not np.any(s.w)


@every_row
def test_paths_are_taken(row, monkeypatch, take_path):
    from svmtool.problem.augmented import Augmented
    from svmtool.problem.dual_passes import DualPasses

    taken = set()
    for owner, name in ((DualPasses, "run"), (Augmented, "hessian"), (Augmented, "hessian_product"), (alm, "_small")):
        plain = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda self, *a, name=name, plain=plain: (taken.add(name), plain(self, *a))[1])
    Solved(row, PROBLEMS["tall-hard"])
    assert taken == {"_small"}
    taken.clear()
    take_path(alm, NOT_SMALL)
    Solved(row, PROBLEMS["tall-hard"])
    assert taken == {"run", "hessian"}
    taken.clear()
    Solved(row, PROBLEMS["tall-hard"], "dense")
    assert taken == {"hessian"}
    take_path(alm, PATHS["products"])
    Solved(row, PROBLEMS["tall-hard"], "dense")
    assert taken == {"hessian", "hessian_product"}


@every_path
@every_row
def test_laws(row, path, take_path):
    """What must not change when a problem is put differently."""
    take_path(alm, PATHS[path])
    order = np.random.default_rng(0).permutation
    for p in SOME:
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
        for factor in (1e-6, 30.0, 1e9):  # targets, tube and weights grow together if C does
            b = Solved(row, p._replace(t=factor * p.t, eps=factor * p.eps, cost=factor * p.cost))
            assert np.linalg.norm(b.w / factor - a.w) <= 2 * a.room
        zero = Solved(row, p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert zero.w[2] == 0.0 and np.linalg.norm(np.delete(zero.w, 2) - a.w) <= 2 * a.room
        dense = Solved(row, p, "dense")
        assert np.linalg.norm(dense.w - a.w) <= 2 * a.room


@every_row
def test_scaling_the_targets_scales_the_course(row):
    """A power of two changes no rounding: every step is the same."""
    p, factor = PROBLEMS["tall"], 2.0**20
    a = Solved(row, p)
    b = Solved(row, p._replace(t=factor * p.t, eps=factor * p.eps, cost=factor * p.cost))
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
    for k in (1, 2, 4):
        s = Solved(row, p, max_iter=k)
        assert s.status is base.ITERATIONS and s.result.iterations <= k + 1
        assert s.f <= p.value(np.zeros(4)), "never worse than no weights at all"


@pytest.mark.parametrize("eps", [None, 0.5, 0.1, 1e-4, 1e-9])
@every_row
def test_e_ends_beyond_liblinears_rule(row, eps):
    """The certified gap that the registry's row promises for -e."""
    for p in (*SOME, PROBLEMS["tall-hard"]):
        s = Solved(row, p, eps=eps)
        wanted = 1e-5 * (row.eps_default if eps is None else eps)
        assert s.status.converged
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
    assert re.fullmatch(form, out), out
    p = p._replace(cost=np.ones(len(p.t)))
    assert numbers(r"Objective value = (\S+)", out)[0] == pytest.approx(-optimum(p), rel=2e-6)
    m = linear_model.read("m")
    assert (m.word, m.nr_class, m.labels, m.bias) == (row.word, 2, None, 2.0)
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
    p = PROBLEMS["tall"]
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
@pytest.mark.parametrize("options", [[], ["-B", 1], ["-c", "1e8"], ["-p", 0]], ids=str)
@pytest.mark.parametrize("name", ODD)
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, name, options, svm_train):
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=ODD[name])
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False)
        assert name == "huge-labels" and "overflow" in err, err
        return
    assert "nan" not in out and "inf" not in out, out
    assert np.all(np.isfinite(linear_model.read("m").W))
    rows = svmlight.read("d")
    assert linear_model.read("m").n_features == rows.n_features
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model predicts 0\n"
        assert out.startswith("\noptimization finished, #iter = 1\nObjective value = 0.000000\nnSV = 0\n")
    else:
        assert err == "" or "not converged" in err


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["-p", -0.1], "ERROR: p < 0\n"),
        (["-p", "nan"], "ERROR: -p is nan"),
        (["--stratified", "-v", 2], "ERROR: solver 13 (l1svr-dual) does not honour --stratified"),
        (["-i", "classifier"], "the initial model is of L2R_L2LOSS_SVC: a regression starts from a regression\n"),
        (["-B", 1, "-R"], "ERROR: -R option supported only for solver "),
        (["-C"], "Warm-start parameter search only available for "),
    ],
    ids=str,
)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "classifier", data="1 1:1\n-1 1:-1\n")
    status, _, err = svm_train("-s", 13, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("options", [[], ["-B", "1"], ["-c", "0.01", "-p", "0.5"]], ids=str)
@every_row
def test_never_worse_than_liblinear(row, options, reference, svm_train, tmp_path):
    p = random_problem(21, 300, 6, bias=1.0 if "-B" in options else -1.0)
    p = p._replace(cost=np.full(300, 0.01 if "-c" in options else 1.0), eps=0.5 if "-p" in options else 0.1)
    assert svm_train("-q", "-s", row.number, *options, "d", "m", data=text_of(p.X, p.t))[0] == 0
    theirs = [reference["train"], "-q", "-s", str(row.number), "-e", "1e-6", *options, "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.value(linear_model.read(name).W[:, 0]) for name in ("m", "theirs"))
    assert ours <= best * (1 + 1e-6)
