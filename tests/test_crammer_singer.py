"""-s 4: the gap by the formulas, a general-purpose solver, laws, LIBLINEAR's lines and models, odd input."""

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
from svmtool.formats import linear_model
from svmtool.problem.class_hinge import ClassHinge
from svmtool.problem.class_passes import ClassPasses
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.settings import Settings
from svmtool.solvers import alm, base
from svmtool.solvers.base import StopFlag
from svmtool.training import folds
from svmtool.training.crammer_singer import AllClasses

ROWS = [row for row in registry.SOLVERS if row.task == "all classes"]
GAP = 1e-10
NEWTON = {(ClassPasses, "newton"): 0.0}
PATHS = {
    "chosen": {},
    "passes": {(ClassPasses, "newton"): np.inf},
    "newton": NEWTON,
    "products": {**NEWTON, (alm, "GRAM_BELOW"): 0, (alm, "MOST_CLASS_PASSES"): 1, (alm, "CG_TOLERANCE"): 1e-3},
}
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("path", PATHS)


@pytest.fixture
def choose(monkeypatch):
    def path(name: str) -> None:
        for (owner, constant), value in PATHS[name].items():
            monkeypatch.setattr(owner, constant, value)

    return path


class Problem(NamedTuple):
    """X f8[n, d] without the bias feature, labels, cost C_i."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    bias: float = -1.0

    @property
    def A(self) -> np.ndarray:
        return self.X if self.bias < 0 else np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def number(self) -> np.ndarray:
        """The class of each row, in order of appearance."""
        order = list(dict.fromkeys(self.y.tolist()))
        order = [1.0, -1.0] if order == [-1.0, 1.0] else order
        return np.array([order.index(label) for label in self.y.tolist()], int)

    @property
    def k(self) -> int:
        return len(set(self.y.tolist()))

    def value(self, W: np.ndarray) -> float:
        rows = np.arange(len(self.y))
        S = self.A @ W.reshape(self.A.shape[1], self.k)
        own = S[rows, self.number].copy()
        S += 1.0
        S[rows, self.number] -= 1.0
        return 0.5 * float(np.sum(W**2)) + float(self.cost @ (S.max(axis=1) - own))

    def dual_value(self, a: np.ndarray) -> float:
        """Of a feasible a, n x k."""
        own = a[np.arange(len(a)), self.number]
        rest = a.copy()
        rest[np.arange(len(a)), self.number] = 0.0
        assert np.all(own <= self.cost * (1 + 1e-12)) and np.all(rest <= 0)
        assert np.all(np.abs(a.sum(axis=1)) <= 1e-12 * (1 + self.cost))
        return float(np.sum(own)) - 0.5 * float(np.sum((self.A.T @ a) ** 2))


def random_problem(seed: int, n: int, d: int, k: int, C: float = 1.0, bias: float = -1.0) -> Problem:
    """Rows of k noisy classes, each there, with unequal costs."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    y = np.argmax(X @ rng.normal(size=(d, k)) + 0.5 * rng.normal(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    return Problem(X, 3.0 * y - 4.0, C * rng.choice([0.5, 1.0, 2.0], n), bias)


