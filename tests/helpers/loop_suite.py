"""Helpers for tests of compiled loops: random rows, blocks, and comparisons.

Each loop is compared with a numpy version (reference.py, or in the test).
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from reference import csr_of, random_rows

from svmtool.compiled import REGISTRY

SHAPES = [(0, 3), (1, 1), (7, 1), (12, 5), (40, 9), (3, 70)]
every_shape = pytest.mark.parametrize("n, d", SHAPES, ids=lambda x: str(x))


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def made(n: int, d: int, seed: int = 0):
    """rng, dense rows and their CSR arrays."""
    rng = np.random.default_rng(seed + 31 * n + d)
    X = random_rows(rng, n, d)
    return rng, X, csr_of(X)


def halves(n: int) -> list[tuple[int, int]]:
    """All rows, and two blocks of them, which can run in parallel."""
    return [(0, n), (0, n // 2), (n // 2, n)]


def check_each_loop_is_called(file: str, *modules: ModuleType) -> None:
    """Each loop of the modules is called, bound or named with its arguments in the text of a test file."""
    text = Path(file).read_text(encoding="utf-8")
    names = [name for name, loop in REGISTRY.items() if loop.function.__module__ in {m.__name__ for m in modules}]
    assert names
    missing = [name for name in names if f"{name}(" not in text and f"{name}.bind(" not in text]
    assert not missing, f"loops without a twin: {missing}"
