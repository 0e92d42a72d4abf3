"""svmtool.spark: the models, certificates and predictions of svmtool.api for rows of a data frame."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import without_spark

from svmtool import api

if without_spark():
    pytest.skip(without_spark(), allow_module_level=True)

from pyspark.ml.linalg import DenseVector, Vectors  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of pyspark 3.5's own sockets
]


@pytest.fixture(scope="module")
def spark():
    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def svm():
    return importlib.import_module("svmtool.spark")


@pytest.fixture(scope="module")
def rows():
    """1000 rows of 60 binary features, few of them 1, as a9a's; y: two classes, three classes, real values."""
    rng = np.random.default_rng(5)
    X = scipy.sparse.csr_matrix((rng.random((1000, 60)) < 0.2).astype(np.float64))
    z = X @ rng.normal(size=60) + rng.normal(size=1000)
    y = {"two": np.where(z > 0.5, 1, -1), "three": np.digitize(z, [-1.0, 1.0]) + 1, "real": z}
    weights = rng.integers(0, 3, 1000).astype(np.float64)
    return X, y, weights


@pytest.fixture(scope="module")
def frame(spark, rows):
    X, y, weights = rows
    table = []
    for i in range(X.shape[0]):
        at = slice(X.indptr[i], X.indptr[i + 1])
        vector = Vectors.sparse(60, X.indices[at].tolist(), X.data[at].tolist())
        table.append((int(y["two"][i]), int(y["three"][i]), float(y["real"][i]), float(weights[i]), vector))
    return spark.createDataFrame(table, ["two", "three", "real", "weight", "features"]).repartition(3).cache()


def near(done, other, rows, gap):
    """Both are certified minima of the same problem: each value lies within the other's certificate."""
    assert done.certificate.gap <= gap and other.certificate.gap <= gap and done.converged
    np.testing.assert_allclose(done.certificate.primal, other.certificate.primal, rtol=2.0 * gap)
    found, wanted = (api.decision_values(one, rows) for one in (done, other))
    if done.model.labels != other.model.labels:
        columns = [done.model.labels.index(label) for label in other.model.labels]
        found = found[:, columns] if found.shape[1] > 1 else -found
    np.testing.assert_allclose(found, wanted, atol=1e-3)


@pytest.mark.parametrize(("solver", "options"), [
    (1, {"C": 0.1}), (3, {"gap": 1e-7}), (2, {"bias": 1.0, "regularize_bias": False}),
    ("l2svc", {"class_weight": {-1: 3.0}}), (2, {"class_weight": "balanced"}), (50, {}),
])  # fmt: skip
def test_two_classes(svm, frame, rows, solver, options):
    X, y, _ = rows
    options = {"gap": 1e-8, **options}
    done = svm.fit(frame, solver, label="two", **options)
    engine = {"method": "fast"} if solver == 50 else {}
    near(done, api.fit(X, y["two"], solver, **options, **engine), X, options["gap"])
    assert done.alpha is None and done.support is None and done.seconds > 0.0
    assert pickle.loads(pickle.dumps(done)).certificate.dual == done.certificate.dual


def test_weights_are_a_column(svm, frame, rows):
    X, y, weights = rows
    done = svm.fit(frame, 2, label="two", sample_weight="weight", gap=1e-8)
    near(done, api.fit(X, y["two"], 2, sample_weight=weights, gap=1e-8), X, 1e-8)


@pytest.mark.parametrize("arrays", [False, True])
def test_predictions_are_those_of_the_api(svm, spark, frame, rows, arrays):
    X, y, _ = rows
    models = {
        "three": api.fit(X, y["three"], 0), "real": api.fit(X, y["real"], 11),
        "two": api.fit(X[:200], y["two"][:200], 0, kernel="rbf"),
    }  # fmt: skip
    table = [(i, [float(v) for v in X[i].toarray()[0]]) for i in range(50)]
    some = spark.createDataFrame(
        table if arrays else [(i, Vectors.dense(row)) for i, row in table], ["row", "features"]
    )
    for name, model in models.items():
        found = svm.predict(model, some).orderBy("row").collect()
        assert [row.prediction for row in found] == api.predict(model, X[:50]).tolist()
        assert hasattr(found[0], "rawPrediction") == (name != "real")
        assert hasattr(found[0], "probability") == (name == "three")
        for column, wanted in (("rawPrediction", api.decision_values), ("probability", api.probabilities)):
            if hasattr(found[0], column):
                values = [getattr(row, column) for row in found]
                assert isinstance(values[0], list if arrays else DenseVector)
                assert np.array_equal(np.array([list(v) for v in values]), wanted(model, X[:50]))


@pytest.mark.parametrize(("keywords", "words"), [
    ({"kernel": "rbf"}, "kernel does not apply"), ({"threads": 2}, "threads does not apply"),
    ({"solver": "auto"}, "solver='auto' does not apply"), ({"solver": 51}, "svmtool.spark has no solver 51"),
    ({"C": -1.0}, "C <= 0"), ({"sample_weight": "none"}, "no column none"),
    ({"label": "none", "class_weight": "balanced"}, "no column none"),
    ({"features": "weight"}, "column weight must hold vectors"), ({"class_weight": "even"}, "must be a dict"),
    ({"solver": 30, "method": "paper"}, "has method='fast' only"),
])  # fmt: skip
def test_what_does_not_apply(svm, frame, keywords, words):
    with pytest.raises(ValueError, match=words) as e:
        svm.fit(frame, **{"solver": 2, "label": "two", **keywords})
    assert "--" not in str(e.value) and "\n" not in str(e.value)


def test_bad_frames_and_models(svm, spark, frame):
    with pytest.raises(TypeError, match="Did you mean 'gap'"):
        svm.fit(frame, 2, label="two", gapp=0.1)
    with pytest.raises(ValueError, match="only one class"):
        svm.fit(frame.where("two = 1"), 2, label="two")
    assert svm.fit(frame.where("two = 1"), 2, label="two", one_class=True).model.labels == (1,)
    model = svm.fit(frame, 2, label="two")
    with pytest.raises(TypeError, match="model must be"):
        svm.predict("model", frame)
    with pytest.raises(ValueError, match="prediction exists already"):
        svm.predict(model, frame.withColumnRenamed("real", "prediction"))
    with pytest.raises(ValueError, match="must hold vectors"):
        svm.predict(model, frame, features="real")
    with pytest.raises(ValueError, match="nan"):
        svm.fit(spark.createDataFrame([(1.0, Vectors.dense([float("nan")]))] * 2, ["label", "features"]), 2)
