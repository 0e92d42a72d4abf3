"""-s 21: the optimum by a general-purpose solver, laws that need no oracle, its judge, LIBLINEAR's lines, odd input."""

from __future__ import annotations

import re
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
import scipy.optimize
from conftest import skip_unless_known
from reference import csr_of, random_rows, table_of, text_of

from svmtool import registry
from svmtool.formats import linear_model
from svmtool.problem.one_class import FLOOR, OneClassJudge, OneClassPasses, best_rho
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.settings import Settings
from svmtool.solvers import base, one_class
from svmtool.training import folds
from svmtool.training.one_class import OneClass

ROWS = [row for row in registry.SOLVERS if row.task == "one-class"]
GAP = 1e-11
NO_FACE = {"FACE_ROWS": 0}
PATHS = {
    "usual": {},
    "sampled": {"SAMPLE_GROUP": 2, "SAMPLE_ROWS": 4},
    "settled": {"ROUNDS": 1},
    "sampled, settled": {"SAMPLE_GROUP": 2, "SAMPLE_ROWS": 4, "ROUNDS": 3},
}
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("path", PATHS)


class Problem(NamedTuple):
    """Rows X f8[n, d], upper ends cost of the dual variables, nu."""

    X: np.ndarray
    cost: np.ndarray
    nu: float

    @property
    def k(self) -> float:
        return self.nu * float(np.sum(self.cost))

    def value(self, w: np.ndarray, rho: float) -> float:
        return 0.5 * float(w @ w) + float(self.cost @ np.maximum(rho - self.X @ w, 0.0)) - self.k * rho

    def least(self, w: np.ndarray) -> float:
        """P at w and the best rho, which is the product of some row."""
        return min((self.value(w, rho) for rho in self.X @ w), default=0.0)

    def dual_value(self, a: np.ndarray) -> float:
        return -0.5 * float(np.sum((self.X.T @ a) ** 2))


def optimum(p: Problem) -> float:
    """By SLSQP over the dual, in units in which it is about 1; started again until that gains nothing."""
    a, Q = p.nu * p.cost, p.X @ p.X.T
    scale = max(float(a @ Q @ a), 1e-300)
    best = np.inf
    while True:
        found = scipy.optimize.minimize(
            lambda v, scale=scale: 0.5 * v @ Q @ v / scale,
            a,
            jac=lambda v, scale=scale: Q @ v / scale,
            bounds=[(0.0, c) for c in p.cost],
            constraints={"type": "eq", "fun": lambda v: np.sum(v) - p.k, "jac": lambda v: np.ones_like(v)},
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-16},
        )
        a = np.clip(found.x, 0.0, p.cost)
        value = 0.5 * float(a @ Q @ a)
        if not value < best * (1 - 1e-12):
            return -min(value, best)
        best, scale = value, max(value, 1e-300)


def random_problem(seed: int, n: int, d: int, nu: float, shift: float = 1.0, equal: bool = False) -> Problem:
    """Rows about a point at a distance from the origin, with unequal costs."""
    rng = np.random.default_rng(seed)
    X = np.round(random_rows(rng, n, d) + shift * (rng.random((n, d)) < 0.8), 6)
    return Problem(X, np.ones(n) if equal else rng.choice([0.5, 1.0, 3.0], n), nu)


PROBLEMS = {
    "tall": random_problem(1, 40, 4, 0.5),
    "tall-few-out": random_problem(2, 40, 4, 0.05, shift=3.0),
    "tall-most-out": random_problem(3, 40, 4, 0.9),
    "tall-equal": random_problem(4, 40, 4, 0.3, equal=True),
    "one-feature": random_problem(5, 30, 1, 0.4, shift=5.0),
    "wide": random_problem(6, 12, 30, 0.5),
    "wide-few-out": random_problem(7, 12, 30, 0.02),
    "far": random_problem(8, 40, 4, 0.3, shift=1e3),
    "whole-number-out": random_problem(9, 40, 4, 0.25, equal=True),
    "repeated": random_problem(10, 20, 4, 0.35)._replace(
        X=np.repeat(random_problem(10, 20, 4, 0.35).X[:5], 4, axis=0) + 1.0
    ),
}
SOME = PROBLEMS["tall"], PROBLEMS["wide"], PROBLEMS["tall-equal"]


