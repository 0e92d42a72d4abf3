"""SVMlight's additions to LIBSVM's format: comments, blank lines, queries and names of rows."""

from __future__ import annotations

import gzip

import pytest

import svmtool
from svmtool.cli import scale
from svmtool.cli.predict import command as predict
from svmtool.errors import DataError
from svmtool.formats.svmlight import additions
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.inputs import NO_QID

TEXT = b"""\
# a comment: with colons 1:2

2 qid:1 1:0.5 3:1   # doc: one
  \t
1 qid:2 1:0.3 #two
2 2:1\r
1 qid:-3 1:-1 3:-1
# the end"""
PLAIN = b"2 1:0.5 3:1\n1 1:0.3\n2 2:1\n1 1:-1 3:-1\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """a: TEXT, p: PLAIN, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(TEXT)
    (tmp_path / "p").write_bytes(PLAIN)
    return tmp_path


def arrays(data):
    return [data.labels.tolist(), data.indptr.tolist(), data.indices.tolist(), data.values.tolist(), data.n_features]


@pytest.mark.parametrize("packed", [False, True])
def test_rows_are_those_of_the_plain_text(files, packed):
    if packed:
        (files / "a").write_bytes(gzip.compress(TEXT))
    found = svmlight.read("a")
    assert arrays(found) == arrays(svmlight.read("p"))
    assert found.groups.tolist() == [1, 2, additions.NO_QUERY, -3]
    assert svmlight.read("p").groups is None


@pytest.mark.parametrize(
    "line, reason",
    [(b"1 qid:1.5 1:2", "a qid is a whole number"), (b"1 1:1 1:2", "twice"), (b"1 1:x", "value is not a number")],
)
def test_errors_name_their_line(files, line, reason):
    (files / "a").write_bytes(b"# c\n\n1 1:2 # n\n" + line + b"\n1 1:1\n")
    for attempt in (svmlight.read, svmtool.read_svmlight):
        with pytest.raises(DataError) as caught:
            attempt("a")
        assert caught.value.line == 4 and reason in str(caught.value)


def test_predictions_and_scales_of_the_commands(files, capfdbinary):
    svmtool.save_model(svmtool.fit(*svmtool.read_svmlight("p")), "m")
    for name in ("a", "p"):
        assert predict.main(["-q", "--row-names", name, "m", f"o{name}"]) == 0
    named, plain = ((files / name).read_bytes().splitlines() for name in ("oa", "op"))
    assert [line.partition(b"\t")[0] for line in named] == plain
    assert [line.partition(b"\t")[2] for line in named] == [b"doc: one", b"two", b"", b""]
    capfdbinary.readouterr()
    assert scale.main(["-l", "0", "a"]) == 0
    scaled = capfdbinary.readouterr().out
    assert scale.main(["-l", "0", "p"]) == 0
    rows = capfdbinary.readouterr().out
    (files / "s").write_bytes(scaled)
    (files / "r").write_bytes(rows)
    assert arrays(svmlight.read("s")) == arrays(svmlight.read("r"))
    assert svmlight.read("s").groups.tolist() == svmlight.read("a").groups.tolist()
    lines = scaled.splitlines()
    assert [lines[k] for k in (0, 1, 3, 7)] == [TEXT.splitlines()[k] for k in (0, 1, 3, 7)]
    assert lines[2].startswith(b"2 qid:1 1:") and lines[2].endswith(b" # doc: one")


