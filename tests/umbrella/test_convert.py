"""`svmtool convert`: every format to and from LIBSVM's text, names beside it, and refused input."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from svmtool import api
from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file

IRIS = "length,colour,species\n1.5,red,setosa\n0,blue,virginica\n2,red,setosa\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Convert in the temporary folder; the lines for the user."""
    monkeypatch.chdir(tmp_path)

    def work(source: str, target: str, /, **choices) -> list[str]:
        said: list[str] = []
        convert(source, target, Choices(**choices), said.append)
        return said

    return work


def rows(path) -> tuple[np.ndarray, list[float]]:
    X, y = api.read_svmlight(path)
    return X.toarray(), y.tolist()


def test_strings_become_labels_and_features(run, tmp_path):
    (tmp_path / "d.csv").write_text(IRIS)
    said = run("d.csv", "d", one_hot=True)
    X, y = rows("d")
    assert y == [1, 2, 1]
    np.testing.assert_array_equal(X, [[1.5, 0, 1], [0, 1, 0], [2, 0, 1]])
    found = names_file.read("d.names")
    features, classes = ("length", "colour=blue", "colour=red"), {1: "setosa", 2: "virginica"}
    means = 3.5 / 3, 1 / 3, 2 / 3
    assert found == names_file.Names(features, classes, "species", {"colour": ("blue", "red")}, means)
    assert said[0] == "label column: species (the last; --label chooses another)"
    assert said[1] == "labels: 1 = setosa, 2 = virginica"
    assert json.loads((tmp_path / "d.names").read_text())["format"] == "svmtool names"


