"""The examples of docs/python-dropins.md run."""

from __future__ import annotations

import re

from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "python-dropins.md").read_text(encoding="utf-8")


def test_examples(tmp_path, monkeypatch, capsys):
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        names: dict = {}
        exec(block, names)
        out = capsys.readouterr().out
        assert float(re.search(r"^Accuracy = (\S+)% \(\d+/597\) \(classification\)$", out, re.MULTILINE)[1]) > 85
    assert (tmp_path / "digits.model").exists()
