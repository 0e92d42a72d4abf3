"""--add and --remove: after any sequence the model is that of the current rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from adapt_suite import Row, apart, batch, draw, text_of_rows, weights_in
from hypothesis import given, settings
from hypothesis import strategies as st

from svmtool.cli.train import main

EQUAL = 1e-8


def train(*argv, **files: list[Row]) -> int:
    for name, rows in files.items():
        with open(name, "w") as file:
            file.write(text_of_rows(rows))
    return main(["-q", "-s", "71", *map(str, argv)])


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_any_sequence_is_batch_training_on_what_remains(tmp_path_factory, data):
    """Blocks of any size, labels that come and go, features that come, weights of classes, C and bias."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    C = data.draw(st.sampled_from([0.01, 1.0, 30.0]))
    bias = data.draw(st.sampled_from([-1.0, 1.0, 2.5]))
    factor = data.draw(st.sampled_from([{}, {1: 2.0}, {-1: 0.25, 5: 3.0}, {1: 0.0}]))
    asked = ["-c", C, "-B", bias, *(x for label, f in factor.items() for x in (f"-w{label}", f))]
    asked += ["--method", data.draw(st.sampled_from(["paper", "fast"]))]
    labels = data.draw(st.sampled_from([(1, -1), (1,), (3, 1, -1), (-1, 5)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("sequence"))
        rows = draw(rng, data.draw(st.integers(1, 30)), data.draw(st.integers(1, 6)), labels)
        assert train(*asked, "d", "m", d=rows) == 0
        for _ in range(data.draw(st.integers(1, 4))):
            gone = rng.permutation(len(rows))[: data.draw(st.integers(0, len(rows) - 1))]
            n, d = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 9))
            new = draw(rng, n, d, data.draw(st.sampled_from([labels, (7, 1)])))
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
    assert train("-c", 7, "-B", -1, "--add", "new", "-i", "m", "other", new=new) == 0
    assert all(Path(name).read_bytes() == content for name, content in files.items())
    assert apart(weights_in("other"), batch(rows + new, 7.0, -1.0), -1.0) <= EQUAL
    assert train("--remove", "d", "-i", "other") == 0  # it has its own log of rows
    assert apart(weights_in("other"), batch(new, 7.0, -1.0), -1.0) <= EQUAL


def test_same_bits_for_any_number_of_threads(svm_train):
    rng = np.random.default_rng(9)
    rows, new = draw(rng, 3000, 20), draw(rng, 2000, 20)
    found = []
    for threads in (1, 3):
        assert train("--threads", threads, "d", "m", d=rows) == 0
        assert train("--threads", threads, "--add", "new", "-i", "m", new=new) == 0
        found.append(Path("m").read_bytes() + Path("m.state.rows").read_bytes()[8:])
    assert found[0] == found[1]


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