PROBLEMS = {
    "tall": random_problem(1, 60, 5, 3),
    "tall-easy": random_problem(2, 60, 5, 4, C=0.01),
    "tall-hard": random_problem(3, 60, 5, 5, C=100.0),
    "tall-bias": random_problem(4, 60, 5, 3, bias=2.0),
    "wide": random_problem(5, 20, 45, 4),
    "many": random_problem(6, 90, 6, 19),
    "two": random_problem(7, 60, 5, 2),
    "two-bias": random_problem(8, 60, 5, 2, bias=1.0),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"], PROBLEMS["two-bias"]


class Solved:
    """Answer of one row to one problem."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, stop=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings(solver=row.number, solver_given=True, bias=p.bias, **settings)
        problems = AllClasses(table_of(p.X, p.y), s, p.cost)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        assert isinstance(problems.rows, DenseRows if layout == "dense" else CsrRows)
        if start is not None:
            start = problems.start_from(start)
        results = problems.fit(start, report, stop)
        self.result, self.certificate = results[0], problems.certify(results)
        self.W, self.status = problems.weights(results), self.result.status
        self.model = problems.model(self.W)
        self.f = p.value(self.W)
        self.room = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


@pytest.mark.parametrize("layout", ["csr", "dense"])
@pytest.mark.parametrize("name", PROBLEMS)
@every_path
@every_row
def test_gap_by_the_formulas(row, path, name, layout, choose):
    choose(path)
    p = PROBLEMS[name]
    s = Solved(row, p, layout)
    dual = p.dual_value(s.result.alpha)
    assert s.status.converged, s.status
    assert s.f - dual <= 1e-8 * s.f, "this proves that both are optimal"
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert dual * (1 - 1e-12) <= s.certificate.dual <= s.f * (1 + 1e-12)
    for record in s.result.history:
        assert record["bound"] <= s.f * (1 + 1e-12) and record["objective"] >= dual * (1 - 1e-12)
    np.testing.assert_allclose(s.W.sum(axis=1), 0.0, atol=s.room)


@every_row
def test_optimum_of_a_general_purpose_solver(row):
    """SLSQP over W and one slack a row: 1/2 |W|^2 + sum C xi under xi_i >= [m != y_i] + (w_m - w_{y_i}).x_i."""
    p = random_problem(11, 15, 2, 3)
    (n, d), k = p.A.shape, p.k
    lines = []
    for i in range(n):
        for m in range(k):
            row_of_W = np.zeros((d, k))
            row_of_W[:, m] += p.A[i]
            row_of_W[:, p.number[i]] -= p.A[i]
            lines.append(np.concatenate([row_of_W.reshape(-1), -np.eye(n)[i]]))
    G, h = np.array(lines), (np.arange(k) == p.number[:, None]).reshape(-1) - 1.0
    found = scipy.optimize.minimize(
        lambda x: 0.5 * x[: d * k] @ x[: d * k] + p.cost @ x[d * k :],
        np.append(np.zeros(d * k), np.ones(n)),
        jac=lambda x: np.append(x[: d * k], p.cost),
        constraints=scipy.optimize.LinearConstraint(G, -np.inf, h),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.success
    assert Solved(row, p).f == pytest.approx(p.value(found.x[: d * k]), rel=1e-6)


@every_row
def test_paths_are_taken(row, monkeypatch, choose):
    taken = set()
    for owner, name in ((ClassPasses, "run"), (ClassHinge, "hessian"), (ClassHinge, "hessian_product"), (alm, "exact")):
        plain = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, name=name, plain=plain: (taken.add(name), plain(*a))[1])
    for path, wanted in (
        ("passes", {"run"}),
        ("newton", {"run", "hessian"}),
        ("products", {"run", "hessian_product"}),
    ):
        with monkeypatch.context():
            choose(path)
            taken.clear()
            Solved(row, PROBLEMS["tall"])
            assert taken == wanted, path
    taken.clear()
    Solved(row, PROBLEMS["two"])
    assert taken == {"exact"}


@every_path
@every_row
def test_laws(row, path, choose):
    """What must not change when a problem is put differently."""
    choose(path)
    order = np.random.default_rng(0).permutation
    for p in SOME:
        a, k = Solved(row, p), order(len(p.y))
        k = np.concatenate([np.arange(p.k), k[k >= p.k]])  # the order of classes stays
        twice = p._replace(cost=p.cost * np.where(np.arange(len(p.y)) < 9, 2.0, 1.0))
        same = {
            "rows twice": (p, p._replace(X=np.vstack([p.X] * 2), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))),
            "order": (p, p._replace(X=p.X[k], y=p.y[k], cost=p.cost[k])),
            "names": (p, p._replace(y=10.0 * p.y + 77.0)),
            "a row of weight 2": (
                twice,
                p._replace(X=np.vstack([p.X, p.X[:9]]), y=np.append(p.y, p.y[:9]), cost=np.append(p.cost, p.cost[:9])),
            ),
            "no cost, no row": (
                p, p._replace(X=np.vstack([p.X, p.X]), y=np.append(p.y, p.y[::-1]),
                              cost=np.append(p.cost, np.zeros(len(p.y)))),
            ),
        }  # fmt: skip
        for law, (one, other) in same.items():
            first, second = a if one is p else Solved(row, one), Solved(row, other)
            assert np.linalg.norm(first.W - second.W) <= 2 * first.room, law
            assert second.f == pytest.approx(first.f, rel=1e-9), law
        zero = Solved(row, p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert not np.any(zero.W[2]) and np.linalg.norm(np.delete(zero.W, 2, axis=0) - a.W) <= 2 * a.room
        scaled = Solved(row, p._replace(X=4.0 * p.X, bias=4.0 * p.bias, cost=p.cost / 16.0))
        assert np.linalg.norm(4.0 * scaled.W - a.W) <= 8 * a.room
        assert np.linalg.norm(Solved(row, p, "dense").W - a.W) <= 2 * a.room


@every_row
def test_two_classes_are_the_hinge_at_twice_the_cost(row):
    """min over w of 1/4 |w|^2 + sum C hinge is half of -s 3 with 2 C, w = w_1 - w_2."""
    from svmtool.training.multiclass import Problems

    p = PROBLEMS["two-bias"]
    problems = Problems(table_of(p.X, p.y), Settings(solver=3, solver_given=True, C=2.0, bias=1.0, gap=GAP), p.cost)
    [hinge] = problems.fit()
    a = Solved(row, p)
    np.testing.assert_allclose(a.W[:, 0] - a.W[:, 1], hinge.w, atol=4 * a.room)
    np.testing.assert_allclose(a.W[:, 0], -a.W[:, 1])


@every_row
def test_warm_start_at_the_answer_stops_early(row):
    for p in SOME:
        cold = Solved(row, p)
        warm = Solved(row, p, start=cold.model, gap=1e-6)
        assert warm.status.converged and warm.f <= cold.f * (1 + 1e-6)
        assert Solved(row, p, start=cold.model, max_iter=1, gap=1e-6).f <= cold.f * (1 + 1e-12), "the start is kept"


@every_path
@every_row
def test_limits(row, path, choose):
    choose(path)
    for p in (PROBLEMS["tall-hard"], PROBLEMS["two"]):
        for k in (1, 2, 4):
            s = Solved(row, p, max_iter=k)
            assert s.status is base.ITERATIONS and s.result.iterations <= k + 1
            assert s.f <= p.value(np.zeros(s.W.shape)), "never worse than no weights at all"
        if p.k > 2:  # two classes may end before the clock is asked
            assert Solved(row, p, max_seconds=0.0).status is base.TIME
            stop = StopFlag()
            stop.set = True
            s = Solved(row, p, stop=stop)
            assert s.status is base.INTERRUPTED and s.f <= p.value(np.zeros(s.W.shape))


def violation(p: Problem, W: np.ndarray, a: np.ndarray) -> float:
    """LIBLINEAR's measure (compat 2.2): max over rows of max G - min G over what can rise."""
    rows = np.arange(len(p.y))
    G = p.A @ W + 1.0
    G[rows, p.number] -= 1.0
    can_rise = a < 0
    can_rise[rows, p.number] = a[rows, p.number] < p.cost * (1 - 1e-12)
    return float(np.max(G.max(axis=1) - np.where(can_rise, G, np.inf).min(axis=1)))


@pytest.mark.parametrize("eps", [None, 0.5, 1e-4, 1e-7])
@every_path
@every_row
def test_e_ends_within_liblinears_rule(row, path, eps, choose):
    choose(path)
    for p in (*SOME, PROBLEMS["tall-hard"]):
        s = Solved(row, p, eps=eps)
        assert s.status.converged
        a = s.result.alpha
        assert violation(p, p.A.T @ a, a) <= (row.eps_default if eps is None else eps) * (1 + 1e-6)
        if path != "products":  # as the row promises for few features
            assert s.certificate.gap <= 1e-6 * (1 + 1e-6)


@every_row
def test_same_bits_from_any_number_of_threads_and_another_seed_the_same_optimum(row):
    from svmtool.compiled import threads

    p = random_problem(20, 20000, 12, 5)
    found = []
    for k in (1, 2, 3):
        threads.set_count(k)
        found.append(Solved(row, p, gap=1e-4).W)
    threads.set_count(None)
    assert all(np.array_equal(found[0], W) for W in found)
    p = PROBLEMS["tall"]
    a, b = Solved(row, p, seed=5), Solved(row, p)
    assert np.linalg.norm(a.W - b.W) <= 2 * a.room


# From the command line


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-bias"]._replace(cost=np.ones(60))
    status, out, err = svm_train("-s", row.number, "-B", 2, "d", "m", data=text_of(p.X, p.y))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = (\d+)\nObjective value = (\S+)\nnSV = (\d+)\nCertified .*\n"
    iterations, objective, support = re.fullmatch(form, out).groups()
    best = Solved(row, p)
    assert float(objective) == pytest.approx(-best.f, rel=2e-6)
    assert int(support) == pytest.approx(np.count_nonzero(best.result.alpha), abs=12)
    m = linear_model.read("m")
    assert (m.word, m.nr_class, m.bias, m.W.shape) == ("MCSVM_CS", 3, 2.0, (6, 3))
    command("predict", "d", "m", "o")
    assert np.array_equal(np.loadtxt("o"), np.array(m.labels)[np.argmax(p.A @ m.W, axis=1)])


@pytest.mark.parametrize("name", ["tall", "two"])
@every_row
def test_liblinears_predict_reads_the_model(row, name, reference, svm_train, command, tmp_path):
    p = PROBLEMS[name]
    assert svm_train("-q", "-s", row.number, "d", "m", data=text_of(p.X, p.y))[0] == 0
    assert command("predict", "d", "m", "ours").returncode == 0
    subprocess.run([reference["predict"], "d", "m", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert linear_model.read("m").W.shape == (5, p.k)


@pytest.mark.parametrize("options", [[], ["-B", "1"], ["-c", "0.01"], ["-c", "100"], ["-w2", "5"]], ids=str)
@pytest.mark.parametrize("k", [2, 4])
@every_row
def test_never_worse_than_liblinear(row, k, options, reference, svm_train, tmp_path):
    p = random_problem(21, 300, 6, k, bias=1.0 if "-B" in options else -1.0)
    cost = np.full(300, float(options[1]) if "-c" in options else 1.0)
    p = p._replace(cost=np.where((p.y == 2) & ("-w2" in options), 5.0, 1.0) * cost)
    assert svm_train("-q", "-s", row.number, *options, "d", "m", data=text_of(p.X, p.y))[0] == 0
    theirs = [reference["train"], "-q", "-s", str(row.number), "-e", "1e-6", *options, "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.value(linear_model.read(name).W) for name in ("m", "theirs"))
    assert ours <= best * (1 + 1e-6)


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = PROBLEMS["tall-bias"]._replace(cost=np.ones(60))
    order, starts = folds.liblinear_folds(60, 4)
    right = 0
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        part = Solved(row, p._replace(X=p.X[inside], y=p.y[inside], cost=p.cost[inside]))
        right += np.sum(np.array(part.model.labels)[np.argmax(p.A[outside] @ part.W, axis=1)] == p.y[outside])
    asked = ("-s", row.number, "-q", "--gap", 1e-10, "-B", 2, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, p.y)) for k in (1, 2)]
    assert runs[0] == runs[1] == (0, f"Cross Validation Accuracy = {100 * right / 60:g}%\n", "")
    assert svm_train(*asked, "--stratified", "d")[0] == 0


@pytest.mark.parametrize("name", ["tall", "two"])
@every_row
def test_row_weights_class_weights_and_start(row, name, svm_train, tmp_path):
    p = PROBLEMS[name]
    cost = p.cost * np.arange(60).clip(0, 1)  # the first row takes no part
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in cost))
    asked = ("-q", "-s", row.number, "--gap", GAP, "--weights", "weights", "-w-1", 3, "-w-1", 2)
    assert svm_train(*asked, "d", "m", data=text_of(p.X, p.y)) == (0, "", "")
    m = linear_model.read("m")
    p = p._replace(X=p.X[1:], y=p.y[1:], cost=(cost * np.where(p.y == -1, 6.0, 1.0))[1:])
    s = Solved(row, p)
    assert np.linalg.norm(m.W - s.W) <= 2 * s.room
    assert svm_train(*asked, "-i", "m", "d", "again") == (0, "", "")
    assert np.linalg.norm(linear_model.read("again").W - s.W) <= 2 * s.room
    silent = svm_train("-q", "-s", row.number, "--gap", GAP, "-w-1", 0, "d", "silent")
    assert silent == (0, "", "") and linear_model.read("silent").W.shape == (5, p.k)


