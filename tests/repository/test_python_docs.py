"""docs/python.md has an example of every estimator and function; test_docs.py runs them."""

from __future__ import annotations

import re

import pytest
from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")


def test_every_estimator_and_function_is_on_the_page():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool
    import svmtool.sklearn

    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    for name in svmtool.sklearn.__all__:
        assert re.search(rf"\b{name}\(", code) and f"`{name}`" in PAGE, name
    for name in svmtool.__all__:
        assert name == "Fit" or f"svmtool.{name}(" in code, name
