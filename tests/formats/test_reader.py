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
from reading import blocks, rows_in

from svmtool.compiled import threads
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.svmlight import table as svmlight

relaxed = settings(deadline=None, max_examples=20)

# --- references -----------------------------------------------------------------


def bits(a: np.ndarray) -> list[int]:
    return np.ascontiguousarray(a).view(np.int64).tolist()


# --- round trips ---------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
short = st.decimals(-1000, 1000, places=3, allow_nan=False).map(float)
spellings = st.sampled_from(["%r", "%.17g", "%.20e", "%+.17G", "%.25g"])
pairs = st.dictionaries(st.integers(1, 40) | st.integers(1, 2**31 - 1), finite | short, max_size=8)
row_lists = st.lists(st.tuples(finite | short, pairs.map(lambda d: dict(sorted(d.items())))), max_size=20)


@relaxed
@given(rows=row_lists, spelling=spellings, data=st.data())
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
    expected = [(float(spelling % label), {i: float(spelling % v) for i, v in f.items()}) for label, f in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "BLOCK_BYTES", data.draw(st.integers(8, 200)))
        patch.setattr(svmlight, "STREAM_BLOCK_BYTES", data.draw(st.integers(8, 200)))
        whole, parts = svmlight.read(path), list(blocks(path, data.draw(st.integers(1, 300))))
    assert repr(rows_in(whole)) == repr([row for part in parts for row in rows_in(part)]) == repr(expected)
    largest = max((i for _, pairs in expected for i in pairs), default=0)
    assert whole.n_features == max((p.n_features for p in parts), default=0) == largest


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
def test_the_first_bad_line_is_reported(tmp_path, monkeypatch, n_threads):
    monkeypatch.setattr(svmlight, "BLOCK_BYTES", 40)
    monkeypatch.setattr(svmlight, "STREAM_BLOCK_BYTES", 8)  # lines are longer than a block
    good = b"1 1:0.25 7:3\n"
    (tmp_path / "d").write_bytes(good * 29 + b"1 x:1\n" + good * 40 + b"1 y:1\n" + good * 5 + b"1 nan\n")
    with threads.limited(n_threads):
        for attempt in (svmlight.read, lambda p: list(blocks(p, 150)), lambda p: list(blocks(p))):
            for _ in range(5):
                with pytest.raises(DataError, match="line 30: .*token 'x:1'"):
                    attempt(str(tmp_path / "d"))


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
        assert rows_in(svmlight.read(str(path))) == ROWS
        path.write_bytes(packed[: len(packed) // 2])
        with pytest.raises(SvmtoolError, match=f"can't read .*{name}"):
            svmlight.read(str(path))
        path.write_bytes(b"this is not compressed at all")
        with pytest.raises(DataError, match="line 1: .*token 'this': the label is not a number"):
            svmlight.read(str(path))


def test_a_value_above_the_range_of_float32_is_refused_with_its_line(tmp_path):
    (tmp_path / "d").write_text("+1 1:0.1 3:2.5\n+1 2:-4e38\n")
    with pytest.raises(DataError, match=r"line 2: .*d: token '2:.*too large for float32"):
        svmlight.read(str(tmp_path / "d"), dtype="f4")
    assert svmlight.read(str(tmp_path / "d")).values[-1] == -4e38


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
