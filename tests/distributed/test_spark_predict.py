"""svm-predict --spark: the output of the command without it, in part files, and none after a failure."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY, without_spark

if without_spark():
    pytest.skip(without_spark(), allow_module_level=True)

import pyspark  # noqa: E402

from svmtool.cli.predict.command import main as svm_predict  # noqa: E402
from svmtool.cli.train import main as svm_train  # noqa: E402
from svmtool.distributed import session as spark_session  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of pyspark 3.5's own sockets

MODELS = {
    "classes": ("-s", "2", "digits"), "sure": ("-s", "0", "breast_cancer"),
    "novelty": ("-s", "21", "breast_cancer"), "regression": ("-s", "11", "diabetes"),
    "ranks": ("-s", "43", "diabetes"), "kernel": ("-t", "2", "-g", "0.01", "-b", "1", "digits"),
}  # fmt: skip


@pytest.fixture(scope="module")
def session():
    """One session for all tests of this file; Spark's tasks may fail twice."""
    with spark_session.Session("local[2,3]") as made:
        yield made


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with a model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    for name, (*options, data) in MODELS.items():
        assert svm_train(["-q", *options, str(REPOSITORY / "data" / data), str(folder / name)]) == 0
    return folder


@pytest.fixture
def run(session, tmp_path, monkeypatch, capsys):
    """svm-predict in a temporary folder, --spark in the session of all tests; status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)  # of Python; Java's stays, so names are given whole
    monkeypatch.setattr(spark_session, "Session", lambda *_: contextlib.nullcontext(session))

    def call(*argv) -> tuple[int, str, str]:
        status = svm_predict([str(a) for a in argv])
        return status, *capsys.readouterr()

    return call


def joined(folder: Path) -> bytes:
    """The output of `cat folder/part-*`."""
    return b"".join(part.read_bytes() for part in sorted(folder.glob("part-*")))


@pytest.mark.parametrize(
    ("name", "options"),
    [("classes", ()), ("classes", ("--metrics",)), ("sure", ("-b", "1")), ("novelty", ("--metrics",))]
    + [("regression", ("--metrics",)), ("ranks", ("--metrics",)), ("kernel", ("-b", "1"))],
    ids=lambda x: x if isinstance(x, str) else " ".join(x),
)
def test_parts_are_the_lines_of_the_command_in_memory(name, options, run, models, tmp_path):
    data = REPOSITORY / "data" / MODELS[name][-1]
    here = run(*options, "--scores", tmp_path / "s1", data, models / name, tmp_path / "o1")
    there = run("--spark", "x", *options, "--scores", tmp_path / "s2", data, models / name, tmp_path / "o2")
    assert there == here and here[0] == 0
    assert len(list((tmp_path / "o2").glob("part-*"))) > 1
    assert joined(tmp_path / "o2") == (tmp_path / "o1").read_bytes()
    assert joined(tmp_path / "s2") == (tmp_path / "s1").read_bytes()


@pytest.mark.parametrize("form", ["pattern", "packed"])
def test_files_are_scored_in_the_order_of_their_names(form, run, models, tmp_path):
    lines = (REPOSITORY / "data" / "digits").read_bytes().splitlines(keepends=True)
    folder = tmp_path / "days"
    folder.mkdir()
    for k in (7, 2, 9, 0, 4, 1, 8, 3, 6, 5):  # as they come, some systems list them
        text = b"".join(lines[120 * k : 120 * (k + 1)])
        (folder / (f"d{k}.gz" if form == "packed" else f"d{k}")).write_bytes(
            gzip.compress(text) if form == "packed" else text
        )
    (folder / "_SUCCESS").write_bytes(b"")  # hidden, as Spark has it
    asked = folder / "d*" if form == "pattern" else folder
    here = run(REPOSITORY / "data" / "digits", models / "classes", "o1")
    assert run("--spark", "x", asked, models / "classes", tmp_path / "o2") == here
    assert joined(tmp_path / "o2") == (tmp_path / "o1").read_bytes()


@pytest.mark.parametrize("line", [1, 1100])
def test_a_bad_line_is_named_and_leaves_nothing(line, run, models, tmp_path):
    lines = (REPOSITORY / "data" / "digits").read_bytes().splitlines(keepends=True)
    lines[line - 1] = b"3 1:2 7;5 8:1\n"
    folder = tmp_path / "days"
    folder.mkdir()
    (folder / "a").write_bytes(b"".join(lines[:100]).replace(b";", b":"))
    (folder / "b").write_bytes(b"".join(lines))
    status, out, err = run("--spark", "x", "--scores", tmp_path / "s", folder, models / "classes", tmp_path / "o")
    assert (status, out) == (1, "")
    reason = "token '7;5': no colon: a feature must be index:value"
    assert err == f"Wrong input format at line {line}: {folder}/b: {reason}\n"
    assert sorted(os.listdir(tmp_path)) == ["days"]


def test_a_directory_that_is_there_is_left_alone(run, models, tmp_path):
    (tmp_path / "o").mkdir()
    data = REPOSITORY / "data" / "digits"
    status, out, err = run("--spark", "x", data, models / "classes", tmp_path / "o")
    assert (status, out, err) == (1, "", f"can't open output directory {tmp_path}/o: it exists already\n")
    status, out, err = run("--spark", "x", "--scores", tmp_path / "o", data, models / "classes", tmp_path / "p")
    assert (status, out, err) == (1, "", f"can't open output directory {tmp_path}/o: it exists already\n")
    assert os.listdir(tmp_path) == ["o"] and os.listdir(tmp_path / "o") == []


@pytest.mark.parametrize("name", ["no", "no*", "", "nothing://there/d", "empty", "packed.xz"])
def test_an_input_that_is_not_there_is_one_sentence(name, run, models, tmp_path):
    (tmp_path / "empty").mkdir()
    path = name if name == "" or "//" in name else tmp_path / name
    status, out, err = run("--spark", "x", path, models / "classes", tmp_path / "o")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("can't open input file") and "Exception" not in err
    assert os.listdir(tmp_path) == ["empty"]


@contextlib.contextmanager
def daemon(kind: str, *words, folder: Path, sign: str):
    """Run a daemon of Spark; yields what its log says of its start, the group of `sign`."""
    argv = [Path(pyspark.__file__).parent / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}"]
    argv += ["--host", "127.0.0.1", "--webui-port", "0", *words]
    log = folder / f"{kind}.log"
    with open(log, "wb") as sink, subprocess.Popen(list(map(str, argv)), stdout=sink, stderr=sink) as process:
        try:
            for _ in range(600):
                if (found := re.search(sign, log.read_text())) or process.poll() is not None:
                    break
                time.sleep(0.1)
            assert found, log.read_text()
            yield found[1]
        finally:
            process.terminate()


def test_the_command_on_a_standalone_cluster(models, tmp_path):
    """A master and a worker of two cores, on loopback."""
    data = REPOSITORY / "data" / "digits"
    with daemon("master.Master", "--port", "0", folder=tmp_path, sign=r"Starting Spark master at (\S+)") as url:
        size = ("--cores", "2", "--memory", "2g", "--work-dir", tmp_path)
        with daemon("worker.Worker", *size, url, folder=tmp_path, sign="(Successfully) registered"):
            argv = [sys.executable, "-m", "svmtool", "predict", "--spark", url, data, models / "classes", "out"]
            done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert svm_predict([str(data), str(models / "classes"), str(tmp_path / "o1")]) == 0
    assert joined(tmp_path / "out") == (tmp_path / "o1").read_bytes()
    assert done.stdout.startswith("Accuracy = ")