ODD = {
    "empty": "",
    "one-class": "7 1:1\n7 2:1\n",
    "one-row": "7 1:1\n",
    "no-features": "1\n2\n3\n",
    "empty-rows": "1 1:1\n2\n3 1:-1\n1\n",
    "twins": "1 1:1\n2 1:1\n3 1:1\n",
    "two-twins": "1 1:1\n2 1:1\n",
    "far-index": "1 200000:1\n2 7:1\n3 1:1\n",
    "huge": "1 1:1e300\n2 1:1\n3 1:2\n",
    "large": "1 1:1e100\n2 1:1\n3 1:-1e90\n",
    "tiny": "1 1:1e-300\n2 1:-1e-300\n3 1:0\n",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [[], ["-B", 1], ["-c", "1e10"], ["-c", "1e-12"], ["--gap", 1e-6]], ids=str)
@pytest.mark.parametrize("name", ODD)
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, name, options, svm_train):
    status, out, err = svm_train("-s", row.number, "--max-iter", 3000, *options, "d", "m", data=ODD[name])
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False)
        assert name == "huge" and "overflow" in err, err
        return
    assert "nan" not in out and "inf" not in out, out
    m = linear_model.read("m")
    assert np.all(np.isfinite(m.W))
    assert m.columns == len({line.split()[0] for line in ODD[name].splitlines()})
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model knows no class\n"
    else:
        assert err == "" or "not converged" in err
    if name in ("empty", "one-class", "one-row"):
        assert out.startswith("\noptimization finished, #iter = 1\nObjective value = 0.000000\nnSV = 0\n")
        assert not np.any(m.W)


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["-i", "plain"], "the initial model has labels [1, 2], the data [1, 2, 3]: they must agree"),
        (["-B", 1, "-i", "own"], "the initial model has bias -1, this run -B 1"),
        (["-B", 1, "-R"], "ERROR: -R option supported only for solver "),
        (["-C"], "Warm-start parameter search only available for "),
    ],
    ids=str,
)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "plain", data="1 1:1\n2 1:-1\n")
    svm_train("-q", "-s", 4, "d", "own", data="1 1:1\n2 1:-1\n3 2:1\n")
    status, _, err = svm_train("-s", 4, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()
