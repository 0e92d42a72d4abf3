"""Hostile arguments of Python functions: invalid numbers, arrays of odd types, damaged sparse matrices.

Each function takes a numpy Generator; what it returns depends on its state alone.
"""

from __future__ import annotations

import contextlib
import copy
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from stress.fuzz_shared import KINDS, NASTY, changed

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
SIZES = (1e-320, 1e-308, 1e-150, 1e-10, 1e10, 1e100, 1e140, 1e150, 1e154, 1e200, 1e300, 1e307)


def pick(rng: np.random.Generator, some: Any) -> Any:
    """One of a sequence; numpy's choice would turn it into an array."""
    return some[int(rng.integers(len(some)))]


def plain(rng: np.random.Generator) -> random.Random:
    """A generator of Python from one of numpy."""
    return random.Random(int(rng.integers(2**32)))


class Odd:
    """Neither a number nor a sequence."""

    def __repr__(self) -> str:
        return "an\nobject of two lines"


VALUES = (
    None, None, np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, 5e-324, 1e308, 10**400, -(10**400), 10**5000, True, False,
    np.bool_(True), "1", "auto", "balanced", b"1", "", np.str_("1"), np.ma.masked, np.float32(0.5), np.float16(2),
    np.longdouble("1e4000"), np.int8(3), np.array(1.0), np.array([1.0]), np.array([1, 2]), np.array("a"),
    np.ma.masked_all(3), np.datetime64("2020-01-01"), [], {}, set(), (1, 2), Odd(), len, str, 1j, Fraction(1, 3),
    Fraction(10**400), Decimal("0.5"), Decimal("sNaN"), Decimal("1e400"), {1: 2.0}, {"a": 1}, {1: None}, {1: np.nan},
    {10**400: 1}, {0: 1e300, 1: 1e300},
)  # fmt: skip


def number(rng: np.random.Generator) -> Any:
    """A value for a keyword that takes a number, mostly not one."""
    return copy.deepcopy(pick(rng, VALUES)) if rng.random() < 0.75 else pick(rng, SIZES + NASTY)


