"""svm-predict with kernel models compared with LIBSVM's, and its own options."""

from __future__ import annotations

import gzip
import math

import compat_cases
import numpy as np
import pytest
from kernel_models import GOOD, HEADER, KERNELS, decisions, kernel_value, random_model

from svmtool.cli.predict import kernel as predict_kernel
from svmtool.formats.models import kernel as kernel_model

# predict_usage: the text is ours (test_predict.py)
CASES = [case for case in compat_cases.cases("libsvm", "predict_") if case["name"] != "predict_usage"]
ROWS = "1 1:1 2:0.5\n-1 1:-1 2:2\n1 2:1\n"
SIGMOID = GOOD.replace("nr_sv", "probA -2\nprobB 0.1\nnr_sv")
REGRESSION = "svm_type nu_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho -0.5\nprobA 0.25\nSV\n0.5 1:1 \n"
ONE_CLASS = "svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1 \n"
GIVEN = HEADER.replace("rbf", "precomputed").replace("gamma 0.5\n", "") + "1 0:1 \n-1 0:3 \n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call predict's main() in the temporary folder with the files t (ROWS) and m (GOOD); returns the outcome."""
    (tmp_path / "t").write_text(ROWS)
    (tmp_path / "m").write_text(GOOD)

    def call(*argv: str, model: str | None = None, rows: str | None = None) -> compat_cases.Outcome:
        for name, text in (("m", model), ("t", rows)):
            if text is not None:
                (tmp_path / name).write_text(text)
        return compat_cases.run_inside({"tool": "predict", "args": argv}, tmp_path, monkeypatch)

    return call


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_predict_does_what_libsvm_did(case, tmp_path, monkeypatch):
    compat_cases.check_prediction(case, tmp_path, monkeypatch)
    compat_cases.check_prediction(case, tmp_path, monkeypatch, libsvm=True)


@pytest.mark.parametrize("kernel", KERNELS[:-1:2], ids=lambda kernel: f"{kernel.kind}-{kernel.degree}")
def test_a_file_is_scored_chunk_by_chunk(kernel, run, tmp_path, monkeypatch):
    """The same bytes from small chunks and large ones, one thread and two, plain text and compressed."""
    rng = np.random.default_rng(kernel.kind)
    model, Z = random_model(rng, kernel, "c_svc", 3, 30, 5)
    kernel_model.write(str(tmp_path / "m"), model)
    model = kernel_model.read(str(tmp_path / "m"))  # its values have eight digits
    Z = np.zeros((30, 5))
    Z[np.repeat(np.arange(30), np.diff(model.indptr)), model.indices] = model.values
    X = np.round(rng.normal(size=(700, 5)), 3)
    text = "".join(f"1 {' '.join(f'{j + 1}:{x}' for j, x in enumerate(row) if x)}\n" for row in X.tolist())
    (tmp_path / "t").write_text(text)
    (tmp_path / "t.gz").write_bytes(gzip.compress(text.encode()))
    found = set()
    for chunk, names in ((1 << 22, ("t", "t.gz")), (3000, ("t", "t.gz"))):
        monkeypatch.setattr(predict_kernel, "CHUNK_BYTES", chunk)
        monkeypatch.setattr(predict_kernel, "MIN_CHUNK_BYTES", 100)
        for name in names:
            for count in ("1", "2"):
                run("-q", "--threads", count, "--scores", f"s{chunk}{name}{count}", name, "m", "o")
                found.add((tmp_path / f"s{chunk}{name}{count}").read_bytes())
        if kernel.kind != 2:  # a tile of RBF may choose its way by the largest row in it
            assert len(found) == 1
    K = np.array([[kernel_value(model.kernel, x, z) for z in Z] for x in X])
    for scores in found:
        got = np.array([line.split() for line in scores.split(b"\n")[:-1]], dtype=float)
        np.testing.assert_allclose(got, decisions(model, K), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("argv", [(), ("-b", "1"), ("--metrics",)])
def test_an_empty_test_file(argv, run, tmp_path):
    got = run(*argv, "t", "m", "o", model=SIGMOID, rows="")
    assert "Accuracy = -nan% (0/0) (classification)\n" in got.stdout
    assert (tmp_path / "o").read_text() == ("labels 1 -1\n" if argv == ("-b", "1") else "")


def test_a_bad_line_leaves_the_old_output(run, tmp_path):
    (tmp_path / "o").write_text("old")
    got = run("t", "m", "o", rows=ROWS * 100000 + "1 2:1 1:1\n" + ROWS)
    assert got.exit == 1 and got.stderr.startswith("Wrong input format at line 300001: t: token '1:1': ")
    assert got.stderr.count("\n") == 1 and (tmp_path / "o").read_text() == "old"


@pytest.mark.parametrize("row", ["1 0:1 1:1 2:2", "1 1:1 2:2 3:3 4:4", "1"])
def test_a_row_of_a_precomputed_kernel_that_lacks_values_is_refused(row, run, tmp_path, monkeypatch):
    assert run("t", "m", "o", model=GIVEN, rows="1 0:9 1:5 2:0 3:1\n").exit == 0
    monkeypatch.setattr(predict_kernel, "CHUNK_BYTES", 64)
    monkeypatch.setattr(predict_kernel, "MIN_CHUNK_BYTES", 64)
    got = run("t", "m", "o2", model=GIVEN, rows="1 0:9 1:5 2:0 3:1\n" * 9 + row + "\n")
    assert got.exit == 1 and not (tmp_path / "o2").exists()
    assert got.stderr.startswith("Wrong input format at line 10: t: a row for a precomputed kernel must be 0:number")
    assert got.stderr.endswith("at least up to 3\n")


def test_scores_of_one_class_and_of_pairs(run, tmp_path):
    run("--scores", "s", "t", "m", "o")
    rows = [np.array([1, 0.5]), np.array([-1, 2.0]), np.array([0, 1.0])]
    z = np.array([1, -0.5]), np.array([0, 2.0])
    wanted = [math.exp(-0.5 * sum((x - z[0]) ** 2)) - math.exp(-0.5 * sum((x - z[1]) ** 2)) - 0.25 for x in rows]
    np.testing.assert_allclose(np.loadtxt(tmp_path / "s"), wanted, rtol=1e-14)
    run("--scores", "s", "t", "m", "o", model=ONE_CLASS)
    assert (tmp_path / "s").read_text() == "1\n-1\n0\n"
    assert (tmp_path / "o").read_text() == "1\n-1\n-1\n"


def test_metrics(run):
    lines = run("--metrics", "t", "m", "o", model=ONE_CLASS).stdout.splitlines()
    assert lines[0] == "Accuracy = 66.6667% (2/3) (classification)" and lines[-1] == "AUC = 1"
    lines = run("--metrics", "t", "m", "o", model=REGRESSION).stdout.splitlines()
    assert lines[0].startswith("Model supports probability estimates, but")
    assert lines[1].startswith("Mean squared error = ") and lines[3].startswith("Mean absolute error = ")
    lines = run("-b", "1", "--metrics", "t", "m", "o", model=SIGMOID).stdout.splitlines()
    assert lines[1].startswith("Label 1: precision") and lines[-1].startswith("AUC = ")
