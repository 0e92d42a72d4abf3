"""A table says the same in every format: the same rows become the same LIBSVM text, by the same rules."""

from __future__ import annotations

import csv
import importlib.util
import itertools
import json
import os
from fractions import Fraction

import numpy as np
import pytest

from svmtool import api
from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file

PARQUET = pytest.param(
    "parquet", marks=pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="Parquet needs pyarrow")
)
NAN = np.nan
# The sum of the first column depends on the order, unless it is exact; the mean of the third is below normal numbers.
X = np.array([[0.1, NAN, 0.0, -0.5], [1e300, 2.0, 3e-308, NAN], [-1e300, 7.0, NAN, 4.0], [0.3, 0.0, 0.0, 1.0]])
Y = np.array([1.0, -2.0, 0.0, 1.0])
NEW = np.array([[NAN, NAN, NAN, NAN], [1.0, 2.0, 3.0, 4.0]])
MEANS = [float(Fraction(0.1) + Fraction(0.3)) / 4, 3.0, 0.0, 1.5]


def write(path: str, X: np.ndarray, y: np.ndarray | None, kind: str) -> None:
    """A file of these numbers; the columns of a table are c1, c2 .. and y."""
    table = {f"c{j + 1}": column for j, column in enumerate(X.T)} | ({} if y is None else {"y": y})
    if kind == "npz":
        np.savez(path, X=X, **({} if y is None else {"y": y}))
    elif kind == "parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({k: pyarrow.array(v, from_pandas=True) for k, v in table.items()}), path)
    else:
        spelled = itertools.cycle(["", "?", "NA", "n/a", "NaN", "-nan", "null", "None", " na ", "#N/A"])
        rows = [[next(spelled) if v != v else repr(v) for v in row] for row in np.transpose([*table.values()]).tolist()]
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter={"csv": ",", "tsv": "\t"}[kind]).writerows([[*table], *rows])


def outcome(folder, kind: str, rule: str) -> list:
    """The texts of training rows and of new ones without labels, and the counts that were said."""
    found, names = [], None
    for name, rows, y in (("train", X, Y), ("new", NEW, None)):
        path, said = f"{folder}/{name}.{kind}", []
        write(path, rows, y, kind)
        convert(path, f"{path}.t", Choices(missing=rule, names=names), said.append)
        with open(f"{path}.t") as file:
            found += [file.read(), [line for line in said if line.startswith("missing values")]]
        own = f"{path}.t.names"
        names = own if os.path.exists(own) else f"{folder}/train.csv.t.names"  # npz without means has none
    return found


@pytest.mark.parametrize("rule", ["mean", "zero", "drop"])
@pytest.mark.parametrize("kind", ["tsv", "npz", PARQUET])
def test_every_format_gives_the_same_text(kind, rule, tmp_path):
    wanted = outcome(tmp_path, "csv", rule)
    assert outcome(tmp_path, kind, rule) == wanted


@pytest.mark.parametrize(("rule", "stand"), [("mean", MEANS), ("zero", 0.0)])
def test_what_stands_for_missing_values(rule, stand, tmp_path):
    """The mean is that of the training rows that have a value, to the last bit, and the same in new rows."""
    first = outcome(tmp_path, "csv", rule)
    for name, rows in (("train", X), ("new", NEW)):
        found, _ = api.read_svmlight(tmp_path / f"{name}.csv.t")
        np.testing.assert_array_equal(found.toarray(), np.where(np.isnan(rows), stand, rows)[:, : found.shape[1]])
    names = names_file.read(f"{tmp_path}/train.csv.t.names")
    assert (list(names.means), names.missing) == (MEANS, rule)
    convert(f"{tmp_path}/new.csv", f"{tmp_path}/again", Choices(names=f"{tmp_path}/train.csv.t.names"), lambda _: None)
    assert (tmp_path / "again").read_text() == first[2]  # without the option: as the training data were filled


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
