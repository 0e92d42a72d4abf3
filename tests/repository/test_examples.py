"""The programs of docs/examples run, and the page and the navigation of the site have each of them."""

from __future__ import annotations

import re
import runpy

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "examples"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))
# with more than 2 seconds of work
LONG = {"audit_model", "certified_labels", "embeddings", "figure1", "forgetting", "l1_path", "larger_than_memory"}
LONG |= {"many_labels", "thresholds"}


@pytest.mark.parametrize(
    "names", [{*PROGRAMS} - LONG, pytest.param(LONG, marks=pytest.mark.exhaustive)], ids=["short", "long"]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as Python does
def test_programs_run(names, tmp_path, monkeypatch, capfd, caplog):
    """In this process, which has scikit-learn and matplotlib."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'svmtool[plot]'")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    for name in names:
        with matplotlib.rc_context():
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        matplotlib.pyplot.close("all")
    assert (capfd.readouterr().err, caplog.records) == ("", [])


def test_page_and_navigation_have_every_program():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^- \[.+\]\((\w+)\.py\): ", page, re.MULTILINE)) == PROGRAMS
    navigation = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r": examples/(\w+)\.md$", navigation, re.MULTILINE)) - {"README"}) == PROGRAMS
