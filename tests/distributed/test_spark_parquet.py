"""--spark with Parquet files and data frames: the models and predictions of the same rows as text."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY, without_spark

if without_spark():
    pytest.skip(without_spark(), allow_module_level=True)

from pyspark.ml.linalg import Vectors, VectorUDT  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.types import DoubleType, StructField, StructType  # noqa: E402

from svmtool.cli.train import main as svm_train  # noqa: E402
from svmtool.distributed import session as spark_session  # noqa: E402
from svmtool.distributed.frame import Frame, source_of  # noqa: E402
from svmtool.distributed.train import trained  # noqa: E402
from svmtool.errors import SvmtoolError  # noqa: E402
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table as svmlight  # noqa: E402
from svmtool.models.linear import LinearModel  # noqa: E402
from svmtool.params import Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of pyspark 3.5's own sockets

TEXT = REPOSITORY / "data" / "breast_cancer"


@pytest.fixture(scope="module")
def spark():
    """A session as in a notebook."""
    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def session(spark):
    with spark_session.Session.over(spark.sparkContext) as made:
        yield made


def schema(features=None, label=None) -> StructType:
    return StructType([StructField("label", label or DoubleType()), StructField("features", features or VectorUDT())])


def rows_of(path: Path, dense: bool = False) -> list[tuple]:
    table, rows = svmlight.read(str(path)), []
    for i in range(len(table)):
        low, high = table.indptr[i : i + 2]
        vector = Vectors.sparse(table.n_features, table.indices[low:high].tolist(), table.values[low:high].tolist())
        rows.append((float(table.labels[i]), Vectors.dense(vector.toArray()) if dense else vector))
    return rows


def model_of(session, source, settings) -> tuple[LinearModel, float]:
    done, _, _ = trained(session, settings, source)
    return done.model, done.certificate.gap


@pytest.fixture(scope="module")
def near(tmp_path_factory) -> LinearModel:
    """The model of the text in memory."""
    path = tmp_path_factory.mktemp("near") / "m"
    assert svm_train(["-q", "-s", "2", "--gap", "1e-10", str(TEXT), str(path)]) == 0
    return linear.read(str(path))


@pytest.mark.parametrize(("parts", "dense"), [(1, False), (7, True)])
def test_parquet_files_train_the_model_of_the_text(parts, dense, spark, session, near, tmp_path):
    folder = f"{tmp_path}/rows"
    spark.createDataFrame(rows_of(TEXT, dense), schema()).repartition(parts).write.parquet(folder)
    model, gap = model_of(session, source_of(session, folder, few=True), Settings.of(solver=2, gap=1e-10))
    assert gap <= 1e-10 and set(model.labels) == set(near.labels)
    sign = 1.0 if model.labels == near.labels else -1.0
    np.testing.assert_allclose(sign * model.W, near.W, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((None, Vectors.sparse(3, [0], [1.0])), "null"),
        ((1.0, None), "null"),
        ((1.0, Vectors.dense([1.0, float("nan")])), "nan"),
    ],
)
def test_a_bad_row_is_named(row, words, spark, session):
    rows = [(1.0, Vectors.dense([1.0, 2.0])), (-1.0, Vectors.dense([2.0, 1.0]))] * 3
    frame = spark.createDataFrame([*rows, row], schema()).coalesce(2)
    with pytest.raises(SvmtoolError) as e:
        trained(session, Settings.of(solver=2), Frame(session, frame, name="rows.parquet"))
    assert "rows.parquet" in str(e.value) and words in str(e.value) and "7" in str(e.value)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(("solver", "options"), [(0, "-b"), (0, "--scores"), (11, "")])
def test_predictions_stand_beside_the_columns_of_the_input(options, solver, spark, session, tmp_path):
    from svmtool.cli.predict import spark as predict_spark
    from svmtool.cli.predict.command import main as svm_predict
    from svmtool.cli.predict.options import parse
    from svmtool.distributed.predict import score

    model = str(tmp_path / "m")
    assert svm_train(["-q", "-s", str(solver), str(TEXT), model]) == 0
    spark.createDataFrame(rows_of(TEXT), schema()).coalesce(2).write.parquet(f"{tmp_path}/in.parquet")
    flags = {"": [], "-b": ["-b", "1"], "--scores": ["--scores", "v"]}[options]
    near = [flag if flag != "v" else str(tmp_path / "v.near") for flag in flags]
    assert svm_predict(["-q", *near, str(TEXT), model, str(tmp_path / "out.near")]) == 0
    content = session.context.broadcast(Path(model).read_bytes())
    scorer = partial(predict_spark.score_part, content, parse(["-q", *flags, str(TEXT), model, "o"]))
    targets = [f"{tmp_path}/out", *([f"{tmp_path}/values"] if options == "--scores" else [])]
    score(session, f"{tmp_path}/in.parquet", targets, scorer, lambda done, n: None)
    found = spark.read.parquet(targets[0]).collect()
    lines = [line.split() for line in (tmp_path / "out.near").read_text().splitlines() if not line.startswith("labels")]
    assert sorted((row.prediction, *row.probability) for row in found) == sorted(
        tuple(map(float, line)) for line in lines
    )
    assert {"label", "features", "prediction", "probability"} == set(found[0].asDict())
    if options == "--scores":
        values = sorted(tuple(row.rawPrediction) for row in spark.read.parquet(targets[1]).collect())
        assert values == sorted(tuple(map(float, v.split())) for v in (tmp_path / "v.near").read_text().splitlines())
