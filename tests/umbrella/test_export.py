"""`svmtool export`: C source that is compiled and run, ONNX graphs and JSON that predict as svm-predict does."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from svmtool import api
from svmtool.errors import ModelError, SvmtoolError
from svmtool.exports.c_source import c_source
from svmtool.exports.json_text import json_text
from svmtool.exports.onnx_graph import _floats, onnx_bytes, single_precision_error
from svmtool.formats.models import read
from svmtool.formats.names import Names
from svmtool.formats.svmlight import table
from svmtool.models.linear import LinearModel

CLASSIFIERS = [
    ["-s", "3", "-B", "1"], ["-t", "1", "-d", "2", "-r", "1"], ["-t", "2"], ["-t", "3", "-g", "0.0003", "-c", "100"],
]  # fmt: skip
ARRAYS = re.compile(r"static const double (\w+)\[\] = \{([^}]*)\}")
OTHERS = [["-s", "13", "-B", "1"], ["-s", "21"], ["-s", "3", "-t", "2"], ["-s", "2", "-t", "2"], ["-s", "43"]]


class Compiled:
    """The functions of an exported source, compiled to a shared library."""

    def __init__(self, model, folder, prefix="svm"):
        source, self.path = folder / "m.c", folder / "m.so"
        source.write_text("".join(c_source(model, "a */ comment\nof two lines", prefix)))
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no C compiler")
        flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(self.path), "-lm"], check=True, timeout=300)
        library = ctypes.CDLL(str(self.path))
        self.library, self.prefix = library, prefix
        for name in ("predict", "predict_sparse"):
            getattr(library, f"{prefix}_{name}").restype = ctypes.c_double
        text = source.read_text()
        self.features = int(text.split(f"define {prefix.upper()}_FEATURES ")[1].split()[0])
        self.values = int(text.split(f"define {prefix.upper()}_VALUES ")[1].split("\n")[0])

    def predict(self, X):
        """Labels from dense and from sparse rows, and decision values from both."""
        pointer, integers = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int)
        names = "predict", "predict_sparse", "decision_values", "decision_values_sparse"
        found: dict[str, list] = {name: [] for name in names}
        wide = np.zeros((X.shape[0], max(self.features, X.shape[1], 1)))
        wide[:, : X.shape[1]] = X.toarray()
        for i, row in enumerate(wide):
            here = slice(X.indptr[i], X.indptr[i + 1])
            index, value = (X.indices[here] + 1).astype(np.int32), np.ascontiguousarray(X.data[here])
            pairs = len(index), index.ctypes.data_as(integers), value.ctypes.data_as(pointer)
            for name, answers in found.items():
                call = getattr(self.library, f"{self.prefix}_{name}")
                arguments = pairs if name.endswith("sparse") else (row.ctypes.data_as(pointer),)
                if name.startswith("predict"):
                    answers.append(call(*arguments))
                else:
                    answers.append(np.empty(self.values))
                    call(*arguments, answers[-1].ctypes.data_as(pointer))
        return [np.array(answers) for answers in found.values()]


def trained(svm_train, options, data):
    assert svm_train("-q", *options, data, "m")[0] == 0
    return read("m")


@pytest.fixture
def file_of(data, tmp_path):
    """The rows for a model of these options: some of digits, and a regression's."""
    some = (data / "digits").read_bytes().splitlines(keepends=True)[::8]
    (tmp_path / "several").write_bytes(b"".join(some))
    return lambda options: tmp_path / "several" if options in CLASSIFIERS or "43" in options else data / "diabetes"


@pytest.mark.parametrize("options", CLASSIFIERS + OTHERS, ids=" ".join)
def test_c_gives_the_labels_of_svm_predict(svm_train, file_of, tmp_path, options):
    model = trained(svm_train, options, file_of(options))
    X, _ = api.read_svmlight(file_of(options))
    dense, sparse, values, values_sparse = Compiled(model, tmp_path, "my_model2").predict(X)
    np.testing.assert_allclose([dense, sparse], [api.predict(model, X)] * 2, rtol=1e-9)
    if options in CLASSIFIERS:
        expected = api.decision_values(model, X)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(values_sparse, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [["-s", "2"], ["-t", "2", "-g", "0.5"]], ids=" ".join)
