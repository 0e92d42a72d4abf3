"""A certificate is about the file that was written: P of the file, recomputed by an independent reader in 80 digits
(scripts/stress/objective.py), is the P of its certificate, for all rows of the registry and any data."""

from __future__ import annotations

import re
import sys
import warnings
from decimal import Decimal
from zlib import crc32

import numpy as np
import pytest
from both_methods import keyword_of
from conftest import REPOSITORY
from naming import case_of
from sampling import pairs_in_turn

from svmtool import api, registry
from svmtool.models.kernel import KernelModel

sys.path.insert(0, str(REPOSITORY / "scripts"))
from stress.objective import Problem, exact, problem_of  # noqa: E402

N = 12
SECONDS = 0.1  # of a run: what it has then is certified
RTOL = Decimal("1e-9")
PRINTED = Decimal("5e-9")  # nine digits
LEAST = Decimal(np.finfo(float).tiny)  # below it doubles have fewer digits
SHAPES = {
    "metres": lambda rng: np.c_[448200 + rng.uniform(-40, 40, N), 5411900 + rng.uniform(-40, 40, N)].round(3),
    "seconds": lambda rng: 1764150000.0 + rng.integers(0, 600, (N, 1)),
    "identifiers": lambda rng: rng.integers(10**14, 10**15, (N, 2)).astype(float),
    "whole": lambda rng: rng.integers(-5, 6, (N, 3)).astype(float),
    "mixed": lambda rng: rng.normal(size=(N, 3)) * [1e-10, 1.0, 1e10],
    "negative zeros": lambda rng: np.where(rng.random((N, 3)) < 0.4, -0.0, rng.normal(size=(N, 3)).round(2)),
    **{
        f"{k} digits": lambda rng, k=k: np.vectorize(lambda x: float(f"{x:.{k}g}"))(3 + rng.normal(size=(N, 3)))
        for k in (1, 8, 9, 12, 17)
    },
    **{f"1e{e}": lambda rng, e=e: rng.normal(size=(N, 3)) * 10.0**e for e in (-300, -150, -9, 9, 140, 300)},
}
KERNELS = ("linear", "rbf", "polynomial", "sigmoid")
ROWS = [(row, "") for row in registry.rows_of(kernel=False)]
ROWS += [(row, kernel) for k, row in enumerate(registry.rows_of(kernel=True)) for kernel in KERNELS[k % 2 :: 2]]
ROWS = {f"{r.name}{'-' * bool(kernel)}{kernel}{'-printed' * r.printed}": (r, kernel) for r, kernel in ROWS}


def data_of(row: registry.Solver, shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the shape, and labels or targets that follow their first feature."""
    rng = np.random.default_rng(crc32(f"{row.name} {shape}".encode()))
    X = SHAPES[shape](rng)
    t = X[:, 0] / np.abs(X[:, 0]).max()
    t = (t - t.mean()) / (np.abs(t - t.mean()).max() or 1.0) + 0.3 * rng.normal(size=N)
    if row.kind == "regression":
        return X, t.round(3)
    several = row.kind in ("all classes", "ordinal") or rng.random() < 0.3
    return X, np.digitize(t, [-0.3, 0.4]) * 2.0 - 1 if several else np.where(t > 0, 1.0, -1.0)


def text_of(X: np.ndarray, y: np.ndarray, first: int = 1) -> str:
    """The rows as a data file, zeros included; first: the first index."""
    rows = zip(y.tolist(), X.tolist(), strict=True)
    return "".join(f"{t!r} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(x, first)) + "\n" for t, x in rows)


def fitted(row: registry.Solver, kernel: str, X: np.ndarray, y: np.ndarray) -> api.Fit | None:
    """None where the data are refused or have no solution, which is said."""
    with np.errstate(all="ignore"):
        gamma = min(1.0 / np.var(X[:, 0]), 1e300)
    parameters = {"kernel": kernel} if kernel else {}
    parameters |= {"gamma": gamma} if kernel in ("rbf", "polynomial", "sigmoid") else {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            done = api.fit(X, y, solver=row.name, max_seconds=SECONDS, **keyword_of(row), **parameters)
        except ValueError as e:
            assert re.search("overflow|beyond|range|infeasible|has none", str(e)), e
            return None
    without = row.word == "nu_svc" and done.certificate.primal >= 0.0
    return None if without or any("finds no margin" in str(w.message) for w in said) else done


def check(problem: Problem, data: str, text: str, primal: float, rtol: Decimal = RTOL) -> None:
    value, rounding = exact(problem, data, text)
    apart = abs(value - Decimal(primal))
    words = f"P = {value:.12g} of the file, {primal:.12g} certified (rounding {rounding:.2g})"
    assert apart <= rtol * abs(value) + rounding + LEAST, words


@pytest.mark.parametrize(("name", "shape"), pairs_in_turn(list(ROWS), list(SHAPES)))
def test_the_file_has_the_certified_value(name, shape, tmp_path):
    row, kernel = ROWS[name]
    X, y = data_of(row, shape)
    done = fitted(row, kernel, X, y)
    if done is None or not np.isfinite(done.certificate.primal):
        return
    try:
        api.save_model(done, tmp_path / "m")
    except ValueError as e:
        assert "overflowed" in str(e)
        return
    text = (tmp_path / "m").read_text()
    check(problem_of(row), text_of(X, y), text, done.certificate.primal)
    check(problem_of(row), text_of(X, y), text, float(re.search(r"\(primal ([^,]+),", text)[1]), PRINTED)
    back = api.load_model(tmp_path / "m")
    api.save_model(back, tmp_path / "again")
    assert (tmp_path / "again").read_text() == text == api.dumps(done)
    if isinstance(back, KernelModel):
        assert back.values.tobytes() == done.model.values.tobytes() and back.rho.tobytes() == done.model.rho.tobytes()


def test_a_precomputed_kernel():
    X, y = np.random.default_rng(1).normal(size=(N, 3)), np.where(np.arange(N) % 2, 1.0, -1.0)
    K = X @ X.T + np.eye(N)
    for row in registry.KERNEL_SOLVERS:
        with case_of(row.name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = api.fit(K, y, solver=row.name, kernel="precomputed", max_seconds=1)
            data = text_of(np.column_stack((np.arange(1.0, N + 1), K)), y, 0)
            check(problem_of(row), data, api.dumps(done), done.certificate.primal)
