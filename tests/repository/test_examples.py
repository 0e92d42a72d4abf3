"""The programs of docs/examples run, and their page shows their pictures."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "examples"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "drawing")


# All programs in one process, which imports scikit-learn and matplotlib once.
RUN = """
import runpy, sys
folder, out, *programs = sys.argv[1:]
sys.path.insert(0, folder)
for name in programs:
    sys.argv = [f"{folder}/{name}.py", "--small", "--out", out]
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_programs_run(tmp_path):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'svmtool[plot]'")
    command = [sys.executable, "-c", RUN, str(FOLDER), str(tmp_path), *PROGRAMS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    for name in PROGRAMS:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_page_shows_every_picture():
    assert sorted(re.findall(r"!\[[^]]+\]\((\w+)\.png\)", PAGE)) == PROGRAMS
    for name in PROGRAMS:
        assert f"({name}.py)" in PAGE
        assert (FOLDER / f"{name}.png").stat().st_size < 100_000