@pytest.mark.parametrize("kernel", [[], ["-t", 2]])
def test_folds_of_groups(kernel, svm_train, files, monkeypatch):
    monkeypatch.setattr(svmlight.raw_tables, "__defaults__", (600, None, 1, 600))
    rows = [f"{1 + k % 2} qid:{k // 4} 1:{k % 7} 2:{k % 2}" for k in range(40)]
    assert svm_train("-q", "-v", 5, "--groups", *kernel, "d", data="\n".join(rows))[0] == 0
    for argv, sentence in (
        (["--groups"], "--groups needs -v"),
        (["-v", 11, "--groups"], "11 folds need as many groups, here there are 10"),
    ):
        status, _, err = svm_train("-q", *argv, *kernel, "d")
        assert status == 1 and sentence in err
    for text, line, token in (  # a block that lacks every qid keeps no text
        ("1 1:1\n2 1:2\n", 1, ""),
        ("# c\n1 qid:1 1:1\n\n2 01:2.50 2:1 # d\n", 4, "token '01:2.50': "),
        ("# c\n1\n1 qid:1 1:1\n", 2, ""),
        ("1 qid:1 1:1\n" * 100 + "1 1:1\n" * 200, 101, ""),
    ):
        status, _, err = svm_train("-v", 2, "--groups", *kernel, "d", data=text)
        assert (status, err) == (1, f"Wrong input format at line {line}: d: {token}{NO_QID}\n")
    sets = svm_train("-v", 2, "--groups", "--multilabel", "d", data="1,2 qid:3 1:1\n2,1 3:1\n")[2]
    assert sets == f"Wrong input format at line 2: d: token '3:1': {NO_QID}\n"


def test_python_has_queries_and_groups(files):
    (files / "a").write_bytes(b"# c\n1 qid:4 1:1 # x\n2 qid:4 1:2\n1 qid:5 1:1\n2 qid:6 1:3\n")
    X, y, query = svmtool.read_svmlight("a", query_id=True)
    assert (X.toarray().ravel().tolist(), query.tolist()) == ([1.0, 2.0, 1.0, 3.0], [4, 4, 5, 6])
    found = svmtool.cross_validate(X, y, folds=3, groups=["u", "u", "v", "w"])
    assert found.fold[0] == found.fold[1] and len(set(found.fold.tolist())) == 3
    with pytest.raises(ValueError, match="not every row has a qid"):
        svmtool.read_svmlight("p", query_id=True)
    with pytest.raises(ValueError, match="cannot be combined"):
        svmtool.cross_validate(X, y, groups=query, stratified=True)
    with pytest.raises(ValueError, match="expected"):
        svmtool.search_C(X, y, groups=query[:2])


def test_blank_lines_are_rows_without_labels(files):
    svmtool.save_model(svmtool.fit(*svmtool.read_svmlight("p")), "m")
    for text in (b"1:0.5 2:1\n\n1:-0.5\n", b"1:0.5 2:1 # a\n\n# no row\n1:-0.5\n"):
        (files / "u").write_bytes(text)
        assert predict.main(["-q", "--no-labels", "u", "m", "o"]) == 0
        assert len((files / "o").read_text().splitlines()) == 3


def test_names_of_rows_behind_names_of_labels(files):
    svmtool.save_model(svmtool.fit(*svmtool.read_svmlight("p")), "m")
    (files / "a").write_bytes(b"2 1:0.5 3:1 # a\tb \x1b[31m\n1 1:-1 # \xff\n")
    content = '{"format": "svmtool names", "version": 1, "classes": {"1": "no", "2": "yes"}, "features": []}'
    (files / "n").write_text(content)
    assert predict.main(["-q", "--names", "n", "--row-names", "a", "m", "o"]) == 0
    shown = (files / "o").read_bytes()
    assert shown.splitlines()[0].startswith(b"yes\ta b ") and b"\x1b" not in shown
    assert shown.splitlines()[1].startswith(b"no\t")


def test_names_of_rows_where_text_is_not_read(files, capsys, as_the_originals):
    assert predict.main(["--row-names", "p", "m", "o"]) == 1
    assert "--row-names needs svm-predict" in capsys.readouterr().err


def test_cut_labels_are_told_with_their_line(files, capfd):
    (files / "a").write_bytes(b"# c\n1,2 1:3\n2 1:1\n")
    assert scale.main(["a"]) == 0
    assert "a: line 2: only the leading number of the label '1,2' is kept\n" in capfd.readouterr().err
