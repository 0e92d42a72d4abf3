"""-s 43: the optimum of the problem written out, thresholds, laws, the model as LIBLINEAR reads it, odd input."""

from __future__ import annotations

import functools
import subprocess

import numpy as np
import pytest
from naming import case_of
from optima import Problem, minimiser
from reference import random_rows, table_of, text_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.formats.models import linear
from svmtool.params import Settings
from svmtool.training.reductions.ordinal import Ordinal
from svmtool.training.validation import folds

[ROW] = [row for row in registry.SOLVERS if row.kind == "ordinal"]
GAP = 1e-12
ENGINE = ("-s", ROW.number, "--method", "fast")
every_method = pytest.mark.parametrize("method", ["primal", "cg"])


def made(seed: int, ranks: list[int], n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Rows in noisy order of rank; each rank is there."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    score = X @ rng.normal(size=d) + 0.4 * rng.normal(size=n)
    number = np.searchsorted(np.quantile(score, np.arange(1, len(ranks)) / len(ranks)), score)
    number[: len(ranks)] = np.arange(len(ranks))
    return X, np.sort(ranks)[number].astype(float)


def written_out(X: np.ndarray, labels: np.ndarray, cost: np.ndarray) -> Problem:
    """The two-class problem of Eq. 25: rows (x_i, -e_s) for each threshold s, +1 where the label is above it."""
    ranks = np.unique(labels)
    k = len(ranks) - 1
    A = np.vstack([np.hstack([X, -np.tile(np.eye(k)[s], (len(X), 1))]) for s in range(k)])
    y = np.concatenate([np.where(labels > ranks[s], 1.0, -1.0) for s in range(k)])
    return Problem(A, y, np.tile(cost, k))


class Solved:
    """Answer to ranks: beta = (w, b), its objective and the best one."""

    def __init__(self, X, labels, C=1.0, layout="csr", start=None, weights=None, method=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings.of(solver=ROW.number, C=C, **settings)
        self.problems = Ordinal(table_of(X, labels, weights), s)
        if layout == "dense":
            self.problems.rows = DenseRows(np.ascontiguousarray(X))
        assert isinstance(self.problems.rows, DenseRows if layout == "dense" else CsrRows)
        self.problems.solver_method = method
        [self.result] = self.problems.fit(None if start is None else start[:, None])
        self.certificate = self.problems.certify(0, self.result)
        self.beta, self.status = self.result.w, self.result.status
        self.b = self.beta[X.shape[1] :]
        self.p = written_out(X, labels, C * np.ones(len(X)) if weights is None else C * weights)
        self.f = self.p.value(self.beta)
        self.radius = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-8


@pytest.mark.parametrize("layout", ["csr", "dense"])
@every_method
def test_optimum_thresholds_and_certificate(method, layout):
    for d, ranks, C in ((5, [1, 2], 100.0), (40, [-3, 0, 7], 0.01), (5, [*range(1, 6)], 1.0), (40, [4, 5], 1.0)):
        with case_of(d, ranks, C):
            X, labels = made(1, ranks, d=d)
            s = Solved(X, labels, C, layout, method=method)
            best = s.p.value(minimiser(s.p))
            assert s.status.converged and best * (1 - 1e-10) <= s.f <= best * (1 + 1e-8)
            assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
            assert s.certificate.dual <= best * (1 + 1e-10) and s.certificate.gap <= 1e-8
            assert np.all(np.diff(s.b) >= 0)
            for record in s.result.history:
                assert record["bound"] <= best * (1 + 1e-9) and record["objective"] >= best * (1 - 1e-9)


@every_method
def test_laws(method):
    X, labels = made(5, [1, 2, 3, 4])
    solved = functools.partial(Solved, method=method)
    a, k = solved(X, labels), np.random.default_rng(0).permutation(len(X))
    near, weights = a.radius * 4, np.where(np.arange(len(X)) < 20, 2.0, 1.0)
    opposite = solved(X, -labels)  # ranks the other way round: w and thresholds change sign, thresholds order
    same = {
        "rows twice": (solved(np.vstack([X, X]), np.tile(labels, 2), C=0.5).beta, a.beta),
        "order": (solved(X[k], labels[k]).beta, a.beta),
        "a weight of 2": (
            solved(X, labels, weights=weights).beta,
            solved(np.vstack([X, X[:20]]), np.append(labels, labels[:20])).beta,
        ),
        "opposite": (np.append(-opposite.beta[:5], -opposite.b[::-1]), a.beta),
        "class weights": (
            solved(X, labels, class_weights=((2, 3.0),)).beta,
            solved(X, labels, weights=np.where(labels == 2, 3.0, 1.0)).beta,
        ),
    }
    for law, (one, other) in same.items():
        assert np.linalg.norm(one - other) <= near, law
    assert np.array_equal(solved(X, 10 * labels - 100).beta, a.beta), "only the order of labels counts"
    silent = solved(X, labels, class_weights=((3, 0.0),)).b  # no row between the two thresholds around rank 3
    assert silent[1] == pytest.approx(silent[2], abs=near)


# From the command line


def threshold_rule(X: np.ndarray, beta: np.ndarray, ranks: list[int]) -> np.ndarray:
    d = X.shape[1]
    return np.sort(ranks)[np.sum((X @ beta[:d])[:, None] > beta[d:], axis=1)]


@pytest.mark.parametrize("ranks", [[3, -5], [1, 2, 3], list(range(10)), [7]], ids=str)
def test_model_gives_the_ranks_of_the_thresholds(ranks, svm_train, command):
    X, labels = made(10, ranks, n=200)
    status, out, err = svm_train(*ENGINE, "--gap", GAP, "d", "m", data=text_of(X, labels))
    assert (status, err) == (0, "")
    m = linear.read("m")
    assert (m.word, m.bias, m.is_ordinal) == ("L2R_L2LOSS_SVC", 1.0, True)
    assert m.labels == tuple(sorted(ranks, reverse=len(ranks) == 2))
    wanted = labels if len(ranks) == 1 else threshold_rule(X, Solved(X, labels).beta, ranks)
    done = command("predict", "--metrics", "d", "m", "o")
    assert np.array_equal(np.loadtxt("o"), wanted)
    place = {label: k for k, label in enumerate(sorted(ranks))}
    distance = np.array([abs(place[a] - place[b]) for a, b in zip(wanted, labels, strict=True)])
    assert f"Training zero-one error = {np.mean(distance > 0):g}\n" in out
    assert f"Training mean absolute error = {np.mean(distance):g} (ranks)\n" in out
    assert f"Mean absolute error = {np.mean(distance):g} (ranks)\n" in done.stdout.decode()
    quiet = svm_train("-q", *ENGINE, "d", "m")
    assert quiet == (0, "", "")


@pytest.mark.parametrize("ranks", [[2, 1], list(range(10))], ids=str)
def test_liblinears_predict_gives_our_ranks(ranks, reference, svm_train, command, tmp_path):
    X, labels = made(11, ranks, n=300)
    assert svm_train("-q", *ENGINE, "d", "m", data=text_of(X, labels))[0] == 0
    assert command("predict", "d", "m", "ours").returncode == 0
    subprocess.run([reference["predict"], "d", "m", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_cross_validation_is_a_loop_over_folds(svm_train):
    ranks = [1, 2, 3, 4]
    X, labels = made(13, ranks, n=80)
    order, starts = folds.liblinear_folds(80, 5)
    got = np.empty(80)
    for k in range(5):
        inside, outside = folds.fold_rows(order, starts, k)
        got[outside] = threshold_rule(X[outside], Solved(X[inside], labels[inside]).beta, ranks)
    asked = (*ENGINE, "-q", "--gap", GAP, "-v", 5)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(X, labels)) for k in (1, 2)]
    assert runs[0] == runs[1]
    wrong, distance = np.mean(got != labels), np.mean(np.abs(got - labels))
    assert runs[0][1] == (
        f"Cross Validation Accuracy = {100 * (1 - wrong):g}%\nCross Validation zero-one error = {wrong:g}\n"
        f"Cross Validation mean absolute error = {distance:g} (ranks)\n"
    )


@pytest.mark.parametrize(
    "argv, data, sentence",
    [
        (["-B", 1], "1 1:1\n2 1:2\n", "ERROR: solver 43 (mfn-ordinal) does not support -B: the p - 1 thresholds"),
        (["-R"], "1 1:1\n2 1:2\n", "ERROR: solver 43 (mfn-ordinal) does not support -R: use -s "),
        (["-p", 1], "1 1:1\n2 1:2\n", "ERROR: solver 43 (mfn-ordinal) does not support -p: use -s 11, 12 or 13"),
        ([], "1.5 1:1\n2 1:2\n", "d: label 1.5 is not a rank: -s 43 needs 32-bit integers"),
        ([], "3e9 1:1\n2 1:2\n", "d: label 3e+09 is not a rank: -s 43 needs 32-bit integers"),
        (["-i", "plain"], "1 1:1\n2 1:2\n", "the initial model is not an ordinal model"),
        (["-i", "ranked"], "1 1:1\n2 1:2\n3 1:1\n", "the initial model has ranks [1, 2], the data [1, 2, 3]"),
    ],
    ids=str,
)
def test_what_is_refused(argv, data, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "plain", data="1 1:1\n2 1:2\n")
    svm_train("-q", "-s", 43, "--method", "fast", "d", "ranked")
    status, _, err = svm_train("-s", 43, "--method", "fast", *argv, "d", "m", data=data)
    assert status == 1 and err.startswith(sentence) and err.count("\n") == 1, err
    assert not (tmp_path / "m").exists()
