"""The wheels in dist/ (`make wheel`), installed into clean environments: no numba, no compiler, no wait."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

import svmtool

pytestmark = pytest.mark.exhaustive

PYTHONS = ["python3.10", "python3.11", "python3.12", "python3.13", "python3.14"]
# Import hook of the environments: svm-train on this problem needs neither.
FORBID = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite", "scipy"):
            raise AssertionError(f"{name} is imported")
sys.meta_path.insert(0, Forbid())
"""
LOOPS = "from svmtool import compiled; print(compiled._library.handle._name)"


def wheel(machine: str) -> Path:
    found = sorted((REPOSITORY / "dist").glob(f"svmtool-{svmtool.__version__}-py3-none-manylinux*_{machine}.whl"))
    if not found:
        pytest.skip(f"dist/ has no wheel for {machine}: make wheel PLATFORMS=linux_{machine}")
    return found[0]


def runs(name: str) -> bool:
    """Whether a Python of this name is installed; a version manager's stand-in may not be."""
    return bool(shutil.which(name)) and subprocess.run([name, "-c", "import venv"], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with the wheel and its dependencies less numba, for a Python given by name."""
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            subprocess.run([name, "-m", "venv", folder], check=True)
            pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, "numpy", "scipy", "click"], check=True, env=alone())
            subprocess.run([*pip, "--no-deps", wheel(platform.machine())], check=True, env=alone())
            (site,) = folder.glob("lib/python3*/site-packages")
            (site / "sitecustomize.py").write_text(FORBID)
            tools = folder / "tools"  # all that the commands find on PATH
            tools.mkdir()
            for tool in ("env", "readlink"):
                (tools / tool).symlink_to(shutil.which(tool))
            made[name] = folder
        return made[name]

    return make


def alone(**more: str) -> dict[str, str]:
    """The environment without the repository on Python's path, and with OpenBLAS's own choice for the processor."""
    changed = {"PYTHONPATH", "SVMTOOL_LOOPS", "OPENBLAS_CORETYPE"}
    return {**{k: v for k, v in os.environ.items() if k not in changed}, **more}


def loops_of(folder: Path, *start: str | Path) -> str:
    """Path of the compiled loops that the package installed in an environment uses."""
    line = [*start, folder / "bin" / "python", "-c", LOOPS]
    done = subprocess.run(line, cwd=folder, env=alone(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def model_of(folder: Path, tmp_path: Path, *start: str | Path) -> bytes:
    """Train and predict on a set in the repository; returns the model."""
    data, model = REPOSITORY / "data" / "breast_cancer", tmp_path / "model"
    for what in (("train", "-q", "-s", "2", data, model), ("predict", data, model, tmp_path / "predictions")):
        line = [*start, folder / "bin" / "python", "-m", "svmtool", *what] if start else []
        done = subprocess.run(
            line or [folder / "bin" / f"svm-{what[0]}", *what[1:]],
            cwd=tmp_path, env=alone(PATH=str(folder / "tools"), HOME=str(tmp_path)), capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / ".cache" / "svmtool").exists(), "loops were compiled when they were used"
    return model.read_bytes()


@pytest.mark.parametrize("name", PYTHONS)
def test_the_wheel_trains_on_each_python_without_numba_and_compiler(name, environment, tmp_path):
    if not runs(name):
        pytest.skip(f"{name} is not installed")
    folder = environment(name)
    assert shutil.which("cc", path=folder / "tools") is None
    assert loops_of(folder).startswith(f"{folder}/lib/")
    assert b"\nnr_feature 30\n" in model_of(folder, tmp_path)


def test_a_processor_without_avx2_uses_the_base_loops(environment, tmp_path):
    emulator = shutil.which("qemu-x86_64")
    if platform.machine() != "x86_64" or not emulator:
        pytest.skip("needs an x86-64 machine and qemu-x86_64 (Debian: qemu-user)")
    folder = environment(Path(sys.executable).resolve().name)
    # qemu emulates the processor, but /proc/cpuinfo is that of the machine, unless its root folder has another one.
    (tmp_path / "root" / "proc").mkdir(parents=True)
    (tmp_path / "root" / "proc" / "cpuinfo").write_text(
        "processor\t: 0\nflags\t\t: fpu sse sse2 ssse3 sse4_1 sse4_2 popcnt lm\n"
    )
    start = [emulator, "-cpu", "Nehalem", "-L", tmp_path / "root"]
    assert "/loops-base-" in loops_of(folder, *start)
    assert b"\nnr_feature 30\n" in model_of(folder, tmp_path, *start)
