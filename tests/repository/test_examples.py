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


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(name, tmp_path):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'svmtool[plot]'")
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--small", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_page_shows_every_picture():
    assert sorted(re.findall(r"!\[[^]]+\]\((\w+)\.png\)", PAGE)) == PROGRAMS
    for name in PROGRAMS:
        assert f"({name}.py)" in PAGE
        assert (FOLDER / f"{name}.png").stat().st_size < 100_000
