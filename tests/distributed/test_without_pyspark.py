"""svmtool.spark where pyspark is missing."""

from __future__ import annotations

import importlib
import sys

import pytest


def test_the_import_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "svmtool.spark", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r"pip install 'svmtool\[spark\]'"):
        importlib.import_module("svmtool.spark")
