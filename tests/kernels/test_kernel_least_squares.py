"""LS-SVM and LP-SVM with kernels: what cannot be solved, and that LIBSVM reads their models."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from conftest import libsvm_program
from kernel_suite import kernel_matrix, random_data, solve, text

from svmtool import api, registry
from svmtool.models.kernel_functions import Kernel
from svmtool.solvers.shared.base import INDEFINITE, PRECISION

SGD, FREE = registry.find_kernel("sgd-lssvm"), registry.find_kernel("nesvm-ls")
both = pytest.mark.parametrize("row", [SGD, FREE], ids=lambda row: row.name)


@both
def test_indefinite_kernels_are_reported(row):
    """Costs at which the objective is unbounded below: no minimum is claimed."""
    data = random_data()._replace(C=1e4)
    problem = data.problem(row, Kernel(3, 1.0, 3, -1.0))
    assert np.linalg.eigvalsh(kernel_matrix(problem) + problem.shift).min() < -0.5 / 1e4
    s = solve(row, problem)
    assert s.result.status in (INDEFINITE, PRECISION) and not s.result.status.converged


@pytest.mark.parametrize(
    "argv",
    [
        "-s 73 -g 0.5 --method fast",
        "-s 73 -t 0 --sgd-rows 2",
        "-s 52 --method fast -t 1 -r 1 -d 2",
        "-s 51 --method fast -g 0.5",
    ],
)
def test_libsvm_reads_the_models(argv, svm_train, tmp_path):
    reference = libsvm_program("svm-predict")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = np.argmax(X + 0.3 * rng.standard_normal((90, 3)), axis=1)
    status, out, err = svm_train(*argv.split(), "d", "m", data=text(X, y))
    assert (status, err) == (0, "") and "Certified relative gap" in out
    done = subprocess.run([reference, "d", "m", "o"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    theirs = [float(v) for v in (tmp_path / "o").read_text().split()]
    assert np.array_equal(api.predict(api.load_model("m"), X), theirs)
    assert np.mean(np.array(theirs) == y) > 0.8


@pytest.mark.parametrize("kernel", [(), ("-t", 0), ("-t", 1)], ids=["rbf", "linear", "polynomial"])
@pytest.mark.parametrize("number", [73, 52])
def test_values_beyond_single_precision_leave_numbers(number, kernel, svm_train, tmp_path):
    """The run converges or reports that it did not; the model is finite, and numpy gives no warning."""
    text = "1 1:1e100 2:1\n-1 1:-1e100 2:2\n1 2:3\n"
    status, out, words = svm_train("-s", number, "--method", "fast", *(kernel or ("-t", 2)), "d", "m", data=text)
    if status:
        assert status == 1 and "overflow in the kernel" in words
        return
    model = (tmp_path / "m").read_text().lower()
    assert "nan" not in out.lower() and "nan" not in model and "inf" not in model
    assert "not converged" in words or float(re.search(r"gap = (\S+)", out)[1]) < 1e-9
