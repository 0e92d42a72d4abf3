"""`svmtool report`: its measures against their definitions and scikit-learn's, and pages that need nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmtool import api
from svmtool.errors import SvmtoolError
from svmtool.formats.models import read
from svmtool.formats.names import Names
from svmtool.formats.svmlight import table
from svmtool.report import regression
from svmtool.report.classes import Classes, ranked
from svmtool.report.curves import Curve, calibration, precision_recall, roc, thinned
from svmtool.report.report import report

VOID = {"meta"}


class Balance(HTMLParser):
    """Collects tags that are not closed in order, and what a page would load."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [v for name, v in attrs if name in ("src", "href", "srcset", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [v for name, v in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def check(text: str) -> Balance:
    """Assert that a page is well formed and self-contained."""
    found = Balance(text)
    assert not found.wrong and not found.open and not found.loads
    assert "script" not in found.tags and "link" not in found.tags
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "url(" not in text and "@import" not in text
    assert not re.search(r"\bnan\b|\binf\b", re.sub(r"<title>.*?</title>", "", text))
    return found


@pytest.fixture
def made(svm_train):
    """Train on a file with these options and write the page of a test file."""

    def run(data, *options, test=None, names=Names()) -> str:  # noqa: B008
        assert svm_train("-q", *options, data, "m")[0] == 0
        return report("m", str(test or data), names)

    return run


scored = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0]), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=100, deadline=None)
@given(scored)
def test_areas_follow_their_definitions(rows):
    scores, positive = np.array([s for s, _ in rows]), np.array([p for _, p in rows])
    found = roc(scores, positive)
    above = scores[positive][:, None] - scores[~positive][None, :]
    if above.size:
        assert found.area == pytest.approx(np.mean((above > 0) + 0.5 * (above == 0)))
        assert (found.x[0], found.y[0], found.x[-1], found.y[-1]) == (0, 0, 1, 1)
    else:
        assert found is None
    curve = precision_recall(scores, positive)
    if not positive.any():
        assert curve is None
        return
    steps = []
    for threshold in sorted(set(scores), reverse=True):
        chosen = scores >= threshold
        steps.append((np.sum(positive & chosen) / positive.sum(), np.mean(positive[chosen])))
    before = [0.0] + [r for r, _ in steps[:-1]]
    assert curve.area == pytest.approx(sum((r - b) * p for (r, p), b in zip(steps, before, strict=True)))


def test_areas_are_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    scores, positive = np.round(rng.normal(size=500), 1), rng.random(500) < 0.3
    assert roc(scores, positive).area == pytest.approx(metrics.roc_auc_score(positive, scores))
    assert precision_recall(scores, positive).area == pytest.approx(metrics.average_precision_score(positive, scores))


def test_calibration_bins():
    p, came_true = np.array([0.0, 0.05, 0.1, 0.95, 1.0]), np.array([0, 1, 1, 1, 1])
    bins = calibration(p, came_true)
    assert [(b.low, b.rows) for b in bins] == [(0.0, 2), (0.1, 1), (0.9, 2)]
    assert bins[0].predicted == pytest.approx(0.025) and bins[0].observed == 0.5


def test_thinned_curves_keep_their_ends_and_are_subsets():
    x = np.sort(np.random.default_rng(1).random(5000))
    a, b = thinned(Curve(x, x**2, 0.0), 50)
    assert len(a) <= 52 and a[0] == x[0] and a[-1] == x[-1]
    assert np.isin(a, x).all() and np.array_equal(b, a**2)


def test_worst_and_median_class():
    curves = [Curve(np.zeros(1), np.zeros(1), area) for area in (0.9, 0.5, 0.7)]
    assert ranked([*curves, None]) == (1, 2)
    assert ranked([None]) is None


@pytest.mark.parametrize("options", [["-s", "2"], ["-s", "0"], ["-s", "4"], ["-t", "2", "-g", "0.001"]], ids=" ".join)
def test_counts_are_those_of_the_predictions(svm_train, data, options):
    metrics = pytest.importorskip("sklearn.metrics")
    assert svm_train("-q", *options, data / "digits", "m")[0] == 0
    model, rows = read("m"), table.read(str(data / "digits.t"))
    found = Classes(model, rows, Names())
    predicted = model.predict(rows)
    np.testing.assert_array_equal(found.counts, metrics.confusion_matrix(rows.labels, predicted, labels=found.labels))
    assert found.accuracy == np.mean(predicted == rows.labels)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(rows.labels, predicted))
    expected = metrics.precision_recall_fscore_support(rows.labels, predicted, labels=found.labels, zero_division=0)
    for ours, theirs in zip((found.precision, found.recall, found.f1), expected[:3], strict=True):
        np.testing.assert_allclose(np.nan_to_num(ours), theirs)
    if found.probabilities is not None:
        order = np.argsort(model.labels)
        loss = metrics.log_loss(rows.labels, found.probabilities[:, order], labels=sorted(model.labels))
        assert found.log_loss() == pytest.approx(loss)
    # the class with the largest score is the predicted one, except for ties
    best = np.array(found.labels)[np.argmax(found.scores, axis=1)]
    assert np.mean(best == predicted) > 0.99


