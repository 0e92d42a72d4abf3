"""`svmtool inspect`: facts, certificate, largest weights by name, and the plot."""

from __future__ import annotations

import re
import xml.dom.minidom
from pathlib import Path

import numpy as np
import pytest

from svmtool import api
from svmtool.cli import entry
from svmtool.cli.umbrella import group
from svmtool.formats import names as names_file
from svmtool.formats.models import read
from svmtool.inspection.weights import columns, largest
from svmtool.models.linear import RADIUS_NOTE


@pytest.fixture
def inspect(tmp_path, monkeypatch, capsys):
    """Run `svmtool inspect` in this process in the temporary folder; its output, or the error's sentence."""
    monkeypatch.chdir(tmp_path)

    def run(*argv) -> str:
        entry.guarded(lambda: group.main(["inspect", *map(str, argv)]))
        return "".join(capsys.readouterr())

    return run


def trained(svm_train, *options, data):
    assert svm_train("-q", *options, data, "m")[0] == 0


def fields(text: str) -> dict[str, str]:
    return dict(re.findall(r"^  ([a-z]+(?: [a-z]+)?)  +(\S.*)$", text, re.MULTILINE))


def test_linear_model(inspect, svm_train, data):
    trained(svm_train, "-s", 5, "-c", 0.01, "-B", 1, data=data / "digits")
    text = inspect("m", "--top", 4)
    found = fields(text)
    model = read("m")
    assert found["model"].startswith("linear classifier")
    assert found["solver"].startswith("-s 5 ")
    assert found["classes"].startswith("10: ")
    assert found["features"] == "64"
    zeros = np.count_nonzero(model.W[:64] == 0)
    assert found["weights"].startswith(f"640, of which {zeros} ")
    certificate = next(note for note in model.notes if "Certified" in note)
    assert found["certificate"] == "relative gap " + certificate.partition(" = ")[2]
    for column in columns(model, names_file.Names()):
        block = text.split(f"positive for {column.meaning}\n")[1].split("\n\n")[0].splitlines()
        shown = [(float(line.split()[0]), line.split()[1:]) for line in block]
        best = np.sort(np.abs(column.w))[::-1][:4]
        np.testing.assert_allclose([abs(w) for w, _ in shown], best, rtol=1e-5)
        for w, (_, index) in shown:
            assert column.w[int(index) - 1] == pytest.approx(w, rel=1e-5)


@pytest.mark.parametrize("options", [("-s", "2", "-B", "1"), ("-s", "11")])
def test_signs_that_are_certain(inspect, svm_train, data, options):
    """Those of weights farther from 0 than the radius, which are the signs at a much smaller gap."""
    trained(svm_train, *options, "--gap", "1e-11", data=data / "digits")
    best = read("m").W[:64]
    trained(svm_train, *options, "--gap", "1e-3", data=data / "digits")
    model = read("m")
    radii = next(note for note in model.notes if note.startswith(RADIUS_NOTE)).removeprefix(RADIUS_NOTE)
    W = model.W[: model.n_features]
    certain = np.abs(W) > np.array(radii.split(), float)
    assert np.all(np.sign(W)[certain] == np.sign(best)[certain])
    text = inspect("m", "--top", "1000", *(() if "11" in options else ("--class", "3")))
    assert f"{np.count_nonzero(certain)} of {W.size} weights have the sign of the optimum's for sure" in text
    column = model.labels.index(3) if model.labels else 0
    few = np.count_nonzero(~certain[:, column] & (W[:, column] != 0.0))
    assert text.count("(sign not certain)") == few


def test_names_and_one_class(inspect, svm_train, data):
    trained(svm_train, "-s", 2, data=data / "breast_cancer")
    features = [f"mean of {k}" for k in range(30)]
    names_file.write("m.names", names_file.Names(tuple(features), {1: "malignant", -1: "benign"}))
    text = inspect("m", "--top", 2)
    assert "2: 1 malignant, -1 benign" in text and "positive for malignant (negative: benign)" in text
    j = largest(read("m").W[:, 0], 1)[0]
    assert text.rstrip().splitlines()[-2].endswith(f"  {features[j]}")
    Path("plain").write_text("\n".join(features))
    assert features[j] in inspect("m", "--names", "plain")
    assert "has no weights of a class 7" in inspect("m", "--class", 7)
    assert "positive for malignant" in inspect("m", "--class", "malignant")


def test_names_of_the_training_data(inspect, svm_train, data):
    """NAME.model takes NAME.names if svmtool convert wrote it; files of that name from other programs are ignored."""
    assert svm_train("-q", "-s", 2, data / "breast_cancer", "cancer.model")[0] == 0
    features = tuple(f"mean of {k}" for k in range(30))
    Path("cancer.names").write_text("1. Title of Database: Breast Cancer\n2. Sources:\n")
    assert "No names of features" in inspect("cancer.model") and "Title" not in inspect("cancer.model")
    names_file.write("cancer.names", names_file.Names(features, {1: "malignant", -1: "benign"}))
    text = inspect("cancer.model", "--top", 30)
    assert "positive for malignant" in text and all(name in text for name in features)
    names_file.write("cancer.model.names", names_file.Names(features, {1: "ill", -1: "healthy"}))
    assert "positive for ill" in inspect("cancer.model")


