"""Generated tables say the same in every format: the same rows become the same LIBSVM text, by the same rules."""

from __future__ import annotations

import importlib.util
import json
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file

SPELLINGS = ['""', "?", "NA", "n/a", "NaN", "-nan", "null", "None", " na ", "#N/A"]
PARQUET = pytest.param(
    "parquet", marks=pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="Parquet needs pyarrow")
)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False) | st.sampled_from([0.0, -0.5, 1e300, -1e300, 3e-308])
cells = numbers | st.just(None)


@st.composite
def tables(draw):
    """Numbers f8 (n, d), nan where there is none, and labels."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    values = draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n))
    return np.array(values, float), np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), float)


def write(path: str, X: np.ndarray, y: np.ndarray | None, kind: str) -> None:
    """A file of these numbers; the columns of a table are c1, c2 .. and y."""
    names = [f"c{j + 1}" for j in range(X.shape[1])]
    if kind == "npz":
        np.savez(path, X=X, **({} if y is None else {"y": y}))
    elif kind == "parquet":
        import pyarrow
        from pyarrow import parquet

        columns = {name: pyarrow.array(column, from_pandas=True) for name, column in zip(names, X.T, strict=True)}
        parquet.write_table(pyarrow.table(columns | ({} if y is None else {"y": y})), path)
    else:
        spelled = iter(SPELLINGS * X.size)
        rows = [[next(spelled) if v != v else repr(v) for v in row] for row in X.tolist()]
        if y is not None:
            rows, names = [[*row, repr(v)] for row, v in zip(rows, y.tolist(), strict=True)], [*names, "y"]
        with open(path, "w", encoding="utf-8") as file:
            for row in [names, *rows]:
                file.write(({"csv": ",", "tsv": "\t"}[kind]).join(row) + "\n")


def outcome(folder, kind: str, train: tuple, new: np.ndarray, **choices) -> list:
    """The texts of training and new rows without labels, or the errors, and the counts that were said."""
    found = []
    for name, X, y in (("train", *train), ("new", new, None)):
        names = next((path for k in (kind, "csv") if os.path.exists(path := f"{folder}/train.{k}.t.names")), None)
        own = {} if y is not None else {"names": names}  # npz without means has no names of its own
        path = f"{folder}/{name}.{kind}"
        write(path, X, y, kind)
        said: list[str] = []
        header = {"header": True} if kind in ("csv", "tsv") else {}
        try:
            convert(path, f"{path}.t", Choices(**choices, **own, **header), said.append)
        except SvmtoolError as e:
            text = str(e)
            assert text.startswith(path) and "\n" not in text
            found.append(next(word for word in ("missing", "no row is left", "no value", "no means") if word in text))
            break
        with open(f"{path}.t") as file:
            found += [file.read(), [line for line in said if line.startswith("missing values")]]
    return found


@pytest.mark.parametrize("kind", ["tsv", "npz", PARQUET])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_format_gives_the_same_text(kind, data, tmp_path_factory):
    rule = data.draw(st.sampled_from(["mean", "zero", "drop", "error"]))
    train, (new, _) = data.draw(tables()), data.draw(tables())
    new = np.resize(new, (len(new), train[0].shape[1]))
    folder = tmp_path_factory.mktemp("same")
    wanted = outcome(folder, "csv", train, new, missing=rule)
    assert outcome(folder, kind, train, new, missing=rule) == wanted


def dense(path: str, d: int) -> np.ndarray:
    """LIBSVM's text as f8 (n, d)."""
    with open(path) as file:
        lines = file.read().splitlines()
    X = np.zeros((len(lines), d))
    for row, line in zip(X, lines, strict=True):
        for pair in line.split()[1:]:
            j, _, value = pair.partition(":")
            row[int(j) - 1] = float(value)
    return X


