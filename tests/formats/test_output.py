"""Output files appear complete or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from svmtool.formats import output


def names(folder) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("mode", [None, 0o604])
def test_a_new_file_takes_the_umask_and_an_old_one_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "f"
    if mode:
        path.write_bytes(b"old")
        path.chmod(mode)
    before = os.umask(0o027)
    try:
        with output.replacing(str(path)) as file:
            file.write(b"new")
            assert path.read_bytes() == b"old" if mode else not path.exists()
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new" and names(tmp_path) == ["f"]
    assert stat.S_IMODE(path.stat().st_mode) == (mode or 0o640)


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


@pytest.mark.parametrize(("name", "flags"), [("-", []), ("/dev/stdout", ["-u"])])
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
