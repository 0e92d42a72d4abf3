"""An extension of griffe: docstrings of estimators as svmtool.sklearn.described completes them."""

from __future__ import annotations

import importlib
import inspect

import griffe


class Described(griffe.Extension):
    """Replaces the docstrings in the sources, which lack what estimators share."""

    def on_class_instance(self, *, cls, **kwargs):
        found = getattr(importlib.import_module("svmtool.sklearn"), cls.name, None)
        if cls.path.startswith("svmtool.sklearn.") and found is not None:
            cls.docstring.value = inspect.getdoc(found)