@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_what_stands_for_missing_values(data, tmp_path_factory):
    """The mean is that of the training rows that have a value, to the last bit, and the same in new rows."""
    (X, y), folder = data.draw(tables()), tmp_path_factory.mktemp("means")
    X[0] = np.where(np.isnan(X[0]), 1.0, X[0])
    new = np.full((1, X.shape[1]), np.nan)
    means = []
    for column in X.T:
        there = [Fraction(v) for v in column.tolist() if v == v]
        means.append(float(sum(there)) / len(there))
    means = np.array([m if abs(m) >= np.finfo(float).tiny else 0.0 for m in means])
    for rule, stand in (("mean", means), ("zero", 0.0)):
        first = outcome(folder, "csv", (X, y), new, missing=rule)
        np.testing.assert_array_equal(dense(f"{folder}/train.csv.t", X.shape[1]), np.where(np.isnan(X), stand, X))
        np.testing.assert_array_equal(dense(f"{folder}/new.csv.t", X.shape[1])[0], stand)
        found = names_file.read(f"{folder}/train.csv.t.names")
        np.testing.assert_array_equal(found.means, means)
        assert found.missing == rule
        convert(f"{folder}/new.csv", f"{folder}/again", Choices(names=f"{folder}/train.csv.t.names"), lambda _: None)
        with open(f"{folder}/again") as file:
            assert file.read() == first[2]  # without the option: as the training data were filled
    kept = ~np.isnan(X).any(axis=1)
    outcome(folder, "csv", (X, y), new, missing="drop")
    np.testing.assert_array_equal(dense(f"{folder}/train.csv.t", X.shape[1]), X[kept])


PEOPLE = "age,town,kind\n30,Bonn,a\n50,Kiel,b\n40,,a\n60,Bonn,a\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def work(text: str, name: str = "d", **choices) -> tuple[str, list[str]]:
        said: list[str] = []
        (tmp_path / f"{name}.csv").write_text(text)
        convert(f"{name}.csv", name, Choices(**choices), said.append)
        return (tmp_path / name).read_text(), said

    return work


def test_a_missing_text_becomes_the_shares_of_the_values(run):
    assert run(PEOPLE, one_hot=True, missing="mean")[0].splitlines()[2] == f"1 1:40 2:{2 / 3:.17g} 3:{1 / 3:.17g} "
    assert run(PEOPLE, one_hot=True, missing="zero")[0].splitlines()[2] == "1 1:40 "
    text, said = run(PEOPLE, one_hot=True, missing="drop")
    assert text == "1 1:30 2:1 \n2 1:50 3:1 \n1 1:60 2:1 \n"
    assert "missing values: 1 in 1 of 4 rows: these rows are left out" in said
    with pytest.raises(SvmtoolError, match="d.csv: line 4, column 'town': .* --missing mean or --missing zero"):
        run(PEOPLE, one_hot=True)
    assert run(PEOPLE, drop=("town",))[0].count("\n") == 4  # what is not used may be missing


def test_unknown_values_and_labels(run):
    run(PEOPLE, one_hot=True, missing="drop")
    new = "kind,town,age\na,Ulm,1\nc,Kiel,2\n,Bonn,3\nb,Kiel,4\n"
    text, said = run(new, "n", names="d.names", unseen="zero")
    assert text == "1 1:1 \nnan 1:2 3:1 \nnan 1:3 2:1 \n2 1:4 3:1 \n"
    assert "unseen values: 2 in 2 of 4 rows: they count as no value" in said
    text, said = run(new, "n", names="d.names", unseen="drop")
    assert text == "nan 1:3 2:1 \n2 1:4 3:1 \n"
    assert "unseen values: 2 in 2 of 4 rows: these rows are left out" in said
    for words, start in (
        (new, "n.csv: line 2, column 'town': the value 'Ulm' is unknown"),
        (new.replace("Ulm", "Bonn"), "n.csv: line 3, column 'kind': the label 'c' is unknown"),
    ):
        with pytest.raises(SvmtoolError, match="--unseen zero .*, --unseen drop leaves the row out") as e:
            run(words, "n", names="d.names")
        assert str(e.value).startswith(start)
    with pytest.raises(SvmtoolError, match="no row is left"):
        run("town,age\nUlm,3\n", "n", names="d.names", unseen="drop")


