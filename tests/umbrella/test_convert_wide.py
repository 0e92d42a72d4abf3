"""Tables of many columns and values: each is looked up a fixed number of times, whatever their number."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.conversion import delimited
from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file


@pytest.mark.parametrize(
    "features, one_hot, reason",
    [
        (("k=a", "x"), {"k": ("a", "b")}, "the names lack the feature 'k=b'"),
        (("x", "k"), {}, "column 'k' is text"),
    ],
)
def test_names_that_contradict_themselves(features, one_hot, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names_file.write("d.names", names_file.Names(features, {}, None, one_hot))
    (tmp_path / "d.csv").write_text("x,k\n1,a\n")
    with pytest.raises(SvmtoolError, match=reason):
        convert("d.csv", "d", Choices(names="d.names"), lambda text: None)


def test_a_wide_table_comes_back(tmp_path, monkeypatch):
    """More cells in a row than are read at a time, and columns that become text late."""
    monkeypatch.chdir(tmp_path)
    width, rng = 300, np.random.default_rng(2)
    X = rng.normal(size=(7, width)) * (rng.random((7, width)) < 0.5)
    lines = [",".join(f"c{k}" for k in range(width)) + ",late,y"]
    lines += [",".join([*map(repr, row.tolist()), "007" if i < 6 else "x", f"{i}"]) for i, row in enumerate(X)]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    monkeypatch.setattr(delimited, "CELLS_AT_ONCE", 2 * width)
    convert("d.csv", "d.npz", Choices(one_hot=True), lambda text: None)
    convert("d.npz", "back.tsv", Choices(), lambda text: None)
    found = np.loadtxt("back.tsv", delimiter="\t", skiprows=1)
    np.testing.assert_array_equal(found[:, :width], X)
    np.testing.assert_array_equal(found[:, width:-1].sum(axis=0), [6, 1])


def test_a_table_far_larger_than_its_rows_is_refused(tmp_path, monkeypatch):
    """Before a name is made for each column."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").write_text("1 2000000000:1\n")
    for target in ("d.csv", "d.tsv", "d.parquet"):
        with pytest.raises(SvmtoolError, match="2000000000 columns, most of them zero"):
            convert("d", target, Choices(), lambda text: None)
    convert("d", "d.npz", Choices(), lambda text: None)
    assert np.load("d.npz")["shape"].tolist() == [1, 2000000000]


def test_names_of_any_letters_come_back(tmp_path, monkeypatch):
    """Also those with line ends; a second mark of the byte order is in no name."""
    monkeypatch.chdir(tmp_path)
    text = '\ufeff\ufeffa,"b\rc","d\ne","f"",",kind\n1,2,3,4,"x\ry"\n1,2,3,4,z\n'
    (tmp_path / "d.csv").write_bytes(text.encode())
    convert("d.csv", "d", Choices(), lambda text: None)
    convert("d", "back.csv", Choices(), lambda text: None)
    convert("back.csv", "again", Choices(), lambda text: None)
    assert names_file.read("again.names") == names_file.read("d.names")
    assert names_file.read("d.names").features == ("a", "b\rc", "d\ne", 'f",')
    assert names_file.read("d.names").classes == {1: "x\ry", 2: "z"}
