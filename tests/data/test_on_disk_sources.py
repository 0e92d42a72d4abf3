"""--memory: standard input, pipes, files that change, and several runs that use one folder of rows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from test_on_disk import MEMORY, on_disk, parses, strange  # noqa: F401  fixtures

from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache import folder as row_folder


def test_a_pipe_may_stand_where_nobody_can_write(tmp_path):
    """A path in /dev/fd, as from the shell's <(zcat FILE)."""
    read, write = os.pipe()
    os.write(write, b"1 1:1\n-1 1:2\n")
    os.close(write)
    argv = ["train", "-q", "-s", "2", *map(str, MEMORY), f"/dev/fd/{read}", "m"]
    done = subprocess.run(
        [sys.executable, "-m", "svmtool", *argv], cwd=tmp_path, pass_fds=[read], capture_output=True, timeout=60
    )
    os.close(read)
    assert (done.returncode, done.stderr, os.listdir(tmp_path)) == (0, b"", ["m"])


def test_a_killed_run_leaves_nothing_that_the_next_does_not_take_away(data, svm_train, on_disk, tmp_path):  # noqa: F811
    (tmp_path / "d").write_bytes((data / "breast_cancer").read_bytes())
    parse = "import sys, time; from svmtool.formats.rowcache import arrays as row_arrays, folder as f; "
    parse += "f.ROW_BYTES_PER_TEXT_BYTE = 1e9; "
    parse += "row_arrays.write = lambda *_: (print(flush=True), time.sleep(60)); "
    parse += "from svmtool.cli.train import main; main(sys.argv[1:])"
    run = [sys.executable, "-c", parse, "-q", "-s", "2", *MEMORY, "d", "m"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        process.stdout.readline()
        [partial] = (name for name in os.listdir(tmp_path) if name.endswith(".tmp"))
        assert svm_train("-q", "-s", 2, *MEMORY, "d", "m")[0] == 0
        assert sorted(os.listdir(tmp_path)) == [partial, "d", "d.rows", "m"]  # another run still writes it
        process.kill()
    (tmp_path / "d.rows" / "header.json").write_text("{")
    strange("thesis.txt", tmp_path / ".d.rows.own.tmp")
    assert svm_train("-q", "-s", 2, *MEMORY, "d", "m")[0] == 0
    assert sorted(os.listdir(tmp_path)) == [".d.rows.own.tmp", "d", "d.rows", "m"]


@pytest.mark.parametrize("when", ["read", "mapped", "made"])
def test_runs_that_share_a_folder_do_not_meet(when, data, svm_train, on_disk, monkeypatch, tmp_path):  # noqa: F811
    """Another run removes or creates the folder at each critical moment.

    What is open by then is used on."""
    (tmp_path / "d").write_bytes((data / "breast_cancer").read_bytes())
    assert svm_train("-q", "-s", 2, *MEMORY, "d", "m0")[0] == 0
    folder, other = tmp_path / "d.rows", tmp_path / "other"
    folder.rename(other)
    moments = {"read": (arrays, "_header"), "mapped": (arrays, "_mapped"), "made": (row_folder, "remove")}
    where, name = moments[when]
    if when != "made":
        shutil.copytree(other, folder)
    was = getattr(where, name)

    def meddled(*args):
        found = was(*args)
        if when == "made":
            shutil.copytree(other, folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        return found

    monkeypatch.setattr(where, name, meddled)
    assert svm_train("-q", "-s", 2, *MEMORY, "d", "m1")[0] == 0
    assert (tmp_path / "m0").read_bytes() == (tmp_path / "m1").read_bytes()
    assert folder.exists() == (when != "mapped")
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