def test_the_command_has_the_rules(command, tmp_path):
    (tmp_path / "d.csv").write_text(PEOPLE)
    for words, last in (
        (["--missing", "mean", "--drop", "town"], b"d: 4 rows, 1 features; names in d.names\n"),
        (["--unseen", "zero"], b"--unseen needs --names: without, all values are known\n"),
        (["--missing", "median"], None),
    ):
        done = command("convert", "d.csv", "d", *words)
        assert done.stderr.endswith(last or b"") and done.returncode == (words[1] != "mean")
    done = command("convert", "--names", "d.names", "--unseen", "drop", "--missing", "zero", "d.csv", "n")
    assert done.returncode == 0 and (tmp_path / "n").read_text() == (tmp_path / "d").read_text()


def test_means_of_a_wide_matrix_cost_no_memory(tmp_path):
    from scipy import sparse

    wide = sparse.csr_matrix(([1.0], [2**31 - 2], [0, 1]), (1, 2**31 - 1))
    arrays = {"data": wide.data, "indices": wide.indices, "indptr": wide.indptr, "shape": np.array(wide.shape)}
    np.savez(tmp_path / "d.npz", format=np.array(b"csr"), y=np.ones(1), **arrays)
    with pytest.raises(SvmtoolError, match="has 2147483647 columns: means are kept of 10000000 at most"):
        convert(str(tmp_path / "d.npz"), str(tmp_path / "d"), Choices(missing="mean"), lambda _: None)


def test_labels_are_not_made_up(run):
    for rule in ("mean", "zero", "error"):
        with pytest.raises(SvmtoolError, match="line 3, column 'y': the value is missing .* --missing drop leaves"):
            run("a,y\n1,2\n3,NA\n", missing=rule)
    assert run("a,y\n1,2\n3,NA\n", missing="drop")[0] == "2 1:1 \n"
    assert run("a,y\n1,2\n3,NA\n", "n", names="d.names")[0] == "2 1:1 \nnan 1:3 \n"
    text, said = run("a,b\n1,2\n", "u", no_label=True)
    assert text == "nan 1:1 2:2 \n" and said[-1].startswith("u: 1 rows without labels")
    assert not names_file.read("u.names").labelled


@pytest.mark.parametrize("kind", ["tsv", "npz", PARQUET])
def test_rows_without_labels_keep_their_form_every_way_round(kind, run, tmp_path):
    run(PEOPLE, one_hot=True, missing="mean")
    for new in ("town,age\nBonn,3\n,0\n", "town,age,kind\nBonn,3,a\n,0,\n"):
        text, _ = run(new, "n", names="d.names")
        convert("n", f"n2.{kind}", Choices(), lambda _: None)
        names = "n2.npz.names" if kind == "npz" else "flat.names"
        flat = {**json.loads((tmp_path / "d.names").read_text())}
        flat.pop("one_hot")
        (tmp_path / "flat.names").write_text(json.dumps(flat))
        convert(f"n2.{kind}", "n3", Choices(names=names), lambda _: None)
        assert (tmp_path / "n3").read_text() == text


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"means": [1.5]}, '"means" has 1 numbers for 3 features'), ({"means": "x"}, '"means" must be'),
        ({"means": [1, True, 2]}, '"means" must be'), ({"means": [1, 10**400, 2]}, '"means" must be'),
        ({"missing": ["mean"]}, '"missing" must be'), ({"labelled": 1}, '"labelled" must be true or false'),
        ({"version": 2}, 'it lacks "format"'), ({"features": [1]}, ".*list of strings"),
        ({"classes": {"x": "y"}}, ".*must be integers"),
    ],
)  # fmt: skip
def test_names_are_not_believed(change, reason, run, tmp_path):
    run(PEOPLE, one_hot=True, missing="mean")
    content = json.loads((tmp_path / "d.names").read_text())
    (tmp_path / "d.names").write_text(json.dumps(content | change))
    with pytest.raises(SvmtoolError, match=f"d.names is no file of names: {reason}"):
        run("town,age\nBonn,3\n", "n", names="d.names")
