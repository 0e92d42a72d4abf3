"""The line about rows that --memory keeps."""

from __future__ import annotations

import re

import pytest
from test_rows_trust import MEMORY, TEXT, on_disk  # noqa: F401


@pytest.mark.parametrize("options", [[], ["-q"], ["--no-cache"]], ids=str)
def test_new_rows_are_named_with_their_size(options, svm_train, on_disk):  # noqa: F811
    """Neither with -q or --no-cache, nor by the run that uses them."""
    _, _, err = svm_train("-s", 2, *MEMORY, *options, "d", "m", data=TEXT)
    told = re.findall(r"^d.rows: rows kept for the next run, [\d.e-]+ MB \(--no-cache: not kept\)$", err, re.MULTILINE)
    assert len(told) == (not options)
    assert "rows kept" not in svm_train("-s", 2, *MEMORY, *options, "d", "m")[2] or options == ["--no-cache"]
