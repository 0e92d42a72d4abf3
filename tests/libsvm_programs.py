"""LIBSVM's own programs, where they are: from LIBSVM_DIR, or on PATH where svm-train is not ours."""

from __future__ import annotations

import os
import shutil

import pytest
from conftest import is_ours


def libsvm_program(name: str) -> str:
    """The path of LIBSVM's svm-train, svm-predict or svm-scale; skips the test where it is absent."""
    if "LIBSVM_DIR" in os.environ:
        path = shutil.which(name, path=os.environ["LIBSVM_DIR"])
    else:
        folders = os.environ.get("PATH", "").split(os.pathsep)
        paths = (shutil.which(name, path=folder) for folder in folders if folder)
        path = next((path for path in paths if path and not is_ours(path)), None)
    if path is None:
        pytest.skip(f"LIBSVM's {name} is absent: install libsvm-tools or set LIBSVM_DIR")
    return path
