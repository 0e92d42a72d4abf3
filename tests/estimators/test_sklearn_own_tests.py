"""scikit-learn's own tests of its SVMs and logistic regression pass with our classes in their place."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
sys.path.insert(0, str(REPOSITORY / "scripts"))
from sklearn_tests import DIFFERENCES, FILES  # noqa: E402

LEAST_PASSED = dict(zip(FILES, (0.92, 0.99, 0.9), strict=True))  # shares of the tests of a file, on any processor


@pytest.mark.parametrize("file", [FILES[0], *(pytest.param(file, marks=pytest.mark.exhaustive) for file in FILES[1:])])
def test_they_pass_but_for_the_differences_named(file, tmp_path):
    if importlib.util.find_spec(file.rpartition(".")[0]) is None:
        pytest.skip("this scikit-learn was installed without its tests")
    path = os.pathsep.join([str(REPOSITORY / "scripts"), str(REPOSITORY)])
    found = tmp_path / "found.xml"
    words = "-m pytest -q --tb=no -p sklearn_tests -p no:cacheprovider -p no:hypothesispytest --pyargs".split()
    command = [sys.executable, *words, file, f"--junitxml={found}"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True)
    cases = ElementTree.parse(found).getroot().iter("testcase")
    ran = [case for case in cases if case.find("skipped") is None]
    failed = {case.get("name") for case in ran if case.find("failure") is not None or case.find("error") is not None}
    unnamed = {name for name in failed if re.split(r"\[", name)[0] not in DIFFERENCES}
    assert len(ran) > 100 and not unnamed, sorted(unnamed)
    assert len(ran) - len(failed) >= LEAST_PASSED[file] * len(ran)