def test_page_of_two_classes(made, data):
    names = Names(tuple(f"<i>{k}</i> & co" for k in range(30)), {1: "bad <script>", -1: "good"})
    text = made(data / "breast_cancer", "-s", 2, "-b", 1, test=data / "breast_cancer.t", names=names)
    check(text)
    for part in ("Calibration", "Confusion", "Largest weights", "bad &lt;script&gt;", "Certificate: ", "log loss"):
        assert part in text
    assert "<i>" not in text and "<script" not in text
    model, rows = read("m"), table.read(str(data / "breast_cancer.t"))
    assert f"{100 * np.mean(model.predict(rows) == rows.labels):.2f} %" in text


@pytest.mark.parametrize(
    ("options", "said"), [("-s 1", True), ("-s 5", False), ("-s 0 -t 2", True), ("-s 1 -t 2", False)]
)
def test_a_page_says_how_many_labels_are_certain(svm_train, data, options, said):
    assert svm_train("-q", *options.split(), "--gap", "1e-3", data / "breast_cancer", "m")[0] == 0
    page = report("m", str(data / "breast_cancer.t"), Names())
    found = re.search(r"The exact optimum predicts the same label for (\d+) of them for sure \((.*?)%\)", page)
    assert (found is not None) is said
    if found is not None:
        X, _ = api.read_svmlight(data / "breast_cancer.t")[:2]
        assert int(found[1]) == api.certified_mask(read("m"), X).sum()


def test_page_of_ten_classes(made, data):
    text = made(data / "digits", "-s", 3, "-c", 0.01, test=data / "digits.t")
    check(text)
    assert "worst: " in text and "median: " in text and "The most frequent confusions" in text
    assert "Calibration" not in text
    assert text.count("Positive for") >= 10


def test_page_of_many_classes(made, tmp_path):
    rng = np.random.default_rng(0)
    k = 60
    means = rng.normal(size=(k, 8)) * 2
    y = np.arange(k * 12) % k
    X = means[y] + rng.normal(size=(len(y), 8))
    api.write_svmlight(X, y, "many")
    text = made("many", "-s", 2, "-b", 1)
    check(text)
    assert "All 60 classes" in text and "the other 58 classes" in text
    assert len(text) < 2_000_000


def test_page_of_a_kernel_model_and_ranks(made, data):
    text = made(data / "digits", "-t", 2, "-g", 0.001, test=data / "digits.t")
    check(text)
    assert "Support vectors of each class" in text and "votes of the pairs" in text
    text = made(data / "digits", "-s", 43)
    check(text)
    assert "mean absolute error in ranks" in text


def test_page_of_a_regression(made, data):
    metrics = pytest.importorskip("sklearn.metrics")
    for options in (["-s", 11, "-B", 1], ["-s", 3, "-t", 2, "-c", 100]):
        text = made(data / "diabetes", *options)
        check(text)
        rows = table.read(str(data / "diabetes"))
        predicted = read("m").predict(rows)
        assert f"{metrics.mean_squared_error(rows.labels, predicted):.6g}" in text
        assert f"{metrics.r2_score(rows.labels, predicted):.4f}" in text
        assert "Residuals" in text


def test_page_of_a_one_class_model(made, data):
    text = made(data / "breast_cancer", "-s", 21, "-n", 0.3)
    check(text)
    assert "inside" in text and "outside" in text


def test_labels_that_the_model_lacks(made, tmp_path):
    (tmp_path / "d").write_text("1 1:1\n2 1:-1\n")
    (tmp_path / "t").write_text("1 1:1\n7 1:-1\n7 1:3\n")
    text = made("d", "-s", 2, test="t")
    check(text)
    assert "2 rows have a label that the model lacks" in text and "1 classes of the model have no rows here" in text


@pytest.mark.parametrize("rows", ["1 1:1\n", "1 1:1\n1 1:2\n", "2 \n", "3 1:1\n"])
def test_tiny_test_sets(made, tmp_path, rows):
    (tmp_path / "d").write_text("1 1:1\n2 1:-1\n")
    (tmp_path / "t").write_text(rows)
    for options in (["-s", 0], ["-s", 11], ["-t", 2], ["-s", 3, "-t", 2], ["-s", 21, "-n", 0.5]):
        check(made("d", *options, test="t"))


def test_errors(made, tmp_path, command):
    (tmp_path / "d").write_text("1 1:1\n2 1:-1\n")
    made("d", "-s", 2)
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
        with np.errstate(all="ignore"):
            svg, _ = regression._histogram(truth, predicted)
        assert sum(map(int, re.findall(r"(\d+) rows", svg))) == 30
