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
from adapt_suite import apart, batch, weights_in
from test_adapt_files import NEW, ROWS, ready  # noqa: F401  a fixture

from svmtool import systems
from svmtool.formats.adaptable import NEW_LOG

STATE, LOG, LOCK = "m.state.npz", "m.state.rows", "m.state.lock"


def repacked(compression: int = zipfile.ZIP_STORED, **arrays) -> bytes:
    """The state beside m with some arrays replaced."""
    out = io.BytesIO()
    with np.load(STATE) as file, zipfile.ZipFile(out, "w", compression) as archive:
        for name, array in {**dict(file), **arrays}.items():
            with archive.open(name + ".npy", "w") as member:
                np.save(member, array)
    return out.getvalue()


def an_array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.ones(3))
    return out.getvalue()


DAMAGE = {
    "an array in place of the archive": an_array,
    "scalars for arrays": lambda: repacked(labels=np.array(1), own=np.array(2), factor=np.array(0.5)),
    "gram nan": lambda: repacked(gram=np.full((1, 10), np.nan)),
    "a factor too few": lambda: repacked(
        version=np.array(2), own=np.array([1]), factor=np.zeros(0), inverse=np.zeros((1, 1)), w=np.zeros((1, 1))
    ),
    "a bomb": lambda: repacked(zipfile.ZIP_DEFLATED, gram=np.zeros((1, 10_000_000))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state_is_refused_and_training_anew_replaces_it(ready, damage):  # noqa: F811
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
def test_non_files_are_refused_at_once(ready, name, kind):  # noqa: F811
    """Opening these like a file would wait forever."""
    Path(name).unlink(missing_ok=True)
    (os.mkfifo if kind == "fifo" else os.mkdir)(name)
    runs = ["--add new -i m"] + ["d m"] * (name != "m")  # a model may be a pipe; then it has no state
    for argv in runs + ["--remove d -i m other"] * (name in (STATE, LOG, "m")):
        status, _, err = ready(*argv.split())
        assert status == 1 and name in err and err.count("\n") == 1, err
    assert not Path(name).is_file() and not Path("other").exists()


@pytest.mark.parametrize(("name", "there"), [(STATE, True), (LOG, False), (LOCK, True), (LOG + NEW_LOG, False)])
def test_a_planted_link_is_not_followed(ready, name, there, tmp_path):  # noqa: F811
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
def test_modes_are_kept(ready, mode):  # noqa: F811
    for name in ("m", STATE, LOG):
        os.chmod(name, mode)
    for argv in (("d", "m"), ("--add", "new", "-i", "m"), ("-c", 3, "d", "m")):
        assert ready(*argv)[0] == 0
        assert [stat.S_IMODE(os.stat(name).st_mode) for name in ("m", STATE, LOG)] == [mode] * 3, argv


@pytest.mark.parametrize("call", ["pwrite", "fsync"])
def test_a_full_disk_leaves_no_log(ready, call, monkeypatch):  # noqa: F811
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(systems if call == "pwrite" else os, call, full)
        status, _, err = ready("d", "m")
    assert status == 1 and err == f"can't save the model's rows to {LOG}: No space left on device\n"
    assert not Path(LOG + NEW_LOG).exists()
    assert ready("--add", "new", "-i", "m")[0] == 0
