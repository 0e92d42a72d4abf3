"""Adds to the build: loops compiled ahead of time (svmtool/compiled/build.py), the commands' scripts, the wheel tag."""

import glob
import os
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

COMMANDS = {
    "svm-train": "train",
    "svm-predict": "predict",
    "svm-scale": "scale",
    "liblinear-train": "liblinear-train",
    "liblinear-predict": "liblinear-predict",
    "libsvm-train": "libsvm-train",
    "libsvm-predict": "libsvm-predict",
    "libsvm-scale": "libsvm-scale",
}

# Until a line of ours runs, Python answers Ctrl-C with a traceback, for a tenth of the time that a short run takes.  So
# the commands start it with the signal held back, where the system they run on has an env that can (GNU's, since 8.31);
# svmtool/interrupts.py lets it through as soon as it can answer.  Asking env first takes some 2 ms of 80.
# env takes a word with = in it for a variable: such a folder goes without.
SCRIPT = """#!/bin/sh
case $0 in */*) at=$0 ;; *) at=./$0 ;; esac
if [ -L "$at" ]; then at=$(readlink -f -- "$at"); fi
at=${{at%/*}}
hold="env --block-signal=INT"
case $at in *=*) hold= ;; *) $hold >/dev/null 2>&1 || hold= ;; esac
exec $hold "$at/svmtool" {command} "$@"
"""


# For a wheel, the platform tag that its loops are for (see svmtool/compiled/build.py); empty: this processor alone.
PLATFORM = os.environ.get("SVMTOOL_WHEEL_PLATFORM", "")


class BuildWithLoops(build_py):
    """Compile the loops into the package; without success the package needs numba (svmtool[jit])."""

    def run(self):
        super().run()
        here = os.path.dirname(os.path.abspath(__file__))
        place = here if self.editable_mode else os.path.abspath(self.build_lib)
        command = [sys.executable, "-m", "svmtool.compiled.build", os.path.join(place, "svmtool", "compiled")]
        command += ["--platform", PLATFORM] if PLATFORM else ["--if-needed"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
        done = subprocess.run(command, cwd=here, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode and PLATFORM:
            raise RuntimeError(f"loops for {PLATFORM} not compiled:\n{done.stderr}")
        if done.returncode:
            self.warn(f"loops not compiled: with svmtool[jit] numba does so at first use:\n{done.stderr[-2000:]}")


class BuildCommands(Distribution().get_command_class("build_scripts")):
    """Write the scripts of the commands, which have no sources."""

    def get_source_files(self):
        return []

    def copy_scripts(self):
        os.makedirs(self.build_dir, exist_ok=True)
        paths = [os.path.join(self.build_dir, name) for name in self.scripts]
        for name, path in zip(self.scripts, paths, strict=True):
            with open(path, "w") as f:
                f.write(SCRIPT.format(command=COMMANDS[name]))
            os.chmod(path, 0o755)
        return paths, paths


class BuildWheel(Distribution().get_command_class("bdist_wheel")):
    """Name the wheel: machine code for one platform, which does not use Python and so fits each Python 3."""

    def get_tag(self):
        return "py3", "none", PLATFORM or super().get_tag()[2]


class PlatformDistribution(Distribution):
    """The wheel holds machine code, so it must not be tagged as fit for any machine."""

    def has_ext_modules(self):
        return True


has_shell = not PLATFORM.startswith("win") if PLATFORM else os.name == "posix"
named = {} if has_shell else COMMANDS  # elsewhere Python starts as pip has it
setup(
    cmdclass={"build_py": BuildWithLoops, "build_scripts": BuildCommands, "bdist_wheel": BuildWheel},
    distclass=PlatformDistribution,
    data_files=[("share/man/man1", sorted(glob.glob("man/*.1")))],
    scripts=list(COMMANDS) if has_shell else [],
    entry_points={
        "console_scripts": [
            "svmtool = svmtool.__main__:main",
            *(f"{name} = svmtool.start:{command.replace('-', '_')}" for name, command in named.items()),
        ]
    },
)
