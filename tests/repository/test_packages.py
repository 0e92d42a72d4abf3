"""Package data: version, licence, citation."""

from __future__ import annotations

import re

from conftest import REPOSITORY

import svmtool


def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = svmtool.__version__
    assert re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE) == [version]
    assert re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[0] == version


def test_the_licence_is_the_same_everywhere():
    licence = "BSD-3-Clause"
    assert text("LICENSE").startswith("BSD 3-Clause License\n\nCopyright (c) 2026 The svmtool developers\n")
    assert f'\nlicense = "{licence}"\n' in text("pyproject.toml")
    assert f"\nlicense: {licence}\n" in text("CITATION.cff")
