"""Systems without POSIX's modules and functions, and installations without numba, played in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import REPOSITORY

from svmtool.compiled import ahead_of_time, library_path

DATA = REPOSITORY / "data" / "breast_cancer"

# Other packages are loaded before: they are built for this system.
OTHERS = """
import ctypes, io, shutil, subprocess, sysconfig, tempfile, threading, zipfile
import numpy, scipy.linalg, scipy.optimize, scipy.sparse, scipy.sparse.linalg, tqdm
sysconfig.get_config_vars()
"""

# What Windows lacks; msvcrt is a module of Windows, of which the lock of a file is used.
WINDOWS = """
import mmap, os, select, signal, sys, types

ABSENT = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp"}

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
sys.modules["msvcrt"] = types.SimpleNamespace(LK_LOCK=1, LK_NBLCK=2, locking=lambda fd, kind, n: None)
real = {name: getattr(os, name) for name in ("replace", "unlink")}

def held(path):
    return any(os.path.realpath(f"/proc/self/fd/{fd}") == os.path.realpath(path) for fd in os.listdir("/proc/self/fd"))

def refusing(name):
    def change(path, *rest, **more):
        if held(path):
            raise PermissionError(13, "The process cannot access the file", path)
        return real[name](path, *rest, **more)
    return change

for name in real:  # Windows renames and removes no open file
    setattr(os, name, refusing(name))
for name in (
    "fork fchmod geteuid getuid getpgrp killpg mkfifo posix_fallocate pread preadv pwrite readv register_at_fork "
    "sched_getaffinity sysconf tcgetpgrp O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_NOCTTY O_DIRECTORY"
).split():
    delattr(os, name)
for module, names in {
    mmap: "MAP_PRIVATE MAP_ANONYMOUS MADV_HUGEPAGE MADV_DONTNEED",
    select: "poll",
    signal: "pthread_sigmask SIGALRM SIGHUP",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
import _signal
del _signal.pthread_sigmask
sys.platform = "win32"
import svmtool.systems
assert not svmtool.systems.POSIX
from svmtool import compiled, limits
limits.memory = lambda: 10**9  # asked from Windows' own library
"""

MACOS = """
import os, sys
sys.platform = "darwin"
for name in ("sched_getaffinity", "posix_fallocate", "O_TMPFILE"):
    if hasattr(os, name):
        delattr(os, name)
real = open
def without_proc(path, *rest, **more):
    if str(path).startswith("/proc/"):
        raise FileNotFoundError(2, "No such file or directory", path)
    return real(path, *rest, **more)
import builtins
builtins.open = without_proc
"""

RUNS = """
import sys
from svmtool.cli.entry import start

def command(name, *words):
    return start(name, list(words))
"""


def python(code: str, folder) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("system", ["windows", "macos"])
def test_commands_and_python_run_without_what_linux_has(system, tmp_path):
    if not ahead_of_time():
        pytest.skip("needs compiled loops")
    start = WINDOWS if system == "windows" else MACOS + "from svmtool import compiled\n"
    # the loops of this machine stand for those of the other
    found = f"""
import ctypes
if compiled._library is None:
    compiled._library = ctypes.CDLL({library_path()!r})
"""
    work = f"""
assert command("train", "-q", "-s", "2", {str(DATA)!r}, "model") == 0
assert command("train", "-q", "-s", "2", {str(DATA)!r}, "model") == 0  # replaces it
assert command("predict", {str(DATA)!r}, "model", "predictions") == 0
assert command("scale", "-s", "range", {str(DATA)!r}) == 0
assert command("train", "-q", "-s", "71", {str(DATA)!r}, "adapted") == 0
assert command("train", "-q", "-s", "71", "--add", {str(DATA)!r}, "-i", "adapted", "adapted") == 0
assert command("train", "-q", "-t", "2", {str(DATA)!r}, "kernel") == 0
import svmtool
assert svmtool.fit(*svmtool.read_svmlight({str(DATA)!r})[:2], solver=2, gap=1e-6).certificate.gap <= 1e-6
"""
    done = python(OTHERS + start + found + RUNS + work, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Accuracy = " in done.stdout
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith((".tmp", ".lock", ".new"))]


WITHOUT_NUMBA = """
import sys
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "numba" else real(name, package)
import os
os.environ["SVMTOOL_LOOPS"] = "jit"
"""


@pytest.mark.process
@pytest.mark.parametrize("words", [["train", str(DATA)], ["predict", str(DATA), "model", "out"]])
def test_a_command_without_loops_and_numba_names_the_extra(words, tmp_path):
    done = python(f"{WITHOUT_NUMBA}{RUNS}sys.exit(command(*{words!r}))", tmp_path)
    assert done.returncode == 1
    assert done.stderr == "ERROR: SVMTOOL_LOOPS=jit: compiling them needs numba: pip install 'svmtool[jit]'\n"


@pytest.mark.process
def test_python_without_loops_and_numba_raises_an_import_error(tmp_path):
    code = "import svmtool\ntry: svmtool.fit([[1.0], [2.0]], [0, 1])\nexcept ImportError as e: print(e)"
    done = python(WITHOUT_NUMBA + code, tmp_path)
    assert "svmtool[jit]" in done.stdout, done.stderr
