"""Invalid files in the place of a state, its log of rows or its lock are rejected with a message, without waiting.

A training from all rows goes on over a state that is damaged; only what is no file is left as it is.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from adapt_suite import apart, batch, draw, text_of_rows, weights_in

from svmtool import systems
from svmtool.formats.adaptable import NEW_LOG

RNG = np.random.default_rng(3)
ROWS, NEW = draw(RNG, 30, 4), draw(RNG, 8, 4)
STATE, LOG, LOCK = "m.state.npz", "m.state.rows", "m.state.lock"


@pytest.fixture
def ready(svm_train):
    """Files d, new and m, the model of d; returns svm_train -q -s 71."""
    Path("new").write_text(text_of_rows(NEW))
    assert svm_train("-q", "-s", 71, "d", "m", data=text_of_rows(ROWS))[0] == 0
    return lambda *argv: svm_train("-q", "-s", 71, *argv)


def changed(**arrays) -> bytes:
    """The state beside m with some arrays replaced."""
    with np.load(STATE) as file:
        found = dict(file)
    out = io.BytesIO()
    np.savez(out, **{**found, **arrays})
    return out.getvalue()


def repacked(compression: int, **arrays) -> bytes:
    """The same, packed by zipfile."""
    out = io.BytesIO()
    with np.load(STATE) as file, zipfile.ZipFile(out, "w", compression) as archive:
        for name, array in {**dict(file), **arrays}.items():
            with archive.open(name + ".npy", "w") as member:
                np.save(member, array)
    return out.getvalue()


def encrypted() -> bytes:
    """Each member is marked as encrypted, in the directory and in its own header."""
    text = bytearray(Path(STATE).read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = text.find(mark)
        while at >= 0:
            text[at + place] |= 1
            at = text.find(mark, at + 4)
    return bytes(text)


def an_array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.ones(3))
    return out.getvalue()


DAMAGE = {
    "an array in place of the archive": an_array,
    "encrypted": encrypted,
    "text": lambda: b"not a zip\n" * 50,
    "a version of two entries": lambda: changed(version=np.array([1, 1])),
    "scalars for arrays": lambda: changed(labels=np.array(1), own=np.array(2), factor=np.array(0.5)),
    "objects": lambda: changed(labels=np.array([1, None], object)),
    "negative features": lambda: changed(features=np.array(-1)),
    "many features": lambda: changed(features=np.array(2**62)),
    "a label twice": lambda: changed(labels=np.array([1, 1])),
    "C nan": lambda: changed(C=np.array(np.nan)),
    "bias inf": lambda: changed(bias=np.array(np.inf)),
    "gram nan": lambda: changed(gram=np.full((1, 10), np.nan)),
    "compressed": lambda: repacked(zipfile.ZIP_DEFLATED),
    "a bomb": lambda: repacked(zipfile.ZIP_DEFLATED, gram=np.zeros((1, 10_000_000))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state_is_refused_and_training_anew_replaces_it(ready, damage):
    bad, model, log = DAMAGE[damage](), Path("m").read_bytes(), Path(LOG).read_bytes()
    Path(STATE).write_bytes(bad)
    for argv in (("--add", "new", "-i", "m"), ("--add", "new", "-i", "m", "other"), ("--remove", "new", "-i", "m")):
        status, _, err = ready(*argv)
        assert status == 1 and err.startswith(STATE) and err.count("\n") == 1, err
    assert (Path(STATE).read_bytes(), Path("m").read_bytes(), Path(LOG).read_bytes()) == (bad, model, log)
    assert ready("d", "m")[0] == 0, "a training from all rows needs no old state"
    assert ready("--add", "new", "-i", "m")[0] == 0
    assert apart(weights_in("m"), batch(ROWS + NEW)) <= 1e-8
    assert sorted(os.listdir()) == ["d", "m", "m.state.npz", "m.state.rows", "new"]


@pytest.mark.parametrize(
    ("name", "kind"), [(STATE, "fifo"), (LOG, "folder"), (LOCK, "fifo"), (LOG + NEW_LOG, "fifo"), ("m", "folder")]
)
def test_non_files_are_refused_at_once(ready, name, kind):
    """Opening these like a file would wait forever."""
    with_pipe = os.mkfifo if kind == "fifo" else os.mkdir
    Path(name).unlink(missing_ok=True)
    with_pipe(name)
    for argv in (("--add", "new", "-i", "m"), ("--remove", "d", "-i", "m", "other"), ("d", "m")):
        if name in (LOCK, LOG + NEW_LOG) and "other" in argv:
            continue
        if name == "m" and argv == ("d", "m"):  # a model may be a pipe; then it has no state
            continue
        status, _, err = ready(*argv)
        assert status == 1 and name in err and err.count("\n") == 1, err
    assert not Path(name).is_file()
    assert not Path("other").exists()


@pytest.mark.parametrize(("name", "there"), [(STATE, True), (LOG, False), (LOCK, True), (LOG + NEW_LOG, False)])
def test_a_planted_link_is_not_followed(ready, name, there, tmp_path):
    victim = tmp_path / "elsewhere"
    if there:
        victim.write_text("another's")
    Path(name).unlink(missing_ok=True)
    Path(name).symlink_to(victim)
    for argv in (("--add", "new", "-i", "m"), ("d", "m")):
        status, _, err = ready(*argv)
        assert victim.exists() == there and (not there or victim.read_text() == "another's")
        assert status == 1 and err.endswith(f"{name}: it is a symbolic link\n"), err


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_modes_are_kept(ready, mode):
    for name in ("m", STATE, LOG):
        os.chmod(name, mode)
    for argv in (("d", "m"), ("--add", "new", "-i", "m"), ("-c", 3, "d", "m")):
        assert ready(*argv)[0] == 0
        assert [stat.S_IMODE(os.stat(name).st_mode) for name in ("m", STATE, LOG)] == [mode] * 3, argv


@pytest.mark.parametrize("call", ["pwrite", "fsync"])
def test_a_full_disk_leaves_no_log(ready, call, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(systems if call == "pwrite" else os, call, full)
        status, _, err = ready("d", "m")
    assert status == 1 and err == f"can't save the model's rows to {LOG}: No space left on device\n"
    assert not Path(LOG + NEW_LOG).exists()
    assert ready("--add", "new", "-i", "m")[0] == 0
