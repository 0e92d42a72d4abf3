"""The examples of docs/python.md run in their order and print what the page shows."""

from __future__ import annotations

import doctest
import importlib.util
import re

import pytest
from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")


def test_examples(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    found = list(re.finditer(r"(?:<!-- needs (\w+) -->\n)?```python\n(.*?)```", PAGE, re.DOTALL))
    assert len(found) == PAGE.count("```python")
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    for block in found:
        if block[1] and importlib.util.find_spec(block[1]) is None:
            continue
        line = PAGE.count("\n", 0, block.start(2))
        example = doctest.DocTestParser().get_doctest(block[2], names, "docs/python.md", "docs/python.md", line)
        assert example.examples
        runner.run(example, clear_globs=False)
        names = example.globs
    assert runner.summarize().failed == 0


def test_every_estimator_and_function_is_on_the_page():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool
    import svmtool.sklearn

    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    for name in svmtool.sklearn.__all__:
        assert re.search(rf"\b{name}\(", code) and f"`{name}`" in PAGE, name
    for name in svmtool.__all__:
        assert name == "Fit" or f"svmtool.{name}(" in code, name
