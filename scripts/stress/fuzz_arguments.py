"""Hostile arguments of Python functions: invalid numbers, arrays of odd types, damaged sparse matrices.

Each function takes a numpy Generator; what it returns depends on its state alone.
"""

from __future__ import annotations

import contextlib
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from stress.fuzz_shared import NASTY

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
SIZES = (1e-320, 1e-308, 1e-150, 1e-10, 1e10, 1e100, 1e140, 1e150, 1e154, 1e200, 1e300, 1e307)


def pick(rng: np.random.Generator, some: Any) -> Any:
    """One of a sequence; numpy's choice would turn it into an array."""
    return some[int(rng.integers(len(some)))]


class Odd:
    """Neither a number nor a sequence."""

    def __repr__(self) -> str:
        return "an\nobject of two lines"


def number(rng: np.random.Generator) -> Any:
    """A value for a keyword that takes a number, mostly not one."""
    makers = (
        lambda: None, lambda: np.nan, lambda: np.inf, lambda: -np.inf, lambda: 0, lambda: -1, lambda: -0.0, lambda: 1,
        lambda: 2, lambda: 0.5, lambda: 1.5, lambda: 5e-324, lambda: pick(rng, SIZES), lambda: 1e308,
        lambda: pick(rng, NASTY), lambda: 10**400, lambda: -(10**400), lambda: 10**5000, lambda: True, lambda: False,
        lambda: np.bool_(True), lambda: "1", lambda: "auto", lambda: b"1", lambda: "", lambda: np.ma.masked,
        lambda: np.float32(0.5), lambda: np.float16(2), lambda: np.longdouble("1e4000"), lambda: np.int8(3),
        lambda: np.array(1.0), lambda: np.array([1.0]), lambda: np.array([1, 2]), list, dict, set, Odd, lambda: 1j,
        lambda: Fraction(1, 3), lambda: Fraction(10**400), lambda: Decimal("0.5"), lambda: Decimal("sNaN"),
        lambda: Decimal("1e400"), lambda: len, lambda: np.datetime64("2020-01-01"), lambda: np.str_("1"), lambda: str,
        lambda: {1: 2.0}, lambda: {"a": 1}, lambda: {1: None}, lambda: {1: np.nan}, lambda: {10**400: 1},
        lambda: (1, 2), lambda: {0: 1e300, 1: 1e300}, lambda: np.array("a"), lambda: np.ma.masked_all(3),
        lambda: "balanced",
    )  # fmt: skip
    return pick(rng, makers)()


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
    if X.size:
        X.flat[0] = value
    return X


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


DENSE = (
    lambda r, X: X, lambda r, X: X.tolist(), lambda r, X: np.asfortranarray(X), lambda r, X: X[::-1, ::-1],
    lambda r, X: np.repeat(X, 2, axis=1)[:, ::2], lambda r, X: _read_only(X), lambda r, X: X.astype(np.float32),
    lambda r, X: X.astype(np.float16), lambda r, X: X.astype(np.longdouble) * np.longdouble("1e4000"),
    lambda r, X: X.astype(np.longdouble), lambda r, X: X.astype(np.int8), lambda r, X: X.astype(np.int64),
    lambda r, X: X.astype(np.uint64), lambda r, X: X > 0, lambda r, X: X + 1j, lambda r, X: X.astype(object),
    lambda r, X: _object(X, None), lambda r, X: _object(X, 10**400), lambda r, X: _object(X, "a"),
    lambda r, X: _object(X, Odd()), lambda r, X: _object(X, [1]), lambda r, X: X.astype(str),
    lambda r, X: X.astype("S"),
    lambda r, X: np.ma.masked_array(X, r.random(X.shape) < 0.3), lambda r, X: np.ma.masked_array(X),
    lambda r, X: X.astype(">f8"), lambda r, X: X.view(np.matrix), lambda r, X: X.astype("M8[s]"),
    lambda r, X: X.astype("m8[s]"), lambda r, X: X.reshape(-1), lambda r, X: X[None], lambda r, X: X[:0],
    lambda r, X: X[:, :0], lambda r, X: np.float64(1), lambda r, X: None, lambda r, X: "rows", lambda r, X: {1: 2.0},
    lambda r, X: [[1.0], [1.0, 2.0]], lambda r, X: iter(X), lambda r, X: memoryview(np.ascontiguousarray(X)),
    lambda r, X: np.zeros(len(X), [("a", "f8")]), lambda r, X: [dict(enumerate(x, 1)) for x in X.tolist()],
    lambda r, X: [tuple(x) for x in X.tolist()], lambda r, X: np.broadcast_to(X[:1], X.shape), lambda r, X: Odd(),
    lambda r, X: [(np.arange(len(x)), x) for x in X], lambda r, X: [], lambda r, X: number(r),
    lambda r, X: [{pick(r, (*NASTY, "a", None, 1.5)): pick(r, (1.0, None, np.nan, "a", 10**400))} for _ in X],
)  # fmt: skip