def test_test_data_get_the_same_columns_and_labels(run, tmp_path):
    (tmp_path / "d.csv").write_text(IRIS)
    run("d.csv", "d", one_hot=True)
    (tmp_path / "t.csv").write_text("species,extra,colour,length\nvirginica,7,blue,4\n")
    said = run("t.csv", "t", names="d.names")
    X, y = rows("t")
    assert y == [2]
    np.testing.assert_array_equal(X, [[4, 1]])
    assert any("extra" in line for line in said)
    (tmp_path / "u.csv").write_text("colour,length\nred,4\n")
    run("u.csv", "u", names="d.names")
    assert np.isnan(rows("u")[1]).all()
    for text, reason in [
        ("species,length\nsetosa,1\n", "has no column 'colour'"),
        ("species,colour,length\nsetosa,red,x\n", "column 'length' is text"),
    ]:
        (tmp_path / "v.csv").write_text(text)
        with pytest.raises(SvmtoolError, match=reason):
            run("v.csv", "v", names="d.names")
        assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(
    "header, choices, label, says",
    [("a,Label,b", {}, [2], "Label (by its name"), ("a,c,b", {}, [3], "b (the last"),
     ("a,y,b", {"label": "a"}, [1], ""), ("a,y,b", {"label": "3"}, [3], ""),
     ("a,y,b", {"no_label": True}, [np.nan], ""),
     (None, {}, [3], "column 3 (the last"), (None, {"label": "1"}, [1], "")],
)  # fmt: skip
def test_label_column(run, tmp_path, header, choices, label, says):
    (tmp_path / "d.csv").write_text((f"{header}\n" if header else "") + "1,2,3\n")
    said = run("d.csv", "d", **choices)
    X, y = rows("d")
    np.testing.assert_array_equal(y, label)
    assert X.shape[1] == (3 if choices.get("no_label") else 2)
    assert says in said[0]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("a,b\n1,2\n3,NA\n", "d.csv: line 3, column 'b': the value is missing ('NA')"),
        ("a,b\n1,2\n,4\n", "d.csv: line 3, column 'a': the value is missing (the cell is empty)"),
        ("a,b\ninf,1\n", "line 2, column 'a': inf is not finite"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, but the header has 2"),
        ("1,2\n3,4,5\n", "line 2 has 3 cells, but the first line has 2"),
        ("a,b\nred,1\n", "column 'a' holds text ('red' in line 2): --one-hot"),
        ("a,a\n1,2\n", "two columns have the name 'a'"), ("a,b\n", "d.csv holds no rows"), ("", "line 1 is empty"),
        ("a,b\n1e-310,1\n", "too close to 0"), (b"a,b\n\xff,1\n", "is not UTF-8 text"),
        (b"a,b\n1,2\n1,\x002\n", "line 3: the line contains a NUL byte"),
        ('a,b\n1,"2"3\n', "line 2: not a table of text"), ('a,b\n1,2\n"1,2\n', "line 3: not a table of text"),
        ("a,b\n1_0,2\n", "column 'a' holds text"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_in_one_sentence(run, tmp_path, text, reason):
    (tmp_path / "d.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SvmtoolError) as e:
        run("d.csv", "d")
    assert reason in str(e.value) and "\n" not in str(e.value)
    assert not (tmp_path / "d").exists() and not (tmp_path / "d.names").exists()


def test_dialects(run, tmp_path):
    (tmp_path / "a.csv").write_bytes(b'\xef\xbb\xbfp;q\r\n1;2\r\n\r\n"3";4\r\n')
    run("a.csv", "a")
    assert rows("a")[1] == [2, 4]
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"p\tq r\n1\t2\n"))
    run("b.tsv.gz", "b")
    assert names_file.read("b.names").label == "q r"
    (tmp_path / "c.txt").write_text("1|2\n")
    run("c.txt", "c", source="csv", delimiter="|")
    assert rows("c")[1] == [2]
    (tmp_path / "e.csv").write_text("1,2\n3,4\n")
    run("e.csv", "e", header=True)
    assert rows("e")[1] == [4]


@pytest.mark.parametrize(
    "arrays, reason",
    [
        ({"a": np.ones(3)}, "holds a: expected a matrix"),
        ({"X": np.ones((2, 2))}, "holds no labels"),
        ({"X": np.ones((2, 2)), "y": np.ones(3)}, "2 rows, but 3 labels"),
        ({"X": np.array([[1, np.nan]]), "y": np.ones(1)}, "row 1, column 2: the value is missing"),
        ({"X": np.ones((1, 2)), "y": np.array([np.inf])}, "label of row 1 is not finite"),
    ],
)
def test_bad_npz(run, tmp_path, arrays, reason):
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(SvmtoolError, match=reason):
        run("d.npz", "d")


def test_parquet(run, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    def write(name: str, **columns) -> str:
        parquet.write_table(pyarrow.table(columns), tmp_path / name)
        return name

    run(write("d.parquet", a=[1.5, 0.0], b=["x", "y"], c=[True, False], kind=["s", "t"]), "d", one_hot=True)
    np.testing.assert_array_equal(rows("d")[0], [[1.5, 1, 0, 1], [0, 0, 1, 0]])
    run("d", "back.parquet")
    again = parquet.read_table(tmp_path / "back.parquet").to_pydict()
    assert again["kind"] == ["s", "t"] and again["a"] == [1.5, 0.0] and again["b=y"] == [0, 1]
    run(write("s.parquet", **{" a ": [" u", "v "], "": [3, 4], "y": [1, 2]}), "s", one_hot=True)
    assert names_file.read("s.names").features == ("a=u", "a=v", "column 2")
    (tmp_path / "x.parquet").write_text("nothing")
    for name, reason in (
        (write("n.parquet", a=[1, None], y=[1, 2]), "row 2, column 'a': the value is missing"),
        (write("l.parquet", a=[[1, 2], [3]], y=[1, 2]), "column 'a' holds values of type ndarray"),
        ("x.parquet", "can't read x.parquet as Parquet"),
    ):
        with pytest.raises(SvmtoolError, match=reason):
            run(name, "o")


def test_command_line(command, tmp_path):
    (tmp_path / "d.csv").write_text(IRIS)
    for argv, sentence in [
        (["d.csv", "d.csv"], "ERROR: OUT d.csv would overwrite IN d.csv: give it another name\n"),
        (["d.csv", "d", "--label", "x"], "d.csv has no column 'x': it has length, colour, species\n"),
        (["d.csv", "d", "--names", "d.csv", "--one-hot"], None),
        (["d.csv", "d", "--label", "species", "--drop", "x"], None),
        (["absent.csv", "d"], "can't open input file absent.csv\n"),
        (["d.csv", "d.gz", "--one-hot"], None),
    ]:
        done = command("convert", *argv)
        assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done.stderr
        assert sentence is None or done.stderr.decode() == sentence
    done = command("convert", "--one-hot", "--from", "csv", "-", "-", input=IRIS.encode())
    assert (done.returncode, done.stdout) == (0, b"1 1:1.5 3:1 \n2 2:1 \n1 1:2 3:1 \n")


def test_predictions_by_name(command, tmp_path):
    """Numbers stay as they are, and a line end becomes a space."""
    for first, second in (("5", "7"), ("hot one", "cold")):
        quoted = '"hot\none"' if first == "hot one" else first
        (tmp_path / "d.csv").write_text("a,kind\n" + f"1,{quoted}\n-1,{second}\n2,{quoted}\n-2,{second}\n")
        assert command("convert", "d.csv", "d").returncode == 0
        assert command("train", "-q", "-s", 0, "d", "m").returncode == 0
        assert command("predict", "--names", "d.names", "d", "m", "out").returncode == 0
        assert (tmp_path / "out").read_text().splitlines() == [first, second] * 2
    done = command("predict", "-b", 1, "--metrics", "--names", "d.names", "d", "m", "out")
    header, *lines = (tmp_path / "out").read_text().splitlines()
    assert header.split("\t") == ["labels", "hot one", "cold"]
    assert [line.split("\t")[0] for line in lines] == ["hot one", "cold"] * 2
    assert rb"Label hot\none: precision = 100%" in done.stdout
    done = command("predict", "--names", "m", "d", "m", "out")
    assert done.stderr == b"ERROR: --names m: the file holds no strings of labels\n"


@pytest.mark.parametrize("label", [2**31, 10**30])
def test_labels_that_no_model_holds_are_refused(label, run, tmp_path):
    names = {"format": "svmtool names", "version": 1, "label": "y", "classes": {str(label): "a"}, "features": ["x"]}
    (tmp_path / "n").write_text(json.dumps(names))
    (tmp_path / "i.csv").write_text("x,y\n1,a\n")
    with pytest.raises(SvmtoolError, match="must fit into 32 bits"):
        run("i.csv", "o", names="n")
    assert not (tmp_path / "o").exists()
