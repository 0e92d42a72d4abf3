"""The command svm-train --spark: its errors, and runs on Spark compared with runs in memory."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import without_spark
from spark_blocks import every_number, numbers_text

from svmtool import registry
from svmtool.distributed import train
from svmtool.distributed.reading import Text
from svmtool.distributed.session import error_text
from svmtool.formats.models import linear


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("-s", 71), "does not support --spark: -s 70 solves the same problem and supports it"),
        (("-s", 4), "does not support --spark: use -s 0, 1, 2, 3, 5, 6, 7, 11, 12, 13, 21, 30, 31, 40, 41, 42, 50, "),
        (("-s", 70, "--method", "fast", "--loo"), "cannot be combined with --loo"),
        (("--memory", "1G"), "cannot be combined with --memory"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(argv, words, svm_train):
    status, out, err = svm_train("--spark", "local[2]", *argv, "d", data="1 1:1\n-1 1:2\n")
    assert status == 1 and words in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("master", "words"), [("nonsense", "not a master URL"), ("spark://127.0.0.1:1", "no master answers (127.0.0.1:1: ")]
)
def test_invalid_masters_are_refused(master, words, svm_train):
    status, out, err = svm_train("-s", 2, "--spark", master, "d", data="1 1:1\n-1 1:2\n")
    assert status == 1 and words in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("ModuleNotFoundError: No module named 'svmtool'", "Python has no svmtool: install"),
        ("ModuleNotFoundError: No module named 'numpy._core.x'", "started: No module named 'numpy._core.x'"),
        ("java.io.IOException: No space left on device", "--spark: Spark's scratch disk is full"),
    ],
)
def test_missing_module_on_an_executor_is_reported(python, words):
    text = (
        f'Job aborted due to stage failure:\n  File "worker.py", line 1\n{python}\n\n\tat org.apache.spark.X(X.java)\n'
    )
    assert words in error_text(RuntimeError(text), "ERROR: --spark")


def test_pyspark_or_java_may_be_absent(svm_train, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setattr(shutil, "which", lambda name: "java")
    status, out, err = svm_train("-s", 2, "--spark", "local[2]", "d", data="1 1:1\n")
    assert (status, err) == (1, "ERROR: --spark needs pyspark: pip install 'svmtool[spark]'\n")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    status, out, err = svm_train("-s", 2, "--spark", "local[2]", "d", data="1 1:1\n")
    assert status == 1 and "no java on the PATH" in err


# With Spark


on_spark = pytest.mark.skipif(bool(without_spark()), reason=without_spark() or "runs")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def session():
    from svmtool.distributed.session import Session

    with Session("local[2]", settings={"spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "1"}) as running:
        yield running


@pytest.fixture
def spark_train(session, svm_train, monkeypatch):
    """`svm_train` with --spark in the session of this file; status, stdout, stderr."""
    monkeypatch.setattr(train, "Session", lambda *_: contextlib.nullcontext(session))
    return lambda *argv, **more: svm_train("--spark", "local[2]", *argv, **more)


@on_spark
@every_number
def test_the_command_gives_the_model_of_memory(number, spark_train, svm_train, data):
    path = data / ("diabetes" if registry.find(number).kind == "regression" else "digits")
    engine = ("--method", "fast") if number >= 30 else ()
    asked = ("-s", number, *engine, "--gap", "1e-6", "-c", "0.01")
    status, out, err = spark_train(*asked, path, "far.model")
    assert (status, err) == (0, "WARNING: -s 21 (one-class, linear) ignores -c\n" if number == 21 else "")
    assert "Certified relative gap" in out and "Spark: 2 partitions" in out
    assert svm_train(*asked, path, "near.model")[0] == 0
    far_model, near = (linear.read(f"{name}.model") for name in ("far", "near"))
    assert far_model.labels == near.labels and far_model.word == near.word
    P = float(out.split("(primal ")[1].split(",")[0])
    far_off = np.sqrt(2.0 * 1e-6 * P) if number == 13 else 0.0  # 1/2 |w - w*|^2 <= P - D, of weights near zero
    apart = max(3e-3 * np.abs(near.W).max(), far_off)
    np.testing.assert_allclose(far_model.W, near.W, atol=apart)


@on_spark
@pytest.mark.parametrize(
    "argv",
    [("-s", 3, "-v", 3, "--stratified"), ("-s", 11, "-v", 4), ("-s", 2, "-C"), ("-s", 11, "-C", "-p", 0.1)],
)  # fmt: skip
def test_folds_are_those_of_memory(argv, spark_train, svm_train, data):
    path = data / ("diabetes" if 11 in argv else "breast_cancer")
    gap = ("--gap", "1e-7")
    there, here = spark_train(*argv, *gap, path), svm_train(*argv, *gap, path)
    assert there[0] == here[0] == 0 and there[2] == here[2]
    lines = there[1].splitlines()
    assert lines.pop().startswith("Spark: 2 partitions")
    for a, b in zip(lines, here[1].splitlines(), strict=True):
        numbers = [[float(x) for x in re.findall(r"-?[0-9][0-9.]*(?:e-?[0-9]+)?", line)] for line in (a, b)]
        np.testing.assert_allclose(*numbers, rtol=1e-3)


@on_spark
def test_folders_globs_and_compressed_files(spark_train, tmp_path):
    import bz2
    import gzip

    lines = numbers_text(3).splitlines(keepends=True)
    (tmp_path / "all").write_text("".join(lines))
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(lines[:40]))
    (folder / "b.txt.gz").write_bytes(gzip.compress("".join(lines[40:90]).encode()))
    (folder / "c.txt.bz2").write_bytes(bz2.compress("".join(lines[90:]).encode()))
    values = []
    for path in (tmp_path / "all", folder, f"{folder}/*.txt*", f"file:{folder}", f"{folder}/a.txt,{folder}/[bc]*"):
        status, out, err = spark_train("-s", 40, "--method", "fast", "--gap", "1e-9", path, "m")
        assert (status, err) == (0, ""), err
        values.append(float(out.split("primal ")[1].split(",")[0]))
    np.testing.assert_allclose(values, values[0], rtol=1e-8)


@on_spark
@pytest.mark.parametrize("at", [1, 149])
def test_the_first_bad_line_is_named(at, spark_train, tmp_path):
    lines = numbers_text(2).splitlines()
    lines[-1] = "2 1:2 3:y"
    lines[at - 1] = "1 1:1 3:x 4:2"
    (tmp_path / "d").write_text("\n".join(lines) + "\n")
    (tmp_path / "m").write_text("old")
    status, out, err = spark_train("-s", 2, tmp_path / "d", "m")
    words = f"Wrong input format at line {at}: {tmp_path}/d: token '3:x': the value is not a number\n"
    assert (status, out, err) == (1, "", words)
    assert (tmp_path / "m").read_text() == "old"


@on_spark
def test_invalid_paths_are_refused(spark_train, tmp_path):
    for path in ("/nowhere/at/all", "/nowhere/*.txt", "nofs://a/b", "-", "d.xz"):
        status, out, err = spark_train("-s", 2, path, "m")
        assert status == 1 and err.count("\n") == 1 and err.startswith("can't open input file"), err
        assert not (tmp_path / "m").exists()


NAMES = (
    "a,b.txt", ",", "sp ace", " at ends ", "ha#sh", "per%20cent", "ünï-日本", "br[1]", "br[1", "cu{1,2}", "cu{1",
    "st*r", "qu?st", "back\\slash", "${user.home}", "p|q", "quo'te\"",
)  # fmt: skip


@on_spark
def test_existing_names_are_used_unchanged(session, tmp_path):
    """Names that are patterns too, in one folder."""
    for name in NAMES:
        (tmp_path / name).write_text(f"file {name}")
        (tmp_path / f"f{name}").mkdir()
        (tmp_path / f"f{name}" / name).write_text(f"in folder {name}")
    for name in NAMES:
        for path, where in (
            (tmp_path / name, "file"),
            (f"file://{tmp_path}/{name}", "file"),
            (tmp_path / f"f{name}", "in folder"),
        ):
            assert Text(session, str(path)).splits.collect() == [f"{where} {name}".encode()]
    for path in (f"{tmp_path}/ha#sh,{tmp_path}/br[1]", f"{tmp_path}/{{ha#sh,br?1]}}"):
        assert sorted(Text(session, path).splits.collect()) == [b"file br[1]", b"file ha#sh"]


@on_spark
def test_limits_and_ctrl_c_keep_the_best_model(spark_train, session, data, monkeypatch):
    ours = ("-q", "-s", 31, "--method", "fast")
    status, out, err = spark_train(*ours, "--max-iter", 2, "--strict", data / "digits", "m")
    assert status == 2 and "raise --max-iter" in err
    seen = []

    def interrupt(**record):
        seen.append(record)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(train, "recording", lambda *_: contextlib.nullcontext(SimpleNamespace(record=interrupt)))
    status, out, err = spark_train(*ours, "--gap", "1e-9", data / "digits", "m")
    assert status == 130 and "m holds the best model so far" in err
    assert np.all(np.isfinite(linear.read("m").W))
