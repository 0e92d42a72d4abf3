"""Output files appear complete or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from svmtool.errors import SvmtoolError
from svmtool.formats import output


def names(folder) -> list[str]:
    return sorted(os.listdir(folder))


def test_new_file_takes_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with output.replacing(str(tmp_path / "f")) as file:
            file.write(b"text")
            assert names(tmp_path) != ["f"]  # not under its name before it is whole
    finally:
        os.umask(old)
    assert (tmp_path / "f").read_bytes() == b"text"
    assert stat.S_IMODE(os.stat(tmp_path / "f").st_mode) == 0o640
    assert names(tmp_path) == ["f"]


def test_old_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o604)
    with output.replacing(str(path)) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_old_file_survives_a_failure(tmp_path, error):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(error):
        with output.replacing(str(path)) as file:
            file.write(b"half of the n")
            raise error
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_file_that_cannot_be_created(tmp_path):
    missing = str(tmp_path / "no" / "f")
    with pytest.raises(SvmtoolError) as caught:
        with output.replacing(missing):
            pass
    assert str(caught.value) == f"can't open output file {missing}"
    with pytest.raises(SvmtoolError, match="can't save model to file .*: it is a directory"):
        with output.replacing(str(tmp_path), "can't save model to file"):
            pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_is_a_sentence():
    with pytest.raises(SvmtoolError, match="can't write /dev/full: No space left on device"):
        with output.replacing("/dev/full") as file:
            file.write(b"x" * 1_000_000)


@pytest.mark.parametrize("flags", [[], ["-u"]])
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output(tmp_path, name, flags):
    """Also if it is a file: output before and after keeps its order, and nothing is replaced."""
    script = (
        "import sys; from svmtool.formats import output\n"
        "print('before')\n"
        "with output.replacing(sys.argv[1]) as f: f.write(b'x' * 300_000 + b'\\n')\n"
        "print('after')"
    )
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, *flags, "-c", script, name], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\n" + b"x" * 300_000 + b"\nafter\n"
