"""The reader of LIBSVM text: numbers to the last bit, every malformed line, blocks, threads, streams."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import blocks

from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.svmlight import table as svmlight

relaxed = settings(deadline=None, max_examples=30)

# --- references -----------------------------------------------------------------


def naive(rows: list[tuple[float, dict[int, float]]]) -> Dataset:
    """The Dataset of rows given as (label, {index starting at 1: value})."""
    labels = np.array([label for label, _ in rows], float)
    indptr = np.cumsum([0] + [len(pairs) for _, pairs in rows]).astype(np.int64)
    indices = np.array([i - 1 for _, pairs in rows for i in pairs], np.int32)
    values = np.array([v for _, pairs in rows for v in pairs.values()], float)
    return Dataset(labels, indptr, indices, values, max((i for _, pairs in rows for i in pairs), default=0))


def bits(a: np.ndarray) -> list[int]:
    return np.ascontiguousarray(a).view(np.int64).tolist()


def assert_same(a: Dataset, b: Dataset) -> None:
    assert bits(a.labels) == bits(b.labels)
    assert a.indptr.tolist() == b.indptr.tolist()
    assert a.indices.tolist() == b.indices.tolist()
    assert bits(a.values) == bits(b.values)
    assert a.n_features == b.n_features
    assert (a.labels.dtype, a.indptr.dtype, a.indices.dtype, a.values.dtype) == ("f8", "i8", "i4", "f8")


@pytest.fixture
def small_blocks(monkeypatch):
    """Sets blocks so small that lines are longer than a block."""
    monkeypatch.setattr(svmlight, "BLOCK_BYTES", 40)
    monkeypatch.setattr(svmlight, "STREAM_BLOCK_BYTES", 24)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "d.txt"

    def write(text: bytes) -> str:
        path.write_bytes(text)
        return str(path)

    return write


# --- round trips ---------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
short = st.decimals(-1000, 1000, places=3, allow_nan=False).map(float)
spellings = st.sampled_from(["%r", "%.17g", "%.20e", "%+.17G", "%.25g"])
pairs = st.dictionaries(st.integers(1, 40) | st.integers(1, 2**31 - 1), finite | short, max_size=8)
rows_of = st.lists(st.tuples(finite | short, pairs.map(lambda d: dict(sorted(d.items())))), max_size=20)


@relaxed
@given(rows=rows_of, spelling=spellings, data=st.data())
def test_round_trip(tmp_path_factory, rows, spelling, data):
    gap = st.sampled_from([" ", "\t", "  ", " \t "])
    lines = []
    for label, features in rows:
        text = spelling % label
        for index, value in features.items():
            text += data.draw(gap) + data.draw(st.sampled_from(["%d", "%05d", "+%d"])) % index + ":" + spelling % value
        lines.append(data.draw(st.sampled_from(["", " ", "\t"])) + text + data.draw(st.sampled_from(["", " ", " \r"])))
    text = "\n".join(lines) + data.draw(st.sampled_from(["\n", ""])) if lines else ""
    path = str(tmp_path_factory.mktemp("trip") / "d")
    with open(path, "w", newline="") as f:
        f.write(text)
    expected = naive([(float(spelling % label), {i: float(spelling % v) for i, v in f.items()}) for label, f in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "BLOCK_BYTES", data.draw(st.integers(8, 200)))
        patch.setattr(svmlight, "STREAM_BLOCK_BYTES", data.draw(st.integers(8, 200)))
        assert_same(svmlight.read(path), expected)
        parts = list(blocks(path, data.draw(st.integers(1, 300))))
    assert sum(len(p) for p in parts) == len(rows)
    assert bits(np.concatenate([p.values for p in parts] or [np.empty(0)])) == bits(expected.values)
    assert max((p.n_features for p in parts), default=0) == expected.n_features


def parsed(tokens: list[str], path: str) -> np.ndarray:
    """The values that the reader gives for tokens, ten in a line."""
    with open(path, "w") as f:
        for k in range(0, len(tokens), 10):
            f.write("1 " + " ".join(f"{i + 1}:{t}" for i, t in enumerate(tokens[k : k + 10])) + "\n")
    return svmlight.read(path).values


def random_doubles(seed: int, n: int) -> list[float]:
    words = np.random.default_rng(seed).integers(0, 2**64, 2 * n, dtype=np.uint64)
    x = words.view(float)
    return x[np.isfinite(x) & (np.abs(x) > 2.3e-308)][:n].tolist()


def test_random_bit_patterns_read_like_float(tmp_path):
    tokens = [spelling % x for x in random_doubles(1, 2000) for spelling in ("%r", "%.17g", "%.16g", "%.40e", "%g")]
    tokens += [f"{x:.15f}" for x in np.random.default_rng(2).normal(size=2000).tolist()]
    assert bits(parsed(tokens, str(tmp_path / "d"))) == bits(np.array([float(t) for t in tokens]))


def test_halfway_cases_read_like_float(tmp_path):
    getcontext().prec = 800
    tokens = []
    for x in random_doubles(3, 400):
        y = float(np.nextafter(x, 0.0))
        middle = (Decimal(x) + Decimal(y)) / 2
        tokens += [str(middle), str(middle) + ("" if "E" in str(middle) else "0001" if "." in str(middle) else ".0001")]
    tokens += [str(2 * k + 1) for k in range(2**53, 2**53 + 50)]
    tokens += ["9007199254740992.99999999999999999999", "9007199254740993.00000000000000000001", "1e22", "1e23"]
    assert bits(parsed(tokens, str(tmp_path / "d"))) == bits(np.array([float(t) for t in tokens]))


# --- errors and blocks ------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_the_first_bad_line_is_reported(file, small_blocks, n_threads):
    good = b"1 1:0.25 7:3\n"
    path = file(good * 29 + b"1 x:1\n" + good * 40 + b"1 y:1\n" + good * 5 + b"1 nan\n")
    with threads.limited(n_threads):
        for attempt in (svmlight.read, lambda p: list(blocks(p, 150)), lambda p: list(blocks(p))):
            for _ in range(5):
                with pytest.raises(DataError, match="line 30: .*token 'x:1'"):
                    attempt(path)


# --- sources --------------------------------------------------------------------

TEXT = b"1 1:2 3:0.5\n-1 2:7\n" * 500
ROWS = [(1.0, {1: 2.0, 3: 0.5}), (-1.0, {2: 7.0})] * 500


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(tmp_path, pack):
    """By any name."""
    packed = pack(TEXT)
    for name in ("d", "d.gz", "d.bz2", "d.txt"):
        path = tmp_path / name
        path.write_bytes(packed)
        assert_same(svmlight.read(str(path)), naive(ROWS))
        path.write_bytes(packed[: len(packed) // 2])
        with pytest.raises(SvmtoolError, match=f"can't read .*{name}"):
            svmlight.read(str(path))
        path.write_bytes(b"this is not compressed at all")
        with pytest.raises(DataError, match="line 1: .*token 'this': the label is not a number"):
            svmlight.read(str(path))


def test_file_that_cannot_be_opened(tmp_path):
    for name in (str(tmp_path / "absent"), ""):
        with pytest.raises(SvmtoolError) as caught:
            svmlight.read(name)
        assert str(caught.value) == f"can't open input file {name}"
    with pytest.raises(SvmtoolError, match="can't open input file .*: it is a directory"):
        svmlight.read(str(tmp_path))


def test_memory_is_little_more_than_the_table(tmp_path):
    """Peak memory of reading: 12 bytes for each pair and 20 MB more than only importing."""
    path = str(tmp_path / "d")
    line = b"1 " + b" ".join(b"%d:%.6f" % (i, i / 7) for i in range(1, 101)) + b"\n"
    with open(path, "wb") as f:
        f.write(line * 25_000)
    script = "import resource, sys; from svmtool.formats.svmlight.table import read; peak = lambda: "
    script += "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; print(peak(), len(read(sys.argv[1]).values), peak())"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=True)
    before, pairs, after = map(int, done.stdout.split())
    assert pairs == 2_500_000
    assert after - before < (12 * pairs + 20e6) / 1024
