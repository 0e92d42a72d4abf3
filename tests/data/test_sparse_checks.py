"""Arrays of sparse matrices that pass the checks can be followed by any code; those of scipy's own matrices pass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from svmtool.data.sparse_checks import ARRAYS, refuse_unsound
from svmtool.errors import RowsError

HOSTILE = (-1, -(10**6), 10**9, 2**31 - 1, 2**31, 2**62, -(2**63), 3, 0)


def dense(form: str, shape, arrays) -> np.ndarray:
    """The matrix by plain steps; IndexError for anything outside of an array or the shape."""

    def at(array, place):
        if not 0 <= place < len(array):
            raise IndexError(place)
        return array[place]

    X = np.zeros(shape)

    def add(i, j, value):
        if not (0 <= i < shape[0] and 0 <= j < shape[1]):
            raise IndexError((i, j))
        X[i, j] += value

    data = arrays["data"]
    if form == "coo":
        for k, value in enumerate(data):
            add(at(arrays["row"], k), at(arrays["col"], k), value)
    elif form == "dia":
        for k, diagonal in enumerate(data):
            offset = int(at(arrays["offsets"], k))
            for j in range(max(0, offset), min(len(diagonal), shape[1], shape[0] + offset)):
                add(j - offset, j, diagonal[j])
    else:
        height, width = data.shape[1:] if form == "bsr" else (1, 1)
        lines = (shape[1] if form == "csc" else shape[0]) // height
        for line in range(lines):
            for k in range(int(at(arrays["indptr"], line)), int(at(arrays["indptr"], line + 1))):
                other, block = int(at(arrays["indices"], k)), np.reshape(at(data, k), (height, width))
                for r in range(height):
                    for c in range(width):
                        i, j = line * height + r, other * width + c
                        add(*((j, i) if form == "csc" else (i, j)), block[r, c])
    return X


def arrays_of(X, form: str) -> tuple[tuple[int, int], dict]:
    matrix = getattr(sparse, f"{form}_matrix")(X)
    return matrix.shape, {name: getattr(matrix, name).copy() for name in ARRAYS[form]}


@pytest.mark.parametrize("form", ARRAYS)
def test_what_passes_can_be_followed(form):
    rng, passed = np.random.default_rng(5), 0
    for _ in range(150):
        X = rng.integers(0, 3, rng.choice((2, 4, 6), 2)) * rng.normal(size=1)
        shape, arrays = arrays_of(X, form)
        refuse_unsound(form, shape, arrays)
        np.testing.assert_array_equal(dense(form, shape, arrays), X)
        for name in rng.choice(list(arrays), rng.integers(1, 3)):
            array, what = arrays[name], rng.integers(4)
            if what < 2 and name != "data" and array.size:
                array = array.astype(np.int64)
                array[rng.integers(array.size)] = rng.choice(HOSTILE)
            elif what == 2:
                array = np.concatenate((array, array[:1])) if rng.random() < 0.5 else array[:-1]
            else:
                shape = tuple(int(n) for n in rng.choice((1, 2, 4, 6, 7), 2))
            arrays[name] = array
        try:
            refuse_unsound(form, shape, arrays)
        except RowsError as e:
            assert "\n" not in str(e) and len(str(e)) < 200
            continue
        passed += 1
        dense(form, shape, arrays)
    assert 0 < passed < 150


@pytest.mark.parametrize("form", ARRAYS)
def test_types_and_dimensions(form):
    """Of values, indices and the shape."""
    index = ARRAYS[form][1]
    for kind in (complex, object, "S3"):
        shape, arrays = arrays_of(np.eye(4), form)
        with pytest.raises(RowsError):
            refuse_unsound(form, shape, {**arrays, "data": arrays["data"].astype(kind)})
    for change in (lambda a: a.astype(float), lambda a: a[None], lambda a: np.array(1)):
        with pytest.raises(RowsError):
            refuse_unsound(form, shape, {**arrays, index: change(arrays[index])})
    for shape in ((4, 2**31), (4,), (4, 4, 4), (-1, 4), (4.0, 4), ()):
        with pytest.raises(RowsError):
            refuse_unsound(form, shape, arrays)
