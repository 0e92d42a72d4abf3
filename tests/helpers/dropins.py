"""The Python modules of LIBLINEAR and LIBSVM, ours and the originals, for tests that run on both."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

OURS, ORIGINAL = "ours", "original"
PACKAGES = {"liblinear": "liblinear-official", "libsvm": "libsvm-official"}
BOTH = [OURS, pytest.param(ORIGINAL, marks=pytest.mark.reference)]


def original(package: str, module: str):
    """A module of an original; skips the test where it is not installed."""
    name = f"{package}.{module}"
    return pytest.importorskip(name, reason=f"{PACKAGES[package]} is not installed (pip install {PACKAGES[package]})")


def linear(which: str):
    """LIBLINEAR's `liblinearutil`."""
    from svmtool import liblinearutil

    return liblinearutil if which == OURS else original("liblinear", "liblinearutil")


def kernel(which: str):
    """LIBSVM's `svmutil`."""
    from svmtool import svmutil

    return svmutil if which == OURS else original("libsvm", "svmutil")


def common(which: str):
    """`commonutil`, which both have."""
    from svmtool.compat import commonutil

    return commonutil if which == OURS else original("libsvm", "commonutil")


def printed(capfd) -> str:
    """Standard output so far, with what C code has in its buffer."""
    ctypes.CDLL(None).fflush(None)
    return capfd.readouterr().out


def made(rows: int = 60, features: int = 5, classes: int = 2, seed: int = 3) -> SimpleNamespace:
    """Rows X with zeros, labels y of so many classes (1, 2, .. or +1 and -1), and values t that depend on X."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(rows, features)) * (rng.random((rows, features)) < 0.7), 3)
    X[0], X[-1] = 1.0, -1.0
    scores = X @ rng.normal(size=(features, classes)) + 0.3 * rng.normal(size=(rows, classes))
    y = scores.argmax(axis=1) + 1.0
    y[:classes] = np.arange(classes) + 1.0
    if classes == 2:
        y = 3.0 - 2.0 * y
    return SimpleNamespace(X=X, y=y, t=scores[:, 0])


def dicts(X: np.ndarray) -> list[dict[int, float]]:
    """Rows as dicts from index (from 1 on) to value."""
    return [{k + 1: float(v) for k, v in enumerate(row) if v} for row in X]