def test_c_with_features_that_the_model_lacks(svm_train, tmp_path, options):
    """A linear model ignores them; RBF counts them."""
    assert svm_train("-q", *options, "d", "m", data="1 1:1 3:2\n-1 1:-1 2:1\n1 2:2\n")[0] == 0
    (tmp_path / "t").write_text("1 2:0.5 3:1 9:5\n-1 1:-3 7:2\n1 4:1\n")
    X, _ = api.read_svmlight("t")
    _, sparse, _, values = Compiled(read("m"), tmp_path).predict(X)
    np.testing.assert_array_equal(sparse, api.predict(read("m"), X))
    np.testing.assert_allclose(values, api.decision_values(read("m"), X), rtol=1e-12)


DIGITS = "1 1:448238.5471 2:1e-300 3:0.1\n-1 1:448211.2049 2:-0 3:0.2999999999999999889\n1 1:1764150123.25 3:7\n"


@pytest.mark.parametrize("options", ["-s 2 -B 1", "-s 4", "-s 21", "-t 0", "-t 2"])
def test_c_and_json_have_the_same_doubles(svm_train, tmp_path, options):
    """Of data with 1 to 19 digits."""
    assert svm_train("-q", *options.split(), "d", "m", data=DIGITS)[0] == 0
    model = read("m")
    source, content = "".join(c_source(model, "")), json.loads(json_text(model, Names(("a", "b"), {1: "one"})))
    assert (content["format"], content["version"]) == ("svmtool model", 1)
    assert content["feature_names"] == ["a", "b", "feature 3"] and content["certificate"] in " ".join(model.notes)
    assert model.labels is None or (content["labels"], content["label_names"][0]) == (list(model.labels), "one")
    arrays = {name: np.array(body.split(",")[:-1], float) for name, body in ARRAYS.findall(source)}
    if content["kind"] == "linear":
        W = model.W[: model.n_features]
        np.testing.assert_array_equal(arrays["weights"], W.ravel())
        np.testing.assert_array_equal(content["weights"], W)
        return
    for name, theirs, numbers in (("values", content["support_vectors"]["values"], model.values),
                                  ("coefficients", content["coefficients"], model.coef)):  # fmt: skip
        np.testing.assert_array_equal(arrays[name], numbers.ravel())
        np.testing.assert_array_equal(theirs, numbers)
    assert set(model.values.tolist()) <= set(table.read("d").values.tolist())
    np.testing.assert_array_equal(content["rho"], model.rho)
    np.testing.assert_array_equal(np.array(content["support_vectors"]["indices"]) - 1, model.indices)
    np.testing.assert_array_equal(content["support_vectors"]["starts"], model.indptr)


def test_a_bias_beyond_the_range_is_refused(tmp_path):
    model = LinearModel("L2R_LR", (1, -1), 1, 1e200, [[1.0], [1e200]])
    with pytest.raises(ModelError, match="beyond the range of double precision"):
        list(c_source(model, ""))


