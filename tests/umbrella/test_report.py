"""`svmtool report`: its measures against their definitions and scikit-learn's, and pages that need nothing else."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from svmtool import api
from svmtool.errors import SvmtoolError
from svmtool.formats.models import read
from svmtool.formats.names import Names
from svmtool.formats.svmlight import table
from svmtool.report.classes import Classes
from svmtool.report.pictures import histogram
from svmtool.report.report import report


def check(text: str) -> None:
    """Assert that a page is well formed and self-contained, and its pictures have titles."""
    page = ElementTree.fromstring(re.sub(r"<(meta [^>]*)>", r"<\1/>", text.replace("xlink:", "")))
    tags, names, loads = set(), [], []
    for element in page.iter():
        tags.add(element.tag)
        assert element.tag != "svg" or element[0].tag == "title"
        names += [v for name, v in element.items() if name == "id"]
        loads += [v for name, v in element.items() if name in ("src", "href", "srcset", "data")]
    places = {f"#{name}" for name in names}
    assert len(names) == len(places)
    assert all(load in places or load.startswith("data:image/png;base64,") for load in loads)
    assert all(place in places for place in re.findall(r"=\"url\((.*?)\)", text))
    assert not tags & {"script", "link", "metadata"}
    assert "http" not in text and "@import" not in text
    assert not re.search(r"\bnan\b|\binf\b", re.sub(r"<title>.*?</title>|base64,[^\"]*", "", text))


@pytest.fixture
def made(svm_train):
    """Train on a file with these options and write the page of a test file."""

    def run(data, *options, test=None, names=Names()) -> str:  # noqa: B008
        assert svm_train("-q", *options, data, "m")[0] == 0
        return report("m", str(test or data), names)

    return run


@pytest.mark.parametrize("options", [["-s", "0"], ["-t", "2", "-g", "0.001"]], ids=" ".join)
def test_counts_are_those_of_the_predictions(svm_train, data, options):
    metrics = pytest.importorskip("sklearn.metrics")
    assert svm_train("-q", *options, data / "digits", "m")[0] == 0
    model, rows = read("m"), table.read(str(data / "digits.t"))
    found = Classes(model, rows, Names())
    predicted = model.predict(rows)
    np.testing.assert_array_equal(found.matrix, metrics.confusion_matrix(rows.labels, predicted, labels=found.labels))
    assert found.right == np.sum(predicted == rows.labels)
    assert found.counts.balanced_accuracy() == pytest.approx(metrics.balanced_accuracy_score(rows.labels, predicted))
    expected = metrics.precision_recall_fscore_support(rows.labels, predicted, labels=found.labels, zero_division=0)
    np.testing.assert_allclose([row[1:4] for row in found.counts.rows()], np.transpose(expected[:3]))
    areas = [curve.area for curve in found.curves]
    assert found.ranked() == sorted(range(len(areas)), key=areas.__getitem__)
    if found.probabilities is not None:
        order = np.argsort(model.labels)
        loss = metrics.log_loss(rows.labels, found.probabilities[:, order], labels=sorted(model.labels))
        assert found.log_loss == pytest.approx(loss)


def test_page_of_two_classes(made, data):
    """Names are text: a formula, letters that the font lacks, and what looks like markup."""
    odd = "$\\frac$ 年 fill: #000000", 'id="a" <b> url(#b) <svg'
    names = Names(odd * 15, {1: "bad <script>", -1: "<i>good"})
    text = made(data / "breast_cancer", "-s", 2, "-b", 1, "--gap", "1e-3", test=data / "breast_cancer.t", names=names)
    check(text)
    for part in ("Calibration", "Confusion", "Largest weights", "bad &lt;script&gt;", "Certificate: ", "log loss"):
        assert part in text
    for name in (odd[0], 'id="a" &lt;b&gt; url(#b) &lt;svg'):
        assert text.count(f">{name}</text>") > 5
    assert "<i>" not in text and "<script" not in text
    model, rows = read("m"), table.read(str(data / "breast_cancer.t"))
    assert f"{100 * np.mean(model.predict(rows) == rows.labels):.2f} %" in text
    certain = api.certified_mask(model, api.read_svmlight(data / "breast_cancer.t")[0]).sum()
    assert f"The exact optimum predicts the same label for {certain} of the 169 rows for sure (" in text


def test_page_of_many_classes(made, tmp_path):
    api.write_svmlight(np.random.default_rng(0).normal(size=(310, 8)), np.arange(310) % 31, "many")
    text = made("many", "-s", 2, "-b", 1)
    check(text)
    assert "All 31 classes" in text and "the other 29 classes" in text
    assert len(text) < 2_000_000


@pytest.mark.parametrize(
    ("options", "parts"),
    [("-t 2 -g 0.001", ["Support vectors of each class"]), ("-s 21 -n 0.3", ["inside", "outside"]),
     ("-s 43", ["mean absolute error in ranks"])],
)  # fmt: skip
def test_pages_of_other_models(made, data, options, parts):
    text = made(data / "breast_cancer", *options.split())
    check(text)
    assert all(part in text for part in parts) and "Calibration" not in text
    assert ("for sure" in text) == ("-t" in options)


def test_page_of_a_regression(made, data):
    metrics = pytest.importorskip("sklearn.metrics")
    text = made(data / "diabetes", "-s", 3, "-t", 2, "-c", 100)
    check(text)
    rows = table.read(str(data / "diabetes"))
    predicted = read("m").predict(rows)
    assert f"{metrics.mean_squared_error(rows.labels, predicted):.6g}" in text
    assert f"{metrics.r2_score(rows.labels, predicted):.4f}" in text
    assert "Residuals" in text


@pytest.mark.parametrize(
    ("rows", "options", "parts"),
    [("1 1:1\n7 1:-1\n7 1:3\n", "-s 2", ["2 rows have a label that the model lacks", "1 classes of the model have no"]),
     ("1 1:1\n1 1:2\n", "-s 11", []), ("2 \n", "-s 21 -n 0.5", [])],
)  # fmt: skip
def test_tiny_test_sets(made, tmp_path, rows, options, parts):
    (tmp_path / "d").write_text("1 1:1\n2 1:-1\n")
    (tmp_path / "t").write_text(rows)
    text = made("d", *options.split(), test="t")
    check(text)
    assert all(part in text for part in parts)


def test_errors(svm_train, tmp_path, command):
    assert svm_train("-q", "-s", 2, "d", "m", data="1 1:1\n2 1:-1\n")[0] == 0
    (tmp_path / "empty").write_text("")
    with pytest.raises(SvmtoolError, match="empty holds no rows"):
        report("m", "empty", Names())
    for argv, sentence in [
        (["m", "d", "-o", "d"], "would overwrite the test data d"),
        (["m", "absent"], "can't open input file absent"),
        (["d", "d"], "d"),
    ]:
        done = command("report", *argv)
        assert done.returncode == 1 and sentence in done.stderr.decode() and b"Traceback" not in done.stderr
        assert not (tmp_path / "report.html").exists()
    assert command("report", "m", "d").returncode == 0
    check((tmp_path / "report.html").read_text())


def test_residuals_that_differ_by_rounding_alone_have_a_histogram():
    truth = np.full(30, 1e9)
    for predicted in (truth, truth + 3.0 + np.arange(30) % 2 * np.spacing(1e9), truth * 1e280):
        counts, edges = histogram(predicted - truth)
        assert counts.sum() == 30 and np.all(np.diff(edges) > 0)


def test_values_near_the_largest_number_have_a_page(tmp_path, command):
    (tmp_path / "d").write_text("1e308 1:1\n-1e308 1:-1\n")
    (tmp_path / "m").write_text("solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias -1\nw\n1e308 \n")
    assert command("report", "m", "d").returncode == 0
    assert command("inspect", "m", "--plot", "w.svg").returncode == 0
    assert ">1e+308</text>" in (tmp_path / "w.svg").read_text()


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_a_package_the_extra_is_named(missing, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else name)
    with pytest.raises(SvmtoolError, match=r"needs jinja2 and matplotlib: pip install 'svmtool\[report\]'"):
        report("m", "d", Names())
