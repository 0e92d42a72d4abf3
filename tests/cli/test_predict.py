"""svm-predict compared with recorded runs of LIBLINEAR 2.50's predict, and its own options."""

from __future__ import annotations

import gzip
import subprocess
import sys

import compat_cases
import numpy as np
import pytest

from svmtool.formats import scored_text
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table as svmlight
from svmtool.metrics import SAME_PREDICTIONS
from svmtool.models.linear import LinearModel

# model_libsvm: LIBLINEAR refuses kernel models, which we read (test_kernel_predict.py)
CASES = [c for c in compat_cases.cases("liblinear") if c["tool"] == "predict" and c["name"] != "model_libsvm"]
TWO = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.5 \n-0.25 \n"
ROWS = "+1 1:1 2:0.5\n-1 1:-1 2:0.25\n0 2:1\n"
ANSWERS = "1\n-1\n-1\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call predict's main() in the temporary folder with the files t (ROWS) and m (TWO); returns the outcome."""
    (tmp_path / "t").write_text(ROWS)
    (tmp_path / "m").write_text(TWO)

    def call(*argv: str) -> compat_cases.Outcome:
        return compat_cases.run_inside({"tool": "predict", "args": argv}, tmp_path, monkeypatch)

    return call


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_predict_does_what_liblinear_did(case, tmp_path, monkeypatch, as_the_originals):
    compat_cases.check_prediction(case, tmp_path, monkeypatch)