class Solved:
    """Answer of one row to one problem."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings(solver=row.number, solver_given=True, nu=p.nu, **settings)
        self.problems = OneClass(table_of(p.X, np.zeros(len(p.X))), s, p.cost)
        [self.result] = self.problems.fit(None if start is None else np.asarray(start)[:, None], report)
        self.certificate = self.problems.certify([self.result])
        self.w, self.rho, self.status = self.result.w[:-1], float(self.result.w[-1]), self.result.status
        self.f = p.value(self.w, self.rho)
        self.room = 2.0 * np.sqrt(2.0 * GAP * abs(self.f)) + 1e-9


@pytest.mark.parametrize("name", PROBLEMS)
@every_path
@every_row
def test_optimum_and_certificate(row, path, name, take_path):
    take_path(one_class, PATHS[path])
    p = PROBLEMS[name]
    best, s = optimum(p), Solved(row, p)
    assert best < 0.0
    assert s.status.converged, s.status
    assert abs(s.f - best) <= 1e-8 * -best
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 - 1e-12)
    assert s.certificate.gap <= 1e-10
    assert s.f == pytest.approx(p.least(s.w), rel=1e-12), "rho is the best one"
    for record in s.result.history:
        assert record["bound"] <= best * (1 - 1e-9) and record["objective"] >= s.f * (1 + 1e-9)
    a = s.result.alpha
    assert np.all(a >= 0.0) and np.all(a <= p.cost) and np.sum(a) == pytest.approx(p.k, rel=1e-12)
    assert p.dual_value(a) == pytest.approx(best, rel=1e-8)
    z = p.X @ s.w
    outside, inside = z < s.rho * (1 - 1e-6), z > s.rho * (1 + 1e-6)
    assert np.all(a[outside] == p.cost[outside]) and np.all(a[inside] == 0.0)


@every_row
def test_pairs_alone_get_there(row, take_path):
    take_path(one_class, NO_FACE)
    for name, p in PROBLEMS.items():
        s = Solved(row, p, gap=1e-6)
        assert s.status is base.GAP and s.certificate.gap <= 1e-6, name


@every_row
def test_paths_are_taken(row, monkeypatch, take_path):
    taken = []
    for name in ("begin", "begin_towards", "run", "settle"):
        plain = getattr(OneClassPasses, name)
        monkeypatch.setattr(
            OneClassPasses, name, lambda self, *a, name=name, plain=plain: (taken.append(name), plain(self, *a))[1]
        )
    Solved(row, PROBLEMS["tall"], gap=1e-2)
    assert set(taken) == {"begin", "run"}
    taken.clear()
    take_path(one_class, PATHS["sampled"])
    Solved(row, PROBLEMS["tall"], gap=1e-2)
    assert taken[0] == "begin" and "begin_towards" in taken
    take_path(one_class, PATHS["settled"])
    Solved(row, PROBLEMS["tall"])
    assert "settle" in taken


@every_path
@every_row
def test_laws(row, path, take_path):
    """What must not change when a problem is put differently."""
    take_path(one_class, PATHS[path])
    for p in SOME:
        n, d = p.X.shape
        a, order = Solved(row, p), np.random.default_rng(0).permutation(n)
        rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))[0]
        same = {
            "rows twice": p._replace(X=np.vstack([p.X] * 2), cost=np.tile(p.cost / 2, 2)),
            "order": p._replace(X=p.X[order], cost=p.cost[order]),
            "no cost, no row": p._replace(X=np.vstack([p.X, -p.X[:5]]), cost=np.append(p.cost, np.zeros(5))),
        }
        for law, other in same.items():
            b = Solved(row, other)
            assert np.linalg.norm(a.w - b.w) <= 2 * a.room, law
            assert b.f == pytest.approx(a.f, rel=1e-9), law
        turned = Solved(row, p._replace(X=p.X @ rotation))
        assert np.linalg.norm(rotation @ turned.w - a.w) <= 2 * a.room
        for factor in (1e-6, 30.0, 1e9):  # of features, or of costs: w grows with both
            b, c = Solved(row, p._replace(X=factor * p.X)), Solved(row, p._replace(cost=factor * p.cost))
            assert np.linalg.norm(b.w / factor - a.w) <= 2 * a.room
            assert np.linalg.norm(c.w / factor - a.w) <= 2 * a.room
            assert b.rho / factor**2 == pytest.approx(a.rho, rel=1e-5)
        zero = Solved(row, p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert zero.w[2] == 0.0 and np.linalg.norm(np.delete(zero.w, 2) - a.w) <= 2 * a.room


@every_row
def test_weight_two_is_the_row_twice(row):
    p = PROBLEMS["tall"]
    twice = p._replace(X=np.vstack([p.X, p.X[:9]]), cost=np.append(p.cost, p.cost[:9]))
    double = p._replace(cost=np.append(2 * p.cost[:9], p.cost[9:]))
    a, b = Solved(row, twice), Solved(row, double)
    assert np.linalg.norm(a.w - b.w) <= 2 * a.room and b.f == pytest.approx(a.f, rel=1e-9)


@every_row
def test_labels_and_c_say_nothing(row):
    p = PROBLEMS["tall-equal"]
    w = [
        OneClass(table_of(p.X, labels), Settings(solver=row.number, nu=p.nu, C=C)).fit()[0].w
        for labels, C in ((np.zeros(40), 1.0), (np.arange(40) - 7.5, 1e-3), (np.ones(40), 1e10))
    ]
    assert np.array_equal(w[0], w[1]) and np.array_equal(w[0], w[2])


@every_row
def test_dense_rows_are_made_sparse(row):
    X = np.random.default_rng(0).normal(size=(80, 70)) + 1.0
    p = Problem(X, np.ones(80), 0.3)
    problems = Solved(row, p).problems
    assert isinstance(problems.rows, CsrRows) and not isinstance(problems.rows, DenseRows)
    assert Solved(row, p).certificate.gap <= 1e-10


@every_row
def test_the_origin_amid_the_rows(row, svm_train):
    """w = 0 is the minimiser, though no feasible sum of rows but one is."""
    X = np.random.default_rng(3).normal(size=(60, 3))
    s = Solved(row, Problem(X, np.ones(60), 0.5), gap=1e-6)
    assert s.status.converged and s.certificate.gap <= 1e-6
    assert abs(s.f) <= FLOOR * 0.5 * 30**2 * 3 * np.mean(X**2)
    status, out, _ = svm_train("-s", row.number, "d", "m", data="1 1:1\n1 1:-1\n1 2:1\n1 2:-1\n")
    assert status == 0 and "\nw = 0: " in out
    assert not np.any(linear_model.read("m").W)


def test_rows_without_features_have_no_face():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [2.0, -1.0]])
    passes = OneClassPasses(CsrRows(*csr_of(X), 2), np.ones(4), 0.25)
    passes.alpha[:2] = 0.5
    passes.look(0.0, 0.0)
    assert not passes.settle(10) and passes.alpha.tolist() == [0.5, 0.5, 0.0, 0.0]
    passes.alpha[:] = 0.0, 0.4, 0.0, 0.6
    passes.w[:] = X.T @ passes.alpha
    passes.look(0.0, 0.0)
    assert passes.settle(10)
    np.testing.assert_allclose(passes.alpha, [0.0, 1.0, 0.0, 0.0], atol=1e-9)


# Judge and best rho


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_judge_is_right_about_wrong_answers(name):
    p, rng = PROBLEMS[name], np.random.default_rng(5)
    best = optimum(p)
    n, d = p.X.shape
    judge = OneClassJudge(CsrRows(*csr_of(p.X), d), p.cost, p.nu)
    for _ in range(20):
        w, rho, a = 3 * rng.normal(size=d), rng.normal(), rng.random(n) * p.cost * rng.choice([0.1, 1.0])
        found = judge.certify(w, rho, a)
        assert found.primal == pytest.approx(p.value(w, rho), rel=1e-12)
        assert found.dual <= best * (1 - 1e-12) and found.primal >= best * (1 + 1e-12)
        assert found.gap > 0.0
        if found.primal < 0.0:
            assert (found.primal - best) / -best <= found.gap * (1 + 1e-9)
    beyond = judge.certify(np.zeros(d), 0.0, p.cost * 5.0)
    assert beyond.dual == pytest.approx(p.dual_value(p.cost * p.nu), rel=1e-12), "clipped and scaled to the sum"
    assert judge.certify(np.zeros(d), np.inf, p.cost).gap == np.inf


@pytest.mark.parametrize("k", [0.0, 0.3, 1.0, 2.0, 2.5, 6.0, 6.999, 7.0])
def test_best_rho(k):
    rng = np.random.default_rng(1)
    for cost in (np.ones(7), np.array([2.0, 0.5, 0.5, 1.0, 1.0, 0.25, 1.75])):
        for z in (rng.normal(size=7), np.array([1.0, 1.0, 2.0, 2.0, 2.0, 3.0, -1.0])):
            kinks = [float(cost @ np.maximum(r - z, 0.0)) - k * r for r in z]
            for low, high in ((-np.inf, np.inf), (0.5, 2.5), (5.0, 6.0), (-9.0, -8.0), (2.0, 2.0)):
                rho, smallest = best_rho(z, cost, k, low, high)
                if k == 0.0:
                    assert (rho, smallest) == (-np.inf, 0.0)
                elif k == 7.0:
                    assert rho == np.inf and smallest == pytest.approx(float(cost @ z))
                else:
                    assert -smallest == pytest.approx(min(kinks), abs=1e-12)
                    assert float(cost @ np.maximum(rho - z, 0.0)) - k * rho == pytest.approx(min(kinks), abs=1e-12)
    assert best_rho(np.array([3.0, 1.0, 2.0, 5.0]), np.ones(4), 2.0)[0] == 2.5, "the middle, as LIBLINEAR"


# Course of a run


@every_row
def test_warm_start_at_the_answer_stops_early(row):
    for p in SOME:
        cold = Solved(row, p)
        warm = Solved(row, p, start=cold.result.w, gap=1e-6)
        assert warm.status.converged and warm.f <= cold.f + 1e-6 * abs(cold.f)
        assert warm.result.iterations == 0, "the rows at rho settle at once"
        assert Solved(row, p, start=cold.result.w, max_iter=1, gap=1e-15).f <= cold.f + 1e-12 * abs(cold.f)


@every_row
def test_limits(row):
    p = PROBLEMS["tall-most-out"]
    for k in (1, 2, 4):
        s = Solved(row, p, max_iter=k, gap=1e-14)
        assert s.status is base.ITERATIONS and s.result.iterations <= k
        assert s.f <= 0.0, "never worse than no weights at all"
        assert s.certificate.gap < np.inf or s.f == 0.0
    assert Solved(row, p, max_seconds=1e-9, gap=1e-14).status is base.TIME


@pytest.mark.parametrize("eps", [None, 10.0, 0.1, 1e-4, 1e-9])
@every_row
def test_e_is_liblinears_rule(row, eps):
    for p in (*SOME, PROBLEMS["far"]):
        s = Solved(row, p, eps=eps)
        a, z = s.result.alpha, p.X @ (p.X.T @ s.result.alpha)
        violation = max(z[a > 0.0]) - min(z[a < p.cost], default=np.inf)
        assert s.status.converged
        assert violation <= max(row.eps_default if eps is None else eps, 1e-12 * np.max(np.abs(z)))
        assert s.certificate.gap <= 1e-6
        assert s.certificate.violation == pytest.approx(max(violation, 0.0), rel=1e-3, abs=1e-12 * np.max(np.abs(z)))


@every_row
def test_ctrl_c_keeps_the_best_so_far(row):
    flag = base.StopFlag()
    flag.set = True
    p = PROBLEMS["tall"]
    problems = OneClass(table_of(p.X, np.zeros(40)), Settings(solver=row.number, nu=p.nu, gap=1e-14), p.cost)
    [result] = problems.fit(stop=flag)
    assert result.status is base.INTERRUPTED and p.value(result.w[:-1], result.w[-1]) <= 0.0


@every_row
def test_same_bits_for_one_and_two_threads(row, svm_train, take_path):
    take_path(one_class, PATHS["sampled"])
    text = text_of(random_problem(2, 300, 20, 0.2, equal=True).X, np.ones(300))
    models = []
    for threads in (1, 2):
        assert svm_train("-q", "-s", row.number, "--threads", threads, "d", "m", data=text) == (0, "", "")
        models.append(linear_model.read("m"))
    assert np.array_equal(models[0].W, models[1].W) and models[0].rho == models[1].rho


# From the command line


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-equal"]
    status, out, err = svm_train("-s", row.number, "-n", p.nu, "d", "m", data=text_of(p.X, np.ones(40)))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = \d+\nObjective value = (\S+)\nnSV = (\d+)\nrho = (\S+)\nCertified .*\n"
    found = re.fullmatch(form, out)
    assert found, out
    value, support, rho = map(float, found.groups())
    m = linear_model.read("m")
    assert value == pytest.approx(-optimum(p), rel=2e-6)
    assert (m.word, m.nr_class, m.labels, m.bias) == (row.word, 2, None, -1.0)
    assert rho == pytest.approx(m.rho, rel=1e-6)
    decisions = p.X @ m.W[:, 0] - m.rho
    assert np.count_nonzero(decisions < -1e-4) <= support <= np.count_nonzero(decisions < 1e-4)
    done = command("predict", "d", "m", "o")
    assert np.array_equal(np.loadtxt("o"), np.where(decisions > 0.0, 1.0, -1.0))
    assert done.stdout.decode().startswith(f"Accuracy = {100 * np.mean(decisions > 0):g}% (")


@every_row
def test_the_edges_of_nu(row, svm_train):
    """As LIBLINEAR writes them: nothing is left out, or everything."""
    X = np.array([[1.0, 3.0], [2.0, 0.0], [0.0, 1.0]])
    for nu, w, rho in ((0, [0.0, 0.0], -np.inf), (1, [3.0, 4.0], np.inf)):
        status, out, err = svm_train("-s", row.number, "-n", nu, "d", "m", data=text_of(X, np.ones(3)))
        assert (status, err) == (0, "") and f"\nrho = {rho:f}\nCertified relative gap = 0 " in out
        m = linear_model.read("m")
        assert m.W[:, 0].tolist() == w and m.rho == rho
        again = svm_train("-s", row.number, "-n", nu, "-i", "m", "d", "m")
        assert again[0] == 0 and linear_model.read("m").W[:, 0].tolist() == w


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = random_problem(12, 60, 3, 0.2, equal=True)
    y = np.random.default_rng(0).choice([-1.0, 1.0], 60)
    order, starts = folds.liblinear_folds(60, 4)
    right = 0
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        s = Solved(row, p._replace(X=p.X[inside], cost=p.cost[inside]))
        right += np.count_nonzero(np.where(p.X[outside] @ s.w - s.rho > 0.0, 1.0, -1.0) == y[outside])
    asked = ("-s", row.number, "-q", "-n", p.nu, "--gap", 1e-11, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, y)) for k in (1, 2)]
    assert runs[0] == runs[1] == (0, f"Cross Validation Accuracy = {100 * right / 60:g}%\n", "")


@every_row
def test_row_weights_class_weights_and_another_model(row, svm_train, tmp_path):
    p = PROBLEMS["tall"]
    cost = np.append(p.cost, 0.0)
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in cost))
    text = text_of(np.vstack([p.X, -9.0 * np.ones(4)]), np.ones(41))
    asked = ("-q", "-s", row.number, "--gap", 1e-11, "--weights", "weights", "-w1", 7, "-w3", 2)
    assert svm_train(*asked, "d", "m", data=text) == (0, "", "")
    m = linear_model.read("m")
    assert p.value(m.W[:, 0], m.rho) == pytest.approx(optimum(p), rel=1e-8)
    assert svm_train(*asked, "-i", "m", "d", "again") == (0, "", "")
    m = linear_model.read("again")
    assert p.value(m.W[:, 0], m.rho) == pytest.approx(optimum(p), rel=1e-8)


ODD = {
    "empty": "",
    "one-row": "3.5 1:2\n",
    "no-features": "1\n2.5\n",
    "constant": "7 1:1\n7 1:1\n7 1:1\n",
    "opposite": "1 1:1\n-1 1:-1\n",
    "empty-rows": "1 1:1\n1\n1\n1 2:1\n",
    "huge-features": "1 1:1e120\n2 1:3e119\n",
    "tiny-features": "1 1:1e-120\n2 1:3e-119\n",
    "mixed": "1 1:1e8 2:1\n1 1:2e8 2:3\n1 1:-1e-8 2:1\n",
    "far-index": "1.5 2000000:1\n-1 7:1\n",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [[], ["-n", 1e-12], ["-n", 0.999999], ["-c", 1e10], ["-n", 0]], ids=str)
@pytest.mark.parametrize("name", ODD)
@every_row
def test_odd_data_end_well(row, name, options, svm_train):
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=ODD[name])
    assert status == 0
    m = linear_model.read("m")
    assert np.all(np.isfinite(m.W))
    if name == "empty":
        assert np.isnan(m.rho) and err == "WARNING: the training file has no rows: the model predicts -1\n"
        assert "nSV = 0\nrho = -nan\n" in out
        return
    assert err == "" and "nan" not in out and not np.isnan(m.rho)
    assert np.isfinite(m.rho) or options == ["-n", 0]
    assert float(re.search(r"Certified relative gap = (\S+)", out)[1]) <= 1e-6


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["-n", -0.1], "ERROR: -n is -0.1: the share of rows left out lies between 0 and 1\n"),
        (["-n", 1.5], "ERROR: -n is 1.5: the share of rows left out lies between 0 and 1\n"),
        (["-n", "nan"], "ERROR: -n is nan"),
        (["-B", 0], "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM\n"),
        (["--stratified", "-v", 2], "ERROR: solver 21 (one-class) does not honour --stratified"),
        (["-i", "classifier"], "the initial model is of L2R_L2LOSS_SVC: a one-class SVM starts from a one-class model"),
        (["-B", 1, "-R"], "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM\n"),
        (["-C"], "Warm-start parameter search only available for "),
        (["-c", 0], "ERROR: C <= 0\n"),
    ],
    ids=str,
)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "classifier", data="1 1:1\n-1 1:-1\n")
    status, _, err = svm_train("-s", 21, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5])
@every_row
def test_never_worse_than_liblinear(row, nu, reference, svm_train, tmp_path):
    skip_unless_known(row.number, reference)
    p = random_problem(21, 300, 6, nu, shift=2.0, equal=True)
    assert svm_train("-q", "-s", row.number, "-n", nu, "d", "m", data=text_of(p.X, np.ones(300)))[0] == 0
    theirs = [reference["train"], "-q", "-s", "21", "-n", str(nu), "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.least(linear_model.read(name).W[:, 0]) for name in ("m", "theirs"))
    assert ours <= best + 1e-6 * abs(best)
    done = subprocess.run([reference["predict"], "d", "m", "o"], cwd=tmp_path, check=True, capture_output=True)
    m = linear_model.read("m")
    assert np.array_equal(np.loadtxt(tmp_path / "o"), np.where(p.X @ m.W[:, 0] - m.rho > 0.0, 1.0, -1.0))
    assert done.stdout.startswith(b"Accuracy = ")
