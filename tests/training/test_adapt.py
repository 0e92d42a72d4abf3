"""--add and --remove: after any sequence the model is that of the current rows."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from adapt_suite import PaperForm, Row, apart, batch, dense, draw, text_of_rows, weights_in
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import table_of

from svmtool.cli.train import main
from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.dense import DenseRows
from svmtool.errors import SvmtoolError
from svmtool.objectives.normal_equations import Matrix, NormalEquations, equations_of
from svmtool.params import Settings
from svmtool.tolerances import EPS
from svmtool.training.adapting import adaptable as adapt
from svmtool.training.reductions.one_vs_rest import OneVsRest

EQUAL = 1e-8


@contextlib.contextmanager
def folder():
    """A temporary folder as the current one."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as path:
        os.chdir(path)
        try:
            yield
        finally:
            os.chdir(before)


def train(*argv, **files: list[Row]) -> int:
    for name, rows in files.items():
        with open(name, "w") as file:
            file.write(text_of_rows(rows))
    return main(["-q", "-s", "71", *map(str, argv)])


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_any_sequence_is_batch_training_on_what_remains(data):
    """Blocks of any size, labels that come and go, features that come, weights of classes, C and bias."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    C = data.draw(st.sampled_from([0.01, 1.0, 30.0]))
    bias = data.draw(st.sampled_from([-1.0, 1.0, 2.5]))
    factor = data.draw(st.sampled_from([{}, {1: 2.0}, {-1: 0.25, 5: 3.0}, {1: 0.0}]))
    asked = ["-c", C, "-B", bias, *(x for label, f in factor.items() for x in (f"-w{label}", f))]
    asked += ["--method", data.draw(st.sampled_from(["paper", "fast"]))]
    labels = data.draw(st.sampled_from([(1, -1), (1,), (3, 1, -1), (-1, 5)]))
    with folder():
        rows = draw(rng, data.draw(st.integers(1, 30)), data.draw(st.integers(1, 6)), labels)
        assert train(*asked, "d", "m", d=rows) == 0
        for _ in range(data.draw(st.integers(1, 4))):
            gone = rng.permutation(len(rows))[: data.draw(st.integers(0, len(rows) - 1))]
            new = draw(
                rng,
                data.draw(st.integers(1, 20)),
                data.draw(st.integers(1, 9)),
                data.draw(st.sampled_from([labels, (7, 1)])),
            )
            removed = [rows[i] for i in gone]
            rows = [row for i, row in enumerate(rows) if i not in set(gone.tolist())] + new
            change = ["--add", "new", *(["--remove", "old"] if removed else []), "-i", "m"]
            assert train(*change, new=new, old=removed) == 0
        assert apart(weights_in("m"), batch(rows, C, bias, factor), bias) <= EQUAL


def test_row_weights_are_part_of_a_row(svm_train):
    rng = np.random.default_rng(4)
    rows, r = draw(rng, 30, 4), np.tile([0.5, 2.0, 0.0], 10)
    np.savetxt("r", r)
    np.savetxt("r12", r[:12])
    np.savetxt("wrong", r[:12] + 1.0)
    assert train("-W", "r", "d", "m", d=rows, old=rows[:12]) == 0
    assert svm_train("-s", 71, "-W", "wrong", "--remove", "old", "-i", "m")[0] == 1
    assert svm_train("-s", 71, "-W", "r12", "--remove", "old", "-i", "m")[0] == 0
    np.savetxt("rest", r[12:])
    assert train("-W", "rest", "d", "m2", d=rows[12:]) == 0
    assert apart(weights_in("m"), weights_in("m2")) <= EQUAL


def test_the_papers_recursion_leads_to_the_same_weights():
    rng = np.random.default_rng(5)
    rows = draw(rng, 60, 7)
    A, y, C = dense(rows), np.array([float(row.label) for row in rows]), 3.0
    paper, blocks = PaperForm(A.shape[1], C), PaperForm(A.shape[1], C)
    for x, label in zip(A, y, strict=True):
        paper.add(x, label)
    for x, label in zip(A[10:30], y[10:30], strict=True):
        paper.remove(x, label)
    blocks.add_block(A.T, y)
    blocks.remove_block(A[10:30].T, y[10:30])
    with folder():
        assert train("-c", C, "d", "m", d=rows) == 0
        assert train("--remove", "old", "-i", "m", old=rows[10:30]) == 0
        ours = weights_in("m")[1]
    wanted = batch(rows[:10] + rows[30:], C)[1]
    for w in (paper.w, blocks.w, ours):
        assert np.linalg.norm(w - wanted) <= EQUAL * np.linalg.norm(wanted)


def test_other_c_and_bias_from_one_change_to_the_next(svm_train):
    rng = np.random.default_rng(6)
    rows, new = draw(rng, 40, 5, (1, 2, 3)), draw(rng, 10, 5, (1, 2, 3))
    assert train("d", "m", d=rows) == 0
    assert train("-c", 7, "-B", -1, "--add", "new", "-i", "m", new=new) == 0
    assert apart(weights_in("m"), batch(rows + new, 7.0, -1.0), -1.0) <= EQUAL


def test_last_rows_are_removed_and_others_added(svm_train):
    rng = np.random.default_rng(7)
    rows, new = draw(rng, 20, 4), draw(rng, 9, 3, (4, 2))
    assert train("d", "m", d=rows) == 0
    assert train("--remove", "d", "-i", "m") == 0
    assert weights_in("m") == {}
    assert train("--add", "new", "-i", "m", new=new) == 0
    assert apart(weights_in("m"), batch(new)) <= EQUAL


def test_a_model_is_left_as_it_was_where_another_is_written(svm_train):
    rng = np.random.default_rng(8)
    rows, new = draw(rng, 20, 4), draw(rng, 9, 4)
    assert train("d", "m", d=rows) == 0
    files = {name: Path(name).read_bytes() for name in ("m", "m.state.npz", "m.state.rows")}
    assert train("--add", "new", "-i", "m", "other", new=new) == 0
    assert all(Path(name).read_bytes() == content for name, content in files.items())
    assert apart(weights_in("other"), batch(rows + new)) <= EQUAL
    assert train("--remove", "d", "-i", "other") == 0  # it has its own log of rows
    assert apart(weights_in("other"), batch(new)) <= EQUAL


def test_same_bits_for_any_number_of_threads(svm_train):
    rng = np.random.default_rng(9)
    rows, new = draw(rng, 3000, 20), draw(rng, 2000, 20)
    found = []
    for threads in (1, 2, 3):
        assert train("--threads", threads, "d", "m", d=rows) == 0
        assert train("--threads", threads, "--add", "new", "-i", "m", new=new) == 0
        found.append(Path("m").read_bytes() + Path("m.state.rows").read_bytes()[8:])
    assert found[0] == found[1] == found[2]


def test_rounding_that_spoils_a_model_is_reported(svm_train):
    """Rows of size 1e6 come and go: what they leave behind is no longer nothing beside rows of size 1e-3."""
    rng = np.random.default_rng(10)
    small = [row._replace(x=tuple(1e-3 * v for v in row.x)) for row in draw(rng, 30, 4)]
    large = [row._replace(x=tuple(1e6 * v for v in row.x)) for row in draw(rng, 30, 4)]
    fast = ("--method", "fast")
    (status, _, err) = svm_train("-q", "-s", 71, *fast, "-c", 1e6, "d", "m", data=text_of_rows(small))
    assert (status, err) == (0, "")
    with open("new", "w") as file:
        file.write(text_of_rows(large))
    assert svm_train("-q", "-s", 71, "--add", "new", "-i", "m")[0] == 0
    status, _, err = svm_train("-q", "-s", 71, "--remove", "new", "-i", "m")
    assert status == 0 and "train again" in err
    off = apart(weights_in("m"), batch(small, 1e6))
    stated = float(err.partition("by a relative ")[2].split(":")[0])
    assert off > EQUAL and off <= 30 * stated


def test_the_certificate_of_sums_allows_for_their_rounding():
    """Rows on the margin, and a C that makes C V so large that its last digits are more than all of f."""
    rng = np.random.default_rng(12)
    A, y, C = rng.normal(size=(10, 30)), np.tile([1.0, -1.0], 5), 1e12
    sums = ClassStatistics()
    sums.update(DenseRows(A), [1, -1], (y < 0).astype(np.int64))
    [problem] = equations_of(sums, C, -1.0, [1.0, 1.0])
    _, certificate = adapt.solution(problem, sums)
    K = A @ A.T + np.eye(10) / (2.0 * C)
    least = 0.5 * float(y @ np.linalg.solve(K, y))
    assert certificate.dual <= least <= certificate.primal
    assert abs(problem.gradient(problem.minimiser())[0] - least) > 1e-6 * least, "this test wants digits lost"


def test_the_estimate_of_rounding_is_near_what_random_changes_do():
    """Against matrices moved at random by EPS of what their entries went through."""
    rng = np.random.default_rng(11)
    A = rng.normal(size=(50, 6)) * [1.0, 3.0, 0.1, 1.0, 1.0, 20.0]
    sums, S, b = ClassStatistics((), 6), A.T @ A, A.T @ np.sign(A[:, 0] + rng.normal(size=50))
    sums.past = 1e10 * np.diagonal(S)
    problem = NormalEquations(Matrix(S, 1.0), b, 50.0)
    w, _ = adapt.solution(problem, sums)
    q, moved = np.sqrt(sums.past), []
    for _ in range(30):
        E = EPS * np.outer(q, q) * rng.choice([-1.0, 1.0], S.shape)
        moved.append(np.linalg.norm(np.linalg.solve(np.eye(6) / 2 + S + np.triu(E) + np.triu(E, 1).T, b) - w))
    stated = adapt.rounding(problem, w, sums) * np.linalg.norm(w)
    assert np.median(moved) / 5 <= stated <= 5 * np.max(moved)


@pytest.mark.parametrize("bias", [-1.0, 1.0])
def test_as_many_features_can_be_added_as_can_be_trained(bias, tmp_path):
    asked = Settings.of(solver=71, bias=bias)
    with contextlib.closing(adapt.Adaptable(asked, None, str(tmp_path / "m"), None)) as adaptable:
        check_most(adaptable, asked, bias)


def check_most(adaptable, asked, bias) -> None:
    most = asked.row.sums_below - (bias >= 0)
    row = table_of(np.ones((1, 1)), np.ones(1))
    row.n_features = most
    adaptable.check(row)
    assert OneVsRest(row, asked).by_sums
    row.n_features = most + 1
    with pytest.raises(SvmtoolError, match=f"at most {most}"):
        adaptable.check(row)
    assert not OneVsRest(row, asked).by_sums
