"""FOSVM as printed: its iterates are the paper's, and what its command prints and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from fosvm_problems import KERNELS, cloud, values
from fosvm_transcribed import algorithm
from reference import rows_in, text_of

from svmtool.kernels.problems import HardOneClass, Points
from svmtool.papers import fosvm
from svmtool.solvers.shared.base import OPTIMAL, RULE

THETA = 1e-3
WIDE = {name: kernel for name, kernel in KERNELS.items() if name != "narrow"}  # whose scores have no ties


def rows_of(X: np.ndarray, kernel, sparse: bool = False):
    """The rows of a problem in the form that the algorithm takes."""
    if kernel is None:
        return fosvm.Linear(scipy.sparse.csr_array(X) if sparse else X)
    rows = rows_in("csr" if sparse else "dense", X)
    return fosvm.WithKernel(HardOneClass(Points(kernel, rows, None)))


def points_of(steps) -> tuple[list, object]:
    """All iterates after the start, and the status."""
    found = [next(steps)]
    while True:
        try:
            found.append(next(steps))
        except StopIteration as end:
            return found[1:], end.value


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("m", [None, 3], ids=["algorithm-2", "algorithm-3"])
@pytest.mark.parametrize("kernel", [None, *WIDE.values()], ids=["none", *WIDE])
def test_iterates_are_those_of_the_paper(kernel, m, sparse):
    X = cloud(10, 5, 4, shift=1.0)
    K = values(X, KERNELS["linear"] if kernel is None else kernel)
    rows = rows_of(X, kernel, sparse)
    steps = fosvm.algorithm_2(rows, THETA) if m is None else fosvm.algorithm_3(rows, THETA, m, 7)
    points, status = points_of(steps)
    theirs = algorithm(K, THETA, [p.B for p in points[:10]])
    assert len(points) == len(theirs) and len(points) >= 3
    for p, q in zip(points, theirs, strict=True):
        assert p.A.tolist() == q["A"]
        assert p.rho == pytest.approx(q["rho"], rel=1e-10)
        np.testing.assert_allclose(p.alpha, q["alpha"], rtol=1e-10, atol=1e-10)
        if "i" in q:
            assert p.i == q["i"] and p.o == pytest.approx(q["o"], rel=1e-10, abs=1e-10 * q["rho"])
        if kernel is None:
            np.testing.assert_allclose(p.w, X[p.A].T @ q["alpha"], rtol=1e-10, atol=1e-12)
    assert status in (RULE, OPTIMAL) or status.name == "sample"


@pytest.mark.parametrize("number, kernel", [(80, []), (81, ["-g", "0.2"])])
def test_command(number, kernel, svm_train):
    data = text_of(cloud(400, 3, 1), np.ones(400))
    for more in ([], ["--theta", "0.01"], ["--boundary", "rho"]):
        status, out, err = svm_train("-s", number, *kernel, *more, "--solver-log", "log", "d", "m", data=data)
        assert (status, err) == (0, ""), err
        assert "Training rows outside: " in out
        if number == 80 and "rho" not in more:
            assert "Training rows outside: 0 of 400" in out
        methods = {json.loads(line)["method"] for line in Path("log").read_text().splitlines()}
        assert methods == {fosvm.METHODS["paper" if number == 80 else "sampling"]}
        assert f" -e {0.01 if '0.01' in more else 0.1:g}" in Path("m").read_text()
    status, _, err = svm_train("-s", number, *kernel, "-e", "0.9", "--gap", "1e-9", "--strict", "d", "m", data=data)
    assert status == 2 and err.count("\n") == 1 and "use --method fast" in err
    status, out, _ = svm_train("-s", number, *kernel, "--explain")
    assert status == 0 and f"Algorithm {number - 78} (" in out and "not as printed" in out and "--method fast" in out


REFUSED = {
    "-e 1": "ERROR: -e is 1: of -s {} it is theta, which lies between 0 and 1",
    "-e 0": "ERROR: eps <= 0",
    "-e 0.1 --theta 0.1": "ERROR: -e and --theta are both stopping rules: give one of them",
    "-c 2": "does not support -c",
}


@pytest.mark.parametrize("number, kernel", [(80, ""), (81, "-t 2")])
@pytest.mark.parametrize("line", REFUSED)
def test_refusals(number, kernel, line, svm_train):
    data = text_of(cloud(20), np.ones(20))
    status, _, err = svm_train("-s", number, *kernel.split(), *line.split(), "d", "m", data=data)
    assert status == 1 and REFUSED[line].format(number) in err and err.count("\n") == 1
