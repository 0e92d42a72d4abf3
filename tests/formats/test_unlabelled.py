"""Rows with the label nan, which have none: every reader that needs no label takes them, and none measures them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from svmtool import api
from svmtool.cli import scale
from svmtool.cli.predict import command as predicting
from svmtool.formats import source
from svmtool.formats.names import Names
from svmtool.report.report import report

RNG = np.random.default_rng(8)
MODELS = {"linear": (), "regression": ("-s", 11), "logistic": ("-s", 0), "kernel": ("-t", 2), "one-class": ("-s", 21)}


def text(labels) -> str:
    """Rows of integers with these labels, some without features."""
    rows = []
    for label in labels:
        pairs = "".join(f" {j + 1}:{v}" for j, v in enumerate(RNG.integers(-2, 3, 3)) if v)
        rows.append(f"{label}{pairs}\n")
    return "".join(rows)


@pytest.fixture
def predicted(svm_train, tmp_path, capsys):
    """Train with options on d, predict the text; (status, output, stdout, stderr)."""
    assert svm_train("-q", "d", "any", data=text([1, -1] * 10))[0] == 0

    def run(options, rows: str, *words: str):
        assert svm_train("-q", *options, "d", "m")[0] == 0
        (tmp_path / "u").write_text(rows)
        capsys.readouterr()
        status = predicting.main([*words, "u", "m", "o"])
        said = capsys.readouterr()
        return status, (tmp_path / "o").read_text(), said.out, said.err

    return run


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_rows_without_labels_are_predicted_and_not_measured(options, predicted, tmp_path):
    """The predictions are those of the same rows with any label, and with --no-labels; nothing is measured."""
    labelled = text([1, -1, 1] * 4)
    bare = "".join(f"{line.partition(' ')[2]}\n" for line in labelled.splitlines())
    nan = "".join(f"nan {line}\n" for line in bare.splitlines())
    _, wanted, measured, _ = predicted(options, labelled)
    assert " = " in measured
    bared = ("--no-labels",)
    for rows, words in ((nan, ()), (nan.replace("nan", "-NaN", 2), ()), (nan, bared), (bare, bared)):
        status, found, out, err = predicted(options, rows, *words)
        assert (status, found) == (0, wanted) and " = " not in out
        assert err == ("" if words else "the rows have no labels: they are predicted, nothing is measured\n")
    assert predicted(options, nan, "--metrics")[1:3] == (wanted, "")
    assert predicted(options, nan, "-q")[1:] == (wanted, "", "")


def test_rows_without_labels_in_pieces(predicted, monkeypatch):
    """Blocks end anywhere: inside a line, after a newline; and what has a label is named."""
    rows = "1:1 2:0.5\n1:-1\n\n2:-3"
    whole = predicted((), rows, "--no-labels")
    for size in range(1, 12):
        monkeypatch.setattr(source, "READ_BYTES", size)
        assert predicted((), rows, "--no-labels") == whole and whole[0] == 0
    assert predicted((), "1:1\n1 2:1\n", "--no-labels")[3].startswith(
        "Wrong input format at line 2: u: token '1': no colon: "
    )
    words = predicted((), rows, "--no-labels", "--metrics")[3]
    assert words == "ERROR: --no-labels cannot be combined with --metrics\n"


@pytest.mark.parametrize("options", list(MODELS.values())[1:4:2], ids=str)
def test_measures_are_those_of_the_rows_with_labels(options, predicted):
    """Rows without labels between them change no figure, and their number is said."""
    lines = text([1, -1, 1, -1, 1, 1]).splitlines(keepends=True)
    mixed = "".join(line + text(["nan"] * (k % 3)) for k, line in enumerate(lines))
    for words in ((), ("--metrics",)):
        _, _, wanted, about = predicted(options, "".join(lines), *words)
        _, _, out, err = predicted(options, mixed, *words)
        assert out == wanted
        assert err == "WARNING: 6 of 12 rows have no label and are not counted\n" + about


@pytest.mark.parametrize(("options", "words"), [((), ("--metrics",)), (("-t", 2), ()), (("-s", 21), ("--scores", "s"))])
def test_labels_that_the_model_lacks_are_said(options, words, predicted):
    """One known label among them is enough for silence."""
    says = "WARNING: no row has a label of the model (1, -1): these rows cannot be predicted right\n"
    assert predicted(options, text([3, 4, 3]), *words)[3] == says
    assert predicted(options, text([3, 4, -1]), *words)[3] == ""
    assert predicted(options, text([3, 4]), "-q", *words)[3] == ""


@pytest.mark.parametrize("options", [(), ("-s", 11), ("-t", 2), ("-v", 2), ("-s", 21, "-v", 2)], ids=str)
def test_there_is_nothing_to_train_on(options, svm_train, tmp_path):
    for rows, line in ((text(["nan"] * 6), 1), (text([1, -1, 1, "nan", -1]), 4)):
        (tmp_path / "u").write_text(rows)
        status, out, err = svm_train(*options, "u", "m")
        assert (status, out, err.count("\n")) == (1, "", 1) and not (tmp_path / "m").exists()
        assert err.startswith(f"Wrong input format at line {line}: u: token 'nan': the label is not finite: ")
        assert "nothing to train or validate on" in err


def test_scaling_keeps_rows_without_labels(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = text(["nan"] * 5 + [7, 9])
    (tmp_path / "u").write_text(rows)
    (tmp_path / "z").write_text(rows.replace("nan", "-44"))
    said = {}
    for name in "uz":
        assert scale.main(["-l", "0", name]) == 0
        said[name] = capsys.readouterr().out
    assert said["u"] == said["z"].replace("-44 ", "nan ")
    assert scale.main(["-y", "0", "1", "u"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["nan"] * 5 + ["0", "1"]
    (tmp_path / "u").write_text(text(["nan"] * 3))
    assert scale.main(["-y", "0", "1", "u"]) == 1
    assert capsys.readouterr().err == "u: the rows have no labels: leave out -y\n"


def test_python_reads_and_writes_them(tmp_path, capsys):
    X = RNG.integers(-2, 3, (8, 3)).astype(float)
    y = np.array([1, np.nan, -1, np.nan, 1, -1, 1, np.nan])
    for labels, wanted in ((y, y), (None, np.full(8, np.nan)), (y[:, None], y)):
        api.write_svmlight(X, labels, tmp_path / "u")
        found, read = api.read_svmlight(tmp_path / "u", 3)
        np.testing.assert_array_equal(read, wanted)
        np.testing.assert_array_equal(found.toarray(), X)
        np.testing.assert_array_equal(api.read_svmlight(io.BytesIO((tmp_path / "u").read_bytes()))[1], wanted)
    done = api.fit(X, np.where(y == y, y, 1), solver=2)
    assert len(api.predict(done, found)) == 8
    with pytest.raises(ValueError, match="y contains NaN"):
        api.fit(X, y)


def test_rows_of_a_frame_without_labels():
    from svmtool.distributed.frame import lines_of

    frame = [([0.5, 0.0], 1.0), ([0.0, 2.0], None)]
    assert list(lines_of(1, 0, frame, predicted=True)) == [b"1.0 1:0.5", b"nan 2:2.0"]
    assert list(lines_of(None, 0, frame, predicted=True)) == [b"nan 1:0.5", b"nan 2:2.0"]
    assert list(lines_of(1, 0, frame)) == [b"1.0 1:0.5", b"null"]


def test_a_report_measures_nothing(predicted):
    predicted((), text(["nan"] * 5))
    page = report("m", "u", Names())
    assert "5 rows have no label: nothing is measured on them." in page and "accuracy" not in page
