"""The programs of docs/examples run, and the page and the navigation of the site have each of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "examples"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))
# with more than 3 seconds of work
LONG = {"certified_labels", "embeddings", "figure1", "forgetting", "l1_path", "larger_than_memory", "many_labels"}

# All programs in one process, which imports scikit-learn and matplotlib once.
RUN = """
import runpy, sys
for program in sys.argv[1:]:
    runpy.run_path(program, run_name="__main__")
"""


@pytest.mark.parametrize(
    "names", [{*PROGRAMS} - LONG, pytest.param(LONG, marks=pytest.mark.exhaustive)], ids=["short", "long"]
)
def test_programs_run(names, tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'svmtool[plot]'")
    monkeypatch.setenv("MPLBACKEND", "agg")
    command = [sys.executable, "-c", RUN, *(str(FOLDER / f"{name}.py") for name in names)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    for name in names:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_page_and_navigation_have_every_program():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^- \[.+\]\((\w+)\.py\): ", page, re.MULTILINE)) == PROGRAMS
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r": examples/(\w+)\.md$", navigation, re.MULTILINE)) - {"README"}) == PROGRAMS