def test_kernel_models(inspect, svm_train, data):
    trained(svm_train, "-t", 2, "-b", 1, data=data / "breast_cancer")
    found, model = fields(inspect("m")), read("m")
    assert found["model"] == "rbf kernel classifier (c_svc)"
    assert found["support vectors"] == f"{model.total_sv}: {model.nr_sv[0]} of 1, {model.nr_sv[1]} of -1"
    assert found["probabilities"] == "by 1 sigmoid (-b 1)"
    assert "no weights to draw" in inspect("m", "--plot", "w.svg")


def test_an_estimate_is_called_that(inspect, svm_train, data, tmp_path):
    """The certificate of many rows rests on a sample."""
    trained(svm_train, "-t", 2, data=data / "breast_cancer")
    text = (tmp_path / "m").read_text()
    line = next(line for line in text.splitlines() if line.startswith("# Certified"))
    (tmp_path / "m").write_text(text.replace(line, line.replace("Certified", "Estimated")))
    assert fields(inspect("m"))["certificate"] == "estimated relative gap " + line.partition(" = ")[2]


def test_adaptable_state_and_ranks(inspect, svm_train, data):
    trained(svm_train, "-s", 71, data=data / "breast_cancer")
    assert "400 rows (" in fields(inspect("m"))["state"]
    trained(svm_train, "-s", 43, data=data / "breast_cancer")
    assert "positive for a higher rank" in inspect("m")


def test_models_of_the_originals_have_no_notes(inspect, tmp_path):
    (tmp_path / "m").write_text("solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.8 \n0 \n")
    found = fields(inspect("m"))
    assert found["certificate"].startswith("none")
    assert found["weights"].startswith("2, of which 1 (50 %) are zero; 1 features")
    assert found["probabilities"].startswith("by the logistic function")


def test_plot_has_the_names(inspect, svm_train, data, tmp_path):
    trained(svm_train, "-s", 2, data=data / "breast_cancer")
    (tmp_path / "n").write_text("a <b> & $c\n" * 30)
    for name in ("w.svg", "again.svg"):
        inspect("m", "--names", "n", "--top", 5, "--plot", name)
    content = (tmp_path / "w.svg").read_bytes()
    assert (tmp_path / "again.svg").read_bytes() == content
    texts = xml.dom.minidom.parseString(content).getElementsByTagName("text")
    words = ["".join(node.data for node in text.childNodes if node.nodeType == 3) for text in texts]
    assert words.count("a <b> & $c") == 5


def test_rows(inspect, tmp_path):
    for text, expected in (
        ("# c\n\n1 qid:3 0:1 4:3\n-1 qid:3 2:1\n1 qid:5 1:1\n", {
            "rows": "3", "features": "4", "values": "4, 33.3 % of all", "labels": "2: 2 of 1, 1 of -1",
            "queries": "2, of 1 to 2 rows each: -v N --groups keeps each in one fold",
        }),
        ("nan qid:1 1:1\n2.5 1:1\n-1 2:1\n", {
            "labels": "numbers from -1 to 2.5; 1 rows without", "queries": "1, of 1 to 1 rows each; 2 rows without",
        }),
        ("nan 1:1\n", {"labels": "none; 1 rows without", "queries": "none"}),
        ("1,2 1:1\n 2:1\n2 1:2\n", {"labels": "2: 2 of 2, 1 of 1; 1 a row", "values": "3, 50 % of all"}),
        ("0\n" * 2 + "".join(f"{k}\n" for k in range(14)), {
            "labels": "14: 3 of 0, " + ", ".join(f"1 of {k}" for k in range(1, 12)) + " and 2 more",
        }),
    ):  # fmt: skip
        (tmp_path / "d").write_text(text)
        found = dict(line.strip().split(None, 1) for line in inspect("d").splitlines()[1:])
        assert {name: found[name] for name in expected} == expected, text
    assert "--class, --plot and --names need a model" in inspect("d", "--class", 1)
    (tmp_path / "d").write_text("1 1:1\n1,x 1:1\n")
    assert "Wrong input format at line 2: d: token '1,x'" in inspect("d")


def test_weights_of_a_linear_kernel_give_its_decision_values(svm_train, data, tmp_path):
    trained(svm_train, "-t", 0, "-c", 0.01, data=data / "digits")
    model = read("m")
    X, _ = api.read_svmlight(data / "digits.t")
    every = columns(model, names_file.Names())
    assert len(every) == 45
    W = np.column_stack([c.w for c in every])
    np.testing.assert_allclose(X[:, : len(W)] @ W - model.rho, api.decision_values(model, X), rtol=1e-8, atol=1e-8)
