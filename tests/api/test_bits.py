"""The same rows and options give the same model from Python as by the command, to the last character."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sampling import pairs_in_turn
from scipy import sparse

from svmtool import api, registry

RNG = np.random.default_rng(3)
SETS = {
    "few features": RNG.normal(size=(100, 8)),
    "dense": RNG.normal(size=(80, 40)),
    "more features than rows": RNG.normal(size=(40, 60)),
    "sparse": np.vstack([sparse.random(100, 300, 0.03, "csr", random_state=4).toarray(), np.eye(300)[-1:]]),
}
LINEAR = [row.number for row in registry.SOLVERS if row.number not in (81, 71)]  # 71 writes a state, 81 samples


def compare(X: np.ndarray, row, arguments: list, folder, run, **keywords) -> None:
    """With two or, for many features, three classes."""
    y = X[:, :5].sum(axis=1)
    if row.kind in ("classification", "all classes", "ordinal"):
        y = np.digitize(y, [0.0] if X.shape[1] < 50 else [-0.5, 0.5]) + 1.0
    api.write_svmlight(X, y, folder / "d")
    run("-q", "-s", row.number, *arguments, folder / "d", folder / "m")
    solver = row.name if row.kernel else row.number
    for given, threads in ((X, 1), (sparse.csr_matrix(X), 2)):
        api.save_model(api.fit(given, y, solver, threads=threads, **keywords), folder / "ours")
        assert (folder / "ours").read_text() == (folder / "m").read_text()


@pytest.mark.parametrize(("number", "name"), pairs_in_turn(LINEAR, list(SETS)))
def test_linear(number, name, tmp_path, svm_train):
    row, more = registry.find(number), {} if number in (21, 80) else {"C": 0.7}
    more |= {"max_iter": 10} if {"--method", "--max-iter"} <= row.supported else {}
    arguments = [x for key, value in more.items() for x in ({"C": "-c"}.get(key, "--max-iter"), value)]
    compare(SETS[name], row, arguments, tmp_path, svm_train, **more)


@pytest.mark.parametrize(("number", "name"), pairs_in_turn([0, 1, 2, 3, 4, 50, 60], ["few features", "sparse"]))
def test_kernels(number, name, tmp_path, svm_train):
    share = {"nu": 0.05} if number in (1, 2, 4) else {}
    arguments = ["-t", 2, *(["-n", 0.05] if share else [])]
    compare(SETS[name], registry.find_kernel(number), arguments, tmp_path, svm_train, kernel="rbf", **share)


def test_a_process_of_its_own(tmp_path):
    """There BLAS has one thread from the beginning."""

    def run(*arguments) -> None:
        command = [sys.executable, "-m", "svmtool", "train", *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)

    compare(SETS["dense"], registry.find(3), [], tmp_path, run)
