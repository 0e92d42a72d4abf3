"""The man pages: one for each command, equal to what the registry and the options say, without faults of roff."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

MAN = REPOSITORY / "man"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("man_pages", REPOSITORY / "scripts" / "man_pages.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module.pages()


def test_they_are_up_to_date(pages):
    written = {path.name: path.read_text(encoding="utf-8") for path in MAN.iterdir()}
    assert written == pages, "run scripts/man_pages.py"


def test_every_command_has_one(pages):
    commands = re.search(r"COMMANDS = \{(.*?)\}", (REPOSITORY / "setup.py").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert {f"{name}.1" for name in [*re.findall(r'"([a-z-]+)":', commands), "svmtool"]} == set(pages)
    for text in pages.values():
        if text.startswith(".so "):
            assert text.split()[1].removeprefix("man1/") in pages


def test_groff_finds_no_fault(pages):
    if shutil.which("groff") is None:
        pytest.skip("groff is absent")
    for name in [name for name, text in pages.items() if not text.startswith(".so ")]:
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", name], cwd=MAN, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b""), name
