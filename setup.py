"""Adds one step to the build: the loops compiled ahead of time (svmtool/compiled/build.py)."""

import os
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py


class BuildWithLoops(build_py):
    """Compile the loops into the package; without success the package still works, just in time."""

    def run(self):
        super().run()
        here = os.path.dirname(os.path.abspath(__file__))
        place = here if self.editable_mode else os.path.abspath(self.build_lib)
        command = [sys.executable, "-m", "svmtool.compiled.build", os.path.join(place, "svmtool", "compiled")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
        if done.returncode:
            self.warn(f"loops not compiled ahead of time; they will be compiled at first use:\n{done.stderr[-2000:]}")


class PlatformDistribution(Distribution):
    """The wheel holds machine code, so it must not be tagged as fit for any machine."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLoops}, distclass=PlatformDistribution)