def table(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Rows f8 (n, d), mostly small whole numbers."""
    X = rng.integers(-2, 4, (n, d)) * (rng.random((n, d)) < 0.7)
    X = X + rng.normal(size=(n, d)) if rng.random() < 0.3 else X.astype(np.float64)
    what = int(rng.integers(12))
    if what == 0:
        X = X * pick(rng, SIZES)
    elif what == 1 and X.size:
        X.flat[int(rng.integers(X.size))] = pick(rng, (*SIZES, np.nan, np.inf, -np.inf, -0.0))
    elif what == 2:
        X[:] = pick(rng, (0.0, 1.0, -1e150))
    return X


def _object(X: np.ndarray, value: Any) -> np.ndarray:
    X = X.astype(object)
    X[..., :1] = np.array([value, None], object)[:1]
    return X


def _locked(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


ARRAYS = (
    lambda r, X: X, lambda r, X: X.tolist(), lambda r, X: np.asfortranarray(X), lambda r, X: X[::-1, ::-1],
    lambda r, X: np.repeat(X, 2, axis=1)[:, ::2], lambda r, X: _locked(X), lambda r, X: X + 1j,
    lambda r, X: X.astype("g") * np.longdouble("1e4000"), lambda r, X: np.ma.masked_array(X),
    lambda r, X: np.ma.masked_array(X, r.random(X.shape) < 0.3), lambda r, X: X.view(np.matrix),
    lambda r, X: X.reshape(-1), lambda r, X: X[None], lambda r, X: X[:0], lambda r, X: X[:, :0], lambda r, X: "rows",
    lambda r, X: [[1.0], [1.0, 2.0]], lambda r, X: iter(X), lambda r, X: memoryview(np.ascontiguousarray(X)),
    lambda r, X: np.zeros(len(X), [("a", "f8")]), lambda r, X: [dict(enumerate(x, 1)) for x in X.tolist()],
    lambda r, X: [tuple(x) for x in X.tolist()], lambda r, X: np.broadcast_to(X[:1], X.shape),
    lambda r, X: [(np.arange(len(x)), x) for x in X], lambda r, X: [], lambda r, X: np.float64(1),
    lambda r, X: [{pick(r, (*NASTY, "a", None, 1.5)): pick(r, (1.0, None, np.nan, "a", 10**400))} for _ in X],
    *[lambda r, X: X.astype(pick(r, KINDS))] * 10, *[lambda r, X: number(r)] * 2,
    *[lambda r, X: _object(X, pick(r, (None, 10**400, "a", Odd(), [1])))] * 4,
)  # fmt: skip


def formed(rng: np.random.Generator, array: np.ndarray, makers: tuple = ()) -> Any:
    """An array made by one of these, or in a hostile form."""
    with contextlib.suppress(TypeError, ValueError, IndexError), np.errstate(all="ignore"):
        return pick(rng, makers)() if makers and rng.random() < 0.6 else pick(rng, ARRAYS)(rng, array.copy())
    return array


def rows(rng: np.random.Generator, X: np.ndarray) -> Any:
    """X in a hostile form: of arrays, or a sparse matrix of any format, mostly damaged."""
    if rng.random() < 0.4:
        return formed(rng, X)
    form = pick(rng, FORMATS)
    if form == "bsr":
        X = X[: len(X) // 2 * 2, : X.shape[1] // 2 * 2]
        found = sparse.bsr_array(X, blocksize=(2, 2)) if X.size else sparse.bsr_array((2, 2))
    else:
        found = getattr(sparse, form + pick(rng, ("_matrix", "_array")))(X)
    for _ in range(int(rng.integers(3))):
        with contextlib.suppress(AttributeError, IndexError, OverflowError, TypeError, ValueError, KeyError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                damage(rng, found)
    return found


def damage(rng: np.random.Generator, m: Any) -> None:
    """Change an array of a sparse matrix without scipy's knowledge."""
    what = int(rng.integers(9))
    if m.format == "dok":
        dict.__setitem__(getattr(m, "_dict", m), pick(rng, ((0, 10**9), (-1, 0), (10**9, 0), 3)), 1.0)
        return
    if m.format == "lil" and what < 7:
        cells = ([], [10**9], [-1], [0, 1, 2, 3, 4], [1, 0], [0, 0], ["a"], None, [2**40])
        pick(rng, (m.rows, m.data))[0] = pick(rng, cells)
        return
    parts = ("row", "col", "data", "indices", "indptr", "rows", "offsets")
    name = pick(rng, [part for part in parts if hasattr(m, part)])
    if what == 6:
        m._shape = pick(rng, ((1, 1), (10**6, 3), (3, 2**22), (0, 0), (2, -1), (3,)))
    elif what == 7:  # flags that are no longer true
        m.has_sorted_indices = m.has_canonical_format = True
        getattr(m, name)[:] = rng.permutation(getattr(m, name))
    else:
        setattr(m, name, changed(plain(rng), getattr(m, name)))


def labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """n labels of two or three classes, as numbers of some type."""
    y = rng.integers(0, pick(rng, (2, 2, 3)), n)
    if n >= 3:
        y[:3] = 0, 1, max(y)
    return pick(rng, (y, 2 * y - 1, y.astype(np.float64)))


def vector(rng: np.random.Generator, v: np.ndarray) -> Any:
    """Labels or weights in a hostile form, or targets of a regression."""
    makers = (
        lambda: v, lambda: (v + 1.0) * pick(rng, SIZES), lambda: v + 0.5, lambda: rng.normal(size=len(v)),
        lambda: np.where(v > 0, pick(rng, (np.nan, np.inf, -1.0, -0.0, 2**31, *SIZES)), v), lambda: v[:, None],
        lambda: 0 * v, lambda: v[:-1], lambda: np.full(len(v), 1e308), lambda: sparse.csr_matrix(v[:, None]),
        lambda: number(rng), lambda: set(v.tolist()),
    )  # fmt: skip
    return formed(rng, v, makers)