def test_the_plain_job_needs_no_numpy(tmp_path, heart_scale):
    """Classification without extras; loops compiled just in time import numpy, so that case is excluded."""
    (tmp_path / "m").write_text(TWO)
    code = (
        "import sys; site = set(sys.modules); import svmtool.compiled; had = 'numpy' in sys.modules\n"
        "from svmtool.cli.predict.command import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "assert had or 'numpy' not in sys.modules\n"
        "assert had or not {'typing', 're', 'enum'} & (set(sys.modules) - site)\n"
        "assert not {'numba', 'scipy', 'click', 'tqdm'} & set(sys.modules)\n"
        "assert not {'svmtool.data.dataset', 'svmtool.formats.svmlight.table'} & set(sys.modules)\n"
    )
    from svmtool.compiled import _library

    if _library is None:
        pytest.skip("loops are compiled just in time here, with numba")
    argv = [sys.executable, "-c", code, heart_scale, tmp_path / "m", tmp_path / "o"]
    done = subprocess.run(argv, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_options_are_read_as_the_reference_reads_them(run, tmp_path):
    assert run("-bogus", "2x", "-quiet", "t", "m", "o", "-b", "0").stdout == ""
    assert (tmp_path / "o").read_text().startswith("labels 1 -1\n1 0.592667 0.407333\n")
    run("-b", "x", "t", "m", "o")
    assert (tmp_path / "o").read_text() == ANSWERS


@pytest.mark.parametrize(
    ("line", "sentence"),
    [("--threads 0 t m o", "ERROR: --threads 0: "), ("--threads=x t m o", "ERROR: --threads x: "),
     ("--scores", "ERROR: --scores "), ("--scores o t m o", "ERROR: --scores and output_file are both o\n"),
     ("-q", "test_file is missing"), ("--thread=2 t m o", "unknown option: --thread=2: did you mean --threads?\n"),
     ("- - o", "ERROR: test_file and model_file cannot both"), ("t none o", "the model has no classes")],
)  # fmt: skip
def test_bad_lines_are_one_sentence(line, sentence, run, tmp_path):
    (tmp_path / "none").write_text("solver_type L2R_LR\nnr_class 0\nlabel\nnr_feature 0\nbias -1\nw\n")
    got = run(*line.split())
    assert got.exit == 1 and sentence in got.stderr and got.stderr.count("\n") == 1


def test_standard_streams_and_compressed_files(command, tmp_path):
    (tmp_path / "m").write_text(TWO)
    (tmp_path / "t.gz").write_bytes(gzip.compress(ROWS.encode()))
    done = command("predict", "-", "m", "-", input=ROWS.encode())
    assert done.stdout.decode() == ANSWERS + "Accuracy = 66.6667% (2/3)\n"
    assert command("predict", "t.gz", "m", "/dev/stdout").stdout == done.stdout
    assert command("predict", "-q", "t.gz", "-", "-", input=TWO.encode()).stdout.decode() == ANSWERS


@pytest.mark.parametrize("name", ["t", "t.gz"])
def test_a_bad_line_leaves_the_old_output(name, run, tmp_path):
    rows = (ROWS * 40000 + "1 2:1 1:1\n" + ROWS).encode()
    (tmp_path / name).write_bytes(gzip.compress(rows) if name == "t.gz" else rows)
    (tmp_path / "o").write_text("old")
    got = run(name, "m", "o")
    assert got.exit == 1 and got.stderr.startswith(f"Wrong input format at line 120001: {name}: token '1:1': ")
    assert (tmp_path / "o").read_text() == "old"


def test_an_empty_test_file(run, tmp_path):
    (tmp_path / "t").write_text("")
    assert run("t", "m", "o").stdout == "Accuracy = -nan% (0/0)\n"
    (tmp_path / "m").write_text(TWO.replace("L2R_LR", "L2R_L2LOSS_SVR").replace("label 1 -1\n", ""))
    assert run("t", "m", "o").stdout == (
        "Mean squared error = -nan (regression)\nSquared correlation coefficient = -nan (regression)\n"
    )
    assert (tmp_path / "o").read_text() == ""


def naive_decisions(model: LinearModel, rows: list[tuple[float, dict[int, float]]]) -> np.ndarray:
    """w.x summed from left to right."""
    out = np.zeros((len(rows), model.columns))
    for total, (_, x) in zip(out, rows, strict=True):
        for index, value in x.items():
            if index <= model.n_features:
                total += model.W[index - 1] * value
        if model.bias >= 0:
            total += model.W[model.n_features] * model.bias
    return out - (model.rho if model.word == "ONECLASS_SVM" else 0)


@pytest.mark.parametrize(
    ("word", "bias", "n_threads"),
    [("L2R_LR", -1.0, 3), ("MCSVM_CS", 2.5, 1), ("L2R_L2LOSS_SVR", 0.0, 3), ("ONECLASS_SVM", 2.5, 3)],
)
def test_scores_do_not_depend_on_blocks_threads_or_the_way_in(word, bias, n_threads, run, tmp_path, monkeypatch):
    random = np.random.default_rng(3)
    rows = []
    for _ in range(100):
        indices = np.sort(random.choice(30, random.integers(0, 12), replace=False)) + 1
        rows.append((float(random.integers(1, 4)), dict(zip(indices.tolist(), random.normal(size=12), strict=False))))
    labels = None if word.endswith("SVR") or word == "ONECLASS_SVM" else (3, 1, 2)
    columns = 1 if labels is None else 3
    model = LinearModel(word, labels, 25, bias, random.normal(size=(25 + (bias >= 0), columns)), rho=0.3)
    lines = [f"{y:g} " + " ".join(f"{j}:{v:.17g}" for j, v in x.items()) for y, x in rows]
    lines[7] = lines[7].replace("1:", "+1:").replace("2:", "02:")  # forms that only the slow reader takes
    lines[11] = "0x1p1 1: 3 2:0x.8p0"
    rows[11] = (2.0, {1: 3.0, 2: 0.5})
    lines[13] = "1 5:1 99999999:7"
    rows[13] = (1.0, {5: 1.0})
    text = "\n".join(lines).encode()  # the last line without its newline
    wanted = naive_decisions(model, rows)
    (tmp_path / "t").write_bytes(text)
    (tmp_path / "t.gz").write_bytes(gzip.compress(text + b"\n"))
    linear.write(str(tmp_path / "m"), model)
    for block, group in ((1 << 18, 64), (300, 2), (40, 64)):
        monkeypatch.setattr(scored_text, "SCORED_BYTES", block)
        monkeypatch.setattr(scored_text, "GROUP_BLOCKS", group)
        for name in ("t", "t.gz"):
            run("-q", "--threads", str(n_threads), "--scores", "s", name, "m", "o")
            assert np.loadtxt(tmp_path / "s", ndmin=2).reshape(wanted.shape).tolist() == wanted.tolist()
    assert model.decision_values(svmlight.read(str(tmp_path / "t"))).tolist() == wanted.tolist()


def test_nan_decides_as_in_the_reference():
    decisions = np.array([[np.nan, 1.0, 2.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0]])
    three = LinearModel("L2R_LR", (5, 6, 7), 0, -1.0, np.empty((0, 3)))
    assert three.labels_from(decisions).tolist() == [5, 5, 5]
    two = LinearModel("L2R_LR", (5, 6), 0, -1.0, np.empty((0, 1)))
    assert two.labels_from(np.array([[np.nan], [0.0], [1e-300]])).tolist() == [6, 6, 5]


def test_scores_of_three_classes_and_one_class(run, tmp_path):
    (tmp_path / "m").write_text("solver_type L2R_LR nr_class 3 label 3 1 2 nr_feature 2 bias -1 w 1 -1 0 0 0 0.1")
    run("-q", "--scores=s", "t", "m", "o")
    wanted = ["1 -1 0.050000000000000003", "-1 1 0.025000000000000001", "0 0 0.10000000000000001"]
    assert (tmp_path / "s").read_text().splitlines() == wanted
    (tmp_path / "m").write_text("solver_type ONECLASS_SVM nr_class 2 nr_feature 2 bias -1 rho 0.25 w 0.5 -0.25")
    run("-q", "--scores=s", "t", "m", "o")
    assert (tmp_path / "s").read_text() == "0.125\n-0.8125\n-0.5\n"


def test_metrics_of_two_classes(run, tmp_path):
    (tmp_path / "t").write_text("1 1:1\n1 1:-1\n-1 1:2\n-1 1:-3\n-1 1:-1\n")
    lines = run("--metrics", "t", "m", "o").stdout.splitlines()
    assert lines == [
        "Accuracy = 60% (3/5)",
        "Label 1: precision = 50%, recall = 50%, F1 = 50% (2 rows)",
        "Label -1: precision = 66.6667%, recall = 66.6667%, F1 = 66.6667% (3 rows)",
        "Macro average: precision = 58.3333%, recall = 58.3333%, F1 = 58.3333%",
        "AUC = 0.583333",  # of six pairs three are in order and one is tied
    ]
    assert run("-q", "--metrics", "t", "m", "o").stdout.splitlines() == lines[1:]


def test_equal_predictions_are_reported(run, tmp_path):
    (tmp_path / "m").write_text(TWO.replace("L2R_LR", "L2R_L2LOSS_SVR").replace("label 1 -1\n", "").replace("0.5", "0"))
    (tmp_path / "t").write_text("1 1:1\n2 1:2\n")
    got = run("t", "m", "o")
    assert got.stdout.endswith("Squared correlation coefficient = -nan (regression)\n")
    assert (got.exit, got.stderr) == (0, SAME_PREDICTIONS + "\n")
    assert run("-q", "t", "m", "o").stderr == ""
