"""Reading ahead in a thread: the same table and messages, and no unnecessary reading."""

from __future__ import annotations

import gzip
import os
import threading

import numpy as np
import pytest

from svmtool.compiled import threads
from svmtool.formats.svmlight import inputs
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.inputs import Reading

TEXT = "".join(f"{i % 3} {i % 7 + 1}:{i / 8:g} {i % 7 + 9}:0x{i:x}\n" for i in range(1000)).encode()


@pytest.fixture(params=["plain", "gzip"])
def write(tmp_path, monkeypatch, request):
    """A function that writes text to a plain or compressed file; blocks are small."""
    monkeypatch.setattr(svmlight, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(svmlight, "STREAM_BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(svmlight, "CHUNK_BYTES", 1 << 12)
    path = tmp_path / ("d" if request.param == "plain" else "d.gz")

    def write(text: bytes) -> str:
        path.write_bytes(text if request.param == "plain" else gzip.compress(text))
        return str(path)

    return write


def started(path: str) -> Reading:
    data = Reading(path)
    data.start()
    return data


@pytest.mark.parametrize("text", [TEXT, TEXT[:-1], b""], ids=["whole", "no last newline", "empty"])
def test_the_same_table_as_at_once(write, text):
    path = write(text)
    expected = svmlight.read(path)
    for count in (1, 2, 5):
        with threads.limited(count):
            table = started(path).table()
        for name in ("labels", "indptr", "indices", "values"):
            ours, theirs = getattr(table, name), getattr(expected, name)
            assert ours.dtype == theirs.dtype and ours.flags.writeable
            np.testing.assert_array_equal(ours, theirs)
        assert table.n_features == expected.n_features == (15 if text else 0)


# --- the command ---------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """The paths that were read, each with whether a separate thread read it."""
    found: list[tuple[str, bool]] = []

    def noted(source, *how):
        found.append((source.name, threading.current_thread() is not threading.main_thread()))
        return svmlight.read_raw(source, *how)

    monkeypatch.setattr(inputs, "read_raw", noted)
    return found


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["--weights", "absent", "bad"], "Wrong input format at line 1: bad: "),
        (["--weights", "absent", "d"], "can't open input file absent"),
        (["-c", "-1", "--weights", "absent", "d"], "ERROR: C <= 0"),
        (["-c", "-1", "bad"], "Wrong input format at line 1: bad: "),
        (["-c", "-1", "nothing"], "can't open input file nothing"),
        (["--initial-model", "absent", "nothing"], "can't open model file absent"),
        (["--initial-model", "absent", "-c", "-1", "bad"], "can't open model file absent"),
    ],
)
def test_order_of_faults(argv, sentence, svm_train, tmp_path):
    (tmp_path / "bad").write_text("x\n")
    status, out, err = svm_train(*argv, data="1 1:1\n-1 1:2\n")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(sentence)


@pytest.mark.parametrize(
    "argv",
    [["-s", "99x", "--stratified"], ["-e", "1", "--gap", "1"], ["-t", "2", "-s", "30"], ["-t", "2", "-Z", "1"]]
    + [["-Z", "1"]],
)
def test_a_bad_option_reads_nothing(argv, svm_train, reads, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for ever
    assert svm_train(*argv, "pipe", "m")[0] == 1
    assert reads == []
