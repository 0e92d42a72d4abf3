"""Arrays of sparse matrices that pass the checks can be followed by any code; those of scipy's own matrices pass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from svmtool.data.sparse_checks import ARRAYS, refuse_unsound
from svmtool.errors import RowsError

HOSTILE = (-1, -(10**6), 10**9, 2**31 - 1, 2**31, 2**62, -(2**63), 3, 0)


def followed(form: str, shape, arrays) -> np.ndarray:
    """The matrix, by scipy's checks of every index, and its conversion."""
    data, *indices = (arrays[name] for name in ARRAYS[form])
    parts = (data, tuple(indices)) if form == "coo" else (data, *indices)
    matrix = getattr(sparse, f"{form}_matrix")(parts, shape=shape)
    if form in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    return matrix.toarray()


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
        np.testing.assert_array_equal(followed(form, shape, arrays), X)
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
        followed(form, shape, arrays)
    assert 0 < passed < 150


@pytest.mark.parametrize("form", ARRAYS)
def test_types_and_dimensions(form):
    """Of values, indices and the shape."""
    shape, arrays = arrays_of(np.eye(4), form)
    name, index = ARRAYS[form][1], arrays[ARRAYS[form][1]]
    wrong = [("data", arrays["data"].astype(kind)) for kind in (complex, object, "S3")]
    for changed, array in [*wrong, (name, index.astype(float)), (name, index[None]), (name, np.array(1))]:
        with pytest.raises(RowsError):
            refuse_unsound(form, shape, {**arrays, changed: array})
    for shape in ((4, 2**31), (4,), (4, 4, 4), (-1, 4), (4.0, 4), ()):
        with pytest.raises(RowsError):
            refuse_unsound(form, shape, arrays)