def rows(rng: np.random.Generator, X: np.ndarray) -> Any:
    """X in a hostile form."""
    with contextlib.suppress(TypeError, ValueError), np.errstate(all="ignore"):
        return pick(rng, DENSE)(rng, X.copy()) if rng.random() < 0.4 else matrix(rng, X)
    return X


def matrix(rng: np.random.Generator, X: np.ndarray) -> Any:
    """X as a sparse matrix of any format, mostly damaged."""
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
    name = pick(rng, {"coo": ("row", "col", "data"), "lil": ("rows", "data"), "dia": ("offsets", "data")}.get(
        m.format, ("indices", "indptr", "data")))  # fmt: skip
    array = getattr(m, name)
    if what < 2:
        array[-1 if what else int(rng.integers(len(array)))] = pick(rng, NASTY)
    elif what == 2:
        kinds = (np.int64, np.int8, np.uint64, np.float64, bool, object, complex, np.float16)
        setattr(m, name, array.astype(pick(rng, kinds)))
    elif what == 3:
        setattr(m, name, array[: int(rng.integers(len(array) + 1))])
    elif what == 4:
        array[:] = array[::-1].copy()
    elif what == 5:
        setattr(m, name, pick(rng, (None, [], [0], array[:, None], np.zeros(0), np.array(3), "a")))
    elif what == 6:
        m._shape = pick(rng, ((1, 1), (10**6, 3), (3, 2**22), (0, 0), (2, -1), (3,)))
    elif what == 7:  # flags that are no longer true
        m.has_sorted_indices = m.has_canonical_format = True
        array[:] = rng.permutation(array)
    elif name == "data":
        m.data = m.data.astype(pick(rng, (np.longdouble, np.float32, np.int8, object)))
        m.data.flat[0] = pick(rng, (10**400, "a", None, np.nan, np.inf, 127))


def formed(rng: np.random.Generator, array: np.ndarray, makers: tuple) -> Any:
    """An array of one dimension made by one of these, or in a hostile form."""
    with contextlib.suppress(TypeError, ValueError, IndexError), np.errstate(all="ignore"):
        return pick(rng, makers)() if rng.random() < 0.6 else pick(rng, DENSE)(rng, array.copy())
    return array


def labels(rng: np.random.Generator, n: int, hostile: bool) -> Any:
    """n labels: of two or three classes, or targets; in a hostile form where wanted."""
    y = rng.integers(0, pick(rng, (2, 2, 3)), n)
    if n >= 3:
        y[:3] = 0, 1, max(y)
    y = pick(rng, (y, 2 * y - 1, y.astype(np.float64), y + 0.0 * rng.normal(size=n)))
    makers = (
        lambda: y * pick(rng, SIZES), lambda: np.where(y > 0, pick(rng, (np.nan, np.inf, 2**31, 1e300, -0.0)), y),
        lambda: y + 0.5, lambda: rng.normal(size=n), lambda: y[:, None], lambda: 0 * y, lambda: y[:-1],
        lambda: sparse.csr_matrix(y[:, None]), lambda: number(rng), lambda: set(y.tolist()),
    )  # fmt: skip
    return formed(rng, y, makers) if hostile else y


def weights(rng: np.random.Generator, n: int) -> Any:
    """Weights of rows, of any size and form."""
    w = rng.integers(0, 3, n).astype(np.float64)
    makers = (
        lambda: w, lambda: np.ones(n), lambda: pick(rng, SIZES), lambda: pick(rng, SIZES) * (w + 1.0),
        lambda: np.where(w > 1, pick(rng, SIZES), 1.0), lambda: np.zeros(n), lambda: np.full(n, 1e308),
        lambda: np.where(w > 0, pick(rng, (np.nan, np.inf, -1.0, -0.0)), w), lambda: w[:-1], lambda: w[:, None],
        lambda: number(rng), lambda: sparse.csr_matrix(w),
    )  # fmt: skip
    return formed(rng, w, makers)
