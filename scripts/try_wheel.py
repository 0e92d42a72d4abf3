"""Install the wheel in dist/ for this platform into a clean environment, and try it there.  `make test-wheel`

Works on each platform that has a wheel: the commands scale, train and predict as pip has installed them, Python fits
and predicts, and no numba is there.  With qemu-user Python does so on an x86-64 processor without AVX2 too.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PYTHON = """
import importlib.util, svmtool
from svmtool import compiled
assert importlib.util.find_spec("numba") is None, "numba is installed"
assert compiled.ahead_of_time(), "no compiled loops are used"
X, y = svmtool.read_svmlight("data")[:2]
fit = svmtool.fit(X, y, solver=2, gap=1e-6)
assert fit.certificate.gap <= 1e-6, fit.certificate
print(f"Python: gap {fit.certificate.gap:.1e}, {compiled._library._name}")
"""


def emulator(folder: Path) -> list[str]:
    """The words that start a program on a processor without AVX2; none where qemu-user is not installed."""
    program = shutil.which("qemu-x86_64")
    if platform.machine() != "x86_64" or not program:
        return []
    # qemu emulates the processor, but /proc/cpuinfo is that of the machine, unless its root folder has another one.
    (folder / "root" / "proc").mkdir(parents=True)
    flags = "processor\t: 0\nflags\t\t: fpu sse sse2 ssse3 sse4_1 sse4_2 popcnt lm\n"
    (folder / "root" / "proc" / "cpuinfo").write_text(flags)
    return [program, "-cpu", "Nehalem", "-L", str(folder / "root")]


def main() -> None:
    wheels, data = ROOT / "dist", ROOT / "data" / "breast_cancer"
    with tempfile.TemporaryDirectory(prefix="svmtool-wheel-") as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        programs = Path(sysconfig.get_path("scripts", "venv", {"base": str(folder / "env"), "platbase": name}))
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SVMTOOL_LOOPS")}

        def run(program: str, *words: str, start: Sequence[str] = ()) -> str:
            line = [*start, str(programs / program), *words]
            print("+", program, *(word.partition("\n")[0] for word in words if word.strip() == word), flush=True)
            done = subprocess.run(line, cwd=folder, env=clean, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                sys.exit(f"{done.stdout}{done.stderr}{program}: exit status {done.returncode}")
            return done.stdout

        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", "svmtool"]
        run("python", *pip, "--find-links", str(wheels), "svmtool")
        (folder / "data").write_bytes(data.read_bytes())
        (folder / "scaled").write_text(run("svm-scale", "-s", "range", "data"))
        run("svm-train", "-s", "2", "scaled", "model")
        print(run("svm-predict", "scaled", "model", "predictions"), end="")
        print(run("svmtool", "--version"), end="")
        print(run("python", "-c", PYTHON), end="")
        if start := emulator(folder):
            assert "/loops-base-" in run("python", "-c", PYTHON, start=start)


if __name__ == "__main__":
    main()