def test_what_single_precision_costs(svm_train):
    """Whole numbers lose nothing but coefficients; of coordinates in metres the millimetres are lost."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-40, 40, (40, 2)), np.where(np.arange(40) % 2, 1, -1)
    errors = []
    for Z in X, X / 1000 + [448200.0, 5411900.0]:
        model = api.fit(Z, y, kernel="rbf", gamma=10.0).model
        before = api.decision_values(model, Z)
        model.values = model.values.astype(np.float32).astype(float)
        model.__dict__.pop("scores", None)
        apart = np.abs(api.decision_values(model, Z.astype(np.float32).astype(float)) - before).max()
        errors.append(single_precision_error(api.fit(Z, y, kernel="rbf", gamma=10.0).model))
        assert errors[-1] == pytest.approx(apart, rel=0.01, abs=1e-6)
    assert errors[0] < 1e-6 and errors[1] > 0.01
    with pytest.raises(ModelError, match="beyond single precision"):
        _floats(np.array([1.0, -1e39]))


def run_onnx(graph: bytes, x: np.ndarray) -> list[np.ndarray]:
    """The outputs of a graph by onnxruntime, or by the slow evaluator of onnx."""
    try:
        import onnxruntime
    except ImportError:
        onnx = pytest.importorskip("onnx", reason="the evaluator is onnx's")
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(onnx.load_from_string(graph)).run(None, {"x": x})
    return onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"]).run(None, {"x": x})


@pytest.mark.parametrize("options", CLASSIFIERS + OTHERS, ids=" ".join)
def test_onnx_predicts_the_same_within_single_precision(svm_train, file_of, options):
    pytest.importorskip("onnx", reason="export --onnx needs onnx")
    model = trained(svm_train, options, file_of(options))
    X, _ = api.read_svmlight(file_of(options))
    graph = onnx_bytes(model, "about")
    x = X.toarray().astype(np.float32)
    label = run_onnx(graph, x)[0].reshape(-1)
    expected = api.predict(model, x.astype(float))
    if model.kind == "regression":
        np.testing.assert_allclose(label, expected, rtol=1e-4, atol=1e-3 * np.ptp(expected))
        return
    decisions = api.decision_values(model, x.astype(float))
    size = np.abs(decisions).max()
    near = np.min(np.abs(decisions), axis=1) < 1e-4 * size  # signs that single precision may turn
    if decisions.shape[1] > 1 and not hasattr(model, "kernel"):
        best = np.sort(decisions, axis=1)
        near = best[:, -1] - best[:, -2] < 1e-4 * size
    assert near.mean() < 0.5
    np.testing.assert_array_equal(label[~near], expected[~near])


def test_precomputed_kernels_are_refused(svm_train):
    rows = "1 0:1 1:1 2:0\n-1 0:2 1:0 2:1\n"
    assert svm_train("-q", "-t", 4, "d", "m", data=rows)[0] == 0
    for work in (lambda m: list(c_source(m, "")), lambda m: json_text(m, Names())):
        with pytest.raises(ModelError, match="precomputed kernel"):
            work(read("m"))


def test_command_line(command, tmp_path, data):
    assert command("train", "-q", "-s", 2, data / "breast_cancer", "m").returncode == 0
    for argv, sentence in [
        (["m"], "choose one of --c, --onnx and --json"),
        (["m", "--c", "-o", "m"], "would overwrite the model"),
        (["m", "--onnx"], "name it by -o"),
        (["m", "--c", "--prefix", "a b"], "must be a name in C"),
        (["absent", "--c"], "can't open model file absent"),
    ]:
        done = command("export", *argv)
        assert done.returncode == 1 and sentence in done.stderr.decode() and done.stderr.count(b"\n") == 1
    done = command("export", "m", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["type"] == "L2R_L2LOSS_SVC"
    assert command("export", "m", "--c", "-o", "m.c").returncode == 0
    assert b"svm_predict(const double *x)" in (tmp_path / "m.c").read_bytes()


def test_onnx_without_the_package_says_so(svm_train, data, monkeypatch):
    import sys

    model = trained(svm_train, ["-s", "2"], data / "breast_cancer")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SvmtoolError, match=r"pip install 'svmtool\[onnx\]'"):
        onnx_bytes(model, "")


def test_from_python_the_advice_names_keywords(tmp_path):
    several = api.fit(np.eye(6), np.eye(6)[:, :2], solver=2)
    with pytest.raises(ModelError, match="use form='json'") as error:
        api.export(several, tmp_path / "m", "c")
    assert "--" not in str(error.value) and not list(tmp_path.iterdir())
