"""The installed commands' scripts: Ctrl-C while Python starts is handled later."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from shell_commands import put_script

# replaces the script made by pip: reports that Python runs, and waits
SVMTOOL = f"""#!{sys.executable}
import os, sys
os.write(2, b"!")
os.read(0, 1)
sys.path.insert(0, {str(REPOSITORY)!r})
from svmtool.__main__ import main
sys.exit(main())
"""
NAMES = (
    "liblinear-predict", "liblinear-train", "libsvm-predict", "libsvm-scale", "libsvm-train", "svm-predict",
    "svm-scale", "svm-train",
)  # fmt: skip


def env_can_hold() -> bool:
    """Whether this system's env can block signals."""
    return subprocess.run(["env", "--block-signal=INT", "true"], capture_output=True).returncode == 0


needs_holding_env = pytest.mark.skipif(not env_can_hold(), reason="env cannot block signals here")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with the scripts as they are installed."""
    folder = tmp_path_factory.mktemp("scripts") / "a b"
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_scripts", "--build-dir", str(folder)],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in folder.iterdir()) == list(NAMES)
    (folder / "svmtool").write_text(SVMTOOL)
    (folder / "svmtool").chmod(0o755)
    return folder


def begun(path, *argv: str, **more) -> subprocess.Popen:
    process = subprocess.Popen(
        [path, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )
    assert process.stderr.read(1) == b"!"
    return process


@needs_holding_env
@pytest.mark.parametrize("name", NAMES[::3])
def test_it_is_answered_once_it_can_be(made, name):
    with begun(made / name, "--version") as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(b"!", timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_script_names_and_arguments(made, tmp_path):
    """Through a link, by a name without a folder, from a folder with = in its name; arguments are unchanged."""
    (tmp_path / "a=b").mkdir()
    for name in ("svm-predict", "svmtool"):
        (tmp_path / "a=b" / name).write_bytes((made / name).read_bytes())
        (tmp_path / "a=b" / name).chmod(0o755)
    (tmp_path / "svm-predict").symlink_to(made / "svm-predict")
    for path in (tmp_path / "svm-predict", tmp_path / "a=b" / "svm-predict", "./svm-predict"):
        where = made if path == "./svm-predict" else tmp_path
        with begun(path, "no such\n*", "$m", "o", cwd=where) as process:
            err = process.communicate(b"!", timeout=60)[1]
        assert process.returncode == 1 and err.startswith(b"can't open input file no such\n*"), err
    line = 'PATH=:$PATH exec svm-predict "$@"'
    with begun("/bin/sh", "-c", line, "sh", "no", "m", "o", cwd=made, env=os.environ) as process:
        assert process.communicate(b"!", timeout=60)[1].startswith(b"can't open input file no")


ENVS = 'echo "env: illegal option -- -" >&2; exit 1', "exit 125", None


@pytest.mark.parametrize(("name", "env"), list(zip(NAMES[::3], ENVS, strict=True)), ids=lambda x: str(x)[:9])
def test_where_env_cannot_hold_it_back(name, env, made, tmp_path):
    """With another system's env, or none, the command runs with the same arguments."""
    for program in ("sh", "readlink"):
        (tmp_path / program).symlink_to(shutil.which(program))
    if env is not None:
        put_script(tmp_path / "env", env)
    (tmp_path / "link").symlink_to(made / name)
    argv = ["no such\n*", "$m", "o"][: 3 if name.endswith("predict") else 1]
    with begun(tmp_path / "link", *argv, env={"PATH": str(tmp_path)}) as process:
        out, err = process.communicate(b"!", timeout=60)
    assert process.returncode == 1 and not out
    assert b"no such\n*" in err and b"illegal" not in err and b"not found" not in err


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux tells the name of a process there")
def test_it_is_listed_by_its_name(made, tmp_path):
    """So that ps, top and killall show it as they show LIBLINEAR's."""
    fifo = tmp_path / "d"
    os.mkfifo(fifo)
    with begun(made / "svm-scale", str(fifo)) as process:
        process.stdin.write(b"!")
        process.stdin.flush()
        with open(fifo, "w") as data:  # opens once the command reads
            assert Path(f"/proc/{process.pid}/comm").read_text() == "svm-scale\n"
            data.write("1 1:1\n")
        process.communicate(timeout=60)
    assert process.returncode == 0
