"""`import svmtool` loads next to nothing; the functions are there all the same; examples in docstrings run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import svmtool
from svmtool import api, auditing


def test_importing_loads_no_module_of_numbers():
    code = (
        "import sys; before = set(sys.modules); import svmtool; print(*sorted(set(sys.modules) - before)); "
        "svmtool.fit; assert 'numpy' in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["svmtool"]


def test_names():
    assert set(svmtool.__all__) <= set(dir(svmtool)) and svmtool.api is api
    assert set(svmtool.__all__) == set(api.__all__) - {"Search", "Validation"} | {"audit"}
    for name in svmtool.__all__:
        assert getattr(svmtool, name) is getattr(auditing if name == "audit" else api, name)
        assert getattr(svmtool, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        svmtool.fitt  # noqa: B018


def test_stub_names_what_there_is():
    with open(svmtool.__file__ + "i") as stub:
        text = stub.read()
    assert all(f"import {name} as {name}\n" in text for name in svmtool.__all__)
