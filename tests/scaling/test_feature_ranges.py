"""svm-scale: ranges of features that occur, for indices much larger than the number of values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_scale import here

from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text import text_loops
from svmtool.formats.svmlight import table as svmlight
from svmtool.scaling import ranges


@pytest.mark.parametrize("wanted", [None, [2, 70, 99]])
def test_places_of_features_that_occur(wanted):
    """Sparse entries give the same ranges as dense ones, also after changes between both."""
    rng = np.random.default_rng(3)
    blocks = []
    for size in (1, 30, 4, 4, 1, 1, 60, 2, 0, 9):
        rows = [(np.flatnonzero(rng.random(100) < 0.02 * (1 + size % 5)) + 1) for _ in range(size + 1)]
        values = [rng.choice([0.0, -0.0, 1.0, -2.5, 3.0], len(row)) for row in rows]
        pairs = (" ".join(f"{j}:{v}" for j, v in zip(*row, strict=True)) for row in zip(rows, values, strict=True))
        text = "".join(f"1 {row}\n" for row in pairs)
        blocks.append(svmlight.parse_text(padded(text), len(text), "blocks").table())
    features = None if wanted is None else np.array(wanted)

    def facts(least: int, far: int):
        shape = ranges.ShapeOfData(features, least, far)
        for table in blocks:
            shape.add(table)
        shape.finish()
        low, high, seen = np.zeros((3, shape.n_features))
        at = shape.indices() - 1
        low[at], high[at], seen[at] = shape.low, shape.high, shape.seen
        assert wanted is None or np.array_equal(at[shape.places(features)], features)
        return shape.names, [x.view(np.uint64) for x in (low, high, seen)]  # -0 is not 0

    names, whole = facts(1000, 0)
    assert names is ranges.ALL_FEATURES
    for least, far in ((10, 0), (10, 1), (10, 3)):
        names, some = facts(least, far)
        assert (names is not ranges.ALL_FEATURES) == (far == 0)
        assert all(map(np.array_equal, whole, some))


@pytest.mark.parametrize("saved", [False, True])
def test_an_index_far_above_the_others(saved, tmp_path, capfdbinary, monkeypatch):
    """Memory depends on the features that occur in data and ranges."""
    monkeypatch.chdir(tmp_path)
    Path("d").write_text("1 1:1 2147483647:2\n-1 3:1\n")
    if saved:
        Path("r").write_text("x\n0 1\n3 0 2\n2147483646 -1 1\n")
    monkeypatch.setattr(np, "zeros", bounded(np.zeros))
    monkeypatch.setattr(np, "full", bounded(np.full))
    status, out, err = here(capfdbinary, *(["-r", "r"] if saved else ["-l", "0"]), "d")
    assert status == 0
    if saved:
        assert out == b"1 2147483646:0.5 \n-1 3:0.5 2147483646:0.5 \n" and err.count(b"was not seen") == 2
    else:
        assert out == b"1 1:1 2147483647:1 \n-1 3:1 \n"


def bounded(make):
    def made(shape, *more):
        assert np.prod(shape) < 1 << 21
        return make(shape, *more)

    return made


def padded(text: str) -> Buffer:
    buffer = Buffer("u1", len(text) + text_loops.PADDING)
    buffer.items[: len(text)] = text.encode()
    return buffer
