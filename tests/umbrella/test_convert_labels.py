"""Labels in a file of names."""

from __future__ import annotations

import json

import pytest

from svmtool.cli.umbrella.group import main
from svmtool.errors import SvmtoolError


@pytest.mark.parametrize("label", [2**31, -(2**31) - 1, 2**63, 10**30])
def test_labels_that_no_model_holds_are_refused(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"format": "svmtool names", "version": 1, "label": "y", "classes": {str(label): "a"}, "features": ["x"]}
    (tmp_path / "n").write_text(json.dumps(names))
    (tmp_path / "i.csv").write_text("x,y\n1,a\n")
    with pytest.raises(SvmtoolError, match="must fit into 32 bits"):
        main(["convert", "--names", "n", "i.csv", "o"])
    assert not (tmp_path / "o").exists()
