"""svm-scale: recorded cases of LIBSVM's, a slow reference implementation, errors, streams, threads."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from conftest import SHARED
from hypothesis import given, settings
from hypothesis import strategies as st

from svmtool.cli import scale
from svmtool.compiled import threads
from svmtool.compiled.loops.text import scale_loops
from svmtool.scaling import ranges as feature_ranges
from svmtool.scaling import rescale

CASES = sorted((SHARED / "compat_cases" / "libsvm").glob("scale_*.json"))


DEVIATIONS = {  # lines on stderr where LIBSVM is silent, or says less
    "scale_labels_crlf": "WARNING: a: line 6: only the leading number of the label '1,2' is kept\n",
    "scale_restore_not_a_range": (
        "WARNING: r has no scaling factors for labels or features: a is scaled by its own ranges\n"
    ),
    "scale_unknown_option": "unknown option: -z\n",
    "scale_restore_bad": "ERROR: failed to read scaling parameters: r: 'foo' is not a number\n",
}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def here(capfdbinary, *argv: str) -> tuple[int, bytes, bytes]:
    """svm-scale in this process: status, stdout, stderr."""
    capfdbinary.readouterr()
    status = scale.main(list(argv))
    sys.stdout.flush()
    sys.stderr.flush()
    return status, *capfdbinary.readouterr()


@pytest.mark.skipif(not CASES, reason="the recorded cases lie beside the repository and are absent here")
@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_recorded_case(path, tmp_path, capfdbinary):
    case = json.loads(path.read_text())
    for name, content in case["files"].items():
        (tmp_path / name).write_bytes(content.encode())
    status, out, err = here(capfdbinary, *case["args"])
    stderr = DEVIATIONS.get(path.stem, case["stderr"])
    assert (status, out.decode(), err.decode()) == (case["exit"], case["stdout"], stderr)
    if case["exit"]:
        assert stderr.startswith(case["stderr"].rstrip("\n"))
    for name, content in case["outputs"].items():
        assert (tmp_path / name).read_bytes().decode() == content


# --- a slow reference ---------------------------------------------------------------


def plain(x: float, low: float, high: float, lower: float, upper: float) -> float:
    if x == low:
        return lower
    return upper if x == high else lower + (upper - lower) * (x - low) / (high - low)


def naive(rows, lower=-1.0, upper=1.0, y=None) -> tuple[str, str, str]:
    """(stdout, stderr, range file) of svm-scale for rows of (label, {index: value})."""
    top = max((i for _, f in rows for i in f), default=0)
    x_range = {}
    for i in range(1, top + 1):
        column = [f.get(i, 0.0) for _, f in rows]
        x_range[i] = min(column), max(column)
    labels = [label for label, _ in rows]
    out, ranges, new = "", "", 0
    if y:
        ranges += f"y\n{y[0]:.17g} {y[1]:.17g}\n{min(labels):.17g} {max(labels):.17g}\n"
    ranges += f"x\n{lower:.17g} {upper:.17g}\n"
    ranges += "".join(f"{i} {a:.17g} {b:.17g}\n" for i, (a, b) in x_range.items() if a != b)
    for label, features in rows:
        if y:
            label = plain(label, min(labels), max(labels), *y)
        out += f"{label:.17g} "
        for i, (a, b) in x_range.items():
            value = plain(features.get(i, 0.0), a, b, lower, upper)
            if a != b and value != 0.0:
                out += f"{i}:{value:g} "
                new += 1
        out += "\n"
    old = sum(len(f) for _, f in rows)
    warning = (
        f"WARNING: original #nonzeros {old}\n       > new      #nonzeros {new}\n"
        "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1\n"
    )
    return out, warning if new > old else "", ranges


number = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0]) | st.floats(-1e6, 1e6, allow_subnormal=False).map(
    lambda x: x + 0.0
)
features = st.dictionaries(st.integers(1, 30), number, max_size=6).map(lambda d: dict(sorted(d.items())))
row_lists = st.lists(st.tuples(number, features), min_size=1, max_size=25)
limits = st.sampled_from([(-1.0, 1.0), (0.0, 1.0), (0.1, 0.7), (-3.0, -1.0), (-1.0, 0.0)])


def text_of(rows) -> str:
    return "".join(f"{y!r} " + " ".join(f"{i}:{v!r}" for i, v in f.items()) + "\n" for y, f in rows)


@settings(deadline=None, max_examples=25)
@given(rows=row_lists, x=limits, y=st.none() | limits, n_threads=st.integers(1, 3), small=st.booleans(),
       far=st.sampled_from([0, 1, 4]))  # fmt: skip
def test_oracle(tmp_path_factory, rows, x, y, n_threads, small, far):
    folder = tmp_path_factory.mktemp("scale")
    data, saved, out = (str(folder / name) for name in ("data", "ranges", "out"))
    with open(data, "w") as f:
        f.write(text_of(rows))
    argv = ["-l", repr(x[0]), "-u", repr(x[1]), *(["-y", repr(y[0]), repr(y[1])] if y else []), "-s", saved, data]
    warnings: list[str] = []
    with pytest.MonkeyPatch.context() as patch, open(out, "wb") as target:
        patch.setattr(sys, "stdout", io.TextIOWrapper(target))
        if small:  # many pieces, and an output buffer that holds hardly more than one number
            patch.setattr(rescale, "PIECE_PAIRS", 5)
            patch.setattr(rescale, "BUFFER_BYTES", scale_loops.FEATURE_SPACE + 40)
        # far = 0: only features that occur have places
        patch.setattr(rescale, "ShapeOfData", lambda features: feature_ranges.ShapeOfData(features, 5, far))
        with threads.limited(n_threads):
            rescale.run(scale.parse(argv), warnings.append)
    stdout, stderr, ranges = naive(rows, *x, y)
    assert Path(out).read_text() == stdout
    assert "".join(w + "\n" for w in warnings) == stderr
    assert Path(saved).read_text() == ranges


BAD_RANGES = {
    "": "WARNING: r has no scaling factors",
    "y\n0 1\n0 2\n": "WARNING: r has no scaling factors for features",
    "x\n": "ERROR: failed to read scaling parameters: r: the file ends",
    "x\n-1 1\n1 0 2\n2 0\n": "ERROR: failed to read scaling parameters: r: the last line",
    "x\n-1 1\n2 0 2\n1 0 2\n": "ERROR: failed to read scaling parameters: r: feature 1 follows 2",
    "x\n-1 1\n1 0 inf\n": "ERROR: failed to read scaling parameters: r: 'inf' is not finite",
    "y\n0 1\n0 2\nhello": "ERROR: failed to read scaling parameters: r: 'hello' instead of the start of the x section",
    "y\n0 1\n3 3\nx\n-1 1\n": "r: the range of the labels is empty",
}


@pytest.mark.parametrize("content", BAD_RANGES)
def test_bad_range_files(tmp_path, capfdbinary, content):
    (tmp_path / "r").write_text(content)
    (tmp_path / "a").write_text("1 1:5\n2 1:3\n")
    status, out, err = here(capfdbinary, "-r", "r", "a")
    wanted = BAD_RANGES[content]
    assert err.decode().startswith(wanted) and err.count(b"\n") == 1
    assert (status, bool(out)) == ((0, True) if "WARNING" in wanted else (255 if "ERROR" in wanted else 1, False))


# --- errors --------------------------------------------------------------------

BAD_LINES = [
    ("", 255, "ERROR: failed to read labels: a: line 2: the line is empty"),
    ("# comment", 255, "ERROR: failed to read labels: a: line 2: '#' is not a number"),
    ("label 1:2", 255, "ERROR: failed to read labels: a: line 2: 'label' is not a number"),
    ("1:2", 1, "Wrong input format at line 2: a: token '1:2': the label is missing"),
    ("1 1:nan", 1, "Wrong input format at line 2: a: token '1:nan': the value is not finite"),
    ("1 2:1 1:1", 1, "Wrong input format at line 2: a: token '1:1': indices must ascend"),
]


@pytest.mark.parametrize("line, status, text", BAD_LINES)
def test_bad_lines(tmp_path, capfdbinary, line, status, text, as_the_originals):
    (tmp_path / "a").write_text(f"1 1:2\n{line}\n1 :\n")
    (tmp_path / "r").write_text("old")
    got = here(capfdbinary, "-s", "r", "a")
    assert (got[0], got[1]) == (status, b"") and got[2].decode().startswith(text) and got[2].count(b"\n") == 1
    assert (tmp_path / "r").read_text() == "old"


COMMAND_LINES = [
    (["-y", "0"], 1, "Usage", "-y needs two values\n"),
    (["-l0", "a"], 1, "Usage", "the data file is missing: it comes after the options\n"),
    (["-s", "p", "-r", "q", "a"], 1, "", "cannot use -r and -s simultaneously\n"),
    (["--threads", "none", "a"], 1, "", "ERROR: --threads none: must be an integer >= 1\n"),
    (["--help"], 0, "Usage", ""),
    (["--version"], 0, "svm-scale (svmtool) ", ""),
    (["-lfoo", "abc", "-l", "0", "a"], 0, "1 1:1 \n2 \n", ""),
    (["--threads=2", "-u", "1e0x", "-l", "0", "a"], 0, "1 1:1 \n2 \n", ""),
]


@pytest.mark.parametrize("argv, status, out, err", COMMAND_LINES)
def test_command_lines(tmp_path, capfdbinary, argv, status, out, err):
    (tmp_path / "a").write_text("1 1:5\n2 1:3\n")
    try:
        got = here(capfdbinary, *argv)
    finally:
        threads.set_count(None)
    assert got[0] == status
    assert got[1].decode().startswith(out) and bool(got[1]) == bool(out)
    assert got[2].decode() == err


# --- streams, threads, memory --------------------------------------------------------


def test_pipes_compressed_files_and_threads_give_the_same_bytes(tmp_path, command):
    values = np.random.default_rng(8).normal(size=(10_000, 6)).round(4).tolist()
    text = text_of([(1.0, {3 * i + 1: x for i, x in enumerate(row) if x > -0.3}) for row in values]).encode()
    (tmp_path / "a").write_bytes(text)
    packed = gzip.compress(text, 1)
    (tmp_path / "a.gz").write_bytes(packed)
    first = command("scale", "--threads", "1", "a")
    assert first.returncode == 0 and first.stdout.count(b"\n") == 10_000
    for argv, stdin in ((["--threads", "2", "a"], b""), (["a.gz"], b""), (["-"], packed), (["/dev/stdin"], text)):
        again = command("scale", *argv, input=stdin)
        assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, first.stderr), argv


def test_very_wide_rows_go_through_a_small_buffer(tmp_path, capfdbinary, monkeypatch):
    """One row of output may be much larger than the buffer; the text of absent features is copied in parts."""
    monkeypatch.setattr(rescale, "BUFFER_BYTES", 4096)
    rows = [(1.0, {2000 * k + 1: 1.0, 100_000: -1.0}) for k in range(4)]
    (tmp_path / "a").write_text(text_of(rows))
    status, out, err = here(capfdbinary, "a")
    assert (status, out.decode(), err.decode()) == (0, *naive(rows)[:2])


@pytest.mark.parametrize("saved", [False, True])
def test_an_index_far_above_the_others(saved, capfdbinary):
    """Memory depends on the features that occur in data and ranges."""
    Path("d").write_text("1 1:1 2147483647:2\n-1 3:1\n")
    Path("r").write_text("x\n0 1\n3 0 2\n2147483646 -1 1\n")
    tracemalloc.start()  # which numpy tells of its arrays
    status, out, err = here(capfdbinary, *(["-r", "r"] if saved else ["-l", "0"]), "d")
    assert status == 0 and tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    if saved:
        assert out == b"1 2147483646:0.5 \n-1 3:0.5 2147483646:0.5 \n"
        warning = "WARNING: feature index {} appeared in file d was not seen in the scaling factor file r."
        warning += " The feature is scaled to 0.\n"
        assert err.decode() == warning.format(1) + warning.format(2147483647)
    else:
        assert out == b"1 1:1 2147483647:1 \n-1 3:1 \n"
